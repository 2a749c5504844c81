"""Two long texts that differ never look alike when they are shown on a line each."""

import random

from trainc.text.word_diff import differing

WORDS = [f"--option-{number}={number}" for number in range(60)]


def test_short_texts_stay_whole() -> None:
    assert differing("a b", "a c", 100) == ("a b", "a c")
    assert differing("", "x" * 200, 100) == ("", f"{'x' * 97}...")


def test_a_late_change_shows_with_its_neighbors() -> None:
    old = " ".join([*WORDS, "--lr", "3e-4", "--seed", "1"])
    assert differing(old, old.replace("3e-4", "1e-4"), 100) == (
        "... --option-58=58 --option-59=59 --lr 3e-4 --seed 1",
        "... --option-58=58 --option-59=59 --lr 1e-4 --seed 1",
    )


def test_two_changes_far_apart_both_show() -> None:
    old, new = " ".join(WORDS), " ".join([*WORDS[:9], "x", *WORDS[10:49], *WORDS[50:]])
    left, right = differing(old, new, 100)
    assert "--option-9=9" in left
    assert "--option-49=49" in left
    assert " x " in right
    assert "--option-49=49" not in right


def test_a_change_inside_one_long_word_shows() -> None:
    left, right = differing("a" * 500 + "1" + "b" * 500, "a" * 500 + "2" + "b" * 500, 100)
    assert left == f"...{'a' * 20}1{'b' * 73}..."
    assert right == left.replace("1", "2")


def test_changed_line_breaks_show() -> None:
    left, right = differing("a\nb", "a b", 100)
    assert (left, right) == ("a \\n b", "a b")


def test_a_changed_indentation_of_a_long_script_shows() -> None:
    old = "if x:\n  train\n" + " ".join(WORDS)
    left, right = differing(old, old.replace("  train", "    train"), 100)
    assert "x: \u2423 \u2423 train" in left
    assert "x: \u2423 \u2423 \u2423 \u2423 train" in right


def test_texts_that_differ_never_look_alike() -> None:
    rng = random.Random(0)  # noqa: S311 (the same texts in each run)
    for _ in range(300):
        words = rng.choices(["a", "bb", "c" * 150, "--lr", "1", "2"], k=rng.randint(1, 400))
        changed = list(words)
        for _ in range(rng.randint(1, 9)):
            changed[rng.randrange(len(changed))] = f"{rng.choice(words)}9"
        left, right = differing(" ".join(words), " ".join(changed), 100)
        assert left != right
        assert max(len(left), len(right)) < 4000
