"""The numbers that hold for a while, during a run: what they are, when they change, and what they are then.

Conditions on time change at instants that are known beforehand, and so do the outputs of sampled controllers: steps end
there. Conditions on the state are watched like events: a piece of the run ends where one changes (`Flip`).
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from closedchain.errors import ModelError
from closedchain.march.compiled import Compiled
from closedchain.march.integration import HoldError
from closedchain.march.now import Now
from closedchain.march.switching_times import SwitchingTimes
from closedchain.model.held import LIVE, Controller, Jump, held
from closedchain.model.mechanism import Mechanism

LOOK_AHEAD = 1e-9  # of the length of a run: what a condition will be just after a state
NEAR = 10.0  # a signal that changes by a tenth of itself meanwhile passes its level now
OFTEN, SHORT = 50, 1e-4  # so many changes of one condition within so much of a run: it chatters
SAME_TIME = 1e-9  # of a period


@dataclass(frozen=True)
class Flip:
    """What an event does that changes a condition: jump ``number`` has the value ``value`` from there on."""

    number: int
    value: float


class Holding:
    """What is held, from the start of a run to its end.

    Parameters
    ----------
    mechanism, p
        The drawing, and all parameter values at the start.
    begin, until
        The run.
    exact
        Whether steps may end at any instant, so that conditions can be held; with fixed steps they live.
    """

    def __init__(self, mechanism: Mechanism, p: np.ndarray, begin: float, until: float, exact: bool) -> None:
        self.held = held(mechanism)
        self.mechanism, self.p = mechanism, p.copy()
        self.begin, self.until, self.exact = begin, until, exact
        self.first = len(mechanism.parameters)
        self.first_jump = self.first + self.held.outputs
        values = dict(zip(mechanism.parameters, p.tolist(), strict=False))
        self.times = SwitchingTimes(self.held.jumps, values, begin, until)
        self.by_state = [i for i, jump in enumerate(self.held.jumps) if not jump.timed] if exact else []
        self.chattering: dict[int, str] = {}
        self.flips: dict[int, list[float]] = {i: [] for i in self.by_state}
        self.calls = [0] * len(self.held.controllers)
        self.next_switch = begin if exact and self.times.timed else np.inf * self.times.forward
        self.history_t: list[float] = []  # when outputs of controllers changed, and to what
        self.history_u: list[np.ndarray] = []
        if self.held.controllers and until < begin:
            raise ModelError("a run with a sampled controller cannot go back in time")
        for controller in self.held.controllers:
            if hasattr(controller.function, "reset"):
                controller.function.reset()

    @property
    def idle(self) -> bool:
        """Whether nothing is held that changes at known instants."""
        return not self.held.controllers and not (self.exact and self.times.timed)

    # ---- at known instants -------------------------------------------------------------------------------------------

    def change(self, program: Compiled, t: float, x: np.ndarray) -> tuple[float, bool]:
        """What holds from t on; the time of the next change, and whether anything has changed now."""
        changed = False
        forward = self.times.forward
        if self.exact and self.times.timed and forward * (t - self.next_switch) >= 0:
            self.next_switch, values = self.times.after(t)
            for i, value in values.items():
                changed |= self._set(self.first_jump + i, value)
        due = [
            i for i, c in enumerate(self.held.controllers) if t >= self._next_call(i) - SAME_TIME * c.period
        ]  # fmt: skip
        if due:
            q, v, _ = program.unpack(t, x, self.p)
            now = Now(program.equations, t, q, v, self.p)
            for i in due:
                changed |= self._call(i, t, now)
            self.history_t.append(t)
            self.history_u.append(self.p[self.first : self.first_jump].copy())
        calls = [self._next_call(i) for i in range(len(self.calls))]
        return (min if forward > 0 else max)([self.next_switch, *calls]), changed

    def _next_call(self, i: int) -> float:
        return self.begin + self.calls[i] * self.held.controllers[i].period

    def _set(self, place: int, value: float) -> bool:
        changed = self.p[place] != value
        self.p[place] = value
        return bool(changed)

    def _call(self, i: int, t: float, now: Now) -> bool:
        controller = self.held.controllers[i]
        self.calls[i] += 1
        values = asked(controller, t, now)
        place = self.first + sum(c.outputs for c in self.held.controllers[:i])
        return sum(self._set(place + k, value) for k, value in enumerate(values)) > 0

    def at(self, t: np.ndarray) -> np.ndarray:
        """Parameters at sample times: one vector, or a row for each time where controllers act.

        Conditions live in them: at samples they are what they are there.
        """
        p = self.p.copy()
        p[self.first_jump :] = LIVE
        if not self.history_t:
            return p
        rows = np.tile(p, (len(t), 1))
        latest = np.maximum(np.searchsorted(self.history_t, t, side="right") - 1, 0)
        rows[:, self.first : self.first_jump] = np.array(self.history_u)[latest]
        return rows

    # ---- where the state says so -------------------------------------------------------------------------------------

    def settle(self, program: Compiled, t: float, x: np.ndarray) -> list[str]:
        """Hold the conditions on the state as they are just after t; sentences about those that cannot be held."""
        said: list[str] = []
        alive = [i for i in self.by_state if i not in self.chattering]
        for _ in range(len(alive) + 2 if alive else 0):
            now = self._just_after(program, t, x)
            wrong = [i for i in alive if not np.isnan(now[i]) and now[i] != self.p[self.first_jump + i]]
            for i in wrong:
                self.p[self.first_jump + i] = now[i]
            if not wrong:
                return said
        for i in wrong if alive else ():  # each value brings about the other: the motion slides along the surface
            said.append(self.release(i, t, "it slides along the surface where it changes"))
        return said

    def flip(self, flip: Flip, t: float) -> str | None:
        """Change a condition; a sentence if it does so too often to be held."""
        self.p[self.first_jump + flip.number] = flip.value
        times = self.flips[flip.number]
        times.append(t)
        if len(times) > OFTEN and abs(t - times[-OFTEN]) < SHORT * abs(self.until - self.begin):
            return self.release(flip.number, t, f"it has changed {OFTEN} times within {abs(t - times[-OFTEN]):.2g} s")
        return None

    def release(self, i: int, t: float, why: str) -> str:
        """Let a condition live from here on."""
        self.p[self.first_jump + i] = LIVE
        self.chattering[i] = why
        return f"condition {self.held.jumps[i].node} is not held after t = {t:.6g} s: {why}"

    def release_all(self, t: float) -> str | None:
        """Let all conditions on the state live; None if none was held."""
        alive = [i for i in self.by_state if i not in self.chattering]
        said = [self.release(i, t, "on its other side its branch has no finite value") for i in alive]
        return "; ".join(said) or None

    def levels(self) -> list[tuple[Jump, float, int, Flip]]:
        """What to watch: a jump, the level of its signal, the direction in which it passes, and what changes then."""
        out = []
        for i in self.by_state:
            value, jump = self.p[self.first_jump + i], self.held.jumps[i]
            if value >= LIVE:
                continue
            if jump.node.op in ("lt", "le"):
                out.append((jump, 0.0, -1 if value else 1, Flip(i, 0.0 if value else 1.0)))
            elif jump.node.op == "sign":
                out.append((jump, 0.0, -1 if value > 0 else 1, Flip(i, -1.0 if value > 0 else 1.0)))
            else:
                low = value - 1.0 if jump.node.op == "ceil" else value
                out.append((jump, low, -1, Flip(i, value - 1.0)))
                out.append((jump, low + 1.0, 1, Flip(i, value + 1.0)))
        return out

    def _just_after(self, program: Compiled, t: float, x: np.ndarray) -> np.ndarray:
        """Values of all jumps a moment ahead; nan for signals that stay on their level."""
        ahead = LOOK_AHEAD * (self.until - self.begin)
        rate = program.rhs(t, x, self.p)
        both = signals(program, self.held.jumps, np.array([t, t + ahead]), np.array([x, x + ahead * rate]), self.p)
        out = np.full(len(self.held.jumps), np.nan)
        for i, (jump, (u, later)) in enumerate(zip(self.held.jumps, both.T, strict=True)):
            level = np.round(u) if jump.counts else 0.0
            passes = abs(u - level) <= NEAR * abs(later - u)
            signal = later if passes else u
            if signal != 0.0 or jump.counts:
                out[i] = float(jump.value(signal))
        return out

    # ---- to go on another day ----------------------------------------------------------------------------------------

    def saved(self) -> dict[str, np.ndarray]:
        """All that is not known from the drawing."""
        memories = [_memory(c) for c in self.held.controllers]
        told = (self.calls, self.next_switch, self.chattering, self.flips, memories)
        return {
            "p": self.p,
            "t": np.array(self.history_t),
            "u": np.array(self.history_u).reshape(len(self.history_t), self.held.outputs),
            "told": np.frombuffer(pickle.dumps(told), np.uint8),
        }

    def restore(self, saved: dict[str, np.ndarray]) -> None:
        """Go on where `saved` was called."""
        self.p = saved["p"].copy()
        self.history_t, self.history_u = saved["t"].tolist(), list(saved["u"])
        self.calls, self.next_switch, self.chattering, self.flips, memories = pickle.loads(saved["told"].tobytes())
        for controller, memory in zip(self.held.controllers, memories, strict=True):
            if memory is not None:
                vars(controller.function).update(memory)


def _memory(controller: Controller) -> dict[str, Any] | None:
    """What a controller remembers: the attributes of an object; functions are taken to remember nothing."""
    function = controller.function
    return dict(vars(function)) if type(function).__name__ not in ("function", "builtin_function_or_method") else None


def asked(controller: Controller, t: float, now: Now) -> list[float]:
    """What a controller answers; whatever goes wrong in it names it and the time."""
    who = f"the controller {controller.name!r}"
    try:
        answer = controller.function(t, now)
    except Exception as error:
        raise HoldError(f"{who} raised {type(error).__name__}: {error}") from error
    try:
        values = np.asarray(answer, float).ravel()
    except (TypeError, ValueError):
        raise HoldError(f"{who} returned {answer!r}, which is no number") from None
    if values.size != controller.outputs:
        raise HoldError(f"{who} returned {values.size} numbers instead of {controller.outputs}")
    if not np.isfinite(values).all():
        raise HoldError(f"{who} returned {answer!r}, which is not finite")
    return values.tolist()


def signals(program: Compiled, jumps: tuple[Jump, ...], t: np.ndarray, x: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Signals of all jumps (time, jump) at many states, with the conditions inside them as they are held in ``p``."""
    got = program.evaluate("signals", lambda: {"u": ca.vertcat(*(traced(program, j) for j in jumps))}, t, x, p)
    return got["u"][:, :, 0]


def traced(program: Compiled, jump: Jump) -> ca.SX:
    """The signal of a jump, as an expression of the equations."""
    e = program.equations
    args = [e.expression(a, held=e.limbs.held) for a in jump.node.args]
    return ca.SX(jump.signal(*args))
