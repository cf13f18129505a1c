"""Methods that are functions of later layers.

A class whose methods are written in layers above it inherits from `Attached`. Which methods these are says the table in
`closedchain.verbs`, which is filled in before any class is made: the package imports it first. A method is imported
when it is first used, so the class depends on none of them.
"""

from __future__ import annotations

from types import MethodType
from typing import Any, ClassVar, Protocol


class Later(Protocol):
    """Finds a function when it is needed."""

    def __call__(self) -> Any:
        """The function."""


class Method:
    """A descriptor: a function, found when it is first asked for, as a method."""

    def __init__(self, find: Later) -> None:
        self.find = find

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        function = self.find()
        return function if instance is None else MethodType(function, instance)


class Attached:
    """A class with methods from later layers."""

    _later: ClassVar[dict[str, dict[str, Later]]] = {}  # by class and by method

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name, find in Attached._later.get(cls.__name__, {}).items():
            setattr(cls, name, Method(find))
