"""Kubernetes' own functions: quantities, URLs, IP addresses, CIDR ranges, formats, versions. Source: k8s.io/apiserver/pkg/cel/library (1.34)."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Iterable
from datetime import date
from ipaddress import IPv4Address, IPv4Interface, IPv6Address, IPv6Interface, ip_address, ip_interface
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from trainc.apiserver.names import dns1035, label, label_value, qualified, subdomain
from trainc.apiserver.policy.cel.conversions import timestamp
from trainc.apiserver.policy.cel.values import NONE, EvaluationError, Opaque, Optional, overload, text_of
from trainc.text.quantity import Quantity, QuantityError

(QUANTITY, URL, IP, CIDR, FORMAT, SEMVER) = (
    "kubernetes.Quantity", "kubernetes.URL", "net.IP", "net.CIDR", "kubernetes.NamedFormat", "kubernetes.Semver",
)  # fmt: skip
_NANO = 10**9


def _held(value: Any, *kinds: str) -> Any:
    if type(value) is not Opaque or value.kind not in kinds:
        raise overload()
    return value.value


def _is(read: Callable[..., Any]) -> Callable[..., bool]:
    def answer(value: Any, *more: Any) -> bool:
        text_of(value)
        try:
            read(value, *more)
        except EvaluationError as error:
            if str(error) == "no such overload":
                raise
            return False
        return True

    return answer


def _quantity(value: Any) -> Opaque:
    try:
        return Opaque(QUANTITY, Quantity.parse(text_of(value)).nanos)
    except QuantityError:
        why = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
        raise EvaluationError(why) from None


def _as_integer(value: Any) -> int:
    whole, rest = divmod(_held(value, QUANTITY), _NANO)
    if rest or not -(2**63) <= whole < 2**63:
        raise EvaluationError("cannot convert value to integer")
    return int(whole)


def _is_integer(value: Any) -> bool:
    whole, rest = divmod(_held(value, QUANTITY), _NANO)
    return not rest and -(2**63) <= whole < 2**63


def _amount(value: Any) -> int:
    return int(value) * _NANO if type(value) is int else int(_held(value, QUANTITY))


def _sign(value: Any) -> int:
    nanos = int(_held(value, QUANTITY))
    return (nanos > 0) - (nanos < 0)


def _compare(left: Any, right: Any) -> int:
    one, other = _held(left, QUANTITY, SEMVER), _held(right, QUANTITY, SEMVER)
    if left.kind != right.kind:
        raise overload()
    return int(one > other) - int(one < other)


_NOT_A_URL = "URL parse error during conversion from string: "
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")


def _url(value: Any) -> Opaque:
    text = text_of(value)
    reason = ""
    head, colon, _ = text.partition(":")
    if not text:
        reason = "empty url"
    elif any(ord(letter) < 32 or ord(letter) == 127 for letter in text):
        reason = "net/url: invalid control character in URL"
    elif (not text.startswith("/") and not (colon and _SCHEME.fullmatch(head))) or (
        not text.startswith("/") and not text[len(head) + 1 :].startswith("/")
    ):
        reason = "invalid URI for request"
    elif re.search(r"%(?![0-9A-Fa-f]{2})", text):
        reason = "invalid URL escape"
    else:
        try:
            parts = urlsplit(text, allow_fragments=True)
            if " " in parts.netloc:
                reason = 'invalid character " " in host name'
            port = parts.netloc.rpartition("@")[2].rpartition("]")[2].partition(":")[2]
            if port and not (port.isascii() and port.isdigit()):
                reason = f'invalid port ":{port}" after host'
        except ValueError as error:
            reason = str(error)
    if reason:
        raise EvaluationError(f'{_NOT_A_URL}parse "{text}": {reason}')
    return Opaque(URL, parts)


def _host(value: Any) -> str:
    return str(_held(value, URL).netloc.rpartition("@")[2])


def _host_name(value: Any) -> str:
    host = _host(value)
    return host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]


def _ip(value: Any) -> Opaque:
    if type(value) is Opaque:
        return Opaque(IP, _held(value, CIDR).ip)
    text = text_of(value)
    try:
        address = ip_address(text)
    except ValueError:
        why = f'IP Address "{text}" parse error during conversion from string: ParseAddr("{text}"): unable to parse IP'
        raise EvaluationError(why) from None
    if "%" in text:
        raise EvaluationError(f'IP address "{text}" with zone value is not allowed')
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        raise EvaluationError(f'IPv4-mapped IPv6 address "{text}" is not allowed')
    return Opaque(IP, address)


def _cidr(value: Any) -> Opaque:
    text = text_of(value)
    try:
        return Opaque(CIDR, ip_interface(text if re.fullmatch(r"[^/%]+/(0|[1-9][0-9]*)", text) else ""))
    except ValueError:
        raise EvaluationError("network address parse error during conversion from string: invalid CIDR") from None


def _contains_ip(value: Any, other: Any) -> bool:
    held = _held(value, CIDR)
    return bool(_held(_ip(other) if type(other) is str else other, IP) in held.network)


def _contains_cidr(value: Any, other: Any) -> bool:
    held, inner = _held(value, CIDR).network, _held(_cidr(other) if type(other) is str else other, CIDR).network
    return bool(held.version == inner.version and inner.subnet_of(held))


def _global_unicast(value: Any) -> bool:
    address: IPv4Address | IPv6Address = _held(value, IP)
    broadcast = str(address) == "255.255.255.255"
    others = address.is_unspecified or address.is_loopback or address.is_multicast or address.is_link_local
    return not (broadcast or others)


def _link_local_multicast(value: Any) -> bool:
    address: IPv4Address | IPv6Address = _held(value, IP)
    packed = address.packed
    if address.version == 4:
        return packed[:3] == bytes([224, 0, 0])
    return packed[0] == 0xFF and packed[1] & 0x0F == 2


def _masked(value: Any) -> Opaque:
    held: IPv4Interface | IPv6Interface = _held(value, CIDR)
    return Opaque(CIDR, ip_interface(str(held.network)))


_NUMBER = r"(0|[1-9][0-9]*)"
_PRE = r"(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_SEMVER = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-({_PRE}(?:\.{_PRE})*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?"
)


def _semver(value: Any, normalize: Any = False) -> Opaque:
    text = text_of(value)
    if type(normalize) is not bool:
        raise overload()
    if (match := _SEMVER.fullmatch(_normalized(text) if normalize else text)) is None:
        raise EvaluationError("No Major.Minor.Patch elements found")
    major, minor, patch, before, _ = match.groups()
    parts = [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in before.split(".")] if before else []
    return Opaque(
        SEMVER, (int(major), int(minor), int(patch), not before, parts)
    )  # a release comes after its candidates


def _normalized(text: str) -> str:
    parts = text.removeprefix("v").split(".", 2)
    for index, part in enumerate(parts):
        if len(part) > 1:
            rest = part.lstrip("0")
            parts[index] = rest if rest[:1].isdigit() and rest[:1].isascii() else f"0{rest}"
    if len(parts) < 3 and ("+" in parts[-1] or "-" in parts[-1]):
        raise EvaluationError("short version cannot contain PreRelease/Build meta data")
    return ".".join([*parts, "0", "0"][: max(3, len(parts))])


def _prefix(rule: Callable[[str], Iterable[str]]) -> Callable[[str], Iterable[str]]:
    """The rule for the beginning of a generated name: as apimachinery does it, a last dash and what precedes it are `a`."""
    return lambda text: rule(f"{text[:-2]}a" if len(text) > 1 and text.endswith("-") else text)


def _uri(text: str) -> list[str]:
    try:
        _url(text)
    except EvaluationError as error:
        return [str(error).removeprefix(_NOT_A_URL)]
    return []


def _read(read: Callable[[str], object], why: str) -> Callable[[str], list[str]]:
    def check(text: str) -> list[str]:
        try:
            read(text)
        except (EvaluationError, ValueError):
            return [why]
        return []

    return check


def _day(text: str) -> None:
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        raise ValueError
    date.fromisoformat(text)


def _base64(text: str) -> None:
    if not text:
        raise ValueError
    b64decode(text, validate=True)


def _uuid(text: str) -> None:
    if not re.fullmatch(r"(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", text):
        raise ValueError


FORMATS: dict[str, Callable[[str], Iterable[str]]] = {
    "dns1123Label": label,
    "dns1123Subdomain": subdomain,
    "dns1035Label": dns1035,
    "qualifiedName": qualified,
    "dns1123LabelPrefix": _prefix(label),
    "dns1123SubdomainPrefix": _prefix(subdomain),
    "dns1035LabelPrefix": _prefix(dns1035),
    "labelValue": label_value,
    "uri": _uri,
    "uuid": _read(_uuid, "does not match the UUID format"),
    "byte": _read(_base64, "invalid base64"),
    "date": _read(_day, "invalid date"),
    "datetime": _read(timestamp, "invalid datetime"),
}


def _validate(value: Any, text: Any) -> Optional:
    wrong = list(FORMATS[_held(value, FORMAT)](text_of(text)))
    return Optional(True, wrong) if wrong else NONE


def _named(name: Any) -> Optional:
    return Optional(True, Opaque(FORMAT, name)) if text_of(name) in FORMATS else NONE


def _format(name: str) -> Callable[[], Opaque]:
    return lambda: Opaque(FORMAT, name)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "quantity": _quantity,
    "isQuantity": _is(_quantity),
    "asInteger": _as_integer,
    "isInteger": _is_integer,
    "asApproximateFloat": lambda value: _held(value, QUANTITY) / _NANO,
    "sign": _sign,
    "add": lambda left, right: Opaque(QUANTITY, _held(left, QUANTITY) + _amount(right)),
    "sub": lambda left, right: Opaque(QUANTITY, _held(left, QUANTITY) - _amount(right)),
    "isGreaterThan": lambda left, right: _compare(left, right) > 0,
    "isLessThan": lambda left, right: _compare(left, right) < 0,
    "compareTo": _compare,
    "url": _url,
    "isURL": _is(_url),
    "getScheme": lambda value: _held(value, URL).scheme,
    "getHost": _host,
    "getHostname": _host_name,
    "getPort": lambda value: _host(value).rpartition("]")[2].partition(":")[2],
    "getEscapedPath": lambda value: quote(_held(value, URL).path, safe="%/:@!$&'()*+,;=~-._"),
    "getQuery": lambda value: parse_qs(_held(value, URL).query, keep_blank_values=True),
    "ip": _ip,
    "isIP": _is(_ip),
    "ip.isCanonical": lambda value: str(_ip(text_of(value)).value) == value,
    "family": lambda value: _held(value, IP).version,
    "isUnspecified": lambda value: _held(value, IP).is_unspecified,
    "isLoopback": lambda value: _held(value, IP).is_loopback,
    "isLinkLocalMulticast": _link_local_multicast,
    "isLinkLocalUnicast": lambda value: _held(value, IP).is_link_local,
    "isGlobalUnicast": _global_unicast,
    "cidr": _cidr,
    "isCIDR": _is(_cidr),
    "containsIP": _contains_ip,
    "containsCIDR": _contains_cidr,
    "prefixLength": lambda value: _held(value, CIDR).network.prefixlen,
    "masked": _masked,
    "validate": _validate,
    "format.named": _named,
    **{f"format.{name}": _format(name) for name in FORMATS},
    "semver": _semver,
    "isSemver": _is(_semver),
    "major": lambda value: _held(value, SEMVER)[0],
    "minor": lambda value: _held(value, SEMVER)[1],
    "patch": lambda value: _held(value, SEMVER)[2],
}
