"""Messages of Argo CD's plugin protocol on the wire: just enough protobuf for its eight messages."""

from collections.abc import Iterator

SERVICE = "plugin.ConfigManagementPluginService"
Field = tuple[int, "int | bytes"]


def encode(*fields: tuple[int, int | bool | str | bytes]) -> bytes:
    """A message of these fields, in this order; false and empty ones are left out, as protobuf does."""
    out = bytearray()
    for number, content in fields:
        if isinstance(content, int):
            if content:
                out += _varint(number << 3) + _varint(int(content))
        elif content or number < 0:
            data = content.encode() if isinstance(content, str) else content
            out += _varint(number << 3 | 2) + _varint(len(data)) + data
    return bytes(out)


def decode(data: bytes) -> Iterator[Field]:
    """The fields of a message, in order: numbers as int, everything else as bytes."""
    at = 0
    while at < len(data):
        key, at = _read(data, at)
        size, at = _read(data, at)
        if key & 7 == 0:
            yield key >> 3, size
        else:
            assert key & 7 == 2, "no fixed-width field occurs in this protocol"
            yield key >> 3, data[at : at + size]
            at += size


def text(content: int | bytes) -> str:
    """A field that holds text."""
    assert isinstance(content, bytes)
    return content.decode()


def _varint(number: int) -> bytes:
    out = bytearray()
    while True:
        number, low = number >> 7, number & 0x7F
        out.append(low | 0x80 if number else low)
        if not number:
            return bytes(out)


def _read(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number, at
