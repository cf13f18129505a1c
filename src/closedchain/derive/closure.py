"""The equations that close a cut joint: its relative pose projected on what the joint locks (`Phi_c`).

Each cut joint of any kind gives its own rows ``c``, with ``c' = A v`` and ``c'' = A a + gamma``. Lengths are measured
in metres along fixed directions, or along the axes of the first frame for slides; angles as ``2 tan(angle / 2)``: equal
to the angle when small, growing without bound towards half a turn, so that no search ends at a joint put together the
wrong way round. A screw multiplies this by its advance per radian. The row of a universal joint is ``x_P . y_S``, the
cosine of the angle between its axes. The sign is that of P as seen from S, so that ``lam`` is the force of the joint's
first body on its second: as if a spring pulled S towards P.

Rows that can never change (in a planar loop drawn in space, for instance) are recognised by their empty Jacobian; they
are kept apart in ``fixed``, because a loop closes only if their values are zero.

The theory is in ``docs/theory/closures.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca

from closedchain.derive.kinematics import Kinematics
from closedchain.derive.limbs import Limbs
from closedchain.derive.lower import lower
from closedchain.derive.measure import JointMeasures
from closedchain.derive.relative import Pair
from closedchain.model.joints.types import AXES, Lock, Quantity

# each row of a closure by name: what it measures (for messages), and the quantity that must vanish


def _point(R_P: ca.SX, R_S: ca.SX, d: ca.SX, pitch: ca.SX) -> ca.SX:
    return -d  # all three directions are locked, so the root's axes do as well as any


def _along(axis: int) -> Quantity:
    return lambda R_P, R_S, d, pitch: -(R_P[:, axis].T @ d)


def _along_second(axis: int) -> Quantity:
    return lambda R_P, R_S, d, pitch: -(R_S[:, axis].T @ d)


def _align(axis: int) -> Quantity:
    i, j = (axis + 1) % 3, (axis + 2) % 3

    def tilt(R_P: ca.SX, R_S: ca.SX, d: ca.SX, pitch: ca.SX) -> ca.SX:
        z = R_P.T @ R_S[:, axis]  # the axis of S seen from P, projected from the point opposite
        return 2 * ca.vertcat(z[j], -z[i]) / (1 + z[axis])  # the rotation about i and j that brings S back to P

    return tilt


def _rotation(R_P: ca.SX, R_S: ca.SX, d: ca.SX, pitch: ca.SX) -> ca.SX:
    Q = R_P.T @ R_S
    return 2 * ca.vertcat(Q[1, 2] - Q[2, 1], Q[2, 0] - Q[0, 2], Q[0, 1] - Q[1, 0]) / (1 + ca.trace(Q))


def _hooke(first: int, second: int) -> Quantity:
    # falls as S turns about x_P x y_S: the multiplier is the moment about that
    return lambda R_P, R_S, d, pitch: R_P[:, first].T @ R_S[:, second]


def _screw(R_P: ca.SX, R_S: ca.SX, d: ca.SX, pitch: ca.SX) -> ca.SX:
    turned = R_P[:, 2].T @ d / pitch  # the angle that belongs to the advance; whole turns do not matter
    c, s = R_P[:, 0].T @ R_S[:, 0], R_P[:, 1].T @ R_S[:, 0]
    lag_s, lag_c = s * ca.cos(turned) - c * ca.sin(turned), c * ca.cos(turned) + s * ca.sin(turned)
    return 2 * pitch * lag_s / (1 + lag_c)  # falls as S moves along the axis: the multiplier is the force along it


# rows of one direction in the axes of P (t) and of S (s), of an axis that is kept, and of two axes that stay square
ROWS: dict[str, Lock] = {
    "point": Lock(("x", "y", "z"), ("m",) * 3, _point),
    **{f"t{x}": Lock((x,), ("m",), _along(i)) for i, x in enumerate(AXES)},
    **{f"s{x}": Lock((x,), ("m",), _along_second(i)) for i, x in enumerate(AXES)},
    "align x": Lock(("tilt y", "tilt z"), ("rad",) * 2, _align(0)),
    "align y": Lock(("tilt z", "tilt x"), ("rad",) * 2, _align(1)),
    "align": Lock(("tilt x", "tilt y"), ("rad",) * 2, _align(2)),
    "rotation": Lock(("turn x", "turn y", "turn z"), ("rad",) * 3, _rotation),
    "hooke": Lock(("square",), ("1",), _hooke(0, 1)),
    **{
        f"hooke {x} {y}": Lock(("square",), ("1",), _hooke(i, j))
        for i, x in enumerate(AXES)
        for j, y in enumerate(AXES)
        if i != j
    },
    "screw": Lock(("advance",), ("m",), _screw),
}


def lock(row: str | Lock) -> Lock:
    """Rows of a joint by their name, or as the joint gives them."""
    return ROWS[row] if isinstance(row, str) else row


class FixedRow(NamedTuple):
    """A row of a cut joint that no motion changes."""

    joint: str
    label: str
    unit: str
    value: ca.SX


@dataclass(frozen=True, eq=False)
class Closure:
    """All closure equations of a mechanism: ``c = 0``, ``c' = A v + c_t``, ``c'' = A a + gamma``.

    ``c_t`` is the partial derivative by time: zero but for prescribed motions.

    ``joints`` and ``labels`` name each row; ``fixed`` holds the rows that no motion changes.
    ``sides`` gives each row as coefficients (1 x 6) on the twists of the links it acts on, where that is known; the
    twist Jacobian of a link is ``twist(link)``.
    """

    c: ca.SX
    A: ca.SX
    gamma: ca.SX
    c_t: ca.SX
    joints: tuple[str, ...]
    labels: tuple[str, ...]
    units: tuple[str, ...]
    fixed: tuple[FixedRow, ...]
    sides: tuple[dict[int, ca.SX], ...]
    twist: Callable[[int], ca.SX]

    def __len__(self) -> int:
        return len(self.joints)


def close_cuts(limbs: Limbs, ground: Kinematics, pairs: dict[str, Pair], measures: JointMeasures) -> Closure:
    """Trace the closure rows of all cut joints, couplings and prescribed motions."""
    c: list[ca.SX] = []
    A = [ca.SX(0, limbs.topology.nv)]
    gamma: list[ca.SX] = []
    c_t: list[ca.SX] = []
    names: list[tuple[str, str, str]] = []
    fixed: list[FixedRow] = []
    sides: list[dict[int, ca.SX]] = []
    for joint in limbs.topology.cuts:
        for kind in joint.type.closure:
            rows = pairs[joint.name].rows(lock(kind).quantity)
            for i, (label, unit) in enumerate(zip(lock(kind).labels, lock(kind).units, strict=True)):
                if rows.J[i, :].nnz() == 0:
                    fixed.append(FixedRow(joint.name, label, unit, rows.value[i]))
                    continue
                c.append(rows.value[i])
                A.append(rows.J[i, :])
                gamma.append(rows.bias[i])
                c_t.append(ca.SX(0))
                names.append((joint.name, label, unit))
                sides.append({link: C[i, :] for link, C in rows.sides.items()})
    for name, unit, row in [*_couplings(measures), *_drives(measures)]:
        c.append(row.c)
        A.append(row.A)
        gamma.append(row.gamma)
        c_t.append(row.c_t)
        names.append((name, "value", unit))
        sides.append({})
    joints, labels, units = zip(*names, strict=True) if names else ((), (), ())
    return Closure(
        c=ca.vertcat(ca.SX(0, 1), *c),
        A=ca.vertcat(*A),
        gamma=ca.vertcat(ca.SX(0, 1), *gamma),
        c_t=ca.vertcat(ca.SX(0, 1), *c_t),
        joints=joints,
        labels=labels,
        units=units,
        fixed=tuple(fixed),
        sides=tuple(sides),
        twist=ground.link_jacobian,
    )


class _Row(NamedTuple):
    c: ca.SX
    A: ca.SX
    gamma: ca.SX
    c_t: ca.SX


def _couplings(measures: JointMeasures) -> list[tuple[str, str, _Row]]:
    """``ratio driver + offset - driven = 0``: the multiplier is the effort on the driven coordinate."""
    limbs, out = measures.limbs, []
    for gear in limbs.topology.mechanism.couplings.values():
        driven, driver = (measures.scalar(joint, index) for joint, index in (gear.driven, gear.driver))
        ratio = limbs.number(gear.ratio)
        c = ratio * driver.value + limbs.number(gear.offset) - driven.value
        row = _Row(c, ca.sparsify(ratio * driver.J - driven.J), ratio * driver.bias - driven.bias, ca.SX(0))
        joint, index = gear.driven
        out.append((gear.name, limbs.topology.mechanism.joints[joint].type.coordinate_units[index], row))
    return out


def _drives(measures: JointMeasures) -> list[tuple[str, str, _Row]]:
    """``f(t) - q = 0``: the multiplier is the effort of the drive."""
    limbs, out = measures.limbs, []
    for drive in limbs.topology.mechanism.drives.values():
        joint = limbs.topology.mechanism.joints[drive.joint]
        q = measures.scalar(drive.joint, drive.index)
        f = lower(drive.position, lambda leaf: limbs.t if leaf.op == "time" else limbs._parameter(leaf), limbs.held)
        f_t = ca.jtimes(f, limbs.t, ca.SX(1))
        f_tt = ca.jtimes(f_t, limbs.t, ca.SX(1))
        out.append((drive.name, joint.type.coordinate_units[drive.index], _Row(f - q.value, -q.J, f_tt - q.bias, f_t)))
    return out


def pair_up(limbs: Limbs, ground: Kinematics) -> dict[str, Pair]:
    """The two sides of every cut joint."""
    known = {-1: ground}
    return {joint.name: Pair(limbs, joint, known) for joint in limbs.topology.cuts}
