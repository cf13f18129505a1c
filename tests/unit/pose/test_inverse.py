"""Inverse dynamics in simple cases with known answers."""

import math

import numpy as np
import pytest

import closedchain as cc


def test_a_pendulum_needs_its_inertia_and_its_weight():
    m = cc.library.pendulum(length=2.0, mass=3.0)
    need = cc.inverse_dynamics(m, {"hinge": 0.5 + cc.t**2}, until=1.0, actuators=["hinge"])
    t = need.t
    gravity = 3.0 * 9.81 * 1.0 * np.cos(0.5 + t**2)  # the rod is drawn along x: angles from the horizontal
    assert need["hinge"].values == pytest.approx(3.0 * 2.0**2 / 3 * 2.0 + gravity, abs=1e-10)
    assert need["hinge speed"].values == pytest.approx(2 * t, abs=1e-12)
    assert need["hinge power"].values == pytest.approx(need["hinge"].values * 2 * t, abs=1e-10)


def test_all_that_is_drawn_acts_but_the_motors():
    m = cc.library.pendulum()
    m.joint_spring("hinge", 7.0, rest=0.2)
    m.joint_damper("hinge", 0.5)
    m.rotor("hinge", 1e-4, ratio=50.0)
    m.force("push", m.bodies["arm"]["tip"], (0.0, lambda t: 2 * t, 0.0))
    m.motor("hinge", torque=lambda t, q, v: 1000 * (1 - q["hinge"]))  # its law is not what is asked for
    need = cc.inverse_dynamics(m, {"hinge": 0.3 * cc.t}, until=1.0)
    t, q = need.t, 0.3 * need.t
    wanted = 9.81 * 0.5 * np.cos(q) + 7.0 * (q - 0.2) + 0.5 * 0.3 - 2 * t * np.cos(q)
    assert need["hinge"].values == pytest.approx(wanted, abs=1e-10)
    faster = cc.inverse_dynamics(m, {"hinge": 0.3 * cc.t**2}, until=1.0)
    q = 0.3 * t**2
    wanted = 9.81 * 0.5 * np.cos(q) + 7.0 * (q - 0.2) + 0.3 * t - 2 * t * np.cos(q) + 0.6 * (1 / 3 + 1e-4 * 50**2)
    assert faster["hinge"].values == pytest.approx(wanted, abs=1e-10)


def test_motors_that_are_no_actuators_keep_their_laws():
    m = cc.library.double_pendulum()
    m.motor("elbow", torque=2.5)
    path = {"shoulder": 0.3, "elbow": 0.4}
    both = cc.inverse_dynamics(m, path, until=1.0, actuators=["shoulder", "elbow"])
    assert both.actuators == ("shoulder", "elbow")
    held = cc.holding_efforts(m, m.assemble(**path), actuators=["shoulder", "elbow"])
    assert both.tau[0] == pytest.approx(held.tau[0], abs=1e-12)
    elbow = float(held["elbow"][0])
    free = cc.library.double_pendulum()
    free.motor("elbow", torque=elbow)  # exactly what it takes: the shoulder alone then holds the rest
    one = cc.inverse_dynamics(free, path, until=1.0, actuators=["shoulder"])
    assert one["shoulder"].values == pytest.approx(float(held["shoulder"][0]), abs=1e-9)


def test_an_under_actuated_mechanism_is_told_what_it_cannot_choose():
    m = cc.library.double_pendulum()
    with pytest.raises(cc.ModelError, match=r"along 'elbow' are missing.*'elbow'.*1 actuator cannot choose 2 freedoms"):
        cc.inverse_dynamics(m, {"shoulder": cc.t, "elbow": 0.4}, until=1.0, actuators=["shoulder"])
    # but what gravity holds by itself it may keep: both rods hanging down
    hanging = cc.inverse_dynamics(m, {"shoulder": -cc.pi / 2, "elbow": 0.0}, until=1.0, actuators=["shoulder"])
    assert np.abs(hanging.tau).max() < 1e-12


def test_a_drive_is_an_actuator():
    m = cc.library.four_bar(torque=0.0)
    m.drive("C", lambda t: 1.2 + 0.3 * cc.math.sin(t), name="held")
    need = cc.inverse_dynamics(m, until=1.0, actuators=["C"], samples=11)
    run = cc.simulate(m, need.motion.start, 1.0, rtol=1e-10, t_eval=need.t)
    assert need["C"].values == pytest.approx(run["held"].values, abs=1e-7)  # tolerance of the run


def test_an_actuator_on_a_cut_joint():
    """Whichever joint is cut, the motor at the crank needs the same torque."""
    found = []
    for cut in "OABC":
        m = cc.Mechanism("four-bar", gravity=(0, -9.8, 0))
        crank, coupler, rocker = (
            m.body(n, cc.rod(length=x, mass=1.0)) for n, x in (("a", 1.0), ("b", 4.0), ("c", 2.5))
        )
        m.revolute("O", m.ground, crank, guess=math.pi / 2, cut=cut == "O")
        m.revolute("A", crank.tip, coupler, guess=-1.2, cut=cut == "A")
        m.revolute("C", m.ground.at(3, 0, 0), rocker, guess=1.26, cut=cut == "C")
        m.revolute("B", coupler.tip, rocker.tip, guess=0.9, cut=cut == "B")
        for method in ("projection", "virtual-spring", "denoc"):
            need = cc.inverse_dynamics(
                m, {"O": cc.pi / 2 + cc.t**2}, until=1.0, actuators=["O"], method=method, samples=11
            )
            found.append(need["O"].values)
    assert max(np.abs(x - found[0]).max() for x in found) < 1e-10


def test_the_formula_of_wang_for_the_four_bar():
    """Equation (20) with its two misprints mended, at the angles and rates of a motion."""
    motion = cc.follow(cc.library.four_bar(), {"O": cc.pi / 2 + 0.7 * cc.t**2}, until=1.0, samples=11)
    need = cc.inverse_dynamics(motion.mechanism, motion, method="virtual-spring")
    th, al, ph = motion["O"].values, (motion["O"] + motion["A"]).values, motion["C"].values
    thd, ald = motion["O'"].values, (motion["O'"] + motion["A'"]).values
    thdd, aldd, phdd = motion["O''"].values, (motion["O''"] + motion["A''"]).values, motion["C''"].values
    (l1, l2, l3), m, (r1, r2, r3), g = (1.0, 4.0, 2.5), 1.0, (0.5, 2.0, 1.25), 9.8
    I1, I2, I3 = (m * x**2 / 12 for x in (l1, l2, l3))
    s, c = np.sin, np.cos
    below = l2 * l3 * s(al - ph)
    f_x = (
        m * r2 * l1 * l3 * c(ph) * c(th - al) * thdd
        + l3 * (I2 + m * r2**2) * c(ph) * aldd
        + l2 * (I3 + m * r3**2) * c(al) * phdd
        + m * r2 * l1 * l3 * c(ph) * s(al - th) * thd**2
        + m * g * r2 * l3 * c(ph) * c(al)
        + m * g * r3 * l2 * c(al) * c(ph)  # lost in print
    ) / below
    f_y = (
        l3 * m * l1 * r2 * c(th - al) * s(ph) * thdd
        + l3 * (I2 + m * r2**2) * s(ph) * aldd
        + l2 * (I3 + m * r3**2) * s(al) * phdd
        + m * r2 * l1 * l3 * s(al - th) * s(ph) * thd**2
        + m * g * r2 * l3 * s(ph) * c(al)
        + m * g * r3 * l2 * s(al) * c(ph)
    ) / below
    tau = (
        (I1 + m * r1**2 + m * l1**2) * thdd
        + m * l1 * r2 * c(th - al) * aldd
        + m * l1 * r2 * s(th - al) * ald**2
        + (m * g * r1 + m * g * l1) * c(th)
        - l1 * s(th) * f_x
        + l1 * c(th) * f_y  # printed with a minus
    )
    assert need["O"].values == pytest.approx(tau, abs=1e-11)
    assert need.closing_forces.sel(closure="B x").values == pytest.approx(f_x, abs=1e-11)
    assert need.closing_forces.sel(closure="B y").values == pytest.approx(f_y, abs=1e-11)


def test_redundant_closures_do_not_matter():
    """Of a Bennett linkage, whose rows repeat others at closed poses only."""
    from tests.invariants.drawings import bennett

    m = bennett()
    start = m.assemble()
    first = next(iter(m.joints))
    found = [
        cc.inverse_dynamics(
            m, {first: start[first] + 0.2 * cc.t}, until=0.5, actuators=[first], method=method, samples=6, guess=start
        ).tau
        for method in ("projection", "virtual-spring", "denoc")
    ]
    assert max(np.abs(found[0] - x).max() for x in found[1:]) < 1e-12 * np.abs(found[0]).max()


@pytest.mark.parametrize("method", [cc.Multipliers(), cc.Projection(sigma=10.0), cc.IndependentCoordinates()])
def test_the_motors_of_a_run_are_found_along_it(method):
    m = cc.library.four_bar()
    run = cc.simulate(m, until=1.0, method=method, rtol=1e-10)
    need = cc.inverse_dynamics(m, run)
    assert need["O"].values == pytest.approx(np.full(201, 6.0), abs=1e-7)  # closed to the run's tolerance
    m.parameters["coupler.mass"] = 2.0
    assert np.abs(cc.inverse_dynamics(m, run)["O"].values - 6.0).max() > 1.0  # the same motion, a heavier rod
    with pytest.raises(cc.ModelError, match="leave out until"):
        cc.inverse_dynamics(m, run, until=0.5)
