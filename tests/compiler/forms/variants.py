"""Jobs like a given one: mostly with other numbers, sometimes with something odd in the place of a value."""

import re
from collections.abc import Callable
from random import Random

from trainc.compiler.forms.template import Values, layout_of, parted
from trainc.model.report import Report
from trainc.yaml.reader import read

Style = Callable[[Random, str, list[str]], str]

# Numbers that mean something to somebody: limits, ports, counts, sizes.
TELLING = "0 1 2 3 4 7 8 9 10 15 16 17 22 31 32 60 62 63 64 65 80 99 100 127 128 253 255 256 300 443 511 512 600 768 "
TELLING += "1000 1023 1024 2048 2379 3389 4096 8080 8476 23456 29400 29500 32768 65535 65536 86400 99999 100000 999999"
TELLING_WORDS = (
    "node launcher worker master default latest main nightly python torchrun gpu tcpx cuda train data shm none true "
)
TELLING_WORDS += (
    "kube-system localhost global secret token changeme mpirun rank seed team speech-train null yes off sk-live jax"
)
ODD_NAMES = (
    "a",
    "bert-",
    "BERT",
    "x" * 40 + "-1",
    "x" * 51 + "-1",
    "x" * 60 + "-12",
    "run-r2",
    "train-r10",
    "a.b-1",
    "a_b-1",
    "y",
    "on",
    "null",
    "kube-system",
    "node-0",
    "bf16",
    "fp8",
    "1a",
    "12",
)
ODD_VALUES = (
    "latest",
    "1e3",
    "0o17",
    "0x1f",
    "012",
    '"007"',
    '"0"',
    "1_000",
    "12:30:45",
    "2026-11-22",
    "true",
    "y",
    "~",
    "-x",
    "_x",
    "$(HOME)-1",
    "${X1}",
    "hf_" + "a1" * 17,
    "ghp_" + "a1" * 18,
    "sk-" + "a1" * 24,
    "AKIA" + "A1" * 8,
    "eth0",
    "docker0",
    "lo",
    "gpu8",
    "v5e-16",
    "2x4",
    "host-1:29500",
    "x" * 62 + "1",
    "x" * 63 + "1",
    "a b 1",
    "http://a1",
    "/data/1",
)
ODD_IMAGES = (
    "a",
    "a:1",
    "a:01",
    "a:1:2",
    "localhost:5000/a",
    "localhost:5000/a:1",
    "a@sha256:" + "a1" * 32,
    "A:1",
    "nvcr.io/nvidia/pytorch:24.01-py3",
    "us-docker.pkg.dev/gce-ai-infra/gpudirect-tcpxo/tcpgpudmarxd-dev:v1.0.9",
    "us-docker.pkg.dev/gce-ai-infra/gpudirect-tcpxo/nccl-plugin-gpudirecttcpx-dev:v1.0.3",
    "ubuntu:22",
    "a:latest-1",
    "a:build-7",
)
ODD_ARGUMENTS = (
    "--lr=0.0003",
    "--lr=3e-4",
    "--seed=0",
    "--seed=012",
    "--nnodes=2",
    "--nproc-per-node=8",
    "--master-port=29500",
    "--rdzv-endpoint=host-1:29500",
    "--run-name=sk-abc-123456789012",
    "--run-name=12",
    "--output-dir=/data/out-1",
    "--global-batch-size=512",
    "--tensor-parallel-size=4",
    "--sleep=3600",
    "--experiment=v5e-16",
    "--seed",
    "12",
    "--token=hf_" + "a1" * 17,
)
_VALUE = re.compile(r"^( *(?:- )?[\w./-]+: )(\S.*)$")


def variants(text: str, file: str, count: int, random: Random) -> list[str]:
    """A text with numbers in places where jobs have them, and others like it."""
    text = _numbered(text, random)
    documents = list(read(text, file, Report()))
    is_one = text.isascii() and len(documents) == 1 and isinstance(documents[0].tree, dict)
    layout = layout_of(documents[0], text, whole_images=False) if is_one else None
    values = layout.read(parted(text)[1]) if layout is not None else None
    made = [text]
    for _ in range(count - 1):
        one = layout.text(_others(values, random)) if layout is not None and values else text
        if random.random() < 0.2:
            one = _one_number(one, random)
        made.append(_odd(one, random) if random.random() < 0.15 else one)
    return made


def _others(values: Values, random: Random) -> list[str]:
    """Other values; those that were the same, or a part of one another, mostly are so afterwards."""
    chosen: dict[str, str] = {}
    style = random.choice(_STYLES)
    for value in sorted(set(values), key=len):
        if random.random() < 0.1:
            chosen[value] = value
            continue
        inner = max((known for known in chosen if known in value and known.isalpha()), key=len, default="")
        if inner and random.random() < 0.8:
            before, _, after = value.partition(inner)
            chosen[value] = before + chosen[inner] + _runs(after, style, values, random)
        else:
            chosen[value] = _runs(value, style, values, random)
    return [random.choice(values) if random.random() < 0.03 else chosen[value] for value in values]


def _runs(value: str, style: Style, values: Values, random: Random) -> str:
    """A value with other words and numbers between its marks."""
    parts = re.split("([0-9]+|[a-z]{3,})", value)
    numbers = [run for one in values for run in re.findall("[0-9]+", one)] or ["1"]
    words = [run for one in values for run in re.findall("[a-z]{3,}", one)] or ["one"]
    for at in range(1, len(parts), 2):
        parts[at] = style(random, parts[at], numbers) if parts[at].isdigit() else _word(random, words)
    return "".join(parts)


def _word(random: Random, words: list[str]) -> str:
    """A word of nobody's, one that means something to somebody, or one of the same text."""
    kind = random.random()
    if kind < 0.6:
        return "".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=random.randrange(3, 12)))
    return random.choice(TELLING_WORDS.split()) if kind < 0.85 else random.choice(words)


def _one_number(text: str, random: Random) -> str:
    """A text with another number somewhere."""
    found = list(re.finditer("[0-9]+", text))
    if not found:
        return text
    run = random.choice(found)
    style = random.choice(_STYLES)
    return text[: run.start()] + style(random, run[0], [one[0] for one in found]) + text[run.end() :]


def _numbered(text: str, random: Random) -> str:
    """A text with a number in the job's name, an annotation and a label, unless it says something of its own there."""
    number = f"{random.randrange(10_000):0{random.choice((1, 5))}}"
    text = re.sub(r"(?m)^(  name: [a-z][a-z-]*[a-z])$", rf"\1-{number}", text, count=1)
    for field, line in (("labels", f"sweep: sweep-{number}"), ("annotations", f"example.com/ticket: ML-{number}")):
        if f"\n  {field}:" not in text and random.random() < 0.7:
            text = re.sub(r"(?m)^metadata:$", f"metadata:\n  {field}:\n    {line}", text, count=1)
    if random.random() < 0.5:
        text = re.sub(r"(?m)^(    image: [a-z/.-]+):[0-9.]+$", rf"\1:{number.lstrip('0') or 1}", text)
    return text


def _other_digits(random: Random, run: str, values: list[str]) -> str:
    del values
    if run == "0":
        return run
    first = "0" if run[0] == "0" else random.choice("123456789")
    return first + "".join(random.choices("0123456789", k=len(run) - 1))


def _any_length(random: Random, run: str, values: list[str]) -> str:
    if run[0] == "0":
        return _other_digits(random, run, values)
    return str(random.randrange(1, 10 ** random.randrange(1, 7)))


def _telling(random: Random, run: str, values: list[str]) -> str:
    del values
    chosen = random.choice(TELLING.split())
    return chosen.zfill(len(run))[-len(run) :] if run[0] == "0" else chosen


def _of_the_text(random: Random, run: str, values: list[str]) -> str:
    return random.choice(values) if run[0] != "0" else run


def _of_today(random: Random, run: str, values: list[str]) -> str:
    del values
    number = str(random.randrange(100))
    return number.zfill(len(run))[-len(run) :] if run[0] == "0" else number


_STYLES: tuple[Style, ...] = (
    _other_digits,
    _any_length,
    _any_length,
    _telling,
    _of_the_text,
    _of_today,
)


def _odd(text: str, random: Random) -> str:
    """A text with something odd in the place of one value."""
    lines = text.split("\n")
    places = [index for index, line in enumerate(lines) if _VALUE.match(line)]
    if not places:
        return text
    index = random.choice(places)
    match = _VALUE.match(lines[index])
    assert match is not None
    head = match[1]
    choices: tuple[str, ...] = ODD_VALUES
    if head.strip(" -") == "name:":
        choices = ODD_NAMES
    elif head.strip(" -") == "image:":
        choices = ODD_IMAGES
    lines[index] = head + random.choice(choices)
    if random.random() < 0.3:
        starts = [at for at, line in enumerate(lines) if line.strip().startswith("- --")]
        if starts:
            at = random.choice(starts)
            lines[at] = lines[at].partition("- ")[0] + "- " + random.choice(ODD_ARGUMENTS)
    return "\n".join(lines)
