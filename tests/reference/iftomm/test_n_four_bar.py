"""IFToMM A02: N square loops in a row swing through their singular position, where all links lie in one line."""

import warnings

import numpy as np
import pytest

import closedchain as cc
from tests.reference.compare import load, off

NUMBERS = load("iftomm/n_four_bar")


def test_numbers_of_the_library():
    """All links are equal; gravity and the start are those of the benchmark."""
    m, p = cc.library.four_bar_chain(3), NUMBERS["parameters"]
    value = m.values()
    assert len(m.bodies) == 7 and value(m.gravity[1]) == -p["g"]
    for name, body in m.bodies.items():
        assert m.parameters[f"{name}.length"] == p["link_length"] and value(body.properties.mass) == p["link_mass"]
    start = m.assemble()
    assert start["O0"] == cc.pi / 2
    assert start.velocities["O0"] == pytest.approx(-1.0, abs=1e-15)  # some roundings of a least-squares solution


def swing(n, rtol):
    """x, y, x', y' of the first rocker's tip at 1 and 10 s."""
    m = cc.library.four_bar_chain(n)
    run = cc.simulate(m, until=10.0, rtol=rtol, t_eval=[0.0, 1.0, 10.0], solver=cc.solvers.DOP853(max_steps=100_000))
    tip = run.frame("rocker0.tip")
    return np.column_stack([tip.position[1:, :2], tip.velocity[1:, :2]])


def outcome(n, rtol):
    """The motion found, and what was said against it."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", cc.RunWarning)
        try:
            return swing(n, rtol), [str(x.message) for x in said]
        except cc.RunError as refused:
            return None, [str(refused)]


def exact(n):
    return [NUMBERS["exact"][f"N={n},t={t}"] for t in (1, 10)]


# The exact closing force is smooth where the links line up. But a state that is off the manifold by the error of a
# stage is answered by a force that grows as the inverse of the distance from that place. Steps long enough leap over
# it and do not notice; short ones may land close to it.


@pytest.mark.parametrize("n", [1, 2, 40])
def test_steps_of_a_usual_tolerance_leap_over_the_singular_position(n):
    at_1, at_10 = swing(n, rtol=1e-8)
    want_1, want_10 = exact(n)
    assert off(at_1, want_1) < 1e-6  # 100 times rtol: one swing
    assert off(at_10, want_10) < 1e-4  # 10 passages, each with an error of its own


def test_published_values_of_two_loops():
    """The published values converge with the square of the step: extrapolated from the two finest."""
    coarse, fine = (np.array(row[1:5]) for row in NUMBERS["published_N2_t10"]["rows"][-2:])
    assert off(swing(2, rtol=1e-8)[1], fine + (fine - coarse) / 3) < 1e-4  # as above


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("rtol", [1e-9, 1e-10, 1e-11, 1e-12])
def test_a_tight_tolerance_gives_the_right_motion_or_says_why_not(n, rtol):
    found, said = outcome(n, rtol)
    if said:
        assert any(word in said[0] for word in ("singular", "limit of steps", "energy of"))
    else:
        # an energy that is right to 1e3 rtol means speeds right to 500 rtol, for 10 s at up to 7 m/s
        assert off(found, exact(n)) < 1e5 * rtol
