"""The floor: parse every file of a folder, dump as much as trainc writes, and nothing else.

`python benchmarks/parse_and_dump.py FOLDER RENDERED` prints the documents of RENDERED once for each file below FOLDER,
with the fastest YAML package that is installed; with `--which` it prints the name of that package.
"""

import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

import yaml


def package() -> tuple[str, Callable[[str], Any], Callable[[Any], str]]:
    """The name of the package, its loader and its dumper."""
    try:
        import yaml_rs  # type: ignore[import-not-found]  # noqa: PLC0415 (an optional rival)
    except ImportError:
        return "PyYAML over libyaml", libyaml_load, libyaml_dump
    return "yaml-rs", yaml_rs.loads, lambda trees: "".join(map(yaml_rs.dumps, trees))


def libyaml_load(text: str) -> Any:
    """Every document of a text."""
    return list(yaml.load_all(text, yaml.CSafeLoader))


def libyaml_dump(trees: Any) -> str:
    """The documents as one stream."""
    return str(yaml.dump_all(trees, Dumper=yaml.CSafeDumper, sort_keys=False))


def files(folder: str) -> Iterator[str]:
    """The YAML files below a folder."""
    for place, _, names in os.walk(folder):
        yield from (os.path.join(place, name) for name in names if name.endswith(".yaml"))


def main(folder: str, rendered: str) -> None:
    """Parse, dump, print."""
    _, load, dump = package()
    with open(rendered, encoding="utf-8") as stream:
        objects = load(stream.read())
    for file in files(folder):
        with open(file, encoding="utf-8") as stream:
            load(stream.read())
        sys.stdout.write(dump(objects))


if __name__ == "__main__":
    if sys.argv[1:] == ["--which"]:
        print(package()[0])
    else:
        main(*sys.argv[1:])
