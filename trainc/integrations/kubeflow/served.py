"""Runtimes in the form that the SDK reads: what it takes for granted is filled in, what it stops at is left out."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from kubeflow.trainer.constants import constants

from trainc.text.quantity import QuantityError, stored

if TYPE_CHECKING:
    from collections.abc import Iterator

_PLAIN = "plain"
_DEVICES = (constants.GPU_LABEL, constants.TPU_LABEL, constants.NPU_LABEL, constants.CPU_LABEL)


def served(runtime: dict[str, Any]) -> dict[str, Any]:
    """A runtime with a policy, the label of its framework, amounts as texts, and limits only where they name a device.

    The SDK passes over a runtime without the label, and fails at one without a policy or with a limit of memory alone.
    """
    spec = runtime.get("spec") or {}
    policy = spec.get("mlPolicy") or {}
    framework = next((name for name in policy if name != "numNodes"), _PLAIN)
    metadata = runtime["metadata"]
    labels = {constants.RUNTIME_FRAMEWORK_LABEL: framework, **(metadata.get("labels") or {})}
    out = {**runtime, "metadata": {**metadata, "labels": labels}, "spec": {**spec, "mlPolicy": policy}}
    for container in _containers(out):
        resources = container.get("resources") or {}
        amounts = {name: _stored(resources[name]) for name in ("requests", "limits") if resources.get(name)}
        if not any(map(_is_device, amounts.get("limits", ()))):
            amounts.pop("limits", None)
        container["resources"] = amounts
    return out


def _stored(amounts: dict[str, Any]) -> dict[str, str]:
    """Amounts as the API server gives them: texts in their canonical spelling; what is not an amount stays."""
    texts = {name: str(amount) for name, amount in amounts.items()}
    with suppress(QuantityError):
        return {name: stored(text) for name, text in texts.items()}
    return texts


def _is_device(name: str) -> bool:
    return name in _DEVICES or name.startswith(constants.GPU_MIG_PREFIX)


def _containers(runtime: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every container of a runtime's pods."""
    template = runtime["spec"].get("template") or {}
    for role in (template.get("spec") or {}).get("replicatedJobs") or ():
        job = (role.get("template") or {}).get("spec") or {}
        yield from ((job.get("template") or {}).get("spec") or {}).get("containers") or ()
