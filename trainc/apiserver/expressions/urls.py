"""URLs as Go's net/url reads them."""

import re
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import quote, unquote_to_bytes

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_NO_SCHEME = re.compile(r"[A-Za-z0-9+.-]*")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_PORT = re.compile(r"(:[0-9]*)?")
_IN_PATH = "$&+,/:;=@-_.~"  # what Go leaves as it is in a path
_IN_ENCODED_PATH = re.compile(r"[A-Za-z0-9$&+,/:;=@\-_.~!'()*\[\]%]*")
_IN_HOST = re.compile(r"[A-Za-z0-9\-_.~!$&'()*+,;=:\[\]<>\"\x80-\U0010ffff]*")
_IN_ZONE = re.compile(r"[A-Za-z0-9\-_.~!$&'()*+,;=:\[\]<>\"%\x00-\x20\x80-\U0010ffff]*")
_USER = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*")


class URL(NamedTuple):
    """The parts of a URL; `host` has the port, `path` and `query` are as they are written."""

    scheme: str
    host: str
    path: str
    query: str

    @property
    def hostname(self) -> str:
        """The host without its port and brackets."""
        name = self.host[: len(self.host) - len(self.port) - 1] if self._colon >= 0 else self.host
        return name[1:-1] if name.startswith("[") and name.endswith("]") else name

    @property
    def port(self) -> str:
        """The port, empty where none is written."""
        return self.host[self._colon + 1 :] if self._colon >= 0 else ""

    @property
    def _colon(self) -> int:
        colon = self.host.rfind(":")
        return colon if colon >= 0 and _PORT.fullmatch(self.host[colon:]) else -1

    @property
    def escaped_path(self) -> str:
        """The path with its escapes, and with others where Go wants them."""
        default = quote(unquote_to_bytes(self.path), safe=_IN_PATH)
        return self.path if self.path == default or _IN_ENCODED_PATH.fullmatch(self.path) else default

    @property
    def values(self) -> dict[str, list[str]]:
        """The parameters of the query; those with a semicolon or a wrong escape are left out."""
        out: dict[str, list[str]] = {}
        for part in self.query.split("&"):
            if part and ";" not in part and not _BAD_ESCAPE.search(part):
                key, _, value = [_text(word.replace("+", " ")) for word in part.partition("=")]
                out.setdefault(key, []).append(value)
        return out


def read_url(text: str) -> URL:
    """The URL of a text, which has a scheme or begins with a slash; ValueError for any other, as ParseRequestURI has it."""
    _parsed(text, of_request=True)
    rest, _, fragment = text.partition("#")
    if _BAD_ESCAPE.search(fragment):
        raise ValueError("invalid URL escape")
    return _parsed(rest, of_request=False)


def _parsed(text: str, *, of_request: bool) -> URL:
    if any(ord(letter) < 32 or ord(letter) == 127 for letter in text):
        raise ValueError("net/url: invalid control character in URL")
    if not text and of_request:
        raise ValueError("empty url")
    if text == "*":
        return URL("", "", "*", "")
    scheme, rest = _scheme(text)
    rest, _, query = rest.partition("?")
    if not rest.startswith("/"):
        if scheme:
            return URL(scheme, "", "", query)
        if of_request:
            raise ValueError("invalid URI for request")
        if ":" in rest.partition("/")[0]:
            raise ValueError("first path segment in URL cannot contain colon")
    host = ""
    if rest.startswith("//") and (scheme or not (of_request or rest.startswith("///"))):
        authority, slash, after = rest[2:].partition("/")
        rest = slash + after
        user, at, where = authority.rpartition("@")
        host = _host(scheme, where)
        if at and not _USER.fullmatch(user):
            raise ValueError("net/url: invalid userinfo")
        if _BAD_ESCAPE.search(user):
            raise ValueError("invalid URL escape")
    if _BAD_ESCAPE.search(rest):
        raise ValueError("invalid URL escape")
    return URL(scheme, host, rest, query)


def _scheme(text: str) -> tuple[str, str]:
    if (match := _SCHEME.match(text)) is not None:
        return match[1].lower(), text[match.end() :]
    if text.startswith(":"):
        raise ValueError("missing protocol scheme")
    return "", text


def _host(scheme: str, host: str) -> str:
    opening = host.rfind("[")
    if opening > 0:
        raise ValueError("invalid IP-literal")
    if opening == 0:
        closing = host.rfind("]")
        if closing < 0:
            raise ValueError("missing ']' in host")
        port, name = host[closing + 1 :], host[1:closing]
        _check_port(port)
        before, zone, _ = name.partition("%25")
        address = _unescaped(before, _IN_HOST)
        if zone:
            address += _unescaped(name[len(before) :], _IN_ZONE)
        if ip_address(address).version == 4:
            raise ValueError("invalid IP-literal")
        return f"[{address}]{port}"
    first, last = host.find(":"), host.rfind(":")
    if first >= 0:
        _check_port(host[first if scheme in ("http", "https") else last :])
    return _unescaped(host, _IN_HOST)


def _check_port(port: str) -> None:
    if not _PORT.fullmatch(port):
        raise ValueError(f'invalid port "{port}" after host')


def _unescaped(text: str, allowed: re.Pattern[str]) -> str:
    """The text of a host, whose escapes stand for characters beyond ASCII alone."""
    in_zone = allowed is _IN_ZONE
    for match in re.finditer("%(..?)?", text):
        code = match[1] or ""
        if not re.fullmatch("[0-9A-Fa-f]{2}", code) or (not in_zone and int(code, 16) < 128 and code != "25"):
            raise ValueError(f'invalid URL escape "{match[0]}"')
    plain = re.sub("%..", "", text)
    if not allowed.fullmatch(plain):
        raise ValueError("invalid character in host name")
    return _text(text)


def _text(escaped: str) -> str:
    return unquote_to_bytes(escaped).decode("utf-8", "replace")
