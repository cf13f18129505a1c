"""The same mechanism in other units: micrometres or kilometres, picograms or kilotonnes, with gravity to match.

Lengths, masses and times of a drawing are multiplied by L, M and T. What follows must be the same after scaling back:
the branch that is assembled, the motion, what a run says of itself. Where all factors are powers of two no rounding
differs, and solvers take the very same steps.
"""

import numpy as np
import pytest

import closedchain as cc
from tests.invariants.scaled import MECHANISMS, Units

RTOL = 1e-8
DECIMAL = [
    Units(1e-8, 1e-18, 1.0), Units(1e-8, 1e9, 1e-4), Units(1e-3, 1e-6, 1e-2), Units(1e3, 1e3, 1.0),
    Units(1e5, 1e-18, 1.0), Units(3e5, 1e3, 1e3), Units(1e6, 1e9, 1.0),
]  # fmt: skip
BINARY = [Units(2.0**-26, 2.0**-59, 2.0**-13), Units(2.0**19, 2.0**29, 2.0**7)]


def moved(kind, u, until=0.5, **options):
    """A run of a mechanism in units u, and its states ``(q, v, W)`` in metres, kilograms and seconds."""
    m, start = MECHANISMS[kind](u)
    run = cc.simulate(m, start, until=until * u.T, **{"rtol": RTOL, **options})
    units = {"m": u.L, "rad/s": 1 / u.T, "m/s": u.L / u.T, "J": u.energy}
    return run, run.x / [units.get(x, 1.0) for x in (*run.topology.q_units, *run.topology.v_units, "J")]


def determined(run):
    """Entries of the state that loops determine: a rod between two ball joints may spin about itself."""
    labels = [*run.topology.q_labels, *run.topology.v_labels]
    balls = [j.name for j in run.mechanism.joints.values() if j.type.has_quaternion]
    return [i for i, label in enumerate(labels) if label.partition(".")[0] not in balls]


@pytest.fixture(scope="module")
def usual():
    """Runs in metres, kilograms and seconds, each made once."""
    made = {}

    def run(kind):
        if kind not in made:
            made[kind] = moved(kind, Units())
        return made[kind]

    return run


@pytest.mark.parametrize("u", DECIMAL, ids=str)
@pytest.mark.parametrize("kind", MECHANISMS)
def test_the_same_motion_in_any_units(kind, u, usual):
    run, scaled = moved(kind, u)
    states, scaled = (x[:, determined(run)] for x in (usual(kind)[1], scaled))

    assert run.good
    np.testing.assert_allclose(scaled[0], states[0], rtol=0, atol=1e-12)  # the same branch, closed to rounding
    # errors of both runs, beside angles of a few radians and rates of a few radians a second
    np.testing.assert_allclose(scaled, states, rtol=0, atol=10 * RTOL * np.abs(states).max())


METHODS = {
    "multipliers": (lambda u: cc.Multipliers(), "dop853"),
    "dopri5": (lambda u: cc.Multipliers(), "dopri5"),
    "radau5": (lambda u: cc.Multipliers(), "radau5"),
    "projection": (lambda u: cc.Projection(sigma=10.0 / u.T), "dop853"),
    "independent": (lambda u: cc.IndependentCoordinates(), "dop853"),
    "operational": (lambda u: cc.OperationalSpace(), "dop853"),
    "spring": (lambda u: cc.VirtualSpring(1e4 * u.force / u.L, 1e2 * u.force / u.L * u.T), "radau5"),
}


# springs only where no loop tilts: a stiffness against tilting has another unit than one against gaps
CASES = [
    (kind, way) for kind in ("four_bar", "slider_crank", "rssp") for way in METHODS if (kind, way) != ("rssp", "spring")
]


@pytest.mark.parametrize(("kind", "way"), CASES)
def test_powers_of_two_take_the_same_steps(kind, way):
    method, solver = METHODS[way]
    found = [moved(kind, u, 0.2, method=method(u), solver=solver) for u in (Units(), *BINARY)]

    counts = [(r.counts.steps, r.counts.rejections, r.counts.evaluations, r.counts.corrections) for r, _ in found]
    assert counts[1:] == counts[:1] * len(BINARY)
    for run, states in found[1:]:
        assert run.good == found[0][0].good
        if solver == "radau5" and kind != "four_bar":
            # rows of its linear systems change places by the sizes of their entries, in the units of the state
            np.testing.assert_allclose(states, found[0][1], rtol=0, atol=1e-4 * RTOL)
        else:
            np.testing.assert_array_equal(states, found[0][1])


def test_a_large_slider_crank_stays_closed():
    """It was said not to close after 20 s when closures were compared with metres."""
    u = Units(1e5, 1.0, 1.0)
    run, _ = moved("slider_crank", u, 20.0)

    assert run.good
    assert float(run.closure_error.max()) < 1e-12 * u.L


def test_an_axis_of_any_length():
    """Its square is not finite: the run was good, and not a number."""
    ends = []
    for length in (1.0, 1e300):
        m = cc.Mechanism("pendulum")
        m.revolute("hinge", m.ground, m.body("arm", cc.rod(length=1, mass=1, radius=0.01)), axis=(length, length, 0))
        run = cc.simulate(m, m.assemble(hinge=0.3), until=0.5)
        assert run.good
        ends.append(run.x[-1])

    np.testing.assert_array_equal(*ends)
