"""What a worked case of another operator's kind asserts, a function for each of its keys."""

from collections.abc import Callable
from typing import Any

from tests.compiling import Run
from tests.conformance.harness import quantity
from tests.conformance.survey_end import check_end
from tests.conformance.survey_pods import Pod, World
from tests.conformance.survey_scripts import SCRIPT_CHECKS

Roles = dict[str, list[Pod]]
Check = Callable[[World, Roles, Any, Run], None]


def containers(pod: Pod, chosen: str = "") -> list[Any]:
    """The first container, all of them, or init containers too."""
    own: list[Any] = pod.spec["containers"]
    if not chosen:
        return own[:1]
    return [*pod.spec.get("initContainers", []), *own] if "init" in chosen else own


def check_env(world: World, roles: Roles, expected: Any, _: Run) -> None:
    for place, variables in expected.items():
        role, _, index = place.partition("/")
        pod = roles[role][int(index)]
        env = pod.env(containers(pod)[0])
        for name, text in variables.items():
            assert name in env, f"{place} has no {name}: {env}"
            if isinstance(text, dict):
                assert all(part in env[name] for part in text["contains"]), (place, name, env[name])
            else:
                assert world.pattern(text, roles).fullmatch(env[name]), (place, name, env[name], text)


def check_containers(world: World, _roles: Roles, expected: str, run: Run) -> None:
    """Every container of a job has the variables that the operator adds to it."""
    for pod in world.pods:
        envs = [set(pod.env(container)) for container in containers(pod, expected)]
        assert len(envs) > 1 or "init" not in expected
        assert all({"VC_TASK_INDEX", "VC_WORKER_NUM"} & env for env in envs), run.out


def check_not_env(_: World, roles: Roles, expected: Any, __: Run) -> None:
    for place, names in expected.items():
        role, _, index = place.partition("/")
        pod = roles[role][int(index)]
        assert not set(names) & set(pod.env(containers(pod)[0]))


def check_env_anywhere(world: World, _roles: Roles, expected: Any, _run: Run) -> None:
    assert not any(set(expected) & set(pod.env(one)) for pod in world.pods for one in containers(pod, "init"))


def check_env_sets(world: World, _roles: Roles, expected: Any, _run: Run) -> None:
    envs = [pod.env(containers(pod)[0]) for pod in world.pods]
    for wanted in expected:
        fitting = next((env for env in envs if wanted.items() <= env.items()), None)
        assert fitting is not None, (wanted, envs)
        envs.remove(fitting)


def check_files(world: World, roles: Roles, expected: Any, _: Run) -> None:
    for path, wanted in expected.items():
        texts = {pod.files(containers(pod)[0]).get(path) for pod in world.pods}
        assert len(texts) == 1
        text = texts.pop()
        assert text is not None, f"{path} is in no file"
        if "lines" in wanted:
            found = text.split("\n")
            assert wanted.get("final_newline", True) == text.endswith("\n")
            found = found[:-1] if text.endswith("\n") else found
            assert len(found) == len(wanted["lines"])
            for line, one in zip(found, wanted["lines"], strict=True):
                assert world.pattern(one, roles).fullmatch(line), (path, line, one)
        for part in wanted.get("contains", []):
            assert world.pattern(part, roles).search(text), (path, text, part)


def check_gang(world: World, roles: Roles, expected: Any, run: Run) -> None:
    groups = world.of_kind("PodGroup")
    if expected is None:
        assert not groups
        return
    if expected.get("per_group"):
        assert len(groups) == len([role for role in roles if role.startswith("group")])
    else:
        assert len(groups) == 1, run.out
    for group in groups:
        spec = group["spec"]
        assert spec["minMember"] == expected["minMember"], spec
        if "queue" in expected:
            assert spec.get("queue", "default") == expected["queue"]
        if "minTaskMember" in expected:
            assert spec.get("minTaskMember") == expected["minTaskMember"], spec
        assert spec.get("priorityClassName") == expected.get("priorityClassName", spec.get("priorityClassName"))
        assert set(expected.get("minResources", ())) <= set(spec.get("minResources", ())), spec
        for name, amount in expected.get("minResources", {}).items():
            assert quantity(spec["minResources"][name]) == quantity(amount), (name, spec)
    if expected.get("members"):
        outside = [pod for pod in world.pods if "scheduling.k8s.io/group-name" not in pod.annotations]
        assert all(pod.replicated == "driver" for pod in outside)


def check_subgroups(world: World, _roles: Roles, expected: Any, _: Run) -> None:
    (group,) = world.of_kind("PodGroup")
    found = {one["name"]: one for one in group["spec"].get("subGroupPolicy", [])}
    for wanted in expected:
        one = found[wanted["of"]]
        assert (one["subGroupSize"], one.get("minSubGroups")) == (wanted["size"], wanted["min"])
        assert one.get("networkTopology") == wanted.get("networkTopology")


def check_service(world: World, _roles: Roles, expected: Any, _: Run) -> None:
    (service,) = [one for one in world.of_kind("Service") if one["metadata"]["name"] == expected["name"]]
    spec = service["spec"]
    if expected.get("headless"):
        assert spec["clusterIP"] == "None"
    if "publishNotReadyAddresses" in expected:
        assert spec.get("publishNotReadyAddresses", False) == expected["publishNotReadyAddresses"]
    if "selects" in expected:
        assert expected["selects"] == "all pods of the JobSet"
        assert world.selected(service) == world.pods
    assert set(expected.get("ports", ())) <= {port["port"] for port in spec.get("ports", [])}


def check_extra_service(world: World, roles: Roles, expected: Any, _: Run) -> None:
    (service,) = [one for one in world.of_kind("Service") if one["metadata"]["name"] == expected["name"]]
    assert {port["port"] for port in service["spec"]["ports"]} >= set(expected["ports"])
    assert world.selected(service) == roles[expected["selects"]]


def check_template(world: World, roles: Roles, expected: Any, _: Run) -> None:
    for role, wanted in expected.items():
        for pod in world.pods if role == "all" else roles[role]:
            first = pod.spec["containers"][0]
            found = {**pod.spec, "image": first["image"], **first.get("resources", {})}
            found["annotations"] = {key: pod.annotations.get(key) for key in wanted.get("annotations", {})}
            for key, text in wanted.items():
                assert found.get(key) == text, (role, key, found.get(key))


def check_jobset(world: World, _roles: Roles, expected: Any, _: Run) -> None:
    (jobset,) = world.jobsets
    found = {**jobset["spec"], "labels": jobset["metadata"].get("labels", {})}
    for key, text in expected.items():
        if isinstance(text, dict):
            assert text.items() <= found[key].items()
        else:
            assert found[key] == text


def check_job(world: World, _roles: Roles, expected: Any, _: Run) -> None:
    assert all(expected.items() <= pod.job.items() for pod in world.pods)


def check_services(world: World, _roles: Roles, expected: int, _: Run) -> None:
    assert len(world.of_kind("Service")) == expected


def check_subdomain(world: World, _roles: Roles, expected: str, _: Run) -> None:
    assert {pod.subdomain for pod in world.pods} == {expected}


def check_secret(world: World, _roles: Roles, expected: Any, _: Run) -> None:
    assert not world.of_kind("Secret")
    for pod in world.pods:
        held = {path for path, text in pod.files(pod.spec["containers"][0]).items() if text is None}
        if "mount" in expected:
            assert {f"{expected['mount']}/{key}" for key in expected.get("keys", ())} <= held
            assert any(path.startswith(expected["mount"]) for path in held)
        if "holds" in expected:
            assert any(path.endswith(expected["holds"]) for path in held), held
        if "mode" in expected:
            assert {volume["projected"]["defaultMode"] for volume in pod.spec["volumes"] if "projected" in volume} == {
                int(expected["mode"], 8)
            }


def check_order(world: World, _roles: Roles, expected: Any, _: Run) -> None:
    replicated = {one["name"]: one for jobset in world.jobsets for one in jobset["spec"]["replicatedJobs"]}
    places = list(replicated)
    for wanted in expected:
        for role, what in wanted.items():
            (name,) = [one for one in places if one.startswith(role)]
            waits = {(one["name"], one["status"]) for one in replicated[name].get("dependsOn", [])}
            assert len(waits) == len(what["waits_for"])
            for (other, status), former in zip(sorted(waits), sorted(what["waits_for"]), strict=True):
                assert other.startswith(former)
                assert status == what["status"]
                assert places.index(other) < places.index(name)


def check_ports(_: World, roles: Roles, expected: Any, __: Run) -> None:
    for role, numbers in expected.items():
        for pod in roles[role]:
            for container in pod.spec["containers"][:1]:
                assert set(numbers) <= {port["containerPort"] for port in container.get("ports", [])}


CHECKS: dict[str, Check] = {
    "env": check_env,
    "containers_with_env": check_containers,
    "not_env": check_not_env,
    "not_env_anywhere": check_env_anywhere,
    "env_sets": check_env_sets,
    "files": check_files,
    "gang": check_gang,
    "gang_if_asked": check_gang,
    "subgroups": check_subgroups,
    "service": check_service,
    "extra_service": check_extra_service,
    "services": check_services,
    "template": check_template,
    "jobset": check_jobset,
    "job": check_job,
    "subdomain": check_subdomain,
    "secret": check_secret,
    "order": check_order,
    "ports": check_ports,
    "end": check_end,
    **SCRIPT_CHECKS,
}
