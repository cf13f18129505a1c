"""The linear algebra behind reactions: wrenches about other points, blocks of samples, units of length, far places."""

from dataclasses import replace

import numpy as np
import pytest

import closedchain as cc
from closedchain.results.reactions import newton_euler
from closedchain.results.reactions.newton_euler import moved
from closedchain.results.reactions.wrenches import wrenches
from tests.invariants import drawings
from tests.unit.results.efforts.motions_by_hand import at_state


def test_moved():
    """A force of 1 N along y at x = 2 turns about the origin, and not about the place where it acts."""
    w = np.array([0, 0, 0, 0, 1.0, 0]).reshape(1, 1, 6, 1)
    arm = np.array([2.0, 0, 0]).reshape(1, 1, 3)
    np.testing.assert_array_equal(moved(w, arm).ravel(), [0, 0, 2, 0, 1, 0])
    np.testing.assert_array_equal(moved(moved(w, arm), -arm), w)


def test_blocks_change_nothing(monkeypatch):
    run = cc.simulate(drawings.four_bar(cut="B"), until=0.3, t_eval=np.linspace(0, 0.3, 7))
    (samples,) = run._samples()
    whole = wrenches(samples)
    monkeypatch.setattr(newton_euler, "BLOCK", 1)
    apart = wrenches(samples)
    np.testing.assert_array_equal(apart.wrench, whole.wrench)
    assert apart.loose.shape == whole.loose.shape == (7, 4, 6, 3)


def test_a_piece_without_samples():
    m = drawings.four_bar(cut="B")
    m.drive("B", m.assemble()["B"])
    one = at_state(m, m.assemble())
    none = replace(one, **{x: getattr(one, x)[:0] for x in "tqva"})
    assert wrenches(none).wrench.shape == (0, 4, 6)
    rows = replace(none, p=np.tile(one.p, (0, 1)))
    assert wrenches(rows).joints == ("O", "A", "B", "C")


def test_what_holds_an_open_joint_has_to_be_known():
    """A run knows it: it is the multiplier of the drive."""
    m = drawings.four_bar(cut="B")
    m.drive("B", m.assemble()["B"] + 0.1 * cc.t)
    m.start = {}
    let_go = cc.Event("let go", cc.t - 0.1, then=cc.Switch(open="B"))
    after = cc.simulate(m, until=0.2, t_eval=[0.0, 0.2], events=[let_go])._samples()[-1]
    assert [after.equations.closure.joints[row] for row in after.closing] == ["B.drive"]
    with pytest.raises(cc.ModelError, match="acts on joint 'B', which is open: its force there has to be given"):
        wrenches(replace(after, closing={}))


def pushed_four_bar(unit=1.0, far=0.0):
    """A four-bar that is pushed out of its plane, drawn in any unit of length (m / unit) and at any place."""
    m = cc.Mechanism("four-bar", gravity=(0, -9.81 * unit, 0))
    bodies = []
    for name, length in drawings.LENGTHS.items():
        inertia = np.array([0.01, length**3 / 12, length**3 / 12]) * unit**2
        bodies.append(m.body(name, cc.rigid(length, com=(length / 2 * unit, 0, 0), inertia=inertia.tolist())))
    crank, coupler, rocker = bodies
    m.revolute("O", m.ground.at(far, far, 0), crank, guess=1.0)
    m.revolute("A", crank.at(unit, 0, 0), coupler, guess=-0.6)
    m.revolute("B", coupler.at(2.5 * unit, 0, 0), rocker.at(2.0 * unit, 0, 0), cut=True)
    m.revolute("C", m.ground.at(far + 2 * unit, far, 0), rocker, guess=1.2)
    m.force("side", coupler["com"], (0, 0, 5.0 * unit))
    found = wrenches(at_state(m, m.assemble(O=1.0)))
    return found, found.wrench[0] / np.repeat([unit**2, unit], 3)


def test_the_unit_of_length_does_not_matter():
    """Neither for what is shared nor for what is unique."""
    (metres, wanted), (millimetres, got) = pushed_four_bar(), pushed_four_bar(unit=1000.0)
    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-10)  # of some 10 N
    assert np.abs(wanted[:, 5]).min() > 0.1  # the push is shared
    np.testing.assert_array_equal(millimetres.unique, metres.unique)
    assert not metres.unique.all()


def test_far_from_the_origin():
    """Moments are taken about places nearby: 100 km away they are as exact as the coordinates."""
    (_, wanted), (_, got) = pushed_four_bar(), pushed_four_bar(far=1e5)
    # places are rounded to 1e-11 m there, and the loop is closed to some of these
    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-8)


def test_a_platform_on_many_legs_leaves_more_open_than_a_wrench_has():
    """Twelve clamps: 66 distributions are open, and each joint keeps the six directions that they span in it."""
    m = cc.Mechanism("table")
    plate = m.body("plate", cc.rigid(10.0, inertia=(1.0, 1.0, 2.0)))
    for k in range(12):
        x, y = np.cos(k), np.sin(k)
        m.weld(f"leg{k}", m.ground.at(x, y, 0), plate.at(x, y, 0))
    m.revolute("other", m.ground.at(9, 0, 0), m.body("arm", cc.rod(1.0, mass=1.0)))  # something must move
    found = wrenches(at_state(m, m.assemble()))
    assert found.loose.shape == (1, 13, 6, 6)
    loose = found.loose[0, :12]
    # the lengths of 66 orthonormal columns
    assert np.sum(loose**2) == pytest.approx(66.0, rel=1e-12)
    assert not found.unique[:12].any() and found.unique[12].all()
    # all carry the same force, or so: the moments that come with it differ by where the legs stand
    assert found.wrench[0, :12, 5].sum() == pytest.approx(98.1, rel=1e-12)
