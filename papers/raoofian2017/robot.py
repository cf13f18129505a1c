"""The 3-RRR on its rose path: drawing, torques and runs that the exhibits share.

The drawing is the paper's: two angles for each leg and x, y, angle of the platform, whose three joints are cut. The
torques are those of inverse dynamics along the rose. They repeat with it, so a Fourier series gives them between
samples.
"""

from __future__ import annotations

import inspect
import math
import warnings
from functools import wraps

import numpy as np

import closedchain as cc
from closedchain.results.efforts.efforts import Efforts
from closedchain.results.motion.motion import Motion
from closedchain.results.run import Run

R0 = 0.05  # m; the paper does not tell
PERIOD, ROSES = 2.0, 3
UNTIL = ROSES * PERIOD
LEGS = (1, 2, 3)
TIMES = np.linspace(0.0, UNTIL, 2401)
LOOSE, ATOL = 1e-3, 1e-6  # relative tolerance of the paper, and the absolute one that ode45 takes if nothing is said
STATES = 19  # nine coordinates, nine velocities, and the work that is put in
# ode45 holds the largest entry of the error below the tolerance, dopri5 here the root of the mean square of all of
# them: with a tolerance that is smaller by the root of their number no entry is larger than ode45 would let it be
RTOL = LOOSE / math.sqrt(STATES)
STIFFNESSES = tuple(10.0**k for k in range(1, 9))  # N/m, Table 2
BEST = 1e6  # N/m: the paper's choice
DAMPING = 1e3  # N s/m, ours, for comparison: half of what is critical for the fastest swinging at 1e6 N/m
HARMONICS, SAMPLES = 40, 256  # those left out are below 1e-12 N m (r0 = 0.05 m), 1e-9 N m (0.1 m)


def plain(x: float) -> str:
    """A power of ten as it is typed: 1e6."""
    return f"{x:.0e}".replace("e+0", "e")


def rose(r0: float = R0) -> cc.paths.Path:
    """The path of the platform, which does not turn."""
    return cc.paths.rose(r0, period=PERIOD).turned(about=(0, 0, 1), angle=0.0)


def once(function):
    """Compute for the same arguments only once, however they are written."""
    kept, form = {}, inspect.signature(function)

    @wraps(function)
    def call(*args, **options):
        given = form.bind(*args, **options)
        given.apply_defaults()
        key = tuple(given.arguments.values())
        if key not in kept:
            kept[key] = function(*given.args, **given.kwargs)
        return kept[key]

    return call


@once
def along(r0: float = R0) -> Motion:
    """One rose of the robot, kinematics only."""
    return cc.follow(cc.library.rrr3(position=(r0, 0.0)), {"platform": rose(r0)}, t_eval=one_period())


@once
def needed(r0: float = R0) -> Efforts:
    """Torques along one rose."""
    return cc.inverse_dynamics(along(r0).mechanism, along(r0), method="denoc")


def one_period() -> np.ndarray:
    """Sample times of one rose, its end left out."""
    return np.arange(SAMPLES) * PERIOD / SAMPLES


def series(samples: np.ndarray):
    """A function of time that repeats with the rose, through its samples: a Fourier series by Clenshaw's rule."""
    terms = np.fft.rfft(samples)[: HARMONICS + 1] * 2 / len(samples)
    angle = 2 * cc.pi / PERIOD * cc.t
    c, s = cc.math.cos(angle), cc.math.sin(angle)

    def recursion(numbers: np.ndarray):
        one, two = 0.0, 0.0
        for x in reversed(numbers[1:]):
            one, two = float(x) + 2 * c * one - two, one
        return one, two

    one, two = recursion(terms.real)
    return float(terms.real[0]) / 2 + c * one - two + s * recursion(-terms.imag)[0]


@once
def robot(r0: float = R0) -> cc.Mechanism:
    """With the torques of the path, in the paper's nine coordinates."""
    m = cc.library.rrr3([series(needed(r0).tau[:, k - 1]) for k in LEGS], position=(r0, 0.0))
    m.planar("pose", m.ground, m.bodies["platform"], cut=False, guess=(r0, 0.0, 0.0))
    return m


@once
def start(r0: float = R0) -> cc.State:
    """On the path, with its velocity, all loops closed."""
    return cc.follow(robot(r0), {"platform": rose(r0)}, t_eval=[0.0]).start


@once
def springs(
    stiffness: float,
    damping: float = 0.0,
    *,
    r0: float = R0,
    rtol: float = RTOL,
    until: float = UNTIL,
    solver: str = "dopri5",
    method: type = cc.ModifiedDeNOC,
) -> Run:
    """The robot with virtual springs, sampled every 2.5 ms."""
    return _run(method(stiffness, damping), r0, rtol, until, solver)


@once
def rigid(*, r0: float = R0, rtol: float = RTOL, until: float = UNTIL) -> Run:
    """The robot with loops closed by multipliers, by DeNOC."""
    return _run(cc.DeNOC(), r0, rtol, until, "dopri5")


def _run(method, r0: float, rtol: float, until: float, solver: str) -> Run:
    atol = rtol * ATOL / LOOSE
    with warnings.catch_warnings():
        # at the paper's tolerance energy is lost, and soft springs let the robot fall apart: what that does is judged
        warnings.simplefilter("ignore", cc.RunWarning)
        return cc.simulate(
            robot(r0), start(r0), until=until, method=method, solver=solver, rtol=rtol, atol=atol,
            t_eval=TIMES[: 1 + round(until / TIMES[1])], events=[cc.Divergence("pass")],
        )  # fmt: skip


@once
def costs(method) -> cc.Counts:
    """What a run costs that keeps its last state only: samples cost corrections, too."""
    return cc.simulate(
        robot(), start(), until=UNTIL, method=method, solver="dopri5", rtol=RTOL, atol=RTOL * ATOL / LOOSE,
        t_eval=[0.0, UNTIL],
    ).counts  # fmt: skip


@once
def fixed_step(stiffness: float, step: float) -> Run:
    """Springs with the classical Runge-Kutta method."""
    method = cc.ModifiedDeNOC(stiffness)
    return cc.simulate(
        robot(), start(), until=UNTIL, method=method, solver=cc.solvers.RK4(step=step), rtol=LOOSE, t_eval=TIMES
    )


def gaps(run: Run) -> np.ndarray:
    """Sum of the stretches of all springs, m: what is under the logarithm of (31). Undamped springs only."""
    return np.abs(run["lam"].values).sum(axis=1) / run.method.stiffness


def distance(run: Run, r0: float = R0) -> np.ndarray:
    """Of the platform's centre from where the path has it, m: what is under the logarithm of (32)."""
    there = run.frame("platform").position.values[:, :2]
    return np.linalg.norm(there - rose(r0).at(run.t).value[:, :2], axis=1)


def forces(run: Run) -> np.ndarray:
    """Forces of the legs on the platform at the cut joints, N, (time, leg, axis)."""
    return run["lam"].values.reshape(len(run.t), len(LEGS), 2)


@once
def exact_forces(r0: float = R0) -> np.ndarray:
    """The same on the path, from inverse dynamics, at `TIMES`."""
    m = along(r0).mechanism
    n = round(PERIOD / UNTIL * (len(TIMES) - 1))
    motion = cc.follow(m, {"platform": rose(r0)}, t_eval=TIMES[:n])
    need = cc.inverse_dynamics(m, motion)
    rose_once = np.stack([need.reaction(f"wrist{k}", on="platform")["force"].values[:, :2] for k in LEGS], axis=1)
    return np.concatenate([rose_once] * ROSES + [rose_once[:1]])
