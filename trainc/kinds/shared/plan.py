"""Older job kinds: a table and what is truly each kind's own, giving the plan a TrainJob gives."""

from __future__ import annotations

from trainc.kinds.shared.conversion import older
from trainc.kinds.shared.job import LegacyOptions

__all__ = ["LegacyOptions", "older"]
