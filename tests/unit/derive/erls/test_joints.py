"""Joints of ERLS: coordinates with elasticity against the frames on both sides, for all kinds, both ways round."""

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import closedchain as cc
from closedchain.derive.equations import derive
from closedchain.derive.erls.joints import joint_pose, motion_space
from closedchain.derive.erls.links import Displacements
from closedchain.derive.erls.nodes import hold_nodes
from closedchain.model.joints.types import joint_type

KINDS = ("revolute", "prismatic", "cylindrical", "screw", "universal", "spherical", "planar")
OWN = {  # joints of users: axes fixed in a body, slides that turns swing about, an axis fixed in neither body
    "slot": joint_type("slot", "Tx:0 Rz:1", "slide angle"),
    "pin": joint_type("pin", "Rz:0 Tx:1", "angle slide"),
    "gimbal": joint_type("gimbal", "Rz:0 Ry:1 Rx:2", "yaw pitch roll"),
}


def drawn(kind, first):
    """A joint of a beam's tip and a body, at a place beside its origin; the beam is the first of the two, or not."""
    m = cc.Mechanism(kind)
    beam, hub = m.body("beam", cc.rod(0.5, 1.0)), m.body("hub", cc.box((0.1, 0.2, 0.1), 0.5))
    m.weld("clamp", m.ground, beam)
    sides = [beam.tip, hub.at(0.1, 0.05, 0.02, rpy=(0.2, -0.3, 0.4))]
    options = {"screw": {"pitch": 0.1}}.get(kind, {})
    if kind not in ("spherical", "universal", "planar", *OWN):
        options["axis"] = (0.2, 1.0, 0.3)
    m.joint(OWN.get(kind, kind), "joint", *(sides if first else sides[::-1]), **options)
    e = derive(m)
    return Displacements(e, hold_nodes(e.topology, {"beam": 0.5})), m.joints["joint"]


@pytest.fixture(params=(*KINDS, *OWN))
def kind(request):
    return request.param


@pytest.mark.parametrize("first", [True, False], ids=["from the beam", "to the beam"])
def test_coordinates_are_those_between_the_frames(kind, first, rng):
    """Displaced frames of the two sides are related by the joint at its true coordinates, but for second order."""
    d, joint = drawn(kind, first)
    e, limbs = d.e, d.e.limbs
    sides = []
    for frame in (joint.a, joint.b):
        link, node = e.topology.link_of[frame.body.name], d.nodes.of(frame)
        at, moved, pose = limbs.joint_frame(joint, frame), d.at(node), d.body_pose(link)
        local = at.r + moved.lin + ca.cross(ca.densify(moved.ang), ca.densify(at.r - d.place_of(node)))
        sides += [pose.R @ at.R, pose.R @ moved.ang, pose.point(local)]  # axes undeformed, rotation, place
    X = joint_pose(e, joint)
    given = [limbs.q, d.u, limbs.p]
    f = ca.Function("sides", given, [ca.densify(ca.SX(x)) for x in sides])
    true = ca.Function("true", given, [ca.densify(X.R), ca.densify(X.r), d.relative(joint)])
    q, u, p = rng.uniform(0.2, 0.8, limbs.q.numel()), rng.normal(size=d.u.numel()), [9.81] * limbs.p.numel()
    if kind == "spherical":
        q /= np.linalg.norm(q)
    gaps = []
    for size in (1e-3, 1e-4):
        R_P, turn_P, r_P, R_S, turn_S, r_S = (np.array(x) for x in f(q, size * u, p))
        R_P = Rotation.from_rotvec(turn_P.ravel()).as_matrix() @ R_P
        R_S = Rotation.from_rotvec(turn_S.ravel()).as_matrix() @ R_S
        gained = np.array(true(q, size * u, p)[2]).ravel()
        if kind == "spherical":  # its freedoms are rotations about the axes of the second frame
            R, r, _ = (np.array(x) for x in true(q, 0 * u, p))
            R = R @ Rotation.from_rotvec(gained).as_matrix()
        else:
            R, r, _ = (np.array(x) for x in true(q + gained, 0 * u, p))
        assert np.abs(gained).max() > 0.01 * size
        gaps.append(max(np.abs(R_P.T @ R_S - R).max(), np.abs(R_P.T @ (r_S - r_P) - r).max()))
    assert gaps[1] < 20e-8  # of rotations by up to 3e-4
    assert gaps[1] < 0.011 * gaps[0] + 1e-15


@pytest.mark.parametrize("second", [True, False])
def test_freedoms_are_told_apart(kind, second, rng):
    """L Phi = 1, on both sides."""
    d, joint = drawn(kind, True)
    Phi, L = motion_space(d.e, joint, second)
    limbs = d.e.limbs
    f = ca.Function("freedoms", [limbs.q, limbs.p], [ca.densify(L @ ca.vertcat(Phi.ang, Phi.lin))])
    q = rng.uniform(0.2, 0.8, limbs.q.numel())
    assert np.abs(np.array(f(q / np.linalg.norm(q), [9.81] * limbs.p.numel())) - np.eye(joint.type.nv)).max() < 1e-15
