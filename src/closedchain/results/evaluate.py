"""Numbers at the samples of a run: multipliers, accelerations, closure, energies, frames, closing forces."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from closedchain.errors import ModelError
from closedchain.march.judge.gaps import fixed_rows
from closedchain.march.program.compiled import Compiled
from closedchain.march.segment import Segment
from closedchain.model.mechanism import Mechanism
from closedchain.model.parts import Frame
from closedchain.results.solution import Pose


def outputs(segments: Sequence[Segment]) -> dict[str, np.ndarray]:
    """All standard results at the samples of a run, each (time, size).

    ``lam`` has a column for every closure row; rows that are redundant or open have no force.
    """
    pieces = [_outputs(s.program, s.trajectory.t, s.trajectory.x, s.p) for s in segments]
    out = pieces[0]
    if len(pieces) > 1:
        out = {name: np.concatenate([piece[name] for piece in pieces]) for name in out}
    continue_quaternions(segments[0].program, out["q"])
    return out


def continue_quaternions(program: Compiled, q: np.ndarray) -> None:
    """A cut joint's quaternion is known up to its sign: over time the one that is nearer to the last, in place."""
    topology = program.equations.topology
    column = 0
    for joint in topology.measured:
        if joint.type.has_quaternion and joint.name not in topology.tree_joints and len(q):
            four = q[:, column : column + joint.type.nq][:, -4:]
            turned = np.sum(four[1:] * four[:-1], axis=1) < 0
            four *= np.where(np.concatenate([[0], np.cumsum(turned)]) % 2, -1.0, 1.0)[:, None]
        column += joint.type.nq


def _outputs(program: Compiled, t: np.ndarray, x: np.ndarray, p: np.ndarray) -> dict[str, np.ndarray]:
    return {k: v[:, :, 0] for k, v in program.evaluate("outputs", lambda: output_columns(program), t, x, p).items()}


def output_columns(program: Compiled) -> dict[str, ca.SX]:
    """The expressions of all standard results, of ``t, q, v, p``."""
    e, closed = program.equations, program.closed
    joints = e.topology.measured
    lam = ca.SX.zeros(len(e.closure), 1)
    for k, row in enumerate(program.rows):
        lam[row] = closed.lam[k]
    active = ca.DM([float(row in set(program.active)) for row in range(len(e.closure))])
    closed_rows = fixed_rows(program)
    fixed = [(row.value, row in closed_rows) for row in e.closure.fixed]
    columns = {
        "q": ca.vertcat(ca.SX(0, 1), *(e.measures.coordinates(j) for j in joints)),
        "v": ca.vertcat(ca.SX(0, 1), *(e.measures.velocities(j) for j in joints)),
        "a": closed.a,
        "lam": lam,
        "c": active * e.closure.c,
        "c_dot": active * (e.closure.A @ e.limbs.v + e.closure.c_t),
        "fixed": ca.vertcat(ca.SX(0, 1), *(value if closed else ca.SX(0) for value, closed in fixed)),
        "kinetic": e.energies.kinetic,
        "potential": e.energies.potential + closed.stored,
        "power": closed.dx[-1],
        "work": closed.x[-1],
    }
    return columns | {f"effort {name}": effort for name, effort in e.applied.efforts.items()}


def frame_motion(mechanism: Mechanism, segments: Sequence[Segment], frame: Frame) -> Pose:
    """Pose and velocity of a frame over time, in world axes."""
    e = segments[0].program.equations
    if frame.body.mechanism is not mechanism:
        raise ModelError(
            f"frame {frame.body.name}.{frame.name} belongs to another mechanism, {frame.body.mechanism.name!r}"
        )
    if frame.body.name not in e.topology.link_of:
        raise ModelError(f"body {frame.body.name!r} was drawn after the run: simulate again to follow it")
    try:
        motion = e.motion.frame(frame)
    except RuntimeError:  # its numbers are parameters that the run does not have
        raise ModelError(
            f"frame {frame.body.name}.{frame.name} was drawn after the run: simulate again, or use body.at(x, y, z)"
        ) from None
    columns = {
        "position": motion.X.r,
        "rotation": motion.X.R,
        "velocity": motion.velocity.lin,
        "angular": motion.velocity.ang,
    }
    pieces = [s.program.evaluate(frame, lambda: columns, s.trajectory.t, s.trajectory.x, s.p) for s in segments]
    r, R, v, w = (np.concatenate([piece[name] for piece in pieces]) for name in columns)
    return r[:, :, 0], R, v[:, :, 0], w[:, :, 0]


def closing_forces(segments: Sequence[Segment]) -> np.ndarray:
    """``A' lam`` at the samples, (time, velocities)."""
    return np.concatenate([_closing_forces(s.program, s.trajectory.t, s.trajectory.x, s.p) for s in segments])


def _closing_forces(program: Compiled, t: np.ndarray, x: np.ndarray, p: np.ndarray) -> np.ndarray:
    e = program.equations
    if not program.rows:
        return np.zeros((len(t), e.topology.nv))
    forces = program.evaluate(
        "closing forces", lambda: {"g": e.closure.A[list(program.rows), :].T @ program.closed.lam}, t, x, p
    )
    return forces["g"][:, :, 0]
