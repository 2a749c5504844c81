"""What clusters define is read once and kept by content: the same words from the cache as from the files, or none."""

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.compiling import ROOT, compile_in
from tests.repository import write
from trainc.cli.cache import FileCache, opened

CASES = ("unchecked-rule", "not-structural")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TRAINC_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def copied(case: str, folder: Path) -> Path:
    shutil.copytree(ROOT / "tests" / "cases" / "clusters" / case / "input", folder / "input")
    return folder / "input"


def said(folder: Path) -> tuple[int, str, str]:
    run = compile_in(folder, "build", "-v")
    return run.code, run.out, run.err


@pytest.mark.parametrize("case", CASES)
def test_the_same_words_from_the_cache(case: str, cache: Path, tmp_path: Path) -> None:
    folder = copied(case, tmp_path)
    first = said(folder)
    [entry] = cache.iterdir()
    assert said(folder) == first
    (folder / "clusters/lab/crds.yaml").rename(folder / "clusters/lab/dump.yaml")
    assert said(folder) == tuple(text.replace("crds", "dump") if type(text) is str else text for text in first)
    assert list(cache.iterdir()) == [entry]


def test_what_was_kept_is_not_read_again(cache: Path, tmp_path: Path) -> None:
    folder = copied("unchecked-rule", tmp_path)
    said(folder)
    [entry] = cache.iterdir()
    entry.write_text(entry.read_text("utf-8").replace("the rule is skipped", "kept words"), "utf-8")
    assert "kept words" in said(folder)[2]


def test_a_run_that_relies_on_nothing_reads_nothing_that_was_kept(cache: Path, tmp_path: Path) -> None:
    folder = copied("unchecked-rule", tmp_path)
    said(folder)
    [entry] = cache.iterdir()
    entry.write_text(entry.read_text("utf-8").replace("the rule is skipped", "kept words"), "utf-8")
    for command in ("build", "validate"):
        err = compile_in(folder, command, "-v", "--no-cache").err
        assert "the rule is skipped" in err
        assert "kept words" not in err


def test_an_edited_file_is_another_one(cache: Path, tmp_path: Path) -> None:
    folder = copied("unchecked-rule", tmp_path)
    said(folder)
    file = folder / "clusters/lab/crds.yaml"
    file.write_text(file.read_text("utf-8").replace("mlPolicy:", "policy:"), "utf-8")
    assert "unknown-field" in said(folder)[2]
    assert len(list(cache.iterdir())) == 2


@pytest.mark.parametrize("damage", [b"", b"no json", b"[]", b"[{}, [], []]", b"[1, 2]", b'[{"kinds": {}}, [[1]], []]'])
def test_a_damaged_entry_is_no_entry(damage: bytes, cache: Path, tmp_path: Path) -> None:
    folder = copied("unchecked-rule", tmp_path)
    first = said(folder)
    [entry] = cache.iterdir()
    kept = entry.read_bytes()
    entry.write_bytes(damage)
    assert said(folder) == first
    assert entry.read_bytes() == kept


@pytest.mark.parametrize("name", ["cache", "entry"])
def test_what_others_can_write_is_not_believed(name: str, cache: Path, tmp_path: Path) -> None:
    folder = copied("unchecked-rule", tmp_path)
    first = said(folder)
    [entry] = cache.iterdir()
    entry.write_text(entry.read_text("utf-8").replace("the rule is skipped", "kept words"), "utf-8")
    (cache if name == "cache" else entry).chmod(0o777)
    assert said(folder) == first


def test_broken_and_mixed_files_are_read_each_time(cache: Path, tmp_path: Path) -> None:
    folder = copied("unchecked-rule", tmp_path)
    file = folder / "clusters/lab/crds.yaml"
    queue = "---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: LocalQueue\nmetadata: {name: a, namespace: b}\n"
    whole = file.read_text("utf-8")
    file.write_text(whole + queue, "utf-8")
    first = said(folder)
    assert said(folder) == first
    file.write_text(whole.replace("scope: Cluster", "scope: Cluster\n  scope: Cluster"), "utf-8")
    broken = said(folder)
    assert "duplicate-key" in broken[2]
    assert said(folder) == broken
    assert not cache.exists()


@pytest.mark.parametrize("place", ["", "relative", "/dev/null", "/proc/trainc"])
def test_doing_without(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINC_CACHE_DIR", place)
    folder = copied("unchecked-rule", tmp_path)
    first = said(folder)
    assert first[0] == 1, "the rule is not judged"
    assert said(folder) == first
    assert [path.name for path in tmp_path.iterdir()] == ["input"]


def test_the_oldest_are_forgotten(tmp_path: Path) -> None:
    cache = FileCache(str(tmp_path / "cache"))
    keys = [f"{number:064x}" for number in range(64)]
    for number, key in enumerate(keys):
        cache.put(key, b"")
        os.utime(tmp_path / "cache" / f"trainc-{key}", (number, number))
    assert cache.get(keys[0]) == b""
    cache.put("f" * 64, b"data")
    assert len(list((tmp_path / "cache").iterdir())) == 64
    assert cache.get("f" * 64) == b"data"
    assert cache.get(keys[0]) == b""
    assert cache.get(keys[1]) is None


def test_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRAINC_CACHE_DIR")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name, folder in (("XDG_CACHE_HOME", "other/trainc"), ("HOME", "home/.cache/trainc")):
        if name == "XDG_CACHE_HOME":
            monkeypatch.setenv(name, str(tmp_path / "other"))
        else:
            monkeypatch.delenv("XDG_CACHE_HOME")
        found = opened()
        assert found is not None
        found.put("key", b"")
        assert (tmp_path / folder / "trainc-key").exists()


def test_projects_without_definitions_keep_nothing(cache: Path, tmp_path: Path) -> None:
    write(tmp_path, {"trainc.yaml": "apiVersion: trainc.dev/v1alpha1\nkind: Project\n"})
    compile_in(tmp_path, "validate")
    assert not cache.exists()


def test_shipped_definitions_are_kept_small(cache: Path, tmp_path: Path) -> None:
    folder = copied("unchecked-rule", tmp_path)
    shutil.copy(ROOT / "schemas/crds/jobset.x-k8s.io_jobsets.yaml", folder / "clusters/lab")
    first = said(folder)
    assert said(folder) == first
    sizes = [entry.stat().st_size for entry in cache.iterdir()]
    assert max(sizes) < 30_000
    assert all(len(json.loads(entry.read_text("utf-8"))) == 3 for entry in cache.iterdir())


def test_the_cache_forgets_only_its_own_entries(tmp_path: Path) -> None:
    for number in range(100):
        (tmp_path / f"notes-{number}").write_text("mine", "utf-8")
    cache = FileCache(str(tmp_path))
    for number in range(80):
        cache.put(f"{number:064x}", b"entry")
    assert len(list(tmp_path.glob("notes-*"))) == 100
    assert len(list(tmp_path.glob("trainc-*"))) == 64


@pytest.mark.skipif(os.name != "posix", reason="has no named pipes")
def test_a_pipe_in_the_place_of_an_entry_is_not_waited_for(tmp_path: Path) -> None:
    cache = FileCache(str(tmp_path / "cache"))
    cache.put("a" * 64, b"data")
    entry = tmp_path / "cache" / f"trainc-{'a' * 64}"
    entry.unlink()
    os.mkfifo(entry, 0o600)
    assert cache.get("a" * 64) is None


def test_what_two_containers_of_one_process_number_write_is_whole(tmp_path: Path) -> None:
    cache = FileCache(str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir(mode=0o700)
    other = tmp_path / "cache" / f"trainc-{'a' * 64}.{os.getpid()}"
    other.write_bytes(b"half of what the other one")
    cache.put("a" * 64, b"data")
    assert cache.get("a" * 64) == b"data"
    assert other.exists()
