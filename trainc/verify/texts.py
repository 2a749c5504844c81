"""What is worth a look in a single text of a job: a word of a command, an image, a name, a key."""

from __future__ import annotations

from trainc.frameworks.vocabularies import EVERY, MPIRUN, TORCHRUN
from trainc.model.remembered import Remembered
from trainc.verify.data.pairs import PAIRS
from trainc.verify.rules.bundles import TCPXO_DAEMON
from trainc.verify.rules.hygiene import moving
from trainc.verify.rules.tokens import holds_token
from trainc.verify.shell import SHELLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_NOTHING: frozenset[str] = frozenset()

# A trait of the same name: the text of some command holds this.
_WORDS = (
    "parallel",
    "batch",
    "global",
    "sleep",
    "tail",
    "while",
    "install",
    "http",
    "git",
    *MPIRUN.programs,
    "python",
    "$",
)


def _spellings(options: Iterable[str]) -> list[str]:
    """Options as they are written, with dashes or with underscores."""
    return [spelling for option in options if option for spelling in (option, option.replace("_", "-"))]


_MARKS = {
    **{word: word for word in _WORDS},
    # An address to meet at.
    "rdzv": "meets",
    "master": "meets",
    "main_process": "meets",
    "main-process": "may meet",
    # Options of launchers: how many nodes, how many processes on each.
    **dict.fromkeys(_spellings(launcher.nodes[0] for launcher in EVERY.launchers), "nodes option"),
    "nproc": "processes option",
    "num_gpus": "processes option",
    "num-gpus": "processes option",
    "num_processes": "processes option",
    "num-processes": "processes option",
    **dict.fromkeys(TORCHRUN.words, "torchrun"),
    # Options of trainers: where they write.
    "output": "output",
    "checkpoint": "output",
    "ckpt": "output",
    "save": "output",
    "root_dir": "output",
    "root-dir": "output",
    "logging": "output",
}


_PAIRED = {name: trait for *pair, _ in PAIRS for name, trait in zip(pair, ("a daemon", "a plugin"), strict=True)}


def _word(word: str) -> frozenset[str]:
    found = {_MARKS[mark] for mark in _MARKS if mark in word}
    if "output" in found and ("checkpoint" in word or "ckpt" in word):
        found.add("checkpoints")
    if word.rpartition("/")[2] in SHELLS:
        found.add("shell")
    if holds_token(word):
        found.add("secret")
    return frozenset(found) or _NOTHING


def _image(image: str) -> frozenset[str]:
    found = set()
    if moving(image):
        found.add("moving image")
    if TCPXO_DAEMON in image:
        found.add("tcpxo daemon")
    found.update([trait for name, trait in _PAIRED.items() if name in image])
    return frozenset(found) or _NOTHING


# The traits of a word of a command, and of an image.
WORDS, IMAGES = Remembered(_word), Remembered(_image)
