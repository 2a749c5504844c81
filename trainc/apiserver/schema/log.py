"""What a walk over an object finds."""

from typing import Any

from trainc.apiserver.fault import Fault
from trainc.apiserver.schema.node import SchemaNode
from trainc.model.tree import Path, Tree

Trail = tuple[Any, ...]


class Log:
    """What a walk found: unknown fields, schema faults, list faults, and the nodes on which CEL rules wait.

    With `nulls`, nulls of properties are dropped before defaults come in, as the server does when it reads an object;
    an object that a webhook has patched is walked without. `loose` tells that something fits the schema which a
    decoder of typed objects may still refuse. `unchecked` are patterns that could not be tried.
    """

    def __init__(self, *, nulls: bool = True) -> None:
        self.nulls = nulls
        self.loose = False
        self.unknown: list[Fault] = []
        self.schema: list[Fault] = []
        self.lists: list[Fault] = []
        self.unchecked: list[Fault] = []
        self.rules: list[tuple[SchemaNode, Path, Tree]] = []
