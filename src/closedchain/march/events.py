"""Events, changes of conditions, and singular poses (`march.marks`), found between steps.

An event's expression is watched on the dense output of every step, at the ends and at points between. Where its sign
changes, the time is found by Brent's method on the polynomial of the step.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np

from closedchain.arguments import suggest
from closedchain.errors import ModelError
from closedchain.integrate.trajectory import DenseOutput
from closedchain.lock import locked, once
from closedchain.march.controllers.held_inputs import HeldInputs, signals
from closedchain.march.judge.conditioning import KINDS, Conditioning
from closedchain.march.marks import SINGULAR, ConditionChange, Event, Instant, Mark, SingularPose
from closedchain.march.program.compiled import Compiled
from closedchain.model.expressions.expression import Expression
from closedchain.model.mechanism import Mechanism
from closedchain.native.at_samples import at_samples

BETWEEN = 8  # looks at each step
REACH = 2.0  # of what a value falls by between looks: how much further down it may turn; a parabola goes an eighth
ROUNDING = 1e-13  # of the largest value that was looked at: what counts as zero at the start of a run
SAME_TIME = 1e-9  # of the mechanism's time: what is closer than this happens together
ROOT, TURN, TOP, POSE = 2e-12, 1e-5, 1e-14, 1e-10  # of it too: how exactly crossings and extremes are found
TOUCHING = 1e-3  # conditioning that counts as zero: within about 1e-3 rad of a singular pose
CLEAR = 1e-2  # conditioning at which a singular pose lies behind


def check_events(mechanism: Mechanism, cuts: Collection[str], events: Sequence[Event]) -> None:
    """Refuse events that do not fit the mechanism."""
    for event in events:
        for name in (*event.switch.close, *event.switch.open):
            if name not in cuts:
                raise ModelError(f"event {event.name!r}: {name!r} is not a cut joint{suggest(name, cuts)}")
        for leaf in event.when.leaves():
            if leaf.op == "sampled":
                raise ModelError(
                    f"event {event.name!r} watches {leaf}, which jumps and passes no zero: watch the state"
                )
            known = leaf.op not in ("coordinate", "velocity") or leaf.args[0] in mechanism.joints
            if not known:
                raise ModelError(
                    f"event {event.name!r} refers to the unknown joint {leaf.args[0]!r}"
                    f"{suggest(leaf.args[0], mechanism.joints)}"
                )


class Watch:
    """Looks at the steps of a run for events and, if asked to, for singular poses; ``integrate`` calls it."""

    def __init__(
        self,
        program: Compiled,
        events: tuple[Event, ...],
        held_inputs: HeldInputs,
        armed: float | None,
        singular: str = "pass",
        clear: dict[str, bool] | None = None,
        signs: dict[int, float] | None = None,
        time: float = 1.0,
    ) -> None:
        self.time, self.same_time = time, SAME_TIME * time
        # conditions on the state that are held are watched like events
        self.events, self.conditions = events, tuple(held_inputs.levels())
        self.crossings: tuple[Event | ConditionChange, ...] = (*self.events, *self.conditions)
        self.armed, self.program, self.p = armed, program, held_inputs.p
        self._started = False
        self.found: list[tuple[float, Mark]] = []
        self.poses: list[SingularPose] = []
        self.flips = bool(self.conditions)
        self._held_inputs = held_inputs
        sides = [change.side(held_inputs.p[held_inputs.first_jump + change.number]) for change in self.conditions]
        self._sign = [0.0] * len(events) + sides  # events learn theirs
        for k, sign in (signs or {}).items():
            self._sign[k] = sign
        self._g = self._function() if self.crossings else None
        self._poses, self._stops = singular != "pass", singular == "stop"
        self.clear = dict(clear or dict.fromkeys(SINGULAR, True))  # no such pose was told of just before

    def saved(self) -> dict[str, Any]:
        """All that it remembers."""
        known = {id(mark): k for k, mark in enumerate((*self.crossings, *self.poses))}
        return {
            "signs": [float(x) for x in self._sign],
            "found": [(float(time), known[id(mark)]) for time, mark in self.found],
            "poses": [(pose.kind, pose.lost) for pose in self.poses],
            "clear": {kind: bool(x) for kind, x in self.clear.items()},
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Go on where `saved` was called."""
        self.poses = [SingularPose(kind, self._stops, lost) for kind, lost in saved["poses"]]
        marks = (*self.crossings, *self.poses)
        if (
            len(saved["signs"]) != len(self._sign)
            or set(saved["clear"]) != set(self.clear)
            or not {pose.kind for pose in self.poses} <= set(SINGULAR)
            or not {k for _, k in saved["found"]} <= set(range(len(marks)))
        ):
            raise ModelError("the checkpoint watches other events than the run: it was damaged")
        self._sign, self.clear = saved["signs"], saved["clear"]
        self._started = True
        self.found = [(time, marks[k]) for time, k in saved["found"]]

    def at(self, t: float) -> Instant:
        """All that happens at a time."""
        instant = Instant()
        for time, mark in self.found:
            if abs(time - t) <= self.same_time:
                mark.happen(instant)
        return instant

    @once
    def conditioning(self) -> Conditioning:
        """Made where it is asked for."""
        return Conditioning(self.program, self._held_inputs.p)

    def signs(self, t: float, x: np.ndarray) -> dict[int, float]:
        """Signs of what the user's events watch, at the end of a piece and with what was held in it."""
        if self._g is None:
            return {}
        values = self._g(np.array([t]), x[None])[:, 0]
        now = {id(mark) for time, mark in self.found if abs(time - t) <= self.same_time}
        return {
            k: float(np.sign(values[k]))
            for k, event in enumerate(self.events)
            if id(event) not in now and values[k] != 0.0
        }

    @property
    def idle(self) -> bool:
        """Whether there is nothing to look for."""
        return self._g is None and not self._poses

    def __call__(self, sol: DenseOutput) -> float | None:
        """Time at which the run must stop, if an event says so; all that happens at that time is found with it."""
        times = np.append(
            np.concatenate([np.linspace(a, b, BETWEEN, endpoint=False) for a, b in pairwise(sol.t)]), sol.t[-1]
        )
        forward = 1.0 if sol.t[-1] >= sol.t[0] else -1.0
        found = self._crossings(times, sol, forward) + self._singular(times, sol)
        found.sort(key=lambda x: forward * x[0])
        stop = next((time for time, mark in found if mark.ends), None)
        if stop is None:
            self.found += found
            return None
        self.found += [(time, mark) for time, mark in found if forward * (time - stop) <= self.same_time]
        return stop

    def _crossings(self, times: np.ndarray, sol: DenseOutput, forward: float) -> list[tuple[float, Mark]]:
        g = self._g
        if g is None:
            return []
        start, self._started = not self._started, True
        times = self._with_turning_points(times, sol)
        values = g(times, sol(times))
        found: list[tuple[float, Mark]] = []
        for k, mark in enumerate(self.crossings):
            sign = self._sign[k]  # the last one that was not zero: a value that is exactly zero lies on the way
            rounding = ROUNDING * np.abs(values[k]).max()
            for i, value in enumerate(values[k]):
                # zero at the start: nothing passes there
                if value == 0.0 or (abs(value) < rounding and (sign == 0.0 or (start and i == 0))):
                    continue
                begins = sign == 0.0 and i > 0 and self.armed is None and not self.found
                if begins and mark.switches and np.sign(value) == mark.direction:
                    # ... but a foot that starts on the ground and moves down lands
                    found.append((float(times[0]), mark))
                passes = sign != 0.0 and np.sign(value) != sign and mark.direction * value >= 0
                if passes and i == 0 and mark.jumps:
                    found.append((float(times[0]), mark))  # what is held has changed, and a closing force with it
                if passes and i > 0:
                    root = self._root(k, times[i - 1], times[i], sign, sol, start and i == 1)
                    if self.armed is None or forward * (root - self.armed) > self.same_time:
                        found.append((root, mark))
                sign = float(np.sign(value))
            self._sign[k] = sign
        return found

    def _root(self, k: int, a: float, b: float, sign: float, sol: DenseOutput, begins: bool) -> float:
        """Where event k passes from ``sign`` to the other one, between two times; ``begins``: with the first of all."""
        from scipy.optimize import brentq, minimize_scalar  # only runs with events pay for the import

        def value(s: float) -> float:
            assert self._g is not None
            return sign * float(self._g(np.array([s]), sol(np.array([s])))[k, 0])

        if value(a) == 0 and not begins:
            return a
        if value(a) <= 0:  # a start that is zero but for rounding: it leaves, turns, and comes back
            exact = {"xatol": TOP * self.time}
            top = minimize_scalar(lambda s: -value(s), bounds=sorted((a, b)), method="bounded", options=exact)
            a = float(top.x)
        return float(brentq(value, a, b, xtol=ROOT * self.time)) if value(a) > 0 else b

    def _with_turning_points(self, times: np.ndarray, sol: DenseOutput) -> np.ndarray:
        """The times to look at, and between them those at which a value comes near zero and turns back."""
        from scipy.optimize import minimize_scalar

        g = self._g
        assert g is not None
        values = g(times, sol(times))
        more = []
        for k in range(len(self.crossings)):
            size = np.abs(values[k])
            before, now, after = size[:-2], size[1:-1], size[2:]
            same = np.sign(values[k][:-2]) == np.sign(values[k][2:])
            close = now < REACH * (np.maximum(before, after) - now)  # others turn back far from zero
            near = np.flatnonzero(same & close & (now < before) & (now <= after) & (now > 0)) + 1
            for i in [*near, *_turning_ends(times, values[k])]:
                sign = np.sign(values[k][i])
                lowest = minimize_scalar(
                    lambda s, k=k, sign=sign: sign * float(g(np.array([s]), sol(np.array([s])))[k, 0]),
                    bounds=sorted((times[max(i - 1, 0)], times[min(i + 1, len(times) - 1)])),
                    method="bounded",
                    options={"xatol": TURN * self.time},
                )
                if lowest.fun < 0:
                    more.append(float(lowest.x))
        together = np.sort(np.concatenate([times, more]))
        return together if times[-1] >= times[0] else together[::-1]

    def _singular(self, times: np.ndarray, sol: DenseOutput) -> list[tuple[float, Mark]]:
        """Poses at which the conditioning of the closures or of the actuation touches zero, each told once."""
        from scipy.optimize import minimize_scalar

        if not self._poses:
            return []
        found: list[tuple[float, Mark]] = []
        last = len(times) - 1
        for kind, values in self.conditioning(times, sol(times)).items():
            if kind not in SINGULAR:
                continue
            for i in range(last + 1):  # the ends too: the pose may lie between them and their only neighbour
                before, after = max(i - 1, 0), min(i + 1, last)
                self.clear[kind] = self.clear[kind] or values[i] > CLEAR
                if not self.clear[kind] or values[i] > min(values[before], values[after]):
                    continue
                lowest = minimize_scalar(
                    lambda s, kind=kind: float(self.conditioning(np.array([s]), sol(np.array([s])))[kind][0]),
                    bounds=sorted((times[before], times[after])),
                    method="bounded",
                    options={"xatol": POSE * self.time},
                )
                if lowest.fun < TOUCHING:
                    self.clear[kind] = False
                    time = float(lowest.x)
                    lost = self.conditioning.unheld(time, sol(np.array([time]))[0]) if kind == "actuation" else ""
                    self.poses.append(SingularPose(kind, self._stops, lost))
                    found.append((time, self.poses[-1]))
        return found

    def _function(self) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
        """The values of all crossings (crossing, time) at many states."""
        f = _function(self.program, self.events) if self.events else None
        used = {leaf.args[0] for x in self.events for leaf in x.when.leaves() if leaf.op == "conditioning"}
        numbers = [change.number for change in self.conditions]
        levels = np.array([change.level for change in self.conditions], float)[:, None]

        def evaluate(t: np.ndarray, x: np.ndarray) -> np.ndarray:
            n = len(t)
            out = np.empty((0, n))
            if f is not None:
                p = np.concatenate([self.p, self.program.numbers])  # what is held may have changed
                kinds = self.conditioning(t, x) if used else {}
                missing = used - set(kinds)
                if missing:
                    raise ModelError(
                        f"an event asks for the conditioning of the {missing.pop()}, which this mechanism does not "
                        "have: it needs a loop, a motor or drive, or m.output"
                    )
                far = np.array([kinds.get(kind, np.ones(n)) for kind in KINDS]).T
                out = at_samples(f, n, [t[:, None], x, p, far])[0][:, :, 0].T
            if self.conditions:
                jumps = self._held_inputs.held.jumps
                out = np.vstack([out, signals(self.program, jumps, t, x, self.p).T[numbers] - levels])
            return out

        return evaluate


@locked
def _function(program: Compiled, events: tuple[Event, ...]) -> ca.Function:
    """What the events of a run watch; it is kept for the next run with the same ones."""
    kept = program.functions.get("events")
    if kept is None or [*map(id, kept[0])] != [*map(id, events)]:
        kept = program.functions["events"] = (events, _traced(program, events))
    return kept[1]


def _traced(program: Compiled, events: tuple[Event, ...]) -> ca.Function:
    """What events watch, as a function of time, state, parameters, and conditioning."""
    e, closed = program.equations, program.closed
    kinds = {kind: ca.SX.sym(kind) for kind in KINDS}

    def special(node: Expression) -> ca.SX | None:
        if node.op == "conditioning":
            return kinds[node.args[0]]
        return _closing_force(program, *node.args) if node.op == "multiplier" else None

    g = program.of_state([ca.vertcat(*(e.expression(event.when, special) for event in events))])[0]
    parameters = ca.vertcat(e.limbs.p, closed.parameters)
    return ca.Function("events", [e.limbs.t, closed.x, parameters, ca.vertcat(*kinds.values())], [ca.densify(g)])


def _turning_ends(times: np.ndarray, values: np.ndarray) -> list[int]:
    """First and last look, if the parabola through the three looks there turns back from zero in the last interval."""
    found = []
    for a, b, c in ((0, 1, 2), (len(times) - 1, len(times) - 2, len(times) - 3)) if len(times) > 2 else ():
        one, two, three = np.abs(values[[a, b, c]])
        h, k = times[b] - times[a], times[c] - times[b]
        if not one < two or np.sign(values[a]) != np.sign(values[b]) or h == 0 or k == 0:
            continue
        slope, bend = (two - one) / h, ((three - two) / k - (two - one) / h) / (h + k)
        turn = 0.5 * (h - slope / bend) if bend > 0 else -1.0  # from the end, towards the other looks
        if 0 < turn * np.sign(h) < abs(h) and one < REACH * bend * (h + k) ** 2:
            found.append(a)
    return found


def _closing_force(program: Compiled, joint: str, row: str) -> ca.SX:
    closure = program.equations.closure
    names = list(zip(closure.joints, closure.labels, strict=True))
    if (joint, row) not in names:
        known = [f"{a} {b}" for a, b in names]
        raise ModelError(f"an event refers to the unknown closing force {f'{joint} {row}'!r}{suggest(joint, known)}")
    index = names.index((joint, row))
    if index in program.active and index not in program.rows:
        raise ModelError(
            f"an event asks for the closing force {f'{joint} {row}'!r}, which repeats others here and has "
            "no value of its own: draw the mechanism without the redundancy, or watch another quantity"
        )
    return program.closed.lam[program.rows.index(index)] if index in program.rows else ca.SX(0)  # open: no force
