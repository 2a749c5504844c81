"""argv -> pipeline -> report: the one place that prints, and that turns verdicts into exit codes.

Words come in; text, files and an exit code go out. What it says is worked out elsewhere.
"""

import gc
import sys
from collections.abc import Sequence
from typing import Never

from trainc.cli.options import Command
from trainc.cli.process import (
    BUG,
    CLEAN,
    INTERRUPTED,
    READER_GONE,
    RUNS,
    TROUBLE,
    Orderly,
    ended,
    in_utf8,
    open_streams,
)


def program() -> Never:
    """`trainc` as a program of its own: `main`, in a process that ends without tidying up after itself."""
    code = TROUBLE
    in_utf8()
    try:
        gc.set_threshold(100_000, 20, 50)  # trees are many objects, and hardly any of them is part of a cycle
        Orderly.alone = True
        open_streams()
        code = main()
        sys.stderr.flush()
    except BrokenPipeError:
        code = READER_GONE
    except OSError:
        code = TROUBLE  # standard error takes nothing: nobody can be told
    except KeyboardInterrupt:
        code = INTERRUPTED
    ended(code)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code: 0 clean, 1 findings, 2 usage or I/O, 3 a bug in trainc.

    130 stands for a run that was interrupted, 141 for one whose reader has gone, as a shell has them.
    """
    from trainc.text.trouble import Trouble, near  # noqa: PLC0415

    words = list(sys.argv[1:] if argv is None else argv)
    if sys.platform == "win32":
        return _failed("trainc runs on Linux and macOS; on Windows, run it in WSL or in a container", TROUBLE)
    RUNS.clear()
    try:
        code = _dispatch(words)
        if any(run.broke for run in RUNS):
            code = BUG
            for run in RUNS:
                run.tell_findings()
        sys.stdout.flush()
    except Trouble as trouble:
        return _failed(str(trouble), trouble.code)
    except BrokenPipeError:
        return READER_GONE
    except OSError as error:
        if isinstance(error, FileNotFoundError) and not _is_here():
            return _failed("the working directory no longer exists; change to another one", TROUBLE)
        # Every file has its name in the error; what has none is the stream that was written to.
        name = near(error.filename) if isinstance(error.filename, str) else "standard output"
        return _failed(f"{name}: {error.strerror or error}", TROUBLE)
    except KeyboardInterrupt:
        return _failed("interrupted", INTERRUPTED)
    except Exception as error:  # noqa: BLE001 (the last line of defence: a bug is told in one line)
        return _bug(error)
    return code


def _is_here() -> bool:
    import os  # noqa: PLC0415 (only where something is not found)

    try:
        os.getcwd()
    except OSError:
        return False
    return True


def _failed(line: str, code: int) -> int:
    from trainc.cli.output import tell  # noqa: PLC0415 (most runs have no trouble)

    tell(f"trainc: {line}")
    return code


def _bug(error: Exception) -> int:
    import traceback  # noqa: PLC0415 (only where something broke)

    from trainc.cli.output import tell  # noqa: PLC0415
    from trainc.model.internal_error import bug_text  # noqa: PLC0415

    for run in RUNS:
        run.tell_findings()  # what was found before
    tell(
        f"trainc: {bug_text(error)}",
        "trainc: please report it with the command, `trainc --version` and the file it happened on; "
        "TRAINC_TRACEBACK=1 shows more",
    )
    import os  # noqa: PLC0415

    if os.environ.get("TRAINC_TRACEBACK"):
        tell(*"".join(traceback.format_exception(error)).splitlines())
    return BUG


def _dispatch(words: list[str]) -> int:
    from trainc.cli.options import help_text, overview, parse  # noqa: PLC0415
    from trainc.cli.output import answer, data, tell  # noqa: PLC0415

    if not words:
        from trainc.cli.next_steps import next_steps  # noqa: PLC0415 (a command line has its own)

        return next_steps()
    if words[0] in ("-h", "--help", "--help-all", "help"):
        if topic := next((word for word in words[1:] if not word.startswith("-")), ""):
            answer(*help_text(_command(topic), is_full="--help-all" in words).splitlines())
        else:
            from trainc.cli.commands import COMMANDS  # noqa: PLC0415

            answer(*overview(COMMANDS).splitlines())
        return CLEAN
    if words[0] in ("-V", "--version"):
        from trainc import __version__  # noqa: PLC0415

        data(f"trainc {__version__}\n")
        return CLEAN
    command = _command(words[0])
    own = words[: words.index("--")] if "--" in words else words
    if any(word in own for word in ("-h", "--help", "--help-all")):
        answer(*help_text(command, is_full="--help-all" in own).splitlines())
        return CLEAN
    options = parse(command, words[1:])
    tell(*(f"trainc: {sentence}" for sentence in options.deprecated))
    if command.name in ("build", "validate"):
        from trainc.cli.caching import is_cacheable  # noqa: PLC0415 (no other command keeps results)

        if is_cacheable(command.name, options):
            from trainc.cli.caching.run_cache import run_cached  # noqa: PLC0415

            return run_cached(command.name, command.run, options)
    return command.run(options)


def _command(name: str) -> Command:
    from trainc.cli.commands import COMMANDS  # noqa: PLC0415 (--version needs none of it)

    command = COMMANDS.get(name)
    if command is None:
        from trainc.text.spelling import meant  # noqa: PLC0415
        from trainc.text.trouble import Trouble  # noqa: PLC0415

        raise Trouble(f"unknown command `{name}`; {meant(name, COMMANDS, 'see trainc --help')}")
    return command
