"""A bundle's pods as processes on this machine: who meets whom, before any cluster is asked."""

from __future__ import annotations

from trainc.authoring.rehearse.processes import Process, Script, script, use_nearby
from trainc.authoring.rehearse.stage import Ended, perform

__all__ = ["Ended", "Process", "Script", "perform", "script", "use_nearby"]
