"""`trainc runtimes`: the catalogue that trainc ships."""

from __future__ import annotations

import os

from trainc.load import catalogue, shipped_names
from trainc.model.spelling import nearest
from trainc.model.trouble import Trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.cli.options import Options


def runtimes(options: Options) -> int:
    """List, show or copy."""
    verb, *rest = options.arguments or ["list"]
    if verb == "list" and not rest:
        _list()
    elif verb == "show" and len(rest) == 1:
        print(_text(rest[0]), end="")
    elif verb == "copy" and len(rest) in (1, 2):
        _copy(rest[0], rest[1] if len(rest) == 2 else "runtimes")
    else:
        raise Trouble("usage: trainc runtimes [list|show NAME|copy NAME [DIR]]")
    return 0


def _list() -> None:
    names = shipped_names()
    width = max(map(len, names), default=0)
    for name in names:
        first = _text(name).splitlines()[0]
        print(f"{name:<{width}}  {first.removeprefix('# ')}")


def _text(name: str) -> str:
    names = shipped_names()
    if name not in names:
        close = nearest(name, names)
        hint = f"did you mean `{close}`?" if close else "see trainc runtimes list"
        raise Trouble(f"trainc ships no runtime `{name}`; {hint}")
    with open(os.path.join(catalogue(), f"{name}.yaml"), encoding="utf-8") as stream:
        return stream.read()


def _copy(name: str, folder: str) -> None:
    target = os.path.join(folder, f"{name}.yaml")
    text = _text(name)
    if os.path.lexists(target):
        raise Trouble(f"{target} is there already; nothing was copied")
    try:
        os.makedirs(folder, exist_ok=True)
        with open(target, "x", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise Trouble(f"{target}: {error.strerror}") from error
    print(f"copied {target}; commit it with the jobs that use it")
