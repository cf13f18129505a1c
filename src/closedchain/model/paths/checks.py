"""What users hand to paths: checked, or refused with a sentence that says what to try."""

from __future__ import annotations

from typing import Any

import numpy as np

from closedchain import arguments
from closedchain.arguments import entries, listed, not_negative
from closedchain.errors import ModelError
from closedchain.model.expressions.expression import Expression, Number, check_leaves, check_number, t


def of_time(x: Any, what: str) -> Number:
    """A number, or an expression or function of time and parameters alone."""
    if callable(x) and not isinstance(x, Expression):
        try:
            x = x(t)
        except TypeError as error:
            raise ModelError(f"{what}: write it as a function of time alone, lambda t: ... ({error})") from None
    value = check_number(x, what)
    return check_leaves(value, what, "time", "parameter") if isinstance(value, Expression) else value


def of_parameters(x: Any, what: str) -> Number:
    """A number, or an expression of parameters alone: a place that does not move."""
    value = check_number(x, what)
    return check_leaves(value, what, "parameter") if isinstance(value, Expression) else value


def plain(x: Any, what: str) -> float:
    """A finite number that is known now."""
    value = check_number(x, what)
    if isinstance(value, Expression):
        raise ModelError(f"{what} must be a plain number, not {value}")
    return float(value)


def positive(x: Any, what: str) -> float:
    """A plain number above zero."""
    return arguments.positive(what, plain(x, what))


def seconds(x: Any, what: str) -> float:
    """A plain number that is not negative."""
    return not_negative(what, plain(x, what), "of seconds")


def whole(x: Any, what: str) -> int:
    """A whole number of at least one."""
    value = plain(x, what)
    return arguments.whole(what, int(value) if value.is_integer() else x, 1)


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
    several = entries(x, 3, f"{what} is a point in space of three numbers", "(0.1, 0, 0.2)")
    return np.array([plain(entry, f"{what}: {axis}") for axis, entry in zip("xyz", several, strict=True)])


def places(points: Any, what: str, least: int = 2) -> np.ndarray:
    """Plain numbers of a coordinate, (n, 1), or points, (n, 3)."""
    several = listed(points)
    if several is None or len(several) < least:
        count = "no list" if several is None else len(several)
        raise ModelError(f"{what} needs a list of at least {least} points, for instance [0.0, 0.5, 0.2], got {count}")
    rows = [place(x, f"{what}: point {i + 1}") for i, x in enumerate(several)]
    if len({len(row) for row in rows}) > 1:
        raise ModelError(f"{what}: some of the points have one number, some have three")
    return np.array([[plain(x, f"{what}: point {i + 1}") for x in row] for i, row in enumerate(rows)])


def instants(times: Any, count: int, what: str, negative: bool = False) -> np.ndarray:
    """So many strictly increasing times; negative ones must be allowed."""
    several = listed(times)
    if several is None or len(several) != count:
        said = repr(times) if several is None else f"{len(several)} times"
        raise ModelError(f"{what} needs one time for each of its {count} points, not {said}")
    check = plain if negative else seconds
    at = np.array([check(x, f"{what}: time {i + 1}") for i, x in enumerate(several)])
    for i in np.flatnonzero(np.diff(at) <= 0):
        raise ModelError(f"{what}: times must increase, but time {i + 2} is {at[i + 1]:g} s after {at[i]:g} s")
    return at
