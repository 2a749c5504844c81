"""What surrounds a run: standard streams that somebody closed, signals, and an end that whoever started it understands."""

import os
import sys
from io import TextIOWrapper
from typing import Any, Never, Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

SIGNALLED = 128  # a shell adds this to the number of the signal that ended a program
CLEAN, FOUND, TROUBLE, BUG = 0, 1, 2, 3  # exit codes
_STOPPING = ("SIGINT", "SIGTERM", "SIGHUP")
INTERRUPTED, READER_GONE = SIGNALLED + 2, SIGNALLED + 13  # SIGINT, SIGPIPE


def in_utf8() -> None:
    """Start again where the locale has names of files in another encoding: Git, manifests and trainc.yaml have UTF-8."""
    if sys.getfilesystemencoding() != "utf-8" and sys.executable:
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606 (the same program)


def open_streams() -> None:
    """Give each standard stream that is closed its number back, so that no file opened later is taken for it.

    A closed input cannot be read and a closed output not be written, which counts where somebody tries. What would
    go to a closed standard error goes nowhere: nobody wants to hear it.
    """
    if sys.stdin is None:
        sys.stdin = open(_held(0, os.O_WRONLY), encoding="utf-8")  # noqa: SIM115 (open as long as the program runs)
    if sys.stdout is None:
        sys.stdout = open(_held(1, os.O_RDONLY), "w", encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(_held(2, os.O_WRONLY), "w", encoding="utf-8")  # noqa: SIM115
    if isinstance(sys.stdout, TextIOWrapper) and sys.stdout.encoding != "utf-8":
        sys.stdout.reconfigure(encoding="utf-8", errors="strict", newline="\n")  # manifests are, in every locale


def _held(number: int, access: int) -> int:
    """The number of a standard stream, open for this access to nothing."""
    opened = os.open(os.devnull, access)
    if opened != number:
        os.dup2(opened, number)
        os.close(opened)
    return number


def ended(code: int) -> Never:
    """End the process without tidying up; what a signal ended lets go of what it holds, and says so, as shells ask.

    The first process of a container cannot end itself by a signal: it has the code alone.
    """
    if code > SIGNALLED and os.name == "posix":
        import atexit  # noqa: PLC0415 (hardly any run ends so)
        import signal  # noqa: PLC0415 (it loads nine modules, which take longer than the work on one file)

        for name in _STOPPING:
            signal.signal(getattr(signal, name), signal.SIG_IGN)
        atexit._run_exitfuncs()  # noqa: SLF001 (what the interpreter does at its own end)
        signal.signal(code - SIGNALLED, signal.SIG_DFL)
        os.kill(os.getpid(), code - SIGNALLED)
    os._exit(code)


class Run(Protocol):
    """A run of the compiler in this process, as the end of the program sees it."""

    @property
    def broke(self) -> bool:
        """Whether a mistake in trainc kept something from being judged."""

    def tell_findings(self) -> None:
        """Print what was found, unless that has been done."""


RUNS: list[Run] = []  # of the present command line


class Orderly:
    """While it lasts, being told to stop ends the program at once, with what has to be done at its end.

    That is left to `atexit`: an exception that a signal raises may come where nobody can pass it on. Where trainc is
    a part of another program, what interrupts that one stays its own.
    """

    alone = False  # whether this process is trainc and nothing else

    def __init__(self) -> None:
        self._before: dict[int, Any] = {}

    def __enter__(self) -> None:
        if not self.alone or os.name != "posix":
            return
        import signal  # noqa: PLC0415 (as above)

        for name in _STOPPING:
            number = getattr(signal, name)
            if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
                self._before[number] = signal.signal(number, _stop)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: object) -> None:
        if self._before:
            import signal  # noqa: PLC0415 (as above)

            for number, before in self._before.items():
                signal.signal(number, before)


def _stop(number: int, _: "FrameType | None") -> Never:
    if number == INTERRUPTED - SIGNALLED:
        try:  # noqa: SIM105 (`contextlib` brings five modules along, at every start)
            os.write(2, b"trainc: interrupted\n")
        except OSError:
            pass
    ended(SIGNALLED + number)
