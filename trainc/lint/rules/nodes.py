"""Whether nodes fit: machines, devices and their claims, selectors and taints, topologies, schedulers."""

from trainc.lint.facts.amounts import ONE, amount
from trainc.lint.facts.job import REQUIRED, ExpandedRole, Findings, Job, each
from trainc.lint.facts.timing import has_peers
from trainc.lint.facts.values import rows, substituted, table, text, whole
from trainc.lint.facts.world import collective
from trainc.lint.tables.machines import ACCELERATOR, EFA, MOST_CPUS, is_network
from trainc.model.finding import ERROR, WARNING, Label, Rule
from trainc.model.sourced import Sourced, Span
from trainc.model.tree import Tree, leaves
from trainc.schedulers.gang import PODSET, PODSET_PREFERRED, PODSET_REQUIRED, PODSET_SLICE, PODSET_UNCONSTRAINED
from trainc.text.numbers import whole_number
from trainc.text.object_keys import VOLCANO_GROUP

TOO_MANY = Rule("more-accelerators-than-machine", ERROR)
PARTIAL = Rule("partial-node", WARNING)
CARDS = Rule("network-cards-mismatch", WARNING)
ARM = Rule("arm-not-tolerated", WARNING)
CLAIM = Rule("claim-not-used", WARNING)
DOMAIN = Rule("compute-domain-mismatch", ERROR)
SPOT = Rule("spot-without-toleration", WARNING)
TOO_LARGE = Rule("larger-than-machine", ERROR)
TAS = Rule("topology-annotation", ERROR)
CONTRADICTS = Rule("selector-contradicts-affinity", ERROR)
NO_GROUP = Rule("scheduler-without-group", WARNING)

_NETWORK_CLASSES = ("dranet", "rdma", "nic", "net.", "efa", "network")

_ARM = ("nvidia-gb200", "nvidia-gb300")
_SPOT = "cloud.google.com/gke-spot"
_LARGEST = {"cpu": MOST_CPUS * ONE, "memory": ONE << 60}
_LEVELS = (PODSET_REQUIRED, PODSET_PREFERRED, PODSET_UNCONSTRAINED)
_GROUP_KEYS = (VOLCANO_GROUP, "scheduling.volcano.sh/group-name")


def more_accelerators_than_machine(role: ExpandedRole) -> Findings:
    machine, path = role.machine
    for resource, count in role.devices.items():
        worker = role.worker
        if machine is None or worker is None or resource != machine.resource:
            continue
        if type(count) is not int or count <= machine.devices:
            continue
        message = f"a pod of `{role.name}` requests {count} accelerators, but `{machine.name}` has {machine.devices}"
        also = [Label(role.job.at(path), f"{machine.devices} per machine")]
        help_ = f"request {machine.devices} in each pod, and use {-(-count // machine.devices)} times as many pods"
        yield TOO_MANY.at(worker.amount_at(resource), message, also=also, effect="the pods stay pending", help=help_)


def partial_node(role: ExpandedRole) -> Findings:
    machine, path = role.machine
    worker = role.worker
    if machine is None or worker is None or not any(is_network(r) for r in worker.limits):
        return
    count = role.devices.get(machine.resource)
    if type(count) is int and count < machine.devices and has_peers(role):
        at = worker.amount_at(machine.resource)
        message = f"a pod of `{role.name}` requests {count} of the {machine.devices} accelerators of `{machine.name}`, and its NICs"
        also = [Label(role.job.at(path), f"{machine.devices} per machine")]
        effect = "other pods can hardly use the remaining accelerators"
        yield PARTIAL.at(at, message, also=also, effect=effect, help=f"request {machine.devices}, and use fewer pods")


def network_cards_mismatch(role: ExpandedRole) -> Findings:
    if (worker := role.worker) is None or EFA not in worker.limits:
        return
    machine, path = role.machine
    leaf = worker.limits[EFA]
    cards = leaf.value if type(leaf) is Sourced else None
    count = cards if type(cards) is int else whole_number(cards)
    if machine is None or not machine.cards or count in (None, machine.cards):
        return
    if count is None or worker.devices.get(machine.resource) != machine.devices:
        return
    message = f"a pod of `{role.name}` requests {count} EFA interfaces, but `{machine.name}` has {machine.cards}"
    also = [Label(role.job.at(path), f"{machine.cards} per machine")]
    effect = f"{machine.cards - count} EFA interfaces of each machine are idle"
    if count > machine.cards:
        effect = "the pods stay pending"
    yield CARDS.at(worker.amount_at(EFA), message, also=also, effect=effect, help=f"request {machine.cards}")


def arm_not_tolerated(role: ExpandedRole) -> Findings:
    accelerator = role.node_label(ACCELERATOR)
    if accelerator not in _ARM:
        return
    keys = [text(t, "key") for t in rows(role.pod, "tolerations")]
    if "kubernetes.io/arch" not in keys and "" not in keys:
        message = f"machines with `{accelerator}` have Arm CPUs, but the pods of `{role.name}` do not tolerate `kubernetes.io/arch`"
        effect = "the pods stay pending; images also need an arm64 variant"
        help_ = "tolerate `kubernetes.io/arch` with value `arm64` and effect `NoSchedule`"
        yield ARM.at(role.job.at(role.node_labels[ACCELERATOR][1]), message, effect=effect, help=help_)


def claim_not_used(role: ExpandedRole) -> Findings:
    if "resourceClaims" not in role.pod:
        return
    resources = [table(container.tree, "resources") for container in role.containers]
    used = {text(claim, "name") for each in resources for claim in rows(each, "claims")}
    for index, claim in enumerate(rows(role.pod, "resourceClaims")):
        if text(claim, "name") not in used and not _is_network(role.job, claim):
            message = f"no container of `{role.name}` uses the ResourceClaim `{text(claim, 'name')}`"
            effect = "the devices are allocated, but no container can use them"
            help_ = f"add `claims: [{{name: {text(claim, 'name')}}}]` to the container's `resources`"
            yield CLAIM.at(role.pod_at("resourceClaims", index, "name"), message, effect=effect, help=help_)


def _is_network(job: Job, claim: Tree) -> bool:
    """Whether a claim is for network interfaces: their driver puts them into the pod, and no container names them."""
    template = text(claim, "resourceClaimTemplateName") or text(claim, "resourceClaimName")
    beside = [*job.kinds.get("ResourceClaimTemplate", ()), *job.kinds.get("ResourceClaim", ())]
    for tree in beside:
        if text(table(tree, "metadata"), "name") == template:
            classes = " ".join(str(leaf.value) for path, leaf in leaves(tree) if path[-1] == "deviceClassName")
            return any(mark in classes for mark in _NETWORK_CLASSES)
    names = f"{template} {text(claim, 'name')}"
    return any(mark in names for mark in ("nic", "net", "rdma", "efa"))


def compute_domain_mismatch(job: Job) -> Findings:
    for domain in job.kinds.get("ComputeDomain", ()):
        nodes = whole(table(domain, "spec"), "numNodes")
        template = text(table(table(table(domain, "spec"), "channel"), "resourceClaimTemplate"), "name")
        claimed = [{text(c, "resourceClaimTemplateName") for c in rows(r.pod, "resourceClaims")} for r in job.roles]
        users = [role for role, templates in zip(job.roles, claimed, strict=True) if template in templates]
        counts = [role.count for role in users if type(role.count) is int]
        pods = sum(counts)
        if type(nodes) is int and nodes and users and len(counts) == len(users) and pods != nodes:
            message = f"the ComputeDomain waits for {nodes} nodes, but {pods} pods claim it"
            also = [Label(users[0].spec_at("parallelism"), f"{pods} pods")]
            effect = "the excess pods get no channel"
            if nodes > pods:
                effect = "the pods wait for a domain that never becomes ready"
            help_ = f"use `numNodes: {pods}`"
            yield DOMAIN.at(job.at_object(domain, ("spec", "numNodes")), message, also=also, effect=effect, help=help_)


def spot_without_toleration(role: ExpandedRole) -> Findings:
    if role.node_label(_SPOT) != "true":
        return
    if not any(text(one, "key") in (_SPOT, "") for one in rows(role.pod, "tolerations")):
        message = f"the pods of `{role.name}` select Spot machines but do not tolerate their taint"
        effect = "if the node pool has the taint, the pods stay pending"
        help_ = f'tolerate `{_SPOT}` with value `"true"`'
        yield SPOT.at(role.job.at(role.node_labels[_SPOT][1]), message, effect=effect, help=help_)


def larger_than_machine(job: Job) -> Findings:
    seen: set[Span] = set()  # roles may be made of one template
    for role in job.roles:
        machine, path = role.machine
        if machine is None or not machine.cpus:
            continue
        from trainc.apiserver.pods.requests import pod_requests  # noqa: PLC0415 (few jobs choose a machine by its type)

        requests = pod_requests(role.pod)
        cpu = ("cpu", f"{machine.cpus} CPUs", machine.cpus * ONE)
        memory = ("memory", f"{machine.gib}Gi", machine.gib * (ONE << 30))
        for resource, held, most in (cpu, memory):
            requested = requests.get(resource)
            # More than any machine has is meant in another unit, and reported as that.
            if requested is None or not most <= requested.quantity.nanos <= _LARGEST[resource]:
                continue
            span = _largest(role, resource)
            nodes = [
                table(table(node, "status"), "allocatable") for node in job.cluster.objects.get("Node", {}).values()
            ]
            is_free = any((amount(text(node, resource)) or 0) >= most for node in nodes)
            if span in seen or (requested.quantity.nanos == most and is_free):
                continue
            seen.add(span)
            message = (
                f"a pod of `{role.name}` requests `{resource}: {requested.quantity}`, but `{machine.name}` has {held}"
            )
            if requested.quantity.nanos <= most:
                message += ", of which the system reserves a part"
            also = [Label(job.at(path), f"{held} per machine")]
            help_ = "request less: the kubelet and the system reserve a part of the machine"
            yield TOO_LARGE.at(span, message, also=also, effect="the pods stay pending", help=help_)


def _largest(role: ExpandedRole, resource: str) -> Span:
    """Where the pods of a role request the most of a resource: in a container, or as a whole."""
    most, largest = 0, None
    for container in role.containers:
        leaf: Tree = container.requests.get(resource, container.limits.get(resource))
        requested = amount(leaf.value) if type(leaf) is Sourced else None
        if requested is not None and (largest is None or requested > most):
            most, largest = requested, container
    return role.pod_at("resources") if largest is None else largest.amount_at(resource)


def topology_annotation(role: ExpandedRole) -> Findings:
    annotations, faults = role.annotations, []
    levels = [level for level in _LEVELS if level in annotations]
    if len(levels) > 1:
        faults.append((levels[1], f"`{levels[1]}` and `{levels[0]}` are mutually exclusive", "keep one of them"))
    size, top = f"{PODSET}slice-size", PODSET_SLICE
    if (size in annotations) != (top in annotations):
        there, missing = (size, top) if size in annotations else (top, size)
        faults.append((there, f"`{there}` needs `{missing}`", f"add `{missing}`"))
    written = text(annotations, size)
    number, count = whole_number(written), role.count
    if written and not number and not substituted(written):
        faults.append((size, f"`{written}` is not a number of pods", "use a number of 1 or more"))
    elif number and type(count) is int and count and number > count:
        faults.append((size, f"a slice has {number} pods, but `{role.name}` has {count}", f"use at most {count}"))
    elif number and type(count) is int and count % number:
        uneven = f"the {count} pods of `{role.name}` are not divisible into slices of {number}"
        faults.append((size, uneven, "use a divisor"))
    effect = "Kueue rejects the job, or some pods get no slice"
    for key, message, help_ in faults:
        path = (*role.spec_path, "template", "metadata", "annotations", key)
        yield TAS.at(role.job.at(path), message, effect=effect, help=help_)


def selector_contradicts_affinity(role: ExpandedRole) -> Findings:
    selector = table(role.pod, "nodeSelector")
    terms = rows(table(table(table(role.pod, "affinity"), "nodeAffinity"), REQUIRED), "nodeSelectorTerms")
    for index, expression in enumerate(rows(terms[0], "matchExpressions") if len(terms) == 1 else ()):
        key, operator = text(expression, "key"), text(expression, "operator")
        held, values = text(selector, key), [leaf.value for leaf in expression.get("values", ())]
        if key in selector and operator in ("In", "NotIn") and (held in values) != (operator == "In"):
            term = (*role.pod_path, "affinity", "nodeAffinity", REQUIRED, "nodeSelectorTerms", 0)
            at = role.pod_at("nodeSelector", key)
            message = f"the node selector requires `{key}: {held}`, which the affinity excludes"
            also = [Label(role.job.at((*term, "matchExpressions", index)), "the affinity")]
            effect = "no node satisfies both: the pods stay pending"
            yield CONTRADICTS.at(at, message, also=also, effect=effect, help="keep one of them")


def scheduler_without_group(job: Job) -> Findings:
    if "PodGroup" in job.kinds:
        return
    for role in job.roles:
        if text(role.pod, "schedulerName") != "volcano" or not role.several or not collective(role):
            continue
        if any(key in role.annotations for key in _GROUP_KEYS):
            continue
        message = f"the {role.count} pods of `{role.name}` are scheduled by Volcano without a PodGroup"
        effect = "Volcano places them one by one: some may hold accelerators while the others wait"
        help_ = "set `podGroupPolicy: {volcano: {}}` in the runtime, or `scheduler: volcano` for the cluster"
        yield NO_GROUP.at(role.pod_at("schedulerName"), message, effect=effect, help=help_)
        return


CHECKS = (
    each(
        lambda job: job.roles,
        more_accelerators_than_machine, partial_node, network_cards_mismatch, arm_not_tolerated, claim_not_used,
        spot_without_toleration, topology_annotation, selector_contradicts_affinity,
    ),
    compute_domain_mismatch, larger_than_machine, scheduler_without_group,
)  # fmt: skip
