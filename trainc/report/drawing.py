"""What will run: a table for the terminal, Markdown for a review."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trainc.report.markdown import code, fenced, prose, sentence
from trainc.report.tables import aligned, or_unknown

View = dict[str, Any]

_NO_LIMIT = 2**31 - 1
_HEAD = ("ROLE", "JOBS x PODS", "HOSTS", "RANKS", "ACCELERATORS PER POD", "PROCESSES PER POD", "STARTS")
MAX_NODES, MAX_EDGES = 150, 400  # Mermaid itself refuses 500 edges or 50,000 characters
_PLAIN = frozenset(" -_./:,+=?!")


def overview_lines(view: View, width: int = 0) -> list[str]:
    """A job as lines for a terminal of that width, 0 for one that takes lines of any length."""
    out = [f"{_name(view)}: {_count(view['pods'], 'pod')}{_held(view['accelerators'])}", ""]
    out += _table([_HEAD, *(_row(role) for role in view["roles"])], width)
    return [*out, "", *(f"{label:<12}{words}" for label, words in _facts(view))]


def overview_markdown(view: View) -> list[str]:
    table = [_HEAD, *(_row(role) for role in view["roles"])]
    lines = ["| " + " | ".join(map(prose, cells)) + " |" for cells in table]
    lines.insert(1, "|" + " --- |" * len(_HEAD))
    facts = [f"- {label}: {sentence(words)}" for label, words in _facts(view)]
    head = prose(f"{_name(view)}: {_count(view['pods'], 'pod')}{_held(view['accelerators'])}")
    return [f"### {head}", "", *lines, "", *facts]


def pod_lines(view: View) -> list[str]:
    out = [
        f"rank {view['rank']}: {view['host']} ({view['role']}, Job {view['job']}, index {view['index']})",
        f"DNS name {view['address']}",
    ]
    for container in view["containers"]:
        out += ["", f"{container['kind']} {container['name']}, image {container['image']}"]
        out += [f"  {name}={value}" for name, value in container["env"].items()]
        command = " ".join(map(_quoted, container["command"])) or "(the image's entrypoint)"
        out.append(f"  $ {command}")
    return out


def pod_markdown(view: View) -> list[str]:
    out = [
        f"### rank {view['rank']}: {code(view['host'])}",
        "",
        f"- role {prose(view['role'])}, Job {view['job']}, index {view['index']}",
        f"- DNS name {code(view['address'])}",
    ]
    for container in view["containers"]:
        command = " ".join(map(_quoted, container["command"])) or "(the image's entrypoint)"
        body = [f"{name}={value}" for name, value in container["env"].items()]
        head = f"**{container['kind']} {prose(container['name'])}**, image {code(container['image'])}"
        out += ["", head, "", *fenced([*body, command], "sh")]
    return out


def _row(role: View) -> tuple[str, ...]:
    # How many pods of a Job run side by side, where that is not all of them.
    width, size = role["podsAtOnce"], role["podsPerJob"]
    waves = f", {width} at once" if width is not None and size is not None and width < size else ""
    ranks = role["ranks"]
    return (
        role["name"],
        f"{or_unknown(role['jobs'])} x {or_unknown(role['podsPerJob'])}{waves}",
        " .. ".join(dict.fromkeys(role["hosts"])) or "-",
        "-" if ranks is None else str(ranks[0]) if ranks[0] == ranks[1] else f"{ranks[0]}-{ranks[1]}",
        ", ".join(f"{or_unknown(number)} {resource}" for resource, number in role["accelerators"].items()) or "-",
        or_unknown(role["processes"]),
        ", ".join(f"after {words}" for words in role["after"]) or "at once",
    )


def _facts(view: View) -> list[tuple[str, str]]:
    addresses = [str(role["addresses"]) for role in view["roles"] if role["addresses"]]
    bound, restarts, exclusive = view["acceleratorHours"], view["restarts"], view["exclusiveTopology"]
    gangs = [f"{gang['name']} of {_count(gang['pods'], 'pod')}" for gang in view["gangs"]]
    kept = [
        f"{role['name']}: " + ", ".join(f"{name} ({kind})" for name, kind in role["volumes"].items())
        for role in view["roles"]
        if role["volumes"]
    ]
    retried = [
        f"{_at_most(role['retries'], 'pods')} of each Job of {role['name']}"
        for role in view["roles"]
        if role["retries"] and role["podsAtOnce"] != 0
    ]
    some = [
        ("cluster", view["cluster"]),
        ("queue", view["queue"]),
        ("gang", ", ".join(gangs)),
        ("nodes", f"each Job has its own {exclusive}" if exclusive else ""),
        ("world size", "" if view["worldSize"] is None else str(view["worldSize"])),
        ("images", ", ".join(dict.fromkeys(image for role in view["roles"] for image in role["images"]))),
        ("volumes", "; ".join(kept)),
        ("starts", f"not yet: {view['held']}" if view["held"] else ""),
    ]
    hours, why = bound["hours"], bound["why"]
    limit = f"none: {why}" if hours is None else f"{hours} accelerator hours ({why})"
    return [
        *((label, words) for label, words in some if words),
        ("order", " -> ".join(" + ".join(stage) for stage in view["order"])),
        ("names", ", ".join(addresses) or "pods get no DNS names"),
        ("ends when", f"{view['success']} have succeeded"),
        ("restarts", _at_most(restarts) if isinstance(restarts, int) else str(or_unknown(restarts))),
        *([("retries", ", ".join(retried))] if retried else ()),
        *([("fails on", "; ".join(view["endedBy"]))] if view["endedBy"] else ()),
        ("time limit", limit),
    ]


def _at_most(number: int, what: str = "") -> str:
    """How often something may happen, or to how many of `what`; the largest number of the API is no limit."""
    if number == 0:
        return "none"
    return f"{'unlimited' if number >= _NO_LIMIT else f'at most {number}'}{what and f' {what}'}"


def _name(view: View) -> str:
    return f"{view['namespace']}/{view['name']}" if view["namespace"] else str(view["name"])


def _held(accelerators: dict[str, int | None]) -> str:
    return "".join(f", {or_unknown(number)} {resource}" for resource, number in accelerators.items())


def _count(number: int | None, noun: str) -> str:
    return f"{or_unknown(number)} {noun}{'' if number == 1 else 's'}"


def _table(table: list[tuple[str, ...]], width: int) -> list[str]:
    """A table as lines; one that is wider than the terminal as a list for each row, with a line for each cell."""
    head, *rows = table
    widths = [max(len(row[column]) for row in table) for column in range(len(head))]
    if width and sum(widths) + 2 * (len(head) - 1) > width:
        titles = [f"  {title.lower():<{max(map(len, head[1:]))}}  " for title in head[1:]]
        return [line for row in rows for line in (row[0], *map("".join, zip(titles, row[1:], strict=True)))]
    return aligned(table)


def _quoted(word: str) -> str:
    if word and all(char.isalnum() or char in "-_./=:,@%+$()" for char in word):
        return word
    return "'" + word.replace("'", "'\\''") + "'"


def lifecycle_lines(view: View) -> list[str]:
    """The life of a job as lines for a terminal."""
    out = [_name(view)]
    if "start" not in view:
        for step in view["timeline"]:
            out += ["", f"{step['after']}", *(f"  {words}" for words in _seen(step))]
        return out
    out += ["", "starts", *(f"  {words}" for words in view["start"])]
    for each in view.get("failures", ()):
        how = f" fails repeatedly ({each['fails']})" if "fails" in each else ""
        out += ["", f"a pod of {each['role']}{how}", *(f"  {words}" for words in each["steps"])]
    return out


def lifecycle_markdown(view: View) -> list[str]:
    out = [f"### {prose(_name(view))}", ""]
    if "start" not in view:
        return [*out, *(f"- {sentence(step['after'] + ': ' + '; '.join(_seen(step)))}" for step in view["timeline"])]
    out += ["Starts:", "", *(f"- {sentence(words)}" for words in view["start"])]
    for each in view.get("failures", ()):
        how = f" fails repeatedly ({each['fails']})" if "fails" in each else ""
        out += ["", prose(f"A pod of {each['role']}{how}:"), "", *(f"- {sentence(words)}" for words in each["steps"])]
    return out


def _seen(step: View) -> list[str]:
    if "gone" in step:
        return ["the JobSet is deleted"]
    lines = [f"{condition}: {reason}" for condition, reason in step.get("reason", {}).items()]
    if step.get("restarts"):
        lines.append(f"restarts: {step['restarts']}, counted: {step.get('toMax', 0)}")
    lines += [f"Job {job.rstrip(':')}" for job in step.get("jobs", ())]
    return [*lines, *(f"pod {pod.rpartition(':')[0]}" for pod in step.get("pods", ()))] or ["nothing is created"]


def job_diagrams(views: Sequence[View]) -> list[str]:
    """A diagram for each job: its roles in the order of their start, the Service, the gang and the queue."""
    shown = views[:MAX_NODES]
    lines = [line for view in shown for line in [*_fenced(_job(view)), ""]]
    return [*lines[:-1], *_left(len(views) - len(shown), "job")]


def repository_diagrams(rows: Sequence[View], group: str, runtimes: Mapping[str, Any]) -> list[str]:
    """Two diagrams: the jobs of each cluster, queue or folder, and what their runtimes inherit."""
    jobs = _fenced(_groups(rows[:MAX_NODES], group)) if rows else []
    left = _left(len(rows) - MAX_NODES, "job")
    if not (nodes := runtimes["nodes"]):
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
    return ["", f"{count} more {word} not shown."] if count > 0 else []


def _job(view: View) -> Iterator[str]:
    yield "flowchart LR"
    gangs = [f"gang of {or_unknown(gang['pods'])} pods" for gang in view["gangs"]]
    places = [f"{word} {view[word]}" for word in ("cluster", "queue") if view[word]]
    world = "" if view["worldSize"] is None else f"world size {view['worldSize']}"
    yield f"  subgraph job[{label(', '.join([_name(view), *places, *gangs, *([world] if world else [])]))}]"
    yield "    direction LR"
    numbers = {role["name"]: number for number, role in enumerate(view["roles"])}
    for role in view["roles"]:
        yield f"    role{numbers[role['name']]}[{label(*_role(role))}]"
    for role in view["roles"]:
        for wait in role["after"]:
            name, _, status = wait.rpartition(" ")
            yield f"    role{numbers[name]} -->|{label(status)}| role{numbers[role['name']]}"
    yield "  end"
    if addressed := [numbers[role["name"]] for role in view["roles"] if role["addresses"]]:
        service = next(role["addresses"] for role in view["roles"] if role["addresses"]).partition(".")[2]
        yield f"  service([{label(f'Service {service}', 'host names')}])"
        yield from (f"  service -.- role{number}" for number in addressed)


def _role(role: View) -> list[str]:
    ranks = role["ranks"]
    accelerators = [f"{or_unknown(number)} {resource}" for resource, number in role["accelerators"].items()]
    return [
        role["name"],
        f"{or_unknown(role['jobs'])} x {or_unknown(role['podsPerJob'])} pods",
        "" if ranks is None else f"rank {ranks[0]}" if ranks[0] == ranks[1] else f"ranks {ranks[0]} to {ranks[1]}",
        f"{', '.join(accelerators)} per pod" if accelerators else "",
        " .. ".join(dict.fromkeys(role["hosts"])),
    ]


def _groups(rows: Sequence[View], group: str) -> Iterator[str]:
    """The jobs behind what they are grouped by, each with its pods and accelerators."""
    yield "flowchart LR"
    groups: dict[str, list[tuple[int, View]]] = {}
    for index, row in enumerate(rows):
        groups.setdefault(row[group] or "", []).append((index, row))
    for number, (name, members) in enumerate(sorted(groups.items())):
        title = f"{group} {name or '(none)'}"
        yield f"  group{number}{{{{{label(title)}}}}}"
        for index, row in members:
            size = _count(row["pods"], "pod") + _held(dict(sorted(row["accelerators"].items())))
            yield f"  group{number} --- job{index}[{label(_name(row), size)}]"


def _runtimes(nodes: Sequence[View], arrows: Sequence[tuple[int, int, str]]) -> Iterator[str]:
    """Runtimes and components: an arrow leads from what is used to its user."""
    yield "flowchart LR"
    for index, node in enumerate(nodes):
        jobs = _count(node["jobs"], "job") if node["jobs"] else ""
        opening, closing = ("([", "])") if node["component"] else ("{{", "}}") if node["kind"] == "Cluster" else "[]"
        yield f"  runtime{index}{opening}{label(node['name'], node['kind'], jobs)}{closing}"
    for user, used, how in arrows:
        yield f"  runtime{used} {'-.->' if how == 'component' else '-->|extended by|'} runtime{user}"
