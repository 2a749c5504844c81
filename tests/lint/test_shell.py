"""Scripts as a shell would split them."""

import sys
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.lint.reading import verified
from trainc.lint.facts import shell
from trainc.lint.facts.shell import parsed, script_of, simple_commands, unquote


@pytest.mark.parametrize(
    ("words", "script", "options"),
    [
        (["bash", "-c", "a"], "a", "-c"),
        (["/bin/sh", "-ec", "a"], "a", "-ec"),
        (["bash", "-euo", "pipefail", "-c", "a"], "a", "-euo pipefail -c"),
        (["tini", "--", "bash", "-lc", "a"], "a", "-lc"),
        (["bash", "run.sh"], "", ""),
        (["python", "-c", "print()"], "", ""),
        (["bash", "-c"], "", "-c"),
        ([], "", ""),
    ],
)
def test_script_of(words: list[str], script: str, options: str) -> None:
    assert script_of(words) == (script, options)


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("a b; c", [("a b", ";"), ("c", "")]),
        ("a | tee log", [("a", "|"), ("tee log", "")]),
        ("a 2>&1 | b", [("a", "|"), ("b", "")]),
        ("a && b || c", [("a", "&&"), ("b", "||"), ("c", "")]),
        ("a \\\n  --b\nc", [("a --b", "\n"), ("c", "")]),
        ("# no\na # rest", [("a", "")]),
        ("echo 'a; b' \"c | d\"", [("echo a; b c | d", "")]),
        ("X=1 Y=2 a $(b; c)", [("a $(b; c)", "")]),
        ("if a; then b; fi", [("a", ";"), ("b", ";")]),
        ("cat <<EOF > f\na; b\nEOF\nc", [("cat", "\n"), ("c", "")]),
        ("a & wait", [("a", "&"), ("wait", "")]),
        ("", []),
    ],
)
def test_simple_commands(script: str, expected: list[tuple[str, str]]) -> None:
    found = [(" ".join(command.words), command.end) for command in simple_commands(script) if command.words]
    assert found == expected


def test_assignments_are_kept_apart() -> None:
    (command,) = simple_commands("A=1 B='two words' run")
    assert (command.assigned, command.program) == ({"A": "1", "B": "two words"}, "run")


@given(st.text(alphabet="ab $(){}'\"\\|&;\n#<>=`-", max_size=60))
def test_any_text_is_read_to_its_end(script: str) -> None:
    for command in simple_commands(script):
        assert all(isinstance(word, str) for word in command.words)
    assert isinstance(unquote(script), str)


RULE = "variable-without-shell"


def levels(**container: Any) -> list[str]:
    """The levels of what the rule says of a container."""
    pod = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "r.example/t:1", **container}]}
    job = {"backoffLimit": 0, "parallelism": 2, "completions": 2, "template": {"spec": pod}}
    tree = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "j"},
        "spec": {"replicatedJobs": [{"name": "w", "template": {"spec": job}}]},
    }
    return [finding.level for finding in verified(yaml.safe_dump(tree)).findings if finding.rule.name == RULE]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["torchrun", "--nnodes=$NODES", "train.py"], ["error"]),
        (["torchrun", "--node_rank", "$rank", "train.py"], ["error"]),
        (["torchrun", "--master_addr=$HEAD", "train.py"], ["error"]),
        (["torchrun", "--nnodes=2", "train.py", "--nnodes=$NODES"], ["warning"]),
        (["python", "-m", "torch.distributed.run", "--nproc-per-node=$NGPU", "train.py"], ["error"]),
        (["mpirun", "-np", "$NP", "python", "train.py"], ["error"]),
        (["mpirun", "-np", "2", "-x", "PATH=$PATH", "python", "train.py"], ["error"]),
        (["accelerate", "launch", "--num_processes=$N", "train.py"], ["error"]),
        (["accelerate", "launch", "--main_process_ip", "$HEAD", "train.py"], ["error"]),
        (["deepspeed", "--num_gpus", "$N", "train.py"], ["error"]),
        (["deepspeed", "--hostfile=$HOSTS", "train.py"], ["warning"]),
        (["python", "train.py", "--out", "$out"], ["warning"]),
        (["python", "train.py", "$SRC", "$DST"], ["warning", "warning"]),
        (["bash", "run.sh", "$OUT"], ["warning"]),
        (["sh", "-c", 'exec "$@"', "run", "python", "train.py", "$OUT"], ["warning"]),
        (["torchrun", "--nnodes=${NODES}", "train.py"], []),
        (["torchrun", "--nnodes=$(NODES)", "train.py"], []),
        (["python", "train.py", "--out=$$OUT"], []),
        (["python", "train.py", "--skip", "^loss$"], []),
        (["python", "train.py", "--skip", "cost$", "--price=5$"], []),
        (["python", "train.py", "--skip", "^(head|tail)$|^$NAME"], []),
        (["python", "train.py", "--where", '{"$OR": [1]}'], []),
        (["python", "train.py", "--title", "costs $us"], []),
        (["python", "-c", "print('$HOME')"], []),
        (["bash", "-c", "torchrun --nnodes=$NODES train.py"], []),
        (["timeout", "1h", "nice", "-n", "5", "env", "A=1", "bash", "-ec", "echo $OUT"], []),
        (["ssh", "head", "echo", "$OUT"], []),
    ],
)
def test_a_variable_without_a_shell(command: list[str], expected: list[str]) -> None:
    assert levels(command=command) == expected


def test_the_command_of_an_image_is_not_known() -> None:
    """Its first argument may be a script; what follows reaches the program as it is written, or a shell of the image."""
    assert levels(args=["$SCRIPT"]) == []
    assert levels(args=["torchrun", "--nnodes=$NODES"]) == ["warning"]
    assert levels(args=["--out=$OUT"], env=[{"name": "OUT", "value": "/out"}]) == []
    assert levels(args=["train", "--out=$OUT"], env=[{"name": "OUT", "value": "/out"}]) == ["warning"]


def test_a_file_that_is_filled_in_later() -> None:
    command = ["python", "train.py", "--out=$OUT"]
    assert levels(command=command) == ["warning"]
    assert levels(command=command, image="r.example/t:$TAG") == []
    assert levels(command=[*command, "--log=${OUT}/log"]) == []


def test_what_only_a_shell_knows() -> None:
    """The kubelet expands variables of `env`; those of the image, such as HOME, are not among them."""
    assert levels(command=["python", "train.py", "--out=$HOME/run"]) == ["error"]


@pytest.fixture
def without_grammar(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(sys.modules, "tree_sitter", None)
    shell.grammar.cache_clear()
    shell._PARSED.clear()
    yield
    shell.grammar.cache_clear()
    shell._PARSED.clear()


def findings_of(command: list[str]) -> list[str]:
    pod = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "r.example/t:1", "command": command}]}
    tree = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "j"},
        "spec": {"replicatedJobs": [{"name": "w", "template": {"spec": {"template": {"spec": pod}}}}]},
    }
    found = verified(yaml.safe_dump(tree)).findings
    return [finding.rule.name for finding in found if finding.rule.name == "script-not-read"]


@pytest.mark.usefixtures("without_grammar")
def test_a_script_without_a_grammar_is_an_error() -> None:
    """An installation without the grammar says so; a command without a shell needs none."""
    assert findings_of(["bash", "-c", "torchrun train.py"]) == ["script-not-read"]
    assert findings_of(["torchrun", "train.py"]) == []


def test_a_script_with_a_grammar_is_read() -> None:
    assert findings_of(["bash", "-c", "torchrun train.py"]) == []


@pytest.mark.parametrize("script", ["a | " * 30_000, "x" * 40_000, "`<{" * 10_000])
def test_a_script_that_nobody_wrote_is_not_read(script: str) -> None:
    assert parsed(script).commands == []


def test_words_have_places() -> None:
    script = "set -e\nmkdir -p /ö && run \\\n  --lr '1 2' > log\n"
    words = [word for command in simple_commands(script) for word in command.places]
    assert [script[word.start : word.end] for word in words] == [
        "set", "-e", "mkdir", "-p", "/ö", "run", "--lr", "'1 2'"
    ]  # fmt: skip
