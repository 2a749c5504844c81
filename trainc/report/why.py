"""Answers of `trainc why` in words."""

from __future__ import annotations

from json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from trainc.model.sourced import Origin
    from trainc.why import Said, Why


def why_text(answer: Why, shown: Callable[[str], str]) -> str:
    """One field: its value, who set it, and what that beat, a line each."""
    lines = [f"{answer.object} {answer.path}: {dumps(answer.value, ensure_ascii=False)}"]
    lines.append(f"  set by {_who(answer.winner)} {_where(answer.winner.origin, shown)}")
    for said in answer.beaten:
        value = dumps(said.value, ensure_ascii=False)
        lines.append(f"  over   {_who(said)} {_where(said.origin, shown)}: {value}")
    return "\n".join(lines)


def _who(said: Said) -> str:
    return f"{said.layer} ({said.who})" if said.who else said.layer


def _where(origin: Origin, shown: Callable[[str], str]) -> str:
    if origin.at is not None:
        return f"at {shown(origin.at.file)}:{origin.at.line}:{origin.at.column}"
    spans = [f"{shown(span.file)}:{span.line}:{span.column}" for span in origin.spans()]
    return f"by {origin.by}" + (f" from {', '.join(spans)}" if spans else "")


def why_json(answers: Iterable[Why], shown: Callable[[str], str]) -> str:
    """All answers as one JSON array."""
    return dumps([_answer(answer, shown) for answer in answers], indent=2, sort_keys=True)


def _answer(answer: Why, shown: Callable[[str], str]) -> dict[str, object]:
    return {
        "object": answer.object,
        "path": answer.path,
        "value": answer.value,
        "winner": _said(answer.winner, shown),
        "beaten": [_said(said, shown) for said in answer.beaten],
    }


def _said(said: Said, shown: Callable[[str], str]) -> dict[str, object]:
    places = [{"file": shown(s.file), "line": s.line, "column": s.column} for s in said.origin.spans()]
    return {"layer": said.layer, "who": said.who, "value": said.value, "by": said.origin.by, "places": places}
