"""Starts of many points: those of `assemble`, on the branch of the reference, and a reason where there is none."""

from dataclasses import replace

import numpy as np
import pytest

import closedchain as cc
from closedchain.march.batch.assemble import SENTENCES, Reason, batch_assemble
from closedchain.pose.state import parameter_vector

POINTS = 5


def varied(m, size, ends=("length", ".x", ".y")):
    """Parameters with lengths changed by up to a share, other than gravity."""
    names = list(m.parameters.merged(None))
    lengths = [i for i, name in enumerate(names) if name.endswith(ends) and not name.startswith("gravity")]
    p = np.tile(parameter_vector(m), (POINTS, 1))
    p[:, lengths] *= np.random.default_rng(8).uniform(1 - size, 1 + size, (POINTS, len(lengths)))
    return names, p


@pytest.mark.parametrize(
    ("name", "size", "rates"),
    [
        ("four_bar", 0.1, {"O": 2.0}),
        ("five_bar", 0.05, {"left motor": 0.3, "right motor": -0.2}),
        ("rrr3", 0.02, {"base1": 0.1, "base2": 0.2, "base3": -0.3}),
        ("gough_stewart", 0.01, {f"leg{k} slide": 0.01 * k for k in range(1, 7)}),
    ],
)
def test_a_start_is_what_assemble_gives(name, size, rates):
    m = getattr(cc.library, name)()
    start = m.assemble(m.start, velocity=rates)
    names, p = varied(m, size)
    found = batch_assemble(start, p, list(m.start))
    assert found.ok.all() and (found.reason == Reason.closed).all()
    for i in range(POINTS):
        own = m.assemble(m.start, velocity=rates, guess=start, parameters=dict(zip(names, p[i], strict=True)))
        # both search until rounding stops them; velocities are of size 1
        np.testing.assert_allclose(found.q[i], own.q, rtol=0, atol=1e-12)
        np.testing.assert_allclose(found.v[i], own.v, rtol=0, atol=1e-11)


def test_given_values_differ_from_point_to_point_also_at_cut_joints_and_far_away():
    m = cc.library.four_bar()
    start = m.assemble(O=1.0)
    angles = np.linspace(0.2, 6.0, POINTS)  # nearly a turn: followed in steps
    p = np.tile(parameter_vector(m), (POINTS, 1))
    found = batch_assemble(start, p, {"O": angles}, {"O": 2.0 * angles})
    assert found.ok.all()
    for q, v, angle in zip(found.q, found.v, angles, strict=True):
        here = replace(start, q=q, v=v)
        assert here["O"] == angle and np.sin(here["B"]) * np.sin(start["B"]) > 0  # the same branch
        own = m.assemble(O=angle, guess=here, velocity={"O": 2.0 * angle})
        np.testing.assert_allclose(q, own.q, rtol=0, atol=1e-12)  # rounding, also of v, which is of size 10
        np.testing.assert_allclose(v, own.v, rtol=0, atol=1e-11)
    # the joint that is cut
    cut = start.topology.cuts[0].name
    again = batch_assemble(start, p[:1], {cut: start[cut] + 0.1})
    own = m.assemble({cut: start[cut] + 0.1}, guess=start)
    np.testing.assert_allclose(again.q[0], own.q, atol=1e-12)  # rounding
    assert again.v[0].any() == own.v.any()


def test_orientations_and_free_joints():
    m = cc.Mechanism("hung plate", gravity=(0, 0, -9.81))
    plate = m.body("plate", cc.box(mass=1.0, size=(0.4, 0.3, 0.02)))
    m.free("pose", m.ground, plate)
    start = m.assemble({"pose": (0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0)}, velocity={})
    p = np.tile(parameter_vector(m), (2, 1))
    pose = np.array([[0.1, 0.2, 0.3, 0.8, 0.6, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0, 2.0, 0.0]])
    found = batch_assemble(start, p, {"pose": pose})
    assert found.ok.all()
    # as given, but for the length of the quaternion
    np.testing.assert_allclose(found.q[0], pose[0], atol=1e-15)
    np.testing.assert_allclose(found.q[1], [0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0], atol=1e-15)


def test_without_loops_and_with_loops_open():
    m = cc.library.pendulum()
    start = m.assemble()
    p = np.tile(parameter_vector(m), (3, 1))
    found = batch_assemble(start, p, {"hinge": [0.1, 0.2, 0.3]}, {"hinge": 2.0})
    assert found.ok.all() and found.q[:, 0].tolist() == [0.1, 0.2, 0.3]
    np.testing.assert_allclose(found.v[:, 0], 2.0, rtol=1e-15)
    m = cc.library.four_bar()
    (cut,) = (joint.name for joint in m.assemble().topology.cuts)
    held = {name: 0.3 for name in m.joints if name != cut}
    start = m.assemble(held, open_joints=(cut,))
    own = m.assemble(held | {"O": 0.5}, open_joints=(cut,), guess=start)
    found = batch_assemble(start, np.tile(parameter_vector(m), (2, 1)), held | {"O": 0.5})
    assert found.ok.all()
    np.testing.assert_allclose(found.q[1], own.q, rtol=0, atol=1e-15)  # also the angle of the open joint


def test_a_point_without_a_start_says_why():
    m = cc.library.four_bar()
    start = m.assemble(O=1.0)
    names, p = varied(m, 0.0)
    p[1, names.index("rocker.length")] = 9.0
    p[2, names.index("crank.length")] = np.nan
    found = batch_assemble(start, p, ["O"])
    assert found.ok.tolist() == [True, False, False, True, True]
    assert (found.reason[1:3] == Reason.open).all() and np.isnan(found.q[1:3]).all() and np.isnan(found.v[1:3]).all()
    # a four-bar has one freedom: these two velocities contradict each other
    torn = batch_assemble(start, p, ["O"], {"O": 1.0, "C": [0.0, 0.0, 0.0, 50.0, 0.0]})
    assert torn.reason[3] == Reason.contradicted
    assert set(SENTENCES) == set(Reason) - {Reason.closed}


def test_a_residual_that_no_motion_changes():
    m = cc.Mechanism("planar")
    crank, rocker = m.body("crank", cc.rod(length=1.0, mass=1.0)), m.body("rocker", cc.rod(length=2.5, mass=1.0))
    coupler = m.body("coupler", cc.rod(length=3.0, mass=1.0))
    height = m.parameter("height", 0.0)
    m.revolute("O", m.ground, crank)
    m.revolute("A", crank.tip, coupler)
    m.revolute("C", m.ground.at(3, 0, height), rocker)
    m.revolute("B", coupler.tip, rocker.tip)
    start = m.assemble(O=1.0, guess={"A": -1.0, "C": 1.3})
    p = np.tile(parameter_vector(m), (2, 1))
    p[1, list(m.parameters.merged(None)).index("height")] = 0.1
    assert batch_assemble(start, p, ["O"]).reason.tolist() == [Reason.closed, Reason.never]


def test_what_is_refused():
    m = cc.library.four_bar()
    start = m.assemble(O=1.0)
    p = np.tile(parameter_vector(m), (3, 1))
    with pytest.raises(cc.ModelError, match="no joint or coordinate is named 'X'"):
        batch_assemble(start, p, ["X"])
    with pytest.raises(cc.ModelError, match="for each of 3 points"):
        batch_assemble(start, p, {"O": [1.0, 2.0]})
    with pytest.raises(cc.ModelError, match="columns"):
        batch_assemble(start, p[:, 1:], ["O"])
