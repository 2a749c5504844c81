"""Trouble that is not a mistake in a spec: bad usage, files that cannot be read or written."""


class Trouble(Exception):  # noqa: N818 (it is what the command line calls it)
    """Ends the run with its exit code, 2 unless a kind of trouble says otherwise; its text says what to do about it."""

    code = 2


class Inapplicable(Trouble):
    """A project has nothing of what was asked for; another one of the same call may have it."""


class Reaching:
    """Within it, what the system says about a file or a stream is Trouble with the name that people know it by."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        """Nothing is held."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: object) -> None:
        if isinstance(error, OSError):
            raise Trouble(f"{near(self._name)}: {error.strerror or error}") from error


def near(file: str) -> str:
    """A file's name as it is found from here; the whole name of one that lies elsewhere."""
    import os  # noqa: PLC0415 (only where something cannot be read or written)

    try:
        name = os.path.relpath(file)
    except OSError:
        return file  # the working directory is gone
    return file if name.startswith(os.pardir) else name
