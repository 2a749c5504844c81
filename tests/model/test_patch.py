"""What a patch has is applied, copied, ordered, explained and locked: a field that one of these forgets fails here."""

import inspect
from typing import Any

import pytest

from tests.frameworks.planning import plan, role
from trainc.compiler.lower import in_order
from trainc.compiler.lower.contributors import Draft
from trainc.compiler.resolve.composed import Held
from trainc.compiler.resolve.locks import check_job, overlay
from trainc.compiler.resolve.template import Prepared
from trainc.frameworks import framework
from trainc.model.patch import CONTAINER, POD, Patch, PatchField
from trainc.model.patches import Contribution
from trainc.model.paths import at_path
from trainc.model.report import Report
from trainc.model.sourced import Origin, Sourced, Span
from trainc.model.tree import leaves, plain, stamp


class WiderPatch(Patch):
    """A patch with one field more of each kind."""

    __slots__ = ("devices", "resource_claims", "security")
    fields = (
        *Patch.fields,
        PatchField("security", POD, "securityContext"),
        PatchField("resource_claims", POD, "resourceClaims", "name"),
        PatchField("devices", CONTAINER, "volumeDevices", "devicePath"),
    )

    def __init__(
        self, *args: Any, devices: Any = (), resource_claims: Any = (), security: Any = None, **old: Any
    ) -> None:
        super().__init__(*args, **old)
        self.devices, self.resource_claims, self.security = devices, resource_claims, security or {}


FIELDS = {field.name: field for field in WiderPatch.fields}
SPOT = Span("case.yaml", 7, 3, 7, 9)  # in the file of the job that `plan` makes
PLAN = plan("{jax: {}}", role("node", "{name: node, image: base}"))
NODE = PLAN.roles[0]


def patch_of(field: PatchField, text: Any, port: Any) -> Patch:
    """A patch that says something in one field alone."""
    key = {field.list_key: port if field.name == "ports" else text}
    return WiderPatch(0, "node", **{field.name: (key,) if field.list_key else {"madeUp": text}})


def sourced_patch(field: PatchField) -> Patch:
    """The same with every leaf written by the job."""
    return patch_of(field, Sourced("made-up", Origin(SPOT)), Sourced(7000, Origin(SPOT)))


def test_every_field_of_a_patch_says_where_it_goes() -> None:
    wanted = {*Patch.__slots__} - {"role", "container"}
    assert {field.name for field in Patch.fields} == wanted
    assert wanted < {*inspect.signature(Patch.__init__).parameters}


@pytest.mark.parametrize("name", FIELDS)
def test_a_field_is_stamped(name: str) -> None:
    with_origin = getattr(patch_of(FIELDS[name], "made-up", 7000).attach_origin("torch"), name)
    found_leaves = [leaf for _, leaf in leaves(list(with_origin) if FIELDS[name].list_key else with_origin)]
    assert found_leaves
    assert all(type(leaf) is Sourced and leaf.origin.by == "torch" for leaf in found_leaves)


@pytest.mark.parametrize("name", FIELDS)
def test_a_field_is_applied_and_explained_where_it_says(name: str) -> None:
    patch = sourced_patch(FIELDS[name])
    (touched,) = patch.touches("node", "containers")
    draft = Draft(NODE.tree)
    before = plain(NODE.tree)
    draft.lay(patch)
    applied = at_path({"spec": {"replicatedJobs": [draft.job]}}, touched)
    assert applied is not None
    assert plain(at_path(overlay(PLAN.roles, patch), touched)) == plain(applied)
    assert plain(NODE.tree) == before


@pytest.mark.parametrize("env_first", [False, True])
@pytest.mark.parametrize("name", FIELDS)
def test_a_field_survives_the_order_of_patches(name: str, env_first: bool) -> None:
    framework_patch = Patch(0, "node", env=(stamp({"name": "F", "value": "1"}, "jax"),))
    patches = in_order((sourced_patch(FIELDS[name]),), Contribution([framework_patch]), env_first=env_first)
    kept = [field.name for patch in patches for field, _ in patch.contents() if patch is not framework_patch]
    assert kept == [name]


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("depth", [0, 1, 2])
def test_a_field_does_not_slip_past_a_lock(name: str, depth: int) -> None:
    patch = sourced_patch(FIELDS[name])
    (touched,) = patch.touches("node", "containers")
    steps = ("template", *touched[: len(touched) - depth])
    assert PLAN.runtime is not None
    lock = Held("locked", steps, at_path(PLAN.template, steps[1:]), "ours", "base", Span("runtime.yaml", 1, 1, 1, 2))
    prepared = Prepared(PLAN.runtime, PLAN.runtime.tree, (), (lock,))
    planned = plan("{jax: {}}", role("node", "{name: node, image: base}"))
    planned.overrides = (patch,)
    report = Report()
    check_job(planned, prepared, report)
    assert [(finding.rule.name, finding.labels[0].span) for finding in report.findings] == [("locked-field", SPOT)]


def test_the_framework_of_these_tests_puts_its_variables_first() -> None:
    jax = framework("jax")
    assert jax is not None
    assert jax.env_first
