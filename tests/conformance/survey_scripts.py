"""What the containers of a worked case run: Ray's command lines, Flux's scripts, and words of people."""

import re
import shlex
from collections.abc import Callable
from typing import Any

from tests.compiling import Run
from tests.conformance.survey_pods import Pod, World

Roles = dict[str, list[Pod]]
Check = Callable[[World, Roles, Any, Run], None]


def script(pod: Pod) -> str:
    """All that the first container of a pod is given to run."""
    return " ".join(pod.words(pod.spec["containers"][0]))


def texts(world: World) -> str:
    """Every script of a run: those of ConfigMaps and those of containers, with single spaces."""
    found = [text for data in world.configs.values() for text in data.values()]
    found += [" ".join(pod.words(one)) for pod in world.pods[:1] for one in pod.spec["containers"]]
    return "\n".join(re.sub(r"[ \t]+", " ", text) for text in found)


def check_command(world: World, roles: Roles, expected: Any, run: Run) -> None:
    for role, wanted in expected.items():
        words = roles[role][0].words(roles[role][0].spec["containers"][0])
        if isinstance(wanted, list):
            assert len(words) == len(wanted), words
            assert all(world.pattern(one, roles).fullmatch(word) for one, word in zip(wanted, words, strict=True)), (
                words
            )
        else:
            _contains_or_says(world, roles, wanted, " ".join(words), run)


def _contains_or_says(world: World, roles: Roles, wanted: Any, text: str, run: Run) -> None:
    has = all(world.pattern(part, roles).search(text) for part in wanted["contains"])
    assert has or any(wanted["or_finding"] in finding.message for finding in run.findings), text


def check_start(world: World, roles: Roles, expected: Any, _run: Run) -> None:
    for role, wanted in expected.items():
        for pod in roles[role]:
            text = script(pod)
            before, _, after = text.partition("ray start")
            assert wanted.get("before", "") in before, text
            words = shlex.split(re.split(r"&&|;|\n", after, maxsplit=1)[0])
            assert ("--head" in words) == ("--head" in wanted["program"])
            _check_flags(world, roles, wanted["flags"], _flags(words))


def _flags(words: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    name = ""
    for word in words:
        if word.startswith("--"):
            name, _, text = word[2:].partition("=")
            found[name] = text
        elif name:
            found[name] = word
    return {name: text for name, text in found.items() if name != "head"}


def _check_flags(world: World, roles: Roles, wanted: dict[str, Any], found: dict[str, str]) -> None:
    assert set(wanted) == set(found), found
    for name, text in wanted.items():
        if text is True:
            assert not found[name]
        else:
            plain = text.strip("'") if isinstance(text, str) else str(text).lower()
            assert world.pattern(plain, roles).fullmatch(found[name]), (name, found[name], text)


def check_init(world: World, roles: Roles, expected: Any, _: Run) -> None:
    for role, wanted in expected.items():
        for pod in roles[role]:
            found = pod.spec.get("initContainers", [])
            if wanted is None:
                assert not found
                continue
            parts = [*wanted.get("contains", ()), *([wanted["waits_for"]] if "waits_for" in wanted else ())]
            fitting = [one for one in found if _fits(one, wanted)]
            assert any(
                all(world.pattern(part, roles).search(" ".join(pod.words(one))) for part in parts) for one in fitting
            ), found


def _fits(container: Any, wanted: Any) -> bool:
    return all(container[key] == wanted[key] for key in ("name", "image") if key in wanted)


def check_driver(world: World, roles: Roles, expected: Any, _: Run) -> None:
    (pod,) = roles["driver"]
    text = re.sub(r"\s+", " ", script(pod)).replace("'", "").replace("\\", "").replace("=", " ")
    for part in expected.get("contains", ()):
        assert part.replace("=", " ") in text, (part, text)
    if "waits_for" in expected:
        assert world.pattern(expected["waits_for"], roles).search(script(pod))
    if "exit_code" in expected:
        last = script(pod).strip().splitlines()[-1]
        assert "ray job status" in script(pod)
        assert not any(word in last for word in expected["excludes_as_last_word"])


def check_script(_: World, roles: Roles, expected: Any, __: Run) -> None:
    for role, wanted in expected.items():
        text, at = script(roles[role][0]), 0
        for part in wanted["order"]:
            assert part in text[at:], (part, text)
            at = text.index(part, at) + len(part)


def check_hostlist(world: World, roles: Roles, expected: Any, _: Run) -> None:
    first = roles[expected["role"]][0].host
    assert f"{first.removesuffix('0')}[{expected['indexes']}]" in texts(world)


def check_lead(world: World, roles: Roles, _expected: str, _: Run) -> None:
    assert roles["node"][0].host in texts(world)


def check_broker(world: World, _roles: Roles, expected: Any, _: Run) -> None:
    assert all(part in texts(world) for part in expected["contains"])


def check_broker_toml(world: World, _roles: Roles, expected: Any, _: Run) -> None:
    said = re.sub(r" *= *", " = ", texts(world))
    assert all(part in said for part in expected["contains"])
    assert expected["connects_to"].replace("<subdomain>", world.pods[0].subdomain) in said


def check_submit(world: World, roles: Roles, expected: Any, run: Run) -> None:
    said = re.sub(r"-([nN]) (?=\d)", r"-\1", texts(world))
    spec = re.sub(r"-([nN]) (?=\d)", r"-\1", expected["node_spec"])
    lines = [line for line in said.splitlines() if f"{expected.get('with', 'flux submit')} {spec} " in line]
    assert lines, said
    assert all(expected.get("flags", "") in line for line in lines)
    command = expected["command"]
    if isinstance(command, str):
        assert all(command in line for line in lines)
    else:
        _contains_or_says(world, roles, command, "\n".join(lines), run)


SCRIPT_CHECKS: dict[str, Check] = {
    "command": check_command,
    "start": check_start,
    "init": check_init,
    "driver": check_driver,
    "script": check_script,
    "hostlist": check_hostlist,
    "lead": check_lead,
    "broker": check_broker,
    "broker_toml": check_broker_toml,
    "submit": check_submit,
}
