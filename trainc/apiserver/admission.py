"""One object before the API server: what it would store, or everything that it has against it."""

from collections.abc import Iterable, Sequence
from typing import Any

from trainc.apiserver.fault import FURTHER, NO_MAP, Fault, in_words, version_help
from trainc.apiserver.jobset import defaults as jobset
from trainc.apiserver.metadata import is_sound, without_null_fields
from trainc.apiserver.readable import read_by_go, readable
from trainc.apiserver.served import UNJUDGED_POLICY, Server
from trainc.apiserver.verdict import kind_of, verdict
from trainc.model.document import Document
from trainc.model.finding import ERROR, WARNING, Finding, Label, Refusal, Rule
from trainc.model.report import Report
from trainc.model.settings import STRICT, WARN
from trainc.model.tree import Path, Tree, dotted, get, has_nulls
from trainc.text.object_keys import TRAINC_PREFIX
from trainc.text.placeholders import is_placeholder, placeholder

_ADVISED = 200  # faults of one object that get advice: as many as a run prints

UNKNOWN_FIELD = Rule("unknown-field", ERROR, verdict=True)
INVALID_FIELD = Rule("invalid-field", ERROR, verdict=True)
DUPLICATE_ITEM = Rule("duplicate-item", ERROR, verdict=True)
BROKEN_RULE = Rule("broken-rule", ERROR, verdict=True)
UNDECODABLE = Rule("undecodable", ERROR, verdict=True)
REFUSED = Rule("refused-by-webhook", ERROR, verdict=True)
_RULES = {
    "webhook": REFUSED,
    FURTHER: REFUSED,
    "unknown": UNKNOWN_FIELD,
    "schema": INVALID_FIELD,
    "listtype": DUPLICATE_ITEM,
    "cel": BROKEN_RULE,
}
_TOLD_FIRST = ("webhook", FURTHER, "decode")
_CONFIGURATION = "config."  # what programs read as their own needs no name; in groups: kustomize.config.k8s.io, config.kueue.x-k8s.io, kubelet.config.k8s.io


def admit_object(document: Document, server: Server, report: Report) -> Document | None:
    """The document as a server would store it, None with findings where it would refuse it."""
    kind = kind_of(document.tree)
    root = server.table.root(kind)
    report.looking_at(document)
    tree, odd = readable(document.tree, kind, server.table)
    if odd:
        refused(document, odd, server, report)
        _tell_further(document, server, report)
        return None
    if root is None:
        # An object of a kind without a schema here: every server reads its metadata in the same way.
        if document.api_version and not is_sound(held := tree.get("metadata")):
            from trainc.apiserver.metadata_decoding import decode  # noqa: PLC0415 (most metadata are plainly right)

            faults = decode(held) or ([] if _CONFIGURATION in document.api_version else _metadata_faults(held))
            if faults:
                refused(document, faults, server, report)
                return None
        return document if tree is document.tree else document.admitted(tree)
    if has_nulls(document.tree.get("spec")):
        from trainc.apiserver.null_fields import check_nulls  # noqa: PLC0415 (hardly any object holds a null)

        check_nulls(document, report)
    judged = verdict(tree, server.table, server.profile, strict=server.field_validation == STRICT)
    tell_unchecked(document, judged.unchecked, report)
    unknown = judged.by == "unknown-field"
    if unknown or server.field_validation == WARN:
        level = ERROR if unknown else WARNING
        for index, fault in enumerate(_lists_once(document, judged.dropped, server, report)):
            report.add(_unknown(document, fault, level, server, is_advised=index < _ADVISED))
    if judged.by:
        if not unknown:
            refused(document, judged.faults, server, report)
        report.answered(judged.by, judged.messages)
        _tell_further(document, server, report)
        return None
    if kind == jobset.KIND:
        # The webhook's respelling is the server's business; what people wrote goes on as they wrote it.
        return document.admitted(without_null_fields(read_by_go(root, tree)))
    return document.admitted(without_null_fields(judged.stored))


def _tell_further(document: Document, server: Server, report: Report) -> None:
    """Report what the server would say next, so that one mistake hides no other."""
    if _is_every_answer_asked(document, report):
        return
    from trainc.apiserver.rest import further_faults  # noqa: PLC0415 (most objects are legal)

    for mended, faults in further_faults(document, server):
        unknown = [fault for fault in faults if fault.kind == "unknown"]
        for fault in unknown[:_ADVISED]:
            report.add(_unknown(mended, fault, ERROR, server, is_advised=True)._replace(refusal=None))
        refused(mended, [fault for fault in faults if fault not in unknown], server, report, is_answer=False)


def _lists_once(document: Document, faults: Sequence[Fault], server: Server, report: Report) -> Iterable[Fault]:
    """Of the keys of a map that should be a list or a text the first alone: one edit settles them all."""
    if _is_every_answer_asked(document, report) or len(faults) == 1:
        return faults
    from trainc.apiserver.advice import is_for_fields  # noqa: PLC0415 (needed only once something is wrong)

    firsts: dict[Path, Fault] = {}
    for fault in faults:
        above = fault.path[:-1]
        firsts.setdefault(fault.path if is_for_fields(document, above, server.table) else above, fault)
    return firsts.values()


def _is_every_answer_asked(document: Document, report: Report) -> bool:
    """Whether the servers' answer alone is asked for, which is given in full."""
    return report.admission_only and not document.api_version.startswith(TRAINC_PREFIX)


def _metadata_faults(metadata: Tree) -> list[Fault]:
    """What a server has against metadata that it can read, but for the form of the name, which is the kind's own business."""
    from trainc.apiserver.metadata import validate  # noqa: PLC0415 (most metadata are plainly right)

    return [fault for fault in validate(metadata) if fault.blocking or fault.path != ("metadata", "name")]


def tell_unchecked(document: Document, faults: Iterable[Fault], report: Report) -> None:
    """Count what waits for a value that is filled in later; a rule or a pattern that trainc cannot evaluate is an error."""
    for fault in faults:
        if is_placeholder(fault.value):
            report.skip(f"the value of `{placeholder(str(fault.value))}`")
        else:
            help_ = "accept it with `--ignore unjudged-policy`, or a level in trainc.yaml"
            report.add(UNJUDGED_POLICY.at(document.span(fault.path), fault.message, help=help_))


def refused(document: Document, faults: list[Fault], server: Server, report: Report, *, is_answer: bool = True) -> None:
    """Report what a server has against an object; `is_answer` tells whether its answer says so already."""
    from trainc.apiserver.advice import first_alike, for_value, reason_first, shortened  # noqa: PLC0415 (needed only once something is wrong)
    from trainc.apiserver.null_fields import deduplicated  # noqa: PLC0415
    from trainc.apiserver.repairs import retyped  # noqa: PLC0415

    every = _is_every_answer_asked(document, report)  # else one edit that settles two faults is said once
    advised: set[tuple[Path, str]] = set()
    for index, fault in enumerate(faults if every else deduplicated(faults)):
        rule = INVALID_FIELD if NO_MAP in fault.message else _RULES.get(fault.kind, UNDECODABLE)
        path, text = in_words(fault)
        text = text.replace(f"{path} in body ", "")
        placed = _placed(document, fault, text)
        if placed is not fault:
            path = dotted(placed.path)
            text = text.replace(f"{path} ", "", 1)
        is_key = get(document.written, *placed.path) is None or (
            placed.path[-2:-1] in (("labels",), ("annotations",)) and placed.value == placed.path[-1]
        )
        advice = for_value(document, placed, server.table) if index < _ADVISED else ""
        if advice and not every and (placed.path, advice) in advised:
            continue
        advised.add((placed.path, advice))
        # Why a webhook or a decoder refuses something, without its long words before.
        reason, what_to_do = ("", "") if every or fault.kind not in _TOLD_FIRST else reason_first(fault)
        first = first_alike(document, placed) if index < _ADVISED else None
        report.add(
            rule.at(
                document.span(placed.path, key=is_key),
                f"`{path}`: {_lower(reason or text)}",
                also=[] if first is None else [Label(document.span(first), "the first one stands here")],
                help=version_help(fault) or advice or what_to_do,
                notes=(f"the API server responds: {shortened(fault.message)}",) if reason else (),
                fix=retyped(document, placed) if is_answer else (),
                refusal=Refusal(fault.kind, fault.message) if is_answer and fault.kind != FURTHER else None,
            )
        )


def _lower(text: str) -> str:
    """A text that goes on after a colon; names in mixed case stay as they are."""
    return text if text.partition(" ")[0][1:] != text.partition(" ")[0][1:].lower() else f"{text[:1].lower()}{text[1:]}"


def _placed(document: Document, fault: Fault, text: str) -> Fault:
    """The fault at the field that it names: rules on the name of an object are rules of the object as a whole."""
    path = tuple(text.removeprefix("Invalid value: ").partition(" ")[0].split("."))
    if fault.path or get(document.written, *path) is None:
        return fault
    return Fault(path, fault.kind, fault.message, fault.value)


def _unknown(document: Document, fault: Fault, level: str, server: Server, *, is_advised: bool) -> Finding:
    from trainc.apiserver.advice import for_field, for_unknown  # noqa: PLC0415

    if fault.since:
        return unknown_field(document, fault, level=level, help=version_help(fault))
    return unknown_field(
        document,
        fault,
        level=level,
        help=for_unknown(document, fault, server.table) if is_advised else "",
        effect="" if level == ERROR else "the server drops it silently",
        fix=for_field(document, fault, server.table) if is_advised else (),
    )


def unknown_field(document: Document, fault: Fault, **more: Any) -> Finding:
    """The finding for a field that the kind does not have; `more` are its level, effect, help and fix."""
    text = f"{document.kind} has no field `{fault.path[-1]}` here"
    refusal = Refusal("unknown-field", fault.message)
    return UNKNOWN_FIELD.at(document.span(fault.path, key=True), text, refusal=refusal, **more)
