"""Which numbers of a job may vary from one job to the next: few, and of each it is known that no rule computes with it.

Everything else is compared exactly. A place is safe where its text only names something (a job, a label of nobody's,
a build of an image) or sets what only the program itself reads (a seed, a learning rate, the name of a run).
"""

from __future__ import annotations

import re

from trainc.compiler.forms.text import starts_of
from trainc.model.sourced import Sourced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.model.document import Document
    from trainc.model.sourced import Span
    from trainc.model.tree import Path, Tree

    Stretch = tuple[int, int]  # of the text of a leaf: where it begins and ends

# Options and variables, without dashes and in small letters, that only the program reads which trains.
OWN_SETTINGS = frozenset(
    [
        "seed",
        "random_seed",
        "data_seed",
        "lr",
        "learning_rate",
        "max_lr",
        "min_lr",
        "base_lr",
        "peak_lr",
        "weight_decay",
        "dropout",
        "momentum",
        "temperature",
        "label_smoothing",
        "warmup_ratio",
        "beta1",
        "beta2",
        "epsilon",
        "clip_norm",
        "max_grad_norm",
        "run_name",
        "run_id",
        "experiment",
        "experiment_name",
        "experiment_id",
        "exp_name",
        "exp_id",
        "trial",
        "trial_id",
        "trial_name",
        "wandb_name",
        "wandb_run_name",
        "wandb_run_id",
        "wandb_run_group",
        "wandb_group",
        "mlflow_run_name",
        "mlflow_experiment_name",
    ]
)
# Ends of the domains whose labels and annotations tell something to a controller, a scheduler or trainc.
DOMAINS = (
    "k8s.io",
    "kubernetes.io",
    "kubeflow.org",
    "trainc.dev",
    "volcano.sh",
    "argoproj.io",
    "fluxcd.io",
    "helm.sh",
    "gke.io",
    "google.com",
    "nvidia.com",
    "amd.com",
    "amazonaws.com",
    "aws",
    "azure.com",
    "coreos.com",
    "linkerd.io",
    "istio.io",
    "kpt.dev",
    "mlkube.io",
    "openshift.io",
    "amazon.com",
    "intel.com",
    "habana.ai",
    "huawei.com",
    "karpenter.sh",
    "external-secrets.io",
    "docker.io",
    "gke.io.networks",
    "kuma.io",
    "flux-framework.org",
    "ray.io",
    "armadaproject.io",
)
_NAME = ("metadata", "name")
_MAPS = ("labels", "annotations")
_BUILD = re.compile("(?:[a-z]+-)*[0-9]+").fullmatch  # a tag that numbers the builds of an image; versions are exact
_NUMBER = re.compile(r"((?:0|[1-9][0-9]*)(?:\.[0-9]+)?)(?:e[+-]?[0-9]+)?").fullmatch
_OPTION = re.compile(r"--?[a-z][a-z0-9_-]*").fullmatch
_RUN = re.compile("-r[0-9]+$").search  # an end of a name that says which run it is


def free_runs(document: Document, text: str) -> tuple[int, ...]:
    """Which of a text's runs of digits may vary, by their index; the document is the only one of the text."""
    lines = text.split("\n")
    begins = [0]
    for line in lines:
        begins.append(begins[-1] + len(line) + 1)
    stretches: list[Stretch] = []
    for span, value, inner in _stretches(document):
        line = lines[span.line - 1]
        raw = line[span.column - 1 : span.end_column - 1]
        quote = raw[:1] if raw[:1] in ('"', "'") else ""
        if raw == f"{quote}{value}{quote}":  # nothing is escaped
            at = begins[span.line - 1] + span.column - 1 + len(quote)
            stretches += [(at + start, at + end) for start, end in inner]
    runs = enumerate(starts_of(text))
    return tuple([index for index, at in runs if any(start <= at < end for start, end in stretches)])


def _stretches(document: Document) -> Iterator[tuple[Span, str, list[Stretch]]]:
    """The leaves of a document that stand on one line and in one place, with the stretches of them that may vary."""
    name = document.name
    leaves = list(_leaves(document.written, ()))
    places: dict[Span, int] = {}
    for *_, span in leaves:
        places[span] = places.get(span, 0) + 1
    for path, value, around, span in leaves:
        if span.line == span.end_line and places[span] == 1 and (inner := _free(path, value, around, name)):
            yield span, value, inner


def _leaves(node: Tree, path: Path, around: Tree = None) -> Iterator[tuple[Path, str, Tree, Span]]:
    """Path, text, the list or map around, and place of each leaf that holds a text."""
    if type(node) is dict:
        for key, below in node.items():
            yield from _leaves(below, (*path, key), node)
    elif type(node) is list:
        for index, below in enumerate(node):
            yield from _leaves(below, (*path, index), node)
    elif type(node) is Sourced and type(node.value) is str and node.origin.at is not None:
        yield path, node.value, around, node.origin.at


def _free(path: Path, value: str, around: Tree, name: str) -> list[Stretch]:
    """The stretches of a leaf in which digits may vary."""
    whole = [(0, len(value))]
    if path == _NAME:
        return whole if value[:1].isalpha() and not _RUN(value) else []
    if path[-1:] == ("image",):
        tag = value.rpartition(":")[2]
        return [(len(value) - len(tag), len(value))] if "@" not in value and _BUILD(tag) else []
    if len(path) == 3 and path[0] == "metadata" and path[1] in _MAPS:
        return whole if value[:1].isalpha() and not is_told(str(path[2])) else []
    if path[-2:-1] == ("args",):
        return _of_argument(value, around, path[-1], name)
    if path[-1:] == ("value",) and path[-3:-2] == ("env",) and type(around) is dict:
        of = around.get("name")
        return _of_setting(of.value, value, 0) or _named(value, name) if type(of) is Sourced else []
    return []


def is_told(key: str) -> bool:
    """Whether a label or an annotation tells something to anybody whom trainc knows."""
    domain = key.rpartition("/")[0]
    return domain.endswith(DOMAINS)


def _of_argument(value: str, around: Tree, index: object, name: str) -> list[Stretch]:
    option, mark, rest = value.partition("=")
    if mark and _OPTION(option):
        return _of_setting(option, rest, len(option) + 1) or _named(value, name)
    before = around[index - 1] if type(around) is list and type(index) is int and index else None
    if type(before) is Sourced and type(before.value) is str and _OPTION(before.value):
        return _of_setting(before.value, value, 0) or _named(value, name)
    return _named(value, name)


def _of_setting(setting: str, value: str, at: int) -> list[Stretch]:
    """The stretch of what one of the program's own settings is set to: a name, or a number without its exponent."""
    if setting.lstrip("-").replace("-", "_").lower() not in OWN_SETTINGS:
        return []
    number = _NUMBER(value)
    if number is not None:
        return [(at, at + len(number[1]))]
    return [(at, at + len(value))] if value[:1].isalpha() else []


def _named(value: str, name: str) -> list[Stretch]:
    """Where the job's own name is a part of a path."""
    start = value.find(f"/{name}") + 1
    end = start + len(name)
    return [(start, end)] if start and name and value[end : end + 1] in ("", "/") else []
