"""What the training operator's webhooks refuse: JAXJob, PyTorchJob, TFJob, XGBoostJob and PaddleJob."""

from __future__ import annotations

from trainc.kinds.shared.refusals import (
    Refuser,
    _respell,
    containers,
    empty_manager,
    forbidden,
    image,
    invalid,
    label_errors,
    not_supported,
    odd_case,
    required,
)
from trainc.model.finding import NOTE, WARNING, Rule
from trainc.model.tree import get, value
from trainc.text.object_keys import MULTIKUEUE
from trainc.text.placeholders import is_placeholder, placeholder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainc.model.tree import Path, Tree

MANAGERS = (MULTIKUEUE, "kubeflow.org/training-operator")

MASTER_COUNT = Rule(
    "master-replicas",
    NOTE,
    "the Master's `replicas` defaults to 1",
    "The webhook runs before defaulting and rejects a Master without `replicas`.",
)
OLD_NPROC = Rule(
    "deprecated-nproc",
    WARNING,
    "`elasticPolicy.nProcPerNode` is deprecated",
    "PyTorchJob accepted the number of processes in two places; only `spec.nprocPerNode` is left.",
)


def refuse(r: Refuser) -> None:
    """Report everything the webhook of this kind would refuse."""
    _name(r)
    if get(r.spec, r.kind.field) is None:
        r.say(("spec",), required(("spec", r.kind.field), "must be required"), f"`spec.{r.kind.field}` is missing")
    if r.kind.kind != "JAXJob":
        _managed_by(r)
    for key in r.roles:
        _replica(r, key)
    extra = EXTRAS.get(r.kind.kind)
    if extra:
        extra(r)


def _name(r: Refuser) -> None:
    if is_placeholder(r.document.name):
        r.report.skip(f"what `{placeholder(r.document.name)}` will be")
    errors = label_errors(r.document.name)
    if errors and (r.document.name or get(r.document.tree, "metadata", "generateName") is None):
        path = ("metadata", "name")
        text = invalid(path, r.document.name, f"should match: {','.join(errors)}")
        r.say(
            path,
            text,
            f"the name `{r.document.name}` is not a DNS-1035 label",
            help="start with a letter; use a-z, 0-9 and `-`, at most 63",
        )


def _managed_by(r: Refuser) -> None:
    path = ("spec", "runPolicy", "managedBy")
    manager = value(r.document.tree, *path)
    if manager == "":
        empty_manager(r)
    elif manager is not None and manager not in MANAGERS:
        r.say(path, not_supported(path, manager, MANAGERS), f"`{manager}` manages no job of this kind")


def _replica(r: Refuser, key: str) -> None:
    path: Path = ("spec", r.kind.field, key)
    if key not in r.kind.roles:
        _odd_role(r, key, path)
    replica = r.replicas.get(key)
    inside = (*path, "template", "spec", "containers")
    listed = containers(replica)
    if not listed:
        r.say(inside, required(inside, "must be specified"), f"the role `{key}` has no containers")
    for index, container in enumerate(listed):
        if not image(container):
            here = (*inside, index, "image")
            r.say(here, required(here, "must be required"), f"a container of `{key}` has no image")
    if all(value(container, "name") != r.kind.container for container in listed):
        _no_main(r, key, inside, listed)


def _odd_role(r: Refuser, key: str, path: Path) -> None:
    role = r.kind.role(key)
    if r.kind.kind == "TFJob" and not role:
        text = not_supported(path, key, r.kind.roles)
        r.say(path, text, f"TFJob has no role `{key}`", key=True, help=f"the roles are {', '.join(r.kind.roles)}")
    elif role and (r.lenient or r.kind.kind == "TFJob"):
        odd_case(r, key, role)
    else:
        known = f"write `{role}`" if role else f"the roles are {', '.join(r.kind.roles)}"
        text = not_supported(path, key, r.kind.roles)
        r.say(
            path,
            text,
            f"{r.kind.kind} has no role `{key}`",
            key=True,
            help=known,
            fix=_respell(r, key, role) if role else (),
        )


def _no_main(r: Refuser, key: str, inside: Path, listed: list[Tree]) -> None:
    name = r.kind.container
    shown = f'"{name}"' if r.kind.kind == "PaddleJob" else name
    text = required(inside, f"must have at least one container with name {shown}")
    single = (*inside, 0, "name")
    fix = r.document.edits(single, name) if len(listed) == 1 else []
    if len(listed) == 1:
        message = f"the container of `{key}` is called `{value(listed[0], 'name')}`, the operator looks for `{name}`"
        r.say(single, text, message, help=f"call it `{name}`", fix=fix)
    else:
        r.say(inside, text, f"no container of `{key}` is called `{name}`", help=f"call the training container `{name}`")


def _one_master(r: Refuser) -> None:
    if "Master" not in r.replicas:
        return
    path = ("spec", r.kind.field, "Master", "replicas")
    count = value(r.document.tree, *path)
    if count == 1 or type(count) is str:  # text is filled in later, which whoever counts pods has a word on
        return
    if count is None and r.lenient:
        r.report.add(
            MASTER_COUNT.at(
                r.document.span(path), "the Master has no `replicas`; 1 is taken", fix=r.document.edits(path, 1)
            )
        )
        return
    message = "the Master has no `replicas`" if count is None else f"{count} Masters are asked for"
    note = "the webhook runs before the default of 1 is filled in" if count is None else ""
    r.say(
        path,
        forbidden(path, "must be 1"),
        message,
        help=f"set `replicas: 1`{'; ' + note if note else ''}",
        fix=r.document.edits(path, 1),
    )


def _pytorch(r: Refuser) -> None:
    _one_master(r)
    workers = ("spec", r.kind.field, "Worker", "replicas")
    count = value(r.document.tree, *workers)
    if type(count) is int and count < 1:
        r.say(workers, forbidden(workers, "must be at least 1"), f"{count} Workers are asked for")
    elastic = get(r.spec, "elasticPolicy")
    if elastic is None:
        return
    if not any(r.kind.role(key) == "Worker" for key in r.roles):
        path: Path = ("spec", r.kind.field, "Worker")
        r.say(
            path, required(path, "must be configured if elastic policy is used"), "`elasticPolicy` needs a Worker role"
        )
    path = ("spec", "elasticPolicy", "nProcPerNode")
    if get(elastic, "nProcPerNode") is None:
        return
    help_ = "use `spec.nprocPerNode`"
    r.report.add(
        OLD_NPROC.at(
            r.document.span(path),
            "`spec.elasticPolicy.nProcPerNode` is deprecated, use spec.nprocPerNode instead",
            help=help_,
        )
    )
    if get(r.spec, "nprocPerNode") is not None:
        r.say(
            path,
            forbidden(path, "must not be used with spec.nprocPerNode"),
            "the number of processes is set twice",
            help=help_,
            fix=r.document.edits(path),
        )


def _tensorflow(r: Refuser) -> None:
    deciders = [key for key in r.roles if r.kind.role(key) in {"Chief", "Master"}]
    if len(deciders) > 1:
        path = ("spec", r.kind.field)
        text = forbidden(path, "must not have more than 1 Chief or Master role")
        r.say(
            (*path, deciders[1]),
            text,
            "both a Chief and a Master are given",
            key=True,
            help="they are one role: keep one",
        )


def _xgboost(r: Refuser) -> None:
    if "Master" not in r.roles:
        path = ("spec", r.kind.field, "Master")
        r.say(path, required(path, "must be present"), "an XGBoostJob needs a Master")
    _one_master(r)


EXTRAS: dict[str, Callable[[Refuser], None]] = {"PyTorchJob": _pytorch, "TFJob": _tensorflow, "XGBoostJob": _xgboost}
