"""What waits for its turn, and how much of it."""

from trainc.model.settings import ROOM, Texts


def test_bytes_wait_until_they_are_dropped() -> None:
    texts = Texts()
    texts.hold("a", b"1")
    texts.hold("a", b"22")
    assert (texts.held("a"), texts.held("b")) == (b"1", None)
    texts.drop("a")
    texts.drop("a")
    assert texts.held("a") is None


def test_room_is_bounded_and_comes_back() -> None:
    texts = Texts()
    texts.hold("large", bytes(ROOM))
    texts.hold("late", b"1")
    assert texts.held("late") is None
    texts.drop("large")
    texts.hold("late", b"1")
    assert texts.held("late") == b"1"
