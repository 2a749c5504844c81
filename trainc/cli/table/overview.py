"""What `trainc --help` says of all commands."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainc.cli.table.options import Command


def overview(commands: Mapping[str, Command]) -> str:
    """What `trainc --help` prints."""
    width = max(len(name) for name in commands)
    rows = [_row(name, width, command.summary) for name, command in commands.items()]
    return "\n".join(
        [
            "usage: trainc COMMAND [ARGUMENT...]",
            "",
            "Compile Kubeflow training specs into plain manifests: no controller, no cluster, no network.",
            "",
            "commands:",
            *rows,
            "",
            "trainc COMMAND --help shows options and examples. trainc --version shows the version.",
            "exit codes: 0 clean, 1 findings at level error, 2 usage or I/O, 3 a bug in trainc.",
            "",
        ]
    )


def _row(name: str, width: int, summary: str) -> str:
    """A command with the first sentence of what it is for, folded."""
    from textwrap import fill  # noqa: PLC0415 (for --help alone)

    sentence = " ".join(summary.split()).partition(". ")[0].removesuffix(".")
    return fill(f"{name:<{width}}  {sentence}.", 120, initial_indent="  ", subsequent_indent=" " * (width + 4))
