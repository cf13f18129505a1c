"""What all models of actuators have in common: numbers with rules, a command with a meaning, and four questions.

``exerted(command, speed)``: the torque or force on the joint. ``envelope(speed)``: the least and the largest of them.
``demand(effort, speed)``: what the motor or cylinder needs for it. ``limits(effort, speed)``: where that is too much.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from closedchain.arguments import suggest
from closedchain.errors import ModelError
from closedchain.model.expressions.expression import Expression, Number, check_number
from closedchain.model.expressions.functions import maximum, minimum

Values = Callable[[Number], float]

SLACK = 1e-9  # relative: what is exactly at a limit does not exceed it by rounding

RULES: dict[str, tuple[Callable[[float], bool], str]] = {
    "any number": (lambda x: True, "must be finite"),
    "not zero": (lambda x: x != 0, "must not be zero"),
    "positive": (lambda x: x > 0, "must be positive"),
    "not negative": (lambda x: x >= 0, "must not be negative"),
}


class Quantity(NamedTuple):
    """What an actuator needs: one number for each sample."""

    values: np.ndarray
    unit: str


class Exceeded(NamedTuple):
    """A limit that is exceeded: the worst value, and the number of its sample (None for a mean over all of them).

    What is not a number is within no limit: then both are ``nan``.
    """

    what: str
    limit: float
    worst: float
    sample: int | None
    unit: str

    def __str__(self) -> str:
        where = "" if self.sample is None else f" at sample {self.sample}"
        if math.isnan(self.worst):
            return f"{self.what}: not a number{where}"
        return f"{self.what}: {self.worst:.4g} {self.unit}{where} is beyond {self.limit:.4g} {self.unit}"


def obey(**rules: str) -> dict[str, str]:
    """The rule in `RULES` for each number of a model: ``obey(positive="bore stroke", any_number="offset")``."""
    return {name: rule.replace("_", " ") for rule, names in rules.items() for name in names.split()}


@dataclass(frozen=True, eq=False)
class ActuatorModel:
    """Base of all models; see `closedchain.model.actuators` on how to write one."""

    rules: ClassVar[dict[str, str]] = {}  # the numbers of the model, and the rule for each
    turns: ClassVar[bool | None] = None  # it stands on angles (True), on slides (False), or on both (None)
    drives: ClassVar[dict[str, str]] = {"effort": "N m or N"}  # what a command can mean, and its unit

    def __post_init__(self) -> None:
        self.check("model", None)

    @property
    def meaning(self) -> str:
        """What a command means: one of ``drives``."""
        return str(getattr(self, "drive", next(iter(self.drives))))

    @property
    def takes_effort(self) -> bool:
        """Whether a command is the wanted torque or force itself."""
        return self.meaning in ("torque", "force", "effort")

    # ---- what it draws -----------------------------------------------------------------------------------------------

    def exerted(self, command: Any, speed: Any) -> Any:
        """The torque or force on the joint under a command, at a speed of the joint."""
        raise NotImplementedError

    @property
    def rotor(self) -> tuple[Number, Number] | None:
        """Inertia of what turns in the actuator, and its turns (rad) for each rad or m of the joint."""
        return None

    @property
    def friction(self) -> tuple[Number, Number, Number] | None:
        """Friction on the joint: viscous, dry, and the speed over which the dry part changes sign."""
        return None

    # ---- questions about it, with arrays -----------------------------------------------------------------------------

    def envelope(self, speed: Any) -> tuple[np.ndarray, np.ndarray]:
        """The least and the largest torque or force on the joint at given speeds of it."""
        raise NotImplementedError

    def demand(self, effort: Any, speed: Any) -> dict[str, Quantity]:
        """What it takes to exert efforts at given speeds of the joint."""
        raise NotImplementedError

    def limits(self, effort: Any, speed: Any, t: Any = None) -> list[Exceeded]:
        """The limits that efforts at given speeds of the joint exceed, each with its worst sample.

        ``t`` are the times of the samples, for means; without them samples are equally spaced.
        """
        raise NotImplementedError

    # ---- its numbers -------------------------------------------------------------------------------------------------

    def mapped(self, change: Callable[[Number, str], Number]) -> Self:
        """The same model with changed numbers: ``change(value, name)``."""
        found = {name: getattr(self, name) for name in self.rules}
        return replace(self, **{name: change(x, name) for name, x in found.items() if x is not None})

    def check(self, what: str, value: Values | None) -> None:
        """Refuse numbers that no such actuator can have; ``what`` says where it stands.

        Without values, expressions are left for later: they are known when the actuator is drawn.
        """
        what = f"{what}: {type(self).__name__}"
        if self.meaning not in self.drives:
            raise ModelError(f"{what} has no drive {self.meaning!r}{suggest(self.meaning, self.drives)}")
        for name, rule in self.rules.items():
            given = getattr(self, name)
            if given is None and self._optional(name):
                continue
            number = check_number(given, f"{what}.{name}")
            if value is None and isinstance(number, Expression):
                continue
            x = float(number) if value is None else value(number)  # type: ignore[arg-type]
            holds, sentence = RULES[rule]
            if not (math.isfinite(x) and holds(x)):
                raise ModelError(f"{what} has {name} = {x:g}, which {sentence}")
        if value is None and not self._is_plain():
            return
        for sentence in self._contradictions(value or float):  # type: ignore[arg-type]
            raise ModelError(f"{what}: {sentence}")

    def _is_plain(self) -> bool:
        """Whether all numbers are known without a drawing."""
        return not any(isinstance(getattr(self, name), Expression) for name in self.rules)

    def _optional(self, name: str) -> bool:
        """Whether a number may be None, which means that there is no limit."""
        return next(f.default for f in fields(self) if f.name == name) is None

    def _contradictions(self, value: Values) -> Iterator[str]:
        """Sentences about numbers that do not go together."""
        return iter(())

    def _checked(self, *arrays: Any) -> tuple[np.ndarray, ...]:
        """Arrays of equal shape, after a look at the model's own numbers, which must have values by now."""
        self.check("model", self._plain)
        try:
            return tuple(np.broadcast_arrays(*(np.asarray(x, float) for x in arrays)))
        except (TypeError, ValueError) as error:
            raise ModelError(f"{type(self).__name__}: efforts and speeds must be numbers or arrays ({error})") from None

    def _arrays(self, *given: Any) -> tuple[Any, ...]:
        """Lists and arrays as arrays of equal shape; single numbers and expressions as they are."""
        return self._checked(*given) if any(isinstance(x, list | tuple | np.ndarray) for x in given) else given

    def _plain(self, x: Number) -> float:
        if isinstance(x, Expression):
            raise ModelError(
                f"{type(self).__name__} depends on {x}, which has no value by itself: "
                "take m.actuators[name].numbers(m.values())"
            )
        return float(x)


# ---- for formulas and limits -----------------------------------------------------------------------------------------


def clip(x: Any, low: Any, high: Any) -> Any:
    """A number, array or expression between two others; None is no bound."""
    x = x if low is None else maximum(x, low)
    return x if high is None else minimum(x, high)


def within(x: Any, limit: Any) -> Any:
    """The same between ``-limit`` and ``limit``."""
    return x if limit is None else clip(x, -limit, limit)


def beyond(what: str, x: Quantity, low: Any, high: Any) -> list[Exceeded]:
    """The worst sample outside the bounds, if any; bounds are numbers, arrays, or None."""
    low = np.broadcast_to(-math.inf if low is None else low, x.values.shape).ravel()
    high = np.broadcast_to(math.inf if high is None else high, x.values.shape).ravel()
    values = x.values.ravel()
    excess = np.maximum(values - high, low - values)
    excess[np.isnan(excess)] = -math.inf  # see `missing`
    if not len(excess):
        return []
    i = int(np.argmax(excess))
    limit = float(high[i] if values[i] > high[i] else low[i])
    if not excess[i] > SLACK * max(abs(limit), abs(values[i])):
        return []
    return [Exceeded(what, limit, float(values[i]), i, x.unit)]


def beyond_size(what: str, x: Quantity, limit: Any) -> list[Exceeded]:
    """The same for a limit of the absolute value."""
    return [] if limit is None else beyond(what, x, -limit, limit)


def missing(what: str, x: Quantity) -> list[Exceeded]:
    """The first sample that is not a number, if any."""
    return [Exceeded(what, math.nan, math.nan, int(i), x.unit) for i in np.flatnonzero(np.isnan(x.values))[:1]]


def effective(x: np.ndarray, t: Any) -> float:
    """Root of the mean square: over times t (trapezoidal rule), or over equally spaced samples."""
    x = x.ravel()
    if t is None or len(x) < 2:
        return float(np.sqrt(np.mean(x**2)))
    t, square = np.asarray(t, float).ravel(), x**2
    return float(np.sqrt(np.sum(np.diff(t) * (square[1:] + square[:-1])) / 2 / (t[-1] - t[0])))
