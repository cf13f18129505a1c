"""Computed torque: efforts that give the actuated coordinates the accelerations a linear error law asks for.

J. Y. S. Luh, M. W. Walker and R. P. C. Paul, IEEE Transactions on Automatic Control 25 (1980) 468-474, on mechanisms
with loops. The actuated coordinates y have ``y' = B v`` and ``y'' = B a + b``. With

    alpha = r'' + kd (r' - y') + kp (r - y)                             what is asked for along the references r
    M a + h = tau - A' lam + B' u,   A a + gamma = 0,   B a + b = alpha

errors ``e = r - y`` obey ``e'' + kd e' + kp e = 0``. The efforts u are the closing forces of further closure rows: for
as many actuators as freedoms this is inverse dynamics, for fewer the passive freedoms move as they must (partial
feedback linearisation, collocated: M. W. Spong, IROS 1994, 314-321). Eliminating a and lam,

    K u = alpha - b - B a0,   K = B P B',   P = M^-1 - M^-1 A' (A M^-1 A')^-1 A M^-1

where a0 are the accelerations without u. ``M = L' D L`` and the elimination of the closures are those of
`close.multipliers`, and where the formulation does the same the native compiler computes them once.

With more actuators than freedoms K is singular: its null space are efforts that only strain the mechanism, and what
its range lacks are accelerations alpha that no motion has. The pseudo-inverse takes the smallest efforts (or the ones
next to a preload) and the nearest accelerations, also where some of the actuators alone would be in a singular pose.
It follows from ``K = G D G'``, G without the columns whose pivots vanish:

    K^+ = G (G' G)^-1 D^-1 (G' G)^-1 G'

Torques and forces compare by the size of the mechanism, as in `pose.inverse`.

Behind a series spring the law takes the shaft to move with the joint: what acts on the shaft, and the inertia there,
count at the joint, and the spring not at all. With ``M = m`` at the joint, J on the shaft, and a spring k with damper d
the errors of a joint then obey

    mu s^4 + d s^3 + (k + kd d) s^2 + (kd k + kp d) s + kp k = 0,   mu = m J / (m + J)

which for a stiff spring is the law, and an oscillation that decays if ``d > mu kd``.

Closures that repeat others leave ``A M^-1 A'`` singular; then pivots are watched (see `close.parts.elimination`). What
a user writes is `closedchain.results.efforts.computed_torque.ComputedTorque`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from closedchain.close.denoc import factor_limbs
from closedchain.close.parts.elimination import ClosureFactor, Column, TreeFactor
from closedchain.close.parts.manifold import split
from closedchain.close.parts.massless import fortify
from closedchain.derive.closure import Closure
from closedchain.derive.equations import Equations
from closedchain.derive.size import traced_length
from closedchain.lock import once
from closedchain.model.expressions.expression import Number
from closedchain.model.forces.actions import Actuator
from closedchain.model.forces.control import TracedLaw, laws_in
from closedchain.model.forces.sampled import sampled_inputs
from closedchain.model.mechanism import Mechanism

NOTHING = 1e-13  # smallest eigenvalue of an inertia matrix with unit diagonal that counts as zero
ROUNDING = 1e-16  # of all closure rows together: the least that a row's pivot is compared with
DEPENDENT = 1e-10  # a pivot of K this much smaller than its diagonal says that the actuator adds nothing


@dataclass(frozen=True)
class Mobility:
    """How a mechanism moves.

    Attributes
    ----------
    freedoms, moved
        How many freedoms it has beside the shafts of series springs, and how many the actuated coordinates move.
    parts
        What was drawn when this was found: with other joints it may be wrong.
    """

    freedoms: int
    moved: int
    parts: tuple[int, ...]


def parts(m: Mechanism) -> tuple[int, ...]:
    """What the mobility of a mechanism depends on."""
    return len(m.joints) - len(shafts(m)), len(m.couplings), len(m.drives)


def shafts(m: Mechanism) -> list[Actuator]:
    """Actuators that have a shaft of their own, behind a spring."""
    return [x for x in m.actuators.values() if x.output != (x.joint, x.index)]


@dataclass(frozen=True, eq=False)
class TorqueLaw(TracedLaw):
    """A computed-torque law bound to a mechanism, as its equations meet it.

    Attributes
    ----------
    coordinates
        Joint and number of each actuated coordinate.
    labels
        Their names in results.
    commands
        Accelerations that they are to have, as expressions.
    mobility
        Freedoms of the mechanism, and how many of them these coordinates move, where that was found.
    believed
        Parameters that the law takes to have other values.
    weights, preload
        How efforts are shared among more actuators than freedoms; None for all equal, and for none.
    """

    coordinates: tuple[tuple[str, int], ...]
    labels: tuple[str, ...]
    commands: tuple[Number, ...]
    mobility: Mobility | None
    believed: Mapping[str, Number]
    weights: tuple[Number, ...] | None
    preload: tuple[Number, ...] | None

    counts_on_closures: ClassVar[bool] = True

    @once
    def unknown(self) -> ca.SX:
        """Symbols that stand for the efforts until they are traced."""
        return ca.SX.sym("u", len(self.coordinates))

    def trace(self, equations: Equations, commands: Mapping[TracedLaw, ca.SX]) -> ca.SX:
        """The efforts, in the equations without any law's efforts; ``commands`` are those of all laws.

        All computed torques act together: each law counts on the others to do what they are told.
        """
        laws = [law for law in commands if isinstance(law, TorqueLaw)]
        e = _without_series_springs(equations, laws)
        actuated = [x for law in laws for x in law.coordinates]
        B, b = actuated_rows(e, actuated)
        alpha = ca.SX.sym("alpha", B.shape[0])
        K, lack = _felt(e, B, alpha - b, self._independent(e))
        if len(laws) == 1 and self._exact(e):
            u = _solve(K, lack)
        else:
            weights = _numbers(e, [(law.weights, law.coordinates) for law in laws], 1.0)
            preload = _numbers(e, [(law.preload, law.coordinates) for law in laws], 0.0)
            sizes = _effort_sizes(e, actuated)
            if sizes is not None:
                weights = (1 if weights is None else weights) / sizes**2
            u = _share(K, lack, weights, preload)

        # the law's own idea of the mechanism; what it is told stays as it is
        names = list(e.topology.mechanism.parameters)
        if self.believed:
            places = [names.index(name) for name in self.believed]
            values = ca.vertcat(*(e.limbs.number(x) for x in self.believed.values()))
            u = ca.substitute(u, e.limbs.p[places], values)
        u = ca.substitute(u, alpha, ca.vertcat(*(commands[law] for law in laws)))
        first = sum(len(law.coordinates) for law in laws[: laws.index(self)])
        return u[first : first + len(self.coordinates)]

    def _known(self, e: Equations) -> Mobility | None:
        """The mobility, unless the drawing has changed since it was found."""
        found = self.mobility
        return found if found is not None and found.parts == parts(e.topology.mechanism) else None

    def _independent(self, e: Equations) -> bool:
        """Whether the closures are known not to repeat each other, however the mechanism is cut."""
        found = self._known(e)
        freedoms = e.topology.nv - len(e.closure) - len(shafts(e.topology.mechanism))
        return found is not None and freedoms == found.freedoms

    def _exact(self, e: Equations) -> bool:
        """Whether each actuator is known to move something that the others do not."""
        found = self._known(e)
        return found is not None and found.moved == len(self.coordinates)

    def __repr__(self) -> str:
        return f"computed torque of {', '.join(self.labels)}"


def _without_series_springs(e: Equations, laws: Sequence[TorqueLaw]) -> Equations:
    """The equations with shafts that turn with their joints, where laws act through series springs."""
    m, driven = e.topology.mechanism, {x for law in laws for x in law.coordinates}
    behind = [x for x in shafts(m) if x.output in driven and not set(laws).isdisjoint(_followed(m, x))]
    if not behind:
        return e
    tau = ca.densify(e.without(tuple(f"{x.name}.{part}" for x in behind for part in ("spring", "damper"))).tau)
    M, h, total = e.M, e.h, tau
    for actuator in behind:
        # the shaft has no mass: what its rotor adds to its own velocity is all that there is
        shaft = e.topology.tree_joints[actuator.joint].v.start
        row, bias = e.measures.velocity_row(*actuator.output)
        inertia = e.M[shaft, shaft]
        M = ca.sparsify(M + row.T @ (inertia * row))
        h = h + row.T * (inertia * bias)
        total = total + row.T * tau[shaft]
    return replace(e, M=M, h=ca.densify(h), tau=ca.densify(total), by_limbs=False)


def _followed(m: Mechanism, actuator: Actuator) -> list[TracedLaw]:
    """The laws that an actuator carries out."""
    return laws_in([m.motors[actuator.name].effort]) if actuator.name in m.motors else []


class WatchedFactor(ClosureFactor):
    """Closures that may repeat each other, without anybody having told which ones do."""

    def __init__(self, factor: TreeFactor, closure: Closure) -> None:
        super().__init__(factor, closure, range(len(closure)), guarded=True)

    def _scales(self, closure: Closure, rows: Sequence[int]) -> list[ca.SX]:
        """What pivots are compared with; rows that are nothing but rounding compare with all the others."""
        scales = super()._scales(closure, rows)
        least = ROUNDING * sum(scales, ca.SX(0))
        return [scale + least for scale in scales]


def actuated_rows(e: Equations, coordinates: Sequence[tuple[str, int]]) -> tuple[ca.SX, ca.SX]:
    """``B, b`` of the actuated coordinates."""
    rows = [e.measures.velocity_row(joint, index) for joint, index in coordinates]
    return ca.vertcat(*(J for J, _ in rows)), ca.densify(ca.vertcat(*(bias for _, bias in rows)))


def _felt(e: Equations, B: ca.SX, wanted: ca.SX, independent: bool) -> tuple[ca.SX, ca.SX]:
    """``K``, and ``wanted - B a0``: how efforts accelerate their own coordinates, and which accelerations they lack."""
    if not _has_inertia(e):
        e = fortify(e, range(len(e.closure)))
    tree = factor_limbs(e)
    rows = range(len(e.closure))
    cuts = ClosureFactor(tree, e.closure, rows) if independent else WatchedFactor(tree, e.closure)

    free = tree.half(dict(enumerate(ca.vertsplit(e.tau - e.h))))
    held_back = cuts.forward(split(e.closure.gamma), free)
    acting = [tree.half(_column(B[i, :])) for i in range(B.shape[0])]
    reached = [cuts.forward(None, y) for y in acting]

    def through(i: int, other: Column, rest: Sequence[ca.SX | None]) -> ca.SX:
        value = tree.product(acting[i], other)
        value = ca.SX(0) if value is None else value
        for x, d_inv, y in zip(reached[i], cuts.d_inv, rest, strict=True):
            if x is not None and y is not None:
                value = value - x * d_inv * y
        return value

    K = ca.SX(B.shape[0], B.shape[0])
    for i in range(K.shape[0]):
        for j in range(i + 1):
            K[i, j] = K[j, i] = through(i, acting[j], reached[j])
    return K, wanted - ca.vertcat(*(through(i, free, held_back) for i in range(K.shape[0])))


def _solve(K: ca.SX, b: ca.SX) -> ca.SX:
    """``K^-1 b`` of a symmetric positive definite matrix."""
    G, d_inv, _ = _factor(K)
    y = _down(G, split(b))
    return ca.vertcat(*_up(G, [x * d for x, d in zip(y, d_inv, strict=True)]))


def _share(K: ca.SX, b: ca.SX, weights: ca.SX | None, preload: ca.SX | None) -> ca.SX:
    """``u`` with ``K u = b`` as far as there is one, and the least ``sum weights (u - preload)^2``."""
    root = None if weights is None else 1 / ca.sqrt(weights)
    scaled = K if root is None else K * (root @ root.T)
    if preload is not None:
        b = b - K @ preload
    if root is not None:
        b = b * root
    G, d_inv, counts = _factor(scaled, watched=True)
    n = G.shape[0]
    for j in range(n):
        G[:, j] = G[:, j] * counts[j]
    square = ca.densify(G.T @ G)
    for j in range(n):
        square[j, j] += 1 - counts[j]
    u = _solve(square, G.T @ b)
    u = G @ _solve(square, u * ca.vertcat(*d_inv))
    if root is not None:
        u = u * root
    return u if preload is None else u + preload


def _factor(K: ca.SX, watched: bool = False) -> tuple[ca.SX, list[ca.SX], list[ca.SX]]:
    """``K = G D G'``, G with unit diagonal: G, the inverses of D, and which pivots count, if they are watched."""
    n = K.shape[0]
    G, d_inv = ca.SX.eye(n), []
    counts = [ca.SX(1)] * n
    least = ROUNDING * ca.trace(K)
    rest = ca.SX(K)
    for j in range(n):
        inverse = 1 / rest[j, j]
        if watched:
            counts[j] = rest[j, j] > DEPENDENT * (K[j, j] + least)
            inverse = ca.if_else(counts[j], inverse, 0)
        d_inv.append(inverse)
        for i in range(j + 1, n):
            G[i, j] = rest[i, j] * inverse
        for i in range(j + 1, n):
            for k in range(j + 1, i + 1):
                rest[i, k] = rest[k, i] = rest[i, k] - G[i, j] * rest[k, j]
    return G, d_inv, counts


def _down(G: ca.SX, b: Sequence[ca.SX]) -> list[ca.SX]:
    """``G^-1 b``."""
    out: list[ca.SX] = []
    for i, x in enumerate(b):
        out.append(x - sum((G[i, k] * out[k] for k in range(i)), ca.SX(0)))
    return out


def _up(G: ca.SX, b: Sequence[ca.SX]) -> list[ca.SX]:
    """``G'^-1 b``."""
    out = list(b)
    for i in reversed(range(len(out))):
        out[i] = out[i] - sum((G[k, i] * out[k] for k in range(i + 1, len(out))), ca.SX(0))
    return out


def _numbers(e: Equations, groups: Sequence[tuple[Any, Sequence[Any]]], default: float) -> ca.SX | None:
    """Numbers of all laws, one for each coordinate; None if no law has any."""
    if all(values is None for values, _ in groups):
        return None
    return ca.vertcat(
        *(e.limbs.number(x) for values, like in groups for x in ([default] * len(like) if values is None else values))
    )


def _effort_sizes(e: Equations, coordinates: Sequence[tuple[str, int]]) -> ca.SX | None:
    """By which efforts compare: a length for a torque, one for a force; None if all are of one kind.

    The length is that of the drawing.
    """
    joints = e.topology.mechanism.joints
    turns = [joints[joint].type.velocity_units[index] == "rad/s" for joint, index in coordinates]
    if len(set(turns)) < 2:
        return None
    length = traced_length(e)
    return ca.vertcat(*(length if turn else ca.SX(1) for turn in turns))


def _has_inertia(e: Equations) -> bool:
    """Whether the open limbs have inertia of their own, seen at a pose without meaning."""
    m = e.topology.mechanism
    pose, rest = np.random.default_rng(0).normal(size=e.topology.nq), np.zeros(e.topology.nv)
    M = np.array(
        e.function("inertia", {"M": e.M})(0.0, pose, rest, [*m.parameters.values(), *sampled_inputs(m).initial])
    )
    if not np.isfinite(M).all():
        return True
    size = np.sqrt(np.maximum(np.diag(M), 1e-14 * np.diag(M).max()))
    return bool(np.linalg.eigvalsh(M / np.outer(size, size))[0] > NOTHING)


def _column(row: ca.SX) -> Column:
    return {k: ca.SX(row[0, k]) for k in range(row.shape[1]) if row[0, k].nnz()}
