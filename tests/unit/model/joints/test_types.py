"""The table of joints: each entry is whole, and has what every layer above needs."""

import pytest

import closedchain as cc
from closedchain.model.joints.types import JOINT_TYPES

FREEDOMS = {
    "revolute": 1, "prismatic": 1, "cylindrical": 2, "screw": 1, "universal": 2, "planar": 3, "weld": 0, "spherical": 3,
    "free": 6,
}  # fmt: skip


def test_all_joints_that_are_promised_exist():
    assert set(JOINT_TYPES) == set(FREEDOMS)


@pytest.mark.parametrize("kind", JOINT_TYPES.values(), ids=lambda kind: kind.name)
def test_entries_are_whole(kind):
    assert kind.nv == FREEDOMS[kind.name]
    assert kind.nq == kind.nv + kind.has_quaternion  # a unit quaternion has one number more than freedoms
    assert len(kind.coordinate_units) == kind.nq and len(kind.velocity_units) == kind.nv
    assert len(set(kind.coordinates)) == kind.nq and len(set(kind.velocities)) == kind.nv
    assert all(motion.coordinate < max(kind.nq, 1) for motion in kind.motions)
    assert all(unit in ("rad", "m", "1") for unit in kind.coordinate_units)
    assert all(unit in ("rad/s", "m/s") for unit in kind.velocity_units)


@pytest.mark.parametrize("kind", JOINT_TYPES.values(), ids=lambda kind: kind.name)
def test_closure_locks_what_the_motion_leaves_out(kind):
    from closedchain.derive.closure import ROWS

    assert sum(len(ROWS[row].labels) for row in kind.closure) == 6 - kind.nv


@pytest.mark.parametrize("kind", JOINT_TYPES)
def test_every_joint_has_a_method(kind):
    m = cc.Mechanism("m")
    options = {"pitch": 0.1} if kind == "screw" else {}
    joint = getattr(m, kind)("j", m.ground, m.body("b", cc.ball(0.1, 1.0)), **options)

    assert joint.type is JOINT_TYPES[kind] and m.joints["j"] is joint


def test_joints_have_different_symbols():
    symbols = [kind.symbol for kind in JOINT_TYPES.values()]
    assert len(set(symbols)) == len(symbols) and all(len(symbol) == 1 for symbol in symbols)
