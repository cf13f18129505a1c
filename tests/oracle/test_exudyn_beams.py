"""The oracle itself: frequencies with closed forms, one kind of beam against another, the rigid limit."""

import math

import numpy as np
import pytest

from tests.oracle import mechanisms
from tests.oracle.exudyn_beams import Planar, PlanarExact
from tests.reference.compare import load

BEAM = {"mass_per_length": 4.704, "EI": 100.0, "EA": 3e6}
LENGTH = 0.5
ROOTS = {  # beta L of Euler and Bernoulli
    "clamped": (1.875104068712, 4.694091132974, 7.854757438237),
    "pinned": (math.pi, 2 * math.pi, 3 * math.pi),
}


def frequencies(held, elements, kind=Planar):
    p = kind()
    p.beam("beam", (0.0, 0.0), (0.4, 0.3), elements=elements, **BEAM)
    if held == "clamped":
        p.weld("beam.start", (0.0, 0.0))
    else:
        p.pin("beam.start", (0.0, 0.0))
        p.pin("beam.end", (0.4, 0.3))
    return p.frequencies(3)


@pytest.mark.parametrize("held", ROOTS)
def test_frequencies_of_a_beam(held):
    exact = (np.array(ROOTS[held]) / LENGTH) ** 2 * math.sqrt(BEAM["EI"] / BEAM["mass_per_length"])
    coarse, fine = (frequencies(held, n) / exact - 1 for n in (4, 8))
    assert (fine < 1.4e-3).all() and (fine > 0).all()  # a displacement method is too stiff
    # fourth order in the length of an element, within what is left of higher orders in the third mode
    assert coarse / fine == pytest.approx(16, rel=0.25)


def test_two_kinds_of_beam():
    """The other kind has shear and rotary inertia: both lower a frequency by pi^2/2 (r/L)^2, together 1.3e-3 here."""
    thin, thick = frequencies("pinned", 8)[0], frequencies("pinned", 8, PlanarExact)[0]
    slender = math.pi**2 * BEAM["EI"] / BEAM["EA"] / LENGTH**2
    assert thick / thin - 1 == pytest.approx(-slender, rel=0.1)


def test_rigid_limit_of_the_four_bar():
    """A coupler a million times as stiff moves as a rigid one."""
    run = mechanisms.four_bar(EI=2.8e9, EA=1e9, elements=2).march(until=1.0, step=1e-3, samples=10)
    exact = {row["t"]: row["q"][0] for row in load("wang2002/four_bar")["constrained"]}
    # what the step of 1e-3 s costs: 1.1e-6 rad at 1 s, a third of it with half the step
    assert run["theta"][5] == pytest.approx(exact[0.5], abs=2e-6)
    assert run["theta"][10] == pytest.approx(exact[1.0], abs=2e-6)
