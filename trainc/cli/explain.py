"""`trainc explain`: what a field is."""

from __future__ import annotations

from textwrap import fill, indent

from trainc.api import shipped
from trainc.cli.output import answer, data
from trainc.explain.annotations import ANNOTATIONS
from trainc.explain.fields import Field, find
from trainc.explain.samples import sample
from trainc.model.spelling import meant
from trainc.model.trouble import Trouble
from trainc.report.dumps import dumps
from trainc.yaml.writer import dump

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.cli.options import Options

_WIDTH = 100
_PREFIX = "trainc.dev/"


def explain(options: Options) -> int:
    """List the kinds, or describe one field of each kind that is called so."""
    if len(options.arguments) > 1:
        raise Trouble("usage: trainc explain [KIND.FIELD | ANNOTATION]")
    asked = options.arguments[0] if options.arguments else ""
    if options.one("report") == "json":
        data(dumps(_entries(asked, recursive=options.has("recursive")), sort_keys=False))
    elif not asked:
        _list()
    elif asked == "annotations" or asked.startswith(_PREFIX):
        _annotations(asked)
    else:
        for at, field in enumerate(find(asked)):
            answer(*([""] if at else []), *(_tree(field) if options.has("recursive") else _page(field)))
    return 0


def _entries(asked: str, *, recursive: bool) -> list[dict[str, object]]:
    """What is asked for as a program reads it: kinds, annotations, or a field with all below it where that is asked."""
    if not asked:
        return [{"kind": one.kind, "apiVersion": f"{one.group}/{one.version}"} for one in shipped.listed()]
    if asked == "annotations" or asked.startswith(_PREFIX):
        names = list(ANNOTATIONS) if asked == "annotations" else [_annotation(asked)]
        return [
            dict(zip(("annotation", "example", "description"), (name, *ANNOTATIONS[name]), strict=True))
            for name in names
        ]
    return [_entry(field) for top in find(asked) for field in (top, *(_below(top) if recursive else ()))]


def _below(field: Field) -> Iterator[Field]:
    """Every field below one, but for those inside of Kubernetes' own shapes, which may hold themselves."""
    for _, child in field.children():
        yield child
        if not child.is_foreign:
            yield from _below(child)


def _list() -> None:
    every = shipped.listed()
    width = max(len(one.kind) for one in every)
    answer(*(f"{one.kind:<{width}}  {one.group}/{one.version}  {one.about.partition(chr(10))[0]}" for one in every))
    answer("", "annotations of a job: trainc explain annotations", "a field: trainc explain TrainJob.spec.trainer")


def _annotations(asked: str) -> None:
    if asked == "annotations":
        width = max(map(len, ANNOTATIONS))
        answer(*(f"{name:<{width}}  {about}" for name, (_, about) in ANNOTATIONS.items()))
        return
    value, about = ANNOTATIONS[_annotation(asked)]
    answer(
        f"ANNOTATION:  {asked}", "", about, "", "EXAMPLE:", "  metadata:", "    annotations:", f"      {asked}: {value}"
    )


def _annotation(asked: str) -> str:
    if asked not in ANNOTATIONS:
        hint = meant(asked, ANNOTATIONS, "see trainc explain annotations")
        raise Trouble(f"trainc reads no annotation `{asked}`; {hint}")
    return asked


def _page(field: Field) -> Iterator[str]:
    yield f"KIND:     {field.kind.kind} ({field.kind.group}/{field.kind.version})"
    if field.path:
        yield f"FIELD:    {'.'.join(field.path)} <{field.type}>"
    if field.default is not None:
        yield f"DEFAULT:  {' '.join(dump(field.default).split())}"
    yield f"READ IN:  {field.since}"
    yield from ("", "DESCRIPTION:", *indent(fill(field.about or _KUBERNETES, _WIDTH), "  ").splitlines())
    bounds = list(field.bounds())
    if bounds:
        yield from ("", "RULES:", *(f"  {bound}" for bound in bounds))
    below = list(field.children())
    if below:
        yield from ("", "FIELDS:", *_rows(below))
    if field.path:
        yield from ("", "EXAMPLE:", *indent(sample(field), "  ").splitlines())


_KUBERNETES = "A field of Kubernetes' own: `kubectl explain` describes it."


def _rows(below: list[tuple[str, Field]]) -> Iterator[str]:
    names = [f"{name} <{child.type}>" for name, child in below]
    width = min(max(map(len, names)), 44)
    for name, (_, child) in zip(names, below, strict=True):
        mark = "required. " if child.required else ""
        yield f"  {name:<{width}}  {mark}{child.about}".rstrip()


def _tree(field: Field, depth: int = 0) -> Iterator[str]:
    if not depth:
        yield field.name
    for name, child in field.children():
        yield f"{'  ' * (depth + 1)}{name} <{child.type}>"
        if not child.is_foreign:  # shapes of Kubernetes' own may hold themselves
            yield from _tree(child, depth + 1)


def _entry(field: Field) -> dict[str, object]:
    return {
        "kind": field.kind.kind,
        "apiVersion": f"{field.kind.group}/{field.kind.version}",
        "path": ".".join(field.path),
        "type": field.type,
        "default": field.default,
        "rules": list(field.bounds()),
        "description": field.about,
        "readIn": field.since,
        "fields": [name for name, _ in field.children()],
        "example": sample(field) if field.path else "",
    }
