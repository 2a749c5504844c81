"""What `trainc --help` prints: the commands in groups."""

from __future__ import annotations

from textwrap import fill

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainc.cli.shared.options import Command

GROUPS = {
    "write": ("init", "adopt", "new", "explain", "fix"),
    "check": ("validate", "build", "show", "why"),
    "change": ("diff", "run", "migrate"),
    "cluster": ("fit", "inventory", "diagnose", "rehearse"),
    "connect": ("cmp", "fn", "flux", "lsp", "schemas", "runtimes", "completion"),
}
DEPRECATED = ("rules",)  # they work, and no list shows them


def overview(commands: Mapping[str, Command]) -> str:
    """What `trainc --help` prints."""
    width = max(len(name) for name in commands)
    lines = [
        "usage: trainc COMMAND [ARGUMENT...]",
        "",
        "Compile Kubeflow training specs into plain manifests: no controller, no cluster, no network.",
    ]
    for group, names in GROUPS.items():
        lines += ["", f"{group}:", *(_row(name, width, commands[name].summary) for name in names)]
    return "\n".join(
        [
            *lines,
            "",
            "trainc COMMAND --help shows options and examples. trainc --version shows the version.",
            "exit codes: 0 clean, 1 findings at level error, 2 usage or I/O, 3 a bug in trainc.",
            "",
        ]
    )


def _row(name: str, width: int, summary: str) -> str:
    """A command with the first sentence of its help, folded."""
    sentence = summary.replace("\n", " ").partition(". ")[0].rstrip(".") + "."
    return fill(
        sentence,
        120,
        initial_indent=f"  {name:<{width}}  ",
        subsequent_indent=" " * (width + 4),
        break_on_hyphens=False,
    )
