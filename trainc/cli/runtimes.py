"""`trainc runtimes`: what trainc ships, and what a runtime that inherits amounts to."""

import os

from trainc.cli.cache import opened
from trainc.cli.options import Options
from trainc.cli.output import answer, data, tell
from trainc.cli.projects import unmarked
from trainc.cli.session import Session
from trainc.compiler import pipeline
from trainc.compiler.emit.spool.disk import create
from trainc.compiler.load.shipped import COMPONENTS, catalogue, shipped_names
from trainc.compiler.project import open_project
from trainc.compiler.usage import Blueprint, blueprints, paths_here
from trainc.model.cluster import Cluster
from trainc.model.report import Report
from trainc.text.counting import few
from trainc.text.spelling import meant, nearest
from trainc.text.trouble import Trouble
from trainc.yaml.writer import dump

USAGE = "[list|show NAME|copy NAME... [DIR/]|flatten NAME]"
_MAX_USERS_NAMED = 5  # users that are named


def run(options: Options) -> int:
    verb, *rest = options.arguments or ["list"]
    if verb == "list" and not rest:
        _list()
    elif verb == "show" and len(rest) == 1:
        data(_text(_found(rest[0])))
    elif verb == "copy" and rest:
        _copy(rest)
    elif verb == "flatten" and len(rest) == 1:
        return _flatten(rest[0], options)
    else:
        hint = meant(verb, ("list", "show", "copy", "flatten"))
        raise Trouble(f"usage: trainc runtimes {USAGE}" + (f"; {hint}" if hint and verb not in hint else ""))
    return 0


def _list() -> None:
    own = _own()
    if own:
        answer("in this project:")
        width = max(len(one.name) for one in own)
        for one in own:
            users = few(one.users, _MAX_USERS_NAMED) or "no job"
            answer(f"  {one.name:<{width}}  {one.document.kind}, {one.document.file}; used by {users}")
        answer("", "shipped with trainc:")
    shipped = [(folder, name) for folder in ("", COMPONENTS) for name in shipped_names(folder)]
    width = max((len(name) for _, name in shipped), default=0)
    for folder, name in shipped:
        if folder and name == shipped_names(folder)[0]:
            answer("", "components:")
        first = _text((folder, name)).splitlines()[0]
        answer(f"{'  ' if own else ''}{name:<{width}}  {first.removeprefix('# ')}")


def _own() -> list[Blueprint]:
    project = open_project((".",), Report(), cache=opened)
    tell(*unmarked(project))
    return blueprints(project, paths_here(project))


def _found(name: str) -> tuple[str, str]:
    """The folder and name of something in the catalogue; runtimes come before components."""
    known = {folder: shipped_names(folder) for folder in ("", COMPONENTS)}
    for folder, names in known.items():
        if name in names:
            return folder, name
    hint = meant(name, [one for names in known.values() for one in names], "see trainc runtimes list")
    raise Trouble(f"trainc ships no runtime or component `{name}`; {hint}")


def _text(spot: tuple[str, str]) -> str:
    with open(os.path.join(catalogue(), spot[0], f"{spot[1]}.yaml"), encoding="utf-8") as stream:
        return stream.read()


def _copy(words: list[str]) -> None:
    """Copy all that is named, or nothing; a last word that is not a name is the folder."""
    folder = ""
    if len(words) > 1 and _is_folder(words[-1]):
        *words, folder = words
    own = {(one.is_component, one.name): one for one in _own()}
    targets = {}
    for spot in dict.fromkeys(_found(name) for name in words):
        target = os.path.join(folder or os.path.join("runtimes", spot[0]), f"{spot[1]}.yaml")
        if (there := own.get((spot[0] == COMPONENTS, spot[1]))) is not None or os.path.lexists(target):
            where = there.document.file if there is not None else target
            raise Trouble(f"`{spot[1]}` already exists in {where}; nothing was copied")
        targets[target] = _text(spot)
    for target, text in targets.items():
        create(target, text)
        answer(f"copied {target}; commit it with the jobs that use it")


def _is_folder(word: str) -> bool:
    """Whether the last word of a copy is a folder instead of one more name."""
    names = {name for folder in ("", COMPONENTS) for name in shipped_names(folder)}
    if word in names:
        return False
    return os.path.isdir(word) or "/" in word or not nearest(word, names)


def _flatten(name: str, options: Options) -> int:
    session = Session(Options([], options.values))
    chosen = [one for one in session.project.clusters if one.name == options.one("cluster")]
    project = session.project.serving(tuple(chosen) if options.has("cluster") and chosen else (Cluster(),))
    flat = pipeline.flattening(project, session.selection, session.report)(name, session.report)
    if flat is not None:
        data(dump(flat.tree))
    return session.finish() if session.report.findings else 0
