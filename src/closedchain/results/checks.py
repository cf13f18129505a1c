"""Is a run as good as its tolerance promises?

With a local tolerance rtol, errors of a run add up over its steps. A run is called good while

* the closure residual stays below ``max(100 rtol, CLOSED)`` (rad, or of the mechanism's length), and 1,000 rtol where
  nothing stabilises the closures (`march.judge.gaps.allowed_gap`). Where the drawing's numbers are
  rounded, this is asked of the rows that are solved, against their residuals at the start; and all rows stay within
  the drawing's tolerance besides, and
* the energy that came from nowhere stays below ``ENERGY * rtol`` times the energy that was exchanged.

The factors allow for the accumulation over some thousand steps; what exceeds them deserves a look.

The theory is in ``docs/theory/checks.md``.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.close.formulation import Formulation
from closedchain.integrate.solvers import SOLVERS
from closedchain.march.judge.conditioning import Conditioning
from closedchain.march.judge.explained import energies
from closedchain.march.judge.gaps import UNSTABILISED, allowed_gap
from closedchain.pose.closing import enough
from closedchain.pose.rank import needed_tolerance, row_tolerances
from closedchain.results.actuation import lost_hold

if TYPE_CHECKING:
    from closedchain.march.program.compiled import Compiled
    from closedchain.results.run import Run

ENERGY = 1e3
CLOSED = 1e-10  # rad, or of the mechanism's length: a gap that no rtol is blamed for
STILL = 1e-12  # of the mechanism's energy: what rounding leaves of a balance
LARGE = 0.3  # rad: sine and tangent differ by some percent
PLACES = (0.0, 0.25, 0.5, 0.75, 1.0)  # along a beam
DRAGGED = 10.0  # of what solved rows are off: those that repeat them, since they are chosen by pivoting
DIP = 0.35  # of two samples before and after: at most a third next to a pose that is passed, in a straight line


def energy_balance(run: Run, out: dict[str, np.ndarray]) -> tuple[np.ndarray, float]:
    """``E(t) - E(start) - W(t)`` less what impacts took (J), and the energy exchanged, to compare it with."""
    with np.errstate(invalid="ignore"):  # infinite ones are told of
        energy = out["kinetic"][:, 0] + out["potential"][:, 0]
    if not len(energy):
        return energy, 1.0
    x = run.program.pack(run.start.q, run.start.v)[None]
    begin = energies(run.program, np.array([run.start.t]), x, run.p)
    with np.errstate(invalid="ignore"):
        error = energy - begin["T"][0, 0, 0] - begin["U"][0, 0, 0] - out["work"][:, 0]
    losses = [h.numbers["lost"] for h in run.record if "lost" in h.numbers]
    at = 0
    for before, after in pairwise(run.segments):
        at += len(before.trajectory.t)
        if after.start.open_joints != before.start.open_joints:  # one impact, from the first sample after it on
            error[at:] += losses.pop(0)
    exchanged = max(
        float(np.max(out["kinetic"])),
        float(np.ptp(out["potential"])),
        float(np.ptp(out["work"])),
    )
    return error, exchanged


def promised(method: Formulation, solver: str) -> float:
    """By how many times rtol closures may be open: solvers of others put nothing back."""
    return max(allowed_gap(method), UNSTABILISED if SOLVERS[solver].driver else 0.0)


def closure_bounds(program: Compiled, solver: str, rtol: float, length: Any) -> np.ndarray:
    """How far rtol lets each closure row be open, m or rad; for many lengths (m, 1) too."""
    relative = max(promised(program.method, solver) * rtol, CLOSED)
    return relative * np.where([unit == "m" for unit in program.equations.closure.units], length, 1.0)


def closure_norm(*c: np.ndarray) -> np.ndarray:
    """Largest residual of all rows at each sample."""
    return np.max([np.abs(x).max(axis=1, initial=0.0) for x in c], axis=0)


def complaints(run: Run, out: dict[str, np.ndarray]) -> list[str]:
    """Sentences about what is not as promised."""
    said = incomplete(run)
    name = run.mechanism.name
    if not len(run.t):
        return said
    if not run.program.method.all_rows:  # springs give way: their stretch is the answer
        said += open_loops(run, out["c"])
    error, exchanged = energy_balance(run, out)
    # a mechanism that is held in place exchanges nothing, but the tolerance lets it tremble
    rest = STILL * run.scale.energy
    bound = max(ENERGY * run.rtol * exchanged, run.rtol * float(np.abs(out["potential"]).max()), rest)
    worst = float(np.abs(error).max())
    lost = ~np.isfinite(error)
    if lost.any():
        said.append(f"the energy of {name!r} is larger than any number from t = {run.t[np.argmax(lost)]:.4g} s on")
    elif worst > bound:
        i = int(np.argmax(np.abs(error)))
        passed = next((h.t for h in run.record if h.tells_of("singular pose")), None)
        advice = "use a smaller rtol or step, or a higher-order solver"
        if passed is not None:
            advice = f"it came to a singular pose at t = {passed:.4g} s, where forces may have no bound; stop before it"
        said.append(
            f"energy of {name!r} is off by {worst:.2g} J at t = {run.t[i]:.4g} s, more than the {bound:.2g} J that "
            f"rtol = {run.rtol:g} promises: {advice}"
        )
    said += runaways(run)
    said += unwatched_poses(run)
    said += large_rotations(run, out)
    said += limit_violations(run, out)
    lost = lost_hold(run)
    said += [lost] if lost else []
    if run.task.singularity == "warn":
        said += [h.text for h in run.record if h.tells_of("singular pose")]
    return said


def incomplete(run: Run) -> list[str]:
    """A sentence about a run that did not reach its end."""
    return [] if run.complete else [f"the run of {run.mechanism.name!r} is incomplete: {run.message}"]


def runaways(run: Run) -> list[str]:
    """Where the motion runs away."""
    name = run.mechanism.name
    return [f"{name!r} runs away at t = {h.t:.6g} s: {h.text}" for h in run.record if h.tells_of("divergence")]


def unwatched_poses(run: Run) -> list[str]:
    """Singular poses of the closures that a solver of others passed without looking for them.

    On the way through such a pose the conditioning falls to zero in a straight line and rises again: at the sample next
    to it it is far smaller than two samples before and after.
    """
    home, piece = SOLVERS[run.solver], run.segments[0].trajectory  # there are no switches
    if not home.driver or not len(run.program.equations.closure) or len(run.t) < 5:
        return []
    closures = Conditioning(run.program, run.p)(piece.t, piece.x).get("closure", np.ones(len(piece.t)))
    dips = closures[2:-2] < DIP * np.minimum(closures[:-4], closures[4:])
    if not dips.any():
        return []
    t = piece.t[2 + int(np.argmax(dips))]
    return [
        f"{run.mechanism.name!r} passes a singular pose of its loops near t = {t:.4g} s, which {home.driver} does not "
        f"look for: the branch that {run.solver!r} took there is a matter of rounding. Compare with another solver, "
        "which watches the closures one by one"
    ]


def open_loops(run: Run, c: np.ndarray) -> list[str]:
    """Closure rows, at all samples, that are open by more than rtol and the drawing's numbers explain."""
    name, closure, tolerance = run.mechanism.name, run.program.equations.closure, run.mechanism.tolerance
    length = run.scale.length
    bounds = closure_bounds(run.program, run.solver, run.rtol, length)
    gaps = np.abs(c - explained(run, c))
    i, row = _worst(gaps / bounds)
    if gaps.size and gaps[i, row] > bounds[row]:
        return [
            f"the loop at joint {closure.joints[row]!r} of {name!r} opens by {gaps[i, row]:.2g} at "
            f"t = {run.t[i]:.4g} s, more than the {bounds[row]:.2g} that rtol = {run.rtol:g} promises: use a smaller "
            "rtol, or cc.Multipliers(stabilise='projection')"
        ]
    if not tolerance or not gaps.size:
        return []
    # rows left out are open by what the numbers miss, and by what those that are solved are off, some times over
    off = np.max(gaps / bounds, axis=1)[:, None]
    most = row_tolerances(closure.units, tolerance, length) + np.minimum(DRAGGED * off, 1.0) * bounds
    gaps = np.abs(c)
    i, row = _worst(gaps / most)
    if gaps[i, row] > most[i, row]:
        needed = needed_tolerance([closure.units[row]], gaps[i, row], length)
        return [
            f"the loop at joint {closure.joints[row]!r} of {name!r} is open by {gaps[i, row]:.2g} {closure.units[row]} "
            f"({closure.labels[row]}) at t = {run.t[i]:.4g} s, more than the tolerance = {tolerance:g} of the drawing "
            f"allows: its numbers do not fit so well there; mend them, or say tolerance={enough(needed, length):g}"
        ]
    return []


def _worst(share: np.ndarray) -> tuple[int, int]:
    """Sample and row of the largest entry."""
    i, row = np.unravel_index(int(np.argmax(share)), share.shape) if share.size else (0, 0)
    return int(i), int(row)


def explained(run: Run, c: np.ndarray) -> np.ndarray:
    """The part of the residuals that the drawing's numbers explain: aims of solved rows, and all of rows left out."""
    if not run.mechanism.tolerance:
        return np.zeros_like(c)
    out, at = c.copy(), 0
    for s in run.segments:
        n = len(s.trajectory.t)
        out[at : at + n, list(s.program.rows)] = s.program.aims
        at += n
    return out


def large_rotations(run: Run, out: dict[str, np.ndarray]) -> list[str]:
    """Flexible bodies whose sections turn further than a linear beam should."""
    said, topology = [], run.program.equations.topology
    value = run.mechanism.values(run.start.parameters)
    column = sum(joint.type.nq for joint in topology.joints)
    for link in topology.links:
        if link.shape is None:
            continue
        data = link.shape.flexibility
        eta = out["q"][:, column : column + link.shapes]
        column += link.shapes
        scale = np.array([1.0, 1.0, 1.0]) / [1.0, value(data.length), value(data.length)]
        turned = np.array([np.abs(eta @ (scale[:, None] * data.shapes.at(xi)[1]).T).max(axis=1) for xi in PLACES])
        worst = turned.max(axis=0)
        if worst.max() > LARGE:
            i = int(np.argmax(worst))
            said.append(
                f"sections of {data.body.name!r} turn by {worst[i]:.2g} rad at t = {run.t[i]:.4g} s against its frame: "
                f"beyond {LARGE:g} rad a linear beam is a rough picture. Divide the body into several, with welds"
            )
    return said


def limit_violations(run: Run, out: dict[str, np.ndarray]) -> list[str]:
    """Joints that left the limits drawn for them."""
    said = []
    column = 0
    for joint in run.program.equations.topology.joints:
        for label, pair in zip(joint.labels(), joint.limits or (None,) * joint.type.nq, strict=True):
            stopped = f"{label}.stop" in run.mechanism.joint_stops
            if pair is not None and not stopped:
                values = out["q"][:, column]
                outside = (values < pair[0]) | (values > pair[1])
                if outside.any():
                    i = int(np.argmax(outside))
                    said.append(
                        f"{label!r} leaves its limits ({pair[0]:g}, {pair[1]:g}) at t = {run.t[i]:.4g} s, where it is "
                        f"{values[i]:.4g}: limits are data here, nothing stops the joint"
                    )
            column += 1
    return said
