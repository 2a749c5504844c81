"""Kubernetes' own functions: quantities, URLs, IP addresses, CIDR ranges, formats, versions. Source: k8s.io/apiserver/pkg/cel/library (1.34)."""

import re
from base64 import b64decode
from collections.abc import Callable, Iterable
from datetime import date
from functools import partial
from ipaddress import IPv4Address, IPv4Interface, IPv6Address, IPv6Interface, ip_address, ip_interface
from operator import attrgetter, gt, itemgetter, lt
from typing import Any, Self

from trainc.apiserver.expressions.conversions import timestamp
from trainc.apiserver.expressions.urls import URL, read_url
from trainc.apiserver.expressions.values import (
    NONE,
    EvaluationError,
    Opaque,
    Optional,
    Overload,
    function,
    overload,
)
from trainc.apiserver.names import dns1035, label, label_value, qualified, subdomain
from trainc.text.quantity import Quantity, QuantityError

_NANO = 10**9
_INT = 2**63
_AMOUNT = re.compile(r"[+-]?([0-9]*)(?:\.([0-9]*))?([KMGTPE]i|[numkMGTPE]?|[eE][+-]?[0-9]+)", re.ASCII)
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_NOT_A_URL = "URL parse error during conversion from string: "
_NUMBER = r"(0|[1-9][0-9]*)"
_PRE = r"(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_SEMVER = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-({_PRE}(?:\.{_PRE})*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?"
)


def _is(read: Callable[..., Any]) -> Callable[..., bool]:
    def answer(*values: Any) -> bool:
        try:
            read(*values)
        except EvaluationError:
            return False
        return True

    return answer


class Amount(int):
    """A quantity in billionths, and the power of ten that Go counts it in; None where it is a decimal of any size."""

    scale: int | None

    def __new__(cls, nanos: int, scale: int | None) -> Self:
        """An amount, a decimal where Go's integers do not hold it."""
        amount = super().__new__(cls, nanos)
        amount.scale = scale if scale is not None and -_INT <= _scaled(nanos, scale) < _INT else None
        return amount


def _scaled(nanos: int, scale: int) -> int:
    """An amount as the number that Go counts in a power of ten."""
    return int(nanos // 10 ** (9 + scale))


def _quantity(text: str) -> Amount:
    """The amount of a text. Source: ParseQuantity of k8s.io/apimachinery/pkg/api/resource."""
    try:
        nanos = Quantity.parse(text).nanos
    except QuantityError:
        why = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
        raise EvaluationError(why) from None
    match = _AMOUNT.fullmatch(text)
    if match is None:
        return Amount(nanos, None)
    whole, fraction, unit = match[1].lstrip("0") or "0", match[2] or "", match[3]
    if unit in _BINARY:
        exponent = _BINARY[unit]
        is_small = not fraction and 15 - len(whole) - int(exponent * 3 / 10) - 1 >= 0
        return Amount(nanos, 0 if is_small else None)
    exponent = int(unit[1:]) if unit[:1] in ("e", "E") and unit[1:] else _DECIMAL[unit]
    scale = exponent - len(fraction)
    is_small = 18 - len(whole) - len(fraction) >= 0 and scale >= -9
    return Amount(nanos, scale if is_small else None)


def _as_integer(amount: Amount) -> int:
    if amount.scale is None or amount.scale < 0 or not -_INT <= amount // _NANO < _INT:
        raise EvaluationError("cannot convert value to integer")
    return amount // _NANO


def _approximate(amount: Amount) -> float:
    if amount.scale is None:
        return float(int(amount)) * 1e-9
    return float(_scaled(amount, amount.scale)) * float(f"1e{amount.scale}")


def _added(amount: Amount, other: Amount) -> Amount:
    if not other:
        return amount if amount.scale is not None and other.scale is not None else Amount(int(amount), None)
    if not amount and amount.scale is not None:
        return other
    is_small = amount.scale is not None and other.scale is not None
    return Amount(int(amount) + int(other), min(amount.scale or 0, other.scale or 0) if is_small else None)


def _subtracted(amount: Amount, other: Amount) -> Amount:
    if amount.scale is not None and amount.scale >= 0 and other.scale == 0 and other == -_INT * _NANO:
        return _added(amount, other)  # whose negation overflows in Go
    return _added(amount, Amount(-int(other), other.scale))


def _of_whole(number: int) -> Amount:
    return Amount(number * _NANO, 0)


def _compare(one: Any, other: Any) -> int:
    return int(one > other) - int(one < other)


def _url(text: str) -> URL:
    try:
        return read_url(text)
    except ValueError as error:
        raise EvaluationError(f'{_NOT_A_URL}parse "{text}": {error}') from None


def _ip(text: str) -> IPv4Address | IPv6Address:
    try:
        address = ip_address(text)
    except ValueError:
        why = f'IP Address "{text}" parse error during conversion from string: ParseAddr("{text}"): unable to parse IP'
        raise EvaluationError(why) from None
    if "%" in text:
        raise EvaluationError(f'IP address "{text}" with zone value is not allowed')
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        raise EvaluationError(f'IPv4-mapped IPv6 address "{text}" is not allowed')
    return address


def _cidr(text: str) -> IPv4Interface | IPv6Interface:
    try:
        return ip_interface(text if re.fullmatch(r"[^/%]+/(0|[1-9][0-9]*)", text) else "")
    except ValueError:
        raise EvaluationError("network address parse error during conversion from string: invalid CIDR") from None


def _contains_cidr(outer: Any, inner: Any) -> bool:
    return outer.version == inner.version and bool(inner.network.subnet_of(outer.network))


def _global_unicast(address: IPv4Address | IPv6Address) -> bool:
    broadcast = str(address) == "255.255.255.255"
    others = address.is_unspecified or address.is_loopback or address.is_multicast or address.is_link_local
    return not (broadcast or others)


def _link_local_multicast(address: IPv4Address | IPv6Address) -> bool:
    packed = address.packed
    if address.version == 4:
        return packed[:3] == bytes([224, 0, 0])
    return packed[0] == 0xFF and packed[1] & 0x0F == 2


def _semver(text: str, normalize: bool = False) -> tuple[Any, ...]:
    if (match := _SEMVER.fullmatch(_normalized(text) if normalize else text)) is None:
        raise EvaluationError("No Major.Minor.Patch elements found")
    major, minor, patch, before, _ = match.groups()
    parts = [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in before.split(".")] if before else []
    return int(major), int(minor), int(patch), not before, parts  # a release comes after its candidates


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


def _shaped(shape: str, why: str, read: Callable[[str], object] = str) -> Callable[[str], list[str]]:
    """The rule for texts that match a pattern and can be read."""

    def check(text: str) -> list[str]:
        try:
            read(text)
        except (EvaluationError, ValueError):
            return [why]
        return [] if re.fullmatch(shape, text) else [why]

    return check


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
    "uuid": _shaped(
        r"(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", "does not match the UUID format"
    ),
    "byte": _shaped("(?s).+", "invalid base64", lambda text: b64decode(text, validate=True)),
    "date": _shaped("[0-9]{4}-[0-9]{2}-[0-9]{2}", "invalid date", date.fromisoformat),
    "datetime": _shaped("(?s).*", "invalid datetime", timestamp),
}


def _validate(name: str, text: str) -> Optional:
    wrong = list(FORMATS[name](text))
    return Optional(True, wrong) if wrong else NONE


def _unanswered(*_values: Any) -> Any:
    raise overload()  # no authorizer is known, and so nobody gets as far as this


def _asking(*signatures: str, gives: str) -> list[Overload]:
    """A method of an authorizer, or of what one has been asked."""
    return [function(_unanswered, one, gives) for one in signatures]


AUTHORIZER: dict[str, list[Overload]] = {
    "path": _asking("Authorizer string", gives="PathCheck"),
    "group": _asking("Authorizer string", gives="GroupCheck"),
    "serviceAccount": _asking("Authorizer string string", gives="Authorizer"),
    "resource": _asking("GroupCheck string", gives="ResourceCheck"),
    **{
        name: _asking("ResourceCheck string", gives="ResourceCheck")
        for name in ("subresource", "namespace", "name", "fieldSelector", "labelSelector")
    },
    "check": _asking("PathCheck string", "ResourceCheck string", gives="Decision"),
    **{name: _asking("Decision", gives="bool") for name in ("allowed", "errored")},
    **{name: _asking("Decision", gives="string") for name in ("reason", "error")},
}
FUNCTIONS: dict[str, list[Overload]] = {
    "quantity": [function(_quantity, "string", "Quantity")],
    "isQuantity": [function(_is(_quantity), "string", "bool")],
    "asInteger": [function(_as_integer, "Quantity", "int")],
    "isInteger": [function(_is(_as_integer), "Quantity", "bool")],
    "asApproximateFloat": [function(_approximate, "Quantity", "double")],
    "sign": [function(lambda nanos: _compare(nanos, 0), "Quantity", "int")],
    "add": [
        function(_added, "Quantity Quantity", "Quantity"),
        function(lambda amount, whole: _added(amount, _of_whole(whole)), "Quantity int", "Quantity"),
    ],
    "sub": [
        function(_subtracted, "Quantity Quantity", "Quantity"),
        function(lambda amount, whole: _subtracted(amount, _of_whole(whole)), "Quantity int", "Quantity"),
    ],
    "isGreaterThan": [function(gt, f"{one} {one}", "bool") for one in ("Quantity", "Semver")],
    "isLessThan": [function(lt, f"{one} {one}", "bool") for one in ("Quantity", "Semver")],
    "compareTo": [function(_compare, f"{one} {one}", "int") for one in ("Quantity", "Semver")],
    "url": [function(_url, "string", "URL")],
    "isURL": [function(_is(_url), "string", "bool")],
    "getScheme": [function(attrgetter("scheme"), "URL", "string")],
    "getHost": [function(attrgetter("host"), "URL", "string")],
    "getHostname": [function(attrgetter("hostname"), "URL", "string")],
    "getPort": [function(attrgetter("port"), "URL", "string")],
    "getEscapedPath": [function(attrgetter("escaped_path"), "URL", "string")],
    "getQuery": [function(attrgetter("values"), "URL", "map(string, list(string))")],
    "ip": [function(_ip, "string", "IP"), function(attrgetter("ip"), "CIDR", "IP")],
    "isIP": [function(_is(_ip), "string", "bool")],
    "ip.isCanonical": [function(lambda text: str(_ip(text)) == text, "string", "bool")],
    "family": [function(attrgetter("version"), "IP", "int")],
    "isUnspecified": [function(attrgetter("is_unspecified"), "IP", "bool")],
    "isLoopback": [function(attrgetter("is_loopback"), "IP", "bool")],
    "isLinkLocalMulticast": [function(_link_local_multicast, "IP", "bool")],
    "isLinkLocalUnicast": [function(attrgetter("is_link_local"), "IP", "bool")],
    "isGlobalUnicast": [function(_global_unicast, "IP", "bool")],
    "cidr": [function(_cidr, "string", "CIDR")],
    "isCIDR": [function(_is(_cidr), "string", "bool")],
    "containsIP": [
        function(lambda cidr, address: address in cidr.network, "CIDR IP", "bool"),
        function(lambda cidr, text: _ip(text) in cidr.network, "CIDR string", "bool"),
    ],
    "containsCIDR": [
        function(_contains_cidr, "CIDR CIDR", "bool"),
        function(lambda outer, text: _contains_cidr(outer, _cidr(text)), "CIDR string", "bool"),
    ],
    "prefixLength": [function(lambda cidr: cidr.network.prefixlen, "CIDR", "int")],
    "masked": [function(lambda cidr: ip_interface(str(cidr.network)), "CIDR", "CIDR")],
    "validate": [function(_validate, "NamedFormat string", "optional_type(list(string))")],
    "format.named": [
        function(
            lambda name: Optional(True, Opaque("kubernetes.NamedFormat", name)) if name in FORMATS else NONE,
            "string",
            "optional_type(kubernetes.NamedFormat)",
        )
    ],
    **{f"format.{name}": [function(partial(str, name), "", "NamedFormat")] for name in FORMATS},
    "semver": [function(_semver, one, "Semver") for one in ("string", "string bool")],
    "isSemver": [function(_is(_semver), one, "bool") for one in ("string", "string bool")],
    "major": [function(itemgetter(0), "Semver", "int")],
    "minor": [function(itemgetter(1), "Semver", "int")],
    "patch": [function(itemgetter(2), "Semver", "int")],
    **AUTHORIZER,
}
