"""Trouble that is no mistake in a spec: bad usage, files that cannot be read or written."""

from __future__ import annotations


class Trouble(Exception):  # noqa: N818 (it is what the command line calls it)
    """Ends the run with its exit code, 2 unless a kind of trouble says otherwise; its text says what to do about it."""

    code = 2
