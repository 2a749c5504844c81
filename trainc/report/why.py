"""Answers of `trainc why` in words."""

from collections.abc import Callable, Iterable, Sequence

from trainc.changes.why import Landing, LayerValue, Why
from trainc.model.sourced import Span
from trainc.report.dumps import dumps, inline
from trainc.text.counting import few
from trainc.text.numbers import with_octal


def why_lines(answer: Why, shown: Callable[[str], str], *, several: bool) -> list[str]:
    """One field: its value, who set it, and what that beat, a line each; `several` clusters have to be told apart."""
    lines = [f"{_object(answer, several)} {answer.path}: {with_octal(answer.path, inline(answer.value))}"]
    winner = answer.winner
    how = "computed" if winner.origin.at is None else "written"
    lines.append(f"  {how if winner.computed else f'set by {_who(winner)}'}{_where(winner, shown)}")
    for setter in answer.beaten:
        value = with_octal(answer.path, inline(setter.value))
        lines.append(f"  over   {_who(setter)}{_where(setter, shown)}: {value}")
    return lines


def clusters(answers: Iterable[Why]) -> bool:
    """Whether answers are about several clusters, which may have objects of one name."""
    return len({answer.cluster for answer in answers}) > 1


def _object(answer: Why, several: bool) -> str:
    return f"{answer.object} ({answer.cluster})" if several else answer.object


def _who(setter: LayerValue) -> str:
    return f"{setter.layer} ({setter.who})" if setter.who else setter.layer


def _where(setter: LayerValue, shown: Callable[[str], str]) -> str:
    """Where a value is written, else what it is and what it was made from; nothing where the layer says it all."""
    origin = setter.origin
    if origin.at is not None:
        return f" at {shown(origin.at.file)}:{origin.at.line}:{origin.at.column}"
    spans = [f"{shown(span.file)}:{span.line}:{span.column}" for span in origin.spans()]
    what = "" if origin.by in {setter.who, *setter.who.split("-")} else f": {origin.by}"
    made = " by trainc" if origin.by == "lowering" else what  # what the compiler writes for every job
    return made + (f" from {', '.join(spans)}" if spans else "")


def why_json(answers: Iterable[Why], shown: Callable[[str], str]) -> str:
    return dumps([_answer(answer, shown) for answer in answers])


def _answer(answer: Why, shown: Callable[[str], str]) -> dict[str, object]:
    return {
        "cluster": answer.cluster,
        "object": answer.object,
        "path": answer.path,
        "value": answer.value,
        "winner": _layer(answer.winner, shown),
        "beaten": [_layer(setter, shown) for setter in answer.beaten],
    }


def _layer(setter: LayerValue, shown: Callable[[str], str]) -> dict[str, object]:
    places = [_place(span, shown) for span in setter.origin.spans()]
    return {"layer": setter.layer, "who": setter.who, "value": setter.value, "by": setter.origin.by, "places": places}


def _place(span: Span, shown: Callable[[str], str]) -> dict[str, object]:
    return {"file": shown(span.file), "line": span.line, "column": span.column}


def landing_lines(landing: Landing, shown: Callable[[str], str], *, most: int) -> list[str]:
    """What becomes of one value: itself and its place, then a line for each field that it reaches, or the reason."""
    at = landing.at
    value = with_octal(landing.path, inline(landing.value))
    lines = [f"{shown(at.file)}:{at.line}:{at.column} {landing.path}: {value}"]
    if landing.reason:
        lines.append(f"  reaches no manifest: {landing.reason}")
    lines.extend(f"  rejected: {one.message} [{one.rule.name}]" for one in landing.findings)
    several = clusters((*landing.fields, *landing.beaten))
    for outcome, fields in ((landing.outcome, landing.fields), ("beaten", landing.beaten)):
        for field, objects in _by_path(fields, several):
            names = few(objects, 3) + ":" * (len(objects) > 3)
            by = ""
            if outcome == "beaten":
                held, winner = with_octal(field.path, inline(field.value)), field.winner
                by = f" by {_who(winner)}{_where(winner, shown)}: {held}"
            lines.append(f"  {outcome} in {names} {field.path}{by}")
    if len(lines) > most:
        lines[most:] = [f"  and {len(lines) - most} more"]
    return lines


def _by_path(fields: Sequence[Why], several: bool) -> list[tuple[Why, list[str]]]:
    """Fields of the same path and value in several objects, as one with the names of all."""
    by_setter: dict[tuple[str, str], tuple[Why, list[str]]] = {}
    for field in fields:
        by_setter.setdefault((field.path, repr(field.winner)), (field, []))[1].append(_object(field, several))
    return list(by_setter.values())


def landing_json(landings: Iterable[Landing], shown: Callable[[str], str]) -> str:
    rows = [
        {
            "at": _place(landing.at, shown),
            "path": landing.path,
            "value": landing.value,
            "outcome": landing.outcome,
            "reason": landing.reason,
            "fields": [_answer(field, shown) for field in landing.fields],
            "beaten": [_answer(field, shown) for field in landing.beaten],
            "findings": [{"rule": one.rule.name, "message": one.message} for one in landing.findings],
        }
        for landing in landings
    ]
    return dumps(rows)
