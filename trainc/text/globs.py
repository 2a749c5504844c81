"""Which files the globs of trainc.yaml mean."""

import re
from collections.abc import Callable
from fnmatch import translate
from typing import Final

from trainc.text.memo import Memo


def holds(glob: str, file: str) -> bool:
    """Whether a glob means a file, or a folder that it lies in, at any depth; `*` stands for `/` as well."""
    return matching((glob,))(file) is not None


def matching(globs: tuple[str, ...]) -> Callable[[str], object]:
    """What gives None for a file that none of some globs means."""
    return _PATTERNS[globs].match


def _pattern(globs: tuple[str, ...]) -> re.Pattern[str]:
    names = [_closed(glob.rstrip("/").removeprefix("./")) for glob in globs]
    means = [form for name in names for form in (("*",) if name == "." else (name, f"{name}/*"))]
    return re.compile("|".join(map(translate, means)) or "(?!)")


def _closed(glob: str) -> str:
    """The glob with each `[` that nothing closes as a list of its own: `translate` would look for the end of each anew."""
    at = 0
    while (at := glob.find("[", at)) >= 0:
        inner = at + 1
        inner += glob.startswith("!", inner)
        inner += glob.startswith("]", inner)
        end = glob.find("]", inner)
        if end < 0:
            return glob[:at] + glob[at:].replace("[", "[[]")
        at = end + 1
    return glob


_PATTERNS: Final = Memo(_pattern)
