"""What one pod asks for, by the rule that Kubernetes' schedulers and quotas share."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from trainc.model.sourced import Sourced, known
from trainc.model.tree import Tree, get, value
from trainc.text.quantity import Quantity


class Amount:
    """A quantity and the leaves it was computed from."""

    __slots__ = ("leaves", "quantity")

    def __init__(self, quantity: Quantity, leaves: tuple[Sourced[Any], ...]) -> None:
        self.quantity = quantity
        self.leaves = leaves


Amounts = dict[str, Amount]


def pod_requests(
    pod: Mapping[str, Tree], *, limits: bool = True, overhead: Tree = None, injected: Tree = None
) -> Amounts:
    """The effective requests of one pod, by resource name.

    With `limits`, a limit stands in for a request that is not written, as the API server fills it in before any
    scheduler looks. `overhead` is used where the pod names none, `injected` is added to every pod.
    """
    main = together(pod, lambda container: asked(container, limits=limits))
    if "resources" in pod:
        # Requests of the pod as a whole replace the sum of its containers; its limits stand in where nobody asks.
        requests = amounts(get(pod.get("resources"), "requests"))
        if limits:
            bounds = amounts(get(pod.get("resources"), "limits"))
            requests = {**{name: a for name, a in bounds.items() if name not in main}, **requests}
        main.update({name: a for name, a in requests.items() if may_be_of_pod(name)})
    own = pod.get("overhead")
    add(main, amounts(own if type(own) is dict else overhead))
    add(main, amounts(injected))
    return main


def together(pod: Mapping[str, Tree], amounts_of: Callable[[Tree], Amounts]) -> Amounts:
    """What the containers of a pod need at once, by what each asks for.

    All that run do, or one that only starts the pod, with those that stay and began before it.
    """
    main: Amounts = {}
    for container in pod.get("containers") or []:
        add(main, amounts_of(container))
    side: Amounts = {}
    peak: Amounts = {}
    for container in pod.get("initContainers") or []:
        need = amounts_of(container)
        if value(container, "restartPolicy") == "Always":
            add(main, need)
            add(side, need)
            need = dict(side)
        else:
            add(need, side)
        _raise(peak, need)
    _raise(main, peak)
    return main


def total(parts: Iterable[tuple[Amounts, int, tuple[Sourced[Any], ...]]]) -> Amounts:
    """The sum over groups of equal pods: what one asks for, how many there are, and the leaves that number rests on."""
    out: Amounts = {}
    for amounts, count, leaves in parts:
        many = {name: Amount(a.quantity.times(count), (*a.leaves, *leaves)) for name, a in amounts.items()}
        add(out, many)
    return out


def written(amounts: Amounts, by: str) -> dict[str, Sourced[str]]:
    """The amounts as text, sorted by name, each derived from everything it sums up."""
    return {name: known(str(amount.quantity), by, amount.leaves) for name, amount in sorted(amounts.items())}


def asked(container: Tree, *, limits: bool = False) -> Amounts:
    """What a container asks for; with `limits`, a limit stands in for a request that is not written."""
    resources = get(container, "resources")
    return {**(amounts(get(resources, "limits")) if limits else {}), **amounts(get(resources, "requests"))}


def amounts(tree: Tree) -> Amounts:
    """The quantities of a map; what is none is left out."""
    quantities = {name: quantity_of(leaf) for name, leaf in tree.items()} if type(tree) is dict else {}
    return {name: Amount(held, (tree[name],)) for name, held in quantities.items() if held is not None}


def quantity_of(leaf: Tree) -> Quantity | None:
    """The quantity a leaf holds, None where it holds none: saying so is the schema's business."""
    if type(leaf) is not Sourced:
        return None
    try:
        return Quantity.parse(leaf.value)
    except ValueError:
        return None


def may_be_of_pod(name: str) -> bool:
    """Whether a pod may state a resource as a whole."""
    return name in {"cpu", "memory"} or name.startswith("hugepages-")


def add(into: Amounts, more: Amounts) -> None:
    """Sum up two lists of amounts in the first."""
    for name, amount in more.items():
        if (known := into.get(name)) is None:
            into[name] = amount
        else:
            into[name] = Amount(known.quantity.plus(amount.quantity), (*known.leaves, *amount.leaves))


def _raise(into: Amounts, other: Amounts) -> None:
    for name, amount in other.items():
        if (known := into.get(name)) is None or known.quantity < amount.quantity:
            into[name] = amount
