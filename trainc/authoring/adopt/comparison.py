"""What a job compiles to against what runs: equal, changed in place, or kept as it was started."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from trainc.authoring.adopt.written import as_kept_job, live
from trainc.changes.compare.updates import update
from trainc.compiler.emit import path_of
from trainc.compiler.emit.digest import body_digest, job_digest
from trainc.compiler.header import Header
from trainc.model.bundle import keeps_job, runs_pods
from trainc.model.tree import plain, stamp, value
from trainc.yaml.writer import dump_all

if TYPE_CHECKING:
    from trainc.apiserver.served import Served
    from trainc.authoring.adopt.objects import SortedDump
    from trainc.changes.compare.updates import LeafUpdate, Update
    from trainc.model.bundle import Bundle

EQUAL, IN_PLACE, KEPT, UNKNOWN = "equal", "changes in place", "kept", "unknown"


class Comparison(NamedTuple):
    """How a job's build stands to what runs, the fields that differ, and the rendering that keeps a run as it is.

    `rendered` is the path of that rendering in the output folder and its text, both empty where the build takes its place.
    """

    state: str
    differences: tuple[str, ...] = ()
    reason: str = ""
    rendered: tuple[str, str] = ("", "")


def compare(bundle: Bundle, dump: SortedDump, served: Served) -> Comparison:
    """A job's build against the object of the dump that it would be applied to."""
    target = next((tree for tree in bundle.objects if runs_pods(tree)), None)
    kind = str(value(target, "kind"))
    group = str(value(target, "apiVersion")).rpartition("/")[0]
    key = (group, kind, str(value(target, "metadata", "namespace") or ""), str(value(target, "metadata", "name")))
    running = dump.all.get(key)
    if running is None:
        listed = any(known[1] == kind for known in dump.all)
        why = "the dump has none of that name" if listed else "the dump lists none: add `jobsets` to kubectl get"
        return Comparison(UNKNOWN, reason=f"what runs of it is {kind} {key[2]}/{key[3]}, and {why}")
    was, now = stamp(live(running.tree), "cluster"), target
    if keeps_job(target):  # no schema says what Kubernetes fills in: both sides without it
        was, now = stamp(as_kept_job(plain(was)), "cluster"), stamp(live(plain(target)), "build")
    change = update(was, now, served)
    if not change.changed:
        return Comparison(EQUAL)
    if not change.refused:
        return Comparison(IN_PLACE, _shown(change, change.changed, bundle))
    text = dump_all(was if tree is target else tree for tree in bundle.objects)
    header = Header(bundle.document.file, job_digest(bundle), body_digest(text.encode()))
    return Comparison(KEPT, _shown(change, change.refused, bundle), rendered=(path_of(bundle), f"{header}{text}"))


def _shown(change: Update, fields: list[LeafUpdate], bundle: Bundle) -> tuple[str, ...]:
    """Each field with what runs, what the build has, and the file that says so."""
    causes = [change.cause(one, bundle) or change.place(one, bundle).file for one in fields]
    return tuple(f"{one} ({cause})" if cause else str(one) for one, cause in zip(fields, causes, strict=True))
