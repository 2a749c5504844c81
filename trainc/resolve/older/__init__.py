"""Older job kinds: a table and what is truly each kind's own, giving the plan a TrainJob gives."""

from __future__ import annotations

from trainc.resolve.older.job import Options
from trainc.resolve.older.plan import older

__all__ = ["Options", "older"]
