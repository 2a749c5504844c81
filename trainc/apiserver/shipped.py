"""The generated schemas as they are shipped: list them, show one, copy them out."""

from pathlib import Path
from typing import NamedTuple

import trainc
from trainc.apiserver.models import kinds
from trainc.apiserver.models.node import Names


class Shipped(NamedTuple):
    """One kind and where its schemas lie below the folder of schemas."""

    group: str
    version: str
    kind: str
    about: str
    crd: str  # empty for a kind that no server has
    json: str


def listed() -> tuple[Shipped, ...]:
    """Every kind that has schemas, in the order of group, version and kind."""
    return tuple(
        Shipped(
            *kind.NAMES[:3],
            (kind.__doc__ or "").strip(),
            crd_path(kind.NAMES) if kind.NAMES.served else "",
            json_path(kind.NAMES),
        )
        for kind in kinds()
    )


def show(kind: str, *, form: str = "crd") -> str:
    """The schemas of a kind as text, form `crd` (YAML) or `json`; empty when there is no such kind.

    A kind that no server has comes as JSON alone.

    `PodGroup` gives those of every group, `PodGroup.scheduling.volcano.sh` gives one. Case does not matter.
    """
    wanted = kind.lower()
    matching = [one for one in listed() if wanted in (one.kind.lower(), f"{one.kind}.{one.group}".lower())]
    # Versions share one.
    paths = dict.fromkeys(one.json if form == "json" or not one.crd else one.crd for one in matching)
    texts = [(folder() / path).read_text(encoding="utf-8") for path in paths]
    return "---\n".join(texts) if form == "crd" else "".join(texts)


def contents() -> dict[str, bytes]:
    """All schemas by their path below the folder of schemas, sorted."""
    files = sorted(path for path in folder().rglob("*") if path.is_file())
    return {path.relative_to(folder()).as_posix(): path.read_bytes() for path in files}


def folder() -> Path:
    """Where the schemas lie: inside an installed package, or at the top of a checkout."""
    package = Path(trainc.__file__).parent
    installed = package / "_data" / "schemas"
    return installed if installed.is_dir() else package.parent / "schemas"


def crd_path(names: Names) -> str:
    """`crds/trainer.kubeflow.org_trainjobs.yaml`, as controller-gen names it; versions of a kind share one."""
    return f"crds/{names.group}_{names.plural}.yaml"


def json_path(names: Names) -> str:
    """`json/trainer.kubeflow.org/trainjob_v1alpha1.json`, as schema catalogues name it."""
    return f"json/{names.group}/{names.kind.lower()}_{names.version}.json"
