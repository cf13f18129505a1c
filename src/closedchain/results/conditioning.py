"""How far a motion stays from singular poses, as numbers between 0 (singular) and 1.

With ``A`` the closure rows (scaled to unit length), ``N`` a basis of the motions they allow, ``J_act`` the actuated
joint velocities and ``J_out`` the twist of the output frame (Gosselin and Angeles 1990, IEEE Trans. Robotics and
Automation 6(3), 281-290; Zlatanov, Bonev and Gosselin 2002 for constraint singularities):

closure
    The smallest singular value of ``A`` that a generic pose has, over the largest. Zero: a constraint singularity, the
    mechanism gains a freedom.
actuation (type 2)
    Smallest singular value of ``J_act N``. Zero: something moves although all actuators are locked.
output (type 1)
    Of the singular values of ``J_out N``, the one that a generic pose has as its smallest, over the largest of the run.
    Zero: the output cannot move in some direction, however the actuators move.

The theory is in ``docs/theory/checks.md``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from closedchain.march.segments import Segment
from closedchain.results.evaluate import evaluate

if TYPE_CHECKING:
    from closedchain.results.run import Run


def conditioning(run: Run) -> dict[str, np.ndarray]:
    """Conditioning of closure, actuation and output at the samples; only those that the mechanism has."""
    pieces = [_piece(run, segment) for segment in run.segments if len(segment.trajectory.t)]
    names = [name for name in pieces[0] if all(name in piece for piece in pieces)] if pieces else []
    return {name: np.concatenate([piece[name] for piece in pieces]) for name in names}


def _piece(run: Run, segment: Segment) -> dict[str, np.ndarray]:
    program = segment.program
    e, m = program.equations, program.equations.topology.mechanism
    t, x = segment.trajectory.t, segment.trajectory.x
    # all rows, not only those that are solved: the number then does not depend on which ones are. A drive is an
    # actuator, although it is solved as a closure
    loops = [row for row in program.moving if e.closure.joints[row] not in m.drives]
    columns = {"A": ca.densify(e.closure.A[loops, :])} if loops else {}
    driven = dict.fromkeys((motor.joint, motor.index) for motor in m.motors.values())
    driven |= dict.fromkeys((drive.joint, drive.index) for drive in m.drives.values())
    if driven:
        columns["act"] = ca.vertcat(*(e.measures.jacobian(m.joints[joint])[index, :] for joint, index in driven))
    if m.output is not None:
        J = e.motion.frame(m.output).J
        columns["out"] = ca.vertcat(J.ang, J.lin)
    if not columns:
        return {}
    got = evaluate(program, "conditioning", lambda: columns, t, x, run.p)
    out: dict[str, np.ndarray] = {}
    n = e.topology.nv
    motions = np.broadcast_to(np.eye(n), (len(t), n, n))
    if "A" in got:
        A = _scaled(got["A"], [e.closure.units[row] for row in loops])
        _, s, vt = np.linalg.svd(A)
        rank = program.rank if len(loops) == len(program.moving) else int((s > 1e-8 * s[:, :1]).sum(axis=1).max())
        out["closure_conditioning"] = s[:, rank - 1] / s[:, 0]
        motions = np.swapaxes(vt[:, rank:], 1, 2)
    if motions.shape[2] == 0:
        return out
    if "act" in got:
        s = np.linalg.svd(got["act"] @ motions, compute_uv=False)
        # fewer actuators than freedoms is not a singularity but a choice: the value is then over the actuators
        out["actuation_conditioning"] = s[:, -1]
    if "out" in got:
        s = np.linalg.svd(got["out"] @ motions, compute_uv=False)
        generic = int((s > 1e-8 * s[:, :1]).sum(axis=1).max())
        out["output_conditioning"] = s[:, generic - 1] / max(float(s.max()), 1e-300)
    return out


def _scaled(A: np.ndarray, units: list[str]) -> np.ndarray:
    """Rows of one unit over their common size, which does not depend on the directions of the axes."""
    out = A.copy()
    for unit in set(units):
        rows = [i for i, other in enumerate(units) if other == unit]
        size = np.sqrt((A[:, rows] ** 2).sum(axis=(1, 2), keepdims=True) / len(rows))
        out[:, rows] /= np.maximum(size, 1e-300)
    return out
