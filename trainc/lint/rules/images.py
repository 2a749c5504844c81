"""Image references that no container runtime can pull."""

from __future__ import annotations

from trainc.lint.facts.values import text
from trainc.model.finding import ERROR, WARNING, Edit, Rule
from trainc.model.sourced import Sourced
from trainc.model.tree import get
from trainc.text.memo import TextMemo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import NamedTuple

    from trainc.lint.facts.job import Container, Findings, Job
    from trainc.model.tree import Tree
else:
    from trainc.text.record import NamedTuple

BAD_IMAGE = Rule("bad-image", ERROR)
_DIGESTS = {"sha256": 64, "sha384": 96, "sha512": 128}
_LONGEST_TAG = 128
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")


def bad_image(job: Job) -> Findings:
    seen: set[str] = set()
    for container in job.containers:
        image = text(container.tree, "image")
        if image in seen or not _is_known(image):
            continue
        seen.add(image)
        for fault in _faults(image):
            yield from _report(job, container, image, fault)


def _is_known(image: str) -> bool:
    """Whether the reference is the one that pods get: nothing in it is filled in later; spaces around it are the API's."""
    return bool(image) and image == image.strip() and not any(mark in image for mark in "${<%")


class _Fault(NamedTuple):
    """What is wrong with a reference, what to do, how certain it is to fail, and the one right reference if there is one."""

    reason: str
    help: str
    level: str = ERROR
    right: str = ""


def _report(job: Job, container: Container, image: str, fault: _Fault) -> Findings:
    effect = "the pod stays in InvalidImageName" if fault.level == ERROR else "the pull asks a registry of that name"
    path = (*container.path, "image")
    yield BAD_IMAGE.at(
        job.at(path),
        f"`{image}` {fault.reason}",
        effect=effect,
        help=fault.help or f"write `{fault.right}`",
        level=fault.level,
        fix=_edits(get(job.tree, *path), fault.right),
    )


def _edits(leaf: Tree, right: str) -> list[Edit]:
    """The edit to the right reference, where people wrote all of the wrong one in one place."""
    place = leaf.origin.at if type(leaf) is Sourced and not leaf.origin.by else None
    if place is None or not right:
        return []
    return [Edit(place.file, place.line, (), right, at=place)]


def _faults(image: str) -> Iterator[_Fault]:
    """The first thing wrong with a reference: what it is, what to write, and how certain it is to fail."""
    scheme, separator, rest = image.partition("://")
    if separator:
        yield _Fault(f"begins with `{scheme}://`", "", right=rest)
        return
    if image.split() != [image]:
        # The recorded server creates such pods, so that this is not an error.
        yield _Fault("has a space in it", "", WARNING, "".join(image.split()))
        return
    name, digest_mark, digest = image.partition("@")
    if digest_mark and (problem := _digest_problem(digest)):
        yield _Fault(
            problem, "copy the digest from `docker buildx imagetools inspect IMAGE`: `sha256:` and 64 characters"
        )
        return
    path, tag = _parted(name)
    if tag is not None and (fault := _tag_fault(tag)):
        yield fault
        return
    if not _FINE_PATHS[path]:
        yield from _path_problems(path, image)


def _parted(name: str) -> tuple[str, str | None]:
    """Repository and tag; None where there is no tag. The colon of a registry's port stands before a slash."""
    before, _, last = name.rpartition("/")
    repository, colon, tag = last.partition(":")
    path = f"{before}/{repository}" if before else repository
    return path, tag if colon else None


def _tag_fault(tag: str) -> _Fault | None:
    if ":" in tag:
        return _Fault("has two tags", f"keep one tag, such as `:{tag.partition(':')[0]}`")
    if not tag:
        return _Fault("ends with a colon", "write a tag after the colon, or remove it")
    fits = tag.isascii() and tag.replace("-", "").replace(".", "").replace("_", "").isalnum()
    if not fits or tag[0] in "-." or len(tag) > _LONGEST_TAG:
        return _Fault(f"has the tag `{tag}`", "use letters, digits, `_`, `.` and `-` in a tag, at most 128")
    return None


def _digest_problem(digest: str) -> str:
    algorithm, _, characters = digest.partition(":")
    length = _DIGESTS.get(algorithm)
    if length is None:
        return "" if algorithm and characters and algorithm.isalnum() else "has a digest without an algorithm"
    if len(characters) != length or any(character not in "0123456789abcdef" for character in characters):
        return f"has a {algorithm} digest of {len(characters)} characters instead of {length}"
    return ""


def _path_problems(path: str, image: str) -> Iterator[_Fault]:
    first, slash, rest = path.partition("/")
    is_registry = bool(slash) and ("." in first or ":" in first or first == "localhost")
    repository = rest if is_registry else path
    if not repository or repository.startswith("/") or repository.endswith("/") or "//" in repository:
        yield _Fault("has an empty part between slashes", "write `REGISTRY/REPOSITORY:TAG`")
    elif repository != repository.lower():
        lower = image.replace(repository, repository.lower(), 1)
        # Docker's grammar reads a first part in upper case as a registry without a dot.
        is_name = is_registry or not slash or rest != rest.lower()
        yield _Fault("has upper-case letters in its repository", "", ERROR if is_name else WARNING, lower)
    elif wrong := next((part for part in repository.split("/") if not _is_part(part)), ""):
        yield _Fault(
            f"has `{wrong}` in its repository",
            "use lower-case letters and digits, with `.`, `_`, `__` or `-` between them",
        )


def _is_part(part: str) -> bool:
    """Whether Docker's grammar has a text between two slashes: words with `.`, `_`, `__` or any number of `-` between them."""
    words = part.replace("__", ".").replace("_", ".").split(".")
    return all(word and word == word.strip("-") and _LETTERS.issuperset(word) for word in words)


_FINE_PATHS = TextMemo(lambda path: not any(_path_problems(path, path)), longest=200)

CHECKS = (bad_image,)
