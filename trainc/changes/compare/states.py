"""Rules on an output folder: every file in it is what its job compiles to, and nobody else's."""

from __future__ import annotations

from trainc.model.finding import ERROR, WARNING, Rule

OUT_OF_DATE = Rule(
    "out-of-date",
    ERROR,
    "a rendered file differs from what its job compiles to",
    "The cluster runs what is committed: a job whose rendering is missing or stale never reaches it.",
    admission=True,
)
FOREIGN_OUTPUT = Rule(
    "foreign-output",
    ERROR,
    "a file in the output folder was edited by hand or not written by trainc",
    "trainc never overwrites a file that it did not write.",
    admission=True,
)
IGNORED_BY_FLUX = Rule(
    "ignored-by-flux",
    WARNING,
    "a committed run changes in place, but Flux does not apply the change",
    "Flux creates a JobSet once (`ssa: IfNotPresent`) and never updates it; the commit changes nothing that runs.",
    admission=True,
)
