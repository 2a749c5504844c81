"""The documentation builds without a warning, every link leads to a page, and every command on a page is one."""

import json
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.compiling import ROOT
from trainc.cli.commands import COMMANDS
from trainc.cli.options import GROUPS, parse
from trainc.lint.catalogue import categories, rules

pytestmark = pytest.mark.slow

PAGES = sorted((ROOT / "docs").rglob("*.md"))
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]


def build(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    text = (
        "import importlib.util, pathlib, sys\n"
        f"spec = importlib.util.spec_from_file_location('pages', {str(ROOT / 'docs/site.py')!r})\n"
        "pages = importlib.util.module_from_spec(spec); spec.loader.exec_module(pages)\n"
        f"target = pathlib.Path({str(folder)!r})\n"
    )
    return subprocess.run([sys.executable, "-c", text + script], check=False, cwd=ROOT, capture_output=True, text=True)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every written page of the site as Sphinx gets it, and a few of those that are made for rules and kinds."""
    folder = tmp_path_factory.mktemp("site")
    script = """
pages.copy_pages(target)
for path, text in pages.generated(4):
    page = target / path
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(text, "utf-8")
"""
    done = build(folder, script)
    assert done.returncode == 0, done.stderr
    return folder


def test_a_site_of_all_written_pages_builds_without_a_warning(tmp_path: Path) -> None:
    done = build(tmp_path, "sys.exit(pages.main(str(target), 4))")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    index = (tmp_path / "index.html").read_text("utf-8")
    assert "search.html" in index
    assert (tmp_path / "searchindex.js").stat().st_size > 10_000
    assert not re.search(r'(?:href|src)="https?://(?!www\.sphinx-doc|github\.com/pradyunsg/furo|pradyunsg\.me)', index)


def test_versions_are_published_side_by_side(tmp_path: Path) -> None:
    publish = runpy.run_path(str(ROOT / "docs/publish.py"))["publish"]
    site, pages = tmp_path / "site", tmp_path / "pages"
    (site / "_static").mkdir(parents=True)
    pages.mkdir()
    for version in ("0.9.0", "0.10.0", "0.9.1"):
        (site / "page.html").write_text(version)
        versions = publish(site, pages, version)
    assert versions == json.loads((pages / "versions.json").read_text("utf-8")) == ["0.10", "0.9"]
    assert [(pages / name / "page.html").read_text() for name in versions] == ["0.10.0", "0.9.1"]
    assert "url=0.10/" in (pages / "index.html").read_text("utf-8")


def test_sections_between_marks_are_tabs() -> None:
    tabs = runpy.run_path(str(ROOT / "docs/site.py"))["tabs"]
    page = "# Frameworks\n<!-- tabs -->\n## MPI, any program\none\n## JAX\ntwo\n<!-- end of tabs -->\n## Next\n"
    assert tabs(page).splitlines() == [
        "# Frameworks",
        "::::{tab-set}",
        ":::{tab-item} MPI, any program",
        ":name: mpi-any-program",
        "one",
        ":::",
        ":::{tab-item} JAX",
        ":name: jax",
        "two",
        ":::",
        "::::",
        "## Next",
    ]


def test_rules_fields_and_commands_have_pages(source: Path) -> None:
    every = {rule.name: rule for rule in rules()}
    for word, category in categories().items():
        page = (source / f"rules/{word}.md").read_text("utf-8")
        for name in category.rules[:4]:
            assert f"## {name}\n" in page
            assert every[name].why in page
    fields = [path for path in (source / "fields").glob("*.md") if path.name != "index.md"]
    assert len(fields) == 4
    assert all(len(re.findall("^## ", path.read_text("utf-8"), re.MULTILINE)) > 20 for path in fields)
    commands = (source / "commands/index.md").read_text("utf-8")
    assert all(f"### trainc {name}\n" in commands for names in GROUPS.values() for name in names)


def test_every_link_leads_to_a_page(source: Path) -> None:
    missing = []
    for page in source.rglob("*.md"):
        text = re.sub(r"^(`{3,}).*?^\1", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", re.sub("`[^`\n]*`", "", text)):
            if "://" not in target and not (page.parent / target).is_file():
                missing.append((page.name, target))
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_links_of_the_files_lead_to_files(page: Path) -> None:
    generated = {"rules", "fields", "commands"}
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
        assert target.split("/")[0] in generated or (page.parent / target).exists(), target


def shown(page: Path) -> Iterator[str]:
    """The command lines of trainc in the blocks of a page."""
    text = page.read_text("utf-8").replace("\\\n", " ")
    for block in re.findall(r"^```(?:sh|console)\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        for line in block.splitlines():
            found = re.match(r"(?:\$ )?(?:.*[|&] )?(trainc .*)", line)
            if found:
                yield re.split(r" (?:\||>|2>|&&|#|<) ?", found[1])[0]


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=["README.md", *NAMES])
def test_every_command_on_a_page_is_one(page: Path) -> None:
    """Sessions are run by tests/test_docs.py; of what needs a cluster or a pull request, the words are parsed."""
    for line in shown(page):
        words = shlex.split(line)
        if len(words) > 1 and words[1] not in ("--help", "--version", "COMMAND"):
            assert words[1] in COMMANDS, line
            parse(COMMANDS[words[1]], words[2:])
