"""Every recorded case of the Trainer v2.3.0 controller that trainc claims to answer alike."""

from pathlib import Path

import pytest

from tests.compiling import Run, compile_in
from tests.conformance.harness import Case, carried_labels, cases, read, reduced, service
from tests.conformance.refusals import Refusal, difference, recorded
from tests.sampling import sampled
from trainc.model.tree import plain

# How many cases of each group must pass now: a case that falls out of the run is missed here.
CLAIMED: dict[str, int] = {
    "coscheduling": 19,
    "flux": 17,
    "initializers": 19,
    "jax": 13,
    "metadata": 17,
    "mpi": 37,
    "plainml": 16,
    "rejections": 105,
    "runtime-patches": 46,
    "torch": 45,
    "torchtune": 21,
    "volcano": 14,
    "xgboost": 14,
    "yaml": 8,
}
CASES = cases()


def reason(case: Case) -> str:
    """Why a case is not run, empty for one that is."""
    return "needs the TrainJobStatus feature gate, which serves a running cluster" if case.is_gated else ""


@pytest.mark.parametrize("case", sampled(CASES, [case.id for case in CASES], every=5))
def test_recorded_case(case: Case, tmp_path: Path) -> None:
    why = reason(case)
    if why:
        pytest.skip(why)
    (tmp_path / "input.yaml").write_text(case.text, "utf-8")
    run = compile_in(tmp_path, "build", "input.yaml", "--only", "admission", "--closed-world", *leniency(case))
    compare(case, run)


def leniency(case: Case) -> list[str]:
    """The recordings come from a client without strict field validation, which keeps the last of two equal keys."""
    return ["--field-validation", "warn" if case.warnings else "ignore"]


def compare(case: Case, run: Run) -> None:
    if case.refusals:
        said = [Refusal(f.refusal.by, f.refusal.text) for f in run.findings if f.refusal and f.level == "error"]
        differences = [difference(recorded(text), said) for text in case.refusals]
        assert min(differences, key=len) == [], run.err
        assert (run.code, run.out) == (1, "")
    else:
        compare_objects(case, run)
    if case.warnings:
        compare_warnings(case, run)


def compare_objects(case: Case, run: Run) -> None:
    # What the controller builds and the JobSet server refuses is not written; it is compared all the same.
    refused = {f.rule.name for f in run.findings if f.level == "error"}
    assert refused <= {"jobset-refused"}, run.err
    assert (run.code, bool(run.out)) == (bool(refused), not refused)
    objects = [plain(tree) for bundle in run.bundles for tree in bundle.objects]
    assert refused or objects == run.objects
    carried = carried_labels(case.documents)
    jobsets = [tree for tree in objects if tree["kind"] == "JobSet"]
    services = [tree for tree in objects if tree["kind"] == "Service"]
    assert services == [made for tree in jobsets if (made := service(tree))]
    # Other documents of the job's file pass through; the controller has nothing to do with them.
    own = [tree for tree in objects if tree not in case.documents]
    made = reduced(own, recorded=False, carried=carried)
    answers = [reduced(read(text), recorded=True) for text in case.answers]
    assert made in answers or made == answers[0]


def compare_warnings(case: Case, run: Run) -> None:
    said = {f.refusal.text for f in run.findings if f.refusal and f.level == "warning"}
    for line in case.warnings.splitlines():
        assert line.partition(": ")[2].removesuffix(" pruned") in {text.removesuffix(" pruned") for text in said}, (
            run.err
        )


def test_the_claimed_cases_are_there() -> None:
    count: dict[str, int] = {}
    for case in CASES:
        if not reason(case):
            count[case.group] = count.get(case.group, 0) + 1
    assert count == CLAIMED
