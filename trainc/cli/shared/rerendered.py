"""What `--rerender` says of the runs that it gives a new rendering."""

from __future__ import annotations

_FEW = 5  # runs named in one line


def rerendered(runs: list[str], *, written: bool) -> str:
    """What `--rerender` means for runs that cannot change any more where they have been created."""
    shown = ", ".join(f"`{name}`" for name in sorted(runs)[:_FEW])
    more = f" and {len(runs) - _FEW} more" if len(runs) > _FEW else ""
    one = len(runs) == 1
    verb = ("gets" if one else "get") if written else "would get"
    return (
        f"--rerender: {'run' if one else 'runs'} {shown}{more} {verb} a new rendering; if never applied, "
        f"{'it starts' if one else 'they start'} with it; a server that has created {'it' if one else 'them'} refuses it"
    )
