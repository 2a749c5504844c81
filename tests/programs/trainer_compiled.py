"""The row `compiled`: Trainer's own code and trainc make the same objects of a TrainJob, or refuse it alike."""

import json
import re
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import yaml

from tests.compiling import Run, compile_in
from tests.conformance.harness import carried_labels, reduced
from tests.conformance.refusals import Refusal, ordered
from tests.programs.differences import Difference, Input, Outcome, compared, first_difference, pattern
from tests.programs.draw import Schema
from tests.programs.modules import Program, built
from tests.programs.process import Process
from tests.programs.trainer_inputs import trainjob_with_runtime
from trainc.model.finding import Finding
from trainc.model.tree import plain

_OPTIONS = ("--only", "admission", "--closed-world", "--field-validation", "warn")
# Where Trainer's own answer is an accident: that a job is not made is all that counts.
_ACCIDENTS = frozenset({"build", "panic", "decode", "input"})
# The server stops here where the schema has refused; trainc goes on.
_STOPPED = "some validation rules were not checked because the object was invalid"
_PROCESSES = 12
_MEMBERS = "PodGroup.spec.minMember"
_TIME = re.compile(r'"time":"[^"]*",')  # of a patch, set by the webhook
# Errors of trainc about what the server of JobSets says later, and what Trainer compiles.
_LATER = frozenset({"jobset-refused"})


class Trainers:
    """Processes of one program. Each has its plugins in an order of its own, by chance, so there are several right answers."""

    def __init__(self, program: Path, definitions: str) -> None:
        self._start = partial(Process, program, definitions)
        self._open = ExitStack()
        self._processes = [self._open.enter_context(self._start())]

    def __enter__(self) -> Self:
        """The processes."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End all."""
        self._open.close()

    def answers(self, documents: Input) -> Iterator[dict[str, Any]]:
        """The answer of each, those that nobody has needed before started when they are."""
        for index in range(_PROCESSES):
            if index == len(self._processes):
                self._processes.append(self._open.enter_context(self._start()))
            yield self._processes[index].ask({"objects": documents})


def ask(program: Program, seed: int, count: int) -> Outcome:
    """Ask `count` TrainJobs with their runtimes."""
    place = built(program)
    definitions = place / "files/manifests/base/crds"
    with Trainers(place / "program", str(definitions)) as trainers, tempfile.TemporaryDirectory() as folder:
        inputs = _inputs(schemas(definitions), seed, count)
        differs = partial(difference, trainers, Path(folder))
        return compared(f"{program.id} compiled", inputs, differs)


def schemas(definitions: Path) -> dict[str, Schema]:
    """The schema of each kind of the definitions in a folder."""
    crds = [yaml.load(file.read_text("utf-8"), yaml.CSafeLoader) for file in sorted(definitions.glob("*_*.yaml"))]
    return {crd["spec"]["names"]["kind"]: crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] for crd in crds}


def _inputs(known: dict[str, Schema], seed: int, count: int) -> Iterator[Input]:
    for index in range(count):
        yield trainjob_with_runtime(seed * 1_000_003 + index, known)


def difference(trainers: Trainers, folder: Path, documents: Input) -> Difference | None:
    """How Trainer and trainc differ about some documents, None where they agree."""
    answers = trainers.answers(documents)
    answer = next(answers)
    text = "\n---\n".join(json.dumps(document) for document in documents)
    (folder / "input.yaml").write_text(text + "\n", "utf-8")
    run = compile_in(folder, "build", "input.yaml", *_OPTIONS)
    refused = [f for f in run.findings if f.level == "error" and f.rule.name not in _LATER]
    theirs = [refusal for refusal in answer["refusals"] if _STOPPED not in refusal["message"]]
    filled_in = [finding for finding in refused if _is_filled_in(documents, finding)]
    if filled_in and (
        theirs or filled_in == refused
    ):  # where both refuse, the server goes on to rules that trainc leaves out
        return None
    if run.code not in {0, 1}:
        return Difference(f"trainc ends with {run.code}", json.dumps(theirs), run.err)
    if not theirs and not refused:
        found = _of_objects(documents, answer["objects"], run)
        for other in answers if found is not None else ():
            if not other["refusals"] and _of_objects(documents, other["objects"], run) is None:
                return None
        return found
    if not theirs:
        words = "; ".join(f"{f.rule.name}: {f.refusal.text if f.refusal else f.message}" for f in refused)
        return Difference(f"only trainc refuses: {pattern(words)}", "accepted", run.err)
    first = theirs[0]
    words = f"{first['by']} {first['kind']}: {first['message']}"
    if not refused:
        return Difference(f"only Trainer refuses: {pattern(words)}", words, run.err or "accepted")
    return _of_words(theirs, run)


def _is_filled_in(documents: Input, finding: Finding) -> bool:
    """Whether Trainer's webhook writes an empty value for a field that is required, before anybody looks at the schema.

    It does so in each job with a patch: it sets the patch's time, and what it answers has gone through Go's types. So a
    variable without a name is refused in other jobs, and in these by no server before the pod's.
    """
    patched = any((document.get("spec") or {}).get("runtimePatches") for document in documents)
    return patched and finding.refusal is not None and finding.refusal.text.endswith(": Required value")


def _of_objects(documents: Input, objects: list[Any], run: Run) -> Difference | None:
    mine = [plain(tree) for bundle in run.bundles for tree in bundle.objects]
    own = [tree for tree in mine if tree not in documents]
    carried = carried_labels(documents)
    ours = reduced(own, recorded=False, carried=carried)
    for tree in objects:
        if tree["kind"] == "JobSet" and "labels" in tree["metadata"]:
            labels = tree["metadata"]["labels"]
            tree["metadata"]["labels"] = {key: value for key, value in labels.items() if key not in carried}
    answers = reduced(objects, recorded=True)
    found = first_difference(_without_empty_names(answers), _without_empty_names(ours))
    if found is None:
        return None
    path, theirs, others = found
    if path.endswith(_MEMBERS) and theirs < 0:  # the sum of pods is more than an int32 holds
        return None
    return Difference(f"objects differ: {path}", json.dumps(theirs, default=str), json.dumps(others, default=str))


def _of_words(refusals: list[dict[str, str]], run: Run) -> Difference | None:
    """Both refuse: each sentence of the server has to be one of trainc's."""
    said = {ordered(Refusal("", f.refusal.text)).text for f in run.findings if f.refusal}
    for refusal in refusals:
        if refusal["by"] not in _ACCIDENTS and not any(_alike(refusal["message"], text) for text in said):
            words = f"{refusal['by']} {refusal['kind']}: {refusal['message']}"
            return Difference(f"other words: {pattern(words)}", words, " | ".join(sorted(said)) or run.err)
    return None


def _alike(theirs: str, ours: str) -> bool:
    """Whether trainc's sentence is the server's, or one of those that it joined."""
    return ours in ordered(Refusal("", _TIME.sub("", theirs))).text


def _without_empty_names(node: Any) -> Any:
    """Definitions default the name in a reference to the empty text, which Go leaves out."""
    if isinstance(node, dict):
        return {key: _without_empty_names(value) for key, value in node.items() if (key, value) != ("name", "")}
    return [_without_empty_names(value) for value in node] if isinstance(node, list) else node


def between(old: Program, new: Program, seed: int, count: int) -> Outcome:
    """What changed from one version of Trainer to another, asked with what the newer one's definitions have."""
    places = built(old), built(new)
    folders = [place / "files/manifests/base/crds" for place in places]
    with (
        Process(places[0] / "program", str(folders[0])) as before,
        Process(places[1] / "program", str(folders[1])) as after,
    ):
        differs = partial(_changed, before, after)
        return compared(f"{old.id} and {new.id}", _inputs(schemas(folders[1]), seed, count), differs)


def _changed(before: Process, after: Process, documents: Input) -> Difference | None:
    first, second = before.ask({"objects": documents}), after.ask({"objects": documents})
    refusals = [f"{refusal['by']} {refusal['kind']}: {refusal['message']}" for refusal in first["refusals"]]
    others = [f"{refusal['by']} {refusal['kind']}: {refusal['message']}" for refusal in second["refusals"]]
    if bool(refusals) != bool(others):
        words = pattern((refusals or others)[0])
        return Difference(
            f"only {'the older' if refusals else 'the newer'} refuses: {words}", str(refusals), str(others)
        )
    found = (
        None
        if refusals
        else first_difference(_without_empty_names(_named(first)), _without_empty_names(_named(second)))
    )
    return Difference(f"objects differ: {found[0]}", str(found[1]), str(found[2])) if found else None


def _named(answer: dict[str, Any]) -> dict[str, Any]:
    return reduced([tree for tree in answer["objects"] if tree["kind"] != "Secret"], recorded=True)
