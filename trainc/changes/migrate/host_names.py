"""Names that operators gave their pods, in the texts of what is a TrainJob now and of the ConfigMaps beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from trainc.changes.migrate.chunks import UnreadableError, as_bytes, dump, joined, load, reshape, values
from trainc.changes.migrate.compared import compiled
from trainc.changes.migrate.placed_text import says
from trainc.kinds.shared.former_hosts import FormerHosts
from trainc.model.document import Document
from trainc.model.report import Report
from trainc.model.settings import Project
from trainc.model.sourced import Span
from trainc.text.numbers import index_below
from trainc.yaml.reader import read

_HEADS = ("master", "chief", "launcher")  # of which an operator made one pod, with rank 0
_FORMER = ("worker", *_HEADS)
_NOWHERE = Span("", 1, 1, 1, 1)
_UNTOLD = "the node that `{}` means depends on whether the job had a Master: write the name of the node, such as `{}`"


class Renamed(NamedTuple):
    """The texts of a job and of ConfigMaps beside it, what was rewritten, and what could not be."""

    text: str
    around: Mapping[int, str]
    messages: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


class _HostsOfTrainJob(FormerHosts):
    """What operators would have called the pods of a job of this name, and what its JobSet calls them."""

    def __init__(self, document: Document, jobset: dict[str, Any], text: str) -> None:
        super().__init__(document.name, document, Report())
        self._roles = {
            role["name"]: int(role["template"]["spec"].get("completions") or 1)
            for role in jobset["spec"]["replicatedJobs"]
            if role.get("replicas", 1) == 1
        }
        job = rf"(?:{re.escape(self.base)}|[$`{{%][^\s\"']*)"  # a variable may hold the job's name
        has_head = re.search(rf"{job}-(?:master|chief)-0(?![\w-])", text) is not None
        is_counted = "launcher" in self._roles or re.search(rf"{job}-worker-0(?![\w-])", text) is not None
        self._shift = 1 if has_head else 0 if is_counted else None
        nodes = self._roles.get("node", 0)
        found = {"master": range(1), "chief": range(1), "worker": range(nodes)} if nodes else {}
        own = {name: range(count) for name, count in self._roles.items() if name != "node"}
        # The roles of the JobSet, and those that operators had.
        self.families = {**found, **own, **({"launcher": range(1)} if self._roles else {})}

    def present(self, host: str) -> str:
        """What a pod is called in the JobSet, "" for every other host, and where nobody can tell."""
        first, _, rest = host.partition(".")
        family, _, index = first[len(self.base) + 1 :].partition("-")
        if rest.partition(".")[0] == self.base:
            rest = rest.partition(".")[2]
        number = index_below(index, max(self._roles.values(), default=0) + 1)
        known = family in self.families and bool(index)
        if number is None or not known or not self.is_domain(rest):
            return ""
        role = family if family in self._roles else "node"
        if role == "node" and family == "worker":
            if self._shift is None:
                return ""
            number += self._shift
        if number >= self._roles.get(role, 0):
            return ""
        return f"{self.base}-{role}-0-{number}.{self.base}{rest and '.'}{rest}"

    def untold(self, text: str) -> Iterator[str]:
        """Why names of workers stay as they are, where no text says whether one of them was rank 0."""
        if self._shift is None and "worker" not in self._roles:
            for host in dict.fromkeys(re.findall(rf"(?<![\w./$-]){re.escape(self.base)}-worker-\d+(?![\w-])", text)):
                yield _UNTOLD.format(host, f"{self.base}-node-0-1.{self.base}")


def renamed(piece: str, beside: Mapping[int, str], runtimes: list[str], project: Project) -> Renamed:
    """A TrainJob and the ConfigMaps `beside` it, with the names that its pods have now."""
    text = joined([piece, *beside.values()])
    document = next(iter(read(as_bytes(piece), "", Report(), duplicates="ignore")), None)
    if document is None or re.search(rf"-(?:{'|'.join(_FORMER)})\b", text) is None:
        return Renamed(piece, {})
    objects, _ = compiled(as_bytes(joined([text, *runtimes])), project)
    jobset = next((one for one in objects if one["kind"] == "JobSet"), None)
    if jobset is None:
        return Renamed(piece, {})
    hosts = _HostsOfTrainJob(document, jobset, text)
    # The variables of its containers that have one value wherever they are set.
    pods = [role["template"]["spec"]["template"]["spec"] for role in jobset["spec"]["replicatedJobs"]]
    entries = [entry for pod in pods for one in pod["containers"] for entry in one.get("env", [])]
    found = {entry["name"]: entry.get("value", "$") for entry in entries}
    unlike = {entry["name"] for entry in entries if entry.get("value", "$") != found[entry["name"]]}
    known = {name: text for name, text in found.items() if "$" not in text and name not in unlike}
    pairs: list[tuple[str, str]] = []
    new = _rewritten(piece, "spec", hosts, known, pairs)
    around = {place: _rewritten(one, "data", hosts, known, pairs) for place, one in beside.items()}
    spliced = [f"{one.message}; {one.effect}; {one.help}" for one in hosts.report.findings]
    return Renamed(
        new,
        {place: one for place, one in around.items() if one != beside[place]},
        tuple(f"`{former}` is called `{present}` in the JobSet" for former, present in dict.fromkeys(pairs)),
        (*dict.fromkeys(spliced), *hosts.untold(text)),
    )


def _rewritten(
    piece: str, part: str, hosts: FormerHosts, known: Mapping[str, str], pairs: list[tuple[str, str]]
) -> str:
    """A document with present names in the texts of a part of it, letter by letter as it was but for these."""
    (tree,) = values(piece)
    own: list[tuple[str, str]] = []

    def present(node: Any) -> Any:
        if isinstance(node, dict):
            return {key: present(child) for key, child in node.items()}
        if isinstance(node, list):
            return [present(child) for child in node]
        new, found = hosts.renamed(node, known, _NOWHERE) if isinstance(node, str) else (node, [])
        own.extend(found)
        return new

    wanted = {**tree, part: present(tree.get(part))} if tree.get("kind") in {"ConfigMap", "TrainJob"} else tree
    if not own:
        return piece
    text = piece
    for former, now in dict.fromkeys(own):
        text = now.join(re.split(rf"(?<![\w.-]){re.escape(former)}(?![\w-])", text))
    try:
        text = text if says(values(text), [wanted]) else dump(reshape(load(piece), wanted), piece)
    except UnreadableError:
        return piece
    pairs.extend(own)
    return text
