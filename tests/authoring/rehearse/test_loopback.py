"""Pods' addresses on one machine."""

import socket

import pytest

from trainc.authoring.rehearse import HERE, Loopback, free_port, is_free

PODS = [f"run-node-0-{index}.run" for index in range(12)]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("run-node-0-0.run", "127.0.0.1"),
        ("--rdzv_endpoint=run-node-0-0.run:4", "--rdzv_endpoint=127.0.0.1:4"),
        ("run-node-0-10.run,run-node-0-1.run", "127.0.0.1,127.0.0.1"),
        ("another-run-node-0-0.run", "another-run-node-0-0.run"),
        ("run-node-0-0.runner", "run-node-0-0.runner"),
        ("plain", "plain"),
    ],
)
def test_an_address_becomes_loopback(written: str, expected: str) -> None:
    assert Loopback(PODS, ()).mapped(written) == expected


def test_equal_ports_of_several_hosts_become_different() -> None:
    loopback = Loopback(PODS, ())
    first, second, again = (loopback.mapped(f"run-node-0-{i}.run:2222") for i in (0, 1, 0))
    assert first == again == "127.0.0.1:2222"
    assert second.startswith("127.0.0.1:")
    assert second != first


def test_a_port_that_is_taken_moves_wherever_it_is_named() -> None:
    with socket.socket() as taken:
        taken.bind((HERE, 0))
        port = taken.getsockname()[1]
        assert not is_free(port)
        loopback = Loopback(PODS, [port])
        moved = loopback.moved[str(port)]
        assert loopback.variable("MASTER_PORT", str(port)) == moved
        assert loopback.variable("BATCH", str(port)) == str(port)
        assert loopback.mapped(f"run-node-0-0.run:{port}") == f"127.0.0.1:{moved}"


def test_the_addresses_in_a_text_are_found() -> None:
    assert list(Loopback(PODS, ()).named_in("run-node-0-1.run:5 and run-node-0-2.run")) == [
        "run-node-0-1.run:5",
        "run-node-0-2.run",
    ]


def test_a_job_without_pods_has_no_addresses() -> None:
    assert Loopback([], ()).mapped("anything") == "anything"


def test_a_free_port_is_free() -> None:
    assert is_free(int(free_port()))
