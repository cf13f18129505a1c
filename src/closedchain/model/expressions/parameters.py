"""The numbers of a mechanism by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

from closedchain.arguments import known, mapping, text
from closedchain.errors import ModelError
from closedchain.model.expressions.expression import Expression, check_number


class Parameters(MutableMapping[str, float]):
    """The numbers of a mechanism by name. Values may change at will; names come from the drawing."""

    def __init__(self, mechanism: str) -> None:
        self._mechanism = mechanism
        self._values: dict[str, float] = {}

    def declare(self, name: str, value: float) -> None:
        """Add a name."""
        text("the name of a parameter", name)
        if name in self._values:
            raise ModelError(f"mechanism {self._mechanism!r} already has a parameter {name!r}: choose another name")
        self._values[name] = value

    def __getitem__(self, name: str) -> float:
        self._check(name)
        return self._values[name]

    def __setitem__(self, name: str, value: float) -> None:
        self._check(name)
        self._values[name] = plain_value(value, name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._values

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a parameter, or the default if there is none of that name."""
        return self._values[name] if name in self else default

    def __delitem__(self, name: str) -> None:
        raise ModelError(f"parameter {name!r} belongs to the drawing and cannot be deleted")

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def _check(self, name: str) -> None:
        hint = " (a number drawn as exactly zero is structure: draw it with m.parameter(...) to vary it)"
        known(f"mechanism {self._mechanism!r} has no parameter", name, self._values, hint)

    def merged(self, overrides: Mapping[str, float] | None) -> dict[str, float]:
        """All values, some of them replaced for the moment."""
        values = dict(self._values)
        example = f"name, for instance {{{next(iter(self._values), 'arm.mass')!r}: 2.0}}"
        for name, value in mapping(f"mechanism {self._mechanism!r}: parameters", overrides, example).items():
            self._check(name)
            values[name] = plain_value(value, name)
        return values

    def __copy__(self) -> Parameters:
        other = Parameters(self._mechanism)
        other._values = dict(self._values)
        return other

    def __repr__(self) -> str:
        return f"Parameters({self._values})"


def plain_value(value: Any, name: str) -> float:
    """The value of a parameter: a finite number."""
    number = check_number(value, f"parameter {name!r}")
    if isinstance(number, Expression):
        raise ModelError(f"the value of parameter {name!r} must be a number, not the expression {number}")
    return float(number)
