"""Springs and dampers in the place of multipliers: what `VirtualSpring` and `ModifiedDeNOC` share.

    lam = k c + b c'

in every closure row, also in rows that repeat others: springs side by side share a load, multipliers could not. Rows
of lengths measure metres along fixed directions, or along the axes of the first frame for slides; rows of angles are
radians where small. So k is in N/m or N m/rad. Stiffness and damping are parameters of the compiled equations: another
value compiles nothing.

The theory is in ``docs/theory/virtual_spring.md``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar, NamedTuple

import casadi as ca

from closedchain.arguments import known
from closedchain.close.formulation import (
    Choice,
    Closed,
    Correction,
    Formulation,
    has_quaternions,
    normalise,
    state_symbols,
)
from closedchain.derive.closure import Closure
from closedchain.derive.equations import Equations
from closedchain.errors import ModelError

PerRow = float | Mapping[str, float] | tuple[tuple[str, float], ...]


class Springs(NamedTuple):
    """Traced forces of the springs, the energy they store (J), the power their dampers take (W), and their symbols."""

    lam: ca.SX
    stored: ca.SX
    loss: ca.SX
    parameters: ca.SX


@dataclass(frozen=True)
class SpringFormulation(Formulation):
    """Closures that are springs."""

    stiffness: PerRow
    damping: PerRow = 0.0

    all_rows: ClassVar[bool] = True
    by_limbs: ClassVar[bool] = True
    guards: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name, least in (("stiffness", "positive"), ("damping", "zero or positive")):
            option = getattr(self, name)
            if isinstance(option, Mapping):  # as a tuple, so that equal options are equal keys
                option = tuple((str(k), x) for k, x in sorted(option.items()))
                object.__setattr__(self, name, option)
            pairs = isinstance(option, tuple) and all(isinstance(x, tuple) and len(x) == 2 for x in option)
            for value in [x for _, x in option] if pairs else [option]:
                number = isinstance(value, Real) and math.isfinite(value)
                if not number or value < 0 or (value == 0 and name == "stiffness"):
                    raise ModelError(
                        f"{type(self).__name__}: {name} is a number that is {least}, or such numbers by joint or row, "
                        f"not {value!r}"
                    )

    @property
    def damped(self) -> bool:
        """Whether any row has a damper."""
        return any(x for _, x in self.damping) if isinstance(self.damping, tuple) else self.damping != 0

    @property
    def family(self) -> object:
        """All stiffnesses are compiled as one."""
        return type(self), self.damped

    def closed(self, e: Equations, springs: Springs, a: ca.SX, c_t: ca.SX) -> Closed:
        """The system at accelerations a; ``c_t`` are the rates of the rows that the time alone causes."""
        x = state_symbols(e)
        # what the springs store is energy; what moves with the time does work, and the dampers take some
        power = e.energies.power + springs.lam.T @ c_t - springs.loss
        correction = quaternions_only(e, x, e.limbs.v)
        dx = ca.vertcat(e.qdot, a, power)
        return Closed(
            x, dx, e.limbs.q, e.limbs.v, a, springs.lam, correction,
            stored=springs.stored, parameters=springs.parameters,
        )  # fmt: skip

    def numbers(self, equations: Equations, choice: Choice) -> list[float]:
        """Stiffness and, if any, damping of each row."""
        k = per_row(self.stiffness, equations.closure, choice.rows, f"{type(self).__name__}: stiffness")
        b = per_row(self.damping, equations.closure, choice.rows, f"{type(self).__name__}: damping", 0.0)
        return k + b if self.damped else k

    def springs(self, equations: Equations, rows: tuple[int, ...], c_dot: ca.SX) -> Springs:
        """Trace the springs of the rows, given their rates."""
        c = equations.closure.c[list(rows), :]
        k = ca.SX.sym("k", len(rows))
        lam, loss, parameters = k * c, ca.SX(0), k
        if self.damped:
            b = ca.SX.sym("b", len(rows))
            lam, loss, parameters = lam + b * c_dot, ca.sum1(b * c_dot**2), ca.vertcat(k, b)
        return Springs(ca.densify(lam), ca.sum1(k * c**2) / 2, loss, parameters)


def per_row(
    option: PerRow, closure: Closure, rows: tuple[int, ...], what: str, default: float | None = None
) -> list[float]:
    """One number for each of the rows, from one for all or from names and numbers; a row's own name goes first."""
    if not isinstance(option, tuple):
        return [float(option)] * len(rows)  # type: ignore[arg-type]
    labels = {r: f"{closure.joints[r]} {closure.labels[r]}" for r in range(len(closure))}
    numbers = dict(option)
    closures = [*dict.fromkeys(closure.joints), *labels.values()]
    for name in numbers:
        known(f"{what}: there is no closure", name, closures, f"; there are {', '.join(closures)}")
    out = []
    for r in rows:
        value = numbers.get(labels[r], numbers.get(closure.joints[r], default))
        if value is None:
            raise ModelError(f"{what}: the closure row {labels[r]!r} has none; name it, or its joint")
        out.append(float(value))
    return out


def quaternions_only(e: Equations, x: ca.SX, v: ca.SX) -> Correction | None:
    """The correction of a method that lets loops open: quaternions to length one, nothing else."""
    if not has_quaternions(e):
        return None
    return Correction(ca.vertcat(normalise(e, e.limbs.q), v, x[-1]), ca.SX([0.0, 0.0, 1.0]))
