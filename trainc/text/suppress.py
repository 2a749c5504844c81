"""`contextlib.suppress` alone: the modules that come with it take longer than a run with one changed file needs."""


class Suppress:
    """Within it, an error of one of these kinds ends the block, and nothing else."""

    __slots__ = ("_kinds",)

    def __init__(self, *kinds: type[BaseException]) -> None:
        self._kinds = kinds

    def __enter__(self) -> None:
        """Nothing is held."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: object) -> bool:
        return kind is not None and issubclass(kind, self._kinds)
