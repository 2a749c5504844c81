"""Values of variables whose names say secret are not repeated: not by `diff`, not by notes of updates and migrations."""

from pathlib import Path

import pytest

from tests.repository import Repository
from trainc.changes.compare.updates import LeafUpdate
from trainc.changes.migrate.compared import Difference
from trainc.text.masking import named_secret, variable_of

OLD, NEW = "hf-of-yesterday", "hf-of-today"


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_diff_masks_secrets(form: str, tmp_path: Path) -> None:
    for folder, token in (("old", OLD), ("new", NEW)):
        repository = Repository(tmp_path / folder, "bert")
        env = f'    env: [{{name: HF_TOKEN, value: {token}}}, {{name: EPOCHS, value: "{len(token)}"}}]\n'
        repository.change("jobs/bert.yaml", "  trainer:\n", f"  trainer:\n{env}")
    found = repository.run("diff", "../old", "../new", "--report", form)
    assert "env HF_TOKEN of" in found.out
    assert "(hidden)" in found.out
    assert OLD not in found.out
    assert NEW not in found.out


def test_notes_mask_secrets() -> None:
    change = LeafUpdate(("spec", "env", ("name", "API_KEY"), "value"), (), OLD, NEW)
    assert OLD not in str(change)
    assert NEW not in str(Difference("Job/a/env[API_KEY]/value", None, NEW, "because"))
    assert "absent -> (hidden)" in str(Difference("Job/a/env[API_KEY]/value", None, NEW, "because"))
    assert NEW in str(Difference("Job/a/env[EPOCHS]/value", None, NEW, "because"))


def test_names() -> None:
    assert named_secret("HF_TOKEN")
    assert not named_secret("TOKENIZERS_PARALLELISM")
    assert variable_of("spec.containers[node].env[HF_TOKEN].value") == "HF_TOKEN"
    assert variable_of("spec.containers[node].env[HF_TOKEN].valueFrom.secretKeyRef.name") == ""
    assert variable_of("metadata.name") == ""
