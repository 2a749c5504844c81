"""The extras of the package, and the tests that need one.

Where `TRAINC_PLAIN=1` says that a plain installation is tested, these tests are left out. Everywhere else all extras are
there: a test that cannot load one fails, and is never skipped.
"""

import importlib
import os
from typing import Any

import pytest

PLAIN = bool(os.environ.get("TRAINC_PLAIN"))
# By extra, how the names of its tests begin. What trainc does without it, others say: tests/apiserver/policy/
# test_command_line.py for `definitions`, tests/integrations/lsp/test_command.py for `lsp`.
NEEDING = {
    "definitions": (
        "tests/apiserver/policy/test_decisions.py", "tests/apiserver/policy/test_expressions.py", "tests/apiserver/policy/test_fuzz.py",
        "tests/apiserver/policy/test_hostile.py", "tests/apiserver/policy/test_matching.py", "tests/apiserver/policy/test_public_policies.py",
        "tests/apiserver/policy/test_requests.py", "tests/apiserver/test_cel.py", "tests/apiserver/test_engine.py", "tests/integrations/flux/test_ready.py",
        "tests/test_health.py", "tests/cli/test_cache.py",
        "tests/apiserver/test_definitions.py::test_what_is_not_checked_is_told", "tests/apiserver/test_definitions.py::test_rules_of_a_cluster_hold",
        "tests/apiserver/test_walker.py::test_values[schema2", "tests/apiserver/test_walker.py::test_a_pattern_of_a_cluster",
        "tests/apiserver/policy/test_command_line.py::test_entry_points_agree", "tests/apiserver/policy/test_command_line.py::test_what_a_policy_denies",
        "tests/apiserver/policy/test_command_line.py::test_the_first_policy", "tests/apiserver/policy/test_command_line.py::test_policies_",
        "tests/apiserver/policy/test_command_line.py::test_parameters_of_a_dump", "tests/apiserver/policy/test_command_line.py::test_nobody_silences",
        "tests/apiserver/policy/test_command_line.py::test_json_names", "tests/apiserver/policy/test_command_line.py::test_a_warning_can",
        "tests/apiserver/policy/test_command_line.py::test_a_policy_", "tests/apiserver/policy/test_command_line.py::test_a_namespace_of_a_dump",
        "tests/apiserver/policy/test_command_line.py::test_a_denial_points", "tests/hostile/test_definitions.py::test_a_shape_that_does_not_fit",
        "tests/hostile/test_definitions.py::test_a_rule_that_overruns", "tests/integrations/krm/test_fn.py::test_policies_among",
        "tests/cli/test_init.py::test_a_new_repository_is_clean_with_each_scheduler", "tests/test_cases.py::test_case[policy/",
        "tests/test_cases.py::test_case[admit/unchecked-rule", "tests/test_cases.py::test_case[verify/bad-failure-pattern",
    ),
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
