"""The page in headless Chromium: opened at two widths, clicked, searched, and walked with the keyboard alone."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.compiling import ROOT, compile_in
from tests.report.page.browser import Browser
from tests.report.page.pages import HOSTILE
from tests.repository import Repository, job

pytestmark = pytest.mark.slow

WIDTHS = [1280, 400]
TITLE = "return document.querySelector('h1').textContent"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    browser = Browser(tmp_path_factory.mktemp("browser"))
    yield browser
    browser.stop()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("platform")
    shutil.copytree(ROOT / "examples/platform", folder / "a")
    assert compile_in(folder / "a", "show", "--report", "html", "-o", "page.html").code == 0
    return folder / "a/page.html"


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("view", ["jobs", "jobs/team", "job/0/0", "runtimes", "runtimes/0/6", "findings", "capacity"])
def test_every_view_is_drawn_and_fits(browser: Browser, page: Path, view: str, width: int) -> None:
    browser.open(page, width, f"/{view}")
    assert browser.run(TITLE) not in {"", "Not here"}
    assert browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    assert browser.errors() == []


def test_a_job_and_its_fields_open_on_click(browser: Browser, page: Path) -> None:
    browser.open(page, 1280)
    browser.click("tbody a")
    browser.wait(f"{TITLE} === 'llm/base-13b'")
    assert browser.run("return document.activeElement.tagName") == "H1"
    assert browser.run("return document.querySelectorAll('svg .pod, svg .first').length") == 16
    restarts = (
        "[...document.querySelectorAll('.manifest button')].find((one) => one.textContent.includes('maxRestarts'))"
    )
    browser.run(f"{restarts}.click()")
    panel = browser.run(f"return {restarts}.nextElementSibling.textContent")
    assert "set by components (maintenance-safe) at runtimes/llm.yaml:10:24" in panel
    assert "with: {restarts: 10}" in panel
    assert (
        "It takes precedence over:components (maintenance-safe): 3 at runtimes/components/maintenance-safe.yaml"
        in panel
    )
    browser.run(f"{restarts}.click()")
    assert browser.run(f"return {restarts}.nextElementSibling") is None


def test_the_search_finds_jobs_runtimes_and_images(browser: Browser, page: Path) -> None:
    browser.open(page, 1280)
    browser.click("#search")
    browser.press("ocr")
    browser.wait(f"{TITLE} === 'Search: ocr'")
    assert browser.run("return document.getElementById('status').textContent") == "2 jobs found"
    assert browser.run("return document.activeElement.id") == "search"
    browser.press(" eu")
    browser.wait("return document.getElementById('status').textContent === '1 job found'")


def test_the_keyboard_alone_is_enough(browser: Browser, page: Path) -> None:
    browser.open(page, 1280)
    browser.press("Tab", "Enter", "Tab", "Tab", "Tab", "Enter")  # past the links above, to the first group's first job
    browser.wait(f"{TITLE} === 'llm/base-13b'")
    for _ in range(40):
        if browser.run("return document.activeElement.closest('.manifest') !== null"):
            break
        browser.press("Tab")
    browser.press("ArrowDown", "Enter")
    assert browser.run("return document.activeElement.getAttribute('aria-expanded')") == "true"
    assert browser.run("return document.activeElement.textContent").startswith("kind: Service")
    browser.press("End")
    assert browser.run("return document.activeElement.textContent").startswith("jobset.sigs.k8s.io/jobset-name")


def test_manifests_read_as_the_rendered_file(browser: Browser, page: Path) -> None:
    """Each line of the page is a line of YAML: together they are what `trainc build` prints, but for quotes."""
    browser.open(page, 1280, "/job/0/0")
    lines = browser.run(
        "return [...document.querySelectorAll('.manifest .text')].map("
        "(line) => ' '.repeat(line.style.getPropertyValue('--indent')) + line.textContent)"
    )
    expected = (page.parent / "output/eu/llm/base-13b.yaml").read_text("utf-8")
    assert plain("\n".join(lines)) == plain("\n".join(line for line in expected.split("\n")[1:] if line != "---"))


def plain(text: str) -> list[str]:
    """The lines of a text without quotes and, in texts of several lines, without indentation."""
    out, block = [], False
    for line in text.strip().split("\n"):
        block = block and not line.strip().endswith(":") and ("- path" in line or line.strip()[:1] in "[]{")
        out.append((line.strip() if block else line).replace('"', "").replace("\\", ""))
        block = block or line.endswith("|")
    return out


def test_a_job_that_is_not_compiled_leads_to_its_finding(browser: Browser, tmp_path: Path) -> None:
    repository = Repository(tmp_path, "good")
    repository.write("jobs/bad.yaml", job("bad").replace("numNodes", "numNode"))
    assert compile_in(tmp_path, "show", "--report", "html", "-o", "page.html").code == 1
    browser.open(tmp_path / "page.html", 1280, "/jobs")
    assert "jobs/bad.yaml:10" in browser.run("return document.querySelector('.grave').textContent")
    browser.click(".grave a")
    browser.wait(f"{TITLE} === 'Findings'")
    assert browser.run("return document.querySelector('mark').textContent") == "numNode"
    assert browser.errors() == []


def test_names_of_strangers_do_not_run(browser: Browser, tmp_path: Path) -> None:
    repository = Repository(tmp_path, "good")
    repository.write("jobs/bad.yaml", job(f"'{HOSTILE}'"))
    assert compile_in(tmp_path, "show", "--report", "html", "-o", "page.html").code == 1
    for view in ("jobs", "findings", "search/onerror"):
        browser.open(tmp_path / "page.html", 1280, f"/{view}")
        assert browser.run("return document.querySelectorAll('img').length") == 0
        assert HOSTILE in browser.run("return document.querySelector('main').textContent")
        assert browser.errors() == []
