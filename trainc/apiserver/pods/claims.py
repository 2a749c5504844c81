"""What is wrong with the claims that pods and JobSets make for volumes of their own."""

from trainc.apiserver.names import label, subdomain
from trainc.apiserver.pods.amounts import nanos, spelled
from trainc.apiserver.pods.annotations import annotation_keys
from trainc.apiserver.pods.complaints import Field, fields, items
from trainc.apiserver.pods.placement import selector

_ALONE = "ReadWriteOncePod"
_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", _ALONE)
# Fields of metadata that a template must not have.
_METADATA = (
    "name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation", "creationTimestamp",
    "deletionTimestamp", "deletionGracePeriodSeconds", "ownerReferences", "finalizers", "managedFields",
)  # fmt: skip


def template(held: Field) -> None:
    """The template of a claim, which has no metadata but labels and annotations."""
    metadata = held["metadata"]
    annotation_keys(metadata["annotations"])
    metadata["labels"].labels()
    for name in _METADATA:
        if metadata.get(name):
            metadata.part(name, "uID" if name == "uid" else name).forbidden("cannot be set")
    claim(held["spec"])


def claim(spec: Field) -> None:
    """The spec of a claim: how its volume is mounted, how large it is, and what makes it."""
    modes, requests = spec["accessModes"], spec["resources"]["requests"]
    if not items(modes.value):
        modes.required("at least 1 access mode is required")
    selector(spec["selector"])
    for mode in modes.items():
        mode.printed(modes.path).default("").one_of(_MODES)
    if _ALONE in items(modes.value) and any(mode in _MODES[:-1] for mode in modes.value):
        modes.forbidden(f"may not use {_ALONE} with other access modes")
    storage = requests["storage"].printed((*spec.path, "resources", "[storage]"))
    if "storage" not in fields(requests.value):
        storage.required(at=spec)
    elif nanos(storage.value) <= 0:
        storage.reading(spelled(storage.value)).invalid("must be greater than zero")
    for name in spec.filled("storageClassName", "volumeAttributesClassName"):
        name.fits(subdomain)
    spec["volumeMode"].one_of(("Block", "Filesystem"))
    # What a volume is filled with: two spellings, which must not contradict each other.
    for reference in spec.given("dataSource", "dataSourceRef"):
        reference["name"].need()
        reference["kind"].need()
        kind, group = reference.text("kind"), reference.text("apiGroup")
        if not group and kind != "PersistentVolumeClaim":
            why = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
            reference.reading(kind).invalid(why)
        reference["apiGroup"].fallback(None).fits(subdomain)
    one, other = spec.get("dataSource"), spec.get("dataSourceRef")
    namespace = spec["dataSourceRef"]["namespace"].fallback(None)
    namespace.fits(label)
    if one is None or other is None:
        return
    if namespace.value:
        spec.reading({}).invalid("may not be specified when dataSourceRef.namespace is specified")
    elif any(fields(one).get(key) != fields(other).get(key) for key in ("apiGroup", "kind", "name")):
        spec.reading({}).invalid("must match dataSourceRef")
