"""`trainc diff` for machines."""

from __future__ import annotations

from trainc.report.dumps import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from trainc.changes.compare.changes import Change
    from trainc.changes.compare.diff import Diff, Edited, OtherObject
    from trainc.changes.compare.facts import JobFacts

_KEY = ("cluster", "namespace", "name")


def diff_json(diff: Diff, base: str) -> str:
    """For machines: everything, nothing shortened."""
    added = [{**_job(job), "after": "", "causes": list(diff.causes.get(job.key, ()))} for job in diff.added]
    added += [
        {**_job(one.now), "after": one.was.key[2], "causes": list(diff.causes.get(one.now.key, ()))}
        | _changes(one.changes)
        for one in diff.runs
    ]
    former = [one.was for one in diff.runs if one.was.key in diff.causes]
    gone = sorted([*diff.removed, *former], key=lambda job: job.key)
    content = {
        "base": base,
        "added": added,
        "removed": [{**_job(job), "causes": list(diff.causes.get(job.key, ()))} for job in gone],
        "renamed": [
            {"old": _job(one.was), "new": _job(one.now), "causes": list(diff.causes.get(one.now.key, ()))}
            | _changes(one.changes)
            for one in diff.renamed
        ],
        "edited": [_edited(edited) for edited in diff.edited],
        "objects": [_other_object(other) for other in diff.objects],
        "accelerators": _sides(diff.accelerators),
        "groups": [
            {"cluster": cluster, "queue": queue, "accelerators": _sides(sides)}
            for (cluster, queue), sides in diff.groups.items()
        ],
        "acceleratorHours": {"old": diff.hours[0], "new": diff.hours[1]},
        "uncountedRestarts": diff.uncounted,
        "answers": [
            {**dict(zip(_KEY, one.key, strict=True)), "old": one.old, "new": one.new, "reason": one.reason}
            for one in diff.turned
        ],
    }
    return dumps(content)


def _other_object(other: OtherObject) -> dict[str, object]:
    cluster, namespace, name = other.present.key
    return {
        "cluster": cluster,
        "namespace": namespace,
        "name": name,
        "source": other.present.source,
        "state": other.state,
        "causes": list(other.causes),
        **_changes(other.changes),
    }


def _sides(sides: tuple[Mapping[str, int], Mapping[str, int]]) -> dict[str, object]:
    return {"old": dict(sides[0]), "new": dict(sides[1])}


def _changes(changes: Iterable[Change]) -> dict[str, object]:
    listed = [
        {"what": one.what, "old": one.old, "new": one.new, "oldPlace": one.was_at, "newPlace": one.is_at}
        for one in changes
    ]
    return {"changes": listed}


def _job(job: JobFacts) -> dict[str, object]:
    cluster, namespace, name = job.key
    return {
        "cluster": cluster,
        "namespace": namespace,
        "name": name,
        "source": job.source,
        "accelerators": dict(job.accelerators),
    }


def _edited(edited: Edited) -> dict[str, object]:
    return {
        "jobs": list(edited.names),
        "causes": list(edited.causes),
        **_changes(edited.changes),
        "refused": list(edited.refused),
        "kept": edited.kept,
        "ignored": edited.ignored,
    }
