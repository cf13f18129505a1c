"""Whether reactions are right: each body is in balance under them, and what joints exert by constraint does no work.

What a body needs is found here a second time, from the motion of its centre of mass:

    force = m (a - g),    moment about the centre = I w' + w x I w

less what forces and springs at its frames give; the joints' wrenches must add up to it. And of each joint, the power of
its wrench on the relative motion of its two bodies must be that of what acts along its freedoms.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from closedchain.derive.equations import Equations
from closedchain.derive.rnea import body_forces
from closedchain.errors import ModelError
from closedchain.results.reactions.at_joints import AtJoints, holders, side
from closedchain.results.reactions.newton_euler import moved
from closedchain.results.reactions.reactions import Moved, reactions
from closedchain.results.reactions.wrenches import Reactions
from closedchain.results.samples import Samples

if TYPE_CHECKING:
    import xarray


def balance(source: Moved, stiffness: Mapping[str, float] | None = None) -> xarray.Dataset:
    """Checks of the reactions of a motion, over time.

    ``force_error`` and ``moment_error`` (about its centre of mass) tell for each body by how much the reactions miss
    what Newton and Euler ask for; ``relative_error`` compares both with the largest force in the mechanism at that
    time, moments over the length that `reaction` has. ``effort_power`` is the power of what acts along a joint's
    freedoms: motors, springs, dampers, friction, rotors, drives and gears. ``constraint_power`` is that of the rest of
    its wrench: zero, up to rounding, for all joints but those that a formulation replaces by springs.
    ``relative_power`` compares it with the power of the largest reaction on the motion of its body. Samples without
    an answer are NaN.

    Parameters
    ----------
    source
        The motion.
    stiffness
        As in `reaction`.

    Examples
    --------
    >>> import closedchain as cc
    >>> check = cc.simulate(cc.library.four_bar(), until=0.5, t_eval=[0.0, 0.5]).balance()
    >>> bool((check["relative_error"] < 1e-12).all() and (check["relative_power"] < 1e-12).all())
    True
    """
    import xarray

    refusal = source._samples()[0].no_balance
    if refusal:
        raise ModelError(refusal)
    found = reactions(source, stiffness)
    first, parts = 0, []
    for samples, at in found.pieces:
        parts.append(_checked(samples, at, found, slice(first, first + len(samples))))
        first += len(samples)
    got = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    of_body, of_joint = ("time", "body"), ("time", "joint")
    bodies = [link.body.name for link in found.pieces[0][0].equations.topology.links]
    return xarray.Dataset(
        {
            "force_error": (of_body, got["force_error"], {"units": "N"}),
            "moment_error": (of_body, got["moment_error"], {"units": "N m", "about": "at the centre of mass"}),
            "relative_error": (of_body, got["relative_error"], {"units": "1", "about": "over the largest force"}),
            "effort_power": (of_joint, got["effort_power"], {"units": "W", "about": "of what acts along freedoms"}),
            "constraint_power": (of_joint, got["constraint_power"], {"units": "W", "about": "of all else"}),
            "relative_power": (of_joint, got["relative_power"], {"units": "1", "about": "over the largest power"}),
        },
        coords={"time": ("time", found.t, {"units": "s"}), "body": bodies, "joint": list(found.joints)},
    )


def _checked(samples: Samples, at: AtJoints, found: Reactions, block: slice) -> dict[str, np.ndarray]:
    """All checks of one piece of a motion."""
    e = samples.equations
    names = [joint.name for joint in e.topology.joints]
    here = [names.index(name) for name in found.joints]
    got = {k: x.transpose(0, 2, 1) for k, x in samples.evaluate("balance", lambda a, lam: _columns(e, a)).items()}
    wrench, scale = found.wrench[block], np.repeat([found.length, 1.0], 3)

    need = got["need"]
    off = _exerted(e, at, found, block, got["centre"]) - need
    largest = np.maximum(_largest(np.abs(wrench / scale)), _largest(np.abs(need / scale)))
    power = np.sum(wrench * got["twist"][:, here], axis=2)
    effort = np.stack([_effort_power(samples, at, names[k], wrench[:, i], got) for i, k in enumerate(here)], axis=1)
    size = np.linalg.norm(wrench.reshape(*wrench.shape[:2], 2, 3), axis=3) * got["speeds"][:, here]
    return {
        "force_error": np.linalg.norm(off[..., 3:], axis=2),
        "moment_error": np.linalg.norm(off[..., :3], axis=2),
        "relative_error": np.abs(off / scale).max(axis=2) / largest,
        "effort_power": effort,
        "constraint_power": power - effort,
        "relative_power": np.abs(power - effort) / _largest(size),
    }


def _exerted(e: Equations, at: AtJoints, found: Reactions, block: slice, centre: np.ndarray) -> np.ndarray:
    """(n, links, 6): what joints exert on each body together, about its centre of mass."""
    out = moved(at.apart[..., None], at.origin - centre)
    joints = {joint.name: joint for joint in e.topology.joints}
    for k, name in enumerate(found.joints):
        for frame, sign in ((joints[name].b, 1.0), (joints[name].a, -1.0)):
            link = e.topology.link_of[frame.body.name]
            if link >= 0:
                one = slice(k, k + 1)
                arm = found.r_second[block, one] - centre[:, link : link + 1]
                out[:, link : link + 1] += sign * moved(found.wrench[block, one, :, None], arm)
    return out[..., 0]


def _effort_power(
    samples: Samples, at: AtJoints, name: str, wrench: np.ndarray, got: dict[str, np.ndarray]
) -> np.ndarray:
    """Power of all that acts along the freedoms of a joint; a drive or gear gives what is left of the wrench there."""
    if name not in at.tau:
        return np.zeros(len(samples))
    e, tau = samples.equations, at.tau[name].copy()
    known = {e.closure.joints[row] for row in samples.closing} | set(samples.open_joints)
    for holder, acting in holders(e, frozenset(samples.efforts)).items():
        for (joint, index), _ in acting:
            if joint == name and holder not in known and name not in samples.slack:
                tau[:, index] = np.sum(at.Phi[name][:, :, index] * wrench, axis=1)
    return np.sum(tau * got[f"v {name}"][:, 0], axis=1)


def _largest(x: np.ndarray) -> np.ndarray:
    """The largest of all numbers at each sample, (n, 1); one where all are zero, since they divide something."""
    most = x.max(axis=(1, 2), initial=0.0)[:, None]
    return np.where(most == 0, 1.0, most)


def _columns(e: Equations, a: ca.SX) -> dict[str, ca.SX]:
    """Centres of mass and what bodies need there; relative twists of joints, speeds of their bodies, velocities."""
    number, needs, centres = e.limbs.number, [], []
    flexible = body_forces(e.limbs, e.motion, e.applied.wrenches, a) if e.topology.mechanism.flexible else []
    for i, link in enumerate(e.topology.links):
        centre, p = e.motion.frame(link.body["com"]), link.body.properties
        if link.shape is not None:  # a body that deforms needs more than the acceleration of one point
            X, need = e.motion.X[i], flexible[i]
            moment, force = ca.densify(X.R @ need.ang), ca.densify(X.R @ need.lin)
            moment += ca.cross(ca.densify(X.r - centre.X.r), force)
            needs.append(ca.vertcat(moment, force))
            centres.append(ca.densify(centre.X.r))
            continue
        xx, yy, zz, xy, xz, yz = (number(x) for x in p.inertia)
        R, w = ca.densify(centre.X.R), ca.densify(centre.velocity.ang)
        I = R @ ca.blockcat([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
        # accelerations less that of free fall
        w_dot, a_less_g = (ca.densify(bias + J @ a) for bias, J in zip(centre.bias, centre.J, strict=True))
        moment, force = I @ w_dot + ca.cross(w, I @ w), number(p.mass) * a_less_g
        if i in e.applied.wrenches:
            X = e.motion.X[i]
            n, f = (ca.densify(X.R @ x) for x in e.applied.wrenches[i].rigid)
            moment -= n + ca.cross(ca.densify(X.r - centre.X.r), f)
            force -= f
        needs.append(ca.vertcat(moment, force))
        centres.append(ca.densify(centre.X.r))
    columns = {"need": ca.horzcat(*needs), "centre": ca.horzcat(*centres)}
    twists, speeds = [], []
    for joint in e.topology.joints:
        P, S = side(e, joint, joint.a), side(e, joint, joint.b)
        (w_P, v_P), (w_S, v_S) = (tuple(map(ca.densify, x.velocity)) for x in (P, S))
        v_P += ca.cross(w_P, ca.densify(S.X.r - P.X.r))  # of the point of the first body that is at S
        twists.append(ca.vertcat(w_S - w_P, v_S - v_P))
        speeds.append(ca.vertcat(ca.norm_2(w_S) + ca.norm_2(w_P), ca.norm_2(v_S) + ca.norm_2(v_P)))
        if joint.type.nv:
            columns[f"v {joint.name}"] = e.measures.velocities(joint)
    return columns | {"twist": ca.horzcat(*twists), "speeds": ca.horzcat(*speeds)}
