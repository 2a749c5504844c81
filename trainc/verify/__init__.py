"""Bundle -> Findings: will the servers take these pods, and will the pods find each other and run?"""

from __future__ import annotations

from trainc.verify.expand import expand, look, verify

__all__ = ["expand", "look", "verify"]
