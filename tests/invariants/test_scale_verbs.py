"""All that a mechanism can be asked, in other units: see `scaled_verbs` for the table."""

import numpy as np
import pytest

import closedchain as cc
from tests.invariants.scaled import Units
from tests.invariants.scaled_verbs import RTOL, VERBS, begun, numbers, plain, press

DECIMAL = [Units(1e-6, 1e-12, 1e-3), Units(1e6, 1e9, 1.0), Units(1e-3, 1e9, 1e3)]
BINARY = [Units(2.0**-20, 2.0**-40, 2.0**-10), Units(2.0**20, 2.0**30, 2.0**12)]

# Beside the largest value of each quantity. Most are off by rounding, at most 2e-11 (GGL). Where rounding decides which
# steps are taken, two runs differ by their errors: a step over the corner of a stop has one that its estimate misses
# (7e-7 seen), and IDAS's error with algebraic unknowns is some 100 rtol (7e-7 seen).
USUAL, ROUGH = 10 * RTOL, 200 * RTOL
WITHIN = {"stop": ROUGH, "GGL by idas": ROUGH}

# Rows of linear systems change places by the sizes of their entries, in the units of the state; finite elements and
# balances are solved for in these units, too.
PIVOTS = {
    "radau5", "rodas5p", "rosenbrock2", "GGL", "VirtualSpring", "slides", "equilibrium and linearise", "ERLS",
    "generalised-alpha", "ERLS sagged", "ERLS without gravity", "ERLS modes",
}  # fmt: skip


@pytest.fixture(scope="module")
def usual():
    """What is told in metres, kilograms and seconds, each once."""
    made = {}

    def told(verb):
        if verb not in made:
            made[verb] = plain(VERBS[verb](Units()), Units())
        return made[verb]

    return told


@pytest.mark.parametrize("verb", VERBS)
def test_the_same_in_any_units(verb, usual):
    for u in DECIMAL:
        for (got, unit), (wanted, _) in zip(plain(VERBS[verb](u), u), usual(verb), strict=True):
            if unit != "steps":
                assert np.abs(got - wanted).max() <= WITHIN.get(verb, USUAL) * np.abs(wanted).max(), (u, unit)


@pytest.mark.parametrize("verb", VERBS)
def test_powers_of_two_take_the_same_steps(verb, usual):
    for u in BINARY:
        for (got, unit), (wanted, _) in zip(plain(VERBS[verb](u), u), usual(verb), strict=True):
            if verb in PIVOTS and unit != "steps":
                assert np.abs(got - wanted).max() <= USUAL * np.abs(wanted).max(), (u, unit)
            else:
                np.testing.assert_array_equal(got, wanted, err_msg=f"{u}, {unit}")


# ---- what is refused is refused in any units -------------------------------------------------------------------------

EXTREME = [Units(), Units(1e-8, 1e-18, 1e-6), Units(1e6, 1e9, 1e9)]


@pytest.mark.parametrize("u", EXTREME, ids=str)
def test_velocities_that_contradict_each_other(u):
    """Without gravity a drawing has no time: rates compare with those that are held."""
    held = {"O": 0.7, "guess": {"slide": 0.4 * u.L}, "parameters": numbers(u, gravity=0.0)}
    moving = press().assemble(velocity={"O": 1.0 / u.T}, **held)
    slide = moving.velocities["slide"]
    press().assemble(velocity={"O": 1.0 / u.T, "slide": slide}, **held)
    with pytest.raises(cc.AssemblyError, match="contradict"):
        press().assemble(velocity={"O": 1.0 / u.T, "slide": 1.001 * slide}, **held)


@pytest.mark.parametrize("u", EXTREME, ids=str)
@pytest.mark.parametrize(
    ("jumps", "what"), [(lambda L, T: 0.1 * L, "place"), (lambda L, T: 0.1 * L * (cc.t / T - 0.2), "velocity")]
)
def test_a_drive_that_jumps(u, jumps, what):
    m, L, M, T = begun("jumps")
    m.prismatic("up", m.ground, m.body("cabin", cc.box(size=(0.1 * L, 0.1 * L, 0.1 * L), mass=0.7 * M)))
    m.drive("up", 0.3 * L * cc.t / T + cc.math.where(cc.t > 0.2 * T, jumps(L, T), 0.0))
    with pytest.raises(cc.RunError, match=f"changes its {what} at once"):
        cc.simulate(m, m.assemble(parameters=numbers(u, gravity=0.0)), until=0.5 * u.T)


@pytest.mark.parametrize("u", EXTREME, ids=str)
def test_what_moves_and_what_rests(u):
    start = press().assemble(O=0.7, guess={"slide": 0.4 * u.L}, parameters=numbers(u))

    assert press().mobility(start).possible == press().mobility().possible
    assert not press().linearise(start).in_equilibrium


@pytest.mark.parametrize("u", EXTREME, ids=str)
def test_a_drive_that_repeats_another_cannot_be_an_input(u):
    m, L, M, _ = begun("held twice")
    crank = m.body("crank", cc.rod(length=3 * L, mass=M, radius=0.1 * L))
    rod = m.body("rod", cc.rod(length=5 * L, mass=M, radius=0.1 * L))
    slider = m.body("slider", cc.box(size=(L, L, L), mass=M))
    m.revolute("O", m.ground, crank)
    m.revolute("A", crank.tip, rod)
    m.prismatic("slide", m.ground, slider, axis=(1, 0, 0))
    m.revolute("B", rod.tip, slider)
    m.drive("O", cc.pi / 2, name="one")
    m.drive("slide", 4 * L, name="two")
    start = m.assemble(guess={"slide": 4 * u.L}, parameters=numbers(u))

    for name in ("one", "two"):
        with pytest.raises(cc.ModelError, match="cannot be moved on its own"):
            m.linearise(start, inputs=[name])
