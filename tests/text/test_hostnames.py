"""Host names in texts, whatever they begin with."""

import pytest

from trainc.text.hostnames import hosts_in


@pytest.mark.parametrize("beginning", ["~x-", "?-", "Train_1-", "-"])
def test_the_search_goes_on(beginning: str) -> None:
    found = list(hosts_in(f" {beginning}node-0-0, {beginning}node-1-0", beginning))
    assert [host for _, host in found] == [f"{beginning}node-0-0", f"{beginning}node-1-0"]
