"""Is growth explained by what the drawing says? And would another step have told another motion?

A finding of `march.judge.divergence` is looked at once more before it ends a run. Growth of the energy D with a rate r
(of the speed, 1/s) needs a power of 2 r D. It is explained where

* laws of time have that power: efforts of motors and forces, with the state and the answers of sampled controllers as
  they were at the start, times the velocities as they are now. What the state feeds back, grows with the state; the
  law by itself does not;
* prescribed motions have that energy: the least kinetic energy at their velocities,
  ``min T(v) : A v + c_t = 0``.

Growth that is not explained, but bounded, is a complaint: the same motion, ``FASTER`` times as fast, loses energy to
its motors and dampers.

With a fixed step, the motion from the start is told once more by a solver that chooses its steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from closedchain.integrate.integrate import integrate
from closedchain.integrate.problem import Correction, Problem, Tolerances
from closedchain.integrate.solvers import DOP853
from closedchain.integrate.trajectory import Status, Trajectory
from closedchain.march.program.compiled import tolerances
from closedchain.model.forces.force import Along, At, reported
from closedchain.model.forces.sampled import LIVE
from closedchain.pose.rank import SOLVED
from closedchain.pose.size import Scale
from closedchain.pose.state import State

if TYPE_CHECKING:
    from closedchain.march.controllers.held_inputs import HeldInputs
    from closedchain.march.program.compiled import Compiled

# Share of the power, or of the energy, that explains growth. A constant law beside a gain that feeds a growth by 1e6
# has 1e-3 of the power at its end, a constant prescribed speed 1e-6 of the energy; what explains it has all of it.
SHARE = 0.03
# Part of the time of growth, at its end, in which the largest effort counts: laws may swing
LATE = 0.1
# How much faster a motion is made to see whether it is bounded: at ten times the speed it may still be on its way, and
# drag that only holds it at many times the speed is none.
FASTER = 30.0
# Steps of a march that only decides on a sentence: a fraction of a second. rtol: of a motion that is judged by the size
# of its energy.
STEPS, RTOL = 5000, 1e-6
LOOKS = 100  # at efforts, or at the work
# The energy of a motion that was told wrongly, over that of the motion itself.
WRONG = 10.0


@dataclass(frozen=True)
class Place:
    """Where a run has come to: the equations, the size of the drawing, what is held, time and state.

    Energies count from ``start``, of the run or behind its last switch.
    """

    program: Compiled
    scale: Scale
    start: State
    held_inputs: HeldInputs
    t: float
    x: np.ndarray

    @property
    def begin(self) -> np.ndarray:
        """The state at the start."""
        return self.program.pack(self.start.q, self.start.v)


def growth(here: Place, since: float, rate: float) -> bool:
    """Whether growth since a time, with a rate of the speed, is explained."""
    kinetic, entered = _energy(here, here.x, here.t)
    needed = 2.0 * rate * entered
    return (needed > 0 and _timed_power(here, since) >= SHARE * needed) or _prescribed(here) >= SHARE * kinetic


def too_long(here: Place, step: float) -> str | None:
    """A sentence that blames a fixed step, if a solver that chooses its steps tells another motion."""
    told = _march(here, here.start.t, here.begin, here.t)
    if told is None or not told.counts.steps:
        return None
    end = told.t[-1]
    mean = abs(end - here.start.t) / told.counts.steps
    if told.status is Status.finished:
        kinetic, entered = _energy(here, told.x[-1], end)
        then, now = _energy(here, here.x, here.t)
        wrong = not np.isfinite(then + now) or max(then, now) > WRONG * max(kinetic, entered, here.scale.energy)
    else:  # it needs more steps than a sentence is worth
        wrong = told.status is Status.too_many_steps and mean < step
    if not wrong:
        return None
    return (
        f"The step of {step:g} s is too long for this motion, for which dop853 takes steps of {mean:.1g} s: "
        "shorten it, or take a solver that chooses its steps"
    )


def _energy(here: Place, x: np.ndarray, t: float) -> tuple[float, float]:
    """Kinetic energy, and energy that has come in since the start, J."""
    got = energies(here.program, np.array([here.start.t, t]), np.array([here.begin, x]), here.held_inputs.p)
    kinetic, potential = got["T"][:, 0, 0], got["U"][:, 0, 0]
    with np.errstate(invalid="ignore"):
        return float(kinetic[1]), float(kinetic[1] + potential[1] - kinetic[0] - potential[0])


def _timed_power(here: Place, since: float) -> float:
    """The power (W) that efforts would have with the present velocities, if they were functions of time alone."""
    e = here.program.equations
    m = e.topology.mechanism
    if not e.applied.efforts:
        return 0.0

    def rates() -> dict[str, ca.SX]:
        return {"v": ca.vertcat(*(sizes(part) for part in reported(m).values()))}

    def sizes(part: Along | At) -> ca.SX:
        if isinstance(part, Along):
            return e.measures.velocities(m.joints[part.joint])[part.index]
        v = e.motion.frame(part.frame).velocity
        return ca.vertcat(*[ca.norm_2(ca.densify(x)) for x in (v.lin,) * 3 + (v.ang,) * 3])

    def efforts() -> dict[str, ca.SX]:
        return {"u": ca.vertcat(*(e.applied.efforts[name] for name in reported(m)))}

    p = here.held_inputs.p.copy()
    p[here.held_inputs.first_jump :] = LIVE
    if here.held_inputs.history_u:
        p[here.held_inputs.first : here.held_inputs.first_jump] = here.held_inputs.history_u[0]
    t = np.linspace(here.t - LATE * (here.t - since), here.t, LOOKS)
    u = here.program.evaluate("efforts", efforts, t, np.tile(here.begin, (LOOKS, 1)), p)["u"][:, :, 0]
    v = here.program.evaluate("rates", rates, np.array([here.t]), here.x[None], here.held_inputs.p)["v"][0, :, 0]
    return float(np.abs(u).max(axis=0) @ np.abs(v))


def _prescribed(here: Place) -> float:
    """The least kinetic energy (J) at the velocities that are prescribed now."""
    e = here.program.equations
    if not e.topology.mechanism.drives:
        return 0.0
    got = here.program.evaluate(
        "prescribed", lambda: {"M": e.M, "A": e.closure.A, "b": -e.closure.c_t}, np.array([here.t]), here.x[None],
        here.held_inputs.p,
    )  # fmt: skip
    M, A, b = (got[name][0] for name in ("M", "A", "b"))
    values, vectors = np.linalg.eigh(M)
    root = vectors / np.sqrt(np.maximum(values, 1e-14 * values.max()))  # v = root y has the energy y'y / 2
    y = np.linalg.lstsq(A @ root, b[:, 0], rcond=SOLVED)[0]
    return float(0.5 * y @ y)


def bounded(here: Place, rate: float) -> bool:
    """Whether a motion that grows with a rate of the speed would lose energy if it were much faster."""
    if here.held_inputs.held.controllers or here.program.equations.topology.mechanism.drives:
        return False  # the former would have to be asked, the latter cannot be faster
    x, n = here.x.copy(), here.program.equations.topology.nq
    x[n:-1] *= FASTER
    x[-1] = begin = _energy(here, x, here.t)[0]  # work is told to a share of the energy
    told = _march(here, here.t, x, here.t + 1.0 / rate)
    if told is None or not told.counts.steps:
        return False
    assert told.sol is not None
    late = np.linspace(0.5 * (told.t[0] + told.t[-1]), told.t[-1], LOOKS)  # springs drawn as motors give and take
    return bool((told.sol(late)[:, -1] < begin).all())


def _march(here: Place, t: float, x: np.ndarray, until: float) -> Trajectory | None:
    """From a state on, with steps that are chosen; None where that cannot be."""
    program = here.program
    if here.held_inputs.held.controllers or program.closed.algebraic:
        return None
    if not np.isfinite(x).all() or until == t:
        return None
    p = here.held_inputs.p.copy()
    p[here.held_inputs.first_jump :] = LIVE
    correct = program.correct
    free = Problem(
        program.rhs.address,
        program.rhs.prepare(p),
        Correction(correct.address, correct.prepare(p)) if correct else None,
        time=here.scale.time,
    )
    tolerance = Tolerances(RTOL, tolerances(program, here.scale, RTOL, None))
    return integrate(DOP853(max_steps=STEPS, dense_output=True), free, x, (t, until), tolerance)


def energies(program: Compiled, t: np.ndarray, x: np.ndarray, p: np.ndarray) -> dict[str, np.ndarray]:
    """Kinetic energy ``T`` and potential ``U``, with what springs in the closures store, (time, 1, 1) each, J."""
    e = program.equations
    return program.evaluate(
        "energies", lambda: {"T": e.energies.kinetic, "U": e.energies.potential + program.closed.stored}, t, x, p
    )
