"""Everything that is generated from the models: `python -m trainc.api.generate [ROOT]` writes it into a checkout.

`schemas/crds/` gets a CustomResourceDefinition for each kind and `schemas/json/<group>/` a JSON Schema, under the
names that kubeconform and the public schema catalogues use; the package gets the table that run time loads, the CEL
rules as Python and the merge keys. Needs the development-only package kubernetes-validate.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainc.api import kinds
from trainc.api.generator.crd import crd, root
from trainc.api.generator.jsonschema import json_schema
from trainc.api.generator.merge_keys import merge_keys
from trainc.api.shipped import crd_path, json_path
from trainc.server.cel.generator import module
from trainc.server.schema.table import compile_table
from trainc.yaml.writer import dump

if TYPE_CHECKING:
    from trainc.api.node import Resource

RULES = "x-kubernetes-validations"


def render() -> dict[str, str]:
    """Path, relative to the root of the checkout, and text of every generated file."""
    table = _table()
    files = {
        "trainc/model/merge_keys.py": merge_keys(),
        "trainc/server/schema/table.json": json.dumps(table, separators=(",", ":"), sort_keys=True) + "\n",
        "trainc/server/cel/builtin.py": module(rule["rule"] for node in table["nodes"] for rule in node.get(RULES, ())),
    }
    definitions: dict[str, list[type[Resource]]] = {}
    for kind in kinds():
        if kind.NAMES.served:
            definitions.setdefault(crd_path(kind.NAMES), []).append(kind)
        files[f"schemas/{json_path(kind.NAMES)}"] = json.dumps(json_schema(kind), indent=2, sort_keys=True) + "\n"
    return files | {f"schemas/{path}": dump(crd(*versions)) for path, versions in definitions.items()}


def write(checkout: Path) -> list[Path]:
    """The files written below `checkout`."""
    written = []
    for name, text in render().items():
        path = checkout / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
        written.append(path)
    return written


def _table() -> dict[str, Any]:
    served = [kind for kind in kinds() if kind.NAMES.served]
    roots = {kind.NAMES.key: root(kind) for kind in served}
    whole = [kind.NAMES.key for kind in served if not kind.NAMES.status]
    return compile_table(roots, whole=whole)


if __name__ == "__main__":
    write(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
