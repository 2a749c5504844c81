"""What ran, what passed and what was skipped, by group."""

from __future__ import annotations

from collections import Counter

ran: Counter[str] = Counter()
passed: Counter[str] = Counter()
skipped: Counter[tuple[str, str]] = Counter()
