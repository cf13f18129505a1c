"""Errors against a reference run, and how good the reference is."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.results.compare.reference import errors, make_reference
from closedchain.results.compare.trial import Trial, attempt


def run(start, method, until=0.3, rtol=1e-8):
    return attempt(start, until, Trial(method, rtol=rtol)).run


def test_the_reference_says_what_it_is_and_how_good():
    start = cc.library.four_bar().assemble()
    reference = make_reference(start, 0.3, 1e-6)
    assert str(reference).startswith("Multipliers with dop853 at rtol 1e-12, good to ")
    assert 0 < reference.uncertainty < 1e-9
    # a run at 1e-8 is off by more than the reference is unsure of, and by about its tolerance
    assert reference.uncertainty < reference.errors(run(start, cc.Multipliers())).motion < 1e-6


def test_errors_of_angles_and_lengths_are_apart():
    start = cc.library.slider_crank().assemble()
    best = run(start, cc.Multipliers(), rtol=1e-12)
    off = errors(run(start, cc.VirtualSpring(1e5, 100.0)), best)
    assert 1e-8 < off.angle < 1e-2 and 1e-8 < off.length < 1e-2
    assert off.motion == max(off.angle, off.length)
    same = errors(best, best)
    assert same == (0.0, 0.0, 0.0)


def test_known_errors_are_found(monkeypatch):
    start = cc.library.gough_stewart().assemble()
    best, other = (run(start, cc.Multipliers(), until=0.05) for _ in range(2))
    q = other._outputs["q"]
    e = best.program.equations
    at, places = 0, {}
    for joint in e.topology.joints:
        places[joint.name] = at
        at += joint.type.nq
    pose = next(j for j in e.topology.tree_joints.values() if j.joint.type.has_quaternion).joint
    four = slice(places[pose.name] + pose.type.nq - 4, places[pose.name] + pose.type.nq)
    # a turn of 1e-3 about z, and the other sign of the quaternion, which means the same rotation
    w, x, y, z = q[5, four]
    c, s = np.cos(5e-4), np.sin(5e-4)
    q[5, four] = -np.array([c * w - s * z, c * x - s * y, c * y + s * x, c * z + s * w])
    off = errors(other, best)
    assert off.angle == pytest.approx(1e-3, rel=1e-6)  # asin of a chord: rounding of 1e-16 over 1e-3
    assert off.length == 0.0


def test_closing_forces_are_the_same_for_all_methods_also_where_closures_repeat_each_other():
    m = cc.library.four_bar_chain(2)
    start = m.assemble()
    methods = (cc.Multipliers(), cc.DeNOC(), cc.OperationalSpace())
    forces = [run(start, x, rtol=1e-11).solution.closing_forces() for x in methods]
    size = np.abs(forces[0]).max()
    for other in forces[1:]:
        np.testing.assert_allclose(other, forces[0], atol=1e-7 * size)  # what 1e-11 a step leaves of accelerations
    # six hinges across the plane would need forces that nobody knows: springs share them as they like
    spring = errors(run(start, cc.VirtualSpring(1e8, 2e4)), run(start, cc.Multipliers()))
    assert spring.reaction < 0.2


def test_a_mechanism_without_loops_has_no_closing_forces():
    start = cc.library.pendulum().assemble()
    off = errors(run(start, cc.Multipliers()), run(start, cc.Multipliers(), rtol=1e-12))
    assert np.isnan(off.reaction) and np.isnan(off.length) and 0 < off.angle < 1e-6


def test_no_reference_where_nothing_runs():
    m = cc.Mechanism("bad torque")
    arm = m.body("arm", cc.rod(length=1.0, mass=1.0))
    m.revolute("O", m.ground, arm)
    m.motor("O", torque=lambda t, q, v: cc.math.log(0.1 - t))
    with pytest.raises(cc.RunError, match="O"):
        make_reference(m.assemble(), 1.0, 1e-6)
