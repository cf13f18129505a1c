"""What reactions depend on, traced: where joints are, along what they are free, what acts there, what each body needs.

All are functions of ``t, q, v, p``, the accelerations and known forces in closure rows. Vectors of six are moment and
force, or angular and linear part, in world axes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
import numpy as np

from closedchain.derive.applied import Applied
from closedchain.derive.closure import lock
from closedchain.derive.equations import Equations
from closedchain.derive.joint_motion import joint_motion
from closedchain.derive.kinematics import FrameMotion
from closedchain.derive.measure import measure
from closedchain.derive.rnea import body_forces
from closedchain.derive.rotors import rotor_inertia
from closedchain.derive.spatial import skew
from closedchain.lock import locked
from closedchain.model.expressions.expression import Number
from closedchain.model.parts import Frame, Joint
from closedchain.results.samples import Freedom, Samples


class JointFrames(NamedTuple):
    """Axes (n, joints, 3, 3) and origins (n, joints, 3) of one frame of each joint."""

    R: np.ndarray
    r: np.ndarray


class AtShapes(NamedTuple):
    """Forces on the shapes of flexible bodies.

    Attributes
    ----------
    by_joint
        By flexible body and joint on it, (n, shapes, 6): forces on its shape of components of the joint's wrench.
    need
        By flexible body, (n, shapes): what the joints must do to its shape together.
    """

    by_joint: dict[tuple[str, str], np.ndarray]
    need: dict[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class AtJoints:
    """Numbers at n samples; joints and links are those of the topology, in its order.

    Attributes
    ----------
    first, second
        The joints' frames on their two bodies.
    Phi
        By joint, (n, 6, freedoms): motion of the second frame relative to the first, about the second's origin.
    tau
        By joint, (n, freedoms): what acts along the freedoms, but for drives and gears whose efforts are not known.
    along
        By cut joint that is open or a spring, (n, 6, freedoms): wrenches on its second body that efforts of one give.
    told
        By joint that is a spring, (n, 6): wrench of the spring on the second body.
    need
        (n, links, 6): what the joints must exert on each link together, about the link's origin.
    apart
        (n, links, 6): what springs do to links beyond action and reaction, since their two sides are apart.
    origin
        (n, links, 3) of the links.
    shares
        By drive or gear: what of its force acts on each of its freedoms (see `holders`).
    acted
        Joints along which something acts.
    shapes
        The same for the shapes of flexible bodies.
    """

    first: JointFrames
    second: JointFrames
    Phi: dict[str, np.ndarray]
    tau: dict[str, np.ndarray]
    along: dict[str, np.ndarray]
    told: dict[str, np.ndarray]
    need: np.ndarray
    apart: np.ndarray
    origin: np.ndarray
    shares: dict[str, np.ndarray]
    acted: frozenset[str]
    shapes: AtShapes


def at_joints(samples: Samples) -> AtJoints:
    """Evaluate all that reactions depend on."""
    e, n = samples.equations, len(samples)
    m = e.topology.mechanism
    replaced, slack = frozenset(samples.efforts), samples.slack
    applied = e.acting(replaced)
    key = ("at joints", replaced, slack)
    got = samples.evaluate(key, lambda a, lam: _columns(e, applied, replaced, slack, a, lam))

    def side_by_side(name: str, width: int) -> np.ndarray:
        """(n, 3, joints * width) as (n, joints, 3, width)."""
        return got[name].reshape(n, 3, len(e.topology.joints), width).transpose(0, 2, 1, 3)

    def by_joint(what: str) -> dict[str, np.ndarray]:
        return {k.removeprefix(f"{what} "): x for k, x in got.items() if k.startswith(f"{what} ")}

    tau = {name: x[:, :, 0].copy() for name, x in by_joint("tau").items()}
    for (name, index), effort in samples.efforts.items():
        tau[name][:, index] += effort
    acted = {x.joint for x in m.drives.values()} | {x.joint for x in m.rotors.values()}
    return AtJoints(
        first=JointFrames(side_by_side("R first", 3), side_by_side("r first", 1)[..., 0]),
        second=JointFrames(side_by_side("R second", 3), side_by_side("r second", 1)[..., 0]),
        Phi=by_joint("Phi"),
        tau=tau,
        along=by_joint("along"),
        told={name: x[:, :, 0] for name, x in by_joint("told").items()},
        need=got["need"].transpose(0, 2, 1),
        apart=got["apart"].transpose(0, 2, 1),
        origin=got["origin"].transpose(0, 2, 1),
        shares={name: x[0, :, 0] if n else np.ones(x.shape[1]) for name, x in by_joint("shares").items()},
        acted=frozenset(acted | set(applied.on_joints) | {name for name, _ in replaced}),
        shapes=AtShapes(
            by_joint={pair: got[key] for key, pair in _shaped(e).items() if key in got},
            need={name: x[:, :, 0] for name, x in by_joint("shape").items()},
        ),
    )


def _columns(
    e: Equations,
    applied: Applied,
    replaced: frozenset[Freedom],
    slack: frozenset[str],
    a: ca.SX,
    lam: dict[int, ca.SX],
) -> dict[str, ca.SX]:
    """What `AtJoints` holds, as traced expressions."""
    motion, joints = e.motion, e.topology.joints
    sides = {joint.name: (side(e, joint, joint.a), side(e, joint, joint.b)) for joint in joints}
    columns: dict[str, ca.SX] = {}
    for which, name in enumerate(("first", "second")):
        poses = [sides[joint.name][which].X for joint in joints]
        columns[f"R {name}"] = ca.horzcat(*(ca.densify(X.R) for X in poses))
        columns[f"r {name}"] = ca.horzcat(*(ca.densify(X.r) for X in poses))
    # in the link's own frame, about its origin; here in world axes
    needed = body_forces(e.limbs, motion, applied.wrenches, a)
    need = [ca.densify(ca.vertcat(motion.X[i].R @ f.ang, motion.X[i].R @ f.lin)) for i, f in enumerate(needed)]
    for bent, f in zip(e.topology.links, needed, strict=True):
        if bent.shape is not None and f.shape is not None:
            columns[f"shape {bent.body.name}"] = ca.densify(f.shape)
    for key, (body, name) in _shaped(e).items():
        columns[key] = _on_shape(e, body, *sides[name])
    apart = [ca.SX.zeros(6, 1) for _ in need]
    for joint in joints:
        P, S = sides[joint.name]
        if joint.type.nv:
            columns[f"Phi {joint.name}"] = freedoms(e, joint, S.X.R, e.measures.coordinates(joint))
            drawn = applied.on_joints.get(joint.name, ca.SX.zeros(joint.type.nv, 1))
            held = _holding_efforts(e, joint, replaced, lam)
            columns[f"tau {joint.name}"] = drawn + held - _rotor_efforts(e, joint, a)
            if joint.name in slack:
                columns[f"along {joint.name}"] = _along(e, joint, P, S)
        rows = [row for row in lam if e.closure.joints[row] == joint.name]
        if rows:
            columns[f"told {joint.name}"], beyond = _spring(e, joint, {row: lam[row] for row in rows}, P, S)
            for link, wrench in beyond.items():
                apart[link] += wrench
    for name, acting in holders(e, replaced).items():
        columns[f"shares {name}"] = ca.vertcat(*(e.limbs.number(share) for _, share in acting))
    columns["need"], columns["apart"] = ca.horzcat(*need), ca.horzcat(*apart)
    columns["origin"] = ca.horzcat(*(ca.densify(motion.X[i].r) for i in range(len(need))))
    return columns


def _shaped(e: Equations) -> dict[str, tuple[str, str]]:
    """Flexible bodies with the joints on them, by the name of the column."""
    flexible = e.topology.mechanism.flexible
    return {
        f"shaping {k} {frame.body.name}": (frame.body.name, joint.name)
        for k, joint in enumerate(e.topology.joints)
        for frame in (joint.a, joint.b)
        if frame.body.name in flexible
    }


def _on_shape(e: Equations, body: str, P: FrameMotion, S: FrameMotion) -> ca.SX:
    """Forces on the shape of a body (shapes x 6) that components of a joint's wrench on its second body, at S, give."""
    n = len(e.topology.mechanism.flexible[body].labels)
    total = ca.SX.zeros(n, 6)
    for frame, sign in ((S, 1), (P, -1)):
        if frame.shape is not None and frame.body == body:
            arm = S.X.r - frame.X.r
            turned = sign * frame.shape.ang.T
            total += ca.horzcat(turned, sign * frame.shape.lin.T + turned @ skew(arm))
    return ca.densify(total)


def side(e: Equations, joint: Joint, frame: Frame) -> FrameMotion:
    """One of the two frames of a joint, with the joint's axes."""
    return e.motion.frame(frame, joint)


@locked
def freedoms(e: Equations, joint: Joint, R: ca.SX, coordinates: ca.SX) -> ca.SX:
    """Motion space of a joint (6 x nv) about the origin of S, whose axes are R, at coordinates."""
    q = ca.SX.sym("q", joint.type.nq)  # of a cut joint the coordinates are expressions
    Phi = joint_motion(joint.type, q, ca.SX(joint.type.nv, 1), e.limbs.number(joint.pitch), False).Phi
    ang, lin = (ca.substitute(ca.densify(x), q, coordinates) for x in Phi)
    return ca.densify(ca.vertcat(R @ ang, R @ lin))


@locked
def _along(e: Equations, joint: Joint, P: FrameMotion, S: FrameMotion) -> ca.SX:
    """Wrenches on a cut joint's second body, at S, of unit efforts on what the joint measures (6 x nv).

    An effort does the work ``tau q'`` also where the joint is open.
    """
    if joint.type.is_ball:  # velocities are in the axes of S
        return ca.densify(ca.vertcat(S.X.R, ca.SX(3, 3)))
    R, d, w = ca.SX.sym("R", 3, 3), ca.SX.sym("d", 3), ca.SX.sym("w", 3)
    q = ca.densify(measure(joint.type)(P.X.R, R, d, e.limbs.number(joint.pitch)))
    turned = ca.jacobian(ca.jtimes(q, ca.vec(R), ca.vec(ca.skew(w) @ R)), w)
    rates = ca.substitute(
        [turned, ca.jacobian(q, d)], [ca.vec(R), d], [ca.densify(ca.vec(S.X.R)), ca.densify(S.X.r - P.X.r)]
    )
    return ca.densify(ca.vertcat(*(rate.T for rate in rates)))


@locked
def _spring(
    e: Equations, joint: Joint, lam: dict[int, ca.SX], P: FrameMotion, S: FrameMotion
) -> tuple[ca.SX, dict[int, ca.SX]]:
    """Wrench on the second body at S of springs in closure rows, and what they do to links beyond action and reaction.

    The power of the rows is ``-lam c'``. The two sides of a stretched spring are apart: its wrenches balance only
    together with one on the body that the rows take their axes from, which may be the ground.
    """
    pair = e.measures.pairs[joint.name]
    R_P, R_S, d = ca.SX.sym("R_P", 3, 3), ca.SX.sym("R_S", 3, 3), ca.SX.sym("d", 3)
    w_P, w_S, pitch = ca.SX.sym("w_P", 3), ca.SX.sym("w_S", 3), ca.SX.sym("pitch")
    labels = {e.closure.labels[row]: force for row, force in lam.items()}
    total = ca.SX(0)  # lam' c
    for kind in joint.type.closure:
        c = ca.densify(lock(kind).quantity(R_P, R_S, d, pitch))
        for k, label in enumerate(lock(kind).labels):
            total += labels.get(label, ca.SX(0)) * c[k]
    turning = (ca.jtimes(total, ca.vec(R), ca.vec(ca.skew(w) @ R)) for R, w in ((R_P, w_P), (R_S, w_S)))
    by_twists = [ca.gradient(rate, w) for rate, w in zip(turning, (w_P, w_S), strict=True)]
    X_P, X_S = pair.P.X, pair.S.X
    values = [ca.densify(x) for x in (ca.vec(X_P.R), ca.vec(X_S.R), X_S.r - X_P.r, pair.pitch)]
    found = ca.substitute([*by_twists, ca.gradient(total, d)], [ca.vec(R_P), ca.vec(R_S), d, pitch], values)

    first, second = (e.topology.link_of[frame.body.name] for frame in (joint.a, joint.b))
    root = e.topology.common_ancestor(first, second)
    moment_P, moment_S, force_P = (ca.densify(e.motion.X[root].R @ x) for x in found)
    told = ca.vertcat(-moment_S, -force_P)
    beyond: dict[int, ca.SX] = {}

    def add(link: int, r: ca.SX, wrench: ca.SX) -> None:
        if link >= 0:
            arm = ca.densify(r - e.motion.X[link].r)
            here = ca.vertcat(wrench[:3] + ca.cross(arm, wrench[3:]), wrench[3:])
            beyond[link] = beyond.get(link, ca.SX.zeros(6, 1)) + here

    at_P = ca.vertcat(-moment_P, force_P)
    add(first, P.X.r, at_P)
    add(first, S.X.r, told)
    add(root, P.X.r, -at_P)
    add(root, S.X.r, -told)
    return told, beyond


def _rotor_efforts(e: Equations, joint: Joint, a: ca.SX) -> ca.SX:
    """What rotors take along the freedoms of a joint."""
    out = ca.SX.zeros(joint.type.nv, 1)
    for rotor in e.topology.mechanism.rotors.values():
        if rotor.joint == joint.name:
            row, bias = e.measures.velocity_row(rotor.joint, rotor.index)
            out[rotor.index] += rotor_inertia(e.limbs, rotor) * (ca.densify(row @ a) + bias)
    return out


def holders(e: Equations, replaced: frozenset[Freedom]) -> dict[str, list[tuple[Freedom, Number]]]:
    """Drives and gears by name: the freedoms they act on, and what of their force acts there.

    A drive whose freedom has an effort of its own is left out.
    """
    m = e.topology.mechanism
    out: dict[str, list[tuple[Freedom, Number]]] = {
        gear.name: [(gear.driven, 1.0), (gear.driver, -gear.ratio)] for gear in m.couplings.values()
    }
    for drive in m.drives.values():
        if (drive.joint, drive.index) not in replaced:
            out[drive.name] = [((drive.joint, drive.index), 1.0)]
    return {name: acting for name, acting in out.items() if name in e.closure.joints}  # drawn before the motion


def _holding_efforts(e: Equations, joint: Joint, replaced: frozenset[Freedom], lam: dict[int, ca.SX]) -> ca.SX:
    """What drives and gears whose forces are known give along the freedoms of a joint."""
    out = ca.SX.zeros(joint.type.nv, 1)
    for name, acting in holders(e, replaced).items():
        row = e.closure.joints.index(name)
        for (of, index), share in acting:
            if of == joint.name and row in lam:
                out[index] += e.limbs.number(share) * lam[row]
    return out
