"""The requests that reach the API server: to create what trainc reads, what it emits, and what controllers make of that.

Whether a policy or a binding is about a request: k8s.io/apiserver pkg/admission/plugin/policy/matching and
pkg/admission/plugin/webhook/predicates (1.34).
"""

from functools import cached_property
from math import inf
from typing import Any

from trainc.apiserver.pods.complaints import fields, selects
from trainc.apiserver.policy.stored import TOKEN, UID
from trainc.model.cluster import Cluster
from trainc.model.document import Document
from trainc.model.finding import place
from trainc.model.sourced import Sourced, Span
from trainc.model.tree import Path, Tree, first_leaf, get, plain, value
from trainc.text.placeholders import is_placeholder, placeholder

GENERATED = "what the server generates, such as uid and creationTimestamp"
NAMESPACE = "the namespace of objects that name none"
LIMIT_RANGE = "what the LimitRange of the namespace fills in"
USER = "who makes the request"
_INT = 2**63
_MANAGED = ("uid", "creationTimestamp", "resourceVersion", "generation", "managedFields", "selfLink")
_NAME_LABEL = "kubernetes.io/metadata.name"  # of every namespace, set by the server
_IRREGULAR = {"Endpoints": "endpoints", "PodMetrics": "pods", "NodeMetrics": "nodes"}
# Kinds of Kubernetes, JobSet, the Trainer, Kueue and the schedulers that live in no namespace.
CLUSTER_SCOPED = frozenset((
    "APIService", "AdmissionCheck", "CSIDriver", "CSINode", "CertificateSigningRequest", "ClusterQueue",
    "ClusterRole", "ClusterRoleBinding", "ClusterTrainingRuntime", "Cohort", "ComponentStatus",
    "CustomResourceDefinition", "DeviceClass", "FlowSchema", "IngressClass", "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding", "MutatingWebhookConfiguration", "Namespace", "Node", "PersistentVolume",
    "PriorityClass", "PriorityLevelConfiguration", "ResourceFlavor", "ResourceSlice", "RuntimeClass",
    "StorageClass", "Topology", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
    "ValidatingWebhookConfiguration", "VolumeAttachment", "VolumeAttributesClass", "WorkloadPriorityClass",
))  # fmt: skip


class UnknownFactError(Exception):
    """What a verdict rests on is not known."""


class AdmissionRequest:
    """The request to create one object.

    `document` is the document of the user's that the object comes from: what has no place of its own is shown there.
    `written` says whether the tree is that document's own, so that paths lead into it; `resource` is the plural of the kind.
    """

    def __init__(self, tree: Tree, document: Document, cluster: Cluster, *, written: bool) -> None:
        api_version = value(tree, "apiVersion") or ""
        group, _, version = api_version.rpartition("/")
        self.group: str = group
        self.version: str = version
        self.kind: str = value(tree, "kind") or ""
        self.resource = resource(self.kind)
        self.is_cluster_scoped = self.kind in CLUSTER_SCOPED or (group, self.kind) == ("scheduling.volcano.sh", "Queue")
        self.tree = tree
        self.document = document
        self.cluster = cluster
        self.written = written

    @property
    def name(self) -> str | None:
        """The name of the object, None where the server generates it."""
        name = value(self.tree, "metadata", "name")
        return name if type(name) is str else None

    @property
    def namespace(self) -> str | None:
        """The namespace of the object, empty for one that lives in none, None where it is not known."""
        if self.is_cluster_scoped:
            return ""
        name = value(self.tree, "metadata", "namespace")
        if type(name) is str and name and not is_placeholder(name):
            return name
        own = self.cluster.namespace
        return own.value if own is not None and not name else None

    @property
    def equivalents(self) -> list[str]:
        """The other versions in which the cluster serves the kind, as far as its definitions say."""
        names = {full for one in self.cluster.definitions for full in one.table["kinds"]}
        parts = [name.split("/") for name in sorted(names)]
        own = (self.group, self.kind)
        return [one[1] for one in parts if len(one) == 3 and (one[0], one[2]) == own and one[1] != self.version]

    @property
    def shown(self) -> str:
        """The object in words."""
        name = self.name or str(value(self.tree, "metadata", "generateName") or "").rstrip("-")
        return f"{self.kind} `{name}`"

    def labels(self) -> dict[str, str]:
        """The labels of the object; an UnknownFactError where one of them is filled in later."""
        held = fields(plain(get(self.tree, "metadata", "labels")))
        for text in held.values():
            if is_placeholder(text):
                raise UnknownFactError(f"the value of `{placeholder(text)}`")
        return held

    def namespace_labels(self) -> dict[str, str]:
        """The labels of the namespace; an UnknownFactError where no dump shows it."""
        if self.resource == "namespaces":
            return self.labels()
        return fields(get(fields(self.namespace_object()), "metadata", "labels"))

    def namespace_object(self) -> Any:
        """The namespace as policies see it, None for an object without one; an UnknownFactError where no dump shows it."""
        if (name := self.namespace) is None:
            raise UnknownFactError(NAMESPACE)
        if not name or self.kind == "Namespace":
            return None
        if (tree := self.cluster.objects.get("Namespace", {}).get(name)) is None:
            raise UnknownFactError(f"namespace `{name}`, which no dump shows")
        held = plain(tree)
        metadata = {key: inner for key, inner in held.get("metadata", {}).items() if key != "managedFields"}
        labels = {_NAME_LABEL: name, **(metadata.get("labels") or {})}
        return {
            "metadata": {**metadata, "labels": labels},
            "spec": held.get("spec") or {"finalizers": ["kubernetes"]},
            "status": {"phase": "Active"},
        }

    @cached_property
    def held(self) -> tuple[Any, list[list[Any]]]:
        """The object as policies see it, and the paths in it that nobody knows, each followed by its reason."""
        unknown: list[list[Any]] = []
        held = _known(self.tree, ["object"], unknown)
        if type(held.get("metadata")) is not dict:
            held["metadata"] = {}  # no server takes such an object
        metadata = held["metadata"]

        def hide(holder: Any, reason: str, *path: str | int) -> None:
            holder[path[-1]] = None
            unknown.append(["object", *path, reason])

        for field in _MANAGED:
            metadata.pop(field, None)
        for field in ("uid", "creationTimestamp", "generation", "managedFields"):
            hide(metadata, GENERATED, "metadata", field)
        if not metadata.get("name"):
            hide(metadata, GENERATED, "metadata", "name")
        namespace = self.namespace
        is_limited = self.kind == "Pod" and any(
            value(tree, "metadata", "namespace") == namespace
            and any("default" in one or "defaultRequest" in one for one in get(tree, "spec", "limits") or ())
            for tree in self.cluster.objects.get("LimitRange", {}).values()
        )
        for field in ("initContainers", "containers") if is_limited else ():
            for index, container in enumerate(get(held, "spec", field) or ()):
                hide(container, LIMIT_RANGE, "spec", field, index, "resources")
        if namespace is None:
            hide(metadata, NAMESPACE, "metadata", "namespace")
        elif namespace:
            metadata["namespace"] = namespace
        return held, unknown

    def question(self) -> dict[str, Any]:
        """What a policy is asked about the request, without the policy and its parameters."""
        held, places = self.held
        unknown = [*places, ["request", "userInfo", USER], ["request", "options", "the options of the request"]]
        kind = {"group": self.group, "version": self.version, "kind": self.kind}
        plural = {"group": self.group, "version": self.version, "resource": self.resource}
        request: dict[str, Any] = {
            "kind": kind,
            "resource": plural,
            "requestKind": kind,
            "requestResource": plural,
            **({"name": self.name} if self.name else {}),
            "operation": "CREATE",
            "dryRun": False,
        }
        namespace: Any = None
        try:
            namespace = self.namespace_object()
        except UnknownFactError as error:
            unknown.append(["namespaceObject", str(error)])
        if not self.name:
            unknown.append(["request", "name", GENERATED])
        if self.namespace is None:
            unknown.append(["request", "namespace", NAMESPACE])
        elif self.namespace:
            request["namespace"] = self.namespace
        return {"object": held, "request": request, "namespaceObject": namespace, "unknown": unknown}

    def span(self, path: Path) -> Span:
        """Where the user wrote what stands at a path of the object, or what comes nearest."""
        if self.written:
            if get(self.document.written, *path) is not None:
                return self.document.span(path)
            above = next(path[:length] for length in range(len(path) - 1, -1, -1) if self._is_written(path[:length]))
            return self.document.span(above, key=True) if len(above) > 1 else self.own_place()
        for length in range(len(path), 1, -1):
            node = get(self.tree, *path[:length])
            leaf = node if type(node) is Sourced else first_leaf(node)
            spot = place(leaf.origin) if leaf is not None else None
            if spot is not None:
                return spot
        if path[:2] in (("metadata", "labels"), ("metadata", "annotations")) and self._is_written(path[:2]):
            return self.document.span(path[:2], key=True)
        return self.own_place()

    def _is_written(self, path: Path) -> bool:
        return not path or get(self.document.written, *path) is not None

    def own_place(self) -> Span:
        """Where the name of the document stands."""
        return self.document.span(("metadata", "name"))


def _known(tree: Tree, path: list[Any], unknown: list[list[Any]]) -> Any:
    """The values of a tree; those that are filled in later are noted, and are null."""
    kind = type(tree)
    if kind is Sourced:
        if tree.value in (UID, TOKEN) or is_placeholder(tree.value):
            made = tree.value in (UID, TOKEN)
            unknown.append([*path, GENERATED if made else f"the value of `{placeholder(tree.value)}`"])
            return None
        return as_json(tree.value)
    if kind is dict:
        return {key: _known(inner, [*path, key], unknown) for key, inner in tree.items()}
    if kind is list:
        return [_known(inner, [*path, index], unknown) for index, inner in enumerate(tree)]
    return as_json(tree)


def as_json(value: Any) -> Any:
    """A value as the server reads its JSON: whole numbers beyond 64 bits are doubles."""
    if type(value) is int:
        return value if -_INT <= value < _INT else float(value) if abs(value) < 1 << 1024 else inf
    if type(value) is dict:
        return {key: as_json(inner) for key, inner in value.items()}
    return list(map(as_json, value)) if type(value) is list else value


def resource(kind: str) -> str:
    """The plural of a kind, as the API machinery guesses it for kinds that say nothing else."""
    if kind in _IRREGULAR:
        return _IRREGULAR[kind]
    word = kind.lower()
    if word.endswith("s"):
        return f"{word}es"
    return f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"


def matches(resources: dict[str, Any], request: AdmissionRequest, *, selects_all: bool) -> bool:
    """Whether matchConstraints or matchResources match; `selects_all` where no rules mean every request.

    An UnknownFactError says that it depends on what is not known.
    """
    unknown: UnknownFactError | None = None
    selector = resources.get("namespaceSelector") or {}
    try:
        is_outside = request.is_cluster_scoped and request.resource != "namespaces"
        if not (_is_empty(selector) or is_outside or selects(selector, _labels_for(selector, request))):
            return False
    except UnknownFactError as error:
        unknown = error
    selector = resources.get("objectSelector") or {}
    if not _is_empty(selector) and not selects(selector, request.labels()):
        return False
    is_exact = resources.get("matchPolicy") == "Exact"
    if _ruled(resources.get("excludeResourceRules") or [], request, is_exact=is_exact):
        return False
    rules = resources.get("resourceRules") or []
    if not (selects_all and not rules) and not _ruled(rules, request, is_exact=is_exact):
        return False
    if unknown is not None:
        raise unknown
    return True


def _labels_for(selector: dict[str, Any], request: AdmissionRequest) -> dict[str, str]:
    """The labels of the namespace as far as a selector reads them: the server itself sets the one with the name."""
    keys = {*(selector.get("matchLabels") or ()), *(one.get("key") for one in selector.get("matchExpressions") or ())}
    if request.namespace and request.kind != "Namespace" and keys <= {_NAME_LABEL}:
        return {_NAME_LABEL: request.namespace}
    return request.namespace_labels()


def _is_empty(selector: dict[str, Any]) -> bool:
    return not selector.get("matchLabels") and not selector.get("matchExpressions")


def _ruled(rules: list[dict[str, Any]], request: AdmissionRequest, *, is_exact: bool) -> bool:
    if any(_rule(rule, request, request.version) for rule in rules):
        return True
    for rule in () if is_exact else rules:
        for version in request.equivalents:
            if _rule(rule, request, version):
                raise UnknownFactError(f"{request.kind} as {request.group}/{version}, to which the server converts it")
    return False


def _rule(rule: dict[str, Any], request: AdmissionRequest, version: str) -> bool:
    scope = rule.get("scope") or "*"
    if scope != "*" and (scope == "Cluster") != request.is_cluster_scoped:
        return False
    words = (("operations", "CREATE"), ("apiGroups", request.group), ("apiVersions", version))
    if not all(any(word in ("*", wanted) for word in rule.get(field) or ()) for field, wanted in words):
        return False
    plurals = {f"{name}{sub}" for name in ("*", request.resource) for sub in ("", "/", "/*")}
    if plurals.isdisjoint(rule.get("resources") or ()):
        return False
    names = rule.get("resourceNames") or []
    if names and request.name is None:
        raise UnknownFactError("names that the server generates")
    return not names or request.name in names
