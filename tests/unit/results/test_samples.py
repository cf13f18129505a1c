"""Motions at samples: efforts in the place of motors and drives, numbers at many samples, frames, refusals."""

from dataclasses import replace

import numpy as np
import pytest

import closedchain as cc
from closedchain.derive.equations import derive
from closedchain.results.reactions.wrenches import wrenches
from closedchain.results.samples import Samples
from tests.invariants import drawings
from tests.unit.results.efforts.motions_by_hand import at_state


def crank(**options):
    """A crank with friction, a spring, a rotor and a motor whose torque is a law; it turns an arm."""
    m = cc.Mechanism("crank", gravity=(0, -9.81, 0))
    rod, arm = (m.body(name, cc.rod(1.0, mass=2.0, radius=0.02)) for name in ("rod", "arm"))
    m.revolute("O", m.ground, rod, friction=cc.Friction(0.3, 0.1), guess=0.4, **options)
    m.revolute("A", rod.tip, arm, guess=0.7)
    m.joint_spring("O", 5.0, rest=0.2)
    m.rotor("O", 0.01, ratio=10)
    return m


def moving(m):
    return cc.State(m, np.array([0.4, 0.7]), np.array([1.5, -0.8]))


def same(one, two):
    # rounding of forces of some 100 N
    np.testing.assert_allclose(one.wrench, two.wrench, rtol=0, atol=1e-11)


# ---- efforts -------------------------------------------------------------------------------------------------------


def test_an_effort_takes_the_place_of_motors():
    m = crank()
    m.motor("O", torque=3.0 + 2 * m.joints["O"].v)
    m.motor("O", torque=-1.0)
    plain = at_state(m, moving(m))
    given = replace(plain, efforts={("O", 0): np.array([3.0 + 2 * 1.5 - 1.0])})
    same(wrenches(given), wrenches(plain))


def test_what_is_drawn_otherwise_goes_on_acting():
    """Two motors on two joints, one of them replaced; friction, spring and rotor in both."""
    m = crank()
    m.motor("O", torque=3.0)
    m.motor("A", torque=4.0)
    plain = at_state(m, moving(m))
    same(wrenches(replace(plain, efforts={("O", 0): np.array([3.0])})), wrenches(plain))


def test_an_effort_takes_the_place_of_a_drive():
    """The run tells what the drive exerts; with that effort, and without the drive, all reactions are the same."""
    m = crank()
    m.drive("O", 0.4 + 1.5 * cc.t)
    run = cc.simulate(m, m.assemble(A=0.7), until=0.2, rtol=1e-10, t_eval=[0.0, 0.1, 0.2])
    (plain,) = run._samples()
    given = replace(plain, efforts={("O", 0): run["O.drive"].values})
    same(wrenches(given), wrenches(plain))
    # ... and a wrong effort cannot balance the bodies
    wrong = replace(plain, efforts={("O", 0): run["O.drive"].values + 1.0})
    assert np.isnan(wrenches(wrong).wrench).all()


def test_an_effort_on_a_cut_joint():
    with_motor, bare = (drawings.four_bar(cut="B") for _ in range(2))
    with_motor.motor("B", torque=2.5)
    plain = at_state(with_motor, with_motor.assemble())
    given = at_state(bare, bare.assemble(), a=plain.a[0], efforts={("B", 0): np.array([2.5])})
    assert "B" in [joint.name for joint in given.equations.topology.cuts]
    same(wrenches(given), wrenches(plain))


def test_an_effort_on_nothing_is_refused():
    m = crank()
    plain = at_state(m, moving(m))
    with pytest.raises(cc.ModelError, match="effort on the unknown joint 'o'"):
        replace(plain, efforts={("o", 0): np.zeros(1)})
    with pytest.raises(cc.ModelError, match="effort on freedom 1 of joint 'O', which has 1"):
        replace(plain, efforts={("O", 1): np.zeros(1)})


# ---- numbers -------------------------------------------------------------------------------------------------------


def test_parameters_may_differ_from_sample_to_sample():
    """A law that jumps: the number that is held is another one at each sample."""
    m = crank()
    m.motor("O", torque=cc.math.where(cc.t < 0.1, 1.0, 5.0))
    run = cc.simulate(m, until=0.2, t_eval=[0.0, 0.05, 0.15, 0.2])
    got = [wrenches(samples).wrench for samples in run._samples()]
    apart = [
        wrenches(Samples(s.equations, s.t[[i]], s.q[[i]], s.v[[i]], s.a[[i]], s.p if s.p.ndim == 1 else s.p[i])).wrench
        for s in run._samples()
        for i in range(len(s))
    ]
    np.testing.assert_array_equal(np.concatenate(got), np.concatenate(apart))


def test_pose_of_a_frame():
    m = crank()
    m.bodies["rod"].frame("side", (0.5, 0.1, 0), rpy=(0, 0, 0.3))
    R, r = at_state(m, moving(m)).pose(m.find_frame("rod.side"))
    c, s = np.cos(0.4), np.sin(0.4)
    np.testing.assert_allclose(r[0], [0.5 * c - 0.1 * s, 0.5 * s + 0.1 * c, 0], atol=1e-15)
    np.testing.assert_allclose(R[0, :, 0], [np.cos(0.7), np.sin(0.7), 0], atol=1e-15)


def test_frames_that_the_motion_does_not_know():
    m = crank()
    plain = at_state(m, moving(m))
    with pytest.raises(cc.ModelError, match=r"frame arm\.tip belongs to another mechanism"):
        plain.pose(crank().find_frame("arm.tip"))
    late = m.body("late", cc.rod(1.0, mass=1.0))
    with pytest.raises(cc.ModelError, match="body 'late' was drawn after the motion was computed"):
        plain.pose(late.tip)
    with pytest.raises(cc.ModelError, match="has changed since the motion was computed"):
        plain.pose(m.bodies["rod"].frame("new", (m.parameter("far", 3.0), 0, 0)))


def test_a_drawing_that_changed_later():
    """Motors, drives and gears that were drawn after a run did not act in it."""
    m = crank()
    run = cc.simulate(m, until=0.1, t_eval=[0.0, 0.1])
    before = run.reaction("A")["force"].values
    run._reactions.clear()
    m.motor("A", torque=100.0)
    m.drive("A", 0.7)
    m.couple("gear", "A", "O")
    derive(m)  # which forgets what was derived from the old drawing
    np.testing.assert_array_equal(run.reaction("A")["force"].values, before)
    run._reactions.clear()
    m.rotor("A", 3.0)
    derive(m)
    with pytest.raises(cc.ModelError, match="has changed since the motion was computed"):
        run.reaction("A")
