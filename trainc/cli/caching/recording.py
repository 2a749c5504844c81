"""What a run leaves to the next one: its files as nobody can have changed them unseen, and what became of them."""

from __future__ import annotations

import os

from trainc.cli.caching.listing import UNSETTLED, are_settled, is_hidden, is_settled, listing, state_of
from trainc.cli.caching.manifest import Head, Manifest, digest
from trainc.cli.caching.outcomes import without
from trainc.model.settings import FILE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple

    from trainc.cli.caching.listing import Listing, State
    from trainc.cli.caching.outcomes import Plain
    from trainc.compiler.emit.spool import Spool
    from trainc.model.file_results import Known
    from trainc.model.settings import Project, Selection

    States = dict[str, State]
else:
    from trainc.text.record import NamedTuple


class CompletedRun(NamedTuple):
    """A run that has ended: its project, selection and spool, and what it found out.

    `rendered` is the folder that it compared as it is listed, with a slash at its end; empty where it compared none.
    `listed` are the files as they were listed before it, at the moment `started`; `now` are those of them that a `manifest`
    tells of, where only what is not `known` was compiled. `outcomes` is what `plain_outcomes` says of it.
    """

    project: Project
    selection: Selection
    spool: Spool
    rendered: str
    outcomes: Plain | None
    started: int
    listed: Listing
    known: Known | None
    manifest: Manifest | None
    now: States

    @property
    def root(self) -> str:
        """The project's folder."""
        return self.project.root

    def is_rendered(self, name: str) -> bool:
        """Whether a file is one that the run may have written."""
        return bool(self.rendered) and name.startswith(self.rendered)


def recorded(run: CompletedRun) -> Manifest | None:
    """The manifest of a run, None where nothing reliable can be said.

    Raises:
        OSError: where a file or folder went away meanwhile.
    """
    if any(name.endswith(f"/{FILE}") for name in run.listed.names):
        return None  # a project in a project: each is remembered where it is run alone
    if not run.rendered and is_hidden(run.project.output):
        return None  # what is rendered counts, and nobody lists it
    made_in = _made_in(run)
    folders = [folder for folder in run.listed.folders if not run.is_rendered(folder) and folder != made_in]
    if not are_settled(run.root, folders, run.started):
        return None
    manifest = _of_everything(run, made_in) if run.known is None else _of_changes(run)
    if manifest is None:
        return None
    states, plain = manifest.head.states(), manifest.outcomes
    unsettled = {name for name, state in states.items() if state == UNSETTLED and name not in manifest.digests}
    if any(not run.is_rendered(name) and name not in (plain or {"jobs": ()})["jobs"] for name in unsettled):
        return None  # a file that jobs elsewhere may rest on is too young to be relied on
    if plain is not None:
        without(plain, unsettled | _differing(run, manifest.digests, plain))
    return manifest


def _differing(run: CompletedRun, digests: dict[str, bytes], plain: Plain) -> set[str]:
    """The files whose renderings are not, byte for byte, what was compiled."""
    return {
        plain["paths"][path]
        for path, content in run.spool.digests.items()
        if path in plain["paths"] and digests.get(run.rendered + path) != content
    }


def _made_in(run: CompletedRun) -> str | None:
    """The folder in which the run made its output folder, as it is listed, where nothing else changed there before.

    A run reads nothing any more once it writes.
    """
    if run.spool.above is None:
        return None
    path, status = run.spool.above
    inside = os.path.relpath(path, run.root)
    return ("" if inside == os.curdir else f"{inside}/") if is_settled(state_of(status), run.started) else None


def _has_more(run: CompletedRun, files: Listing, folder: str) -> bool:
    """Whether a folder holds something that neither was there before the run nor comes from it."""
    there = {*run.listed.names, *run.listed.folders}
    now = [name for name in (*files.names, *files.folders) if name not in there and not run.is_rendered(name)]
    return any(name.rstrip("/").rpartition("/")[0] == folder.rstrip("/") for name in now)


def _of_everything(run: CompletedRun, made_in: str | None) -> Manifest | None:
    whole, outside = _places(run)
    files = listing(run.root, whole, outside)
    if made_in is not None and _has_more(run, files, made_in):
        return None
    before, now = run.listed.states(), files.states()
    for name, state in now.items():
        if not run.is_rendered(name) and before.get(name, state) != state:
            return None
    if any(name not in now and not run.is_rendered(name) for name in before):
        return None
    digests: dict[str, bytes] = {}
    for name, state in now.items():
        _settle(run, name, state, now, digests)
    head = Head(run.root, whole, outside)
    head.keep(now, files.links)
    if run.manifest is not None and run.manifest.head.states() == now:
        head.answers = run.manifest.head.answers
    return Manifest(head, digests, run.outcomes)


def _of_changes(run: CompletedRun) -> Manifest | None:
    assert run.known is not None
    assert run.manifest is not None
    before, now, digests = run.manifest.outcomes, dict(run.now), run.manifest.digests
    assert before is not None
    jobs = {*before["jobs"], *run.known.again}
    for name, state in run.now.items():
        if name not in jobs and not run.is_rendered(name) and _state(run, name) != state:
            return None
    digests = {name: content for name, content in digests.items() if name in now}
    for name in run.known.again:
        state = _state(run, name)
        if state != run.now[name]:
            return None
        _settle(run, name, state, now, digests)
    for change in getattr(run.spool, "changes", ()):
        name = run.rendered + change.path
        now.pop(name, None)
        digests.pop(name, None)
        if os.path.lexists(os.path.join(run.root, name)):
            _settle(run, name, _state(run, name), now, digests)
    head = run.manifest.head
    if now != head.states():
        head.answers = {}
    head.keep(now, run.listed.links)
    return Manifest(head, digests, run.outcomes)


def _state(run: CompletedRun, name: str) -> State:
    return state_of(os.stat(os.path.join(run.root, name)))


def _settle(run: CompletedRun, name: str, state: State, now: States, digests: dict[str, bytes]) -> None:
    """Note a file's state and digest, as far as they can be relied on.

    One that is so young that it could change again unseen has neither, unless the run itself wrote it: it has a digest.
    """
    now[name] = state if is_settled(state, run.started) else UNSETTLED
    content = digest(os.path.join(run.root, name))
    known = run.is_rendered(name) and content == run.spool.digests.get(name[len(run.rendered) :])
    if now[name] != UNSETTLED or known:
        digests[name] = content


def _places(run: CompletedRun) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The folders that count with all their files: those that are walked through, and those that are not."""
    project = run.project
    given = [cluster.folder for cluster in project.clusters if cluster.folder]
    given += [*(project.runtimes or ()), *project.policy_folders, *run.selection.paths]
    shown = [path for path in map(os.path.normpath, given) if path != "."]
    whole: set[str] = set()
    outside: set[str] = set()
    for path in (*shown, *([run.rendered[:-1]] if run.rendered else [])):
        (outside if is_hidden(path) else whole).add(path)
    return tuple(sorted(whole)), tuple(sorted(outside))


def rendered_below(root: str, folder: str) -> str:
    """A folder of rendered files as it is listed, with a slash at its end; empty for none."""
    return f"{os.path.relpath(os.path.abspath(folder), root)}/" if folder else ""
