"""Versions of GKE's network daemons and NCCL plugins that recipes use together.

From xpk's constants and the values of gpu-recipes (read 2026-08). A daemon that is not listed is not judged.
"""

from __future__ import annotations

PAIRS: tuple[tuple[str, str, dict[str, frozenset[str]]], ...] = (
    ("tcpx/tcpgpudmarxd-dev", "tcpx/nccl-plugin-gpudirecttcpx-dev", {"v2.0.11": frozenset(("v3.1.7",))}),
    (
        "tcpxo/tcpgpudmarxd-dev",
        "tcpxo/nccl-plugin-gpudirecttcpx-dev",
        {
            "v1.0.12": frozenset(("v1.0.7", "v1.0.8", "v1.0.8-1")),
            "v1.0.13": frozenset(("v1.0.7", "v1.0.8", "v1.0.8-1")),
        },
    ),
)
