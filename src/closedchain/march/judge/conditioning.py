"""How far a pose is from singular ones, as numbers between 0 (singular) and 1.

With ``A`` the closure rows (scaled to unit length), ``N`` a basis of the motions they allow, ``J_act`` the actuated
joint velocities and ``J_out`` the twist of the output frame (Gosselin and Angeles 1990, IEEE Trans. Robotics and
Automation 6(3), 281-290; Zlatanov, Bonev and Gosselin 2002 for constraint singularities):

closure
    The smallest singular value of ``A`` that a generic pose has, over the largest. Zero: a constraint singularity, the
    mechanism gains a freedom.
actuation (type 2)
    Smallest singular value of ``J_act N``. Zero: something moves although all actuators are locked. Where there are
    fewer actuators than freedoms, which is a choice and no singularity, zero means that they hinder each other.
output (type 1)
    Of the singular values of ``J_out N``, the one that a generic pose has as its smallest, over the largest one of
    ``J_out``, which is what the joints could do without loops. Zero: the output cannot move in some direction, however
    the actuators move. Where the point alone has as many freedoms as the mechanism, it is the output, and ``J_out`` is
    its velocity: how the body turns then follows from where it is, and is no way out.

Each is a function of the pose. Ranks at generic poses are those at closed poses around the first one.

The theory is in ``docs/theory/checks.md``.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from closedchain.march.program.compiled import Compiled
from closedchain.pose.closing import Closing
from closedchain.pose.rank import REPEATED
from closedchain.pose.redundancy import spread
from closedchain.pose.size import drawn_length, velocity_sizes

KINDS = ("closure", "actuation", "output")


class Conditioning:
    """The conditioning numbers of a mechanism along a motion: call it with times and states."""

    def __init__(self, program: Compiled, p: np.ndarray) -> None:
        self.program, self.p = program, p
        e = program.equations
        m = e.topology.mechanism
        # all rows, not only those that are solved: the number then does not depend on which ones are. A drive is an
        # actuator, although it is solved as a closure
        self.loops = [row for row in program.moving if e.closure.joints[row] not in m.drives]
        self._output: tuple[slice, int] | None = None  # rows of the twist, and their rank
        self._independent: list[int] | None = None  # of the rows of the loops
        # angles and lengths compare by the size of the drawing: the numbers do not depend on the unit of length
        length = drawn_length(e, p)
        self._velocity_size = velocity_sizes(e, length)
        driven = [m.joints[joint].type.velocity_units[index] for joint, index in self._driven()]
        self._row_size = {
            "actuation": np.where(np.array(driven) == "m/s", length, 1.0),
            "output": np.repeat([1.0, length], 3),
        }

    def _driven(self) -> list[tuple[str, int]]:
        m = self.program.equations.topology.mechanism
        motors = [(motor.joint, motor.index) for motor in m.motors.values()]
        drives = [(drive.joint, drive.index) for drive in m.drives.values()]
        return list(dict.fromkeys(motors + drives))

    def __call__(self, t: np.ndarray, x: np.ndarray) -> dict[str, np.ndarray]:
        """Conditioning by kind, at many states; only the kinds that the mechanism has."""
        out: dict[str, np.ndarray] = {}
        got = self._jacobians(t, x, KINDS)
        motions = self._motions(got, out)
        if motions.shape[2] == 0:
            return out
        if "actuation" in got:
            out["actuation"] = np.linalg.svd(got["actuation"] @ motions, compute_uv=False)[:, -1]
        if "output" in got:
            rows, rank = self._generic_output(t[0], x[0])
            J = got["output"][:, rows]
            s, whole = (np.linalg.svd(matrix, compute_uv=False) for matrix in (J @ motions, J))
            out["output"] = np.minimum(s[:, rank - 1] / np.maximum(whole[:, 0], 1e-300), 1.0)
        return out

    def actuation(self, t: np.ndarray, x: np.ndarray) -> np.ndarray:
        """The conditioning of the actuation alone, at many states of a mechanism with actuators."""
        got = self._jacobians(t, x)
        return np.linalg.svd(got["actuation"] @ self._motions(got, {}), compute_uv=False)[:, -1]

    def free_motion(self, t: float, x: np.ndarray) -> np.ndarray:
        """The motion that all actuators together hold least, at a state; joint velocities, largest one 1."""
        got = self._jacobians(np.array([t]), x[None])
        N = self._motions(got, {})[0]
        motion = N @ np.linalg.svd(got["actuation"][0] @ N)[2][-1]
        motion *= self._velocity_size
        return motion / motion[int(np.argmax(np.abs(motion)))]

    def unheld(self, t: float, x: np.ndarray) -> str:
        """Words about a singular pose of the actuation, and the motion that is lost."""
        top = self.program.equations.topology
        motion = self.free_motion(t, x)
        largest = [i for i in np.argsort(-np.abs(motion).round(3), kind="stable")[:3] if abs(motion[i]) > 0.1]
        pose = ", ".join(f"{label}={value:.4g}" for label, value in list(zip(top.q_labels, x, strict=False))[:8])
        return (
            f" (type 2), at {pose}: with all actuators locked the mechanism still moves along "
            f"({', '.join(f'{top.v_labels[i]} {motion[i]:+.2f}' for i in largest)}); that direction is lost"
        )

    def determinants(self, t: np.ndarray, x: np.ndarray) -> np.ndarray | None:
        """Determinants of independent closure rows and actuated velocities together, at many states.

        None if there are no loops, or other than as many actuators as freedoms.
        """
        e, rank = self.program.equations, self.program.loops_rank
        if not self.loops or rank + len(self._driven()) != e.topology.nv or not len(t):
            return None
        got = self._jacobians(t, x)
        A = _scaled(got["closure"], [e.closure.units[row] for row in self.loops])
        if self._independent is None:
            solved = [i for i, row in enumerate(self.loops) if row in self.program.rows]
            self._independent = solved if len(solved) == rank else _pivoted(A[0], rank)
        return np.linalg.det(np.concatenate([A[:, self._independent], got["actuation"]], axis=1))

    def _generic_output(self, t: float, x: np.ndarray) -> tuple[slice, int]:
        """Which rows of its twist are the output, and their rank at generic poses: those around the first one."""
        if self._output is None:
            e = self.program.equations
            drives = e.topology.mechanism.drives
            loops = [row for row in self.program.active if e.closure.joints[row] not in drives]
            closing = Closing(e, self.p, time=t, rows=loops)
            rest = np.zeros(e.topology.nv)
            poses = np.array([self.program.pack(q, rest) for q in spread(closing, x[: e.topology.nq])])
            got = self._jacobians(np.full(len(poses), t), poses, KINDS)
            motions = self._motions(got, {})
            size = np.linalg.norm(got["output"], axis=(1, 2))[:, None]  # a point on a fixed axis moves by rounding

            def rank(rows: slice) -> int:
                s = np.linalg.svd(got["output"][:, rows] @ motions, compute_uv=False)
                return int((s > REPEATED * size).sum(axis=1).max())

            point, twist = slice(3, 6), slice(0, 6)
            rows = point if rank(point) == motions.shape[2] else twist
            self._output = rows, max(rank(rows), 1)  # an output that never moves: zero
        return self._output

    def _jacobians(
        self, t: np.ndarray, x: np.ndarray, kinds: tuple[str, ...] = ("closure", "actuation")
    ) -> dict[str, np.ndarray]:
        m = self.program.equations.topology.mechanism
        there = {"closure": bool(self.loops), "actuation": bool(self._driven()), "output": m.output is not None}
        kinds = tuple(kind for kind in kinds if there[kind])
        if not kinds:
            return {}
        got = self.program.evaluate(("conditioning", kinds), lambda: self._jacobian_columns(kinds), t, x, self.p)
        got = {name: J * self._velocity_size for name, J in got.items()}
        return {name: J / self._row_size[name][:, None] if name in self._row_size else J for name, J in got.items()}

    def _jacobian_columns(self, kinds: tuple[str, ...]) -> dict[str, ca.SX]:
        e = self.program.equations
        m = e.topology.mechanism
        columns = {}
        if "closure" in kinds:
            columns["closure"] = e.closure.A[self.loops, :]
        if "actuation" in kinds:
            rows = [e.measures.jacobian(m.joints[joint])[index, :] for joint, index in self._driven()]
            columns["actuation"] = ca.vertcat(*rows)
        if "output" in kinds:
            assert m.output is not None
            J = e.motion.frame(m.output).J
            columns["output"] = ca.vertcat(J.ang, J.lin)
        return columns

    def _motions(self, got: dict[str, np.ndarray], out: dict[str, np.ndarray]) -> np.ndarray:
        """What the closures allow, as columns for each state; their conditioning is noted in ``out``."""
        n = self.program.equations.topology.nv
        if "closure" not in got:
            count = len(next(iter(got.values()))) if got else 0
            return np.broadcast_to(np.eye(n), (count, n, n))
        units = self.program.equations.closure.units
        A = _scaled(got["closure"], [units[row] for row in self.loops])
        _, s, vt = np.linalg.svd(A)
        rank = self.program.loops_rank
        out["closure"] = s[:, rank - 1] / s[:, 0]
        return np.swapaxes(vt[:, rank:], 1, 2)


def _pivoted(A: np.ndarray, rank: int) -> list[int]:
    """Independent rows, the best ones first."""
    from scipy.linalg import qr

    return [int(i) for i in qr(A.T, mode="r", pivoting=True)[1][:rank]]


def _scaled(A: np.ndarray, units: list[str]) -> np.ndarray:
    """Rows of one unit over their common size, which does not depend on the directions of the axes."""
    out = A.copy()
    for unit in set(units):
        rows = [i for i, other in enumerate(units) if other == unit]
        size = np.sqrt((A[:, rows] ** 2).sum(axis=(1, 2), keepdims=True) / len(rows))
        out[:, rows] /= np.maximum(size, 1e-300)
    return out
