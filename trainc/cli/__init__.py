"""argv -> pipeline -> report: the one place that prints, and that turns verdicts into exit codes."""

from __future__ import annotations

import sys

from trainc.model.trouble import Trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

CLEAN, FOUND, TROUBLE, BUG = 0, 1, 2, 3


def program() -> int:
    """`trainc` as a program of its own: `main`, with a collector that looks for cycles less often.

    Hardly anything of ours is one. Looking through all modules while they load, and again when the process ends, takes
    a fifth of a small run.
    """
    import gc  # noqa: PLC0415 (whoever calls `main` from Python keeps their own settings)

    gc.set_threshold(20_000, 20, 50)
    code = main()
    gc.freeze()
    return code


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code: 0 clean, 1 findings, 2 usage or I/O, 3 a bug in trainc."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        return _dispatch(words)
    except Trouble as trouble:
        print(f"trainc: {trouble}", file=sys.stderr)
        return trouble.code
    except BrokenPipeError:
        # The reader has gone: nobody is left to tell.
        sys.stderr.close()
        return TROUBLE
    except KeyboardInterrupt:
        print("trainc: interrupted; nothing was written", file=sys.stderr)
        return TROUBLE
    except Exception as error:  # noqa: BLE001 (the last line of defence: a bug is told in one line)
        return _bug(error)


def _bug(error: Exception) -> int:
    import traceback  # noqa: PLC0415 (only where something broke)

    last = traceback.extract_tb(error.__traceback__)[-1]
    where = last.filename.replace("\\", "/").rpartition("/trainc/")[2]
    print(
        f"trainc: a bug in trainc, not in your files: {type(error).__name__} at {where}:{last.lineno}: {error}\n"
        "trainc: please report it with the command, `trainc --version` and the file it happened on; "
        "TRAINC_TRACEBACK=1 shows more",
        file=sys.stderr,
    )
    import os  # noqa: PLC0415

    if os.environ.get("TRAINC_TRACEBACK"):
        traceback.print_exception(error)
    return BUG


def _dispatch(words: list[str]) -> int:
    from trainc.cli.commands import COMMANDS, overview  # noqa: PLC0415 (--version needs none of it)
    from trainc.cli.options import help_text, parse  # noqa: PLC0415

    if not words or words[0] in ("-h", "--help", "help"):
        command = COMMANDS.get(words[1]) if len(words) > 1 else None
        print(help_text(command) if command else overview(), end="")
        return CLEAN if words else TROUBLE
    if words[0] in ("-V", "--version"):
        from trainc import __version__  # noqa: PLC0415

        print(f"trainc {__version__}")
        return CLEAN
    command = COMMANDS.get(words[0])
    if command is None:
        from trainc.model.spelling import meant  # noqa: PLC0415

        hint = meant(words[0], COMMANDS, "see trainc --help")
        raise Trouble(f"there is no command `{words[0]}`; {hint}")
    if "-h" in words or "--help" in words:
        print(help_text(command), end="")
        return CLEAN
    return command.run(parse(command, words[1:]))
