"""`requires:` of trainc.yaml: the versions of trainc that a project may be compiled with."""

from __future__ import annotations

from trainc import __version__
from trainc.model.finding import ERROR, Rule
from trainc.text.numbers import whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.compiler.project.checker import Checker
    from trainc.model.tree import Path

OTHER_TRAINC = Rule(
    "other-trainc",
    ERROR,
    "the project requires another version of trainc",
    "An older compiler may render the project differently, so trainc renders nothing until the versions match.",
    admission=True,
)
_SIGNS = (">=", "<=", "==", "!=", ">", "<")  # the longer first: `>` begins `>=`


def check_version(checker: Checker, path: Path) -> None:
    """A finding where this trainc is none that the project asks for, or where nobody can tell."""
    text = checker.text(path)
    if text is None:
        return
    verdict = fits(text)
    if verdict is None:
        checker.complain(path, f"`{text}` says nothing about a version", 'write for instance "trainc>=0.1"')
    elif not verdict:
        checker.report.add(
            OTHER_TRAINC.at(
                checker.document.span(path),
                f"this project requires `{text}`, and this is trainc {__version__}",
                help="install a version that fits, or change `requires` together with the rendered files",
            )
        )


def fits(text: str, version: str = __version__) -> bool | None:
    """Whether a version meets every condition of `trainc>=1.2,<2`; None where the text holds something else."""
    if not text.startswith("trainc"):
        return None
    ours = _numbers(version.partition("+")[0])
    verdict = True
    for condition in text.removeprefix("trainc").split(","):
        sign = next((sign for sign in _SIGNS if condition.strip().startswith(sign)), "")
        wanted = _numbers(condition.strip().removeprefix(sign).strip())
        if not sign or wanted is None or ours is None:
            return None
        verdict = verdict and _holds(sign, ours, wanted)
    return verdict


def _numbers(text: str) -> tuple[int, ...] | None:
    numbers = [number for part in text.split(".") if (number := whole_number(part)) is not None]
    if len(numbers) <= text.count("."):
        return None
    while len(numbers) > 1 and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


def _holds(sign: str, ours: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    return {
        ">=": ours >= wanted,
        "<=": ours <= wanted,
        "==": ours == wanted,
        "!=": ours != wanted,
        ">": ours > wanted,
        "<": ours < wanted,
    }[sign]
