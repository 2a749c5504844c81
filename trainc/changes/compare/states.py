"""Rules on an output folder: every file in it is what its job compiles to, and nobody else's."""

from __future__ import annotations

from trainc.model.finding import ERROR, WARNING, Rule

OUT_OF_DATE = Rule(
    "out-of-date",
    ERROR,
    "a rendered file is not what its job compiles to",
    "What is committed is what runs: a job whose rendering is missing or old never reaches the cluster.",
    admission=True,
)
FOREIGN_OUTPUT = Rule(
    "foreign-output",
    ERROR,
    "a file in the output folder was changed by hand, or not written by trainc",
    "trainc overwrites nothing that somebody else has written.",
    admission=True,
)
IGNORED_BY_FLUX = Rule(
    "ignored-by-flux",
    WARNING,
    "a committed run changes in place, and Flux does not apply the change",
    "Flux creates a JobSet once (`ssa: IfNotPresent`) and leaves it alone after that; the commit changes nothing that runs.",
    admission=True,
)
