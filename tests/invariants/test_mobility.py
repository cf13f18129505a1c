"""Mobility: the count of Gruebler and Kutzbach, the truth, and coordinates that can serve as independent ones."""

import numpy as np
import pytest

import closedchain as cc
from tests.invariants import drawings
from tests.invariants.drawings import TILT


def truss():
    """Two rods that make a triangle with the ground."""
    m = cc.Mechanism("truss")
    left, right = (m.body(name, cc.rod(1.0, mass=1.0)) for name in ("left", "right"))
    m.revolute("a", m.ground, left, guess=0.8)
    m.revolute("b", m.ground.at(1.2, 0, 0), right, guess=2.3)
    m.revolute("top", left.tip, right.tip)
    return m


def geared_pendulums(gears):
    m = cc.Mechanism("geared pendulums")
    for k in range(3):
        m.revolute(f"p{k}", m.ground.at(k, 0, 0), m.body(f"arm{k}", cc.rod(1.0, mass=1.0)))
    for k in range(gears):
        m.couple(f"gear{k}", f"p{k + 1}", f"p{k}", ratio=-2.0)
    return m


def driven(m, *joints):
    for joint in joints:
        m.drive(joint, m.start.get(joint, 0.0) + 0.1 * cc.math.sin(cc.t))
        m.start.pop(joint, None)
    return m


# drawing, count of Gruebler and Kutzbach, true mobility
TABLE = {
    "pendulum": (cc.library.pendulum, 1, 1),
    "double pendulum": (cc.library.double_pendulum, 2, 2),
    "four-bar": (drawings.four_bar, -2, 1),
    "slider-crank": (cc.library.slider_crank, -2, 1),
    "five-bar": (cc.library.five_bar, -1, 2),
    "3-RRR": (cc.library.rrr3, -3, 3),
    "Gough-Stewart": (cc.library.gough_stewart, 6, 6),
    "six legs that keep a platform level": (drawings.translating_hexapod, 0, 3),
    "delta with parallelograms of hinges": (drawings.delta, -9, 3),
    "delta with rods on ball joints": (lambda: drawings.delta("balls"), 9, 9),  # 3, and each rod turns about itself
    "Sarrus": (drawings.sarrus, 0, 1),
    "Sarrus on three legs": (lambda: drawings.sarrus(legs=3), -3, 1),
    "Bennett": (drawings.bennett, -2, 1),
    "Bricard, threefold": (drawings.bricard_threefold, 0, 1),
    "Bricard, rectangular": (drawings.bricard_rectangular, 0, 1),
    "Bricard, line-symmetric": (drawings.bricard_line, 0, 1),
    "spherical four-bar": (drawings.spherical_four_bar, -2, 1),
    "three parallelograms in a row": (lambda: drawings.parallelograms(3, TILT), -8, 1),
    "two storeys": (lambda: drawings.storeys(2), -4, 2),
    "truss": (truss, -3, 0),
    "three pendulums, one gear": (lambda: geared_pendulums(1), 2, 2),
    "three pendulums, two gears": (lambda: geared_pendulums(2), 1, 1),
    "four-bar with a driven crank": (lambda: driven(drawings.four_bar(), "O"), -3, 0),
    "five-bar with one drive": (lambda: driven(cc.library.five_bar(), "left motor"), -2, 1),
    "five-bar with two drives": (lambda: driven(cc.library.five_bar(), "left motor", "right motor"), -3, 0),
    "Gough-Stewart with six drives": (drawings.driven_hexapod, 0, 0),
}


@pytest.mark.parametrize("name", TABLE)
def test_count_and_truth(name):
    draw, counted, true = TABLE[name]
    m = draw()
    start = m.assemble()
    mobility = m.mobility(start)
    assert (mobility.counted, mobility.true, mobility.here) == (counted, true, true)
    assert len(mobility.redundant) == true - counted
    assert len(mobility.independent) == true and set(mobility.independent) <= set(mobility.possible)
    text = str(mobility)
    assert f": {true} (count of Gruebler and Kutzbach: {counted})" in text
    assert ("so the count is" in text) == (true != counted)

    # the independent velocities determine all others: chosen at will they can be had, and nothing more is free
    wanted = {label: 0.3 + 0.1 * k for k, label in enumerate(mobility.independent)}
    moving = m.assemble(dict(start.coordinates), velocity=wanted)
    found = moving.velocities
    assert all(abs(found[label] - value) < 1e-9 for label, value in wanted.items())
    if true and not m.drives:
        assert np.abs(m.assemble(dict(start.coordinates), velocity=dict.fromkeys(wanted, 0.0)).v).max() < 1e-12


def test_a_slide_that_never_moves_is_not_possible():
    m = drawings.four_bar("RCRR", cut="C")
    assert set(m.mobility().possible) == {"O", "A.angle", "B"}


def test_at_a_dead_centre_the_slide_cannot_lead():
    m = cc.library.slider_crank()
    mobility = m.mobility(m.assemble(O=0.0))
    assert "slide" in mobility.possible and mobility.independent in (("O",), ("A",))
    assert mobility.here == mobility.true == 1  # the slide rests for a moment, the closure is regular


@pytest.mark.parametrize("tilted", [False, True])
def test_a_flat_parallelogram_has_a_freedom_more(tilted):
    m = drawings.parallelograms(1, TILT if tilted else None)
    flat = m.assemble(O0=0.0, O1=0.0, left1=0.0)
    mobility = m.mobility(flat)
    assert (mobility.true, mobility.here) == (1, 2)
    assert "the given pose is singular: it has 2 freedoms, 1 more" in str(mobility)


def test_both_ways_to_put_a_four_bar_together_move():
    m = drawings.four_bar()
    one, two = (mode.state for mode in m.assemblies(O=1.0))
    assert m.mobility(one).true == m.mobility(two).true == 1
