"""The yardstick: a four-bar drawn with four hinges in space, default settings, against an independent solution."""

import numpy as np
from scipy.integrate import solve_ivp

import closedchain as cc
from tests.invariants.drawings import reference
from tests.reference.yardstick import make

TABLE = reference("yardstick/four_bar")


def as_a_user_draws_it():
    m = cc.Mechanism("yardstick", gravity=(0, -9.81, 0))
    crank = m.body("crank", cc.rod(length=1.0, mass=1.0))
    coupler = m.body("coupler", cc.rod(length=2.5, mass=2.5))
    rocker = m.body("rocker", cc.rod(length=2.0, mass=2.0))
    m.revolute("O", m.ground, crank)
    m.revolute("A", crank.tip, coupler)
    m.revolute("C", m.ground.at(2, 0, 0), rocker, guess=1.0)
    m.revolute("B", coupler.tip, rocker.tip)
    return m


def test_the_crank_is_right_for_ten_seconds_with_default_settings():
    m = as_a_user_draws_it()
    run = cc.simulate(m, m.assemble(O=cc.pi / 3), until=10.0)
    assert len(run.t) == 201  # every second sample is one of the table
    assert np.abs(run["O"].values[::2] - TABLE["crank [rad]"]).max() < 1e-5
    assert np.abs(run["C"].values[::2] - TABLE["rocker [rad]"]).max() < 1e-5
    assert float(run.closure_error.max()) < 1e-9
    assert run.good and not run.record


def test_the_error_falls_with_the_tolerance():
    """1e-5 is no lucky number: six digits more are to be had."""
    m = as_a_user_draws_it()
    start = m.assemble(O=cc.pi / 3)
    errors = []
    for rtol in (1e-6, 1e-8, 1e-10, 1e-12):
        run = cc.simulate(m, start, until=10.0, rtol=rtol, t_eval=TABLE["t [s]"])
        errors.append(np.abs(run["O"].values - TABLE["crank [rad]"]).max())
    # each error is at most some 100 times its tolerance: a few hundred steps, and the time shift of a swing adds up
    assert np.all(errors < 300 * np.array([1e-6, 1e-8, 1e-10, 1e-12]))


# ---- the reference itself ------------------------------------------------------------------------------------------

BODY = make.FourBar(make.FOUR_BAR)


def test_reference_by_another_integrator():
    solution = solve_ivp(
        lambda t, x: np.array(make.rhs(BODY, x), float),
        (0, 10),
        [np.pi / 3, 0.0],
        method="DOP853",
        rtol=1e-13,
        atol=1e-13,
        t_eval=TABLE["t [s]"],
    )
    # 1000 steps of 1e-13, and the interpolation between them
    assert np.abs(solution.y[0] - TABLE["crank [rad]"]).max() < 1e-9
    assert np.abs(solution.y[1] - TABLE["crank' [rad/s]"]).max() < 1e-8


def test_reference_closes_its_loop_and_keeps_its_energy():
    p = make.FOUR_BAR
    e = {k: np.exp(1j * TABLE[f"{k} [rad]"]) for k in ("crank", "coupler", "rocker")}
    gap = p["crank"] * e["crank"] + p["coupler"] * e["coupler"] - p["ground"] - p["rocker"] * e["rocker"]
    assert np.abs(gap).max() < 1e-14  # rounding of the printed angles
    # energy from the velocities of the bodies, formed here by differences of the loop, not by the script's derivatives
    theta, rate, h = TABLE["crank [rad]"], TABLE["crank' [rad/s]"], 1e-5
    a1, p1 = ((y - x) / (2 * h) for x, y in zip(BODY.angles(theta - h), BODY.angles(theta + h), strict=True))
    com = p["crank"] * 1j * e["crank"] + p["coupler"] / 2 * 1j * e["coupler"] * a1
    kinetic = (p["crank"] ** 3 / 3 + p["rocker"] ** 3 / 3 * p1**2 + p["coupler"] * abs(com) ** 2) * rate**2 / 2
    kinetic += p["coupler"] ** 3 / 12 * (a1 * rate) ** 2 / 2
    height = p["crank"] ** 2 / 2 * e["crank"].imag + p["rocker"] ** 2 / 2 * e["rocker"].imag
    height += p["coupler"] * (p["crank"] * e["crank"] + p["coupler"] / 2 * e["coupler"]).imag
    total = kinetic + p["g"] * height
    assert np.ptp(total) < 1e-8 * kinetic.max()  # central differences are good to h^2


def test_reference_of_the_parallelograms_is_a_pendulum():
    """``J phi'' = -L cos(phi)`` conserves ``J phi'^2 / 2 + L sin(phi)``; and the loops go round and round."""
    table = reference("yardstick/parallelograms")
    for n in (1, 2, 8, 40):
        mine = table["N"] == n
        phi, rate = table["phi"][mine], table["phi'"][mine]
        J, L = (n + 1) / 3 + n, 9.81 * ((n + 1) / 2 + n)
        assert np.ptp(J * rate**2 / 2 + L * np.sin(phi)) < 1e-13 * L
        assert np.all(np.diff(phi) < 0) and phi[-1] < -6 * np.pi
