"""`trainc build` and `trainc validate`, with what an earlier run left behind where they read folders."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.cli.options import Options


def build(options: Options) -> int:
    """`trainc build`: compile, and write or compare."""
    if any(options.has(word) for word in ("check", "output", "write")) and _reads_folders(options):
        from trainc.cli.incremental import remembered  # noqa: PLC0415 (each command loads what it needs)

        return remembered("build", options)
    from trainc.cli.build import build as compiled  # noqa: PLC0415

    return compiled(options)


def validate(options: Options) -> int:
    """`trainc validate`: compile, and report."""
    if _reads_folders(options):
        from trainc.cli.incremental import remembered  # noqa: PLC0415

        return remembered("validate", options)
    from trainc.cli.build import validate as judged  # noqa: PLC0415

    return judged(options)


def _reads_folders(options: Options) -> bool:
    """Whether a run may be worth remembering: it reads folders, and nobody asked for one that relies on nothing."""
    folders = options.has("whole_project") or any(os.path.isdir(path) for path in options.arguments or ["."])
    return folders and not options.has("no_cache")
