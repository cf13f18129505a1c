"""Uniform beams with known answers, as flexible bodies: frequencies, statics, damping, rotation, axial load.

Shapes that hold the answer give it to the digits of the file; others come from above, as Rayleigh's quotient does.
"""

import math

import casadi as ca
import numpy as np
import pytest

import closedchain as cc
from closedchain.derive.equations import derive
from closedchain.pose.state import parameter_vector
from tests.reference.compare import load, off, relative

NUMBERS = load("beams/elementary")
BEAM = NUMBERS["beam"]
L, E, MASS = BEAM["L"], BEAM["E"], BEAM["mass_per_length"] * BEAM["L"]
BAR = cc.Section.rectangle(y=BEAM["depth_in_plane"], z=BEAM["width"])
POISSON = 0.33
DIGITS = 1e-11  # of numbers printed with 12 decimals; some shapes of a mesh cost two digits
ALL_OF_A_MESH = {1: 0, 2: 2, 4: 6, 8: 14}  # normal modes that with the static shapes span a mesh of so many elements


def beam(shapes, held="clamped", gravity=(0, 0, 0), **options):
    """The beam along x, held at its start and perhaps at its end."""
    m = cc.Mechanism("beam", gravity=gravity)
    body = m.body("beam", cc.rod(length=L, mass=MASS))
    body.flexible(E, BAR, shapes=shapes, nu=POISSON, **options)
    if held == "clamped":
        m.weld("root", m.ground, body)
    elif held == "free":
        m.planar("root", m.ground, body)
    else:
        m.revolute("root", m.ground, body)
    if held == "pinned":  # at both ends, of which one may roll: shapes that lift the end shorten the chord
        cart = m.body("cart", cc.point_mass(1e-6))
        m.prismatic("rail", m.ground.at(L, 0, 0), cart, axis=(1, 0, 0))
        m.revolute("far", body.tip, cart, cut=True)
    return m, body


def frequencies(m, state=None):
    """Of what vibrates, rad/s."""
    found = np.sort(np.abs(m.linearise(state).eigenvalues))[::2]
    return found[found > 0.1]


def error(found, wanted):
    n = min(len(found), len(wanted))
    return found[:n] / np.array(wanted[:n]) - 1


# ---- frequencies -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("held", "shapes", "answer"),
    [
        ("clamped", cc.shapes.clamped_free(y=3), "cantilever"),
        ("pinned", cc.shapes.pinned_pinned(y=3), "pinned_pinned"),
        ("free", cc.shapes.free_free(y=3), "free_free"),
    ],
    ids=["cantilever", "pinned", "free"],
)
def test_own_modes(held, shapes, answer):
    assert relative(frequencies(beam(shapes, held)[0]), NUMBERS[answer]["omega_rad_s"]) < DIGITS


@pytest.mark.parametrize("elements", [2, 8])
@pytest.mark.parametrize(
    ("held", "answer"),
    [("clamped", "cantilever"), ("pinned", "pinned_pinned"), ("hinged", "pinned_free"), ("free", "free_free")],
)
def test_all_modes_of_a_mesh(held, answer, elements):
    """Static shapes and all normal modes are the mesh itself, however the beam is held."""
    shapes = cc.shapes.craig_bampton(y=ALL_OF_A_MESH[elements], elements=elements)
    wanted = NUMBERS[answer]["fe_omega_by_elements"][str(elements)]
    assert np.abs(error(frequencies(beam(shapes, held)[0]), wanted)).max() < 1e-10


@pytest.mark.parametrize(
    ("shapes", "within"),
    [
        (cc.shapes.polynomials(y=6), (2e-10, 2e-5, 4e-4)),
        (cc.shapes.craig_bampton(y=4), (6e-6, 2e-4, 8e-4)),
        (cc.shapes.static(y=True), (5e-3, 0.6)),
    ],
    ids=["powers", "normal modes", "static"],
)
def test_other_shapes_come_from_above(shapes, within):
    found = error(frequencies(beam(shapes)[0]), NUMBERS["cantilever"]["omega_rad_s"])[: len(within)]
    assert (found > -DIGITS).all()
    assert (found < within).all()


def test_stretching_and_twisting():
    own = frequencies(beam(cc.shapes.clamped_free(axial=1))[0])
    assert relative(own, [NUMBERS["axial_clamped_free_omega1"]]) < DIGITS
    speed = math.sqrt(E / (2 * (1 + POISSON)) * BAR.J / (BEAM["rho"] * (BAR.Iy + BAR.Iz)))
    own = frequencies(beam(cc.shapes.clamped_free(torsion=2))[0])
    assert relative(own, [math.pi / 2 * speed / L, 3 * math.pi / 2 * speed / L]) < DIGITS


@pytest.mark.parametrize("ratio", ["0.1", "1.0", "10.0"])
def test_on_a_hub(ratio):
    want = NUMBERS["arm_hub_inertia"][ratio]
    m = cc.library.flexible_arm(0.0, hub=want["Jh"], shapes=cc.shapes.clamped_free(y=8))
    found = error(frequencies(m), want["omega_rad_s"])[:3]
    # the cantilever's modes do not know the hub, and the less it weighs the more they miss
    assert (found > -DIGITS).all()
    assert (found < {"0.1": 1e-7, "1.0": 1e-9, "10.0": 1e-11}[ratio]).all()


def test_with_a_mass_on_the_tip():
    want = NUMBERS["arm_hub_tip_mass"]
    load_ = want["tip_mass_over_beam_mass"] * MASS
    m = cc.library.flexible_arm(0.0, hub=0.196, tip_mass=load_, shapes=cc.shapes.craig_bampton(y=4))
    found = error(frequencies(m), want["omega_rad_s"])[:3]
    assert (found > -DIGITS).all()
    assert (found < (1e-6, 5e-6, 1e-4)).all()


# ---- statics ---------------------------------------------------------------------------------------------------------


def bent(m, state):
    """Coordinates of the shapes."""
    return np.array([state[label] for label in m.flexible["beam"].labels])


@pytest.mark.parametrize("shapes", [cc.shapes.polynomials(y=2), cc.shapes.static(y=True)], ids=["powers", "static"])
def test_a_force_on_the_tip(shapes):
    want = NUMBERS["statics"]["cantilever_tip_force_1N"]
    m, body = beam(shapes)
    m.force("push", body.tip, (0, 1, 0))
    U, T = shapes.at(1.0)
    found = bent(m, m.equilibrium())
    assert off(U[1] @ found, want["deflection"]) < 1e-12  # printed with 12 decimals
    assert off(T[2] @ found / L, want["slope"]) < 1e-12


def test_gravity():
    shapes, want = cc.shapes.polynomials(y=3), NUMBERS["statics"]["cantilever_gravity"]
    m, _ = beam(shapes, gravity=(0, -9.81, 0))
    rest = m.equilibrium()
    U, T = shapes.at(1.0)
    assert off(-U[1] @ bent(m, rest), want["tip"]) < 1e-12
    assert off(-T[2] @ bent(m, rest) / L, want["slope"]) < 1e-12


def test_gravity_between_supports_and_release():
    """Five sines, of which the odd ones bend at the middle: the next would add 6e-5 of the first."""
    want = NUMBERS["statics"]["simply_supported_gravity"]
    m = cc.Mechanism("beam", gravity=(0, -9.81, 0))
    body = m.body("beam", cc.rod(length=L, mass=MASS))
    body.flexible(E, BAR, shapes=cc.shapes.pinned_pinned(y=5), nu=POISSON)
    m.revolute("root", m.ground, body)
    m.revolute("far", m.ground.at(L, 0, 0), body.tip, cut=True)
    middle = np.array([1, 0, -1, 0, 1])
    assert -middle @ bent(m, m.equilibrium()) == pytest.approx(want["mid"], rel=6e-5)
    run = cc.simulate(m, until=0.01, rtol=1e-10, t_eval=[0.0, 0.01])
    found = -sum(s * run[f"beam.y{k + 1}"].values[-1] for k, s in enumerate(middle))
    assert found == pytest.approx(want["step_mid_at_t_10ms"], abs=6e-5 * want["step_peak_mid"])


# ---- damping ---------------------------------------------------------------------------------------------------------


def test_rayleigh():
    want = NUMBERS["rayleigh"]
    m, _ = beam(cc.shapes.clamped_free(y=3), rayleigh=(want["alpha"], want["beta"]))
    about = m.linearise()
    assert off(about.modes().damping_ratios, want["cantilever_zeta"]) < 1e-12
    assert relative(2 * np.pi * about.modes().frequencies, NUMBERS["cantilever"]["omega_rad_s"]) < DIGITS


@pytest.mark.parametrize(
    "shapes",
    [cc.shapes.polynomials(y=3, z=2, axial=2, torsion=1), cc.shapes.craig_bampton(y=2, z=1, axial=1, torsion=0)],
    ids=["powers", "normal modes"],
)
def test_modal_damping(shapes):
    """The same ratio for all modes, also of shapes that are none."""
    m, _ = beam(shapes, damping=0.02)
    np.testing.assert_allclose(
        m.linearise().modes().damping_ratios, 0.02, rtol=1e-7
    )  # eigenvalues from 65 to 4e5 rad/s


# ---- loads along the axis --------------------------------------------------------------------------------------------


def turning(shapes, speed, **options):
    """The beam on a hub that turns about z."""
    m = cc.Mechanism("blade")
    hub = m.body("hub", cc.rigid(1.0, inertia=(1, 1, 1)))
    blade = m.body("beam", cc.rod(length=L, mass=MASS))
    blade.flexible(E, BAR, shapes=shapes, nu=POISSON, **options)
    m.revolute("hinge", m.ground, hub)
    m.weld("clamp", hub, blade)
    m.drive("hinge", speed * cc.t)
    return m


@pytest.mark.parametrize("case", ["0.5", "2.0"])
def test_a_linear_beam_loses_stiffness_as_it_turns(case):
    """``w^2 = w1^2 - Om^2``, and none is left where it turns faster than its first frequency."""
    speed = NUMBERS["rotating_cantilever"]["cases"][case]["Om"]
    squares = np.sort((turning(cc.shapes.clamped_free(y=2), speed).linearise().eigenvalues ** 2).real)[::2]
    wanted = speed**2 - np.array(NUMBERS["cantilever"]["omega_rad_s"][:2]) ** 2
    assert relative(squares[::-1], wanted) < DIGITS
    assert (wanted[0] > 0) == (case == "2.0")


@pytest.mark.parametrize("case", ["0.5", "1.0", "2.0"])
def test_stiffening_of_a_blade_in_its_plane(case):
    want = NUMBERS["rotating_cantilever"]["cases"][case]
    found = frequencies(turning(cc.shapes.clamped_free(y=4), want["Om"], stiffening=True))[0]
    # the numbers are those of a mesh that takes the mean tension of each element
    assert found == pytest.approx(want["omega_with_stiffening"], rel=6e-4)


# W. Wright, C. Smith, R. Thresher, J. Wang (1982), Vibration modes of centrifugally stiffened beams, Journal of Applied
# Mechanics 49, 197-202: first frequency of a uniform cantilever that flaps, by speed, both times L^2 sqrt(m / EI)
FLAPPING = {2.0: 4.1373, 6.0: 7.3604, 12.0: 13.1702}


@pytest.mark.parametrize("speed", FLAPPING)
def test_stiffening_of_a_blade_out_of_its_plane(speed):
    unit = math.sqrt(E * BAR.Iy / BEAM["mass_per_length"]) / L**2
    found = frequencies(turning(cc.shapes.polynomials(z=7), speed * unit, stiffening=True))[0] / unit
    assert found == pytest.approx(FLAPPING[speed], abs=6e-5)  # printed with four decimals


@pytest.mark.parametrize(("force", "answer"), [(-100.0, "omega1_N_minus_100"), (100.0, "omega1_N_plus_100")])
def test_axial_load(force, answer):
    m, body = beam(cc.shapes.pinned_pinned(y=1), "pinned", stiffening=True)
    m.force("load", body.tip, (force, 0, 0))
    assert relative(frequencies(m), [NUMBERS["axial_load"][answer]]) < DIGITS


def test_a_rod_that_turns_stretches():
    """``tan(k L) / k - L``: also the stretch is thrown outwards."""
    want, n = NUMBERS["rotating_rod_extension"], 3
    m, _ = beam(cc.shapes.polynomials(axial=n), "hinged")
    e = derive(m)
    f = ca.Function("f", list(e.symbols.values()), [e.h, ca.jacobian(e.h, e.limbs.q)])
    v = np.array([want["Om"], *np.zeros(n)])
    h, K = map(np.array, f(0, np.zeros(n + 1), v, parameter_vector(m)))
    stretch = -np.linalg.solve(K[1:, 1:], h[1:, 0])
    assert off(stretch.sum(), want["value"]) < 1e-12  # printed with 12 decimals
