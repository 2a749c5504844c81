"""A piece of a runtime is judged by the schema of the whole, but for what is missing."""

import pytest

from trainc.apiserver.fault import Verdict
from trainc.apiserver.profile import Profile
from trainc.apiserver.schema.node import load
from trainc.apiserver.verdict import verdict
from trainc.model.report import Report
from trainc.model.tree import plain
from trainc.yaml.reader import read

HEAD = "apiVersion: trainc.dev/v1alpha1\nkind: Runtime\nmetadata: {name: a}\nspec:\n"


def judged(spec: str) -> Verdict:
    (document,) = read((HEAD + spec).encode(), "a.yaml", Report())
    return verdict(document.tree, load(), Profile())


@pytest.mark.parametrize(
    "spec",
    [
        "  extends: base",
        "  mlPolicy: null",
        "  template: {spec: {replicatedJobs: [{name: node}]}}",
        "  template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {containers: null}}}}}]}}",
        "  template: {spec: {replicatedJobs: [{$patch: replace}, {name: node}]}}",
        "  template: {spec: {replicatedJobs: [{name: node, $patch: delete}]}}",
        "  template: {spec: {failurePolicy: {$patch: replace, maxRestarts: 1}}}",
    ],
)
def test_nothing_is_required_and_nothing_is_added(spec: str) -> None:
    found = judged(spec)
    assert (found.by, found.messages) == ("", [])
    (document,) = read((HEAD + spec).encode(), "a.yaml", Report())
    assert plain(found.stored)["spec"] == plain(document.tree)["spec"]


@pytest.mark.parametrize(
    ("spec", "by", "message"),
    [
        ("  numNodes: 1", "unknown-field", 'unknown field "spec.numNodes"'),
        ("  mlPolicy: {tensorflow: {}}", "unknown-field", 'unknown field "spec.mlPolicy.tensorflow"'),
        (
            "  mlPolicy: {numNodes: many}",
            "schema",
            'spec.mlPolicy.numNodes: Invalid value: "string": spec.mlPolicy.numNodes in body must be of type integer: "string"',
        ),
        (
            "  mlPolicy: [1]",
            "schema",
            'spec.mlPolicy: Invalid value: "array": spec.mlPolicy in body must be of type object: "array"',
        ),
        (
            "  mlPolicy: 3",
            "schema",
            'spec.mlPolicy: Invalid value: "integer": spec.mlPolicy in body must be of type object: "integer"',
        ),
        (
            "  template: {spec: {replicatedJobs: [{template: {}}]}}",
            "schema",
            "spec.template.spec.replicatedJobs[0].name: Required value",
        ),
        (
            "  template: {spec: {replicatedJobs: [{name: a}, {name: a}]}}",
            "listtype",
            'spec.template.spec.replicatedJobs[1]: Duplicate value: {"name":"a"}',
        ),
        (
            "  template: {spec: {$patch: merge}}",
            "schema",
            'spec.template.spec.$patch: Unsupported value: "merge": supported values: "delete", "replace"',
        ),
        ("  locks: [{path: a}]", "schema", "spec.locks[0].reason: Required value"),
    ],
)
def test_what_does_not_fit_is_refused(spec: str, by: str, message: str) -> None:
    found = judged(spec)
    assert (found.by, message in found.messages) == (by, True), found.messages
