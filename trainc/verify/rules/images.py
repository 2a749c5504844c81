"""Image references that no container runtime can pull."""

from __future__ import annotations

from trainc.model.finding import ERROR, WARNING, Rule
from trainc.verify.values import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.verify.containers import Container
    from trainc.verify.job import Job

BAD_IMAGE = Rule(
    "bad-image",
    ERROR,
    "an image reference that no container runtime can read",
    "The API server takes any text. The kubelet then reports InvalidImageName, and the pod never starts.",
)
_DIGESTS = {"sha256": 64, "sha384": 96, "sha512": 128}
_LONGEST_TAG = 128
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")


def bad_image(job: Job) -> None:
    seen: set[str] = set()
    for container in job.containers:
        image = text(container.tree, "image")
        if image in seen or not _is_known(image):
            continue
        seen.add(image)
        for reason, help_, level in _faults(image):
            _report(job, container, f"`{image}` {reason}", help_, level)


def _is_known(image: str) -> bool:
    """Whether the reference is the one that pods get: nothing in it is filled in later; spaces around it are the API's."""
    return bool(image) and image == image.strip() and not any(mark in image for mark in "${<%")


def _report(job: Job, container: Container, message: str, help_: str, level: str) -> None:
    effect = "the pod stays in InvalidImageName" if level == ERROR else "the pull asks a registry of that name"
    job.report.add(BAD_IMAGE.at(job.at((*container.path, "image")), message, effect=effect, help=help_, level=level))


def _faults(image: str) -> Iterator[tuple[str, str, str]]:
    """The first thing wrong with a reference: what it is, what to write, and how certain it is to fail."""
    scheme, separator, rest = image.partition("://")
    if separator:
        yield f"begins with `{scheme}://`", f"write `{rest}`", ERROR
        return
    if any(character.isspace() for character in image):
        # The recorded server creates such pods, so that this is not an error.
        yield "has a space in it", f"write `{''.join(image.split())}`", WARNING
        return
    name, digest_mark, digest = image.partition("@")
    if digest_mark and (problem := _digest_problem(digest)):
        yield (
            problem,
            "copy the digest from `docker buildx imagetools inspect IMAGE`: `sha256:` and 64 characters",
            ERROR,
        )
        return
    path, tag = _parted(name)
    if tag is not None and (fault := _tag_fault(tag)):
        yield fault
        return
    yield from _path_problems(path, image)


def _parted(name: str) -> tuple[str, str | None]:
    """Repository and tag; None where there is no tag. The colon of a registry's port stands before a slash."""
    before, _, last = name.rpartition("/")
    repository, colon, tag = last.partition(":")
    path = f"{before}/{repository}" if before else repository
    return path, tag if colon else None


def _tag_fault(tag: str) -> tuple[str, str, str] | None:
    if ":" in tag:
        return "has two tags", f"keep one tag, such as `:{tag.partition(':')[0]}`", ERROR
    if not tag:
        return "ends with a colon", "write a tag after the colon, or remove it", ERROR
    fits = tag.isascii() and tag.replace("-", "").replace(".", "").replace("_", "").isalnum()
    if not fits or tag[0] in "-." or len(tag) > _LONGEST_TAG:
        return f"has the tag `{tag}`", "use letters, digits, `_`, `.` and `-` in a tag, at most 128", ERROR
    return None


def _digest_problem(digest: str) -> str:
    algorithm, _, characters = digest.partition(":")
    length = _DIGESTS.get(algorithm)
    if length is None:
        return "" if algorithm and characters and algorithm.isalnum() else "has a digest without an algorithm"
    if len(characters) != length or any(character not in "0123456789abcdef" for character in characters):
        return f"has a {algorithm} digest of {len(characters)} characters instead of {length}"
    return ""


def _path_problems(path: str, image: str) -> Iterator[tuple[str, str, str]]:
    first, slash, rest = path.partition("/")
    is_registry = bool(slash) and ("." in first or ":" in first or first == "localhost")
    repository = rest if is_registry else path
    if not repository or repository.startswith("/") or repository.endswith("/") or "//" in repository:
        yield "has an empty part between slashes", "write `REGISTRY/REPOSITORY:TAG`", ERROR
    elif repository != repository.lower():
        lower = image.replace(repository, repository.lower(), 1)
        # Docker's grammar reads a first part in upper case as a registry without a dot.
        is_name = is_registry or not slash or rest != rest.lower()
        yield "has upper-case letters in its repository", f"write `{lower}`", ERROR if is_name else WARNING
    elif wrong := next((part for part in repository.split("/") if not _is_part(part)), ""):
        yield (
            f"has `{wrong}` in its repository",
            "use lower-case letters and digits, with `.`, `_`, `__` or `-` between them",
            ERROR,
        )


def _is_part(part: str) -> bool:
    """Whether Docker's grammar has a text between two slashes: words with `.`, `_`, `__` or any number of `-` between them."""
    words = part.replace("__", ".").replace("_", ".").split(".")
    return all(word and word == word.strip("-") and _LETTERS.issuperset(word) for word in words)


CHECKS = (bad_image,)
