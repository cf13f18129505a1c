"""Does a motion run away? What a run is watched for on its way, with all numbers and their reasons in one table.

Forces with a potential, however large, only exchange energy. So a run is judged by the mechanical energy that has come
into the mechanism since its start,

    D(t) = T(t) + U(t) - T(0) - U(0) = W(t) + e(t),

with the work W of motors, dampers and forces, which is integrated along with the motion, and e, which came from
nowhere. Five findings end a run:

growth
    D has grown by ``DECADES`` powers of ten, at an even pace, or within a few calls of a sampled controller. Growth by
    a constant torque, power or ramp is a power of time: the second half of the powers of ten takes much longer than the
    first. That of a gain with the wrong sign, or of a sampled gain that is too large for its period, is exponential:
    both halves take equally long. Growth is no finding where it is explained (`march.judge.explained`): a law of time
    or a prescribed motion grows as fast by itself; it is a complaint where the motion would lose energy if it were
    faster.
tossed
    D is large under a sampled controller, whose answers have grown with it, and jumps up and down with most of its
    calls: the gain is too large, but the loops tumble, and growth is no longer even. A complaint while D is not as
    large as growth makes it, and where answers have grown and change their signs while the motion goes through more
    than ``AT_REST`` between two calls, however small D is: light legs may tumble below a heavy body.
unexplained
    e is larger than all energy that the motion had, was given, or released from its potential.
endless
    The potential has released ``ENDLESS`` times all energy that the motion had or was given: it has no lowest place.
deflection
    A flexible body bends by more than its length.

A fall, a spring that is released and an impact bring nothing into the mechanism (D <= 0); a rotor that is spun up, or a
vehicle that drives for long, takes its time. The theory is in ``docs/theory/checks.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.errors import RunWarning, warn
from closedchain.integrate.trajectory import Status
from closedchain.march.judge import blame, explained, gaps
from closedchain.pose.size import drawn_scale, velocity_sizes
from closedchain.pose.state import State, parameter_vector

if TYPE_CHECKING:
    from closedchain.derive.equations import Equations
    from closedchain.march.controllers.held_inputs import HeldInputs
    from closedchain.march.program.compiled import Compiled
    from closedchain.model.bodies.flexible import Flexibility

# ---- the table -------------------------------------------------------------------------------------------------------

# Growth of D that ends a run, in powers of ten: a thousand times the speed. The yardstick is at least the energy of the
# start, and that of a fall by the size of the drawing: where D is below it, an unstable pose is being left, and the
# motion is small. Self-excited motions saturate at angles of about one, some powers of ten above.
DECADES = 6.0
# The second half of the growth may take so many times as long as the first. Exponential growth: 1. A power n of time:
# 10^(DECADES / (2 n)), which is 32 for a constant torque, 5.6 for a ramp and 1.5 for n = 17.
EVEN = 1.5
# So many looks must have seen it, and no interval between two of them more than this share of the powers of ten: a
# blow is no growth. Sampled controllers that multiply the energy with every call are seen at three of them.
LOOKS, LARGEST_JUMP = 3, 0.6
# Where a controller is sampled, so many of its calls are few. A smooth start from rest, with D growing as t^6, makes
# less than ``DECADES`` of them, counted from the first call after it. Such growth need not be even: a gain that is too
# large makes loops tumble.
CALLS = 8
# A motion is tossed about where D changes by this share (or more) with at least half of these calls, twice up and twice
# down, and is above so many powers of ten of the yardstick, thirty times the speed, at one of them. That is a
# complaint; it ends a run where D has ``DECADES`` of them, and that many all the time. Bodies that are moved as a
# controller means to, however fast, have an energy that hardly changes from one call to the next.
TOSSED, TOSSED_DECADES = 0.3, 3.0
# During the time in which its speed grows by a factor of e, the motion goes through so many radians, or sizes of the
# drawing. A nonlinear mechanism that is held by its geometry has stopped growing long before.
TRAVEL = 10.0
# Motions that go through less than this (rad, or sizes of the drawing) during the whole run are not judged.
AT_REST = 1.0
# Energy from nowhere over all energy that can be explained: one tenth of what moves would be true. A coarse step, or a
# singular pose, loses or gains shares of it, and is a complaint.
UNEXPLAINED = 10.0
# Energy released over all energy that a motion began with or was given: a million times the speed. A box of 0.1 m would
# have to fall through 1e8 km.
ENDLESS = 1e12
# Deflection over length, and rotation of a section of a finite element, rad: beam theory ends at a tenth and at some
# tenths, and no beam can bend by its length, or by half a turn.
DEFLECTION, TURN = 1.0, np.pi
PLACES = (0.25, 0.5, 0.75, 1.0)  # along a beam
# Steps between two looks, by how many have been made: a look costs what some steps do. A call of a sampled controller,
# and the end of a piece, is a look as well.
SPACING = ((100, 10), (1000, 100), (np.inf, 500))
# Between two looks at energies the speed doubles: others cannot find anything new.
FASTER = 2.0
# Looks that are remembered; with each of them D has at least doubled, so these are 19 powers of ten.
KEPT = 64
# Steps over which their mean length is taken, to tell how many are left: less than a second of work, and more than a
# step takes to collapse where a run ends anyway.
PACE = 20_000

ACTIONS = ("stop", "warn", "pass")
COMPLAINED, TOLD = 1, 2

MEMORY = np.dtype(
    [
        ("said", "i8"),  # nothing, COMPLAINED or TOLD
        ("kinetic", "f8"),  # at the start
        ("potential", "f8"),
        ("work", "f8"),
        ("fastest", "f8"),  # speed at the last look at energies, 1/s
        ("worked", "f8"),  # largest work since the start, in absolute value
        ("released", "f8"),  # largest fall of the potential
        ("entered_last", "f8"),  # D at the last look at energies
        ("called", "f8", (CALLS,)),  # D at the latest calls of controllers, at most; 0 if there was none
        ("given", "f8"),  # largest work since the start
        ("looks", "i8"),
        ("t", "f8", (KEPT,)),  # of looks at which D has doubled
        ("until", "f8", (KEPT,)),  # and of the last look at which it had not grown since
        ("entered", "f8", (KEPT,)),  # D there
    ]
)


def next_look(steps: int) -> int:
    """The number of steps after which to look next."""
    every = next(every for limit, every in SPACING if steps < limit)
    return (steps // every + 1) * every


# ---- numbers alone ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Energies:
    """Kinetic and potential energy, and the work done until then, J."""

    kinetic: float
    potential: float
    work: float


@dataclass(frozen=True)
class Finding:
    """Why a motion runs away, as one of the words above, and in a clause.

    Of growth when it began, and its rate; ``grave``: whether it ends a run, or is a complaint.
    """

    kind: str
    text: str
    since: float = 0.0
    rate: float = 0.0
    grave: bool = True


class Growth:
    """Judges energies along a run; all that it remembers lies in ``memory``.

    Parameters
    ----------
    natural
        Energy of a fall by the size of the drawing, or of a motion through it during the run, J.
    duration
        Of the whole run, s; negative if it goes back in time, where dampers feed a motion and growth says nothing.
    """

    def __init__(self, natural: float, duration: float) -> None:
        self.natural, self.duration = natural, duration
        self.memory = np.zeros(1, MEMORY)

    def begin(self, e: Energies, speed: float) -> None:
        """Start from here, and forget what was before."""
        s = self.memory[0]
        said = int(s["said"])
        self.memory[:] = np.zeros(1, MEMORY)
        s["said"] = said
        s["kinetic"], s["potential"], s["work"], s["fastest"] = e.kinetic, e.potential, e.work, speed

    def faster(self, t: float, speed: float) -> bool:
        """Whether it is worth while to look at energies."""
        s = self.memory[0]
        if speed * abs(self.duration) >= AT_REST and speed >= FASTER * s["fastest"]:
            return True
        if s["looks"]:
            s["until"][s["looks"] - 1] = t  # what grows later, grows from here on
        return False

    @property
    def known(self) -> float:
        """Energy that the motion has by itself, J."""
        return max(float(self.memory[0]["kinetic"]), self.natural)

    @property
    def high(self) -> bool:
        """Whether D has been so large that calls of controllers are looked at one by one."""
        s = self.memory[0]
        return bool(s["looks"]) and bool(s["entered"][s["looks"] - 1] >= 10**TOSSED_DECADES * self.known)

    def look(
        self, t: float, e: Energies, speed: float, answers_grow: Callable[[int | None], bool] = lambda calls: True
    ) -> Finding | None:
        """Energy that came from nowhere, or that grows without bound; None if all is well.

        ``answers_grow``: whether those of a controller do, within so many latest calls, or since the start.
        """
        s = self.memory[0]
        s["fastest"] = speed
        entered = e.kinetic + e.potential - s["kinetic"] - s["potential"]
        work = e.work - s["work"]
        if not np.isfinite([entered, work]).all():
            return Finding("unexplained", "its energy is larger than any number")
        s["worked"], s["given"] = max(s["worked"], abs(work)), max(s["given"], work)
        s["released"] = max(s["released"], s["potential"] - e.potential)
        known = self.known
        # what was taken out is no source, but a share of it may be an error
        nowhere, sources = entered - work, max(known, float(s["given"]), float(s["released"]))
        if nowhere > max(UNEXPLAINED * sources, float(s["worked"])):
            text = f"{nowhere:.2g} J came from nowhere, where {sources:.2g} J can be explained"
            return Finding("unexplained", text)
        began = max(known, abs(float(s["potential"])), float(s["worked"]))
        if s["released"] > ENDLESS * began:
            text = f"its potential has released {s['released']:.1g} J, where it began with and was given {began:.1g} J"
            return Finding("endless", text)
        s["entered_last"] = entered
        called = s["called"][s["called"] > 0]
        grows = len(called) > 0 and entered >= 10**DECADES * max(called.min(), known)
        if self.duration > 0 and grows and answers_grow(CALLS):
            text = f"its energy has grown by a factor of {entered / called.min():.1g} within {len(called)} calls"
            return Finding("growth", f"{text} of its controller")
        levels = np.append(called, entered)
        large = 10**TOSSED_DECADES * known
        if self.duration > 0 and len(called) == CALLS and levels.max() >= large:
            change = np.diff(levels) / np.maximum(levels[1:], levels[:-1])
            up, down = int((change > TOSSED).sum()), int((change < -TOSSED).sum())
            if 2 * (up + down) >= CALLS and min(up, down) >= 2 and answers_grow(None):
                text = f"its energy is {levels.max() / known:.1g} times what it has by itself, and jumps up and down"
                text = f"{text} with {up + down} of {CALLS} calls of its controller"
                return Finding("tossed", text, grave=bool(entered >= 10**DECADES * known and levels.min() >= large))
        count = int(s["looks"])
        if entered < known or (count and entered < 2.0 * s["entered"][count - 1]):
            return None
        if count == KEPT:
            for name in ("t", "until", "entered"):
                s[name][:-1] = s[name][1:].copy()
            count -= 1
        s["t"][count], s["until"][count], s["entered"][count], s["looks"] = t, t, entered, count + 1
        return self._grows(count + 1, speed) if self.duration > 0 else None

    def call(self, looked: bool) -> None:
        """Note that a controller was called; ``looked``: energies were looked at just before."""
        s = self.memory[0]
        s["called"][:-1] = s["called"][1:].copy()
        # otherwise the speed has not doubled since
        s["called"][-1] = max(0.0, s["entered_last"] * (1.0 if looked else FASTER**2))

    def _grows(self, count: int, speed: float) -> Finding | None:
        t, until, entered = (self.memory[0][name][:count] for name in ("t", "until", "entered"))
        level = np.log10(entered)
        for i in range(count - LOOKS, -1, -1):
            powers, time = level[-1] - level[i], t[-1] - until[i]
            if powers < DECADES or np.diff(level[i:]).max() > LARGEST_JUMP * powers:
                continue
            times = np.concatenate([until[i : i + 1], t[i + 1 :]])
            half = float(np.interp(0.5 * (level[i] + level[-1]), level[i:], times)) - until[i]
            rate = 0.5 * np.log(10.0) * powers / time
            if time - half <= EVEN * half and speed >= TRAVEL * rate:
                text = f"its energy has grown by a factor of {10**powers:.1g} within {time:.3g} s, and goes on growing"
                return Finding("growth", text, float(until[i]), float(rate))
        return None


# ---- a mechanism -----------------------------------------------------------------------------------------------------


class Judge:
    """Looks at a run on its way; ``integrate`` calls it between calls of its solver.

    Parameters
    ----------
    start, until
        Of the run.
    action
        ``"stop"`` ends the run, ``"warn"`` notes the finding and goes on, ``"pass"`` does not look.
    step
        Length of the solver's steps, if they are all equal, s; else None.
    note
        Called with the time and a clause where a run goes on although it runs away.
    rtol
        Of the run: how far its solver lets loops be open.
    """

    def __init__(
        self,
        program: Compiled,
        start: State,
        until: float,
        action: str,
        step: float | None,
        note: Callable[[float, str], object],
        rtol: float,
    ) -> None:
        e = program.equations
        m = e.topology.mechanism
        value = m.values(start.parameters)
        self.start, self.action, self.step, self.note = start, action, step, note
        self.scale = scale = drawn_scale(e, parameter_vector(m, start.parameters), until - start.t)
        self.sizes = velocity_sizes(e, scale.length)
        self.growth = Growth(float(natural(e, parameter_vector(m, start.parameters), until - start.t)), until - start.t)
        self.beams = _beams(program, value)
        self.paced: tuple[float, int] | None = None  # time and steps
        self.warned = False
        self.rtol = rtol

    @property
    def memory(self) -> np.ndarray:
        """All that later findings depend on, as an array of one record."""
        return self.growth.memory

    def begin(self, program: Compiled, start: State, x: np.ndarray, p: np.ndarray) -> None:
        """Judge from here on: a run begins, or joints have opened or closed."""
        self.start = start
        if self.action != "pass":
            self.growth.begin(_energies(program, start.t, x, p), self._speed(program, x)[0])

    def __call__(
        self, program: Compiled, t: float, x: np.ndarray, held_inputs: HeldInputs
    ) -> tuple[Status, str] | None:
        """Why the run ends here, with words; None if it should not, or goes on all the same."""
        if self.action == "pass" or self.memory[0]["said"] == TOLD:
            return None
        said, grave = gaps.opened(program, t, x, held_inputs.p, self.rtol, self.step is not None), True
        status = Status.opened if said else Status.diverged
        if said is None:
            said = self._bent(x)
        if said is None:
            said, grave = self._runs_away(program, t, x, held_inputs)
        if said is None or self.memory[0]["said"] >= (TOLD if grave else COMPLAINED):
            return None
        self.memory[0]["said"] = TOLD if grave else COMPLAINED
        if self.action == "stop" and grave:
            return status, said
        self.note(t, said)
        return None

    def pace(self, t: float, until: float, steps: int, left: int) -> None:
        """Say once that the end is too far away for the steps that are left."""
        if self.paced is None or steps < self.paced[1]:
            self.paced = (t, steps)
        if self.warned or steps - self.paced[1] < PACE:
            return
        mean = abs(t - self.paced[0]) / (steps - self.paced[1])
        self.paced = (t, steps)
        needed = abs(until - t) / mean if mean > 0 else np.inf
        if needed > left:
            self.warned = True
            warn(
                f"steps have become {mean:.2g} s long at t = {t:.6g} s: the rest of the run, {abs(until - t):.3g} s, "
                f"takes {needed:.1e} of them, and max_steps leaves {left:.1e}. Ctrl-C keeps what there is; stiff "
                "springs want solver='radau5', and a motion that has become very fast a look at its motors",
                RunWarning,
            )

    def _speed(self, program: Compiled, x: np.ndarray) -> tuple[float, str]:
        """The largest velocity by the size of the drawing, 1/s, and a few words about it."""
        top, picked = program.equations.topology, program.closed.velocities
        columns = range(top.nv) if picked is None else picked
        v = x[top.nq : top.nq + len(columns)]
        if not len(v):
            return 0.0, ""
        relative = np.abs(v) / (self.sizes if picked is None else self.sizes[list(picked)])
        i = int(np.argmax(relative))
        words = f"{top.v_labels[columns[i]]!r} moves at {v[i]:.2g} {top.v_units[columns[i]]}"
        return float(relative[i]), words

    def _runs_away(
        self, program: Compiled, t: float, x: np.ndarray, held_inputs: HeldInputs
    ) -> tuple[str | None, bool]:
        """Words that say why, and whether they are grave."""
        speed, fastest = self._speed(program, x)
        called = bool(held_inputs.history_t) and held_inputs.history_t[-1] == t
        looked, found = self.growth.faster(t, speed) or (called and self.growth.high), None
        if looked:
            energy = _energies(program, t, x, held_inputs.p)
            found = self.growth.look(t, energy, speed, lambda calls: bool(blame.whose_answers_grow(held_inputs, calls)))
        if called:
            self.growth.call(looked)
        if found is None:
            return self._outruns(held_inputs, speed, fastest) if called else None, False
        here = explained.Place(program, self.scale, self.start, held_inputs, t, x)
        if self.step is not None:
            cause = explained.too_long(here, self.step)
            if cause:
                return f"{found.text} ({fastest}). {cause}", found.grave
        if found.rate and explained.growth(here, found.since, found.rate):
            return None, True
        if found.kind == "unexplained":
            cause = blame.why_from_nowhere(self.step is not None)
        elif found.kind == "endless":
            cause = blame.why_endless(self.start.mechanism, self.start.mechanism.values(self.start.parameters))
        else:
            cause = blame.who_feeds(program, held_inputs, t, x)
        if found.rate and explained.bounded(here, found.rate):
            held = f"At {explained.FASTER:g} times the speed it would lose energy, so that it has an end"
            return f"{found.text} ({fastest}). {held}. {cause}", False
        return f"{found.text} ({fastest}). {cause}", found.grave

    def _outruns(self, held_inputs: HeldInputs, speed: float, fastest: str) -> str | None:
        """Words about legs that tumble below a heavy body, which has most of the energy: a controller cannot follow."""
        calls = len(held_inputs.history_t)
        between = speed * min(controller.period for controller in held_inputs.held.controllers)
        if self.memory[0]["said"] or between < AT_REST or calls & (calls - 1):  # each look goes through all answers
            return None
        cause = blame.whose_answers_grow(held_inputs, changing=CALLS)
        text = f"its controller is called once in {between:.2g} rad (or sizes of the drawing) of its motion ({fastest})"
        return f"{text}. {cause}" if cause else None

    def _bent(self, x: np.ndarray) -> str | None:
        for beam, columns, shapes, length in self.beams:
            bent = float(np.abs(shapes @ x[columns]).max(initial=0.0))
            if bent > DEFLECTION * length:
                name = beam.body.name
                return f"{name!r} bends by {bent:.2g} m, more than its length of {length:.3g} m. {blame.why_bent(beam)}"
        return None


@dataclass(frozen=True)
class Judged:
    """A judge of one piece of a run, as `integrate` takes it."""

    judge: Judge
    program: Compiled
    held_inputs: HeldInputs

    @property
    def memory(self) -> np.ndarray:
        """See `Judge`."""
        return self.judge.memory

    def next_look(self, steps: int) -> int:
        """See `next_look`; where rows are left out because the drawing is rounded, loops may open within a few."""
        if self.program.choice.aimed:
            return steps + 1 if self.program.guarded else next_look(0) + steps // SPACING[0][1] * SPACING[0][1]
        return next_look(steps)

    def __call__(self, t: float, x: np.ndarray) -> tuple[Status, str] | None:
        """See `Judge`."""
        return self.judge(self.program, t, x, self.held_inputs)

    def pace(self, t: float, until: float, steps: int, left: int) -> None:
        """See `Judge`."""
        self.judge.pace(t, until, steps, left)


def natural(e: Equations, p: np.ndarray, span: float) -> Any:
    """Energy of a fall by the size of the drawing, or of a motion through it during the run, J; (m, 1) at m points."""
    falls = np.isfinite(drawn_scale(e, p).time)  # through m g L = (2 pi)^2 m (L / time)^2
    return np.where(falls, 4.0 * np.pi**2, 1.0) * drawn_scale(e, p, span).energy


def _energies(program: Compiled, t: float, x: np.ndarray, p: np.ndarray) -> Energies:
    got = explained.energies(program, np.array([t]), x[None], p)
    return Energies(float(got["T"][0, 0, 0]), float(got["U"][0, 0, 0]), float(x[-1]))


def _beams(program: Compiled, value: Any) -> list[tuple[Flexibility, slice, np.ndarray, float]]:
    """Flexible bodies, where their coordinates are, displacements for unit coordinates, length."""
    out = []
    for link in program.equations.topology.links:
        if link.shape is not None:
            data = link.shape.flexibility
            shapes = np.vstack([data.shapes.at(xi)[0] for xi in PLACES])
            out.append((data, link.shape_q, shapes, float(value(data.length))))
    return out
