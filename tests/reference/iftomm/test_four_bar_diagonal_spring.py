"""IFToMM linear benchmark: a square four-bar that rests on a diagonal spring; its equilibrium and its eigenvalues."""

import math

import numpy as np
import pytest

import closedchain as cc
from tests.reference.compare import load, off, pointwise

NUMBERS = load("iftomm/four_bar_diagonal_spring")


def four_bar():
    p = NUMBERS["parameters"]
    m = cc.Mechanism("four-bar with diagonal spring", gravity=(0, -p["g"], 0))
    ground, *lengths = p["lengths"]
    crank, coupler, rocker = (
        m.body(name, cc.rod(length=length, mass=mass))
        for name, length, mass in zip(("crank", "coupler", "rocker"), lengths, p["masses"], strict=True)
    )
    m.revolute("O", m.ground, crank)
    m.revolute("A", crank.tip, coupler, guess=-2.2)
    m.revolute("C", m.ground.at(ground, 0, 0), rocker, guess=2.2)
    m.revolute("B", coupler.tip, rocker.tip)
    m.spring("diagonal", m.ground, rocker.tip, p["k"], length=math.sqrt(2), damping=p["c"])
    return m


def acceleration(m, angle, rate):
    """Of the crank."""
    state = m.assemble({"O": angle}, velocity={"O": rate})
    return pointwise(m)(state.q[: state.topology.tree_nq], state.v).a[0]


@pytest.mark.parametrize(
    ("angle", "bound"),
    [
        # the published angle is 3.8e-11 rad off, and the acceleration is K / J = 4.6 1/s^2 times that
        (NUMBERS["published"]["phi_equilibrium"], 2e-10),
        (NUMBERS["computed"]["phi_equilibrium"], 1e-14),  # the last digit of the angle and some roundings
    ],
)
def test_equilibrium(angle, bound):
    assert abs(acceleration(four_bar(), angle, 0.0)) < bound


def test_stiffness_damping_and_eigenvalues():
    m = four_bar()
    want = NUMBERS["computed"]
    angle, h = want["phi_equilibrium"], 1e-4
    by_angle = (acceleration(m, angle + h, 0.0) - acceleration(m, angle - h, 0.0)) / (2 * h)
    by_rate = (acceleration(m, angle, h) - acceleration(m, angle, -h)) / (2 * h)
    # central differences: h^2 / 6 times third derivatives of the size of 10
    assert off([-by_angle, -by_rate], [want["K"] / want["J"], want["C"] / want["J"]]) < 1e-7
    found = np.roots([1, -by_rate, -by_angle])
    found = found[np.argsort(-found.imag)]
    assert off(np.column_stack([found.real, found.imag]), want["eigenvalues"]) < 1e-7


def test_small_motion_swings_and_decays_with_the_eigenvalue():
    m = four_bar()
    want = NUMBERS["computed"]
    (real, imaginary), _ = want["eigenvalues"]
    amplitude = 1e-5
    run = cc.simulate(m, m.assemble(O=want["phi_equilibrium"] + amplitude), until=6.0, rtol=1e-12)
    t = run.t
    linear = np.exp(real * t) * (np.cos(imaginary * t) - real / imaginary * np.sin(imaginary * t))
    # the motion differs from the linear one by terms of the order of the amplitude
    assert off((run["O"].values - want["phi_equilibrium"]) / amplitude, linear) < 10 * amplitude
