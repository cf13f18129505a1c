"""Reactions in every joint, tree joints and cut joints alike, from the balance of each body.

At each sample the joints of a body must together exert the wrench that its motion takes (Newton and Euler), and each
joint's wrench along its own freedoms is what its motors, springs and dampers give, unless a drive or a gear holds it
there. These linear equations for the six components of all joints have one solution where the mechanism is not
over-constrained. Where it is, the components that the equations leave open are told apart from the unique ones, and
the distribution of least norm is taken: ``sum (|force|^2 + |moment|^2 / length^2) / stiffness`` over all joints. The
length belongs to the drawing, so that the reactions are a function of the state; ``stiffness`` weighs joints, since of
two parallel paths the stiffer one carries more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from closedchain.derive.equations import Equations
from closedchain.derive.joint_motion import joint_motion
from closedchain.derive.kinematics import FrameMotion
from closedchain.derive.measure import COORDINATES
from closedchain.derive.rnea import body_forces
from closedchain.derive.rotors import rotor_inertia
from closedchain.derive.spatial import Transform
from closedchain.errors import ModelError
from closedchain.march.size import drawn_length
from closedchain.model.parts import Frame, Joint, suggest

if TYPE_CHECKING:
    import xarray

    from closedchain.march.compiled import Compiled
    from closedchain.march.segments import Segment
    from closedchain.results.run import Run

COMPONENTS = ("mx", "my", "mz", "fx", "fy", "fz")


@dataclass(frozen=True, eq=False)
class Reactions:
    """Wrenches of all joints over time.

    Attributes
    ----------
    wrench
        (time, joint, 6): moment and force of the joint's first body on its second, about the second's frame origin, in
        world axes; NaN at samples where nothing balances the bodies.
    unique
        (joint, 6) whether the component is determined by the equations at all samples, in the axes of the joint's first
        frame.
    unique_in_world
        The same in world axes.
    axes
        (time, joint, 3, 3) axes of the joint's first frame in the world.
    """

    joints: tuple[str, ...]
    wrench: np.ndarray
    unique: np.ndarray
    unique_in_world: np.ndarray
    axes: np.ndarray


def reaction(run: Run, joint: str, axes: str = "world", stiffness: Mapping[str, float] | None = None) -> xarray.Dataset:
    """Reaction in a joint over time: moment and force of its first body on its second.

    ``force_unique`` and ``moment_unique`` tell, for each of the axes asked for, whether the component is determined at
    all samples. Of over-constrained mechanisms some are not; given is then the distribution with the least
    ``sum (|force|^2 + |moment|^2 / length^2) / stiffness`` over all joints, where the length is the largest distance
    between two joint frames, or a joint frame and the centre of mass, of one moving body (1 m if there is none). It
    depends on the drawing alone, and so the reactions on the state alone.

    An open joint has no reaction but what motors, springs, drives and gears still give along it, which is unique. At a
    singular pose there may be no forces that keep up the motion that is prescribed: such a sample is NaN, and does not
    count for what is unique.

    Parameters
    ----------
    run
        The motion.
    joint
        Name of any joint.
    axes
        ``"world"``, or ``"joint"``: those of the joint's first frame.
    stiffness
        Relative stiffness of joints by name, for mechanisms that are over-constrained; one where not given.

    Raises
    ------
    ModelError
        If there is no such joint, or if the bodies are out of balance at every sample.
    """
    import xarray

    key = tuple(sorted((stiffness or {}).items()))
    if key not in run._reactions:  # all joints at once, so that the next one asked for is there
        run._reactions[key] = reactions(run, stiffness)
    all_ = run._reactions[key]
    if joint not in all_.joints:
        if joint in run.mechanism.joints:
            raise ModelError(f"joint {joint!r} is free: it carries nothing, so it has no reaction")
        raise ModelError(f"the run has no joint {joint!r}{suggest(joint, all_.joints)}")
    if axes not in ("world", "joint"):
        raise ModelError(f"axes must be 'world' or 'joint', not {axes!r}")
    k = all_.joints.index(joint)
    moment, force = all_.wrench[:, k, :3], all_.wrench[:, k, 3:]
    if axes == "joint":
        moment, force = (np.einsum("tji,tj->ti", all_.axes[:, k], x) for x in (moment, force))
    unique = (all_.unique_in_world if axes == "world" else all_.unique)[k]
    about = {"axes": axes, "about": "whether the equations determine the component, at all samples"}
    return xarray.Dataset(
        {
            "force": (("time", "axis"), force, {"units": "N"}),
            "moment": (("time", "axis"), moment, {"units": "N m"}),
            "force_unique": ("axis", unique[3:], about),
            "moment_unique": ("axis", unique[:3], about),
        },
        coords={"time": ("time", run.t, {"units": "s"}), "axis": list("xyz")},
        attrs={"joint": joint, "axes": axes, "about": "of the joint's first body on its second, at the second's frame"},
    )


def reactions(run: Run, stiffness: Mapping[str, float] | None = None) -> Reactions:
    """Reactions in all joints at all samples of a run."""
    topology = run.program.equations.topology
    m = run.mechanism
    acted = {*run.program.equations.applied.on_joints, *(x.joint for x in m.drives.values())}
    acted |= {x.joint for x in m.rotors.values()}
    # a free joint carries nothing but what acts along it
    joints = [j for j in topology.joints if j.type.closure or j.name in acted]
    for name, value in (stiffness or {}).items():
        if name not in {j.name for j in joints}:
            raise ModelError(f"stiffness: no joint is named {name!r}{suggest(name, [j.name for j in joints])}")
        if not value > 0:
            raise ModelError(f"stiffness of {name!r} must be positive, not {value}")
    pieces = [_solve(s, joints, run.p, stiffness or {}) for s in run.segments]
    wrench, unique, unique_in_world, axes = zip(*pieces, strict=True)
    found = Reactions(
        tuple(j.name for j in joints),
        np.concatenate(wrench),
        np.all(unique, axis=0),
        np.all(unique_in_world, axis=0),
        np.concatenate(axes),
    )
    if found.wrench.size and np.isnan(found.wrench).all():
        where = f"at t = {run.t[0]:.6g} s" if len(run.t) == 1 else "at any of the samples"
        raise ModelError(f"the reactions do not balance the bodies {where}: the motion is not consistent there")
    return found


def _solve(
    segment: Segment, joints: list[Joint], p: np.ndarray, stiffness: Mapping[str, float]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Wrenches of a piece of a run, whether they are unique in joint and in world axes, and the axes of the joints."""
    program, t = segment.program, segment.trajectory.t
    e = program.equations
    got = program.evaluate("reactions", lambda: _columns(program, joints), t, segment.trajectory.x, segment.p)
    n, nj = len(t), len(joints)
    wrench, axes = np.zeros((n, nj, 6)), np.zeros((n, nj, 3, 3))
    unique, unique_in_world = np.ones((nj, 6), bool), np.ones((nj, 6), bool)
    if n == 0:
        return wrench, unique, unique_in_world, axes
    for k, joint in enumerate(joints):
        axes[:, k] = got[f"R {joint.name}"]
    open_ = set(segment.start.open_joints)
    at = [k for k, joint in enumerate(joints) if joint.name not in open_]
    held = [joints[k] for k in at]
    weight = np.sqrt([stiffness.get(j.name, 1.0) for j in held])[:, None] * np.repeat([drawn_length(e, p), 1.0], 3)
    weight = weight.ravel()
    hold = _holding(program, held, open_, got)
    for k, joint in enumerate(joints):
        # an open joint carries nothing but what acts along it
        if joint.name in open_ and f"effort {joint.name}" in got:
            wrench[:, k] = got[f"effort {joint.name}"][:, :, 0]
    for i in range(n):
        system, b = _balance(e, held, hold, got, i)
        for k, joint in enumerate(joints):
            if joint.name in open_:
                b[: 6 * len(e.topology.links)] -= _carry(e, joint, got, i) @ wrench[i, k]
        f, loose = _least_norm(system, b, weight, e.topology.mechanism.tolerance)
        if not np.abs(system @ f - b).max(initial=0.0) <= 1e-6 * max(1.0, np.abs(b).max(initial=0.0)):
            wrench[i] = np.nan  # also where something is not finite
            continue
        wrench[i, at] = f.reshape(-1, 6)
        parts = loose.reshape(len(held), 2, 3, loose.shape[1])  # moments and forces
        own = np.einsum("kji,kpjc->kpic", axes[i, at], parts)
        bound = 1e-7 * np.abs(loose).max(initial=0.0)
        unique[at] &= (np.abs(own).max(axis=3, initial=0.0) <= bound).reshape(-1, 6)
        unique_in_world[at] &= (np.abs(parts).max(axis=3, initial=0.0) <= bound).reshape(-1, 6)
    return wrench, unique, unique_in_world, axes


def _balance(
    e: Equations, joints: list[Joint], hold: np.ndarray, got: dict[str, np.ndarray], i: int
) -> tuple[np.ndarray, np.ndarray]:
    """The equations for the wrenches of all joints that are not open, at sample i: matrix and right-hand side."""
    n = 6 * len(joints)
    rows, right = [np.zeros((0, n))], [np.zeros(0)]
    balance = np.zeros((6 * len(e.topology.links), n))
    for k, joint in enumerate(joints):
        balance[:, 6 * k : 6 * k + 6] = _carry(e, joint, got, i)
        if joint.type.nv:  # along its freedoms a joint gives what its motors and springs give
            free = np.zeros((joint.type.nv, n))
            free[:, 6 * k : 6 * k + 6] = got[f"Phi {joint.name}"][i].T
            rows.append(free)
            right.append(got[f"tau {joint.name}"][i, :, 0])
    told, values = _told(got, joints, i)
    # ... but where a drive or a gear holds it, that is an unknown too: what is left are combinations without it
    system = np.vstack([balance, hold @ np.vstack(rows), told])
    return system, np.concatenate([got["wanted"][i, :, 0], hold @ np.concatenate(right), values])


def _carry(e: Equations, joint: Joint, got: dict[str, np.ndarray], i: int) -> np.ndarray:
    """What a joint's wrench does to all bodies, about the world's origin: (6 bodies, 6)."""
    out = np.zeros((6 * len(e.topology.links), 6))
    carry = np.eye(6)
    carry[:3, 3:] = _skew(got[f"r {joint.name}"][i, :, 0])
    for body, sign in ((joint.b.body, 1.0), (joint.a.body, -1.0)):
        index = e.topology.link_of[body.name]
        if index >= 0:
            out[6 * index : 6 * index + 6] += sign * carry
    return out


def _least_norm(
    system: np.ndarray, b: np.ndarray, weight: np.ndarray, tolerance: float
) -> tuple[np.ndarray, np.ndarray]:
    """The solution of least norm of ``f / weight``, and what may be added to it, as columns."""
    if not (np.isfinite(system).all() and np.isfinite(b).all()):
        return np.full(system.shape[1], np.nan), np.zeros((system.shape[1], 0))
    u, s, vt = np.linalg.svd(system * weight, full_matrices=True)
    rank = int((s > max(1e-9, 30 * tolerance) * s.max(initial=0.0)).sum())
    f = weight * (vt[:rank].T @ ((u[:, :rank].T @ b) / s[:rank]))
    return f, weight[:, None] * vt[rank:].T


def _told(got: dict[str, np.ndarray], joints: list[Joint], i: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and values for the wrenches that springs in the closures determine, redundant or not."""
    rows, values = [np.zeros((0, 6 * len(joints)))], [np.zeros(0)]
    for k, joint in enumerate(joints):
        if f"spring {joint.name}" in got:
            row = np.zeros((6, 6 * len(joints)))
            row[:, 6 * k : 6 * k + 6] = np.eye(6)
            # along its freedoms a joint carries what acts there, which is told elsewhere
            locked = np.linalg.svd(got[f"Phi {joint.name}"][i])[0][:, joint.type.nv :].T if joint.type.nv else np.eye(6)
            rows.append(locked @ row)
            values.append(locked @ got[f"spring {joint.name}"][i, :, 0])
    return np.vstack(rows), np.concatenate(values)


def _spring_wrench(program: Compiled, joint: Joint, r: ca.SX) -> ca.SX | None:
    """Moment and force of a cut joint's springs on its second body at r, in world axes; None where rows do not tell."""
    e, closure = program.equations, program.equations.closure
    mine = [(k, row) for k, row in enumerate(program.rows) if closure.joints[row] == joint.name]
    first, second = (e.topology.link_of[frame.body.name] for frame in (joint.a, joint.b))
    link, sign = (second, -1.0) if second >= 0 else (first, 1.0)
    if not mine or any(link not in closure.sides[row] for _, row in mine):
        return None
    total = ca.SX(6, 1)
    for k, row in mine:
        total += sign * closure.sides[row][link].T * program.closed.lam[k]
    moment, force = total[:3], total[3:]
    return ca.densify(ca.vertcat(moment - ca.cross(r - e.motion.X[link].r, force), force))


def _columns(program: Compiled, joints: list[Joint]) -> dict[str, ca.SX]:
    """Where joints are, along what they are free, what acts on them, and what each body needs; in world axes."""
    e, limbs = program.equations, program.equations.limbs
    motion = e.motion
    columns: dict[str, ca.SX] = {}
    for joint in joints:
        P, S = (motion.frame(frame, _placed(e, joint, frame)) for frame in (joint.a, joint.b))
        columns[f"r {joint.name}"] = ca.densify(S.X.r)
        columns[f"R {joint.name}"] = ca.densify(P.X.R)
        if program.method.all_rows and joint.name not in e.topology.tree_joints:
            spring = _spring_wrench(program, joint, ca.densify(S.X.r))
            if spring is not None:
                columns[f"spring {joint.name}"] = spring
        if joint.type.nv:
            columns[f"Phi {joint.name}"] = _freedoms(e, joint, S)
            effort = e.applied.on_joints.get(joint.name, ca.SX.zeros(joint.type.nv, 1))
            columns[f"tau {joint.name}"] = effort - _rotor_efforts(program, joint)
            acting = columns[f"tau {joint.name}"] + _holding_efforts(program, joint)
            if joint.name not in e.topology.tree_joints and not acting.is_zero():
                columns[f"effort {joint.name}"] = _along(e, joint, P, S, acting)
    for gear in e.topology.mechanism.couplings.values():
        columns[f"ratio {gear.name}"] = e.limbs.number(gear.ratio)
    needed = body_forces(limbs, motion, e.applied.wrenches, program.closed.a)
    stacked = []
    for i, f in enumerate(needed):
        X = motion.X[i]
        world = X.force_out(f)
        stacked += [ca.densify(world.ang), ca.densify(world.lin)]
    columns["wanted"] = ca.vertcat(*stacked)
    return columns


def _placed(e: Equations, joint: Joint, frame: Frame) -> Transform:
    place = e.limbs.joint_frame(joint, frame)
    index = e.topology.link_of[frame.body.name]
    return place if index < 0 else e.limbs.links[index].X_LB @ place


def _freedoms(e: Equations, joint: Joint, S: FrameMotion) -> ca.SX:
    """Motion space of a joint (6 x nv) in world axes about the origin of S, at its present coordinates."""
    q = ca.SX.sym("q", joint.type.nq)  # of a cut joint the coordinates are expressions
    Phi = joint_motion(joint.type, q, ca.SX(joint.type.nv, 1), e.limbs.number(joint.pitch), False).Phi
    ang, lin = (ca.substitute(ca.densify(x), q, e.measures.coordinates(joint)) for x in Phi)
    return ca.densify(ca.vertcat(S.X.R @ ang, S.X.R @ lin))


def _along(e: Equations, joint: Joint, P: FrameMotion, S: FrameMotion, tau: ca.SX) -> ca.SX:
    """Moment and force on a cut joint's second body, at S in world axes, of efforts on what the joint measures.

    An effort does the work ``tau q'`` also where the joint is open.
    """
    if joint.type.name == "spherical":  # velocities are in the axes of S
        return ca.densify(ca.vertcat(S.X.R @ tau, ca.SX(3, 1)))
    R, d, w = ca.SX.sym("R", 3, 3), ca.SX.sym("d", 3), ca.SX.sym("w", 3)
    q = ca.densify(COORDINATES[joint.type.name](P.X.R, R, d, e.limbs.number(joint.pitch)))
    turned = ca.jacobian(ca.jtimes(q, ca.vec(R), ca.vec(ca.skew(w) @ R)), w)
    rates = ca.substitute(
        [turned, ca.jacobian(q, d)], [ca.vec(R), d], [ca.densify(ca.vec(S.X.R)), ca.densify(S.X.r - P.X.r)]
    )
    return ca.densify(ca.vertcat(*(rate.T @ tau for rate in rates)))


def _rotor_efforts(program: Compiled, joint: Joint) -> ca.SX:
    """What rotors take along the freedoms of a joint."""
    e = program.equations
    out = ca.SX.zeros(joint.type.nv, 1)
    for rotor in e.topology.mechanism.rotors.values():
        if rotor.joint == joint.name:
            row, bias = e.measures.velocity_row(rotor.joint, rotor.index)
            inertia = rotor_inertia(e.limbs, rotor)
            out[rotor.index] += inertia * (ca.densify(row @ program.closed.a) + bias)
    return out


def _holding_efforts(program: Compiled, joint: Joint) -> ca.SX:
    """What drives and gears give along the freedoms of a joint."""
    e, closure = program.equations, program.equations.closure
    m = e.topology.mechanism
    held = [(drive.name, (drive.joint, drive.index), ca.SX(1)) for drive in m.drives.values()]
    for gear in m.couplings.values():
        held += [(gear.name, gear.driven, ca.SX(1)), (gear.name, gear.driver, -e.limbs.number(gear.ratio))]
    out = ca.SX.zeros(joint.type.nv, 1)
    for name, (of, index), share in held:
        row = closure.joints.index(name)
        if of == joint.name and row in program.rows:
            out[index] += share * program.closed.lam[program.rows.index(row)]
    return out


def _holding(program: Compiled, joints: list[Joint], open_: set[str], got: dict[str, np.ndarray]) -> np.ndarray:
    """Combinations of the freedoms of joints, as rows, on which no drive and no gear acts but open ones."""
    m = program.equations.topology.mechanism
    at, count = {}, 0
    for joint in joints:
        at[joint.name] = count
        count += joint.type.nv
    acting = []
    for gear in m.couplings.values():
        column = np.zeros(count)
        for (joint_name, index), share in ((gear.driven, 1.0), (gear.driver, -got[f"ratio {gear.name}"][0, 0, 0])):
            if joint_name in at:
                column[at[joint_name] + index] = share
        acting.append((gear.name, column))
    for drive in m.drives.values():
        column = np.zeros(count)
        if drive.joint in at:
            column[at[drive.joint] + drive.index] = 1.0
        acting.append((drive.name, column))
    columns = [column for name, column in acting if name not in open_ and column.any()]
    if not columns:
        return np.eye(count)
    u, s, _ = np.linalg.svd(np.array(columns).T)
    return u[:, int((s > 1e-12 * s[0]).sum()) :].T


def _skew(r: np.ndarray) -> np.ndarray:
    return np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])
