"""Draws the diagrams of the pages: `python docs/diagrams.py` writes them to docs/images.

A diagram is a grid of boxes and the arrows between them. Colours follow the reader's light or dark mode.
"""

from html import escape
from pathlib import Path
from typing import NamedTuple

IMAGES = Path(__file__).parent / "images"
WIDTH, HEIGHT, GAP_X, GAP_Y, MARGIN = 190, 62, 90, 58, 16
STYLE = """\
text { font: 14px system-ui, sans-serif; fill: #1f2430; }
.small { font-size: 12px; fill: #59606e; }
rect { fill: #f4f6fa; stroke: #9aa4b5; }
.strong rect { fill: #e4edff; stroke: #4c75d6; }
.bad rect { fill: #ffecec; stroke: #d05a5a; }
path { stroke: #6a7486; fill: none; }
marker path { fill: #6a7486; }
@media (prefers-color-scheme: dark) {
  text { fill: #e8ebf1; } .small { fill: #a7b0c0; }
  rect { fill: #262b36; stroke: #667085; } .strong rect { fill: #1f335c; stroke: #6f95ea; } .bad rect { fill: #4a2626; stroke: #d97a7a; }
  path { stroke: #98a2b3; } marker path { fill: #98a2b3; }
}"""


class Box(NamedTuple):
    """A box at a column and a row, with a headline, a line below it, and a class for its colour."""

    column: float
    row: float
    headline: str
    detail: str = ""
    kind: str = ""


class Diagram(NamedTuple):
    """Boxes by name, and arrows: from, to, label."""

    title: str
    boxes: dict[str, Box]
    arrows: tuple[tuple[str, str, str], ...]


DIAGRAMS = {
    "layers": Diagram(
        "Layers: a later one wins, and a lock of the runtime holds against the job",
        {
            "runtime": Box(0, 0, "runtime", "parents first"),
            "components": Box(1, 0, "components", "shm, aws-efa, ..."),
            "cluster": Box(2, 0, "cluster", "patch in trainc.yaml"),
            "job": Box(0, 1, "job", "patches, overrides", "strong"),
            "framework": Box(1, 1, "framework, scheduler", "ranks, ports, gangs"),
            "identity": Box(2, 1, "images, identity", "digests, names, labels"),
            "lock": Box(0, 2, "lock", "a field of the runtime", "bad"),
            "manifest": Box(2, 2, "JobSet, Service", "trainc why: who set it", "strong"),
        },
        (
            ("runtime", "components", ""),
            ("components", "cluster", ""),
            ("cluster", "job", ""),
            ("job", "framework", ""),
            ("framework", "identity", ""),
            ("identity", "manifest", ""),
            ("lock", "job", "locked-field"),
        ),
    ),
    "delivery": Diagram(
        "From a job in Git to pods: trainc runs before the commit and in CI, Argo CD or Flux applies",
        {
            "job": Box(0, 0, "jobs/bert.yaml", "TrainJob", "strong"),
            "build": Box(1, 0, "trainc build -w", "pre-commit hook"),
            "rendered": Box(2, 0, "rendered/nlp/bert.yaml", "JobSet, Service", "strong"),
            "review": Box(0, 1, "pull request", "trainc diff main"),
            "check": Box(1, 1, "CI", "trainc build --check"),
            "tool": Box(2, 1, "Argo CD or Flux", "applies rendered/"),
            "cluster": Box(2, 2, "JobSet controller", "Jobs, pods"),
        },
        (
            ("job", "build", ""),
            ("build", "rendered", "writes"),
            ("review", "check", ""),
            ("check", "tool", "merge"),
            ("rendered", "tool", ""),
            ("tool", "cluster", "creates"),
        ),
    ),
    "runs": Diagram(
        "A JobSet cannot change once it runs: an edit starts the next run",
        {
            "first": Box(0, 0, "run 1", "JobSet bert", "strong"),
            "edit": Box(1, 0, "edit of the job", "image, nodes, command"),
            "refused": Box(2, 0, "immutable-change", "the API server refuses it", "bad"),
            "run": Box(1, 1, "trainc run bert", 'trainc.dev/run: "2"'),
            "second": Box(2, 1, "run 2", "JobSet bert-r2", "strong"),
            "old": Box(0, 1, "oldRun: prune", "run 1 is deleted"),
        },
        (
            ("first", "edit", ""),
            ("edit", "refused", "in place"),
            ("edit", "run", "new run"),
            ("run", "second", "build -w"),
            ("run", "old", "file goes"),
        ),
    ),
    "failure": Diagram(
        "When a pod fails: the Job's rules first, then the JobSet's",
        {
            "pod": Box(0, 0, "a pod fails", "exit code, eviction", "bad"),
            "rules": Box(1, 0, "podFailurePolicy", "of the Job"),
            "ignore": Box(2, 0, "Ignore", "a new pod, not counted", "strong"),
            "backoff": Box(1, 1, "backoffLimit", "retries left?"),
            "again": Box(2, 1, "a new pod", "the same index", "strong"),
            "job": Box(1, 2, "the Job fails", "", "bad"),
            "jobset": Box(2, 2, "failurePolicy", "of the JobSet"),
            "restart": Box(3, 2, "all Jobs start again", "up to maxRestarts", "strong"),
            "failed": Box(3, 1, "the JobSet fails", "no restart left", "bad"),
        },
        (
            ("pod", "rules", ""),
            ("rules", "ignore", "Ignore"),
            ("rules", "backoff", "Count"),
            ("backoff", "again", "yes"),
            ("backoff", "job", "no"),
            ("job", "jobset", ""),
            ("jobset", "restart", ""),
            ("jobset", "failed", ""),
        ),
    ),
    "queues": Diagram(
        "With Kueue a JobSet waits suspended until its queue has quota for all of its pods",
        {
            "jobset": Box(0, 0, "JobSet", "queue-name label", "strong"),
            "webhook": Box(1, 0, "Kueue's webhook", "suspend: true"),
            "local": Box(2, 0, "LocalQueue", "of the namespace"),
            "cluster": Box(2, 1, "ClusterQueue", "quota by flavor"),
            "admitted": Box(1, 1, "admitted", "suspend: false", "strong"),
            "pods": Box(0, 1, "all pods start", "on the flavor's nodes"),
            "fit": Box(2, 2, "trainc fit", "will it ever be admitted?"),
        },
        (
            ("jobset", "webhook", ""),
            ("webhook", "local", ""),
            ("local", "cluster", ""),
            ("cluster", "admitted", "quota"),
            ("admitted", "pods", ""),
            ("fit", "cluster", "reads a dump"),
        ),
    ),
}


def drawn(diagram: Diagram) -> str:
    """A diagram as SVG."""
    columns = max(box.column for box in diagram.boxes.values()) + 1
    rows = max(box.row for box in diagram.boxes.values()) + 1
    width = 2 * MARGIN + columns * WIDTH + (columns - 1) * GAP_X
    height = 2 * MARGIN + rows * HEIGHT + (rows - 1) * GAP_Y
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img">',
        f"<title>{escape(diagram.title)}</title>",
        f"<style>{STYLE}</style>",
        (
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
            '<path d="M0,0 L8,4 L0,8 z" stroke="none"/></marker></defs>'
        ),
        *(_arrow(diagram.boxes[one], diagram.boxes[other], label) for one, other, label in diagram.arrows),
        *map(_box, diagram.boxes.values()),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _corner(box: Box) -> tuple[float, float]:
    return MARGIN + box.column * (WIDTH + GAP_X), MARGIN + box.row * (HEIGHT + GAP_Y)


def _box(box: Box) -> str:
    x, y = _corner(box)
    middle = x + WIDTH / 2
    lines = [
        f'<text x="{middle:g}" y="{y + (27 if box.detail else 36):g}" text-anchor="middle">{escape(box.headline)}</text>'
    ]
    if box.detail:
        lines.append(
            f'<text class="small" x="{middle:g}" y="{y + 46:g}" text-anchor="middle">{escape(box.detail)}</text>'
        )
    return f'<g class="{box.kind}"><rect x="{x:g}" y="{y:g}" width="{WIDTH}" height="{HEIGHT}" rx="8"/>{"".join(lines)}</g>'


def _arrow(one: Box, other: Box, label: str) -> str:
    """A straight line between neighbours, and one with two corners between the rows otherwise."""
    (x1, y1), (x2, y2) = _corner(one), _corner(other)
    if one.row == other.row:
        right = x2 > x1
        start, end = (x1 + WIDTH if right else x1, y1 + HEIGHT / 2), (x2 if right else x2 + WIDTH, y2 + HEIGHT / 2)
        line = f"M{start[0]:g},{start[1]:g} L{end[0]:g},{end[1]:g}"
        at, anchor = ((start[0] + end[0]) / 2, start[1] - 7), "middle"
    else:
        down = y2 > y1
        start = (x1 + WIDTH / 2, y1 + HEIGHT if down else y1)
        end = (x2 + WIDTH / 2, y2 if down else y2 + HEIGHT)
        middle = (start[1] + end[1]) / 2
        line = f"M{start[0]:g},{start[1]:g} V{middle:g} H{end[0]:g} V{end[1]:g}"
        at, anchor = (end[0] + 8, middle + (18 if down else -6)), "start"
    words = (
        f'<text class="small" x="{at[0]:g}" y="{at[1]:g}" text-anchor="{anchor}">{escape(label)}</text>'
        if label
        else ""
    )
    return f'<path d="{line}" marker-end="url(#tip)"/>{words}'


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    for name, diagram in DIAGRAMS.items():
        (IMAGES / f"{name}.svg").write_text(drawn(diagram), "utf-8")
