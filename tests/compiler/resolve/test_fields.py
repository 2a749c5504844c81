"""No field of a TrainJob is accepted and then forgotten."""

from collections.abc import Iterator

from tests.compiling import ROOT
from trainc.apiserver.models.node import ApiObject
from trainc.apiserver.models.patches import RuntimePatch
from trainc.apiserver.models.trainjob import Initializer, RuntimeRef, Source, Trainer, TrainJobSpec

MODELS = (TrainJobSpec, RuntimeRef, Trainer, Initializer, Source, RuntimePatch)
ROOMS = [folder for folder in ROOT.glob("trainc/*/") if folder.name != "api"]
TEXT = "\n".join(path.read_text("utf-8") for folder in ROOMS for path in folder.rglob("*.py"))


def test_every_field_of_a_trainjob_is_read() -> None:
    unread = [sentence for model in MODELS for sentence in forgotten(model)]
    assert not unread, "\n".join(["", *unread])


def test_a_forgotten_field_is_named() -> None:
    class Later(Trainer):
        no_such_field: str | None = None

    assert list(forgotten(Later)) == [
        "trainc/apiserver/models declares `noSuchField` of Later, and no other room of trainc reads it"
    ]


def forgotten(model: type[ApiObject]) -> Iterator[str]:
    """A sentence for each field of a model whose name no code mentions."""
    for name, field in model.model_fields.items():
        if f'"{field.alias or name}"' not in TEXT:
            yield f"trainc/apiserver/models declares `{field.alias or name}` of {model.__name__}, and no other room of trainc reads it"
