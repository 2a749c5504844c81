"""Digests of what trainc remembers; what other programs read has SHA-256 instead."""

from __future__ import annotations

try:
    from _blake2 import blake2b  # as `hashlib` has it, which loads OpenSSL besides, and that takes milliseconds
except ImportError:
    from hashlib import blake2b

DIGEST = 32  # bytes


def digest_of(data: bytes) -> bytes:
    """The digest of some bytes: two that differ never have the same one."""
    return blake2b(data, digest_size=DIGEST).digest()
