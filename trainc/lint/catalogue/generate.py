"""Takes each rule's example from its case: `python -m trainc.lint.catalogue.generate [ROOT]` writes them into a checkout.

Beside them it writes what is known of each rule by its name, for those who cannot load what declares it.

A rule's case is the smallest one whose findings name it; its passing input stands beside it in `passes/`.
"""

import json
import re
import sys
from functools import cache
from pathlib import Path

from trainc.lint.catalogue import entries, rules


def facts() -> str:
    """The text of `rules.json`: of each rule its category, whether it is a server's own verdict, and its words.

    Raises:
        KeyError: for a rule without an entry.
    """
    known: dict[str, dict[str, object]] = {}
    for rule in rules():
        entry = entries()[rule.name]
        words: dict[str, object] = {key: entry[key] for key in ("summary", "why") if key in entry}
        known[rule.name] = {"category": entry["category"], "verdict": rule.verdict, **words}
    lines = [f"{json.dumps(name)}: {json.dumps(entry, ensure_ascii=False)}" for name, entry in known.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def render(checkout: Path) -> str:
    """The text of `examples.json`."""
    known = cases(checkout)
    examples = {}
    for name, folder in [(rule.name, known[rule.name]) for rule in rules() if rule.name in known]:
        output = (folder / "expected" / "findings.txt").read_text("utf-8")
        blocks = [block for block in output.split("\n\n") if f"[{name}]" in block.partition("\n")[0]]
        beside = folder.parent / "passes"
        passes = _text(beside) if folder.name == "fails" and beside.is_dir() else ""
        examples[name] = (_text(folder), "\n\n".join(blocks).strip(), passes)
    return json.dumps(examples, indent=0, sort_keys=True, ensure_ascii=False) + "\n"


@cache
def cases(checkout: Path) -> dict[str, Path]:
    """By rule, the folder of its own case."""
    failing: dict[str, list[tuple[int, int, Path]]] = {}
    for findings in sorted(checkout.glob("tests/cases/**/expected/findings.txt")):
        folder = findings.parent.parent
        size = sum(path.stat().st_size for path in (folder / "input").rglob("*") if path.is_file())
        for name in set(
            re.findall(r"^(?:error|warning|note)\[([a-z0-9-]+)\]", findings.read_text("utf-8"), re.MULTILINE)
        ):
            own = name in {folder.parent.name, folder.name}
            rank = 0 if own and folder.name == "fails" else 1 if own else 2
            failing.setdefault(name, []).append((rank, size, folder))
    return {name: min(folders)[2] for name, folders in failing.items()}


def _text(folder: Path) -> str:
    files = sorted(path for path in (folder / "input").rglob("*") if path.is_file())
    texts = [path.read_text("utf-8", "replace") for path in files]
    if len(files) == 1:
        return texts[0]
    names = [path.relative_to(folder / "input").as_posix() for path in files]
    return "".join(f"# --- {name}\n{text}" for name, text in zip(names, texts, strict=True))


if __name__ == "__main__":
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    (root / "trainc/lint/catalogue/examples.json").write_text(render(root), encoding="utf-8", newline="\n")
    (root / "trainc/model/rules.json").write_text(facts(), encoding="utf-8", newline="\n")
