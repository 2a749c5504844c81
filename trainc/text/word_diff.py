"""What differs between two long texts, word by word, for a line that shows both."""

from collections.abc import Sequence

from trainc.text.line_diff import LineMatcher

_AROUND = 3  # equal words that are shown on each side of a difference
_PLACES = 4  # differences that are shown
_BEFORE = 20  # equal characters that are shown before a difference inside a long word
_GAP = "..."
_BLANK = "\u2423"  # a blank, where the number of blanks is what differs


def differing(old: str, new: str, room: int) -> tuple[str, str]:
    """Two texts, each on one line: whole where both have at most `room` characters, else the words that differ and their neighbors."""
    flat_old, flat_new = old.replace("\n", " "), new.replace("\n", " ")
    if flat_old == flat_new and old != new:  # only line breaks differ
        flat_old, flat_new = old.replace("\n", " \\n "), new.replace("\n", " \\n ")
    if max(len(flat_old), len(flat_new)) <= room or not old or not new:
        return _cut(flat_old, room), _cut(flat_new, room)
    before, after = flat_old.split(), flat_new.split()
    if before == after:  # only the number of blanks differs
        before, after = flat_old.split(" "), flat_new.split(" ")
        before, after = ([word or _BLANK for word in words] for words in (before, after))
    left: list[str] = []
    right: list[str] = []
    places = 0
    for tag, start, end, other, other_end in LineMatcher(before, after).get_opcodes():
        if tag == "equal":
            kept = _neighbors(before[start:end], is_first=start == 0, is_last=end == len(before))
            left += kept
            right += kept
        elif places == _PLACES:
            left.append(_GAP)
            right.append(_GAP)
            break
        else:
            places += 1
            was, now = _long_words(" ".join(before[start:end]), " ".join(after[other:other_end]), room)
            left.append(was)
            right.append(now)
    return " ".join(filter(None, left)), " ".join(filter(None, right))


def _neighbors(words: Sequence[str], *, is_first: bool, is_last: bool) -> list[str]:
    """Of equal words, those beside a difference."""
    head = 0 if is_first else _AROUND
    tail = 0 if is_last else _AROUND
    if len(words) <= head + tail:
        return list(words)
    return [*words[:head], _GAP, *words[len(words) - tail :]]


def _long_words(was: str, now: str, room: int) -> tuple[str, str]:
    """Both sides of a difference; where they are too long, from a little before the first character that differs."""
    if max(len(was), len(now)) <= room:
        return was, now
    first = next(
        (at for at, (left, right) in enumerate(zip(was, now, strict=False)) if left != right), min(len(was), len(now))
    )
    start = max(0, first - _BEFORE)
    lead = _GAP if start else ""
    return _cut(lead + was[start:], room), _cut(lead + now[start:], room)


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[: room - len(_GAP)]}{_GAP}"
