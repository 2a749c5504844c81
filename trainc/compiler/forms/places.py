"""Which values of a job may vary from one job to the next: few, and of each it is known that no rule looks into it.

Everything else is compared exactly. A place is safe where its text only names something (a job, a namespace, a label of
nobody's, an image) or sets what only the program itself reads (a seed, a learning rate, the name of a run). Which
values of a place are alike is its class: a pattern, less the words that mean something to somebody.
"""

import re
from collections.abc import Iterator

from trainc.model.document import Document
from trainc.model.sourced import Span
from trainc.model.tree import Path, leaves, value

Stretch = tuple[int, int, str]  # of the text of a leaf: where it begins and ends, and its class

LONGEST = 40  # characters of a word
(NAME, WORD, TEXT, REPOSITORY, NUMBER, DECIMAL, POWER) = (
    "name", "word", "text", "repository", "number", "decimal", "power",
)  # fmt: skip
# Words that mean something to somebody wherever they stand.
TELLING = re.compile(
    "^(?:default|latest|none|null|true|false|yes|off|kube|sk-|xoxb-|xoxp-|glpat-|nvapi-)|python|placeholder|gpudirect|tcpgpu|tcpx",
    re.MULTILINE,
).search
_SETTINGS = NUMBER, DECIMAL, POWER, WORD
# Options and variables, without dashes and in small letters, that only the program reads which trains.
OWN_SETTINGS = frozenset([
    "seed", "random_seed", "data_seed", "lr", "learning_rate", "max_lr", "min_lr", "base_lr", "peak_lr",
    "weight_decay", "dropout", "momentum", "temperature", "label_smoothing", "warmup_ratio", "beta1", "beta2",
    "epsilon", "clip_norm", "max_grad_norm", "run_name", "run_id", "experiment", "experiment_name", "experiment_id",
    "exp_name", "exp_id", "trial", "trial_id", "trial_name", "wandb_name", "wandb_run_name", "wandb_run_id",
    "wandb_run_group", "wandb_group", "mlflow_run_name", "mlflow_experiment_name", "wandb_project", "wandb_entity",
    "project_name", "batch_size", "train_batch_size", "eval_batch_size", "per_device_batch_size",
    "per_device_train_batch_size", "per_device_eval_batch_size", "gradient_accumulation_steps", "epochs",
    "num_epochs", "max_epochs", "num_train_epochs", "max_steps", "num_steps", "total_steps", "train_steps",
    "warmup_steps", "eval_steps", "save_steps", "logging_steps", "log_interval", "save_interval", "eval_interval",
    "max_length", "max_seq_length", "seq_length", "context_length", "hidden_size", "num_layers", "num_heads",
    "vocab_size", "lora_rank", "lora_alpha", "lora_dropout", "min_lr_ratio", "optimizer", "lr_scheduler",
    "lr_scheduler_type", "dataset_name", "fold", "variant",
])  # fmt: skip
# Ends of the domains whose labels and annotations tell something to a controller, a scheduler or trainc.
DOMAINS = (
    "k8s.io", "kubernetes.io", "kubeflow.org", "trainc.dev", "volcano.sh", "argoproj.io", "fluxcd.io", "helm.sh",
    "gke.io", "google.com", "nvidia.com", "amd.com", "amazonaws.com", "aws", "azure.com", "coreos.com", "linkerd.io",
    "istio.io", "kpt.dev", "mlkube.io", "openshift.io", "amazon.com", "intel.com", "habana.ai", "huawei.com",
    "karpenter.sh", "external-secrets.io", "docker.io", "gke.io.networks", "kuma.io", "flux-framework.org", "ray.io",
    "armadaproject.io",
)  # fmt: skip
# Ends of the registries of images that trainc knows something of.
REGISTRIES = (
    "docker.io", "nvcr.io", "ghcr.io", "gcr.io", "quay.io", "pkg.dev", "amazonaws.com", "azurecr.io", "k8s.io",
)  # fmt: skip
_IMAGE = re.compile(r"([a-z0-9.-]*\.[a-z]+(?::[0-9]+)?)/([^:@]+):((?:[a-z]+-)*)([0-9]+)").fullmatch
_OPTION = re.compile(r"--?[a-z][a-z0-9_-]*").fullmatch


def _long(letters: str, most: int = LONGEST) -> str:
    """A pattern of what is ahead: at least three and at most so many of these letters, and then another one."""
    return f"(?=[{letters}]{{3,{most}}}(?![{letters}]))"


_WORD = _long("a-z0-9-") + "[a-z][a-z0-9]*(?:-[a-z0-9]+)*"
# The patterns of classes, each within the next ones of its sort. No value of one begins as a value of another sort does.
CLASSES = {
    NAME: "(?![a-z0-9-]*-r[0-9]+(?![a-z0-9-]))" + _WORD,  # its end does not say which run it is
    WORD: _WORD,
    TEXT: _long("A-Za-z0-9_.-") + "[A-Za-z][A-Za-z0-9]*(?:[-_.][A-Za-z0-9]+)*",
    REPOSITORY: _long("a-z0-9_/-", 60) + "[a-z][a-z0-9]*(?:[-_/][a-z0-9]+)*",
    NUMBER: "[1-9][0-9]{0,5}",
    DECIMAL: r"(?:0|[1-9][0-9]{0,2})\.[0-9]{1,6}",
    POWER: r"[1-9](?:\.[0-9]{1,3})?e-[1-9]",
}
_FITS = {name: re.compile(pattern).fullmatch for name, pattern in CLASSES.items()}


def holes(document: Document, text: str, *, whole_images: bool) -> Iterator[tuple[Span, int, int, str]]:
    """The stretches of a text's leaves that may vary: the place of the leaf, where the stretch begins and ends in it, its class.

    The document is the only one of the text. With `whole_images` of an image no more than the number of a build varies.
    """
    lines = text.split("\n")
    found = [
        (path, leaf.value, leaf.origin.at)
        for path, leaf in leaves(document.written)
        if type(leaf.value) is str and leaf.origin.at is not None
    ]
    places: dict[Span, int] = {}
    for *_, span in found:
        places[span] = places.get(span, 0) + 1
    for path, content, span in found:
        if span.line != span.end_line or places[span] > 1:
            continue
        raw = lines[span.line - 1][span.column - 1 : span.end_column - 1]
        quote = raw[:1] if raw[:1] in ('"', "'") else ""
        if raw == f"{quote}{content}{quote}":  # nothing is escaped
            for start, end, name in _stretches(document, path, content, whole_images=whole_images):
                yield span, start + len(quote), end + len(quote), name


def _stretches(document: Document, path: Path, text: str, *, whole_images: bool) -> list[Stretch]:
    """The stretches of a leaf that may vary."""
    field, parent = path[-1], path[-2] if len(path) > 1 else ""
    if path == ("metadata", "name"):
        return _whole(text, NAME)
    if path == ("metadata", "namespace"):  # in which a TrainingRuntime is looked for
        kind = value(document.written, "spec", "runtimeRef", "kind")
        return _whole(text, WORD) if kind in (None, "ClusterTrainingRuntime") else []
    if len(path) == 3 and path[0] == "metadata" and parent in ("labels", "annotations"):
        return [] if is_told(str(field)) else _whole(text, NUMBER, TEXT)
    if parent == "nodeSelector":
        return _whole(text, WORD) if "/" in str(field) and not is_told(str(field)) else []
    if field == "serviceAccountName":
        return _whole(text, WORD)
    if field == "image":
        # The repository and the number of a build in an image of a registry of nobody's; versions are exact.
        if (found := _IMAGE(text)) is None or not _FITS[NUMBER](found[4]):
            return []
        build = (*found.span(4), NUMBER)
        if whole_images or found[1].endswith(REGISTRIES) or not _FITS[REPOSITORY](found[2]):
            return [build]
        return [(*found.span(2), REPOSITORY), build]
    own: list[Stretch] = []
    if parent == "args":
        option, mark, rest = text.partition("=")
        if mark and _OPTION(option) and _is_own(option):
            own = _whole(rest, *_SETTINGS, at=len(option) + 1)
    elif field == "value" and path[-3:-2] == ("env",):
        if _is_own(value(document.written, *path[:-1], "name")):
            own = _whole(text, *_SETTINGS)
    else:
        return []
    if own:
        return own
    # Where the job's own name is a part of a path.
    name = document.name
    start = text.find(f"/{name}") + 1
    end = start + len(name)
    is_part = start and name and text[end : end + 1] in ("", "/")
    return [(start, end, NAME)] if is_part and _FITS[NAME](name) else []


def _whole(text: str, *classes: str, at: int = 0) -> list[Stretch]:
    """All of a text, in the first of some classes that it is of."""
    return [(at, at + len(text), name) for name in classes if _FITS[name](text)][:1]


def _is_own(setting: object) -> bool:
    """Whether only the program itself reads an option or a variable."""
    return type(setting) is str and setting.lstrip("-").replace("-", "_").lower() in OWN_SETTINGS


def is_told(key: str) -> bool:
    """Whether a label or an annotation tells something to anybody whom trainc knows."""
    domain = key.rpartition("/")[0]
    return domain.endswith(DOMAINS)
