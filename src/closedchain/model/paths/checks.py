"""What users hand to paths: checked, or refused with a sentence that says what to try."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from closedchain.arguments import listed
from closedchain.errors import ModelError
from closedchain.model.expressions.expression import Expression, Number, check_number, t


def of_time(x: Any, what: str) -> Number:
    """A number, or an expression or function of time and parameters alone."""
    if callable(x) and not isinstance(x, Expression):
        try:
            x = x(t)
        except TypeError as error:
            raise ModelError(f"{what}: write it as a function of time alone, lambda t: ... ({error})") from None
    value = check_number(x, what)
    for leaf in value.leaves() if isinstance(value, Expression) else ():
        if leaf.op not in ("time", "parameter"):
            raise ModelError(f"{what} may depend on time and parameters only, not on {leaf}")
    return value


def of_parameters(x: Any, what: str) -> Number:
    """A number, or an expression of parameters alone: a place that does not move."""
    value = check_number(x, what)
    for leaf in value.leaves() if isinstance(value, Expression) else ():
        if leaf.op != "parameter":
            raise ModelError(f"{what} may depend on parameters only, not on {leaf}")
    return value


def plain(x: Any, what: str) -> float:
    """A finite number that is known now."""
    value = check_number(x, what)
    if isinstance(value, Expression):
        raise ModelError(f"{what} must be a plain number, not {value}")
    return float(value)


def positive(x: Any, what: str) -> float:
    """A plain number above zero."""
    value = plain(x, what)
    if value <= 0:
        raise ModelError(f"{what} is {value:g}: it must be positive")
    return value


def seconds(x: Any, what: str) -> float:
    """A plain number that is not negative."""
    value = plain(x, what)
    if value < 0:
        raise ModelError(f"{what} is {value:g} s: it must not be negative")
    return value


def whole(x: Any, what: str) -> int:
    """A whole number of at least one."""
    value = plain(x, what)
    if value < 1 or value != math.floor(value):
        raise ModelError(f"{what} must be a whole number of at least 1, not {x!r}")
    return int(value)


def place(x: Any, what: str) -> tuple[Number, ...]:
    """One number for a coordinate, three for a point."""
    several = listed(x)
    if several is None:
        return (of_parameters(x, what),)
    if len(several) != 3:
        raise ModelError(f"{what} is one number (of a coordinate) or three (of a point in space), not {x!r}")
    return tuple(of_parameters(entry, f"{what}: {axis}") for axis, entry in zip("xyz", several, strict=True))


def point(x: Any, what: str) -> np.ndarray:
    """Three plain numbers."""
    several = listed(x)
    if several is None or len(several) != 3:
        raise ModelError(f"{what} is a point in space, for instance (0.1, 0, 0.2), not {x!r}")
    return np.array([plain(entry, f"{what}: {axis}") for axis, entry in zip("xyz", several, strict=True)])


def places(points: Any, what: str, least: int = 2) -> np.ndarray:
    """Plain numbers of a coordinate, (n, 1), or points, (n, 3)."""
    given = listed(points)
    if given is None or len(given) < least:
        count = "no list" if given is None else len(given)
        raise ModelError(f"{what} needs a list of at least {least} points, for instance [0.0, 0.5, 0.2], got {count}")
    rows = [place(x, f"{what}: point {i + 1}") for i, x in enumerate(given)]
    if len({len(row) for row in rows}) > 1:
        raise ModelError(f"{what}: some of the points have one number, some have three")
    return np.array([[plain(x, f"{what}: point {i + 1}") for x in row] for i, row in enumerate(rows)])


def instants(times: Any, count: int, what: str, negative: bool = False) -> np.ndarray:
    """So many strictly increasing times; negative ones must be allowed."""
    given = listed(times)
    if given is None or len(given) != count:
        said = repr(times) if given is None else f"{len(given)} times"
        raise ModelError(f"{what} needs one time for each of its {count} points, not {said}")
    check = plain if negative else seconds
    at = np.array([check(x, f"{what}: time {i + 1}") for i, x in enumerate(given)])
    for i in np.flatnonzero(np.diff(at) <= 0):
        raise ModelError(f"{what}: times must increase, but time {i + 2} is {at[i + 1]:g} s after {at[i]:g} s")
    return at
