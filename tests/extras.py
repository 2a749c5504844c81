"""The extras of the package, and the tests that need one.

Where `TRAINC_PLAIN=1` says that a plain installation is tested, these tests are left out. Everywhere else all extras are
there: a test that cannot load one fails, and is never skipped.
"""

import importlib
import os
from typing import Any

import pytest

PLAIN = bool(os.environ.get("TRAINC_PLAIN"))
# By extra, how the names of its tests begin. tests/integrations/lsp/test_command.py says what trainc does without `lsp`.
NEEDING = {
    "kubeflow": ("tests/integrations/kubeflow/", "tests/test_story_of_tools.py"),
    "lsp": (
        "tests/integrations/lsp/test_diagnostics.py", "tests/integrations/lsp/test_editors.py", "tests/integrations/lsp/test_effort.py",
        "tests/integrations/lsp/test_job_patches.py", "tests/integrations/lsp/test_positions.py", "tests/integrations/lsp/test_questions.py",
        "tests/test_internal_errors.py::test_an_editor_is_told",
    ),
}  # fmt: skip


def is_left_out(name: str) -> bool:
    """Whether a test, or a file of tests, needs an extra that a plain installation does not have."""
    return PLAIN and name.startswith(tuple(prefix for prefixes in NEEDING.values() for prefix in prefixes))


def package(name: str) -> Any:
    """A module of an extra; what needs it is left out where a plain installation is tested."""
    if PLAIN:
        return pytest.importorskip(name)
    return importlib.import_module(name)
