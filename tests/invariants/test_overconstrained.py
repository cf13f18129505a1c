"""Linkages whose closure equations repeat each other run as drawn, for 10 s, also through poses where rank is lost."""

import numpy as np
import pytest

import closedchain as cc
from tests.invariants import drawings
from tests.invariants.drawings import TILT, reference, relative_energy_error

# drawing: joints to cut besides the library's choice
RINGS = {
    "bennett": (None, "J1", "J4"),
    "bricard_threefold": (None, "J4"),
    "bricard_rectangular": (None, "J1"),
    "bricard_line": (None,),
}
COUNTED = {"bennett": -2, "bricard_threefold": 0, "bricard_rectangular": 0, "bricard_line": 0}


@pytest.mark.parametrize(("name", "cut"), [(name, cut) for name, cuts in RINGS.items() for cut in cuts])
def test_a_ring_of_hinges_moves_with_one_freedom(name, cut):
    m = getattr(drawings, name)(cut=cut)
    start = m.assemble()
    mobility = m.mobility(start)
    assert (mobility.true, mobility.here, mobility.counted) == (1, 1, COUNTED[name])
    run = cc.simulate(m, start, until=10.0, rtol=1e-11)
    assert run.good
    assert relative_energy_error(run) < 1e-8
    assert float(run.closure_error.max()) < 1e-12
    assert all(np.ptp(run[joint].values) > 1 for joint in m.joints)  # it does move, in every hinge


def test_bennett_keeps_its_relation_of_angles():
    """``tan(J1 / 2) tan(J2 / 2)`` is constant, opposite angles are opposite numbers."""
    m = drawings.bennett()
    run = cc.simulate(m, m.assemble(), until=10.0, rtol=1e-11)
    one, two, three, four = (run[f"J{i}"].values for i in range(1, 5))
    assert np.abs(np.sin((one + three) / 2)).max() < 1e-12 and np.abs(np.sin((two + four) / 2)).max() < 1e-12
    a, alpha, b = 1.0, np.radians(40), 0.7
    beta = np.arcsin(b / a * np.sin(alpha))
    s, d = np.sin((beta + alpha) / 2), np.sin((beta - alpha) / 2)
    gap = s * np.cos(one / 2) * np.cos(two / 2) - d * np.sin(one / 2) * np.sin(two / 2)
    assert np.abs(gap).max() < 1e-12


def test_threefold_bricard_keeps_its_symmetry():
    """Right angles between neighbours: ``cos a + cos b + cos a cos b = 0`` for neighbouring angles a, b."""
    m = drawings.bricard_threefold()
    run = cc.simulate(m, m.assemble(), until=10.0, rtol=1e-11)
    odd, even = (np.array([np.cos(run[f"J{i}"].values) for i in which]) for which in ((1, 3, 5), (2, 4, 6)))
    assert np.abs(odd - odd[0]).max() < 1e-12 and np.abs(even - even[0]).max() < 1e-12
    assert np.abs(odd[0] + even[0] + odd[0] * even[0]).max() < 1e-12


@pytest.mark.parametrize("cut", [None, "hip0", "knee1"])
def test_sarrus_falls_through_its_straight_poses(cut):
    """Where both legs are straight the knees could move one by one: the closures lose rank there, in full swing."""
    m = drawings.sarrus(cut=cut)
    start = m.assemble()
    mobility = m.mobility(start)
    assert (mobility.true, mobility.counted, len(mobility.redundant)) == (1, 0, 1)
    run = cc.simulate(m, start, until=10.0, rtol=1e-10)
    assert relative_energy_error(run) < 1e-8
    assert float(run.closure_error.max()) < 1e-12
    top = run.frame("top")
    assert np.abs(top.rotation.values - np.eye(3)).max() < 1e-12
    assert np.abs(top.position.values[:, :2]).max() < 1e-12
    assert top.position.values[:, 2].min() < -1.99  # straight down, 2 m below the ground
    assert any(happening.what == "singular pose" for happening in run.record)


def test_sarrus_on_a_spring_is_as_good_as_its_tolerance():
    """The spring turns the table round at some 0.8 m and 1.8 m, away from the straight poses."""
    m = drawings.sarrus()
    m.spring("spring", m.ground, m.bodies["top"], 30.0, length=2.5)
    run = cc.simulate(m, m.assemble(), until=10.0, rtol=1e-12)
    assert not run.record
    assert relative_energy_error(run) < 1e-9  # rtol times some hundred steps


@pytest.mark.parametrize("n", [1, 2, 8])
@pytest.mark.parametrize("tilted", [False, True])
def test_parallelograms_in_a_row_swing_through_the_flat_pose(n, tilted):
    table = reference("yardstick/parallelograms")
    mine = table["N"] == n
    m = drawings.parallelograms(n, TILT if tilted else None)
    start = m.assemble()
    mobility = m.mobility(start)
    assert (mobility.true, mobility.counted, len(mobility.redundant)) == (1, 1 - 3 * n, 3 * n)
    run = cc.simulate(m, start, until=10.0, rtol=1e-10, t_eval=table["t [s]"][mine])
    # an error of the energy of 1e-8 changes a time of 10 s by as much, at 7 rad/s
    assert np.abs(run["O0"].values - table["phi"][mine]).max() < 1e-6
    assert np.abs(run["O0'"].values - table["phi'"][mine]).max() < 1e-5  # accelerations are up to 15 rad/s^2
    assert relative_energy_error(run) < 1e-8
    assert float(run.closure_error.max()) < 1e-12


def test_forty_parallelograms():
    """The full size of IFToMM's benchmark: 81 bodies, 40 loops, all of which lose rank at the same time."""
    table = reference("yardstick/parallelograms")
    mine = table["N"] == 40
    m = drawings.parallelograms(40)
    run = cc.simulate(m, m.assemble(), until=10.0, rtol=1e-10, t_eval=table["t [s]"][mine])
    assert np.abs(run["O0"].values - table["phi"][mine]).max() < 1e-6  # as above
    assert relative_energy_error(run) < 1e-8
    assert all(np.abs(run[f"O{k}"].values - run["O0"].values).max() < 1e-9 for k in range(41))  # all rockers as one


@pytest.mark.parametrize(("n", "rockers"), [(1, 3), (3, 2), (3, 3)])
def test_parallelograms_on_top_of_each_other(n, rockers):
    """Each floor stays level; a third rocker repeats what two have said."""
    m = drawings.storeys(n, rockers)
    start = m.assemble()
    mobility = m.mobility(start)
    loops = n * (rockers - 1)
    assert (mobility.true, mobility.counted) == (n, n * 2 * rockers - 6 * loops)
    assert len(mobility.redundant) == mobility.true - mobility.counted
    run = cc.simulate(m, start, until=1.0, rtol=1e-10)
    for k in range(1, n + 1):
        assert np.abs(run.frame(f"floor{k}").rotation.values - np.eye(3)).max() < 1e-9
    # storeys swing past their flat poses, where errors grow by some hundred: from when on rows are watched one by one
    # decides, 1.6e-10 on a processor with fused multiply-add, 1.7e-8 on one without; a good run promises 1e3 rtol
    assert relative_energy_error(run) < 1e-7


def test_a_third_rocker_of_no_mass_changes_nothing():
    two, three = drawings.storeys(2, 2), drawings.storeys(2, 3)
    light = {f"rocker{k}.2.{name}": 1e-9 for k in (1, 2) for name in ("mass", "inertia.xx", "inertia.yy", "inertia.zz")}
    plain = cc.simulate(two, two.assemble(), until=0.4, rtol=1e-12)
    held = cc.simulate(three, three.assemble(parameters=light), until=0.4, rtol=1e-12)
    for name in ("foot1.0", "foot2.0"):
        assert np.abs(plain[name].values - held[name].values).max() < 1e-8  # of the mass, some 1e-9 are added


def test_a_platform_on_six_legs_that_cannot_turn():
    m = drawings.translating_hexapod()
    start = m.assemble()
    mobility = m.mobility(start)
    assert (mobility.true, mobility.counted, len(mobility.redundant)) == (3, 0, 3)
    assert {row for _, row in mobility.redundant} == {"square"}  # what a universal joint adds to a ball joint
    run = cc.simulate(m, start, until=1.0, rtol=1e-12)
    platform = run.frame("platform")
    assert np.abs(platform.rotation.values - np.eye(3)).max() < 1e-12
    assert np.ptp(platform.position.values[:, 2]) > 0.4  # it falls on its springs
    assert relative_energy_error(run) < 1e-8


def test_a_driven_platform_with_a_leg_drawn_twice():
    plain, doubled = (drawings.driven_hexapod(n) for n in (0, 1))
    assert doubled.mobility().true == 0 and doubled.mobility().counted == -1
    ((joint, row),) = doubled.mobility().redundant
    assert joint in ("leg1 slide.drive", "leg7 slide.drive") and row == "value"
    times = np.linspace(0, 2, 21)
    one, two = (cc.simulate(m, m.assemble(), until=2.0, rtol=1e-10, t_eval=times) for m in (plain, doubled))
    for frame in ("platform", "leg1 upper"):
        assert np.abs(one.frame(frame).position.values - two.frame(frame).position.values).max() < 1e-12
    assert np.abs(two["leg7 slide"].values - two["leg1 slide"].values).max() < 1e-12
    assert relative_energy_error(two) < 1e-8
