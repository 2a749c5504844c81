"""Volumes that hold files from other objects: Secrets, ConfigMaps, fields of the pod, tokens, certificates."""

from collections.abc import Callable
from typing import Any, TypeAlias

from trainc.apiserver.names import label, qualified, subdomain
from trainc.apiserver.pods import variables
from trainc.apiserver.pods.annotations import MAX_SIZE, size_of
from trainc.apiserver.pods.complaints import Field
from trainc.apiserver.pods.placement import selector

_READABLE = ("metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid")
_GATED: dict[Any, str] = {
    "clusterTrustBundle": "ClusterTrustBundleProjection",
    "podCertificate": "PodCertificateRequest",
}
_KEY_TYPES = ("RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519")
_HOUR, _DAY, _MONTHS = 3600, 86_400, 7_862_400

# Complains of a path that another file of the volume has: the path, what is at fault, and the text that the server prints.
Once: TypeAlias = "Callable[..., None]"


def files(source: Field) -> None:
    """The keys of a Secret or a ConfigMap that become files."""
    _mode(source["defaultMode"])
    for item in source["items"].maps():
        _item(item)


def _mode(mode: Field) -> None:
    if type(mode.value) is int and not 0 <= mode.value <= 0o777:
        mode.invalid("must be a number between 0 and 0777 (octal), both inclusive")


def _item(item: Field) -> None:
    item["key"].need()
    _place(item)
    _mode(item["mode"])


def _place(item: Field) -> None:
    item["path"].need()
    item["path"].inside()


def downward(source: Field) -> None:
    """Fields of the pod that become files."""
    _mode(source["defaultMode"])
    for item in source["items"].maps():
        _downward_item(source, item)


def _downward_item(source: Field, listed: Field) -> None:
    item = listed.printed(source.path)  # the server prints the path of the volume for all of them
    _place(item)
    one, other = item["fieldRef"], item["resourceFieldRef"]
    if one.value is not None:
        variables.field(one, _READABLE)
        if other.value is not None:
            item.reading("resource").invalid("fieldRef and resourceFieldRef can not be specified simultaneously")
    elif other.value is None:
        item.required("one of fieldRef and resourceFieldRef is required")
    else:
        variables.resource(other, is_own=False)
    _mode(item["mode"])


def projected(source: Field) -> None:
    """Several sources in one volume, whose files must have paths of their own."""
    _mode(source["defaultMode"])
    taken: set[str] = set()

    def once(place: str, at: Field, shown: str | None = None, *, even_empty: bool = False) -> None:
        if (place or even_empty) and place in taken:
            source.reading(place if shown is None else shown).invalid("conflicting duplicate paths", at=at)
        taken.add(place)

    for projection in source["sources"].maps():
        given = [
            one
            for one in projection.given(*_PROJECTIONS)
            if (kind := one.path[-1]) not in _GATED or one.has(_GATED[kind])
        ]
        for one in given:
            _PROJECTIONS[str(one.path[-1])](one, once)
        if len(given) > 1:
            projection.forbidden("may not specify more than 1 volume type per source")


def _named(source: Field, once: Once) -> None:
    source["name"].reading(source.text("name")).need()
    for item in source["items"].maps():
        _item(item)
        once(item.text("path"), item, source.text("name"))


def _fields(source: Field, once: Once) -> None:
    for item in source["items"].maps():
        _downward_item(source, item)
        once(item.text("path"), item)


def _token(token: Field, _once: Once) -> None:
    seconds = token["expirationSeconds"]
    if type(seconds.value) is int and seconds.value < 600:
        seconds.invalid("may not specify a duration less than 10 minutes")
    elif type(seconds.value) is int and seconds.value > 2**32:
        seconds.invalid("may not specify a duration larger than 2^32 seconds")
    _place(token.printed(token.path[:-3]))


def _trust(bundle: Field, once: Once) -> None:
    name, signer = bundle["name"], bundle["signerName"]
    if name.value is not None and signer.value is not None:
        fields = {"Name": "name", "SignerName": "signerName", "LabelSelector": "labelSelector", "Optional": "optional"}
        shown = {**{printed: bundle.get(name) for printed, name in fields.items()}, "Path": bundle.text("path")}
        bundle.reading(shown).invalid("only one of name and signerName may be used")
    elif name.value is not None:
        name.need("must be a valid object name")
        for reason in subdomain(str(name.value).rpartition(":")[2]):  # the part up to the last colon names a signer
            name.invalid(f"not a valid clustertrustbundlename: {reason}")
        if bundle.get("labelSelector") is not None:
            bundle["labelSelector"].invalid("labelSelector must be unset if name is specified")
    elif signer.value is not None:
        signer.need("must be a valid signer name")
        _signer(signer)
        selector(bundle["labelSelector"])
    else:
        bundle.required("either name or signerName must be specified")
    _place(bundle)
    once(bundle.text("path"), bundle, even_empty=True)


def _signer(signer: Field) -> None:
    if not signer.need():
        return
    name = str(signer.value)
    domain, slash, rest = name.partition("/")
    if not slash or "/" in rest:
        signer.invalid("must be a fully qualified domain and path of the form 'example.com/signer-name'")
        return
    signer.too_long(253, len(domain.encode()))
    _segments(signer.reading(domain), label)
    if "." not in domain:
        signer.reading(domain).invalid("should be a domain with at least two segments separated by dots")
    _segments(signer.reading(rest), subdomain)
    signer.too_long(571)


def _segments(segment: Field, reasons_of: Callable[[str], tuple[str, ...]]) -> None:
    """The first bad part of a domain or a path alone is said."""
    for part in segment.value.split("."):
        if reasons := reasons_of(part):
            segment.invalid(*(f'validating label "{part}": {reason}' for reason in reasons))
            return


def _certificate(source: Field, once: Once) -> None:
    _signer(source["signerName"].default(""))
    annotations = source["userAnnotations"]
    held: dict[str, Any] = annotations.value if type(annotations.value) is dict else {}
    for key in map(str.lower, held):
        reasons = qualified(key)
        if not reasons and "/" not in key:
            reasons = ('must be a domain-prefixed key (such as "acme.io/foo")',)
        annotations.reading(key).invalid(*reasons)
    annotations.too_long(MAX_SIZE, size_of(held))
    source["keyType"].default("").one_of(_KEY_TYPES)
    seconds, host = source["maxExpirationSeconds"], source.text("signerName").partition("/")[0]
    if type(seconds.value) is int:
        most = _DAY if host == "kubernetes.io" or host.endswith(".kubernetes.io") else _MONTHS
        if seconds.value < _HOUR:
            seconds.invalid(f"if provided, maxExpirationSeconds must be >= {_HOUR}")
        if seconds.value > most:
            seconds.invalid(f"if provided, maxExpirationSeconds must be <= {most}")
    given = source.filled("credentialBundlePath", "keyPath", "certificateChainPath")
    for one in given:
        one.inside()
        once(source.text(str(one.path[-1])), one)
    if not given:
        source.required("specify at least one of credentialBundlePath, keyPath, and certificateChainPath")


_PROJECTIONS: dict[str, Callable[[Field, Once], None]] = {
    "secret": _named,
    "configMap": _named,
    "downwardAPI": _fields,
    "serviceAccountToken": _token,
    "clusterTrustBundle": _trust,
    "podCertificate": _certificate,
}
