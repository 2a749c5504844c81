"""Whatever the job: a gang is as many pods as its members have, and asks for what they ask for."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.schedulers.building import found, laid_on, plan_from, sourced
from trainc.lint import expand
from trainc.lint.facts.summary import overview
from trainc.model.cluster import Cluster
from trainc.model.document import Document
from trainc.model.patches import Contribution
from trainc.model.plan import Plan, Role
from trainc.model.report import Report
from trainc.model.tree import plain, stamp
from trainc.schedulers import contribute
from trainc.schedulers.gang import members, pods

pytestmark = pytest.mark.slow

POWERS = "kMGTPE"
SCALE = {
    "": Fraction(1),
    "m": Fraction(1, 1000),
    **{letter: Fraction(1000 ** (i + 1)) for i, letter in enumerate(POWERS)},
    **{f"{letter.upper()}i": Fraction(1024 ** (i + 1)) for i, letter in enumerate(POWERS)},
}
MINIMUM = {
    "coscheduling": lambda spec: spec["minMember"],
    "volcano": lambda spec: spec["minMember"],
    "native": lambda spec: spec["schedulingPolicy"]["gang"]["minCount"],
}


def amounts(*suffixes: str) -> st.SearchStrategy[str]:
    return st.builds("{}{}".format, st.integers(1, 4000), st.sampled_from(suffixes))


RESOURCES = st.fixed_dictionaries(
    {},
    optional={"cpu": amounts("", "m"), "memory": amounts("Mi", "Gi", "M"), "nvidia.com/gpu": amounts("")},
)
CONTAINERS = st.builds(
    lambda requests, limits: {"resources": {"requests": requests, "limits": limits}}, RESOURCES, RESOURCES
)
ROLES = st.fixed_dictionaries(
    {
        "replicas": st.integers(0, 3),
        "width": st.integers(0, 5),
        "containers": st.lists(CONTAINERS, min_size=1, max_size=2),
        "init": st.lists(st.tuples(st.booleans(), CONTAINERS), max_size=2),
        "after": st.sampled_from(["", "Complete"]),
    }
)
JOBS = st.lists(ROLES, min_size=1, max_size=4)


def jobset(roles: list[Any]) -> Document:
    jobs = []
    for index, role in enumerate(roles):
        init = [{**container, **({"restartPolicy": "Always"} if side else {})} for side, container in role["init"]]
        pod = {"containers": role["containers"], "initContainers": init}
        job = {"parallelism": role["width"], "completions": role["width"], "template": {"spec": pod}}
        waits = [{"name": f"r{index - 1}", "status": role["after"]}] if role["after"] and index else []
        jobs.append({"name": f"r{index}", "replicas": role["replicas"], "dependsOn": waits, "template": {"spec": job}})
    tree = {"kind": "JobSet", "metadata": {"name": "random"}, "spec": {"replicatedJobs": jobs}}
    return Document("job.yaml", stamp(tree, "test"), {})


def worth(text: str) -> Fraction:
    digits = text.rstrip("miK" + POWERS)
    return Fraction(digits) * SCALE[text[len(digits) :]]


def one_pod(pod: Any) -> dict[str, Fraction]:
    """The upstream rule once more, resource by resource."""

    def need(container: Any, name: str) -> Fraction:
        resources = container["resources"]
        return worth(resources["requests"].get(name, resources["limits"].get(name, "0")))

    out = {}
    for name in ("cpu", "memory", "nvidia.com/gpu"):
        main = sum((need(c, name) for c in pod["containers"]), Fraction())
        side, peak = Fraction(), Fraction()
        for container in pod["initContainers"]:
            if container.get("restartPolicy") == "Always":
                side += need(container, name)
                main += need(container, name)
                peak = max(peak, side)
            else:
                peak = max(peak, side + need(container, name))
        out[name] = max(main, peak)
    return out


def shown(plan: Plan, together: tuple[Role, ...]) -> int:
    """How many pods of these roles the overview of the job lists."""
    job = expand(laid_on(plan, Contribution()), Cluster(), Report())
    assert job is not None
    listed = {role["name"]: role["pods"] for role in overview(job)["roles"]}
    return sum(listed[role.name.value] for role in together)


@settings(deadline=None)
@given(JOBS, st.sampled_from(sorted(MINIMUM)))
def test_a_gang_is_the_pods_of_its_members(roles: list[Any], name: str) -> None:
    plan = plan_from(jobset(roles))
    cluster = Cluster(
        scheduler=sourced(name), kubernetes=(1, 37), gates=frozenset({"GenericWorkload"}), queue=sourced("q")
    )
    contribution = contribute(plan, cluster, Report())
    together = members(plan.roles)
    assert bool(contribution.objects) == bool(together)
    if not together:
        return
    spec = plain(contribution.objects[-1])["spec"]
    assert MINIMUM[name](spec) == sum(map(pods, together)) == shown(plan, together) > 0
    if name != "native":
        expected: dict[str, Fraction] = {}
        for role in together:
            for resource, amount in one_pod(plain(role.pod)).items():
                expected[resource] = expected.get(resource, Fraction()) + pods(role) * amount
        said = {key: worth(text) for key, text in spec.get("minResources", {}).items()}
        assert said == {key: amount for key, amount in expected.items() if amount}


@settings(deadline=None)
@given(JOBS, st.sampled_from(sorted(MINIMUM)))
def test_what_is_made_breaks_no_rule_about_numbers_and_ties(roles: list[Any], name: str) -> None:
    plan = plan_from(jobset(roles))
    cluster = Cluster(
        scheduler=sourced(name), kubernetes=(1, 37), gates=frozenset({"GenericWorkload"}), queue=sourced("q")
    )
    said = found(laid_on(plan, contribute(plan, cluster, Report())), cluster)
    assert set(said) <= {"warning[gang-best-effort-member]"}
