"""The numbers that hold for a while, during a run: what they are, when they change, and what they are then.

Conditions on time change at instants that are known beforehand, and so do the outputs of sampled controllers: steps end
there. Conditions on the state are watched like events: a piece of the run ends where one changes.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from closedchain.arguments import shown
from closedchain.disk import plain
from closedchain.errors import ModelError
from closedchain.integrate.hooks import InputsError
from closedchain.march.controllers import memories
from closedchain.march.controllers.controller_view import Now
from closedchain.march.controllers.fingerprint import fingerprint
from closedchain.march.discontinuities import SwitchingTimes
from closedchain.march.marks import ConditionChange
from closedchain.march.program.compiled import Compiled
from closedchain.model.forces.sampled import LIVE, Controller, Jump, sampled_inputs
from closedchain.model.mechanism import Mechanism
from closedchain.pose.size import drawn_scale, row_sizes, sizes_of, velocity_sizes

LOOK_AHEAD = 1e-9  # of the length of a run: what a condition will be just after a state
NEAR = 10.0  # a signal that changes by a tenth of itself meanwhile passes its level now
# A signal that is at rest on its level, but for rounding, leaves it by its acceleration: look further ahead.
AT_REST = 1e-6  # of the length of a run
ON_LEVEL = 1e-2  # of what changes until then
RESTS = 1e-5  # of that: what changes until the nearer look; 1e-3 if it moves, 1e-6 if it is at rest
OFTEN, SHORT = 50, 1e-4  # so many changes of one condition within so much of a run: it chatters
SAME_TIME = 1e-9  # of a period
JUMP = 1e-6  # rad, or of the mechanism's length, and of the fastest rate: a jump of a prescribed motion that is none
MOST_CALLS = 1e9  # of a controller during a run; more are a mistake
SAVED = {
    "p": np.ndarray, "t": np.ndarray, "u": np.ndarray, "calls": [int], "next_switch": float, "chattering": {int: str},
    "said": [str], "flips": {int: [float]}, "memories": list, "first": [str], "latest": [str],
}  # fmt: skip


class HeldInputs:
    """What is held, from the start of a run to its end.

    Parameters
    ----------
    mechanism, p
        The drawing, and all parameter values at the start.
    begin, until
        The run.
    watched
        Whether conditions on the state can be held: with fixed steps, and under solvers of others, they live.
    max_step
        How often curved conditions on time are looked at, at least, s.
    saves
        Whether the run is saved, with what controllers remember.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        p: np.ndarray,
        begin: float,
        until: float,
        watched: bool,
        max_step: float = np.inf,
        saves: bool = False,
    ) -> None:
        self.held = sampled_inputs(mechanism)
        self.mechanism, self.p = mechanism, p.copy()
        self.begin, self.until, self.max_step = begin, until, max_step
        self.first = len(mechanism.parameters)
        self.first_jump = self.first + self.held.outputs
        self.times = self._times()
        mixed = self._mixed()
        self.by_state = (
            [i for i, jump in enumerate(self.held.jumps) if not jump.timed and not (i in mixed and jump.counts)]
            if watched
            else []
        )
        self.mixed = [i for i in self.by_state if i in mixed]
        self.chattering: dict[int, str] = {}
        self.said: list[str] = []  # about conditions, and not yet told
        self.flips: dict[int, list[float]] = {i: [] for i in self.by_state}
        self.calls = [0] * len(self.held.controllers)
        self.next_switch = begin if self.times.timed else np.inf * self.times.forward
        self.history_t: list[float] = []  # when outputs of controllers changed, and to what
        self.history_u: list[np.ndarray] = []
        if self.held.controllers and until < begin:
            raise ModelError("a run with a sampled controller cannot go back in time")
        for controller in self.held.controllers:
            if abs(until - begin) > MOST_CALLS * controller.period:
                raise ModelError(
                    f"the controller {controller.name!r} would be called {abs(until - begin) / controller.period:.2g} "
                    f"times in this run: its period of {controller.period:g} s is too short"
                )
        memories.reset(self.held.controllers)
        self.begun = memories.begun(self.held.controllers) if saves else None
        self.drawn = self._fingerprints() if saves else []

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "times"}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        vars(self).update(kept)
        self.times = self._times()

    def _times(self) -> SwitchingTimes:
        values = dict(zip(self.mechanism.parameters, self.p.tolist(), strict=False))
        return SwitchingTimes(self.held.jumps, values, self.begin, self.until, self.max_step)

    def _mixed(self) -> set[int]:
        """Conditions on the state whose signals jump themselves, when others change at known instants."""
        found: set[int] = set()
        jumps = self.held.jumps
        for i, jump in enumerate(jumps):
            sampled = any(leaf.op == "sampled" for leaf in jump.node.leaves())
            if not jump.timed and (sampled or any(jumps[k].timed or k in found for k in jump.inside)):
                found.add(i)
        return found

    @property
    def idle(self) -> bool:
        """Whether nothing is held that changes at known instants."""
        return not self.held.controllers and not self.times.timed

    # ---- at known instants -------------------------------------------------------------------------------------------

    def change(self, program: Compiled, t: float, x: np.ndarray) -> tuple[float, bool]:
        """What holds from t on; the time of the next change, and whether anything has changed now."""
        changed = False
        forward = self.times.forward
        if self.times.timed and forward * (t - self.next_switch) >= 0:
            self.next_switch, values = self.times.after(t)
            for i, value in values.items():
                changed |= self._set(self.first_jump + i, value)
            if changed and self.mechanism.drives:
                _check_drives(program, t, x, self.p, self.until - self.begin)
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
        if changed and self.mixed:
            self.said += self._settle(self.mixed, program, t, x)
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
        values = asked(controller, t, now)
        self.calls[i] += 1  # a call that Ctrl-C has ended was none
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
        soon = t + SAME_TIME * np.array([c.period for c in self.held.controllers]).min()  # 3 * 0.1 is not 0.3
        latest = np.maximum(np.searchsorted(self.history_t, soon, side="right") - 1, 0)
        rows[:, self.first : self.first_jump] = np.array(self.history_u)[latest]
        return rows

    # ---- where the state says so -------------------------------------------------------------------------------------

    def settle(self, program: Compiled, t: float, x: np.ndarray) -> list[str]:
        """Hold the conditions on the state as they are just after t; sentences about those that cannot be held."""
        said = self.said + self._settle(self.by_state, program, t, x)
        self.said = []
        return said

    def _settle(self, which: list[int], program: Compiled, t: float, x: np.ndarray) -> list[str]:
        alive = [i for i in which if i not in self.chattering]
        wrong: list[int] = []
        for _ in range(len(alive) + 2 if alive else 0):
            now = self._just_after(program, t, x)
            wrong = [i for i in alive if not np.isnan(now[i]) and now[i] != self.p[self.first_jump + i]]
            for i in wrong:
                self.p[self.first_jump + i] = now[i]
            if not wrong:
                return []
        # each value brings about the other: the motion slides along the surface
        return [self.release(i, t, "it slides along the surface where it changes") for i in wrong]

    def flip(self, change: ConditionChange, t: float) -> str | None:
        """Change a condition; a sentence if it does so too often to be held."""
        number = change.number
        if number in self.chattering:
            return None
        self.p[self.first_jump + number] = change.value
        times = self.flips[number]
        times.append(t)
        del times[: -OFTEN - 1]
        if len(times) > OFTEN and abs(t - times[-OFTEN]) < SHORT * abs(self.until - self.begin):
            return self.release(number, t, f"it has changed {OFTEN} times within {abs(t - times[-OFTEN]):.2g} s")
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

    def levels(self) -> list[ConditionChange]:
        """Changes to watch for, of conditions on the state that are held."""
        out = []
        for i in self.by_state:
            value, jump = self.p[self.first_jump + i], self.held.jumps[i]
            if i in self.chattering or (jump.counts and value >= LIVE):
                continue
            if jump.node.op in ("lt", "le", "sign"):  # both ways: `change` may have changed it on its way
                out.append(ConditionChange(i, 0.0, -1, -1.0 if jump.node.op == "sign" else 0.0))
                out.append(ConditionChange(i, 0.0, 1, 1.0))
            else:
                low = value - 1.0 if jump.node.op == "ceil" else value
                out.append(ConditionChange(i, low, -1, value - 1.0))
                out.append(ConditionChange(i, low + 1.0, 1, value + 1.0))
        return out

    def _just_after(self, program: Compiled, t: float, x: np.ndarray) -> np.ndarray:
        """Values of all jumps a moment ahead; nan for signals that stay on their level."""
        rate = program.rhs(t, x, self.p)
        times, states = [t], [x]
        for ahead in np.array([LOOK_AHEAD, AT_REST]) * (self.until - self.begin):
            # of second order, as a signal that is at rest on its level leaves it by its acceleration
            middle = program.rhs(t + 0.5 * ahead, x + 0.5 * ahead * rate, self.p)
            times.append(t + ahead)
            states.append(x + ahead * np.where(np.isfinite(middle), middle, rate))
        looks = signals(program, self.held.jumps, np.array(times), np.array(states), self.p)
        out = np.full(len(self.held.jumps), np.nan)
        for i, (jump, (u, soon, later)) in enumerate(zip(self.held.jumps, looks.T, strict=True)):
            level = np.round(u) if jump.counts else 0.0
            if soon != u and abs(u - level) <= NEAR * abs(soon - u):
                signal = soon
            elif abs(u - level) <= ON_LEVEL * abs(later - u) and abs(soon - u) <= RESTS * abs(later - u):
                signal = later
            else:
                signal = u
            if signal != level:
                out[i] = float(jump.value(signal))
        return out

    # ---- to go on another day ----------------------------------------------------------------------------------------

    def saved(self) -> dict[str, Any]:
        """All that is not known from the drawing, as plain data."""
        return {
            "p": self.p.copy(),
            "t": np.array(self.history_t),
            "u": np.array(self.history_u).reshape(len(self.history_t), self.held.outputs),
            "calls": list(self.calls),
            "next_switch": float(self.next_switch),
            "chattering": dict(self.chattering),
            "said": list(self.said),
            "flips": {i: list(times) for i, times in self.flips.items()},
            "memories": memories.saved(self.held.controllers, self.begun),
            "first": list(self.drawn),
            "latest": self._fingerprints(),
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Go on where `saved` was called; ValueError if it was not called here."""
        plain.check(saved, SAVED, "held")
        shape = len(saved["t"]), self.held.outputs
        if saved["p"].shape != self.p.shape or saved["t"].shape != shape[:1] or saved["u"].shape != shape:
            raise ValueError("other numbers are held")
        if any(saved[name].dtype != float for name in ("p", "t", "u")):
            raise ValueError("what is held is no number")
        if len(saved["calls"]) != len(self.calls) or set(saved["flips"]) != set(self.flips):
            raise ValueError("other controllers or conditions are held")
        self._check_values(saved["first"], saved["latest"])
        self.p = saved["p"].copy()
        self.history_t, self.history_u = saved["t"].tolist(), list(saved["u"])
        self.calls, self.next_switch, self.chattering = saved["calls"], saved["next_switch"], saved["chattering"]
        self.said, self.flips = saved["said"], saved["flips"]
        self.begun, self.drawn = memories.restore(self.held.controllers, saved["memories"]), saved["first"]

    def _fingerprints(self) -> list[str]:
        return [fingerprint(controller.function, private=True) for controller in self.held.controllers]

    def _check_values(self, first: list[str], latest: list[str]) -> None:
        """Refuse controllers that are neither as they were when the run began nor as it left them: other gains, say."""
        for controller, *known, now in zip(self.held.controllers, first, latest, self._fingerprints(), strict=True):
            if now not in known:
                raise ModelError(
                    f"the controller {controller.name!r} has other values (its attributes, what it captured, or "
                    "variables and functions of its module) than it had in the run that is saved there: give it those "
                    "that the run began with, or save to another folder"
                )


def _check_drives(program: Compiled, t: float, x: np.ndarray, p: np.ndarray, span: float) -> None:
    """A prescribed motion may change its acceleration at once, but neither its place nor its velocity."""
    e = program.equations
    drives = e.topology.mechanism.drives
    rows = [i for i, joint in enumerate(e.closure.joints) if joint in drives]

    def traced() -> dict[str, ca.SX]:
        return {"place": e.closure.c[rows, :], "velocity": (e.closure.A @ e.limbs.v + e.closure.c_t)[rows, :]}

    scale = drawn_scale(e, p, span)
    size, (q, v, _) = row_sizes(e, rows, scale.length), program.unpack(t, x, p)
    far = max(1.0, float(np.abs(q / sizes_of(e.topology.q_units, scale)).max()))
    fast = max(1.0 / scale.time, float(np.abs(v / velocity_sizes(e, scale.length)).max()))
    most = {"place": far * size, "velocity": fast * size}
    for what, off in program.evaluate("drives", traced, np.array([t]), x[None], p).items():
        worst = int(np.argmax(np.abs(off[0, :, 0]) / most[what]))
        if abs(off[0, worst, 0]) > JUMP * most[what][worst]:
            raise InputsError(
                f"the drive {e.closure.joints[rows[worst]]!r} changes its {what} at once by "
                f"{abs(off[0, worst, 0]):.3g}, which no force can do (give a motion whose velocity is continuous)"
            )


# ---- what is asked for and looked at ---------------------------------------------------------------------------------


def asked(controller: Controller, t: float, now: Now) -> list[float]:
    """What a controller answers; whatever goes wrong in it names it and the time."""
    who = f"the controller {controller.name!r}"
    try:
        answer = controller.function(t, now)
    except Exception as error:
        raise InputsError(f"{who} raised {type(error).__name__}: {error}") from error
    if answer is None:
        raise InputsError(f"{who} returned nothing: it must end with 'return' and what is to be held")
    try:
        if isinstance(answer, str):
            raise ValueError(answer)
        values = np.asarray(answer, float).ravel()
    except (TypeError, ValueError, OverflowError, ModelError):
        raise InputsError(f"{who} returned {shown(answer)}, which is no number") from None
    if values.size != controller.outputs:
        raise InputsError(f"{who} returned {values.size} numbers instead of {controller.outputs}")
    if not np.isfinite(values).all():
        raise InputsError(f"{who} returned {answer!r}, which is not finite")
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
