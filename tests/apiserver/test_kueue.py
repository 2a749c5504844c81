"""What Kueue's webhooks say of a JobSet, in their words and their order."""

from typing import Any

import pytest

from tests.apiserver.seeds import explicit_jobset
from trainc.apiserver.kueue import jobset_webhook as kueue
from trainc.apiserver.kueue.topology import LayersError, layers_of
from trainc.apiserver.profile import Profile
from trainc.model.tree import stamp

DOMAIN = "kueue.x-k8s.io/"
PODSET = f"{DOMAIN}podset-"
QUEUE, PRIORITY, SECONDS = f"{DOMAIN}queue-name", f"{DOMAIN}priority-class", f"{DOMAIN}max-exec-time-seconds"
PREBUILT, GATES, ELASTIC = f"{DOMAIN}prebuilt-workload-name", f"{DOMAIN}admission-gated-by", f"{DOMAIN}elastic-job"
LAYERS = "slice-required-topology-constraints"
RACK, BLOCK = "example.org/rack", "example.org/block"


def jobset(
    *pods: dict[str, str], labels: dict[str, str] | None = None, annotations: dict[str, str] | None = None, **spec: Any
) -> Any:
    """A JobSet with a role for each of `pods`, which are the annotations of its two pods; the first role has one."""
    tree = explicit_jobset()
    tree["metadata"].update(labels=labels or {}, annotations=annotations or {})
    roles = [
        {
            "name": f"r{index}",
            "replicas": 1,
            "template": {"spec": {"parallelism": 2 if index else 1, "template": {"metadata": {"annotations": said}}}},
        }
        for index, said in enumerate(pods)
    ]
    tree["spec"].update(replicatedJobs=roles, **spec)
    return stamp(tree, "test")


def podset(**said: str) -> dict[str, str]:
    return {PODSET + key.replace("_", "-"): value for key, value in said.items()}


def at(role: int, key: str = "") -> str:
    place = f"spec.replicatedJobs[{role}].template.spec.template.metadata.annotations"
    return f"{place}[{PODSET}{key}]" if key else place


def told(faults: list[Any]) -> list[str]:
    return list(dict.fromkeys(fault.message for fault in faults))


@pytest.mark.parametrize(
    ("said", "messages"),
    [
        ({"slice_required_topology": RACK, "slice_size": "2"}, []),
        ({"slice_required_topology": RACK, "slice_size": "+2"}, []),
        (
            {"slice_required_topology": RACK, "slice_size": "3"},
            [f'{at(1, "slice-size")}: Invalid value: "3": must not be greater than pod set count 2'],
        ),
        (
            {"slice_required_topology": RACK, "slice_size": "two"},
            ['strconv.ParseInt: parsing "two": invalid syntax'],
        ),
        (
            {"slice_required_topology": RACK, "slice_size": "4294967296"},
            ['strconv.ParseInt: parsing "4294967296": value out of range'],
        ),
        (
            {"slice_size": "two"},
            [
                f'{at(1, "slice-size")}: Invalid value: "two": must be a numeric value',
                f"{at(1, 'slice-size')}: Forbidden: may not be set when '{PODSET}slice-required-topology' is not specified",
            ],
        ),
        (
            {"slice_required_topology": RACK, "slice_size": "-1"},
            [f'{at(1, "slice-size")}: Invalid value: "-1": must be greater than or equal to 1'],
        ),
        ({"unconstrained_topology": "maybe"}, ['strconv.ParseBool: parsing "maybe": invalid syntax']),
        (
            {"required_topology": RACK, "unconstrained_topology": "maybe"},
            [
                (
                    f"{at(1)}: Invalid value: must not contain more than one topology annotation: "
                    f'["{PODSET}required-topology", "{PODSET}preferred-topology", "{PODSET}unconstrained-topology"]'
                ),
                f'{at(1, "unconstrained-topology")}: Invalid value: "maybe": must be a boolean value',
            ],
        ),
        (
            {"required_topology": RACK, "group_name": "7", "slice_required_topology": RACK, "slice_size": "1"},
            [
                f'{at(1, "group-name")}: Invalid value: "7": must not be a number',
                f"{at(1, 'group-name')}: Forbidden: may not be set when '{PODSET}slice-size' is specified",
                f"{at(1, 'group-name')}: Forbidden: may not be set when '{PODSET}slice-required-topology' is specified",
                f'{at(1, "group-name")}: Invalid value: "7": can only define groups of exactly 2 pod sets, got: 1 pod set(s)',
            ],
        ),
        (
            {"group_name": "ring"},
            [
                (
                    f"{at(1, 'group-name')}: Forbidden: may not be set when neither '{PODSET}preferred-topology' "
                    f"nor '{PODSET}required-topology' is specified"
                )
            ],
        ),
    ],
)
def test_what_a_pod_set_asks_for(said: dict[str, str], messages: list[str]) -> None:
    assert told(kueue.create_faults(jobset({}, podset(**said)))) == messages


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ('[{"topology": "a.b/c", "size": 2}, {"Topology": "a.b/d", "SIZE": 1, "more": []}]', []),
        ("[]", ["topology constraints must contain between 1 and 3 entries: got 0"]),
        ("null", ["topology constraints must contain between 1 and 3 entries: got 0"]),
        ("[{},{},{},{}]", ["topology constraints must contain between 1 and 3 entries: got 4"]),
        (
            '[{"topology": "a.b/c", "size": 4}]',
            [f"{at(1, LAYERS)}: Invalid value: 4: must not be greater than pod set count 2"],
        ),
        (
            '[{"topology": "a.b/c", "size": 2}, {"topology": "a.b/c", "size": 0}]',
            [
                f"{at(1, LAYERS)}[1].size: Invalid value: 0: must be greater than or equal to 1",
                f'{at(1, LAYERS)}[1].topology: Duplicate value: "a.b/c (also at index 0)"',
            ],
        ),
    ],
)
def test_layers(text: str, messages: list[str]) -> None:
    assert told(kueue.create_faults(jobset({}, {PODSET + LAYERS: text}))) == messages


def test_layers_beside_the_older_annotations() -> None:
    said = podset(required_topology=RACK, slice_size="1", group_name="ring")
    found = told(kueue.create_faults(jobset(said, {**said, PODSET + LAYERS: '[{"topology": "a.b/c", "size": 2}]'})))
    assert (
        f"{at(1, 'group-name')}: Forbidden: may not be set when '{PODSET}{LAYERS}' is specified"
        == found[found.index(f"{at(1, LAYERS)}: Forbidden: may not be set when '{PODSET}slice-size' is specified") + 1]
    )


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "unexpected end of JSON input"),
        ("rack", "invalid character 'r' looking for beginning of value"),
        ("NaN", "invalid character 'N' looking for beginning of value"),
        ("[{'topology': 1}]", r"invalid character '\'' looking for beginning of object key string"),
        ('[{"topology": "a",}]', "invalid character '}' looking for beginning of object key string"),
        ('[{"topology": "a"},]', "invalid character ']' looking for beginning of value"),
        ('[{"topology" "a"}]', "invalid character '\"' after object key"),
        ('[{"topology": "a" "size": 1}]', "invalid character '\"' after object key:value pair"),
        ('[{"topology": "a]"} {}]', "invalid character '{' after array element"),
        ('[{"topology": "a"}', "unexpected end of JSON input"),
        ('[{"topology": "a', "unexpected end of JSON input"),
        ("[] 1", "invalid character '1' after top-level value"),
        ("{}", "json: cannot unmarshal object into Go value of type []v1beta2.PodsetSliceRequiredTopologyConstraint"),
        ("[1]", "json: cannot unmarshal number into Go value of type v1beta2.PodsetSliceRequiredTopologyConstraint"),
        (
            '[{"size": "4", "topology": 4}]',
            "json: cannot unmarshal string into Go struct field PodsetSliceRequiredTopologyConstraint.size of type int32",
        ),
        (
            '[{"size": 4.5}]',
            "json: cannot unmarshal number 4.5 into Go struct field PodsetSliceRequiredTopologyConstraint.size of type int32",
        ),
        (
            '[{"topology": 4}]',
            "json: cannot unmarshal number into Go struct field PodsetSliceRequiredTopologyConstraint.topology of type string",
        ),
    ],
)
def test_what_is_no_list_of_layers(text: str, fault: str) -> None:
    with pytest.raises(LayersError) as raised:
        layers_of(text)
    assert str(raised.value) == fault


@pytest.mark.parametrize(
    ("first", "second", "messages"),
    [
        ({"required_topology": RACK}, {"required_topology": RACK}, []),
        (
            {"required_topology": RACK},
            {"preferred_topology": RACK},
            [
                (
                    f"{at(0)}: Invalid value: must specify '{PODSET}required-topology' or '{PODSET}preferred-topology' "
                    f"topology consistent with '{at(1)}' in group 'ring'"
                ),
                (
                    f"{at(1)}: Invalid value: must specify '{PODSET}required-topology' or '{PODSET}preferred-topology' "
                    f"topology consistent with '{at(0)}' in group 'ring'"
                ),
            ],
        ),
    ],
)
def test_groups_of_pod_sets(first: dict[str, str], second: dict[str, str], messages: list[str]) -> None:
    pair = (podset(group_name="ring", **first), podset(group_name="ring", **second))
    assert told(kueue.create_faults(jobset(*pair))) == messages


@pytest.mark.parametrize(
    ("labels", "annotations", "messages"),
    [
        ({PREBUILT: "Old"}, {PREBUILT: "new"}, []),
        ({SECONDS: "9" * 20}, {}, [f'metadata.labels[{SECONDS}]: Invalid value: "{"9" * 20}": strconv.Atoi: parsing "{"9" * 20}": value out of range']),
        ({}, {ELASTIC: "false"}, []),
        ({}, {ELASTIC: "true"}, [f'metadata.annotations[{ELASTIC}]: Forbidden: elastic job is not supported for "jobset.x-k8s.io/v1alpha2, Kind=JobSet"']),
        ({}, {GATES: " "}, []),
        ({}, {GATES: "a.b/c, a.b/d"}, []),
        ({}, {GATES: "a.b/c,,a.b/c"}, [
            f'metadata.annotations[{GATES}]: Invalid value: "a.b/c,,a.b/c": cannot contain empty gate names',
            f'metadata.annotations[{GATES}]: Invalid value: "a.b/c,,a.b/c": duplicate gate name: a.b/c',
        ]),
        ({}, {GATES: f"a.b/{'c' * 60}"}, [f"metadata.annotations[{GATES}]: Too long: may not be more than 63 bytes"]),
    ],
)  # fmt: skip
def test_the_jobset_itself(labels: dict[str, str], annotations: dict[str, str], messages: list[str]) -> None:
    assert told(kueue.create_faults(jobset({}, labels=labels, annotations=annotations))) == messages


def test_what_cannot_be_read_is_the_only_thing_told() -> None:
    broken = jobset(podset(unconstrained_topology="maybe"), labels={SECONDS: "1h"})
    assert len(kueue.create_faults(broken)) == 1
    assert len(kueue.update_faults(broken, jobset({}), Profile())) == 1


@pytest.mark.parametrize(
    ("old", "new", "messages"),
    [
        ({"labels": {QUEUE: "a"}}, {}, [
            f'metadata.labels[{QUEUE}]: Invalid value: "": field is immutable',
            f'metadata.labels[{QUEUE}]: Invalid value: "": queue-name must not be empty in namespace with default queue',
        ]),
        ({"labels": {PREBUILT: "a"}}, {"annotations": {PREBUILT: "b"}}, [f'metadata.annotations[{PREBUILT}]: Invalid value: "b": field is immutable']),
        ({"labels": {PREBUILT: "a"}}, {"labels": {PREBUILT: "b"}, "suspend": True}, []),
        ({"labels": {SECONDS: "5"}}, {"labels": {SECONDS: "0"}}, [
            f'metadata.labels[{SECONDS}]: Invalid value: "0": field is immutable',
            f"metadata.labels[{SECONDS}]: Invalid value: 0: should be greater than 0",
        ]),
        ({}, {"annotations": {ELASTIC: "true"}}, [
            f"metadata.annotations[{ELASTIC}]: Invalid value: true: field is immutable",
            f'metadata.annotations[{ELASTIC}]: Forbidden: elastic job is not supported for "jobset.x-k8s.io/v1alpha2, Kind=JobSet"',
        ]),
        ({"annotations": {GATES: "a.b/c,a.b/d"}}, {"annotations": {GATES: "a.b/d"}}, []),
        ({"annotations": {GATES: "a.b/c"}}, {"annotations": {GATES: "a.b/d"}}, [
            f"metadata.annotations[{GATES}]: Forbidden: can only remove gates, not add new ones",
        ]),
        ({}, {"labels": {PRIORITY: "p"}}, [
            f'metadata.labels[{PRIORITY}]: Invalid value: "p": WorkloadPriorityClass cannot be added to a non-suspended workload',
        ]),
    ],
)  # fmt: skip
def test_changes(old: dict[str, Any], new: dict[str, Any], messages: list[str]) -> None:
    known = Profile(kueue=True, state={"LocalQueue": {("default", "default"): {}}})
    assert told(kueue.update_faults(jobset({}, **new), jobset({}, **old), known)) == messages


def test_defaults_of_queue_and_class() -> None:
    known = Profile(
        kueue=True,
        state={"LocalQueue": {("default", "default"): {}}, "WorkloadPriorityClass": {("", "default"): {}}},
    )
    left = kueue.with_defaults(jobset({}, labels={QUEUE: ""}), known)
    assert {key: leaf.value for key, leaf in left["metadata"]["labels"].items()} == {
        QUEUE: "default",
        PRIORITY: "default",
    }
    assert left["spec"]["suspend"].value is True
    only_class = Profile(kueue=True, state={"WorkloadPriorityClass": {("", "default"): {}}})
    assert "suspend" not in kueue.with_defaults(jobset({}), only_class)["spec"]
