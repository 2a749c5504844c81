"""Names that get too long once JobSet has added its suffixes."""

from __future__ import annotations

from trainc.lint.refusal import Explanation, Words
from trainc.model.finding import ERROR, Label, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.refusal import ServerComplaint

POD_NAME = Rule("pod-name-too-long", ERROR)
SELECTOR = Rule("placement-label-too-long", ERROR)


def _too_long(refused: ServerComplaint) -> Words:
    host = refused.reason.rpartition(": ")[2]
    role = refused.job.roles[int(refused.fault.message.partition("[")[2].partition("]")[0])]
    also = (Label(refused.job.at((*role.path, "name")), "and the role's name is part of it"),)
    if len(host) <= _MAX_LENGTH:
        return Words(
            f"the last pod would be called `{host}`, which is no host name",
            "use lower-case letters, digits and `-` for the name of the job and of the role",
            also=also,
        )
    return Words(
        f"the last pod would be called `{host}`, which has {len(host)} characters",
        f"shorten the name of the job or of the role by {len(host) - _MAX_LENGTH}",
        also=also,
    )


def _label(refused: ServerComplaint) -> Words:
    label = str(refused.fault.value)
    return Words(
        f"the label `{label}` has {len(label)} characters",
        f"shorten the name of the job, the role or the namespace by {len(label) - _MAX_LENGTH}",
    )


_MAX_LENGTH = 63

EXPLANATIONS = (
    Explanation(POD_NAME, "metadata.name", _too_long, "will not able to create pod"),
    Explanation(SELECTOR, "metadata.name", _label, "must be no more than 63 bytes"),
)
