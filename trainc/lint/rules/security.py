"""Root, privileges, and secrets in texts."""

from trainc.lint.facts.job import Container, Findings, Job, each
from trainc.lint.facts.values import flag, repository, table, text, texts
from trainc.model.document import Document
from trainc.model.finding import ERROR, NOTE, WARNING, Finding, Label, Rule
from trainc.model.report import Report
from trainc.model.sourced import Span
from trainc.model.tree import Path, Tree, value
from trainc.text.masking import named_secret
from trainc.text.placeholders import is_placeholder, placeholder

ROOT = Rule("root-where-non-root", ERROR)
PRIVILEGED = Rule("privileged-pod", NOTE)
SECRET = Rule("secret-in-text", ERROR)
PLACEHOLDER = Rule("secret-placeholder", WARNING)

# Public images whose user is root: their Dockerfiles set no other one (read 2026-11).
_ROOT_IMAGES = frozenset((
    "docker.io/library/alpine", "docker.io/library/bash", "docker.io/library/busybox", "docker.io/library/debian",
    "docker.io/library/python", "docker.io/library/ubuntu", "docker.io/nvidia/cuda", "docker.io/paddlepaddle/paddle",
    "docker.io/pytorch/pytorch", "docker.io/tensorflow/tensorflow", "nvcr.io/nvidia/cuda", "nvcr.io/nvidia/jax",
    "nvcr.io/nvidia/pytorch", "nvcr.io/nvidia/tensorflow",
))  # fmt: skip
# Fields of a pod, what it shares by each, and what to do instead.
_SHARED = {
    "hostPID": ("can see and kill every process of its node", "remove it; `shareProcessNamespace` shares within a pod"),
    "hostIPC": ("shares the memory segments of its node", "mount an `emptyDir` with `medium: Memory` at /dev/shm"),
}
_REFUSED = "a namespace that enforces the Pod Security Standard `baseline` rejects the pod"
_KEY = "PRIVATE KEY-----"  # of whatever sort it is
_TOKENS = (
    "-----BEGIN ", "hf_", "ghp_", "gho_", "github_pat_", "glpat-", "AKIA", "ASIA", "sk-", "xoxb-", "xoxp-", "nvapi-",
    "AIza", "dckr_pat_", "ya29.", "eyJhbGci",
)  # fmt: skip
_SHORTEST = 16  # characters of a token
_PLACEHOLDER_WORDS = (
    "xxx", "your", "token_here", "replace", "change", "example", "placeholder", "insert", "secret", "dummy",
)  # fmt: skip


def privileged_pod(job: Job) -> Findings:
    for container in job.containers:
        if flag(table(container.tree, "securityContext"), "privileged"):
            message = f"`{container.name}` is privileged: it has root access to its node"
            help_ = "request devices from a device plugin, and add single capabilities"
            yield PRIVILEGED.at(container.at("securityContext", "privileged"), message, effect=_REFUSED, help=help_)
    for role in job.roles:
        for field, (shares, instead) in _SHARED.items():
            if flag(role.pod, field):
                message = f"with `{field}` each pod of `{role.name}` {shares}"
                yield PRIVILEGED.at(role.pod_at(field), message, effect=_REFUSED, help=instead)


def root_where_non_root(job: Job) -> Findings:
    seen: set[Span] = set()  # what a pod says may count for several containers
    for container in [container for role in job.roles for container in (*role.main, *role.init)]:
        forbids = container.security_path("runAsNonRoot")
        is_windows = value(container.role.pod, "os", "name") == "windows"
        if is_windows or not forbids or value(job.tree, *forbids) is not True:
            continue
        path, image = container.security_path("runAsUser"), text(container.tree, "image")
        if path:
            user = value(job.tree, *path)
            is_root, what = type(user) is int and user == 0, "runs as user 0"
        else:
            is_root, what = repository(image, job.cluster)[0] in _ROOT_IMAGES, f"runs as root: `{image}` sets no user"
            if not is_root:
                job.report.skip("whether an image runs as root")
        span = job.at(path or (*container.path, "image"))
        if is_root and span not in seen:
            seen.add(span)
            message = f"`{container.name}` {what}, but `runAsNonRoot` forbids it"
            also = [Label(job.at(forbids), "root is forbidden here")]
            effect = "the kubelet refuses to start the container: the pod stays in CreateContainerConfigError"
            help_ = "set `runAsUser` to another user ID, or remove `runAsNonRoot`"
            yield ROOT.at(span, message, also=also, effect=effect, help=help_)


def secret_in_text(container: Container) -> Findings:
    for name, entry in container.env.items():
        if (value := text(entry, "value")) and is_secret(name, value):
            yield _token_finding(container.env_at(name, "value"), f"the value of `{name}` looks like a secret", name)
    for _, word in container.placed_words() if any(token in container.text for token in _TOKENS) else ():
        if holds_token(word):
            message = f"the command of `{container.name}` contains what looks like a token"
            token = next((part for part in _parts(word) if _is_token(part)), _KEY)
            yield _token_finding(container.at_word(token), message, "TOKEN")


def secret_placeholder(container: Container) -> Findings:
    for name in container.env:
        value = container.literals.get(name, "")
        if named_secret(name) and is_placeholder(value) and placeholder(value) == value:
            message = f"`{value}` puts the secret `{name}` into the manifest"
            effect = "everyone who can read the rendered file or the job can read it"
            help_ = f"use a Secret: `valueFrom: {{secretKeyRef: {{name: ..., key: {name}}}}}`"
            yield PLACEHOLDER.at(container.env_at(name, "value"), message, effect=effect, help=help_)


def secret_in_document(document: Document, report: Report) -> None:
    """Look for the same in a job that cannot be read as one: in every variable and every command of its text."""
    todo: list[tuple[Path, Tree]] = [((), document.tree)]
    while todo:
        path, node = todo.pop()
        if type(node) is list:
            todo.extend(((*path, index), child) for index, child in enumerate(node))
        elif type(node) is dict:
            todo.extend(((*path, key), child) for key, child in node.items())
            name, value = text(node, "name"), text(node, "value")
            if value and is_secret(name, value):
                span = document.span((*path, "value"))
                report.add(_token_finding(span, f"the value of `{name}` looks like a secret", name))
            for field in ("command", "args"):
                for index, word in enumerate(texts(node, field)):
                    if holds_token(word):
                        span = document.span((*path, field, index))
                        report.add(_token_finding(span, "the command contains what looks like a token", "TOKEN"))


def holds_token(word: str) -> bool:
    """Whether a part of a word of a command looks like a token of a known service."""
    if len(word) < _SHORTEST or not [prefix for prefix in _TOKENS if prefix in word]:
        return False
    if _KEY in word:
        return True
    return any(_is_token(part) for part in _parts(word))


def _parts(word: str) -> list[str]:
    return word.replace("=", " ").replace('"', " ").replace("'", " ").split()


def _is_token(part: str) -> bool:
    return part.startswith(_TOKENS) and (_random(part) or _of_hugging_face(part))


def is_secret(name: str, value: str) -> bool:
    """Whether the value of a variable looks like key material, by itself or by the name of the variable."""
    if _KEY in value:
        return True
    if len(value) < 8 or "$" in value or "<" in value or "{" in value or value.startswith("/"):
        return False
    if value.startswith(_TOKENS) and (_random(value) or _of_hugging_face(value)):
        return True
    return named_secret(name) and (_random(value) or "PASSW" in name.upper())


def _of_hugging_face(value: str) -> bool:
    """Whether a text is a token of Hugging Face: 34 letters, and often no digit among them."""
    letters = value.removeprefix("hf_")
    return value != letters and len(letters) == 34 and letters.isalpha() and len(set(letters)) > 7


def _random(value: str) -> bool:
    """Whether a text has the look of key material: long, without blanks, of mixed characters, no obvious place holder."""
    if len(value) < _SHORTEST or " " in value or value.lower().strip("x*-_.") == "" or "..." in value:
        return False
    if any(word in value.lower() for word in _PLACEHOLDER_WORDS):
        return False
    parts = value.replace("_", "-").replace(".", "-").split("-")
    if len(parts) > 2 and all(part.isalpha() or part.isdigit() or len(part) < 4 for part in parts):
        return False  # words and numbers, as names of models and runs have them
    return any(c.isdigit() for c in value) and any(c.isalpha() for c in value) and len(set(value)) > 7


def _token_finding(span: Span, message: str, name: str) -> Finding:
    effect = "everyone who can read the repository or the job can read it; revoke it"
    help_ = f"move it to a Secret, and use `valueFrom: {{secretKeyRef: {{name: ..., key: {name}}}}}`"
    return SECRET.at(span, message, effect=effect, help=help_)


CHECKS = (
    each(lambda job: job.containers, secret_in_text, secret_placeholder),
    privileged_pod, root_where_non_root,
)  # fmt: skip
