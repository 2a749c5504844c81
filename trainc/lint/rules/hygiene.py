"""What does not belong in Git: moving tags, misspelt images, what a server writes, objects twice."""

from typing import NamedTuple

from trainc.lint.facts.job import Container, ExpandedRole, Findings, Job, each
from trainc.lint.facts.values import rows, substituted, table, text
from trainc.model.finding import ERROR, NOTE, WARNING, Edit, Label, Rule
from trainc.model.tree import Path, Tree
from trainc.text.memo import TextMemo
from trainc.text.object_keys import LAST_APPLIED

TAG = Rule("moving-tag", WARNING)
PULL = Rule("pull-policy-and-tag", NOTE)
SERVER = Rule("server-managed-field", WARNING)
NAMESPACES = Rule("namespaces-differ", ERROR)
HOST_PATH = Rule("sensitive-host-path", NOTE)
DUPLICATE = Rule("object-twice", ERROR)
SERVICE = Rule("service-shadows-peers", WARNING)
BAD_IMAGE = Rule("bad-image", ERROR)

_MOVING = frozenset(("latest", "main", "master", "nightly", "stable", "dev", "edge"))

_SENSITIVE = (
    "/", "/etc", "/root", "/var/run/docker.sock", "/run/containerd", "/var/run/containerd", "/var/lib/kubelet",
    "/proc", "/boot",
)  # fmt: skip

_SERVER_FIELDS = frozenset((
    "uid", "resourceVersion", "generation", "creationTimestamp", "selfLink", "managedFields", "ownerReferences",
    "deletionTimestamp",
))  # fmt: skip
_DIGESTS = {"sha256": 64, "sha384": 96, "sha512": 128}
_HEXADECIMAL = frozenset("0123456789abcdef")
_LONGEST_TAG = 128
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")


def moving_tag(job: Job) -> Findings:
    seen: set[str] = set()
    for container in job.containers:
        image = text(container.tree, "image")
        if image not in seen and _moving(image):
            seen.add(image)
            tag = _tag(image)
            message = f"`{image}` has {'no tag' if not tag else f'the moving tag `{tag}`'}"
            effect = "a restart or another node may run a different program than the one you tested"
            help_ = "pin a version, or better a digest: `image@sha256:...`"
            yield TAG.at(container.at("image"), message, effect=effect, help=help_)


def _moving(image: str) -> bool:
    """Whether an image may be another one tomorrow: it has no digest, and no tag or one that is moved."""
    tag = _tag(image)
    is_pinned = "@sha256:" in image or (tag and tag not in _MOVING)
    if image.split() != [image] or is_pinned or "placeholder" in image.lower():
        return False
    name = image.rpartition("/")[2]
    if substituted(name) or any(mark in name for mark in "$<{"):
        return False
    is_filled_in = name != image and (substituted(image) or any(mark in image for mark in "$<{"))
    return tag in _MOVING or (not tag and not is_filled_in)


def _tag(image: str) -> str:
    return image.rpartition("/")[2].partition(":")[2]


def pull_policy_and_tag(container: Container) -> Findings:
    policy = text(container.tree, "imagePullPolicy")
    image = text(container.tree, "image")
    if policy == "Always" and "@sha256:" in image:
        message = "an image pinned by digest never changes, but the kubelet checks the registry at each start"
        help_ = "use `IfNotPresent`"
    elif policy == "IfNotPresent" and _tag(image) in _MOVING:
        message = "each node keeps the first image that it pulled for this moving tag"
        help_ = "pin a version or a digest"
    else:
        return
    at = container.at("imagePullPolicy")
    yield PULL.at(at, message, also=[Label(container.at("image"), "the image")], help=help_)


def server_managed_field(job: Job) -> Findings:
    source = job.bundle.document.tree  # what is applied has been cleaned
    metadata = table(source, "metadata")
    paths: list[Path] = [("metadata", field) for field in metadata if field in _SERVER_FIELDS]
    paths += [("metadata", "annotations", key) for key in table(metadata, "annotations") if key == LAST_APPLIED]
    paths += [("status",)] if table(source, "status") else []
    for path in paths:
        message = f"the API server sets `{path[-1]}`"
        effect = "applying it has no effect, or fails once the object has changed"
        yield SERVER.at(job.bundle.document.span(path, key=True), message, effect=effect, help="remove it")


def _own(job: Job) -> dict[str, list[Tree]]:
    """The objects that go out with this job, by kind: of others in its file the job that they go with is told."""
    own = {id(tree) for tree in job.bundle.objects}
    return {kind: [tree for tree in trees if id(tree) in own] for kind, trees in job.kinds.items()}


def namespaces_differ(job: Job) -> Findings:
    for kind, trees in _own(job).items() if job.kinds else ():
        for tree in trees if kind in ("ConfigMap", "Secret", "Service", "PodGroup", "PersistentVolumeClaim") else ():
            name, namespace = [text(table(tree, "metadata"), field) for field in ("name", "namespace")]
            if namespace != job.namespace and namespace and job.namespace:
                at = job.at_object(tree, ("metadata", "namespace"))
                message = f"{kind} `{name}` is in `{namespace}`, the job in `{job.namespace}`"
                also = [Label(job.at(("metadata", "namespace")), "the job's namespace")]
                help_ = f"move it to `{job.namespace}`"
                yield NAMESPACES.at(at, message, also=also, effect="the pods do not find it", help=help_, level=WARNING)


def sensitive_host_path(role: ExpandedRole) -> Findings:
    for index, volume in enumerate(rows(role.pod, "volumes") if role.reads_host else ()):
        path = text(table(volume, "hostPath"), "path")
        where = path.rstrip("/") or path
        if where in _SENSITIVE:
            at = role.pod_at("volumes", index, "hostPath", "path")
            message = f"the pods of `{role.name}` mount `{path}` from their nodes"
            help_ = "mount only the directory that the program needs, read-only"
            yield HOST_PATH.at(at, message, effect="a compromised program controls the node", help=help_)


def object_twice(job: Job) -> Findings:
    for kind, trees in _own(job).items() if any(len(trees) > 1 for trees in job.kinds.values()) else ():
        seen: dict[tuple[str, str, str], object] = {}
        for tree in trees:
            metadata = table(tree, "metadata")
            key = (text(tree, "apiVersion"), text(metadata, "namespace"), text(metadata, "name"))
            first = seen.setdefault(key, tree)
            if first is not tree and key[2] and not (kind == "Service" and any(_unlike_peers(t, job) for t in trees)):
                at = job.at_object(tree, ("metadata", "name"))
                message = f"{kind} `{key[2]}` is defined twice"
                also = [Label(job.at_object(first, ("metadata", "name")), "first definition")]
                effect = "the second overwrites the first"
                yield DUPLICATE.at(at, message, also=also, effect=effect, help="rename one of them")


def service_shadows_peers(job: Job) -> Findings:
    if not job.dns:
        return
    for service in job.kinds.get("Service", ()):
        if fault := _unlike_peers(service, job):
            at = job.at_object(service, ("metadata", "name"))
            message = f"Service `{job.subdomain}` has the name of the pods' headless Service, but {fault}"
            also = [Label(job.at(("metadata", "name")), "the pods' subdomain is the job's name")]
            effect = "JobSet uses any Service of that name, and the pods do not find each other"
            if job.bundle.keeps_job:
                effect = "the pods do not find each other"
            yield SERVICE.at(at, message, also=also, effect=effect, help="rename it")


def _unlike_peers(service: Tree, job: Job) -> str:
    """Why a Service with the name of the pods' subdomain does not join them; empty for others and for one that does."""
    if text(table(service, "metadata"), "name") != job.subdomain:
        return ""
    spec = table(service, "spec")
    if text(spec, "clusterIP") != "None":
        return "it is not headless (`clusterIP: None`)"
    selector = {key: text(table(spec, "selector"), key) for key in table(spec, "selector")}
    pairs = [(role, key, value) for role in job.roles for key, value in selector.items()]
    is_met = all(value in (text(role.labels, key), role.system(key)) for role, key, value in pairs)
    return "" if selector and is_met else "it does not select the job's pods"


def bad_image(job: Job) -> Findings:
    seen: set[str] = set()
    for container in job.containers:
        image = text(container.tree, "image")
        # Only the reference that pods get counts: nothing in it is filled in later, and spaces around it are the API's.
        is_known = image and image == image.strip() and not any(mark in image for mark in "${<%")
        fault = _fault(image) if is_known and image not in seen else None
        seen.add(image)
        if fault is None:
            continue
        leaf: Tree = container.tree["image"]
        # People wrote all of the wrong reference in one place.
        place = leaf.origin.at if not leaf.origin.by and fault.right else None
        effect = "the kubelet pulls from a registry of that name"
        if fault.level == ERROR:
            effect = "the pod stays in InvalidImageName"
        message, help_ = f"`{image}` {fault.reason}", fault.help or f"write `{fault.right}`"
        fix = [Edit(place.file, place.line, (), fault.right, at=place)] if place is not None else ()
        yield BAD_IMAGE.at(container.at("image"), message, effect=effect, help=help_, level=fault.level, fix=fix)


class _Fault(NamedTuple):
    """What is wrong with a reference, what to do, how certain it is to fail, and the one right reference if there is one."""

    reason: str
    help: str
    level: str = ERROR
    right: str = ""


def _fault(image: str) -> _Fault | None:
    """The first thing wrong with a reference."""
    scheme, separator, rest = image.partition("://")
    if separator:
        return _Fault(f"begins with `{scheme}://`", "", right=rest)
    if image.split() != [image]:
        head, *others = image.split()
        joined, last = "".join((head, *others)), others[0]
        help_ = f"remove the space: `{joined}`"
        # The last word may be the tag, which only the author knows.
        if len(others) == 1 and ":" not in f"{head.rpartition('/')[2]}{last}" and not last.startswith(("/", "@")):
            help_ = f"write `{head}:{last}` if `{last}` is the tag, else `{joined}`"
        return _Fault("contains a space", help_)
    name, mark, digest = image.partition("@")
    algorithm, _, characters = digest.partition(":")
    length, problem = _DIGESTS.get(algorithm), ""
    if mark and length is None and not (algorithm.isalnum() and characters):
        problem = "has a digest without an algorithm"
    elif length is not None and (len(characters) != length or not _HEXADECIMAL.issuperset(characters)):
        problem = f"has a {algorithm} digest of {len(characters)} characters, not {length}"
    if problem:
        help_ = "copy the digest from `docker buildx imagetools inspect IMAGE`: `sha256:` and 64 characters"
        return _Fault(problem, help_)
    before, slash, last = name.rpartition("/")  # the colon of a registry's port stands before a slash
    repository, colon, tag = last.partition(":")
    path = f"{before}{slash if before else ''}{repository}"
    if colon and (fault := _tag_fault(tag)):
        return fault
    return None if _FINE_PATHS[path] else _path_fault(path, image)


def _tag_fault(tag: str) -> _Fault | None:
    if ":" in tag:
        return _Fault("has two tags", f"keep one tag, such as `:{tag.partition(':')[0]}`")
    if not tag:
        return _Fault("ends with a colon", "write a tag after the colon, or remove it")
    fits = tag.isascii() and tag.replace("-", "").replace(".", "").replace("_", "").isalnum()
    if not fits or tag[0] in "-." or len(tag) > _LONGEST_TAG:
        return _Fault(f"has the tag `{tag}`", "use letters, digits, `_`, `.` and `-` in a tag, at most 128")
    return None


def _path_fault(path: str, image: str) -> _Fault | None:
    first, slash, rest = path.partition("/")
    is_registry = bool(slash) and ("." in first or ":" in first or first == "localhost")
    repository = rest if is_registry else path
    parts = repository.split("/")
    if "" in parts:
        return _Fault("has an empty part between slashes", "write `REGISTRY/REPOSITORY:TAG`")
    if repository != repository.lower():
        lower = image.replace(repository, repository.lower(), 1)
        # Docker's grammar reads a first part in upper case as a registry without a dot.
        is_name = is_registry or not slash or rest != rest.lower()
        return _Fault("has upper-case letters in its repository", "", ERROR if is_name else WARNING, lower)
    # Docker's grammar has words between two slashes, with `.`, `_`, `__` or any number of `-` between them.
    for part in parts:
        words = part.replace("__", ".").replace("_", ".").split(".")
        if not all(word and word == word.strip("-") and _LETTERS.issuperset(word) for word in words):
            help_ = "use lower-case letters and digits, with `.`, `_`, `__` or `-` between them"
            return _Fault(f"has `{part}` in its repository", help_)
    return None


_FINE_PATHS = TextMemo(lambda path: _path_fault(path, path) is None, longest=200)

CHECKS = (
    each(lambda job: job.containers, pull_policy_and_tag),
    each(lambda job: job.roles, sensitive_host_path),
    moving_tag, server_managed_field, namespaces_differ, object_twice, service_shadows_peers, bad_image,
)  # fmt: skip
