"""Modes of a mechanism whose motors stand still, as by brakes: what is left is elasticity.

With some coordinates held, the mechanism rests where ``L' (tau - h) = 0`` along all motions L that keep the loops
closed and the held coordinates where they are. About there, with the stiffness of `pose.tangent` at zero acceleration
(brakes exert no force along L),

    L' M L y'' + L' R_v L y' + L' R_q N L y = 0

A drive stands still, too. Where its coordinate is locked by name, the lock takes its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from closedchain.arguments import needs, suggest
from closedchain.derive.equations import Equations, derive
from closedchain.errors import ModelError
from closedchain.lock import locked
from closedchain.model.derived import cached
from closedchain.model.mechanism import Mechanism
from closedchain.pose.assemble import assemble
from closedchain.pose.closing import Closing, active_rows
from closedchain.pose.loads import load_sizes
from closedchain.pose.mobility import SHAPES_FIRST
from closedchain.pose.rank import ALIKE, cut_off, null_space, relative_tolerance
from closedchain.pose.redundancy import closure_jacobian
from closedchain.pose.size import drawn_length, velocity_sizes
from closedchain.pose.state import State, parameter_vector
from closedchain.pose.tangent import functions
from closedchain.results.vibration.linearisation import Linearisation, displacements

MOTORS = "motors"  # in place of a name: all coordinates that motors act on
SAGGED = 1e-12  # rad, or of the length: a step this short only improves rounding
SAGS = 20  # Newton steps


def linearise_locked(
    mechanism: Mechanism, state: State | None = None, locked: Sequence[str] | None = None, *, sag: bool = True
) -> Linearisation:
    """Linearise a mechanism about a pose with some coordinates locked.

    Parameters
    ----------
    mechanism
        With flexible bodies, or other springs.
    state
        The pose. None: ``mechanism.assemble()``.
    locked
        Names of coordinates. Default: all that motors act on. What drives prescribe is held in any case, where it is
        at the state.
    sag
        Whether the mechanism is first let sink, in all but the locked coordinates, to where it is in balance.

    Returns
    -------
    Linearisation
        Of what is still free; it has no inputs and outputs. Its state has sagged. Its note tells where more joints are
        locked than rigid links have freedoms: then it is flexible bodies that are clamped.

    Raises
    ------
    ModelError
        If there is no such coordinate, if those that are locked depend on each other, or if nothing is left to move.

    Examples
    --------
    >>> import closedchain as cc
    >>> linearise_locked(cc.library.flexible_arm()).independent
    ('beam.y1', 'beam.y2', 'beam.y3')
    """
    state = assemble(mechanism) if state is None else state
    needs("modes", state, State, "a state of this mechanism, from m.assemble(...)")
    state = state.of(mechanism, "modes needs a state of this mechanism; the given one")
    names = motor_coordinates(mechanism) if locked is None else list(locked)
    about = _Locked(state, names)
    q = about.sagged(state.q) if sag else state.q
    return about.linearised(q)


def motor_coordinates(mechanism: Mechanism) -> list[str]:
    """Names of the coordinates that motors act on."""
    pairs = dict.fromkeys((x.joint, x.index) for x in mechanism.motors.values())
    joints = mechanism.joints
    return [joints[name].labels()[k] for name, k in pairs if not joints[name].type.has_quaternion]


def locked_names(mechanism: Mechanism, locked: Sequence[str] | str) -> list[str]:
    """Names of coordinates to lock, one or several; ``"motors"`` stands for all that motors act on."""
    if not isinstance(locked, Iterable):
        raise ModelError(f"locked takes names of coordinates, for instance ['O', 'A'], or 'motors', not {locked!r}")
    names: list[str] = []
    for name in [locked] if isinstance(locked, str) else locked:
        names += _motors(mechanism) if name == MOTORS else [name]
    return list(dict.fromkeys(names))


def _motors(mechanism: Mechanism) -> list[str]:
    if not mechanism.motors and not mechanism.drives:
        raise ModelError(f"mechanism {mechanism.name!r} has no motor to lock: name the coordinates, locked=['O']")
    return motor_coordinates(mechanism)


def drives_of(mechanism: Mechanism, coordinates: Sequence[str]) -> tuple[str, ...]:
    """Names of the drives that prescribe some coordinates."""
    joints = mechanism.joints
    return tuple(name for name, x in mechanism.drives.items() if joints[x.joint].labels()[x.index] in set(coordinates))


@dataclass(frozen=True, eq=False)
class _Place:
    """A pose: feasible motions L, forces along them, and the matrices of small motions."""

    L: np.ndarray
    g: np.ndarray
    M: np.ndarray
    K: np.ndarray
    C: np.ndarray


class _Locked:
    def __init__(self, state: State, locked: Sequence[str]) -> None:
        self.state, self.locked = state, list(dict.fromkeys(locked))
        e = self.e = derive(state.mechanism)
        labels = e.topology.v_labels
        for name in locked:
            if name not in labels:
                cut = name in [x for joint in e.topology.cuts for x in joint.labels()]
                hint = "; it is that of a cut joint: draw it with cut=False" if cut else suggest(str(name), labels)
                raise ModelError(f"locked: no coordinate is named {name!r}{hint}")
        self.p = parameter_vector(state.mechanism, state.parameters)
        opened = tuple(dict.fromkeys([*state.open_joints, *drives_of(state.mechanism, self.locked)]))
        self.active = active_rows(e, opened)
        self.size = velocity_sizes(e, drawn_length(e, self.p))
        self.tolerance = relative_tolerance(e, self.p)
        coordinates = dict(zip(state.labels, state.q.tolist(), strict=True))
        self.closing = Closing(
            e,
            self.p,
            time=state.t,
            held={name: coordinates[name] for name in self.locked},
            guess=coordinates,
            rows=self.active,
            open_joints=opened,
        )
        self.held = [labels.index(name) for name in self.locked]
        self.free = [k for k in range(len(labels)) if k not in set(self.held)]
        self.shapes = [k for link in e.topology.links for k in range(link.shape_v.start, link.shape_v.stop)]

    def place(self, q: np.ndarray) -> _Place:
        terms, slopes = functions(self.e)
        n = self.e.topology.nv
        at_rest = (self.state.t, q, np.zeros(n), self.p)
        M, force, A, _, N = (np.array(x) for x in terms(*at_rest))
        L = self._feasible(q)
        lam = np.zeros(len(self.e.closure))
        if self.active:
            rows = A[np.ix_(self.active, self.free)]
            cut = cut_off(rows, closure_jacobian(self.closing, q)[:, self.free], self.tolerance)
            lam[self.active] = np.linalg.lstsq(rows.T, force[self.free, 0], rcond=cut)[0]
        R_q, R_v = (np.array(x) for x in slopes(*at_rest, np.zeros(n), lam)[:2])
        return _Place(L, L.T @ force[:, 0], L.T @ M @ L, L.T @ R_q @ N @ L, L.T @ R_v @ L)

    def _feasible(self, q: np.ndarray) -> np.ndarray:
        """Motions (n x f) that keep the loops closed and the held coordinates where they are."""
        null = self._closed(q, range(self.e.topology.nv))
        if not self.held:
            return null
        _, s, vt = np.linalg.svd(null[self.held])
        if len(s) < len(self.held) or s[-1] < ALIKE:  # of motions of length one: rounding may be all there is
            if len(self.locked) == 1:
                raise ModelError(f"locked: {self.locked[0]} cannot move at this pose: leave it out")
            raise ModelError(f"locked: {', '.join(self.locked)} depend on each other at this pose: lock fewer of them")
        return null @ vt[len(self.held) :].T

    def _closed(self, q: np.ndarray, columns: Sequence[int]) -> np.ndarray:
        """Motions of some velocities alone that keep the loops closed, orthonormal columns."""
        if not self.active:
            return np.eye(len(columns))
        moves = null_space(closure_jacobian(self.closing, q)[:, list(columns)], self.tolerance)
        return np.linalg.qr(self.size[list(columns), None] * moves)[0]

    def clamped(self, q: np.ndarray) -> str | None:
        """What to know where the locked joints are more than rigid links have freedoms."""
        joints = [k for k in range(self.e.topology.nv) if k not in set(self.shapes)]
        held = [i for i, k in enumerate(joints) if k in set(self.held)]
        if not held:
            return None
        moves = self._closed(q, joints)[held]
        free = int((np.linalg.svd(moves, compute_uv=False) > ALIKE).sum()) if moves.size else 0
        if free == len(held):
            return None
        return (
            f"{len(held)} joint coordinates are locked where rigid links leave {free} of them to choose "
            f"({', '.join(self.locked)}): the others clamp flexible bodies, whose shapes must be able to bend that way"
        )

    def sagged(self, q: np.ndarray) -> np.ndarray:
        """Newton's method to where the forces vanish; where it would not come to rest, the pose itself."""
        first, last = q, np.inf
        for _ in range(SAGS):
            at = self.place(q)
            if not np.linalg.eigvalsh((at.K + at.K.T) / 2).min(initial=np.inf) > 0:
                return first
            step = at.L @ np.linalg.solve(at.K, at.g)
            size = float(np.abs(step / self.closing.velocity_size).max(initial=0.0))
            if size < SAGGED or (size < 1e-9 and size > 0.5 * last):
                return q
            last = size
            q = self.closing.near(q, step)
            if not self.closing.closes(q):
                return first
        return first

    def linearised(self, q: np.ndarray) -> Linearisation:
        from scipy.linalg import qr

        e, at = self.e, self.place(q)
        f = at.L.shape[1]
        if not f:
            raise ModelError(f"locked: nothing of {self.state.mechanism.name!r} can move: lock fewer coordinates")
        # coordinates to name the motions by: shapes first, then those that move most
        weight = np.where(np.isin(np.arange(e.topology.nv), self.shapes), SHAPES_FIRST, 1.0) / self.size
        chosen = sorted(qr((weight[:, None] * at.L).T, mode="r", pivoting=True)[1][:f])
        T = np.linalg.inv(at.L[chosen])
        point = (self.state.t, q, np.zeros(e.topology.nv), self.p)
        M, K, C = (T.T @ x @ T for x in (at.M, at.K, at.C))
        A = np.zeros((2 * f, 2 * f))
        A[:f, f:] = np.eye(f)
        A[f:] = np.linalg.solve(M, np.hstack([-K, -C]))
        own = [part for link in e.topology.links for part in (link.joint, link.shape) if part is not None]
        names = [x for part in own for x in displacements(part)]
        return Linearisation.of(
            replace(self.state, q=q, v=np.zeros(e.topology.nv), a=None),
            A=A,
            B=np.zeros((2 * f, 0)),
            C=np.zeros((0, 2 * f)),
            D=np.zeros((0, 0)),
            states=[*(names[k] for k in chosen), *(f"{names[k]}'" for k in chosen)],
            inputs=[],
            outputs=[],
            rates=np.concatenate([np.zeros(f), np.linalg.solve(M, T.T @ at.g)]),
            values=np.zeros(0),
            inertia=M,
            loads=np.abs((at.L @ T).T) @ load_sizes(e, *point),
            joints=[x for part in e.topology.measured for x in displacements(part)],
            motions=_joint_jacobian(e, point) @ at.L @ T,
            at_rest=True,
            remark=self.clamped(q),
        )


@locked
def _joint_jacobian(e: Equations, point: tuple[float, np.ndarray, np.ndarray, np.ndarray]) -> np.ndarray:
    """Velocities of all joints and shapes, cut joints too, by v."""
    return np.array(_joint_rows(e)(*point))


@cached
def _joint_rows(e: Equations) -> ca.Function:
    rows = [e.measures.jacobian(part) for part in e.topology.measured]
    return e.function("joints", {"J": ca.vertcat(ca.SX(0, e.topology.nv), *rows)})
