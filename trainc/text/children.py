"""Processes that this one starts."""

import os
import signal


def wait_for_children() -> None:
    """Let this process learn how its children end, also where whoever started it ignores that for itself."""
    if os.name == "posix" and signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
