"""Processes on stage: order, lines, failures, time."""

import os
import sys
from pathlib import Path

import pytest

from tests.effort import PATIENCE
from trainc.authoring.rehearse import Ended, Process, Script, perform


def process(name: str, code: str, *, role: str = "", after: tuple[tuple[str, str], ...] = ()) -> Process:
    environment = {"PATH": os.environ["PATH"], "NAME": name}
    return Process(name, role or name, name, (sys.executable, "-u", "-c", code), environment, after=after)


def performed(where: Path, *processes: Process, timeout: float = PATIENCE) -> tuple[list[Ended], list[str]]:
    script = Script("run")
    script.processes.extend(processes)
    heard: list[str] = []
    ended = perform(script, str(where), timeout, lambda process, line: heard.append(f"{process.name}: {line}"))
    return ended, heard


def test_every_line_is_heard_with_its_speaker(tmp_path: Path) -> None:
    say = "import os; print('one'); print(os.environ['NAME'], end='')"
    ended, heard = performed(tmp_path, process("a", say), process("b", say))
    assert sorted(heard) == ["a: a", "a: one", "b: b", "b: one"]
    assert [end.code for end in ended] == [0, 0]


def test_a_role_waits_for_the_one_it_depends_on(tmp_path: Path) -> None:
    writes = "import time; time.sleep(0.3); open('made', 'w').close()"
    reads = "import os; print(os.path.exists('made'))"
    later = process("later", reads, after=(("first", "Complete"),))
    ended, heard = performed(tmp_path, later, process("first", writes))
    assert heard == ["later: True"]
    assert all(end.well for end in ended)


@pytest.mark.slow
def test_the_first_failure_ends_the_rehearsal(tmp_path: Path) -> None:
    waits = process("waits", "import time; time.sleep(600)")
    never = process("never", "print('no')", after=(("fails", "Complete"),))
    ended, heard = performed(tmp_path, process("fails", "raise SystemExit(3)"), waits, never)
    assert [(end.process.name, end.code, end.started) for end in ended] == [
        ("fails", 3, True),
        ("waits", None, True),
        ("never", None, False),
    ]
    assert heard == []


def test_time_is_limited(tmp_path: Path) -> None:
    endless = process("a", "print('on'); import time; time.sleep(600)")
    ended, heard = performed(tmp_path, endless, timeout=1)
    if not heard:  # a busy machine takes longer to start it
        ended, heard = performed(tmp_path, endless, timeout=30)
    assert ([end.code for end in ended], heard) == ([None], ["a: on"])


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    absent = Process("a", "a", "a", ("/no/such/program",), {})
    ended, heard = performed(tmp_path, absent)
    assert [end.code for end in ended] == [127]
    assert heard == ["a: cannot start /no/such/program: No such file or directory"]


def test_files_lie_where_the_script_says(tmp_path: Path) -> None:
    script = Script("run")
    script.files[str(tmp_path / "etc" / "hosts")] = "here"
    script.processes.append(process("a", "print(open('etc/hosts').read())"))
    heard: list[str] = []
    perform(script, str(tmp_path), PATIENCE, lambda _, line: heard.append(line))
    assert heard == ["here"]
