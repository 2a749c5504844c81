"""`trainc explain`: what a field, an annotation or a rule is."""

import re
from collections.abc import Iterator
from textwrap import fill, indent

from trainc.apiserver import shipped
from trainc.authoring.explain import ANNOTATIONS, Field, find, sample
from trainc.cli.options import Options
from trainc.cli.output import answer, data
from trainc.cli.rules import RULES, explain_rules, is_about_rules
from trainc.report.dumps import dumps
from trainc.text.object_keys import TRAINC_PREFIX
from trainc.text.spelling import meant
from trainc.text.trouble import Trouble
from trainc.yaml.writer import dump

_WIDTH = 100
_PARAMETER = "checkpoints.trainc.dev/claim"
_RULE = re.compile(r"[a-z0-9-]+")


def run(options: Options) -> int:
    """List the kinds, or describe one rule, one annotation, or one field of each kind that is called so."""
    if len(options.arguments) > 1:
        raise Trouble("usage: trainc explain [KIND.FIELD | ANNOTATION | RULE | CATEGORY]")
    topic = options.arguments[0] if options.arguments else RULES if options.has("kind") else ""
    _, is_path, name = topic.partition("metadata.annotations.")
    topic = name if is_path and _is_annotation(name) else topic
    if _RULE.fullmatch(topic) and (is_about_rules(topic) or "-" in topic):
        return explain_rules(topic, options)
    if options.one("report") == "json":
        data(dumps(_entries(topic, recursive=options.has("recursive")), sort_keys=False))
    elif not topic:
        every = shipped.listed()
        width = max(len(one.kind) for one in every)
        answer(*(f"{one.kind:<{width}}  {one.group}/{one.version}  {one.about.partition(chr(10))[0]}" for one in every))
        answer("", "annotations of a job: trainc explain annotations", "rules by category: trainc explain rules")
        answer("a field: trainc explain TrainJob.spec.trainer")
    elif topic == "annotations":
        width = max(map(len, ANNOTATIONS))
        answer(*(f"{name:<{width}}  {about}" for name, (_, about) in ANNOTATIONS.items()))
    elif _is_annotation(topic):
        value, about = ANNOTATIONS[entry := _annotation(topic)]
        value = value if entry == topic else "VALUE"
        answer(f"ANNOTATION:  {topic}", "", about, "", "EXAMPLE:", "  metadata:", "    annotations:")
        answer(f"      {topic}: {value}")
    else:
        for at, field in enumerate(find(topic)):
            tree = (f"{'  ' * depth}{name} <{child.type}>" for depth, name, child in _below(field))
            lines = (field.name, *tree) if options.has("recursive") else _page(field)
            answer(*([""] if at else []), *lines)
    return 0


def _entries(topic: str, *, recursive: bool) -> list[dict[str, object]]:
    """What is asked for as a program reads it: kinds, annotations, or a field with all below it where that is asked."""
    if not topic:
        return [{"kind": one.kind, "apiVersion": f"{one.group}/{one.version}"} for one in shipped.listed()]
    if topic == "annotations" or _is_annotation(topic):
        names = ANNOTATIONS if topic == "annotations" else [topic]
        rows = [(name, *ANNOTATIONS[_annotation(name)]) for name in names]
        return [{"annotation": name, "example": value, "description": about} for name, value, about in rows]
    below = _below if recursive else lambda _: ()
    return [_entry(field) for top in find(topic) for field in (top, *(child for _, _, child in below(top)))]


def _below(field: Field, depth: int = 1) -> Iterator[tuple[int, str, Field]]:
    """Every field below one, how far, and its name; none inside of Kubernetes' own shapes, which may hold themselves."""
    for name, child in field.children():
        yield depth, name, child
        if not child.is_foreign:
            yield from _below(child, depth + 1)


def _is_annotation(topic: str) -> bool:
    """Whether a name is that of an annotation of trainc, or of a component's parameter: `checkpoints.trainc.dev/claim`."""
    return topic.startswith(TRAINC_PREFIX) or f".{TRAINC_PREFIX}" in topic


def _annotation(topic: str) -> str:
    """The entry that describes an annotation; one for the parameters of all components."""
    if not topic.startswith(TRAINC_PREFIX):
        return _PARAMETER
    if topic not in ANNOTATIONS:
        hint = meant(topic, ANNOTATIONS, "see trainc explain annotations")
        raise Trouble(f"unknown annotation `{topic}`; {hint}")
    return topic


def _page(field: Field) -> Iterator[str]:
    yield f"KIND:     {field.kind.kind} ({field.kind.group}/{field.kind.version})"
    if field.path:
        yield f"FIELD:    {'.'.join(field.path)} <{field.type}>"
    if field.default is not None:
        yield f"DEFAULT:  {' '.join(dump(field.default).split())}"
    yield f"READ IN:  {field.since}"
    about = field.about or "A Kubernetes field: see `kubectl explain`."
    yield from ("", "DESCRIPTION:", *indent(fill(about, _WIDTH), "  ").splitlines())
    if bounds := list(field.bounds()):
        yield from ("", "RULES:", *(f"  {bound}" for bound in bounds))
    if below := list(field.children()):
        names = [f"{name} <{child.type}>" for name, child in below]
        width = min(max(map(len, names)), 44)
        marked = [f"{'required. ' if child.required else ''}{child.about}" for _, child in below]
        rows = zip(names, marked, strict=True)
        yield from ("", "FIELDS:", *(f"  {name:<{width}}  {about}".rstrip() for name, about in rows))
    if field.path:
        yield from ("", "EXAMPLE:", *indent(sample(field), "  ").splitlines())


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
