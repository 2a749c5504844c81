"""Mermaid diagrams for READMEs and pull requests, each in a fence of Markdown."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    View = Mapping[str, Any]

MAX_NODES, MAX_EDGES = 150, 400  # Mermaid itself refuses 500 edges or 50,000 characters
_PLAIN = frozenset(" -_./:,+=?!")


def job_diagrams(views: Sequence[View]) -> list[str]:
    """A diagram for each job: its roles in the order of their start, the Service, the gang and the queue."""
    shown = views[:MAX_NODES]
    lines = [line for view in shown for line in [*_fenced(_job(view)), ""]]
    return [*lines[:-1], *_left(len(views) - len(shown), "job")]


def repository_diagrams(rows: Sequence[View], group: str, runtimes: Mapping[str, Any]) -> list[str]:
    """Two diagrams: the jobs of each cluster, queue or folder, and what their runtimes inherit."""
    jobs = _fenced(_groups(rows[:MAX_NODES], group)) if rows else []
    left = _left(len(rows) - MAX_NODES, "job")
    nodes = runtimes["nodes"]
    if not nodes:
        return [*jobs, *left]
    arrows = [edge for edge in runtimes["edges"] if max(edge[:2]) < MAX_NODES][:MAX_EDGES]
    more = _left(len(nodes) - MAX_NODES, "runtime or component", "runtimes and components")
    more += _left(len(runtimes["edges"]) - len(arrows), "arrow")
    return [*jobs, *left, *([""] if jobs else []), *_fenced(_runtimes(nodes[:MAX_NODES], arrows)), *more]


def label(*parts: str) -> str:
    """Lines of text as a quoted label: what is no letter, digit or harmless sign is a character code."""
    return '"' + "<br/>".join("".join(map(_coded, part)) for part in parts if part) + '"'


def _coded(char: str) -> str:
    if char.isalnum() or char in _PLAIN:
        return char
    return f"#{ord(char)};" if char.isprintable() else f"#{0xFFFD};"


def _fenced(lines: Iterator[str]) -> list[str]:
    return ["```mermaid", *lines, "```"]


def _left(count: int, noun: str, plural: str = "") -> list[str]:
    word = noun if count == 1 else plural or f"{noun}s"
    return ["", f"{count} more {word} left out of the diagram."] if count > 0 else []


def _job(view: View) -> Iterator[str]:
    yield "flowchart LR"
    yield f"  subgraph job[{label(', '.join([_title(view), *_around(view)]))}]"
    yield "    direction LR"
    numbers = {role["name"]: number for number, role in enumerate(view["roles"])}
    for role in view["roles"]:
        yield f"    role{numbers[role['name']]}[{label(*_role(role))}]"
    for role in view["roles"]:
        for wait in role["after"]:
            name, _, status = wait.rpartition(" ")
            yield f"    role{numbers[name]} -->|{label(status)}| role{numbers[role['name']]}"
    yield "  end"
    addressed = [numbers[role["name"]] for role in view["roles"] if role["addresses"]]
    if addressed:
        service = next(role["addresses"] for role in view["roles"] if role["addresses"]).partition(".")[2]
        yield f"  service([{label(f'Service {service}', 'host names')}])"
        yield from (f"  service -.- role{number}" for number in addressed)


def _title(view: View) -> str:
    return f"{view['namespace']}/{view['name']}" if view["namespace"] else str(view["name"])


def _around(view: View) -> list[str]:
    gangs = [f"gang of {_number(gang['pods'])} pods" for gang in view["gangs"]]
    places = [f"{word} {view[word]}" for word in ("cluster", "queue") if view[word]]
    world = "" if view["worldSize"] is None else f"world size {view['worldSize']}"
    return [*places, *gangs, *([world] if world else [])]


def _role(role: View) -> list[str]:
    ranks = role["ranks"]
    hosts = list(dict.fromkeys(role["hosts"]))
    accelerators = [f"{_number(number)} {resource}" for resource, number in role["accelerators"].items()]
    return [
        role["name"],
        f"{_number(role['jobs'])} x {_number(role['podsPerJob'])} pods",
        "" if ranks is None else f"rank {ranks[0]}" if ranks[0] == ranks[1] else f"ranks {ranks[0]} to {ranks[1]}",
        f"{', '.join(accelerators)} per pod" if accelerators else "",
        " .. ".join(hosts),
    ]


def _number(value: object) -> str:
    return "?" if value is None else str(value)


def _groups(rows: Sequence[View], group: str) -> Iterator[str]:
    """The jobs behind what they are grouped by, each with its pods and accelerators."""
    yield "flowchart LR"
    groups: dict[str, list[tuple[int, View]]] = {}
    for index, row in enumerate(rows):
        groups.setdefault(row[group] or "", []).append((index, row))
    for number, (name, members) in enumerate(sorted(groups.items())):
        title = f"{group} {name or '(none)'}"
        yield f"  group{number}{{{{{label(title)}}}}}"
        yield from (f"  group{number} --- job{index}[{label(_title(row), _sizes(row))}]" for index, row in members)


def _sizes(row: View) -> str:
    accelerators = [f"{_number(number)} {resource}" for resource, number in sorted(row["accelerators"].items())]
    return ", ".join([f"{_number(row['pods'])} pod{'s' * (row['pods'] != 1)}", *accelerators])


def _runtimes(nodes: Sequence[View], arrows: Sequence[tuple[int, int, str]]) -> Iterator[str]:
    """Runtimes and components: an arrow leads from what is used to its user."""
    yield "flowchart LR"
    for index, node in enumerate(nodes):
        jobs = f"{node['jobs']} job{'s' * (node['jobs'] != 1)}" if node["jobs"] else ""
        opening, closing = ("([", "])") if node["component"] else ("{{", "}}") if node["kind"] == "Cluster" else "[]"
        yield f"  runtime{index}{opening}{label(node['name'], node['kind'], jobs)}{closing}"
    for user, used, how in arrows:
        yield f"  runtime{used} {'-.->' if how == 'component' else '-->|extended by|'} runtime{user}"
