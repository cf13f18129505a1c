"""Joints: their motion space, the rows that close them, what is measured of them, and their energy, cut and not cut."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import casadi as ca
import numpy as np

from closedchain.derive.erls.joints import joint_pose, motion_space
from closedchain.derive.measure import quaternion
from closedchain.errors import ModelError
from closedchain.model.bodies.shapes import box, rod
from closedchain.model.joints.types import JointType
from closedchain.model.mechanism import Mechanism
from closedchain.testing.measured import Measured
from closedchain.testing.terms import (
    Terms,
    closure_bias,
    closure_rates,
    difference,
    energy_rate,
    rate_is_power,
    skew,
    twists,
    unskew,
)

STATES = 3
EXACT = 1e-12  # derivatives by CasADi: exact to rounding
DIFFERENCES = 1e-7  # of sixth order, of functions that measure angles


def check_joint(kind: JointType, *, pitch: float = 0.3, seed: int = 0) -> Measured:
    """Check a kind of joint on two bodies that it connects, at random states.

    In a tree, drawn either way round: velocities are rates of poses, also for finite elements (`ERLS`), and energy
    changes by the power. Cut, in the same pose: as many rows as the joint locks directions, closed, independent, with
    the right derivatives; measured coordinates, velocities and accelerations as in the tree.

    Parameters
    ----------
    kind
        From `joint_type`.
    pitch
        Advance per turn, m, of a joint that has one.
    seed
        Of the random numbers.

    Returns
    -------
    Measured
        The largest differences.

    Examples
    --------
    >>> from closedchain.model.joints.types import joint_type
    >>> from closedchain.testing import check_joint
    >>> slot = joint_type("slot", "Tx:0 Rz:1", "slide angle", symbol="L")
    >>> found = check_joint(slot)
    >>> found["rates of poses"] < 1e-12, found["accelerations of the cut joint"] < 1e-9
    (True, True)
    """
    if not isinstance(kind, JointType):
        raise ModelError(f"check_joint needs a JointType, as joint_type(...) makes it, not {kind!r}")
    found, rng = Measured(), np.random.default_rng(seed)
    for backwards in (False, True):
        tree = Terms(_drawn(kind, pitch, backwards, cut=False))
        cut = Terms(_drawn(kind, pitch, backwards, cut=True)) if kind.closure else None
        for q, v in _states(tree, kind, rng):
            _check_tree(tree, q, v, found)
            if cut is not None:
                _check_erls(tree, q, v, found)
                _check_cut(cut, tree, q, v, found)
    return found


def _drawn(kind: JointType, pitch: float, backwards: bool, cut: bool) -> Mechanism:
    """Two bodies and the joint between them; the first one turns about an axis of the ground."""
    m = Mechanism(f"check of {kind.name}", gravity=(1.0, -2.0, -9.0))
    carrier, part = m.body("carrier", rod(0.5, 1.0, radius=0.05)), m.body("part", box((0.3, 0.2, 0.1), 0.7))
    m.revolute("carrying", m.ground, carrier, axis=(0.3, 1.0, 0.2))
    sides = [carrier.at(0.4, 0.1, -0.2, rpy=(0.2, -0.4, 0.3)), part.at(-0.1, 0.2, 0.05, rpy=(0.5, 0.1, -0.2))]
    if cut:
        m.free("floating", m.ground, part)
    options: dict[str, Any] = {"pitch": pitch} if kind.has_pitch else {}
    m.joint(kind, "joint", *(sides[::-1] if backwards else sides), cut=True if cut else None, **options)
    for i in range(kind.nv):
        m.joint_damper("joint", 0.3 + 0.1 * i, coordinate=i, name=f"damper {i}")
        if not kind.has_quaternion:
            m.joint_spring("joint", 2.0 + i, rest=0.1, coordinate=i, name=f"spring {i}")
    m.force("push", part, (1.0, -2.0, 0.5), moment=(0.3, 0.1, -0.2))
    return m


def _states(c: Terms, kind: JointType, rng: np.random.Generator) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """States of the tree: angles well within a quarter of a turn, quaternions of length one."""
    for _ in range(STATES):
        q = rng.uniform(-0.9, 0.9, c.topology.nq)
        if kind.has_quaternion:
            four = c.topology.own["joint"][0]
            at = slice(four.stop - 4, four.stop)
            q[at] /= np.linalg.norm(q[at])
        yield q, rng.normal(size=c.topology.nv)


def _check_tree(c: Terms, q: np.ndarray, v: np.ndarray, found: Measured) -> None:
    for mine, wanted in twists(c, q, v):
        found.error("rates of poses", mine, wanted, EXACT)
    e = c.equations
    frame = c.mechanism.bodies["part"]["com"]
    moving = e.motion.frame(frame)
    qdot = c.numbers(q, v)["qdot"]

    def velocity(s: float) -> np.ndarray:
        w, lin = c.evaluate([moving.velocity.ang, moving.velocity.lin], q + s * qdot, v)
        return np.concatenate([w, lin])[:, 0]

    w, lin = c.evaluate(list(moving.bias.rigid), q, v)
    falling = np.concatenate([np.zeros(3), [1.0, -2.0, -9.0]])  # the root falls upwards: gravity is in every bias
    found.error("bias accelerations", np.concatenate([w, lin])[:, 0] + falling, difference(velocity, 1e-3), DIFFERENCES)
    got = c.numbers(q, v)
    a = np.linalg.solve(got["M"], got["tau"] - got["h"])
    size = 1 + np.abs(got["h"]).max() + np.abs(got["tau"]).max()
    found.error("energy", energy_rate(c, q, v, a) / size, got["power"][0] / size, 1e-10)


def _check_erls(c: Terms, q: np.ndarray, v: np.ndarray, found: Measured) -> None:
    """The motion space that finite elements use, on the side of the second frame: that of the pose across the joint."""
    e, joint = c.equations, c.mechanism.joints["joint"]
    X = joint_pose(e, joint)
    Phi, L = motion_space(e, joint, True)
    rate = [ca.jtimes(ca.densify(x), e.limbs.q, e.qdot) for x in (X.R, X.r)]
    v_j = e.measures.velocities(joint)
    asked = [X.R, Phi.ang @ v_j, Phi.lin @ v_j, *rate, L @ ca.vertcat(Phi.ang, Phi.lin)]
    R, w, lin, R_dot, r_dot, one = c.evaluate([ca.densify(x) for x in asked], q, v)
    found.error("motion space in ERLS", np.concatenate([w, lin])[:, 0], _twist(R, R_dot, r_dot), EXACT)
    found.error("freedoms told apart in ERLS", one, np.eye(joint.type.nv), EXACT)


def _twist(R: np.ndarray, R_dot: np.ndarray, r_dot: np.ndarray) -> np.ndarray:
    W = R.T @ R_dot
    assert np.abs(W - skew(unskew(W))).max() < EXACT * max(1.0, np.abs(W).max())
    return np.concatenate([unskew(W), (R.T @ r_dot)[:, 0]])


def _check_cut(c: Terms, tree: Terms, q: np.ndarray, v: np.ndarray, found: Measured) -> None:
    e, joint = c.equations, c.mechanism.joints["joint"]
    q_c = _same_pose(c, tree, q, found)
    _check_rows(c, q_c, found)
    v_c = _same_velocity(c, tree, q_c, v, found)
    moving = e.motion.frame(c.mechanism.bodies["part"]["origin"]).velocity
    there = tree.equations.motion.frame(tree.mechanism.bodies["part"]["origin"]).velocity
    for mine, theirs in zip(moving.rigid, there.rigid, strict=True):
        found.error("velocity of the body", c.evaluate([mine], q_c, v_c)[0], tree.evaluate([theirs], q, v)[0], 1e-10)
    found.error("rates of closure rows", *closure_rates(c, q_c, v_c), DIFFERENCES)
    found.error("bias of closure rows", *closure_bias(c, q_c, v_c), DIFFERENCES)
    found.error("energy", *rate_is_power(c, q_c, v_c), 1e-10)
    # the same motion as in the tree
    a_c, _ = c.accelerations(q_c, v_c)
    got = tree.numbers(q, v)
    a = np.linalg.solve(got["M"], got["tau"] - got["h"])
    J, bias = c.evaluate([e.measures.jacobian(joint), e.measures.bias(joint)], q_c, v_c)
    found.error(
        "accelerations of the cut joint", J @ a_c + bias[:, 0], a[tree.topology.own["joint"][1]], 1e-9, np.abs(a).max()
    )


def _check_rows(c: Terms, q: np.ndarray, found: Measured) -> None:
    """One closure row for each direction that is locked; closed, and independent."""
    closure, kind = c.equations.closure, c.mechanism.joints["joint"].type
    locked = len(closure) + len(closure.fixed)
    if locked != 6 - kind.nv:
        raise AssertionError(f"joint {kind.name!r} has {locked} closure rows, but locks {6 - kind.nv} directions")
    got = c.numbers(q, np.zeros(c.topology.nv))
    found.error("gap where the joint is closed", got["c"], np.zeros(len(got["c"])), EXACT)
    if np.linalg.matrix_rank(got["A"], tol=1e-8) != len(got["A"]):
        raise AssertionError(f"joint {kind.name!r}: its {len(got['A'])} closure rows are not independent")


def _same_pose(c: Terms, tree: Terms, q: np.ndarray, found: Measured) -> np.ndarray:
    """Coordinates of a tree as those of the same mechanism with the joint cut; what is measured is compared."""
    e, joint, own = c.equations, c.mechanism.joints["joint"], tree.topology.own
    X = tree.equations.motion.frame(tree.mechanism.bodies["part"]["origin"]).X
    place, turned = tree.evaluate([X.r, quaternion(X.R)], q, np.zeros(tree.topology.nv))
    q_c, q_j = np.zeros(c.topology.nq), q[own["joint"][0]]
    q_c[c.topology.own["carrying"][0]] = q[own["carrying"][0]]
    q_c[c.topology.own["floating"][0]] = np.concatenate([place[:, 0], turned[:, 0]])
    for counter in c.topology.counters:
        q_c[counter.q] = q_j[counter.index]
    (measured,) = c.evaluate([e.measures.coordinates(joint)], q_c, np.zeros(c.topology.nv))
    if joint.type.has_quaternion and measured[-4:, 0] @ q_j[-4:] < 0:  # known up to its sign
        q_j = np.concatenate([q_j[:-4], -q_j[-4:]])
    found.error("measured coordinates", measured[:, 0], q_j, EXACT)
    return q_c


def _same_velocity(c: Terms, tree: Terms, q_c: np.ndarray, v: np.ndarray, found: Measured) -> np.ndarray:
    """The velocities that keep the joint closed, and give it and the first body their rates of the tree."""
    e, own = c.equations, tree.topology.own
    A = c.numbers(q_c, np.zeros(c.topology.nv))["A"]
    (J,) = c.evaluate([e.measures.jacobian(c.mechanism.joints["joint"])], q_c, np.zeros(c.topology.nv))
    rows = np.vstack([A, J, np.eye(c.topology.nv)[c.topology.own["carrying"][1]]])
    rates = np.concatenate([np.zeros(len(A)), v[own["joint"][1]], v[own["carrying"][1]]])
    v_c = np.linalg.lstsq(rows, rates, rcond=None)[0]
    found.error("measured velocities", rows @ v_c, rates, 1e-11)
    return v_c
