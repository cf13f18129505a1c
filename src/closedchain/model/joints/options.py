"""The options of a joint in the forms people write them: axes, a guess, limits, stops, friction."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from closedchain.arguments import entries, listed
from closedchain.errors import ModelError
from closedchain.model.bodies.rotation import IDENTITY, Rotation, from_axis, from_two_axes
from closedchain.model.expressions.expression import Expression, check_number
from closedchain.model.joints.types import JointType
from closedchain.model.parts import Friction, Stops


def rotation(kind: JointType, axis: Any, axes: Any, what: str) -> Rotation:
    """How the frames are turned so that the axis, or the two axes of a universal joint, point where they should."""
    if axes is not None:
        if not kind.has_two_axes:
            raise ModelError(f"{what} is {kind.name}: only a universal joint has axes=; give axis=")
        first, second = entries(axes, 2, f"{what}: a universal joint has two axes", "((1, 0, 0), (0, 1, 0))")
        return from_two_axes(first, second, what)
    if axis is None:
        return IDENTITY
    if kind.has_two_axes:
        raise ModelError(f"{what} is {kind.name}: give axes=(first, second) instead of axis=")
    return from_axis(axis, what)


def guess(value: Any, kind: JointType, what: str) -> tuple[float, ...]:
    """One plain number for each coordinate; nothing if there is no guess."""
    if value is None:
        return ()
    several = listed(value)
    values = (value,) if several is None else several
    if len(values) != kind.nq:
        raise ModelError(f"{what}: guess needs {kind.nq} value{'s' * (kind.nq != 1)}, got {len(values)}")
    numbers = []
    for x in values:
        number = check_number(x, f"{what}: guess")
        if isinstance(number, Expression):
            raise ModelError(f"{what}: guess takes plain numbers")
        numbers.append(float(number))
    if kind.has_quaternion and not any(numbers[-4:]):
        raise ModelError(
            f"{what}: guess has the quaternion (0, 0, 0, 0), which is no orientation; "
            "(1, 0, 0, 0) is the one that turns nothing"
        )
    return tuple(numbers)


def limits(value: Any, n: int, what: str) -> tuple[tuple[float, float] | None, ...]:
    """A pair (low, high) or None for each coordinate; nothing if there are no limits."""
    if value is None:
        return ()
    wrong = ModelError(
        f"{what}: limits need one pair (low, high) or None for each of the {n} coordinates, not {value!r}"
    )
    each = [value] if isinstance(value, Stops) else value.tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(each, list | tuple):
        raise wrong
    if len(each) == 2 and all(isinstance(x, Real) for x in each):
        each = [each]
    if len(each) != n:
        raise wrong
    out: list[tuple[float, float] | None] = []
    for pair in each:
        pair = (pair.low, pair.high) if isinstance(pair, Stops) else pair
        pair = pair.tolist() if isinstance(pair, np.ndarray) else pair
        if pair is None:
            out.append(None)
            continue
        if not isinstance(pair, list | tuple) or len(pair) != 2 or not all(isinstance(x, Real) for x in pair):
            raise wrong
        try:
            low, high = map(float, pair)  # infinite ones are one-sided limits
        except OverflowError:
            raise wrong from None
        if not low < high:
            raise ModelError(f"{what}: the lower limit {low:g} is not below the upper limit {high:g}")
        out.append((low, high))
    return tuple(out)


def stops(value: Any) -> tuple[Stops | None, ...]:
    """Those of the limits that hold, None for the others."""
    each = (value,) if isinstance(value, Stops) or value is None else tuple(value)
    return tuple(x if isinstance(x, Stops) else None for x in each)


def friction(value: Any, n: int, what: str) -> tuple[Friction | None, ...]:
    """A friction or None for each freedom; nothing if there is none at all."""
    if value is None:
        return ()
    each = (value,) * n if isinstance(value, Friction) else value
    if (
        not isinstance(each, list | tuple)
        or len(each) != n
        or not all(f is None or isinstance(f, Friction) for f in each)
    ):
        raise ModelError(f"{what}: friction takes a cc.Friction, or one (or None) for each of the {n} freedoms")
    return tuple(each)


def check_cut(value: Any, what: str) -> bool | None:
    """Yes, no, or as the library decides."""
    if value is not None and not isinstance(value, bool | np.bool_):
        raise ModelError(f"{what}: cut is True (open this joint), False (never open it) or None, not {value!r}")
    return None if value is None else bool(value)
