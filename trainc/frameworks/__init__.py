"""The table of frameworks, each a module that is loaded for the first job of it.

A plan comes in; patches and objects go out: environment, ports, launchers. No framework imports another one or a scheduler.
"""

import sys

from trainc.frameworks.base.vocabularies import EVERY, VOCABULARIES
from trainc.model.patches import Framework
from trainc.model.vocabulary import Vocabulary, joined
from trainc.text.plugins import FRAMEWORKS as FOREIGN
from trainc.text.plugins import installed

FRAMEWORKS = tuple(VOCABULARIES)  # the names of trainc's own, each that of its module

# What the operators before TrainJob gave their processes; no runtime selects these.
OLDER = {
    "jaxjob": "trainc.kinds.jaxjob",
    "pytorchjob": "trainc.kinds.pytorchjob",
    "tfjob": "trainc.kinds.tfjob",
    "xgboostjob": "trainc.kinds.xgboostjob",
    "paddlejob": "trainc.kinds.paddlejob",
    "mpijob": "trainc.kinds.mpijob.environment",
    "mpijob-ssh": "trainc.kinds.mpijob.ssh_environment",
    "vcjob": "trainc.kinds.volcanojob.environment",
    "armada": "trainc.kinds.armada",
    "leaderworkerset": "trainc.kinds.leaderworkerset",
    "minicluster": "trainc.kinds.minicluster.environment",
    "rayjob": "trainc.kinds.rayjob.environment",
}


def framework(name: str) -> Framework | None:
    """The framework of that name, trainc's own or an installed package's; None where nobody knows it.

    A package offers one as an entry point of the group `trainc.frameworks`. It adds, it never replaces: a name in
    the table is trainc's own.
    """
    path = f"trainc.frameworks.{name}" if name in FRAMEWORKS else OLDER.get(name)
    if path is None:
        return installed(FOREIGN, name, Framework)
    if path not in sys.modules:
        __import__(path)
    declared = sys.modules[path].FRAMEWORK
    assert isinstance(declared, Framework)
    return declared


def vocabulary_of(name: str) -> Vocabulary:
    """What the processes of any framework of trainc's own go by, and first those of the framework of that name."""
    if not name or name in FRAMEWORKS or name in OLDER:
        return EVERY
    own = framework(name)
    return EVERY if own is None else joined((own.vocabulary, EVERY))
