"""A component with the values that were chosen for its parameters written into its places."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from trainc.model.document import Document
from trainc.model.finding import ERROR, Label, Rule, place
from trainc.model.paths import Steps, located, parsed
from trainc.model.report import Report
from trainc.model.sourced import Sourced, Span, derive
from trainc.model.tree import Path, Tree, get, value
from trainc.text.numbers import parsed_int
from trainc.text.quantity import Quantity
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


def filled(component: Document, use: "EnabledComponent", report: Report) -> Tree | None:
    """The component's spec with every parameter in its places, None with findings where that cannot be done."""
    given = use.given
    spec = component.tree.get("spec") or {}
    parameters = {value(one, "name"): (index, one) for index, one in enumerate(spec.get("parameters") or ())}
    listed = f"its parameters: {', '.join(parameters)}" if parameters else "it takes no parameters"
    also = [Label(component.span(("metadata", "name")), "this component")]
    problems = []
    for name in [name for name in given if name not in parameters]:
        message = f"component `{component.name}` has no parameter `{name}`"
        help_ = meant(name, list(parameters), listed)
        problems.append(UNKNOWN_PARAMETER.at(use.parameter_span(name), message, also=also, help=help_))
    chosen = _chosen(parameters, given)
    for name, (index, parameter) in parameters.items():
        leaf = chosen.get(name)
        declared = [Label(component.span(("spec", "parameters", index, "name")), "declared here")]
        if leaf is None:
            if value(parameter, "required") is True:
                message = f"component `{component.name}` needs a value for its parameter `{name}`"
                help_ = f"annotate the job with `{component.name}.trainc.dev/{name}`"
                if use.keys is None:
                    help_ = f"add `with: {{{name}: ...}}`"
                problems.append(BAD_PARAMETER.at(use.span, message, also=declared, help=help_))
            for path in parameter.get("sets") or ():
                spec = _without_null(spec, parsed(path.value, spec) or ())
            continue
        if wrong := _wrong(parameter, leaf):
            message = f"parameter `{name}` of component `{component.name}`: `{leaf.value}` {wrong}"
            help_ = _right(parameter, leaf.value, in_quotes=use.keys is not None)
            problems.append(BAD_PARAMETER.at(place(leaf.origin) or use.span, message, also=declared, help=help_))
        for at, path in enumerate(parameter.get("sets") or ()):
            if (target := _target(path.value, spec)) is None or type(get(spec, *target)) in (dict, list):
                what = f"component `{component.name}` does not have"
                help_ = "add the field to the component's `job` or `runtime`, and write its path here as `trainc why` prints it"
                if target is not None:
                    what, help_ = "holds more than one value", "name a field in it that takes the value"
                span = component.span(("spec", "parameters", index, "sets", at))
                message = f"parameter `{name}` sets `{path.value}`, which {what}"
                problems.append(PARAMETER_PLACE.at(span, message, help=help_))
            elif not wrong:
                spec = put(spec, target, leaf)
    report.add_all(problems)
    return None if problems else spec


def typed(component: Document, use: "EnabledComponent") -> dict[str, Sourced[Any]]:
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


def _chosen(parameters: Mapping[str, tuple[int, Tree]], given: "Values") -> dict[str, Sourced[Any]]:
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


def _target(path: str, spec: Tree) -> Path | None:
    """Where a parameter writes: a place that the component has, or a new key of a map that it has."""
    if not path.startswith(("job.", "runtime.")):
        return None
    if (steps := parsed(path, spec)) is not None:
        return located(spec, steps)
    parent, last = (path[:-1].rpartition("[")[::2]) if path.endswith("]") else path.rpartition(".")[::2]
    steps = parsed(parent, spec)
    above = None if steps is None else located(spec, steps)
    return None if above is None or type(get(spec, *above)) is not dict else (*above, last)


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


def put(tree: Tree, path: Path, leaf: Sourced[Any]) -> Tree:
    """The tree with a leaf at a place; a number becomes text where the tree itself has text there."""
    if not path:
        was = tree.value if type(tree) is Sourced else None
        return leaf.map(str) if type(was) is str and type(leaf.value) is int else leaf
    step, *below = path
    if type(tree) is list:
        return [put(item, tuple(below), leaf) if index == step else item for index, item in enumerate(tree)]
    return {**tree, step: put(tree.get(step), tuple(below), leaf)}


class EnabledComponent(NamedTuple):
    """One component switched on: its name where it is written, the file that names it, and who, the values given.

    A job gives values as annotations, all of them text: `keys` is where the key of each stands. One that only gives
    values `follows` a component that something else switches on.
    """

    name: Sourced[str]
    file: str
    by: str
    given: Mapping[str, Sourced[Any]] = {}
    # The runtime that gives the values, and which of its components gets them.
    owner: tuple[Document, int] | None = None
    keys: Mapping[str, Span] | None = None
    follows: bool = False

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
