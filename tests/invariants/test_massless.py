"""Bodies without mass inside loops: a rod carries along its length only, and legs of a platform add no inertia."""

import numpy as np
import pytest

import closedchain as cc
from tests.invariants.drawings import relative_energy_error


def four_bar(mass, cut=None):
    m = cc.Mechanism("four-bar", gravity=(0, -9.81, 0))
    rods = (("crank", 1, 1), ("coupler", 2.5, mass), ("rocker", 2, 2))
    crank, coupler, rocker = (m.body(name, cc.rod(length, mass=x)) for name, length, x in rods)
    m.revolute("O", m.ground, crank, cut=cut == "O" or None)
    m.revolute("A", crank.tip, coupler, cut=cut == "A" or None)
    m.revolute("C", m.ground.at(2, 0, 0), rocker, cut=cut == "C" or None)
    m.revolute("B", coupler.tip, rocker.tip, cut=cut == "B" or None)
    return m, m.assemble(O=1.0, guess={"A": -1.0, "C": 1.5})


@pytest.mark.parametrize("cut", [None, "O", "A", "C", "B"])
def test_a_massless_coupler_pulls_along_its_length(cut):
    m, start = four_bar(0.0, cut)
    run = cc.simulate(m, start, until=10.0, rtol=1e-10)
    assert relative_energy_error(run) < 1e-8
    along = run.frame("coupler.tip").position.values - run.frame("coupler").position.values
    force = run.reaction("B").force.values
    # a moment about the coupler's start is 2.5 m times a force across: rounding of 80 N
    assert np.abs(np.cross(along, force)).max() < 1e-10 and np.abs(force).max() > 50


def test_it_is_the_limit_of_light_ones():
    """The motion differs from that of a light coupler in proportion to its mass."""
    m, start = four_bar(0.0)
    exact = cc.simulate(m, start, until=5.0, rtol=1e-11)["O"].values
    off = []
    for mass in (1e-3, 1e-4):
        m, start = four_bar(mass)
        off.append(np.abs(cc.simulate(m, start, until=5.0, rtol=1e-11)["O"].values - exact).max())
    assert off[0] / off[1] == pytest.approx(10.0, rel=0.01)


def test_a_platform_on_massless_legs_is_a_rigid_body_under_six_forces():
    m = cc.library.gough_stewart(drive="none")
    weightless = {x: 0.0 for x in m.parameters if x.startswith("leg") and (x.endswith(".mass") or ".inertia." in x)}
    for k in range(1, 7):
        m.motor(f"leg{k} slide", force=2.0 + k)
    start = m.assemble()
    run = cc.simulate(m, start, until=0.05, rtol=1e-11, parameters=weightless)

    # Newton's law of the platform alone, at the start
    platform = np.array(run.frame("platform").position.values[0])
    force, moment = np.array([0, 0, -9.8 * 1.5]), np.zeros(3)
    for k in range(1, 7):
        corner = run.frame(f"platform.corner{k}").position.values[0]
        base = run.frame(f"leg{k} lower").position.values[0]
        push = (2.0 + k) * (corner - base) / np.linalg.norm(corner - base)
        force, moment = force + push, moment + np.cross(corner - platform, push)
    R = run.frame("platform").rotation.values[0]
    a = [float(run[f"pose.{x}'"][0]) for x in ("vx", "vy", "vz")]
    w = [float(run[f"pose.{x}'"][0]) for x in ("wx", "wy", "wz")]
    np.testing.assert_allclose(R @ a, force / 1.5, atol=1e-10)
    np.testing.assert_allclose(R @ w, moment / 0.08, atol=1e-9)
    assert relative_energy_error(run) < 1e-9


def test_a_free_motion_without_inertia_is_refused():
    """A massless rod between two balls turns about its own axis: no loop holds that."""
    m = cc.Mechanism("spinning rod", gravity=(0, 0, -9.81))
    a, b = m.body("a", cc.rod(1.0, mass=1.0, radius=0.05)), m.body("b", cc.rod(1.0, mass=1.0, radius=0.05))
    rod = m.body("rod", cc.rod(1.0, mass=0.0))
    m.revolute("left", m.ground, a, axis=(0, 1, 0), guess=-1.2)
    m.revolute("right", m.ground.at(1, 0, 0), b, axis=(0, 1, 0), guess=-1.2)
    m.spherical("upper", a.tip, rod)
    m.spherical("lower", rod.tip, b.tip)
    with pytest.raises(cc.ModelError, match=r"'(upper|lower)\.w.' has no inertia .body 'rod'.*no loop holds it"):
        cc.simulate(m, until=0.1)


def test_a_grip_that_closes_on_a_massless_rod():
    """An impact where the inertia matrix of the open limbs is singular: energy is lost as the velocities say."""
    m, start = four_bar(0.0)
    m.spherical("latch", m.ground.at(0, 1.0, 0), m.bodies["crank"].tip, cut=True)
    up = cc.Event("up", m.joints["O"].q - cc.pi / 2, then=cc.Switch(close="latch"))
    start = m.assemble(O=1.0, guess={"A": -1.0, "C": 1.5}, velocity={"O": 6.0}, open_joints=("latch",))
    run = cc.simulate(m, start, until=0.3, rtol=1e-10, events=[up])
    assert [x.what for x in run.record] == ["up"]
    assert float(run["kinetic_energy"][-1]) < 1e-20 < run.record[0].numbers["lost"]
    assert abs(run.energy_error.values).max() < 1e-8
