"""What the Flux Operator refuses of a MiniCluster, and what a fixed batch job cannot have or do (0.2.1)."""

from collections.abc import Iterator

from trainc.apiserver.admission import admit_object
from trainc.apiserver.served import Server
from trainc.kinds.minicluster.pods import runner_of, text_of
from trainc.kinds.shared.job import items, mapping, pruned
from trainc.model.cluster import Cluster
from trainc.model.document import Document
from trainc.model.finding import ERROR, WARNING, Refusal, Rule
from trainc.model.report import Report
from trainc.model.tree import Path, Tree, get, value

INVALID = Rule("minicluster-refused", ERROR, verdict=True)
NO_COUNTERPART = Rule("minicluster-without-counterpart", ERROR)
LEFT_OUT = Rule("minicluster-field-left-out", WARNING)
_SOURCES = ("hostPath", "claimName", "configMapName", "secretName", "csiDriver")  # of a volume


def admit(document: Document, server: Server, _: Cluster, report: Report) -> Document | None:
    """The MiniCluster as the API server stores it, None with findings where it or the operator refuses it."""
    if (stored := admit_object(document, server, report)) is None:
        return None
    complaints = [*_complaints(mapping(stored.tree.get("spec")))]
    for path, text in complaints:
        effect = "the operator creates nothing, and reports it only in its log"
        report.add(INVALID.at(stored.span(path), text, effect=effect, refusal=Refusal("operator", text)))
    return None if complaints else stored.admitted(pruned(stored.tree))


def _complaints(spec: Tree) -> Iterator[tuple[Path, str]]:
    """What the operator's own check says, in its words where it has some (0.2.1)."""
    size, low, high = (_number(spec, field) for field in ("size", "minSize", "maxSize"))
    if high and high < size:
        yield ("spec", "maxSize"), "MaxSize of cluster must be greater than size."
    if _number(spec, "backoffLimit") < 0:
        yield ("spec", "backoffLimit"), "BackoffLimit of cluster must be greater than 0."
    if low and high and low > high:
        yield ("spec", "minSize"), "MinSize of cluster must be less than MaxSize."
    if low > size:
        yield ("spec", "minSize"), "MinSize of cluster must be less than size."
    for index, service in enumerate(items(spec.get("services"))):
        if not value(service, "name"):
            yield ("spec", "services", index), "Service containers always require a name."
        if any(value(service, "commands", field) for field in ("pre", "brokerPre", "workerPre")):
            yield ("spec", "services", index, "commands"), "Services do not support Commands."
    yield from _container_complaints(items(spec.get("containers")))


def _container_complaints(containers: list[Tree]) -> Iterator[tuple[Path, str]]:
    running = [index for index, one in enumerate(containers) if len(containers) == 1 or value(one, "runFlux") is True]
    for index, container in enumerate(containers):
        path, name = ("spec", "containers", index), f"MiniCluster.Container.{index}"
        if value(container, "launcher") is True and value(container, "batch") is True:
            yield path, f"{name} is indicated for batch and launcher, choose one."
        if index not in running and not value(container, "name"):
            yield path, f"{name} is missing a name"
        if index in running and value(container, "command") and value(container, "commands", "script"):
            yield path, f"{name} has both a script and command provided, choose one"
        for key, volume in mapping(get(container, "volumes")).items():
            if value(volume, "emptyDir") is True:
                continue
            if not any(value(volume, source) for source in _SOURCES):
                yield (*path, "volumes", key), f"volume {key} has none of emptyDir, {', '.join(_SOURCES)}"
            elif not value(volume, "path"):
                yield (*path, "volumes", key), f"volume {key} has no path"
    if len(running) != 1:
        message = f"{len(running)} containers have `runFlux`; exactly one must, and the operator does not report it"
        yield ("spec", "containers"), message


def lacks_counterparts(document: Document, report: Report) -> bool:
    """Whether the cluster asks for what a fixed batch job cannot have; each such field is reported."""
    missing = [*_missing_counterparts(document.tree["spec"])]
    for path, message, help_ in missing:
        report.add(NO_COUNTERPART.at(document.span(path), message, help=help_))
    spec, (runner, _) = document.tree["spec"], runner_of(document.tree["spec"])
    if value(spec, "flux", "minimalService") is True:
        span, effect = document.span(("spec", "flux", "minimalService")), "every pod has a DNS name, not only the first"
        report.add(LEFT_OUT.at(span, "`minimalService` is omitted", effect=effect))
    if value(spec, "cleanup") is True:
        span, effect = document.span(("spec", "cleanup")), "finished pods stay until the JobSet is deleted"
        report.add(LEFT_OUT.at(span, "`cleanup` is omitted", effect=effect))
    for index, container in enumerate(items(spec.get("containers"))):
        if index != runner:
            message = f"container `{value(container, 'name')}` runs beside Flux: the job also waits for it to end"
            span = document.span(("spec", "containers", index))
            report.add(LEFT_OUT.at(span, message, effect="a server that never ends keeps the job running"))
    return bool(missing)


def _missing_counterparts(spec: Tree) -> Iterator[tuple[Path, str, str]]:
    size, high = _number(spec, "size"), _number(spec, "maxSize")
    index, container = runner_of(spec)
    path: Path = ("spec", "containers", index)
    if high and high != size:
        message = f"`maxSize: {high}` lets the cluster grow; a JobSet has a fixed number of pods"
        yield ("spec", "maxSize"), message, "write the number of pods in `size`, and remove `maxSize`"
    if _number(spec, "minSize"):
        message = "`minSize` starts the cluster with some of its pods; a JobSet needs all pods"
        yield ("spec", "minSize"), message, "remove it"
    if type(value(spec, "tasks")) is str:
        message = "`tasks` is a placeholder, but the submission is computed from it"
        yield ("spec", "tasks"), message, "write the number"
    if value(spec, "interactive") is True:
        message = "`interactive` creates a cluster that waits for input and never ends"
        yield ("spec", "interactive"), message, "write a `command`, or let the operator run the cluster"
    elif not text_of(container, "command") and not text_of(container, "commands", "script"):
        message = "no command: the cluster is interactive; it waits for input and never ends"
        yield path, message, "write a `command`, or let the operator run the cluster"
    if get(spec, "flux", "bursting"):
        yield ("spec", "flux", "bursting"), "`bursting` needs clusters that trainc does not see", "remove it"
    if value(spec, "flux", "mungeSecret"):
        message = "`mungeSecret` is for bursting, which needs the operator"
        yield ("spec", "flux", "mungeSecret"), message, "remove it"
    if value(spec, "flux", "curveCert"):
        message = "`curveCert` has a private key in plain text"
        help_ = "put it in a Secret under the key `curve.cert`, and name the Secret in `secrets: {flux: existing:NAME}`"
        yield ("spec", "flux", "curveCert"), message, help_
    if items(spec.get("services")):
        message = "`services` run in a separate pod, which a JobSet cannot have"
        yield ("spec", "services"), message, "write them as a Deployment and a Service"


def _number(spec: Tree, field: str) -> int:
    number = value(spec, field)
    return number if type(number) is int else 0
