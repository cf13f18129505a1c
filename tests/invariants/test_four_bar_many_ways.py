"""One four-bar, drawn many ways: the same motion to 1e-9 m over 10 s, against the independent solution."""

import numpy as np
import pytest

import closedchain as cc
from tests.invariants.drawings import TILT, four_bar, pins, pins_expected, reference

TABLE = reference("yardstick/four_bar")
ALL = ("crank", "coupler", "rocker")

# name: (drawing, count of Gruebler and Kutzbach, equations that repeat others)
WAYS = {
    "four hinges": ({}, -2, 3),
    "cut at O": ({"cut": "O"}, -2, 3),
    "cut at A": ({"cut": "A"}, -2, 3),
    "cut at B": ({"cut": "B"}, -2, 3),
    "cut at C": ({"cut": "C"}, -2, 3),
    "tilted": ({"R": TILT}, -2, 3),
    "tilted, cut at O": ({"R": TILT, "cut": "O"}, -2, 3),
    "tilted, cut at B": ({"R": TILT, "cut": "B"}, -2, 3),
    "tilted, cut at C": ({"R": TILT, "cut": "C"}, -2, 3),
    "hinge-hinge-universal-ball": ({"kinds": "RRUS"}, 1, 0),
    "hinge-hinge-universal-ball, cut at O": ({"kinds": "RRUS", "cut": "O"}, 1, 0),
    "hinge-hinge-universal-ball, cut at A": ({"kinds": "RRUS", "cut": "A"}, 1, 0),
    "hinge-hinge-universal-ball, cut at B": ({"kinds": "RRUS", "cut": "B"}, 1, 0),
    "hinge-hinge-universal-ball, tilted": ({"kinds": "RRUS", "R": TILT}, 1, 0),
    "hinge-hinge-ball-cylindrical": ({"kinds": "RRSC"}, 1, 0),
    "hinge-cylindrical-hinge-hinge, tilted": ({"kinds": "RCRR", "R": TILT}, -1, 2),
    "coupler drawn from its other end": ({"turned": ("coupler",)}, -2, 3),
    "all drawn from their other ends, tilted": ({"turned": ALL, "R": TILT}, -2, 3),
    "coupler on a plane": ({"planar": ("coupler",)}, -5, 6),
    "coupler on a plane, which carries it": ({"planar": ("coupler",), "cut": "AB", "R": TILT}, -5, 6),
    "all on planes, all hinges cut": ({"planar": ALL, "cut": "OABC"}, -11, 12),
    "all on planes, all hinges cut, tilted": ({"planar": ALL, "cut": "OABC", "R": TILT}, -11, 12),
    "crank adrift": ({"cut": "OA"}, -2, 3),
    "all adrift, tilted": ({"cut": "OABC", "R": TILT}, -2, 3),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_same_motion(way):
    drawing, counted, repeated = WAYS[way]
    m = four_bar(**drawing)
    mobility = m.mobility()
    assert (mobility.true, mobility.here, mobility.counted) == (1, 1, counted)
    assert len(mobility.redundant) == repeated

    run = cc.simulate(m, m.assemble(), until=10.0, rtol=1e-12, t_eval=TABLE["t [s]"])
    found = pins(run, drawing.get("R"), drawing.get("turned", ()))
    assert np.abs(found - pins_expected(TABLE)).max() < 1e-9  # rtol times 600 steps, with room
    assert float(run.closure_error.max()) < 1e-12
    assert run.good and len(run.segments) == 1
