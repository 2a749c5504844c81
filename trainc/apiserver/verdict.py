"""The verdict on one request, stage by stage as the API server runs them.

Order: decode, unknown fields, mutating webhooks (create only), schema and list types, CEL rules, validating webhooks.
"""

from trainc.apiserver import metadata
from trainc.apiserver.cel.operators import bare
from trainc.apiserver.cel.rules import check, check_change
from trainc.apiserver.fault import SKIPPED_RULES, Fault, Verdict, untold
from trainc.apiserver.jobset import additions, create, defaults
from trainc.apiserver.profile import Profile
from trainc.apiserver.schema.log import Log
from trainc.apiserver.schema.node import SchemaNode, Table
from trainc.apiserver.schema.walker import walk
from trainc.apiserver.versions import REFUSES_NEGATIVE_REPLICAS
from trainc.model.sourced import Origin, Sourced
from trainc.model.tree import Tree
from trainc.text.object_keys import VOLCANO_POD_GROUP
from trainc.text.placeholders import is_placeholder

# A server appends five random characters to generateName; here they are always the same.
_SUFFIX = Sourced("abcde", Origin(None, "generated name"))


def kind_of(tree: Tree) -> str:
    """`<group>/<version>/<Kind>` of an object, as tables spell it."""
    version, kind = tree.get("apiVersion"), tree.get("kind")
    if version.__class__ is Sourced and kind.__class__ is Sourced:
        return f"{version.value}/{kind.value}"
    return f"{bare(version)}/{bare(kind)}"


def verdict(tree: Tree, table: Table, profile: Profile, *, old: Tree | None = None, strict: bool = True) -> Verdict:
    """The answer to creating `tree`, or to replacing the stored object `old` by it.

    `strict` is the field validation of kubectl and of a strict server-side apply: unknown fields are refused.
    """
    judged, kind = Verdict(tree), kind_of(tree)
    node = table.root(kind)
    if node is None:
        text = f'no matches for kind "{bare(tree.get("kind"))}" in version "{bare(tree.get("apiVersion"))}"'
        return judged.refuse("decode", [Fault(("kind",), "decode", text)])
    typed = table.own_types(kind)
    types = typed or node  # what webhooks read the object by, whatever a definition lets through
    held = tree.get("metadata", {})
    if type(held) is Sourced and held.value is None:
        held, tree = {}, {**tree, "metadata": {}}
    unknown, sound = list[Fault](), metadata.is_sound(held)
    if not sound:
        from trainc.apiserver import metadata_decoding  # noqa: PLC0415 (like the other imports here, few runs need it)

        if undecodable := metadata_decoding.decode(held):
            return judged.refuse("decode", undecodable)
        unknown = metadata_decoding.unknown_fields(held)
        tree = {**tree, "metadata": metadata_decoding.read(held)} if "metadata" in tree else tree
    log = Log()
    judged.stored = walk(node, tree, log)
    judged.dropped = [*unknown, *log.unknown]
    newer = additions.newer_than(tree, profile.jobset) if kind == defaults.KIND else []
    judged.dropped += [fault for fault in newer if fault.kind == "unknown"]
    if judged.dropped and strict:
        return judged.refuse("unknown-field", judged.dropped)
    if typed is not None and not log.schema:
        # What keeps webhooks and controllers from reading what a cluster's own definition lets through.
        own = Log()
        walk(typed, judged.stored, own)
        if misfits := [
            one for one in own.schema if "must be of type" in one.message or "Required value" in one.message
        ]:
            return judged.refuse("webhook", misfits)
    if old is None and kind == defaults.KIND and not _mutate(judged, types, log, profile):
        # What the server itself would say of an object that a webhook could not read.
        alone = Verdict(named(_statusless(judged.stored, None, whole=False)))
        _fits(alone, kind, log, metadata.validate(alone.stored.get("metadata", {})), table, profile, None)
        judged.schema_faults = alone.messages
        return judged
    if judged.empty_patch is False:
        log, sound = Log(nulls=False), False
        judged.stored = walk(node, judged.stored, log)
    log.schema += [
        fault for fault in newer if fault.kind == "schema"
    ]  # a walk does not know them, and there may be a second
    stored = _statusless(judged.stored, old, whole=kind in table.whole)
    judged.stored = named(stored) if old is None else stored
    held = judged.stored.get("metadata", {})
    if old is not None:
        faults = metadata.changes(held, old.get("metadata", {}))
    else:
        faults = [] if sound else metadata.validate(held)
    if not _fits(judged, kind, log, faults, table, profile, old):
        return judged
    return _validating_webhooks(judged, types, kind, profile, old)


def _fits(
    judged: Verdict, kind: str, log: Log, faults: list[Fault], table: Table, profile: Profile, old: Tree | None
) -> bool:
    """Whether schema, list types and CEL rules take the object; `faults` are those of its metadata."""
    whole = kind in table.whole
    judged.unchecked = log.unchecked
    faults += counted(log.schema, profile, whole=whole)
    lists = counted(log.lists, profile, whole=whole)
    if any(fault.blocking for fault in faults):
        # The schema keeps the server from its CEL rules, which it says where there are any.
        messages = [*dict.fromkeys(fault.message for fault in (*faults, *lists))]
        judged.refuse("schema", [*faults, *lists], [*messages, *([SKIPPED_RULES] if table.has_rules(kind) else [])])
        return False
    # Rules over the whole object see its metadata, which the walk passed by.
    waiting = [(node, path, tree if path else judged.stored) for node, path, tree in log.rules]
    broken = check(waiting, judged.unchecked, old)
    if old is not None and (root := table.root(kind)) is not None:
        broken += check_change(root, judged.stored, old, judged.unchecked)
    if faults or lists or broken:
        by = "schema" if faults else "listtype" if lists else "cel"
        judged.refuse(by, [*faults, *lists, *broken])
    return judged.accepted


def _mutate(judged: Verdict, types: SchemaNode, log: Log, profile: Profile) -> bool:
    """Run the mutating webhooks over `found.stored`; False when they cannot read it."""
    if log.schema or log.loose:
        from trainc.apiserver.golang.decoding import decode  # noqa: PLC0415 (like the other imports here, few runs need it)

        if faults := decode(types, judged.stored):
            judged.refuse("webhook", faults, [faults[0].message])
            return False
    changed = defaults.with_defaults(judged.stored)
    if profile.kueue:
        from trainc.apiserver.kueue import jobset_webhook as kueue  # noqa: PLC0415

        changed = kueue.with_defaults(changed, profile)
    judged.empty_patch = changed is judged.stored
    if not judged.empty_patch:
        from trainc.apiserver.golang.decoding import respelled  # noqa: PLC0415

        judged.stored = respelled(types, changed, Origin(None, defaults.BY))
    return True


def _statusless(tree: Tree, old: Tree | None, *, whole: bool) -> Tree:
    """Status is not taken from a request where it has a subresource of its own."""
    if whole or ("status" not in tree and (old is None or "status" not in old)):
        return tree
    rest = {key: value for key, value in tree.items() if key != "status"}
    return {**rest, "status": old["status"]} if old is not None and "status" in old else rest


def named(tree: Tree) -> Tree:
    """The object with the name that the server would generate from a valid generateName."""
    held = tree.get("metadata", {})
    prefix = bare(held.get("generateName"))
    if bare(held.get("name")) or not prefix:
        return tree
    name = Sourced(prefix[:58] + _SUFFIX.value, _SUFFIX.origin)
    return {**tree, "metadata": {**held, "name": name}}


def _known(judged: Verdict, faults: list[Fault]) -> list[Fault]:
    """The complaints that do not rest on a text which is still to be filled in; the others are noted as unchecked."""
    open_ones = [
        fault
        for fault in faults
        if is_placeholder(fault.message if fault.message.startswith("<nil>: Internal error: ") else fault.value)
    ]
    judged.unchecked += [untold(fault.path, fault.value) for fault in open_ones]
    return [fault for fault in faults if fault not in open_ones] if open_ones else faults


def _validating_webhooks(judged: Verdict, types: SchemaNode, kind: str, profile: Profile, old: Tree | None) -> Verdict:
    if kind == VOLCANO_POD_GROUP and old is None:
        from trainc.apiserver import volcano  # noqa: PLC0415

        faults = volcano.create_faults(judged.stored, profile)
        return judged.refuse("webhook", faults, ["; ".join(fault.message for fault in faults)]) if faults else judged
    if kind != defaults.KIND:
        return judged
    if old is None:
        faults = create.create_faults(judged.stored, types, profile)
    else:
        from trainc.apiserver.jobset.update import update_faults  # noqa: PLC0415

        faults = update_faults(judged.stored, old, types, profile)
    faults = _known(judged, faults)
    messages = [*dict.fromkeys(fault.message for fault in faults)]
    queueing: list[Fault] = []
    if profile.kueue:
        from trainc.apiserver.kueue import jobset_webhook as kueue  # noqa: PLC0415

        against = (
            kueue.create_faults(judged.stored) if old is None else kueue.update_faults(judged.stored, old, profile)
        )
        queueing = _known(judged, against)
    if queueing:
        texts = [*dict.fromkeys(fault.message for fault in queueing)]
        # Kueue answers with one error, which lists several in brackets.
        messages.append(texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]")
    return judged.refuse("webhook", [*faults, *queueing], messages) if faults or queueing else judged


def counted(faults: list[Fault], profile: Profile, *, whole: bool) -> list[Fault]:
    """The faults that this server knows: a status of its own is not looked at, JobSet 0.12 takes negative replicas."""
    if not faults:
        return faults
    kept = faults if whole else [fault for fault in faults if fault.path[:1] != ("status",)]
    if profile.jobset_does(REFUSES_NEGATIVE_REPLICAS):
        return kept
    return [
        fault
        for fault in kept
        if not (
            fault.path[:2] == ("spec", "replicatedJobs")
            and fault.path[3:] == ("replicas",)
            and "greater than or equal to" in fault.message
        )
    ]
