"""`trainc schemas`: the schemas that trainc ships, for clusters and for editors."""

import os
from json import loads
from pathlib import Path

from trainc.apiserver import shipped
from trainc.cli.options import Options
from trainc.cli.output import answer, data
from trainc.compiler.emit.spool.disk import Staged
from trainc.text.spelling import meant
from trainc.text.trouble import Trouble

_USAGE = "usage: trainc schemas [list|show NAME|export DIR|generate [CHECKOUT]]"


def run(options: Options) -> int:
    verb, *rest = options.arguments or ["list"]
    if verb == "list" and not rest:
        _list()
    elif verb == "show" and len(rest) == 1:
        data(_text(rest[0], "json" if options.one("format") == "json" else "crd"))
    elif verb == "export" and len(rest) == 1:
        contents = shipped.contents()
        with Staged() as staged:
            for path, content in contents.items():
                staged.put(os.path.join(rest[0], path), content)
            staged.move()
        answer(f"wrote {len(contents)} schemas to {rest[0]}")
    elif verb == "generate" and len(rest) <= 1:
        from trainc.apiserver.generate import write  # noqa: PLC0415 (needs a package that only development has)

        checkout = Path(rest[0] if rest else ".")
        if not (checkout / "trainc" / "apiserver" / "schema" / "builtin_table.py").is_file():
            raise Trouble(
                f"{rest[0] if rest else '.'} is not a checkout of trainc: `generate` is for trainc's own source tree"
            )
        answer(f"wrote {len(write(checkout))} files")
    else:
        raise Trouble(_USAGE)
    return 0


def _list() -> None:
    rows = [(f"{one.group}/{one.version}", one.kind, one.about.partition("\n")[0]) for one in shipped.listed()]
    rows += [("JSON report", name, loads(text)["description"].partition(". ")[0] + ".") for name, text in _reports()]
    left, middle = (max(len(row[column]) for row in rows) for column in (0, 1))
    answer(*(f"{group:<{left}}  {kind:<{middle}}  {about}" for group, kind, about in rows))


def _text(kind: str, form: str) -> str:
    reports = dict(_reports())
    text = reports.get(kind) or shipped.show(kind, form=form)
    if not text:
        hint = meant(kind, [*(one.kind for one in shipped.listed()), *reports], "see trainc schemas list")
        raise Trouble(f"no schema for `{kind}`; {hint}")
    return text


def _reports() -> list[tuple[str, str]]:
    return [(path.stem, path.read_text("utf-8")) for path in sorted((shipped.folder() / "reports").iterdir())]
