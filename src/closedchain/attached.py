"""Methods that are functions of later layers.

A class whose methods are written in layers above it inherits from `Attached`. The table in `closedchain.verbs` lists
these methods; the package imports it before it imports any class. A function is imported when its method is first
used, so the class depends on none of them.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any, ClassVar


class Method:
    """A descriptor: a function as a method, found when it is first used."""

    def __init__(self, owner: str, name: str, find: Callable[[], Any]) -> None:
        self.owner, self.name, self._find = owner, name, find
        self._function: Any = None

    @property
    def function(self) -> Any:
        """The function, under the name of the method: messages, help and pickles speak of that."""
        if self._function is None:
            try:
                self._function = _named(self._find(), self.name, f"{self.owner}.{self.name}")
            except AttributeError as error:  # which would be read as: there is no such method
                raise ImportError(f"method {self.name!r} of {self.owner} is not found: {error}") from error
        return self._function

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self.function if instance is None else MethodType(self.function, instance)


class Attached:
    """A class with methods from later layers."""

    _later: ClassVar[dict[str, dict[str, Callable[[], Any]]]] = {}  # by class and by method

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.__module__.partition(".")[0] != __name__.partition(".")[0]:
            return  # a user's class inherits its methods, or has its own
        for name, find in Attached._later.get(cls.__name__, {}).items():
            if name in vars(cls):
                raise TypeError(f"{cls.__name__}.{name} is defined in the class and in the table of verbs")
            setattr(cls, name, Method(cls.__name__, name, find))


def _named(function: Any, name: str, qualified: str) -> Any:
    """The function itself, or a copy of it under another name."""
    if function.__name__ == name:
        return function
    code, scope = function.__code__, function.__globals__
    copy = FunctionType(code, scope, name, function.__defaults__, function.__closure__)
    copy.__kwdefaults__, copy.__annotations__ = function.__kwdefaults__, function.__annotations__
    copy.__doc__, copy.__module__, copy.__qualname__ = function.__doc__, function.__module__, qualified
    copy.__dict__.update(function.__dict__)
    return copy
