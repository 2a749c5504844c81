"""A component with the values that were chosen for its parameters written into its places."""

from __future__ import annotations

from collections.abc import Mapping

from trainc.model.document import Document
from trainc.model.finding import ERROR, Finding, Label, Rule, place
from trainc.model.paths import Steps, at_path, parsed
from trainc.model.report import Report
from trainc.model.sourced import Sourced, Span, derive
from trainc.model.tree import Tree, get, value
from trainc.text.numbers import parsed_int
from trainc.text.quantity import Quantity
from trainc.text.record import Any
from trainc.text.spelling import meant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    Values: TypeAlias = Mapping[str, Sourced[Any]]


UNKNOWN_PARAMETER = Rule("unknown-parameter", ERROR, admission=True)
BAD_PARAMETER = Rule("bad-parameter", ERROR, admission=True)
PARAMETER_PLACE = Rule("parameter-without-place", ERROR, admission=True)


_WRITE = {
    "integer": "write a whole number, without quotes",
    "string": "write a string; quote numbers and booleans",
    "quantity": "write an amount, such as `16Gi`",
}


def filled(component: Document, use: EnabledComponent, report: Report) -> Tree | None:
    """The component's spec with every parameter in its places, None with findings where that cannot be done."""
    given = use.given
    spec = component.tree.get("spec") or {}
    parameters = {value(one, "name"): (index, one) for index, one in enumerate(spec.get("parameters") or ())}
    problems = [
        _unknown(component, use.parameter_span(name), name, list(parameters))
        for name in given
        if name not in parameters
    ]
    chosen = _chosen(parameters, given)
    for name, (index, parameter) in parameters.items():
        leaf = chosen.get(name)
        if leaf is None:
            if value(parameter, "required") is True:
                problems.append(_lacking(component, index, name, use.span, use.keys))
            for path in parameter.get("sets") or ():
                spec = _without_null(spec, parsed(path.value, spec) or ())
            continue
        wrong = _wrong(parameter, leaf)
        if wrong:
            problems.append(_bad(component, index, leaf, wrong, use))
        for at, path in enumerate(parameter.get("sets") or ()):
            if (steps := _steps(path.value, spec)) is None or type(at_path(spec, steps)) in (dict, list):
                problems.append(_placeless(component, (index, at), name, path.value, there=steps is not None))
            elif not wrong:
                spec = put(spec, steps, leaf)
    report.add_all(problems)
    return None if problems else spec


def typed(component: Document, use: EnabledComponent) -> dict[str, Sourced[Any]]:
    """The values that a use gives, those of annotations as the parameters want them; what does not fit stays text."""
    if use.keys is None:
        return dict(use.given)
    parameters = {value(one, "name"): one for one in get(component.tree, "spec", "parameters") or ()}
    return {name: _typed(parameters.get(name) or {}, leaf) for name, leaf in use.given.items()}


def _typed(parameter: Tree, leaf: Sourced[Any]) -> Sourced[Any]:
    values = [value(choice, "value") for choice in parameter.get("choices") or ()]
    meant_by = next((one for one in values if str(one) == leaf.value), None)
    if meant_by is None and value(parameter, "type") == "integer":
        meant_by = parsed_int(leaf.value)
    return leaf if meant_by is None else leaf.map(lambda _: meant_by)


def _chosen(parameters: Mapping[str, tuple[int, Tree]], given: Values) -> dict[str, Sourced[Any]]:
    """The value of each parameter: given, else by another one's choice, else its default."""
    own = {
        name: leaf for name, (_, one) in parameters.items() if (leaf := given.get(name, one.get("default"))) is not None
    }
    implied: dict[str, Sourced[Any]] = {}
    for name, chosen in own.items():
        choice = _choice(parameters[name][1], chosen) or {}
        for other, content in (choice.get("with") or {}).items():
            implied[other] = derive(f"choice of `{name}`", lambda content, _: content, content, chosen)
    return {**own, **implied, **{name: leaf for name, leaf in given.items() if name in parameters}}


def _choice(parameter: Tree, leaf: Sourced[Any]) -> Tree | None:
    choices = parameter.get("choices") or ()
    return next((one for one in choices if value(one, "value") == leaf.value), None)


def _wrong(parameter: Tree, leaf: Sourced[Any]) -> str:
    """What is wrong with a value, empty when nothing is."""
    kind, content = value(parameter, "type"), leaf.value
    if kind == "integer" and type(content) is not int:
        return "is not an integer"
    if kind == "string" and type(content) is not str:
        return "is not a string"
    if kind == "quantity" and not _is_quantity(content):
        return "is not a quantity"
    if parameter.get("choices") and _choice(parameter, leaf) is None:
        return "is not one of its choices"
    return ""


def _right(parameter: Tree, content: object, *, in_quotes: bool) -> str:
    """What to write instead of a wrong value, `in_quotes` as every annotation is."""
    choices = [str(value(one, "value")) for one in parameter.get("choices") or ()]
    if not choices:
        right = _WRITE.get(str(value(parameter, "type")), "")
        return right.replace(", without quotes", " in quotes") if in_quotes else right
    near = meant(str(content), choices)
    return f"{near}{' ' if near else ''}choices: {', '.join(choices)}"


def _is_quantity(content: object) -> bool:
    try:
        Quantity.parse(content)
    except (ValueError, TypeError):
        return False
    return type(content) is not bool


def _steps(path: str, spec: Tree) -> Steps | None:
    """Where a parameter writes: a place that the component has, or a new key of a map that it has."""
    if not path.startswith(("job.", "runtime.")):
        return None
    if (steps := parsed(path, spec)) is not None:
        return steps
    parent, last = (path[:-1].rpartition("[")[::2]) if path.endswith("]") else path.rpartition(".")[::2]
    if (above := parsed(parent, spec)) is None or type(get(spec, *_plain(spec, above))) is not dict:
        return None
    return (*above, last)


def _plain(tree: Tree, steps: Steps) -> tuple[str | int, ...]:
    path: list[str | int] = []
    for step in steps:
        at = _position(tree, step) if type(step) is tuple else step
        path.append(at)  # type: ignore[arg-type] # a tuple was turned into an index
        tree = tree[at]
    return tuple(path)


def _position(items: list[Tree], step: tuple[str, object]) -> int:
    return next(index for index, item in enumerate(items) if value(item, step[0]) == step[1])


def _without_null(tree: Tree, steps: Steps) -> Tree:
    """The tree without the null that holds the place of a value which nobody gives, and without maps that held it alone."""
    if not steps or type(tree) is not dict or type(steps[0]) is not str:
        return tree
    key, node = steps[0], tree.get(steps[0])
    if len(steps) > 1:
        rest = _without_null(node, steps[1:])
        is_empty = rest == {} and node != {}
    else:
        rest, is_empty = node, type(node) is Sourced and node.value is None
    return {name: rest if name == key else one for name, one in tree.items() if name != key or not is_empty}


def put(tree: Tree, steps: Steps, leaf: Sourced[Any]) -> Tree:
    """The tree with a leaf at a place; a number becomes text where the tree itself has text there."""
    if not steps:
        was = tree.value if type(tree) is Sourced else None
        return leaf.map(str) if type(was) is str and type(leaf.value) is int else leaf
    step = steps[0]
    if type(tree) is list:
        at = _position(tree, step) if type(step) is tuple else step
        return [put(item, steps[1:], leaf) if index == at else item for index, item in enumerate(tree)]
    return {**tree, step: put(tree.get(step), steps[1:], leaf)}


def _parameter_place(component: Document, index: int) -> Span:
    return component.span(("spec", "parameters", index, "name"))


def _unknown(component: Document, at: Span, name: str, known: list[str]) -> Finding:
    listed = f"its parameters: {', '.join(known)}" if known else "it takes no parameters"
    return UNKNOWN_PARAMETER.at(
        at,
        f"component `{component.name}` has no parameter `{name}`",
        also=[Label(component.span(("metadata", "name")), "this component")],
        help=meant(name, known, listed),
    )


def _bad(component: Document, index: int, leaf: Sourced[Any], wrong: str, use: EnabledComponent) -> Finding:
    parameter = get(component.tree, "spec", "parameters", index)
    return BAD_PARAMETER.at(
        place(leaf.origin) or use.span,
        f"parameter `{value(parameter, 'name')}` of component `{component.name}`: `{leaf.value}` {wrong}",
        also=[Label(_parameter_place(component, index), "declared here")],
        help=_right(parameter, leaf.value, in_quotes=use.keys is not None),
    )


def _lacking(component: Document, index: int, name: str, use: Span, keys: object) -> Finding:
    return BAD_PARAMETER.at(
        use,
        f"component `{component.name}` needs a value for its parameter `{name}`",
        also=[Label(_parameter_place(component, index), "declared here")],
        help=f"add `with: {{{name}: ...}}`"
        if keys is None
        else f"annotate the job with `{component.name}.trainc.dev/{name}`",
    )


def _placeless(component: Document, spot: tuple[int, int], name: str, path: str, *, there: bool) -> Finding:
    return PARAMETER_PLACE.at(
        component.span(("spec", "parameters", spot[0], "sets", spot[1])),
        f"parameter `{name}` sets `{path}`, which "
        + ("holds more than one value" if there else f"component `{component.name}` does not have"),
        help="name a field in it that takes the value"
        if there
        else "add the field to the component's `job` or `runtime`, and write its path here as `trainc why` prints it",
    )


class EnabledComponent:
    """One component switched on: its name where it is written, the values given, the file that names it, and who.

    A job gives values as annotations, all of them text: `keys` is where the key of each stands. One that only gives
    values `follows` a component that something else switches on.
    """

    def __init__(
        self,
        name: Sourced[str],
        file: str,
        by: str,
        given: Mapping[str, Sourced[Any]] | None = None,
        owner: tuple[Document, int] | None = None,
        keys: Mapping[str, Span] | None = None,
        *,
        follows: bool = False,
    ) -> None:
        self.name = name
        self.file = file
        self.by = by
        self.given = given or {}
        self.keys = keys
        self.follows = follows
        self.owner = owner  # the runtime that gives the values, and which of its components gets them

    @property
    def span(self) -> Span:
        """Where the component is named."""
        return place(self.name.origin) or Span(self.file, 1, 1, 1, 1)

    def parameter_span(self, parameter: str) -> Span:
        """Where the name of a parameter stands that is given a value."""
        if self.keys is not None and parameter in self.keys:
            return self.keys[parameter]
        if self.owner is None:
            return self.span
        document, index = self.owner
        return document.span(("spec", "components", index, "with", parameter), key=True)
