"""Parameters of an application that are no JSON, or hold numbers beyond what Python reads, are trouble of the person."""

import pytest

from trainc.integrations.argocd import Parameters, parameters
from trainc.text.trouble import Trouble

MANY = "9" * 5000


@pytest.mark.parametrize(
    "text", [MANY, f"[{MANY}]", f'[{{"name": "cluster", "string": {MANY}}}]', "[" * 5000, "NaN", "{"]
)
def test_what_cannot_be_read_is_said(text: str) -> None:
    with pytest.raises(Trouble, match="ARGOCD_APP_PARAMETERS is not valid JSON"):
        parameters(text)


@pytest.mark.parametrize("digits", [400, 4000])
def test_a_number_is_no_text(digits: int) -> None:
    with pytest.raises(Trouble, match="parameter `cluster` is not a string"):
        parameters(f'[{{"name": "cluster", "string": {"9" * digits}}}]')


def test_what_is_asked_for() -> None:
    given = '[{"name": "cluster", "string": "west"}, {"name": "paths", "array": ["jobs"]}]'
    assert parameters(given) == Parameters("west", ("jobs",))
