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
        raise Trouble(f"no objects that affect whether jobs start; dump a cluster with `{GET}`")
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
            raise Trouble(f"{path}: not a complete JSON document ({error})") from error
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
        "Check whether each job can ever be admitted on its cluster: by which queue and flavor, on which nodes, or the first\n"
        "reason why not and the smallest change that would help. Reads dumps, never a cluster.",
        (
            Option("--inventory", "dump or inventory to use in addition to the cluster's folder", metavar="FILE"),
            Option("--what-if", "check the jobs with another value, such as numNodes=8", metavar="KEY=VALUE"),
            Option("--headroom", "show how many more nodes each job could request"),
            Option("--together", "admit all jobs at once, by priority, then by name"),
            Option("--now", "count workloads and pods of the dump as running (default: idle cluster)"),
            Option("--report", "output format", choices=("text", "markdown", "json")),
            Option("--cluster", "check this cluster of trainc.yaml only; may be repeated", metavar="NAME"),
            Option("--set", "override a cluster setting, such as queue=research", metavar="KEY=VALUE"),
            Option("--closed-world", "treat what is not in the dump as missing"),
        ),
        ("trainc fit", "trainc fit jobs/bert.yaml --what-if numNodes=8", "trainc fit --together --report markdown"),
        _fit,
    ),
    Command(
        "inventory",
        "[FILE...]",
        "Reduce a dump of a cluster (default: standard input) to what decides whether jobs start: groups of identical nodes,\n"
        "queues, flavors, quotas, limits, classes. Create the dump with\n\n"
        f"  {GET} \\\n    | trainc inventory --complete > clusters/NAME/inventory.yaml",
        (
            Option("--complete", "the dump covers every kind of the command; a missing kind has no objects"),
            Option("--date", "time of the dump (default: the newest timestamp in it)", metavar="TIME"),
        ),
        ("kubectl get nodes,clusterqueues -o json | trainc inventory", "trainc inventory dump.json --complete"),
        _inventory,
    ),
)
