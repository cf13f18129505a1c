"""Events: zero crossings of an expression, found between steps, and what happens there.

An event's expression is watched on the dense output of every step, at the ends and at points between. Where its sign
changes, the time is found by Brent's method on the polynomial of the step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np
from scipy.optimize import brentq

from closedchain.errors import ModelError
from closedchain.march.compiled import Compiled
from closedchain.march.integrate import DenseOutput
from closedchain.model.expression import Expression
from closedchain.model.parts import suggest

BETWEEN = 4  # looks at each step


@dataclass(frozen=True)
class Switch:
    """Close and open cut joints: a foot touches down or lifts, a hand grasps or lets go.

    Closing is an inelastic impact: an impulse in the joint makes the velocities consistent. The event that closes a
    joint must be one at which its frames meet.
    """

    close: tuple[str, ...] = ()
    open: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("close", "open"):
            value = getattr(self, name)
            if isinstance(value, str):
                object.__setattr__(self, name, (value,))


@dataclass(frozen=True, eq=False)
class Event:
    """Something that happens when an expression passes zero.

    Attributes
    ----------
    name
        For the record and for messages.
    when
        An expression of ``cc.t``, coordinates (``joint.q``), velocities (``joint.v``), frames (``frame.place``,
        ``frame.speed``), parameters, and closing forces (``cc.multiplier("foot", "z")``).
    direction
        +1: only when it rises through zero; -1: only when it falls; 0: both.
    then
        ``"record"``, ``"stop"``, or a `Switch`.
    """

    name: str
    when: Any
    direction: int = 0
    then: str | Switch = "record"

    def __post_init__(self) -> None:
        if not isinstance(self.when, Expression):
            raise ModelError(f"event {self.name!r} needs an expression, not {self.when!r}")
        if self.direction not in (-1, 0, 1):
            raise ModelError(f"event {self.name!r}: direction is -1, 0 or 1, not {self.direction}")
        if not isinstance(self.then, Switch) and self.then not in ("record", "stop"):
            raise ModelError(f"event {self.name!r}: then is 'record', 'stop' or cc.Switch(...), not {self.then!r}")


@dataclass(frozen=True)
class Happening:
    """An entry in the record of a run: when, what, and the numbers that belong to it."""

    t: float
    what: str
    text: str
    numbers: dict[str, Any] = field(default_factory=dict)


class Watch:
    """Looks at the steps of a run for events; ``integrate`` calls it."""

    def __init__(self, program: Compiled, events: tuple[Event, ...], p: np.ndarray, armed: float) -> None:
        self.events, self.armed = events, armed
        self.found: list[tuple[float, Event]] = []
        self._g = _function(program, events, p)

    def __call__(self, sol: DenseOutput) -> float | None:
        """Time at which the run must stop, if an event says so."""
        t = np.concatenate([np.linspace(a, b, BETWEEN, endpoint=False) for a, b in zip(sol.t, sol.t[1:], strict=False)])
        t = np.append(t, sol.t[-1])
        values = self._g(t, sol(t))
        crossings = []
        for k, event in enumerate(self.events):
            g = values[k]
            for i in np.flatnonzero(np.sign(g[:-1]) * np.sign(g[1:]) < 0):
                if event.direction * (g[i + 1] - g[i]) < 0:
                    continue
                root = brentq(
                    lambda s, k=k: float(self._g(np.array([s]), sol(np.array([s])))[k, 0]), t[i], t[i + 1], xtol=1e-15
                )
                if root > self.armed:
                    crossings.append((float(root), k))
        for time, k in sorted(crossings):
            self.found.append((time, self.events[k]))
            if self.events[k].then != "record":
                return time
        return None


def _function(
    program: Compiled, events: tuple[Event, ...], p: np.ndarray
) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    e, closed = program.equations, program.closed
    closure = e.closure

    def lam(node: Expression) -> ca.SX:
        joint, row = node.args
        names = list(zip(closure.joints, closure.labels, strict=True))
        if (joint, row) not in names:
            known = [f"{a} {b}" for a, b in names]
            raise ModelError(
                f"an event refers to the unknown closing force {f'{joint} {row}'!r}{suggest(joint, known)}"
            )
        index = names.index((joint, row))
        return closed.lam[program.rows.index(index)] if index in program.rows else ca.SX(0)

    g = ca.vertcat(*(e.expression(event.when, lam) for event in events))
    f = ca.Function("events", [e.limbs.t, closed.x, e.limbs.p], [ca.densify(g)])

    def evaluate(t: np.ndarray, x: np.ndarray) -> np.ndarray:
        n = len(t)
        return np.array(f.map(n)(t.reshape(1, n), x.T, np.tile(p[:, None], (1, n)))).reshape(len(events), n)

    return evaluate
