"""What looks like a secret, and names of models and runs that do not."""

import pytest

from trainc.lint.rules.security import is_secret


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("MODEL_NAME", "sk-learn-model-v1", False),
        ("EXPERIMENT_SECRET_SAUCE", "v2-turbo-large-2025-experiment", False),
        ("OPENAI_API_KEY", "sk-proj-9aX2bQ7Lm4Zt8Rw1Yc6Ve3Nd5Kf0Hj", True),
        ("HF_TOKEN", "hf_QwErTyUiOpAsDfGhJkLzXcVbNm12345678", True),
        ("HF_TOKEN", "hf_" + "QwErTyUiOpAsDfGhJkLzXcVbNmQwErTyUi", True),  # letters alone
        ("SESSION_TOKEN", "550e8400-e29b-41d4-a716-446655440000", True),
    ],
)
def test_values(name: str, value: str, secret: bool) -> None:
    assert is_secret(name, value) is secret
