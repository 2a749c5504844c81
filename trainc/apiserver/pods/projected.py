"""Volumes that hold files from other objects: Secrets, ConfigMaps, fields of the pod, tokens, certificates."""

from __future__ import annotations

from typing import Any

from trainc.apiserver.names import label, qualified, subdomain
from trainc.apiserver.pods import variables
from trainc.apiserver.pods.complaints import Complaints, fields, maps, text
from trainc.apiserver.pods.placement import selector
from trainc.model.tree import Path

_MODE = "must be a number between 0 and 0777 (octal), both inclusive"
_READABLE = ("metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid")
_GATED = {"clusterTrustBundle": "ClusterTrustBundleProjection", "podCertificate": "PodCertificateRequest"}
_KINDS = ("secret", "configMap", "downwardAPI", "serviceAccountToken", *_GATED)
_KEY_TYPES = ("RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519")
_CERTIFICATE_PATHS = ("credentialBundlePath", "keyPath", "certificateChainPath")
_HOUR, _DAY, _MONTHS = 3600, 86_400, 7_862_400
_CONFLICT = "conflicting duplicate paths"
_LONGEST_SIGNER = 571
_MAX_ANNOTATIONS = 256 * 1024


def files(source: dict[str, Any], path: Path, log: Complaints) -> None:
    """The keys of a Secret or a ConfigMap that become files."""
    _mode(source.get("defaultMode"), (*path, "defaultMode"), log)
    for index, item in maps(source.get("items")):
        _item(item, (*path, "items", index), log)


def _mode(mode: Any, path: Path, log: Complaints) -> None:
    if type(mode) is int and not 0 <= mode <= 0o777:
        log.invalid(path, mode, _MODE)


def _item(item: dict[str, Any], path: Path, log: Complaints) -> None:
    if not item.get("key"):
        log.required((*path, "key"))
    _place(item, path, log)
    _mode(item.get("mode"), (*path, "mode"), log)


def _place(item: dict[str, Any], path: Path, log: Complaints) -> None:
    if not item.get("path"):
        log.required((*path, "path"))
    log.inside((*path, "path"), item.get("path"))


def downward(source: dict[str, Any], path: Path, log: Complaints) -> None:
    """Fields of the pod that become files; the server prints the path of the volume for all of them."""
    _mode(source.get("defaultMode"), (*path, "defaultMode"), log)
    for index, item in maps(source.get("items")):
        _downward_item(item, path, (*path, "items", index), log)


def _downward_item(item: dict[str, Any], path: Path, at: Path, log: Complaints) -> None:
    inner = Complaints(log.features, log.kind)
    _place(item, path, inner)
    one, other = item.get("fieldRef"), item.get("resourceFieldRef")
    if one is not None:
        variables.field(fields(one), (*path, "fieldRef"), inner, _READABLE)
        if other is not None:
            inner.invalid(path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously")
    elif other is None:
        inner.required(path, "one of fieldRef and resourceFieldRef is required")
    else:
        variables.resource(fields(other), (*path, "resourceFieldRef"), inner, is_own=False)
    _mode(item.get("mode"), (*path, "mode"), inner)
    log.moved(inner, path, at)


def projected(source: dict[str, Any], path: Path, log: Complaints) -> None:
    """Several sources in one volume, whose files must have paths of their own."""
    _mode(source.get("defaultMode"), (*path, "defaultMode"), log)
    taken: set[str] = set()
    for index, projection in maps(source.get("sources")):
        at: Path = (*path, "sources", index)
        given = [
            kind
            for kind in _KINDS
            if projection.get(kind) is not None and (kind not in _GATED or log.has(_GATED[kind], (*at, kind)))
        ]
        for kind in given:
            _PROJECTIONS[kind](fields(projection[kind]), path, (*at, kind), taken, log)
        if len(given) > 1:
            log.forbidden(at, "may not specify more than 1 volume type per source")


def _named(source: dict[str, Any], path: Path, at: Path, taken: set[str], log: Complaints) -> None:
    name = text(source, "name")
    if not name:
        log.required((*at, "name"))
    for index, item in maps(source.get("items")):
        _item(item, (*at, "items", index), log)
        _once(text(item, "path"), name, path, (*at, "items", index), taken, log)


def _once(place: str, shown: str, path: Path, at: Path, taken: set[str], log: Complaints) -> None:
    if place and place in taken:
        log.invalid(path, shown, _CONFLICT, at=at)
    taken.add(place)


def _fields(source: dict[str, Any], path: Path, at: Path, taken: set[str], log: Complaints) -> None:
    for index, item in maps(source.get("items")):
        _downward_item(item, at, (*at, "items", index), log)
        _once(text(item, "path"), text(item, "path"), path, (*at, "items", index), taken, log)


def _token(token: dict[str, Any], path: Path, at: Path, _taken: set[str], log: Complaints) -> None:
    seconds = token.get("expirationSeconds")
    if type(seconds) is int and seconds < 600:
        log.invalid((*at, "expirationSeconds"), seconds, "may not specify a duration less than 10 minutes")
    elif type(seconds) is int and seconds > 2**32:
        log.invalid((*at, "expirationSeconds"), seconds, "may not specify a duration larger than 2^32 seconds")
    inner = Complaints(log.features, log.kind)
    _place(token, path, inner)
    log.moved(inner, path, at)


def _trust(bundle: dict[str, Any], path: Path, at: Path, taken: set[str], log: Complaints) -> None:
    name, signer = bundle.get("name"), bundle.get("signerName")
    if name is not None and signer is not None:
        shown = {
            "Name": name,
            "SignerName": signer,
            "LabelSelector": bundle.get("labelSelector"),
            "Optional": bundle.get("optional"),
            "Path": text(bundle, "path"),
        }
        log.invalid(at, shown, "only one of name and signerName may be used")
    elif name is not None:
        if not name:
            log.required((*at, "name"), "must be a valid object name")
        for reason in subdomain(str(name).rpartition(":")[2]):  # the part up to the last colon names a signer
            log.invalid((*at, "name"), name, f"not a valid clustertrustbundlename: {reason}")
        if bundle.get("labelSelector") is not None:
            why = "labelSelector must be unset if name is specified"
            log.invalid((*at, "labelSelector"), bundle["labelSelector"], why)
    elif signer is not None:
        if not signer:
            log.required((*at, "signerName"), "must be a valid signer name")
        _signer((*at, "signerName"), str(signer), log)
        selector(bundle.get("labelSelector"), (*at, "labelSelector"), log)
    else:
        log.required(at, "either name or signerName must be specified")
    _place(bundle, at, log)
    place = text(bundle, "path")
    if place in taken:
        log.invalid(path, place, _CONFLICT, at=at)
    taken.add(place)


def _signer(path: Path, name: str, log: Complaints) -> None:
    if not name:
        log.required(path)
        return
    domain, slash, rest = name.partition("/")
    if not slash or "/" in rest:
        log.invalid(path, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")
        return
    log.too_long(path, len(domain.encode()), 253)
    parts = domain.split(".")
    _segment(path, domain, parts, label, log)
    if len(parts) < 2:
        log.invalid(path, domain, "should be a domain with at least two segments separated by dots")
    _segment(path, rest, rest.split("."), subdomain, log)
    log.too_long(path, len(name.encode()), _LONGEST_SIGNER)


def _segment(path: Path, segment: str, parts: list[str], reasons_of: Any, log: Complaints) -> None:
    """The first bad part of a domain or a path alone is said."""
    for part in parts:
        if reasons := reasons_of(part):
            log.invalid(path, segment, *(f'validating label "{part}": {reason}' for reason in reasons))
            return


def _certificate(source: dict[str, Any], path: Path, at: Path, taken: set[str], log: Complaints) -> None:
    signer = text(source, "signerName")
    _signer((*at, "signerName"), signer, log)
    annotations = fields(source.get("userAnnotations"))
    for key in annotations:
        _prefixed((*at, "userAnnotations"), key.lower(), log)
    size = sum(len(f"{key}{value}".encode()) for key, value in annotations.items())
    log.too_long((*at, "userAnnotations"), size, _MAX_ANNOTATIONS)
    log.one_of((*at, "keyType"), text(source, "keyType"), _KEY_TYPES)
    seconds, host = source.get("maxExpirationSeconds"), signer.partition("/")[0]
    if type(seconds) is int:
        most = _DAY if host == "kubernetes.io" or host.endswith(".kubernetes.io") else _MONTHS
        if seconds < _HOUR:
            log.invalid((*at, "maxExpirationSeconds"), seconds, f"if provided, maxExpirationSeconds must be >= {_HOUR}")
        if seconds > most:
            log.invalid((*at, "maxExpirationSeconds"), seconds, f"if provided, maxExpirationSeconds must be <= {most}")
    given = [name for name in _CERTIFICATE_PATHS if source.get(name)]
    for name in given:
        log.inside((*at, name), source[name])
        _once(text(source, name), text(source, name), path, (*at, name), taken, log)
    if not given:
        log.required(at, "specify at least one of credentialBundlePath, keyPath, and certificateChainPath")


def _prefixed(path: Path, key: str, log: Complaints) -> None:
    reasons = qualified(key)
    if not reasons and "/" not in key:
        reasons = ('must be a domain-prefixed key (such as "acme.io/foo")',)
    log.invalid(path, key, *reasons)


_PROJECTIONS: dict[str, Any] = {
    "secret": _named,
    "configMap": _named,
    "downwardAPI": _fields,
    "serviceAccountToken": _token,
    "clusterTrustBundle": _trust,
    "podCertificate": _certificate,
}
