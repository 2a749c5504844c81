"""`trainc inventory`: what of a cluster's dump decides whether jobs start."""

from collections.abc import Iterable
from json import loads
from typing import Any

from trainc.cli.commands import GET_CAPACITY
from trainc.cli.options import Options
from trainc.cli.output import data, tell
from trainc.cli.session import dump_contents
from trainc.cluster.inventory import Dump, inventory
from trainc.model.report import Report
from trainc.model.tree import plain
from trainc.text.trouble import Trouble
from trainc.yaml.reader import read
from trainc.yaml.writer import dump


def run(options: Options) -> int:
    """Print the inventory; nothing where the dump holds something invalid."""
    objects = Dump(tree for path in options.arguments or ["-"] for tree in _trees(path))
    if not objects.objects and not objects.faults:
        raise Trouble(f"no objects that affect whether jobs start; dump a cluster with `{GET_CAPACITY}`")
    if objects.left_out:
        listed = ", ".join(f"{count} {kind}" for kind, count in sorted(objects.left_out.items()))
        tell(f"skipped, as they do not affect scheduling: {listed}")
    if objects.faults:
        tell(*objects.faults, "trainc: nothing was written: the inventory would lack the invalid objects of the dump")
        return 1
    made = inventory(objects, date=options.one("date"), is_complete=options.has("complete"))
    data(f"# What decides whether jobs start on this cluster; `trainc inventory` wrote it.\n{dump(made)}")
    return 0


def _trees(path: str) -> Iterable[Any]:
    """The documents of one file of a dump, or of standard input, as plain data."""
    content = dump_contents(path)
    if content.lstrip()[:1] in (b"{", b"["):
        try:
            return [loads(content)]
        except (ValueError, RecursionError) as error:
            raise Trouble(f"{path}: not a complete JSON document ({error})") from error
    report = Report()
    trees = [plain(document.tree) for document in read(content, path, report)]
    if report.failed:
        finding = report.findings[0]
        raise Trouble(f"{path}:{finding.labels[0].span.line}: {finding.message}")
    return trees
