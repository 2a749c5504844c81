"""Builds the documentation: the pages of this folder, and those of rules, fields and commands, which trainc itself writes.

    python docs/site.py build/site

Links between pages are relative, and search works from the files alone. Files outside of this folder (examples, the README)
are not part of the site: links to them become plain text.
"""

import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from textwrap import dedent

from sphinx.cmd.build import build_main

from trainc.apiserver import shipped
from trainc.authoring.explain import ANNOTATIONS, Field, root_of, sample
from trainc.cli.commands import COMMANDS
from trainc.cli.options import GROUPS, Command, Option
from trainc.lint.catalogue import Category, categories, examples, facts_of, rules, summary_of
from trainc.model.finding import Rule

HERE = Path(__file__).parent
ACCESSIBLE = {  # what axe-core misses in the theme: levels of headings, and blocks that a keyboard can scroll
    '<p class="caption" role="heading">': '<p class="caption" role="heading" aria-level="2">',
    "<pre>": '<pre tabindex="0">',
}
ORPHAN = "---\norphan: true\n---\n\n"  # hundreds of entries in the navigation of each page would make the site ten times as large


def main(target: str, most: int | None = None) -> int:
    """Write all pages into a scratch folder and build them; Sphinx's exit code. `most` rules and kinds, for a trial."""
    with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryDirectory() as doctrees:
        source = Path(scratch)
        copy_pages(source)
        for path, text in generated(most):
            page = source / path
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(text, "utf-8")
        code = int(build_main(["-q", "-W", "--keep-going", "-b", "html", "-d", doctrees, scratch, target]))
    for built in Path(target).rglob("*.html"):
        text = built.read_text("utf-8")
        for tag, accessible in ACCESSIBLE.items():
            text = text.replace(tag, accessible)
        built.write_text(text, "utf-8")
    return code


def copy_pages(source: Path) -> None:
    """The written pages; what they link to outside of this folder is named, not linked."""
    shutil.copy(HERE / "conf.py", source / "conf.py")
    for folder in ("images", "_templates"):
        shutil.copytree(HERE / folder, source / folder)
    for path in HERE.rglob("*.md"):
        page = source / path.relative_to(HERE)
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(tabs(unlinked(path, path.read_text("utf-8"))), "utf-8")


def unlinked(path: Path, text: str) -> str:
    """A page without links that lead out of the site."""

    def plain(found: re.Match[str]) -> str:
        target = found[2].partition("#")[0]
        inside = (path.parent / target).resolve().is_relative_to(HERE.resolve())
        return found[0] if inside or "://" in target else found[1]

    return re.sub(r"\[([^\]]+)\]\(([^)]+)\)", plain, text)


def summary(text: str) -> str:
    """The help of a command, in which indented lines are a command line."""
    parts = [
        fenced("sh", dedent(part)).rstrip("\n") if part.startswith("  ") else cell(part) for part in text.split("\n\n")
    ]
    return "\n\n".join(parts)


def tabs(text: str) -> str:
    """A page whose sections between `<!-- tabs -->` and `<!-- end of tabs -->` are tabs; elsewhere they are read as sections."""

    def tab_set(found: re.Match[str]) -> str:
        _, *sections = re.split(r"^## (.+)\n", found[1], flags=re.MULTILINE)
        items = [
            f":::{{tab-item}} {name}\n:name: {re.sub('[^a-z0-9]+', '-', name.lower())}\n{content}:::\n"
            for name, content in zip(sections[::2], sections[1::2], strict=True)
        ]
        return f"::::{{tab-set}}\n{''.join(items)}::::\n"

    return re.sub(r"<!-- tabs -->\n(.*?)<!-- end of tabs -->\n", tab_set, text, flags=re.DOTALL)


def generated(most: int | None = None) -> Iterator[tuple[str, str]]:
    """The path and the text of every page that is made from the program."""
    yield "commands/index.md", commands_page()
    every = {rule.name: rule for rule in rules()}
    yield "rules/index.md", rules_index(every, most)
    for word, category in categories().items():
        yield f"rules/{word}.md", category_page(category, [every[name] for name in category.rules[:most]])
    kinds = [(page_of(kind), root_of(kind)) for kind in shipped.listed()[:most]]
    yield "fields/index.md", fields_index(kinds)
    for name, root in kinds:
        yield f"fields/{name}.md", fields_page(root)


def commands_page() -> str:
    """Every command by group: what it is for, its options and examples."""
    parts = ["# Commands\n"]
    for group, names in GROUPS.items():
        parts += [f"## {group.capitalize()}\n", *(command_section(COMMANDS[name]) for name in names)]
    return "\n".join(parts)


def command_section(command: Command) -> str:
    """One command. Options are a list, which a narrow screen can fold."""
    usage = f"trainc {command.name} {command.arguments}".rstrip()
    text = f"### trainc {command.name}\n\n{fenced('text', usage)}\n{summary(command.summary)}\n"
    options = [one for one in command.options if not one.instead]
    if options:
        rows = [f"* {option_names(one)}: {cell(one.help)}" for one in options]
        text += "\nOptions:\n\n" + "\n".join(rows) + "\n"
    examples = "\n".join(command.examples)
    return text + (f"\nExamples:\n\n{fenced('sh', examples)}" if examples else "")


def option_names(option: Option) -> str:
    """The spellings of an option, and what it takes."""
    value = f" {option.value}" if option.value else ""
    return ", ".join(f"`{name}{value}`" for name in option.names)


def rules_index(every: Mapping[str, Rule], most: int | None) -> str:
    """All rules by category."""
    text = "# Rules\n\nA finding names its rule in brackets. `--select`, `--ignore` and `rules:` in trainc.yaml take rules and categories.\n"
    for word, category in categories().items():
        rows = [
            f"| [{name}]({word}.md#{name}) | {every[name].level} | {cell(every[name].summary)} |"
            for name in category.rules[:most]
        ]
        table = "\n".join(["| rule | level | finds |", "|---|---|---|", *rows])
        text += f"\n## {category.title} (`{word}`)\n\n{category.about}\n\n{table}\n"
    return text + "\n```{toctree}\n:hidden:\n\n" + "\n".join(categories()) + "\n```\n"


def category_page(category: Category, chosen: Iterable[Rule]) -> str:
    """The rules of one category."""
    return f"# {category.title} rules\n\n{category.about}\n\n" + "\n".join(map(rule_section, chosen))


def rule_section(rule: Rule) -> str:
    """One rule: its reason, its facts, and the smallest inputs that fail and pass."""
    facts = "\n".join(f"* {word}: {value}" for word, value in {"level": rule.level, **facts_of(rule)}.items())
    text = f"## {rule.name}\n\n{summary_of(rule)} {rule.why}\n\n{facts}\n"
    example = examples().get(rule.name)
    if example is None:
        return text
    text += f"\nFails:\n\n{fenced('yaml', example.fails)}\n{fenced('text', example.says)}"
    return text + (f"\nPasses:\n\n{fenced('yaml', example.passes)}" if example.passes else "")


def page_of(kind: shipped.Shipped) -> str:
    """The name of a kind's page: kinds of one name differ in their group or version."""
    return f"{kind.kind.lower()}-{kind.group.replace('.', '-')}-{kind.version}"


def fields_index(kinds: list[tuple[str, Field]]) -> str:
    """All kinds, and the annotations."""
    rows = [
        f"| [{root.kind.kind}]({name}.md) | {root.kind.group}/{root.kind.version} | {cell(root.about)} |"
        for name, root in kinds
    ]
    table = "\n".join(["| kind | group and version | what it is |", "|---|---|---|", *rows])
    notes = "\n".join(f"| `{name}: {value}` | {about} |" for name, (value, about) in ANNOTATIONS.items())
    return f"# Fields\n\n{table}\n\n## Annotations of a job\n\n| annotation | what it says |\n|---|---|\n{notes}\n"


def fields_page(root: Field) -> str:
    """Every field of a kind but for those inside of Kubernetes' own shapes."""
    parts = [
        f"{ORPHAN}# {root.kind.kind} ({root.kind.group}/{root.kind.version})\n\n{root.about}\n\nRead in: {root.since}\n"
    ]
    parts += [field_part(field) for field in below(root)]
    return "\n".join(parts)


def below(field: Field) -> Iterator[Field]:
    """The fields below one, in the order of the schema."""
    for _, child in field.children():
        if not child.is_foreign:
            yield child
            yield from below(child)


def field_part(field: Field) -> str:
    """One field as `trainc explain` has it."""
    facts = [f"* type: {field.type}"]
    facts += [f"* default: `{field.default}`"] if field.default is not None else []
    facts += [f"* {cell(bound)}" for bound in field.bounds()]
    return f"## {'.'.join(field.path)}\n\n{field.about}\n\n" + "\n".join(facts) + f"\n\n{fenced('yaml', sample(field))}"


def fenced(language: str, text: str) -> str:
    """A block of code."""
    return f"````{language}\n{text.rstrip()}\n````\n"


def cell(text: str) -> str:
    """A text for a table or a list, where `|`, `<`, `{` and `*` would mean something."""
    parts = text.split("`")  # what stands between two is code
    return "`".join(part if at % 2 else re.sub(r"([|<{*\\])", r"\\\1", part) for at, part in enumerate(parts))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
