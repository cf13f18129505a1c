"""Reactions in every joint, tree joints and cut joints alike, from the balance of each body.

At each sample the joints of a body must together exert the wrench that its motion takes (Newton and Euler), and each
joint's wrench along its own freedoms is what its motors, springs and dampers give, unless a drive or a gear holds it
there. These linear equations for the six components of all joints have one solution where the mechanism is not
over-constrained. Where it is, the components that the equations leave open are told apart from the unique ones, and
the distribution of least norm is taken: moments count by a length, and ``stiffness`` may weigh joints, since of two
parallel paths the stiffer one carries more.
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
from closedchain.derive.rnea import body_forces
from closedchain.derive.spatial import Transform
from closedchain.errors import ModelError
from closedchain.model.parts import Frame, Joint, suggest

if TYPE_CHECKING:
    import xarray

    from closedchain.march.compiled import Compiled
    from closedchain.results.run import Run

COMPONENTS = ("mx", "my", "mz", "fx", "fy", "fz")


@dataclass(frozen=True, eq=False)
class Reactions:
    """Wrenches of all joints over time.

    Attributes
    ----------
    wrench
        (time, joint, 6): moment and force of the joint's first body on its second, about the second's frame origin, in
        world axes.
    unique
        (joint, 6) whether the component is determined by the equations, in the axes of the joint's first frame.
    axes
        (time, joint, 3, 3) axes of the joint's first frame in the world.
    """

    joints: tuple[str, ...]
    wrench: np.ndarray
    unique: np.ndarray
    axes: np.ndarray


def reaction(run: Run, joint: str, axes: str = "world", stiffness: Mapping[str, float] | None = None) -> xarray.Dataset:
    """Reaction in a joint over time: moment and force of its first body on its second.

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
    unique = all_.unique[k]
    return xarray.Dataset(
        {
            "force": (("time", "axis"), force, {"units": "N"}),
            "moment": (("time", "axis"), moment, {"units": "N m"}),
            "force_unique": ("axis", unique[3:], {"axes": "joint"}),
            "moment_unique": ("axis", unique[:3], {"axes": "joint"}),
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
    pieces = [_solve(s.program, joints, s.trajectory.t, s.trajectory.x, run.p, stiffness or {}) for s in run.segments]
    pieces = [p for p in pieces if len(p[0])]
    return Reactions(
        tuple(j.name for j in joints),
        np.concatenate([p[0] for p in pieces]),
        np.all([p[1] for p in pieces], axis=0),
        np.concatenate([p[2] for p in pieces]),
    )


def _solve(
    program: Compiled,
    joints: list[Joint],
    t: np.ndarray,
    x: np.ndarray,
    p: np.ndarray,
    stiffness: Mapping[str, float],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    e = program.equations
    got = program.evaluate("reactions", lambda: _columns(program, joints), t, x, p)
    n, nj = len(t), len(joints)
    links = e.topology.links
    open_ = {e.closure.joints[i] for i in range(len(e.closure))} - {e.closure.joints[i] for i in program.active}
    wrench, axes = np.zeros((n, nj, 6)), np.zeros((n, nj, 3, 3))
    unique = np.ones((nj, 6), bool)
    size = float(np.ptp(got["places"][0], axis=1).max()) if n else 0.0
    length = size if size > 1e-6 else 1.0
    weight = np.concatenate([np.sqrt(stiffness.get(j.name, 1.0)) * np.repeat([length, 1.0], 3) for j in joints])
    hold = _holding(program, joints, open_, got) if n else np.zeros((0, 0))
    for i in range(n):
        rows, right = [np.zeros((0, 6 * nj))], [np.zeros(0)]
        # balance of each body about the world's origin
        balance = np.zeros((6 * len(links), 6 * nj))
        for k, joint in enumerate(joints):
            r = got[f"r {joint.name}"][i, :, 0]
            axes[i, k] = got[f"R {joint.name}"][i]
            if joint.name in open_:
                continue
            carry = np.eye(6)
            carry[:3, 3:] = _skew(r)
            for body, sign in ((joint.b.body, 1.0), (joint.a.body, -1.0)):
                index = e.topology.link_of[body.name]
                if index >= 0:
                    balance[6 * index : 6 * index + 6, 6 * k : 6 * k + 6] += sign * carry
            if joint.type.nv:  # along its freedoms a joint gives what its motors and springs give
                free = np.zeros((joint.type.nv, 6 * nj))
                free[:, 6 * k : 6 * k + 6] = got[f"Phi {joint.name}"][i].T
                rows.append(free)
                right.append(got[f"tau {joint.name}"][i, :, 0])
        # ... but where a drive or a gear holds it, that is an unknown too: what is left are combinations without it
        system = np.vstack([balance, hold @ np.vstack(rows)])
        b = np.concatenate([got["wanted"][i, :, 0], hold @ np.concatenate(right)])
        # least weighted norm
        u, s, vt = np.linalg.svd(system * weight, full_matrices=True)
        rank = int((s > 1e-9 * s[0]).sum())
        f = weight * (vt[:rank].T @ ((u[:, :rank].T @ b) / s[:rank]))
        if np.abs(system @ f - b).max(initial=0.0) > 1e-6 * max(1.0, np.abs(b).max(initial=0.0)):
            raise ModelError(
                f"the reactions do not balance the bodies at t = {t[i]:.6g} s: the motion is not consistent there"
            )
        wrench[i] = f.reshape(nj, 6)
        loose = (weight[:, None] * vt[rank:].T).reshape(nj, 6, -1)
        if loose.size:
            for k in range(nj):
                R = axes[i, k]
                own = np.concatenate([R.T @ loose[k, :3], R.T @ loose[k, 3:]])
                unique[k] &= np.abs(own).max(axis=1, initial=0.0) < 1e-7 * np.abs(loose).max()
    return wrench, unique, axes


def _columns(program: Compiled, joints: list[Joint]) -> dict[str, ca.SX]:
    """Where joints are, along what they are free, what acts on them, and what each body needs; in world axes."""
    e, limbs = program.equations, program.equations.limbs
    motion = e.motion
    columns: dict[str, ca.SX] = {}
    places = []
    for joint in joints:
        P, S = (motion.frame(frame, _placed(e, joint, frame)) for frame in (joint.a, joint.b))
        columns[f"r {joint.name}"] = ca.densify(S.X.r)
        columns[f"R {joint.name}"] = ca.densify(P.X.R)
        places.append(ca.densify(S.X.r))
        if joint.type.nv:
            columns[f"Phi {joint.name}"] = _freedoms(e, joint, S)
            effort = e.applied.on_joints.get(joint.name, ca.SX.zeros(joint.type.nv, 1))
            columns[f"tau {joint.name}"] = effort - _rotor_efforts(program, joint)
    for gear in e.topology.mechanism.couplings.values():
        columns[f"ratio {gear.name}"] = e.limbs.number(gear.ratio)
    # the size of the mechanism: between joints and centres of mass
    places += [ca.densify(motion.frame(link.body["com"]).X.r) for link in e.topology.links]
    columns["places"] = ca.horzcat(*places)
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


def _rotor_efforts(program: Compiled, joint: Joint) -> ca.SX:
    """What rotors take along the freedoms of a joint."""
    e = program.equations
    out = ca.SX.zeros(joint.type.nv, 1)
    for rotor in e.topology.mechanism.rotors.values():
        if rotor.joint == joint.name:
            row, bias = e.measures.velocity_row(rotor.joint, rotor.index)
            inertia = e.limbs.number(rotor.inertia) * e.limbs.number(rotor.ratio) ** 2
            out[rotor.index] += inertia * (ca.densify(row @ program.closed.a) + bias)
    return out


def _holding(program: Compiled, joints: list[Joint], open_: set[str], got: dict[str, np.ndarray]) -> np.ndarray:
    """Combinations of the freedoms of all joints, as rows, on which no drive and no gear acts."""
    m = program.equations.topology.mechanism
    at, count = {}, 0
    for joint in joints:
        if joint.name not in open_:
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
