"""Events: zero crossings of an expression, found between steps, and what happens there.

An event's expression is watched on the dense output of every step, at the ends and at points between. Where its sign
changes, the time is found by Brent's method on the polynomial of the step.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np

from closedchain.errors import ModelError
from closedchain.march.compiled import Compiled
from closedchain.march.integrate import DenseOutput
from closedchain.model.expression import Expression, t
from closedchain.model.mechanism import Mechanism
from closedchain.model.parts import suggest

BETWEEN = 4  # looks at each step
SAME_TIME = 1e-9  # s: what is closer than this happens together
TOUCHING = 1e-6  # a relative pivot that counts as zero between steps: within about 1e-3 rad of the pose


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
            elif not isinstance(value, list | tuple) or not all(isinstance(x, str) for x in value):
                raise ModelError(f"Switch: {name} takes the name of a joint, or several, not {value!r}")


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
        if self.when.op in ("lt", "le", "and", "or", "not"):
            raise ModelError(f"event {self.name!r}: {self.when} is a condition and passes no zero; give the difference")
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


SINGULAR = "singular pose"


def check_events(mechanism: Mechanism, cuts: Collection[str], events: Any) -> tuple[Event, ...]:
    """The events of a run, all known to fit the mechanism."""
    if not isinstance(events, list | tuple) or not all(isinstance(x, Event) for x in events):
        raise ModelError(f"events takes a list of cc.Event, not {events!r}")
    for event in events:
        for name in (*event.then.close, *event.then.open) if isinstance(event.then, Switch) else ():
            if name not in cuts:
                raise ModelError(f"event {event.name!r}: {name!r} is not a cut joint{suggest(name, cuts)}")
        for leaf in event.when.leaves():
            known = leaf.op in ("time", "parameter", "place", "speed", "multiplier") or leaf.args[0] in mechanism.joints
            if not known:
                raise ModelError(
                    f"event {event.name!r} refers to the unknown joint {leaf.args[0]!r}"
                    f"{suggest(leaf.args[0], mechanism.joints)}"
                )
    return tuple(events)


class Watch:
    """Looks at the steps of a run for events and, if asked to, for singular poses; ``integrate`` calls it."""

    def __init__(
        self, program: Compiled, events: tuple[Event, ...], p: np.ndarray, armed: float | None, singular: str = "pass"
    ) -> None:
        self.events, self.armed, self.program, self.p = events, armed, program, p
        self.found: list[tuple[float, Event]] = []
        self._sign = [0.0] * len(events)
        self._g = _function(program, events, p) if events else None
        self._pose = None
        # guarded equations may hold rows that repeat others: their smallest pivot is zero at every pose
        if singular != "pass" and program.correct is not None and program.rows and not program.guarded:
            self._pose = Event(SINGULAR, t, then="stop" if singular == "stop" else "record")

    @property
    def idle(self) -> bool:
        """Whether there is nothing to look for."""
        return self._g is None and self._pose is None

    def __call__(self, sol: DenseOutput) -> float | None:
        """Time at which the run must stop, if an event says so; all that happens at that time is found with it."""
        times = np.append(
            np.concatenate([np.linspace(a, b, BETWEEN, endpoint=False) for a, b in pairwise(sol.t)]), sol.t[-1]
        )
        forward = 1.0 if sol.t[-1] >= sol.t[0] else -1.0
        found = self._crossings(times, sol, forward) + self._singular(times, sol)
        found.sort(key=lambda x: forward * x[0])
        stop = next((time for time, event in found if event.then != "record"), None)
        if stop is None:
            self.found += found
            return None
        self.found += [(time, event) for time, event in found if forward * (time - stop) <= SAME_TIME]
        return stop

    def _crossings(self, times: np.ndarray, sol: DenseOutput, forward: float) -> list[tuple[float, Event]]:
        from scipy.optimize import brentq  # only runs with events pay for the import

        g = self._g
        if g is None:
            return []
        values = g(times, sol(times))
        found = []
        for k, event in enumerate(self.events):
            sign = self._sign[k]  # the last one that was not zero: a value that is exactly zero lies on the way
            for i, value in enumerate(values[k]):
                if value == 0.0:
                    continue
                if sign != 0.0 and np.sign(value) != sign and i > 0 and event.direction * value >= 0:
                    root = float(
                        brentq(lambda s, k=k: float(g(np.array([s]), sol(np.array([s])))[k, 0]), *times[i - 1 : i + 1])
                    )
                    if self.armed is None or forward * (root - self.armed) > SAME_TIME:
                        found.append((root, event))
                sign = float(np.sign(value))
            self._sign[k] = sign
        return found

    def _singular(self, times: np.ndarray, sol: DenseOutput) -> list[tuple[float, Event]]:
        """Poses at which the smallest pivot touches zero; it does not change its sign there."""
        from scipy.optimize import minimize_scalar

        if self._pose is None:
            return []
        values = self._pivots(times, sol)
        found = []
        last = len(times) - 1
        for i in range(last + 1):  # the ends too: the pose may lie between them and their only neighbour
            before, after = max(i - 1, 0), min(i + 1, last)
            if values[i] <= values[before] and values[i] <= values[after]:
                lowest = minimize_scalar(
                    lambda s: float(self._pivots(np.array([s]), sol)[0]),
                    bounds=sorted((times[before], times[after])),
                    method="bounded",
                    options={"xatol": 1e-10},
                )
                if lowest.fun < TOUCHING:
                    found.append((float(lowest.x), self._pose))
        return found

    def _pivots(self, times: np.ndarray, sol: DenseOutput) -> np.ndarray:
        assert self.program.correct is not None
        return self.program.correct.batch(times[:, None], sol(times), self.p)[1][:, 2]


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
        if index in program.active and index not in program.rows:
            raise ModelError(
                f"an event asks for the closing force {f'{joint} {row}'!r}, which repeats others here and has "
                "no value of its own: draw the mechanism without the redundancy, or watch another quantity"
            )
        return closed.lam[program.rows.index(index)] if index in program.rows else ca.SX(0)  # open: no force

    g = ca.vertcat(*(e.expression(event.when, lam) for event in events))
    f = ca.Function("events", [e.limbs.t, closed.x, e.limbs.p], [ca.densify(g)])

    def evaluate(t: np.ndarray, x: np.ndarray) -> np.ndarray:
        n = len(t)
        return np.array(f.map(n)(t.reshape(1, n), x.T, np.tile(p[:, None], (1, n)))).reshape(len(events), n)

    return evaluate
