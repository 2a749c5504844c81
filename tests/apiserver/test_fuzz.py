"""Mutated objects: the walker never falls over, and agrees with a validator of the generated JSON Schemas.

`TRAINC_FUZZ=200000` asks for that many objects; the ordinary run takes a sample.
"""

import copy
import json
import os
import random
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from tests.apiserver.seeds import seeds
from tests.sampling import sampled
from trainc.apiserver.profile import Profile
from trainc.apiserver.schema.log import Log
from trainc.apiserver.schema.node import load
from trainc.apiserver.schema.walker import walk
from trainc.apiserver.verdict import kind_of, verdict
from trainc.model.tree import plain, stamp

SCHEMAS = Path(__file__).parents[2] / "schemas" / "json"
COUNT = int(os.environ.get("TRAINC_FUZZ", "1500"))
ROUNDS = 20
ODD: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 7, 65, 2**31, -(2**31) - 1, 2**62, 1.0, 1.5, 1e3, "", "x", "All", "default", "4", "16GB",
    "1Gi", "a" * 254, "Ünïcode", "a\n", "true", "s3://x", "${N}", [], {}, [1], ["a", "a"], [None], {"name": "x"}, {"x": None}, [{}],
)  # fmt: skip


@cache
def judge(kind: str) -> Any:
    group, version, name = kind.split("/")
    path = SCHEMAS / group / f"{name.lower()}_{version}.json"
    return jsonschema_rs.validator_for(path.read_text("utf-8"))


def places(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner: Any = ()
    if isinstance(tree, (dict, list)):
        inner = tree.items() if isinstance(tree, dict) else enumerate(tree)
    return [path, *(place for key, value in inner for place in places(value, (*path, key)))]


def mutate(tree: dict[str, Any], chance: random.Random) -> None:
    """One change somewhere below spec."""
    path = chance.choice([place for place in places(tree) if place[:1] == ("spec",) and len(place) > 1] or [("spec",)])
    holder: Any = tree
    for step in path[:-1]:
        holder = holder[step]
    key = path[-1]
    match chance.randrange(6):
        case 0 if type(holder) is dict:
            del holder[key]
        case 1 if type(holder) is dict:
            holder[key + chance.choice("sx-")] = holder.pop(key)
        case 2 if type(holder) is list:
            holder.append(copy.deepcopy(holder[key]))
        case 3 if type(holder[key]) is dict:
            holder[key][chance.choice(["name", "value", "spec", "replicas", "x"])] = copy.deepcopy(chance.choice(ODD))
        case 4:
            other: Any = tree
            for step in chance.choice(places(tree)):
                other = other[step]
            holder[key] = copy.deepcopy(other)
        case _:
            holder[key] = copy.deepcopy(chance.choice(ODD))


def without_nulls(tree: Any) -> Any:
    """What is left after the server has dropped the nulls of properties: a map may be empty then."""
    if isinstance(tree, dict):
        return {key: without_nulls(value) for key, value in tree.items() if value is not None}
    return [without_nulls(item) for item in tree] if isinstance(tree, list) else tree


@pytest.mark.parametrize("seed", sampled(range(ROUNDS), quick=("1",)))
def test_walker_and_json_schema_agree(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 (the same objects on every run)
    table = load()
    for _ in range(COUNT // ROUNDS):
        given = chance.choice(seeds())
        for _ in range(chance.choice((1, 1, 2, 4))):
            mutate(given, chance)
        node = table.root(kind_of(given))
        assert node is not None
        log = Log()
        walked = walk(node, stamp(given, "test"), log)
        # JSON Schema has a word for sets, but none for keyed lists.
        sets = [fault for fault in log.lists if "Duplicate value: {" not in fault.message]
        refused = bool(log.schema or log.unknown or sets)
        if log.unchecked:
            continue  # a value that is filled in later is nothing that JSON Schema knows of
        judged = all(judge(kind_of(given)).is_valid(tree) for tree in (given, without_nulls(given)))
        assert refused is not judged, (
            json.dumps(given),
            log.schema,
            log.unknown,
        )
        if not refused:
            # Defaults change nothing about validity, and walking again changes nothing at all.
            again = Log()
            assert walk(node, walked, again) is walked
            assert not again.schema
            assert judge(kind_of(given)).is_valid(plain(walked))


@pytest.mark.parametrize("seed", sampled(range(ROUNDS), quick=("0",)))
def test_verdicts_never_fall_over(seed: int) -> None:
    chance = random.Random(1000 + seed)  # noqa: S311 (the same objects on every run)
    table = load()
    profiles = [
        Profile(),
        Profile(kueue=True, gates=frozenset(("RestartJob", "InPlaceRestart", "ElasticJobSet")), jobset=(0, 12)),
    ]
    for _ in range(COUNT // ROUNDS // 4):
        given = chance.choice(seeds())
        before = stamp(copy.deepcopy(given), "test")
        for _ in range(chance.choice((1, 1, 2))):
            mutate(given, chance)
        after = stamp(given, "test")
        for profile in profiles:
            for strict in (True, False):
                found = verdict(after, table, profile, strict=strict)
                assert found.accepted is (not found.messages)
                assert all(fault.message for fault in found.faults)
            stored = verdict(before, table, profile).stored
            verdict(after, table, profile, old=stored, strict=False)
            if found.accepted:
                again = verdict(found.stored, table, profile, old=found.stored)
                assert again.accepted, again.messages
