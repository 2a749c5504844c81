"""Kinds that are nearly ours, and training kinds that other operators run: neither passes in silence."""

from collections.abc import Iterable

from trainc.compiler.admit.context import AdmissionContext
from trainc.kinds.unsupported import foreign_kind, near_miss
from trainc.model.document import Document
from trainc.model.finding import ERROR, WARNING, Edit, Refusal, Rule
from trainc.model.settings import STDIN
from trainc.text.spelling import intended, meant

UNKNOWN_KIND = Rule("unknown-kind", ERROR, verdict=True)
KIND_NOT_COMPILED = Rule("kind-not-compiled", WARNING)


def not_compiled(documents: Iterable[Document], context: AdmissionContext, *, is_output: bool) -> None:
    """A finding for each training job of another operator, an error in a file that is named; `is_output`: it is written."""
    outcome = "it is written unchanged" if is_output else "no manifest is written for it"
    for document in documents:
        if (foreign := foreign_kind(document.api_version, document.kind, document.tree)) is not None:
            is_argument = document.file in context.selection.paths or document.file == STDIN
            span, effect = document.span(("kind",)), f"it is not checked, and {outcome}"
            level = ERROR if is_argument else WARNING
            context.report.add(
                KIND_NOT_COMPILED.at(span, foreign.message, level=level, effect=effect, help=foreign.help)
            )


def unknown_kind(document: Document, context: AdmissionContext) -> None:
    """The finding for an object of one of our APIs, or nearly one, that no server would know."""
    group = document.api_version.partition("/")[0]
    served = [kind.rsplit("/", 1) for kind in context.server.table.served()]
    versions = [version for version, kind in served if kind == document.kind]
    names = [kind for version, kind in served if version.partition("/")[0] == group]
    if versions:
        hint = f"write `apiVersion: {versions[0]}`"
    elif document.kind:
        meant_kind = _meant_kind(document, served)
        hint = _written(document, meant_kind) if "apiVersion" in meant_kind else ""
        near = near_miss(document.api_version, document.kind)
        rest = f"kinds of this API: {', '.join(dict.fromkeys(names))}"
        if near is not None:
            rest = _written(document, dict(zip(("apiVersion", "kind"), near, strict=True)))
        hint = hint or meant(document.kind, names, rest)
    else:
        hint = f"write `kind: {names[0]}`" if len(names) == 1 else f"write `kind:` and one of {', '.join(names)}"
    if group == "trainc.dev" and document.kind == "Project":
        message, hint = "trainc reads a Project only from a file named trainc.yaml", "rename this file"
    elif not document.api_version:
        message = f"this {document.kind} has no `apiVersion`"
    elif not document.kind:
        message = f"this object of `{document.api_version}` has no `kind`"
    else:
        message = f"unknown kind `{document.kind}` in `{document.api_version}`"
    context.report.looking_at(document)
    refusal = Refusal("decode", f'no matches for kind "{document.kind}" in version "{document.api_version}"')
    place = "apiVersion" if versions and document.api_version else "kind"
    edits = _edits(document, versions, served)
    context.report.add(UNKNOWN_KIND.at(document.span((place,)), message, help=hint, fix=edits, refusal=refusal))


def _edits(document: Document, versions: list[str], served: list[list[str]]) -> list[Edit]:
    """The edits to the one version that serves the kind, or to the one kind that was meant and its version."""
    written = {"apiVersion": document.api_version, "kind": document.kind}
    if not all(written.values()) or len(set(versions)) > 1:
        return []
    if versions:
        right = {"apiVersion": versions[0]}
    else:
        near = near_miss(document.api_version, document.kind)
        right = _meant_kind(document, served) or (dict(zip(written, near, strict=True)) if near is not None else {})
    wrong = {key: name for key, name in right.items() if name != written[key]}
    if not versions and not all(_is_sure(written[key], name) for key, name in wrong.items()):
        return []
    return [edit for key, name in wrong.items() for edit in document.edits((key,), name)]


def _meant_kind(document: Document, served: list[list[str]]) -> dict[str, str]:
    """The one kind of the API that was meant, with its version where the written one does not serve it."""
    group = document.api_version.partition("/")[0]
    versions: dict[str, list[str]] = {}
    for version, kind in served:
        if version.partition("/")[0] == group:
            versions.setdefault(kind, []).append(version)
    kinds = intended(document.kind, list(versions))
    if len(kinds) != 1:
        return {}
    serving = versions[kinds[0]]
    right = {} if document.api_version in serving or len(serving) > 1 else {"apiVersion": serving[0]}
    return {**right, "kind": kinds[0]}


def _is_sure(written: str, right: str) -> bool:
    """Whether one name was meant by another, versions apart."""
    group, wanted = written.partition("/")[0], right.partition("/")[0]
    return group == wanted or bool(intended(group, [wanted]))


def _written(document: Document, right: dict[str, str]) -> str:
    """What to write instead of an apiVersion and a kind, as far as they differ."""
    present = {"apiVersion": document.api_version, "kind": document.kind}
    return f"write {' and '.join(f'`{key}: {name}`' for key, name in right.items() if name != present[key])}"
