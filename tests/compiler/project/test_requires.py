from __future__ import annotations

import pytest

from trainc.compiler.project import fits


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("trainc>=0.1", True),
        ("trainc>=0.1.0", True),
        ("trainc >= 0.1", True),
        ("trainc>0.1", False),
        ("trainc>=0.1,<0.2", True),
        ("trainc>=0.2,<0.3", False),
        ("trainc==0.1.0", True),
        ("trainc!=0.1", False),
        ("trainc<=0.1.0.0", True),
        ("trainc>=0.10", False),
        ("trainc", None),
        ("trainc~=0.1", None),
        ("trainc>=one", None),
        ("kubectl>=1", None),
        ("", None),
        (f"trainc>={'9' * 5000}", None),
    ],
)
def test_fits(text: str, verdict: bool | None) -> None:
    assert fits(text, "0.1.0") is verdict
