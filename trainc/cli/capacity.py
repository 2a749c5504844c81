"""`trainc inventory` and `trainc fit`: what decides on a cluster, and whether jobs ever start there."""

from __future__ import annotations

from trainc.cli.shared.options import Command, Option
from trainc.cluster.inventory import GET
from trainc.text.trouble import Trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from trainc.cli.shared.options import Options


def _inventory(options: Options) -> int:
    from trainc.cli.shared.output import data, tell  # noqa: PLC0415
    from trainc.cluster.inventory import Dump, inventory  # noqa: PLC0415 (each command loads what it needs)
    from trainc.yaml.writer import dump  # noqa: PLC0415

    objects = Dump(tree for path in options.arguments or ["-"] for tree in _trees(path))
    if not objects.objects and not objects.faults:
        raise Trouble(f"nothing here decides whether jobs start; dump a cluster with `{GET}`")
    if objects.left_out:
        listed = ", ".join(f"{count} {kind}" for kind, count in sorted(objects.left_out.items()))
        tell(f"left out, as they decide nothing: {listed}")
    if objects.faults:
        tell(*objects.faults, "trainc: nothing is written: what is wrong in the dump would be missing in the inventory")
        return 1
    made = inventory(objects, date=options.one("date"), is_complete=options.has("complete"))
    data(f"# What decides whether jobs start on this cluster; `trainc inventory` wrote it.\n{dump(made)}")
    return 0


def _trees(path: str) -> Iterable[Any]:
    """The documents of one file of a dump, or of standard input, as plain data."""
    from json import loads  # noqa: PLC0415

    from trainc.cli.shared.dumps import contents  # noqa: PLC0415
    from trainc.model.report import Report  # noqa: PLC0415
    from trainc.model.tree import plain  # noqa: PLC0415
    from trainc.yaml.reader import read  # noqa: PLC0415

    content = contents(path)
    if content.lstrip()[:1] in (b"{", b"["):
        try:
            return [loads(content)]
        except (ValueError, RecursionError) as error:
            raise Trouble(f"{path}: this is not a whole JSON document ({error})") from error
    report = Report()
    trees = [plain(document.tree) for document in read(content, path, report)]
    if report.failed:
        finding = report.findings[0]
        raise Trouble(f"{path}:{finding.labels[0].span.line}: {finding.message}")
    return trees


def _fit(options: Options) -> int:
    from trainc.cli.fit import fit  # noqa: PLC0415

    return fit(options)


COMMANDS = (
    Command(
        "fit",
        "[PATH...]",
        "Say for each job whether it is ever admitted on its cluster, by which queue and flavor and on which nodes,\n"
        "or the first reason why not and the smallest change that would help. Reads dumps, never a cluster.",
        (
            Option("--inventory", "a dump or inventory to ask, besides the cluster's folder", metavar="FILE"),
            Option("--what-if", "as if the jobs asked for something else: numNodes=8", metavar="KEY=VALUE"),
            Option("--headroom", "say how many more nodes each job could ask for"),
            Option("--together", "let all jobs hold their quota at once, by priority, then by name"),
            Option("--now", "count the workloads and pods of the dump as running; else the cluster is idle"),
            Option("--report", "how the answer is written", choices=("text", "markdown", "json")),
            Option("--cluster", "for this cluster of trainc.yaml alone; may be repeated", metavar="NAME"),
            Option("--set", "a setting of the cluster, such as queue=research", metavar="KEY=VALUE"),
            Option("--closed-world", "what is not in the dump does not exist"),
        ),
        ("trainc fit", "trainc fit jobs/bert.yaml --what-if numNodes=8", "trainc fit --together --report markdown"),
        _fit,
    ),
    Command(
        "inventory",
        "[FILE...]",
        "Write what decides whether jobs start on a cluster, out of a dump of it (default: standard input), and nothing\n"
        "else: nodes that are alike together, queues, flavors, quotas, limits, classes. Make the dump with\n\n"
        f"  {GET} \\\n    | trainc inventory --complete > clusters/NAME/inventory.yaml",
        (
            Option("--complete", "the dump lists every kind of the command: a kind without objects has none"),
            Option("--date", "when the dump was made (default: the newest time in it)", metavar="TIME"),
        ),
        ("kubectl get nodes,clusterqueues -o json | trainc inventory", "trainc inventory dump.json --complete"),
        _inventory,
    ),
)
