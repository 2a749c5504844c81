"""Which files a run reads: those under the given paths that name a group of ours, in one fixed order."""

import os
from collections.abc import Iterable, Iterator

from trainc.compiler.header import is_rendered
from trainc.model.settings import FILE, Project
from trainc.text.files import READING, is_below, is_inside, ordinary_contents
from trainc.text.trouble import Trouble, near

Listings = dict[str, tuple[list[str], list[str]]]

SUFFIXES = (".yaml", ".yml", ".json")
GROUPS = (
    b"trainer.kubeflow.org",
    b"jobset.x-k8s.io",
    b"scheduling.x-k8s.io",
    b"scheduling.volcano.sh",
    b"batch.volcano.sh",
    b"ray.io/v1",
    b"trainc.dev",
    b"kubeflow.org/v",
    b"mlkube.io/",
    b"tensorflow.org/v1alpha1",
    b"flux-framework.org/v1",
    b"jobSetId",  # of Armada's submit files, which have no API version
    b"kind: TrainJob",  # of an API that somebody forgot to name
)
_JOB, _INDEXED = b"batch/v1", b"Indexed"  # together in a text they tell of a plain Job whose pods have numbers
_ENVIRONMENT = "pyvenv.cfg"  # in a virtual environment, which may hold trainc itself with all that it ships
_USUAL = 64 * 1024  # bytes of one file that are read at once
LARGEST = 64 * 1024 * 1024  # bytes of one file; a spec is a few thousand


def files(root: str, paths: tuple[str, ...], listings: Listings | None = None) -> list[str]:
    """Every candidate file, relative to the root, each once, sorted, however the paths were given.

    `listings` has the folders that were looked into before, and gets the others.

    Raises:
        Trouble: for a path that is not there, cannot be read or leads out of the root.
    """
    paths_found: dict[str, None] = {}  # in the order of a walk, which is nearly that of the answer
    for path in paths:
        absolute = os.path.join(root, path) if path != "." else root
        if not is_inside(root, absolute):
            raise Trouble(f"{path} is outside {root}")
        if os.path.isdir(absolute):
            top = _relative(root, absolute)
            above = "" if top == "." else f"{top}/"
            skip = len(os.path.join(absolute, ""))
            found = _walk(root, absolute, {} if listings is None else listings)
            paths_found.update(dict.fromkeys([above + name[skip:].replace(os.sep, "/") for name in found]))
        elif os.path.isfile(absolute):
            paths_found[_relative(root, absolute)] = None
        else:
            there = os.path.exists(absolute)
            raise Trouble(f"{path}: {'not an ordinary file' if there else 'no such file or directory'}")
    return sorted(paths_found, key=lambda name: name.split("/"))


def known_files(project: Project, paths: tuple[str, ...]) -> list[str]:
    """What `files` says of the paths of a project, which this run may have asked before."""
    names = project.texts.names
    if paths not in names:
        # Files that are in an editor alone are found once they are saved, unless their names hide them.
        new = [file for file in project.texts.unsaved if not os.path.lexists(os.path.join(project.root, file))]
        listed = files(project.root, tuple([path for path in paths if path not in new]), project.texts.listings)
        hidden = [one for one in new if any(step.startswith(".") or step == "node_modules" for step in one.split("/"))]
        below = [file for file in new if file not in hidden and is_below(file, paths)]
        names[paths] = sorted([*listed, *below], key=lambda name: name.split("/")) if below else listed
    return names[paths]


def known_contents(project: Project, file: str) -> bytes:
    """What `contents` says of a file of a project, which this run may have asked before."""
    data = project.texts.held(file)
    return contents(project.root, file) if data is None else data


def _relative(root: str, name: str) -> str:
    return os.path.relpath(name, root).replace(os.sep, "/")


def _walk(root: str, folder: str, listings: Listings) -> Iterator[str]:
    """The candidate files below a folder, but for those of projects that start further down."""
    if folder not in listings:
        listings[folder] = _list(root, folder)
    below, names = listings[folder]
    yield from names
    for inner in below:
        if not os.path.isfile(os.path.join(inner, FILE)):
            yield from _walk(root, inner, listings)


def folders(folder: str) -> Iterator[str]:
    """A folder and all below it that a run looks into, whatever project they belong to; none for a file."""
    if not os.path.isdir(folder):
        return
    yield folder
    for inner in _list(folder, folder)[0]:
        yield from folders(inner)


def _list(root: str, folder: str) -> tuple[list[str], list[str]]:
    """The folders and the candidate files in a folder, sorted; links that lead out of the root are left out."""
    below: list[str] = []
    names: list[str] = []
    try:
        with os.scandir(folder) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except OSError as error:
        raise Trouble(f"{near(folder)}: {error.strerror}") from error
    for entry in entries:
        if entry.name.startswith(".") or (entry.is_symlink() and not is_inside(root, entry.path)):
            continue
        if entry.is_dir(follow_symlinks=False):
            if entry.name != "node_modules" and not os.path.exists(os.path.join(entry.path, _ENVIRONMENT)):
                below.append(entry.path)
        elif is_candidate(entry.name) and (entry.is_file(follow_symlinks=False) or os.path.isfile(entry.path)):
            names.append(entry.path)  # a link to itself is not a file, and no error
    return below, names


def is_candidate(name: str) -> bool:
    """Whether a file is looked into by its name; capitals count as small letters (`JOB.YAML`)."""
    return name.lower().endswith(SUFFIXES)


def contents(root: str, file: str) -> bytes:
    """The bytes of a file; a Trouble where it cannot be read or is larger than any spec can be."""
    path = os.path.join(root, file)
    try:
        number = os.open(path, READING)  # a stream around it takes longer than the reading
        try:
            data = os.read(number, _USUAL)
            if not os.read(number, 1):
                return data
        finally:
            os.close(number)
        data = ordinary_contents(path, LARGEST + 1)
    except OSError as error:
        raise Trouble(f"{near(path)}: {error.strerror}") from error
    if len(data) > LARGEST:
        raise Trouble(f"{near(path)}: larger than {LARGEST >> 20} MiB, the limit for a spec")
    return data


def ours(data: bytes, *, rendered: bool = False) -> bool:
    """Whether the text names a group of ours and (unless `rendered`) was not written by trainc itself."""
    if not rendered and is_rendered(data):
        return False
    if b"\0" in data[:4]:
        data = data.replace(b"\0", b"")  # UTF-16, as some editors save: unreadable, but a job that somebody would miss
    if GROUPS[0] in data or any(group in data for group in GROUPS):  # most files name the first
        return True
    return _INDEXED in data and _JOB in data


def nested_projects(path: str) -> list[str]:
    """The folders below a path, in order, in which another project starts; a project in a project is found as well."""
    return [folder for folder in folders(path) if folder != path and os.path.isfile(os.path.join(folder, FILE))]


def holds_specs(root: str, paths: Iterable[str]) -> bool:
    """Whether a project holds, under these paths, a file that a run would read besides its trainc.yaml."""
    inside = tuple(os.path.relpath(os.path.abspath(path), root) for path in paths)
    return any(name != FILE and ours(contents(root, name)) for name in files(root, inside))
