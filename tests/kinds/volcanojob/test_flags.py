"""Flags of Volcano's plugins are read as Go's package flag reads them, mistakes included."""

import pytest

from trainc.kinds.volcanojob.spec import Flags

DEFAULTS = Flags("pytorch", ()).values


@pytest.mark.parametrize(
    ("arguments", "changed", "stopped"),
    [
        ([], {}, -1),
        (["--port=5000", "-master=chief"], {"port": 5000, "master": "chief"}, -1),
        (["--port", "5000", "--wait-master-enabled"], {"port": 5000, "wait-master-enabled": True}, -1),
        (["--port=0x10"], {"port": 16}, -1),
        (["--port=010"], {"port": 8}, -1),
        (["--port=five", "--master=chief"], {"port": 0}, 0),
        (["--port=" + "0" * 5000 + "7"], {"port": 7}, -1),
        (["--port=9223372036854775807"], {"port": 2**63 - 1}, -1),
        (["--port=9223372036854775808", "--master=chief"], {"port": 2**63 - 1}, 0),
        (["--port=-" + "9" * 5000], {"port": 1 - 2**63}, 0),
        (["--port=0x" + "f" * 5000], {"port": 2**63 - 1}, 0),
        (["--wait-master-enabled=yes"], {"wait-master-enabled": False}, 0),
        (["--wait-master-enabled", "false", "--port=1"], {"wait-master-enabled": True}, 1),
        (["--master=chief", "port=1", "--worker=w"], {"master": "chief"}, 1),
        (["--", "--port=1"], {}, 0),
        (["--slots=2", "--port=1"], {}, 0),
        (["--port"], {}, 0),
        (["---port=1"], {}, 0),
    ],
)
def test_flags(arguments: list[str], changed: dict[str, object], stopped: int) -> None:
    flags = Flags("pytorch", arguments)
    assert flags.values == DEFAULTS | changed
    assert flags.stopped == stopped
