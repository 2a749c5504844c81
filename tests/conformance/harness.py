"""Recorded answers of the Kubeflow Trainer v2.3.0 controller, and what trainc does differently on purpose."""

import re
from fractions import Fraction
from functools import cache
from typing import Any

import yaml

from tests.conformance.archives import folders, groups

OBJECTS = re.compile(r"expected(\.\d+)?\.yaml")
REFUSALS = re.compile(r"expected-rejection(\.\d+)?\.txt")
SUFFIXES = {
    **{
        suffix: Fraction(1000) ** power
        for power, suffix in enumerate(("n", "u", "m", "", "k", "M", "G", "T", "P", "E"), -3)
    },
    **{f"{suffix}i": Fraction(1024) ** power for power, suffix in enumerate("KMGTPE", 1)},
}


class Case:
    """One input, and the text of every answer that counts as right."""

    def __init__(self, group: str, name: str, files: dict[str, str]) -> None:
        self.group = group
        self.id = f"{group}/{name}"
        self.text = files["input.yaml"]
        self.answers = [text for file, text in sorted(files.items()) if OBJECTS.fullmatch(file)]
        self.refusals = [text for file, text in sorted(files.items()) if REFUSALS.fullmatch(file)]
        self.warnings = files.get("expected-warnings.txt", "")

    @property
    def documents(self) -> list[Any]:
        """The input as PyYAML reads it."""
        return [document for document in read(self.text) if isinstance(document, dict)]

    @property
    def is_gated(self) -> bool:
        """Whether a feature gate was set where it was recorded."""
        return "# feature-gates:" in self.text.partition("apiVersion")[0]


def read(text: str) -> list[Any]:
    """The documents of a YAML text, empty ones left out."""
    return [document for document in yaml.load_all(text, yaml.CSafeLoader) if document]


@cache
def cases() -> list[Case]:
    """Every recorded case, sorted."""
    return [
        Case(group, name, files)
        for group in groups("trainer")
        for name, files in sorted(folders("trainer", group).items())
    ]


def reduced(objects: list[Any], *, recorded: bool, carried: frozenset[str] = frozenset()) -> dict[str, Any]:
    """The objects by kind and name, with exactly that taken away in which trainc differs on purpose.

    `carried` are the labels that a TrainJob hands to its JobSet because no TrainJob will be in the cluster.
    """
    kept = {}
    for tree in objects:
        metadata = tree["metadata"]
        # Nothing in Git can name the TrainJob's uid, and no TrainJob will be in the cluster to own anything.
        metadata.pop("ownerReferences", None)
        # An absent namespace stays absent; the recordings read it as `default`.
        if metadata.get("namespace") == "default":
            del metadata["namespace"]
        if tree["kind"] == "JobSet":
            _reduce_jobset(tree, recorded=recorded, carried=carried)
        if tree["apiVersion"] == "scheduling.volcano.sh/v1beta1":
            tree["spec"].setdefault("queue", "default")
        # Key material is a reference to a Secret that exists, never made here: only the recordings have one.
        # The headless Service is the JobSet controller's own, written out; `service` says what it must be.
        if tree["kind"] != ("Secret" if recorded else "Service"):
            name = f"{tree['apiVersion']}/{tree['kind']}/{metadata['name']}"
            assert name not in kept, f"{name} is there twice"
            kept[name] = _written_alike(tree)
    return kept


def _reduce_jobset(tree: Any, *, recorded: bool, carried: frozenset[str]) -> None:
    spec = tree["spec"]
    # A queue owns `suspend`; only true is written.
    if spec.get("suspend") is False:
        del spec["suspend"]
    # What the JobSet webhook would write is written already, so a recording gains it and trainc's text must have it.
    if recorded:
        _jobset_webhook(spec)
    else:
        # Kueue reads these from the JobSet where there is no TrainJob.
        _drop(tree["metadata"], "labels", carried)
    _jobset_schema_defaults(spec)


def _drop(parent: dict[str, Any], field: str, keys: frozenset[str]) -> None:
    if field in parent:
        parent[field] = {key: value for key, value in parent[field].items() if key not in keys}


def _jobset_webhook(spec: Any) -> None:
    """Every default of the JobSet v0.12 mutating webhook."""
    spec.setdefault("successPolicy", {"operator": "All"})
    spec.setdefault("startupPolicy", {"startupPolicyOrder": "AnyOrder"})
    network = spec.setdefault("network", {})
    network.setdefault("enableDNSHostnames", True)
    network.setdefault("publishNotReadyAddresses", True)
    for job in spec.get("replicatedJobs") or []:
        template = job["template"].setdefault("spec", {})
        template.setdefault("completionMode", "Indexed")
        template.setdefault("template", {}).setdefault("spec", {}).setdefault("restartPolicy", "OnFailure")
    for index, rule in enumerate((spec.get("failurePolicy") or {}).get("rules") or []):
        rule.setdefault("name", f"failurePolicyRule{index}")
    for claim in spec.get("volumeClaimPolicies") or []:
        claim.setdefault("retentionPolicy", {"whenDeleted": "Delete"})


def _jobset_schema_defaults(spec: Any) -> None:
    """Defaults of the JobSet CRD, which may be written or left to the server."""
    if "failurePolicy" in spec:
        spec["failurePolicy"].setdefault("restartStrategy", "Recreate")
    for job in spec.get("replicatedJobs") or []:
        job.setdefault("replicas", 1)
        job.setdefault("groupName", "default")
        pod = job["template"].get("spec", {}).get("template", {}).get("spec", {})
        for container in [*pod.get("containers", []), *pod.get("initContainers", [])]:
            for port in container.get("ports", []):
                port.setdefault("protocol", "TCP")
            for variable in container.get("env", []):
                _optional_file(variable)


def _optional_file(variable: Any) -> None:
    source = variable.get("valueFrom", {}).get("fileKeyRef")
    if source is not None:
        source.setdefault("optional", False)


def _written_alike(node: Any, field: str = "") -> Any:
    """Empty maps that carry nothing left out, quantities by value, scripts that each side brings its own of masked."""
    if isinstance(node, dict):
        if field in {"limits", "requests", "minResources", "overhead", "capacity"}:
            return {key: quantity(value) for key, value in node.items()}
        return {
            key: _leaf(key, _written_alike(value, key))
            for key, value in node.items()
            if not (key in {"metadata", "resources", "status", "labels", "annotations"} and value in ({}, None))
        }
    return [_written_alike(item) for item in node] if isinstance(node, list) else node


def _leaf(key: str, value: Any) -> Any:
    if key == "sizeLimit":
        return quantity(value)
    # Flux's scripts are our own.
    return "<script>" if key in {"entrypoint.sh", "init.sh"} else value


def quantity(text: Any) -> Fraction | str:
    """The value of a Kubernetes quantity; the text itself where it is none."""
    match = re.fullmatch(r"([+-]?[\d.]+)(?:[eE]([+-]?\d+)|([a-zA-Z]*))", str(text))
    if not match or (match[3] or "") not in SUFFIXES:
        return str(text)
    return Fraction(match[1]) * (Fraction(10) ** int(match[2]) if match[2] else SUFFIXES[match[3] or ""])


def service(jobset: Any) -> dict[str, Any] | None:
    """The headless Service that the JobSet controller would make for this JobSet, None where it makes none."""
    spec, metadata = jobset["spec"], jobset["metadata"]
    if not spec["network"]["enableDNSHostnames"]:
        return None
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": spec["network"].get("subdomain") or metadata["name"],
            **({"namespace": metadata["namespace"]} if "namespace" in metadata else {}),
        },
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": spec["network"]["publishNotReadyAddresses"],
            "selector": {"jobset.sigs.k8s.io/jobset-name": metadata["name"]},
        },
    }


def carried_labels(documents: list[Any]) -> frozenset[str]:
    """The labels of Kueue on the TrainJobs of a case."""
    labels = (d["metadata"].get("labels") or {} for d in documents if d.get("kind") == "TrainJob")
    return frozenset(key for found in labels for key in found if key.startswith("kueue.x-k8s.io/"))
