"""Inputs such as strangers write: odd scripts and words in every container, odd scalars in every field, of every manifest.

Drawn from the board, the cases and what once broke something; `python -m tests.fuzz --strangers` runs them. `--from
FOLDER` draws from the YAML files of a folder instead.
"""

import random
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.board.board import FOLDER, manifests
from tests.fuzz.command_lines import arguments
from tests.fuzz.inputs import Input, corpus
from tests.fuzz.projects import DEFAULT_JOB, projects

Files = dict[str, bytes]

# ruff: noqa: RUF001, S108 (typographic characters are what is drawn, and a path of a pod)
WORDS = (
    "", "", " ", "-", "--", "-c", "-m", "-x", "+x", "é", "größe", "日本", "²", "–lr", "“a”", "’", "\u00a0", "\ufeff", "=", "=x", "LR=0.1", "LR=", "A=1", "$A", "${A:-}",
    "$(A)", "$$", "$", "`date`", "&", "&&", "||", "|", ";", ";;", "!", "(", ")", "{", "}", "[", "[[", "]]", "<", ">", "2>&1", "<<EOF", "<<-'E'", "EOF", "\\", "'", '"', "#",
    "# x", "*", "?", "~", "/", "//", ".", "..", ":", "a:", ":1", "0", "-1", "1.5", "1e999", "9" * 40, "true", "null", "set", "export", "cd", "exec", "eval", "source",
    "env", "nohup", "timeout", "sleep", "tail", "-f", "infinity", "sh", "bash", "/bin/sh", "python", "python3", "python3.", "pip", "install", "torchrun", "--nnodes",
    "--nnodes=", "--nnodes=:", "--nnodes=1:", "--nproc-per-node", "--nproc_per_node=gpu", "--rdzv-endpoint", "--rdzv-endpoint=:", "--node-rank", "accelerate", "launch",
    "deepspeed", "mpirun", "-np", "-H", "-H=", "a,b:", "-hostfile", "ray", "start", "--head", "--address=", "--resources", "--resources={", "flux", "run", "srun", "jax",
    "cuda", "cpu", "--device=", "--no_cuda", "--use_cpu", "train.py", "-m.x", "wget", "curl", "http://", "http:/x", "gs:/b", "s3//b", "://", "--out", "--out=", "ckpt",
    "checkpoint", "/dev/shm", "if", "then", "fi", "for", "do", "done", "while", "until", "case", "esac", "function", "echo", "printf",
)  # fmt: skip
LINES = (
    "LR=0.1", "LR=0.1 # cuda", "NNODES=2 MASTER=a", "export A", "export A=é", "A=$(B=1)", "=", 'if [ -z "$X" ]; then', "fi", "cat <<EOF", "cat <<'EOF' > a", "<<", "<<EOF",
    "EOF", "x <<A <<B", "A", "B", "for i in; do", "done", "while :; do", "((", "))", "case x in", "esac", "{", "}", "f() {", "set -", "set -euo", "set --", "trap '' EXIT",
    "exec", "exec >a", "cd", "cd -", "&", "a &", "wait", "wait $!", "python - <<EOF", "python -c", "python -", "python -m", "torchrun", "torchrun --", "torchrun -m", "mpirun",
    "mpirun -H", "mpirun -np", "\\", "a \\", "'", '"', "$(", "`", "${", "$((", "#", "", " ", "\t", "\r", "sleep", "tail -f", "pip install", "pip install -", "apt install",
    "source", ".", "eval", "ray start", "ray start --head --", "sleep infinity &", "| x", "x |", "x ||", "&& x", "!", "! x", "time", "env", "env -", "env A=1", "nohup",
    "timeout 5", "“a”", "–x", "echo “a”", "export", "unset", "A=1 B=2 python é.py", "python t.py --a= --b é \"\" ''", "torchrun --nnodes=$N --nproc-per-node= t.py",
)  # fmt: skip
SCALARS: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 0.5, 1.0, -0.0, 1e300, float("inf"), float("nan"), 2**31, 2**63, 10**40, "", " ", "0.5", "1", "-1", "true", "null", "é", "日本", "²", "a b",
    "-", "--", ".", "/", ":", "=", "a=", "=a", ",", "a,b", "${X}", "$(X)", "1Gi", "1.5Gi", "100m", "1e3", "1e999", "9" * 40, "x" * 300, "\n", "a\nb", "\u00a0", [], {}, [""],
    [None], {"": ""}, {"a": None}, [0.5], ["é", ""],
)  # fmt: skip
SCRIPTED = ("command", "args")
SHELLS: tuple[list[str], ...] = (
    ["bash", "-c"],
    ["sh", "-c"],
    ["/bin/bash", "-ec"],
    ["bash", "-c", "--"],
    ["sh"],
    ["bash", "-c", ""],
    ["env", "A=1", "sh", "-c"],
    [],
)


@cache
def sources(folder: str = "") -> tuple[Files, ...]:
    """The files that inputs are made of: the board, the cases and what once broke something, or those of a folder."""
    if folder:
        paths = sorted(
            path for ending in ("yaml", "yml") for path in Path(folder).rglob(f"*.{ending}") if path.is_file()
        )
        return tuple({DEFAULT_JOB: path.read_bytes()} for path in paths if path.stat().st_size < 100_000)
    board = [one.text for path in sorted(FOLDER.glob("*.txtar")) for one in manifests(path.stem)]
    found: list[Files] = [{DEFAULT_JOB: text.encode()} for text in board]
    found += [dict(project.files) for project in projects()]
    found += [given.files for given in corpus().values()]
    return tuple(files for files in found if files)


def strangers(seed: int, folder: str, index: int) -> Input:
    """The input of this index: of a folder first each file as it is; the same for the same seed, on every machine."""
    given = sources(folder)
    if folder and index < len(given):
        return Input(("validate", DEFAULT_JOB), dict(given[index]))
    chance = random.Random(f"strangers:{seed}:{index}")  # noqa: S311 (inputs have to be made again)
    files = dict(chance.choice(given))
    path = chance.choice(sorted(files))
    files[path] = _changed(files[path], chance)
    argv: tuple[str, ...] = ("validate", path) if chance.random() < 0.7 else arguments(chance, sorted(files))
    return Input(argv, files, stdin=files[path] if "-" in argv else b"")


def _changed(data: bytes, chance: random.Random) -> bytes:
    try:
        documents = [one for one in yaml.load_all(data, yaml.CSafeLoader) if isinstance(one, dict)]
    except (yaml.YAMLError, ValueError, RecursionError):
        return data
    for _ in range(chance.choice((1, 1, 2, 3))):
        holders = list(_maps(documents))
        if not holders:
            return data
        scripted = [one for one in holders if "image" in one or "command" in one or "args" in one]
        draw = chance.random()
        if scripted and draw < 0.6:
            _rewrite(chance.choice(scripted), chance)
        else:
            holder = chance.choice(holders)
            key = chance.choice([*holder, "x"])
            holder[key] = chance.choice(SCALARS) if chance.random() < 0.9 else _list(chance, WORDS)
    try:
        return yaml.safe_dump_all(documents, allow_unicode=chance.random() < 0.8, sort_keys=False).encode()
    except (yaml.YAMLError, ValueError, RecursionError):
        return data


def _maps(tree: Any) -> Iterator[dict[Any, Any]]:
    todo, seen = [tree], set()
    while todo:
        node = todo.pop()
        if id(node) in seen:
            continue  # an anchor: there may be a thousand million aliases of it, and one inside it
        seen.add(id(node))
        if isinstance(node, dict):
            yield node
        todo += node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()


def _rewrite(container: dict[Any, Any], chance: random.Random) -> None:
    """Other words, another script or other variables of a container, or odd ones among its own."""
    draw: Callable[..., Any] = chance.random
    if draw() < 0.35:
        container["command"] = [*chance.choice(SHELLS), _script(chance)]
        if draw() < 0.3:
            container["args"] = _list(chance, WORDS)
    elif draw() < 0.5:
        key = chance.choice(SCRIPTED)
        own = container.get(key)
        words = list(own) if isinstance(own, list) else []
        for _ in range(chance.randrange(1, 4)):
            words.insert(chance.randrange(len(words) + 1), chance.choice(WORDS))
        container[key] = words
    elif draw() < 0.8:
        container[chance.choice(SCRIPTED)] = _list(chance, WORDS)
    else:
        name = chance.choice(
            (
                "A",
                "",
                "é",
                "NCCL_DEBUG",
                "CUDA_VISIBLE_DEVICES",
                "MASTER_ADDR",
                "PET_NNODES",
                "JAX_PLATFORMS",
                "XLA_FLAGS",
                "WORLD_SIZE",
            )
        )
        own = container.get("env")
        container["env"] = [
            *(own if isinstance(own, list) else []),
            {"name": name, "value": chance.choice((*WORDS, *SCALARS))},
        ]


def _script(chance: random.Random) -> str:
    lines = _list(chance, LINES)
    lines += [" ".join(_list(chance, WORDS)) for _ in range(chance.randrange(3))]
    chance.shuffle(lines)
    return chance.choice(("\n", "\n", "; ", " && ")).join(lines)


def _list(chance: random.Random, choices: tuple[str, ...]) -> list[str]:
    return [chance.choice(choices) for _ in range(chance.randrange(6))]
