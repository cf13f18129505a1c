"""Elementary beams by ERLS: frequencies, statics, rotation, axial load, damping, and a pendulum."""

import math

import numpy as np
import pytest

import closedchain as cc
from closedchain.close.erls import ERLS
from closedchain.erls.matrices import matrices, steady, tangents
from closedchain.erls.system import system
from closedchain.erls.workspace import Workspace
from tests.reference.compare import load, off

NUMBERS = load("vidoni2012/beams_elementary")
BEAM = NUMBERS["beam"]
LENGTH = BEAM["L"]
ROUNDING = 1e-10  # relative: 12 digits are given, and the eigenvalue solver keeps about 1e-14 of the largest eigenvalue


def beam(gravity=0.0, E=BEAM["E"], A=None, **options):
    """A mechanism with one beam that is not held yet; with A its section is a number of its own."""
    m = cc.Mechanism("beam", gravity=(0, -gravity, 0))
    body = m.body("beam", cc.rod(LENGTH, LENGTH * BEAM["mass_per_length"]))
    whole = cc.Section.rectangle(y=BEAM["depth_in_plane"], z=BEAM["width"])
    section = whole if A is None else cc.Section(A=A, Iz=BEAM["EI"] / BEAM["E"])
    body.flexible(E=E, section=section, shapes=cc.shapes.polynomials(y=1), **options)
    return m, body


def pinned():
    m, body = beam()
    m.revolute("pin", m.ground, body)
    return m


def supported(gravity=0.0):
    m, body = beam(gravity)
    m.revolute("left", m.ground, body)
    m.revolute("right", m.ground.at(LENGTH, 0, 0), body.tip)
    return m


def free():
    m, body = beam()
    m.planar("table", m.ground, body)
    return m


HELD = {
    "cantilever": (pinned, ("pin",)),
    "pinned_free": (pinned, ()),
    "pinned_pinned": (supported, ()),
    "free_free": (free, ()),
}


def frequencies(m, elements, locked=()):
    return 2 * math.pi * m.modes(method=ERLS(elements=elements), locked=locked).frequencies


def nearest(values, wanted):
    """Relative distance of the wanted numbers from the nearest values: axial modes lie between the others."""
    return max(np.abs(values / x - 1).min() for x in wanted)


@pytest.mark.parametrize("case", HELD)
def test_frequencies_of_meshes(case):
    draw, locked = HELD[case]
    m = draw()
    for elements, wanted in NUMBERS[case]["fe_omega_by_elements"].items():
        if int(elements) > 1 or case != "pinned_pinned":  # one element between two pins has no displacement but turns
            assert nearest(frequencies(m, int(elements), locked), wanted) < ROUNDING


@pytest.mark.parametrize("case", HELD)
def test_frequencies_converge_with_the_fourth_power_of_the_element(case):
    draw, locked = HELD[case]
    m, exact = draw(), NUMBERS[case]["omega_rad_s"][0]
    errors = [np.abs(frequencies(m, n, locked) / exact - 1).min() for n in (8, 16)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.1)  # coarser meshes are not there yet


def test_a_hub_and_a_tip_mass():
    for ratio, case in NUMBERS["arm_hub_inertia"].items():
        if ratio in ("0.1", "10.0"):
            m = cc.library.flexible_arm(0.0, hub=case["Jh"])
            assert nearest(frequencies(m, 30), case["fe30"]) < 1e-8  # 30 elements: rounding grows with their number
    m = cc.library.flexible_arm(0.0, tip_mass=0.5 * LENGTH * BEAM["mass_per_length"])
    assert nearest(frequencies(m, 30), NUMBERS["arm_hub_tip_mass"]["fe30"]) < 1e-8


def static(m, elements=2):
    """Displacements at rest by name."""
    made = system(m, m.assemble(), ERLS(elements=elements))
    _, K, r = matrices(made)
    return dict(zip(made.labels, np.linalg.solve(K, -r), strict=True))


def test_static_deflections():
    want = NUMBERS["statics"]
    m, body = beam()
    m.revolute("clamp", m.ground, body)
    m.drive("clamp", 0.0)
    m.force("push", body.tip, (0, 1.0, 0))
    u = static(m)
    got = [u["beam.2.y"], u["beam.2.rz"]]
    assert off(got, [want["cantilever_tip_force_1N"][k] for k in ("deflection", "slope")]) < 1e-12  # as printed

    m, body = beam(9.81)
    m.revolute("clamp", m.ground, body)
    m.drive("clamp", 0.0)
    u = static(m)
    assert off([-u["beam.2.y"], -u["beam.2.rz"]], [want["cantilever_gravity"][k] for k in ("tip", "slope")]) < 1e-12

    u = static(supported(9.81))
    sag = want["simply_supported_gravity"]
    assert off([-u["beam.1.y"], u["beam.2.rz"]], [sag["mid"], sag["end_slope"]]) < 1e-12


def test_a_beam_that_is_let_go():
    """It swings about its static sag, to twice of it; moments by equilibrium."""
    want = NUMBERS["statics"]["simply_supported_gravity"]
    period = 2 * math.pi / NUMBERS["pinned_pinned"]["fe_omega_by_elements"]["8"][0]
    times = np.union1d(np.linspace(0, period, 301), [0.01])
    run = cc.simulate(supported(9.81), until=period, method=ERLS(elements=8), rtol=1e-7, t_eval=times)
    sag = -run.deflection("beam", 0.5).sel(axis="y").values
    # the mesh makes the first frequency too high by 1.6e-5, and higher ones by more
    assert sag[times == 0.01][0] == pytest.approx(want["step_mid_at_t_10ms"], rel=2e-4)
    assert sag.max() == pytest.approx(want["step_peak_mid"], rel=1e-4)
    # what is too fast for the steps dies out: 1e-6 of the energy here
    assert np.abs(run.energy_error.values).max() < 1e-5 * float(run.dataset.elastic_energy.max())
    # the mean over one period of the first mode is the static moment; other modes do not end with it
    moments = run.beam("beam", [LENGTH / 2])["Mz"].values[:, 0]
    mean = ((moments[1:] + moments[:-1]) / 2 * np.diff(times)).sum() / period
    assert mean == pytest.approx(want["mid_moment"], rel=0.01)


def spinning(rate, A=None, **options):
    m, body = beam(A=A)
    m.revolute("hinge", m.ground, body)
    m.drive("hinge", rate * cc.t)
    return system(m, m.assemble(), ERLS(**options))


def swings(made):
    """Eigenvalues about the steady rotation, and the displacements there."""
    ws = Workspace(made)
    y, v = made.at_rest()
    y = steady(ws, 0.0, y, v)
    M, C, K = tangents(ws, 0.0, y, v, np.zeros(made.n))
    kept = [k for k in range(made.n) if k not in set(made.zeroed.tolist())]
    M, C, K = (X[np.ix_(kept, kept)] for X in (M, C, K))
    n = len(kept)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(M, K), -np.linalg.solve(M, C)]])
    return np.linalg.eigvals(A), y


STIFF_AXIS = 1e4 * BEAM["EA"] / BEAM["E"]  # m^2: the closed forms have no axial stretch, and no gyroscopic term by it


@pytest.mark.parametrize("case", ["0.25", "0.9", "2.0"])
def test_a_rotating_beam(case):
    """Without stiffening omega^2 = omega_1^2 - Omega^2, which goes below zero; with it the beam grows stiffer."""
    want = NUMBERS["rotating_cantilever"]["cases"][case]
    values, _ = swings(spinning(want["Om"], STIFF_AXIS, elements=12))
    assert (-(values**2).real).min() == pytest.approx(want["omega2_no_stiffening"], rel=1e-6)
    values, _ = swings(spinning(want["Om"], STIFF_AXIS, elements=12, stiffening=True))
    assert values.imag[values.imag > 1.0].min() == pytest.approx(want["omega_with_stiffening"], rel=1e-6)


def test_a_rod_that_is_stretched_by_rotation():
    """Linear elements: with the second power of their length."""
    want = NUMBERS["rotating_rod_extension"]
    errors = []
    for n in (4, 8):
        made = spinning(want["Om"], elements=n)
        errors.append(swings(made)[1][made.labels.index(f"beam.{n}.x")] - want["value"])
    assert abs(errors[1]) < 4e-9  # of 6.5e-4
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.02)


def test_axial_load():
    for force, key in ((-100.0, "omega1_N_minus_100"), (100.0, "omega1_N_plus_100")):
        m, body = beam()
        slider = m.body("slider", cc.point_mass(1e-9))
        m.revolute("left", m.ground, body)
        m.prismatic("guide", m.ground, slider, axis=(1, 0, 0), guess=LENGTH)
        m.revolute("right", body.tip, slider)
        m.force("pull", slider["origin"], (force, 0, 0))
        values, _ = swings(system(m, m.assemble(), ERLS(elements=8, stiffening=True)))
        # the mesh of 8 elements makes the frequency too high by 1.6e-5
        assert values.imag[values.imag > 1.0].min() == pytest.approx(NUMBERS["axial_load"][key], rel=2e-5)


def test_rayleigh_damping():
    want = NUMBERS["rayleigh"]
    m, body = beam(rayleigh=(want["alpha"], want["beta"]))
    m.revolute("hinge", m.ground, body)
    m.drive("hinge", 0.0)
    values, _ = swings(system(m, m.assemble(), ERLS(elements=8)))
    values = values[values.imag > 1.0]
    values = values[np.argsort(np.abs(values))][:3]
    omega = np.array([NUMBERS["cantilever"]["fe_omega_by_elements"]["8"]])
    zeta = want["alpha"] / (2 * omega) + want["beta"] * omega / 2
    assert np.abs(-values.real / np.abs(values) - zeta).max() < 1e-7
    assert off(-values.real / np.abs(values), want["cantilever_zeta"]) < 4e-5  # of the continuous beam


def test_a_stiff_pendulum_from_the_horizontal():
    want = NUMBERS["rod_pendulum"]
    m, body = beam(9.81, E=5e13)
    m.revolute("hinge", m.ground, body)
    end = want["from_horizontal_time_to_bottom"]
    run = cc.simulate(m, until=end, rtol=1e-7, t_eval=[0.0, end], method=cc.ERLS())
    # its flexibility is 1e-4 of that of the other beams: the sag of 3.6 mm becomes 0.4 micrometres
    assert float(run["hinge"][-1]) == pytest.approx(-math.pi / 2, abs=1e-6)
    assert -float(run["hinge'"][-1]) == pytest.approx(want["from_horizontal_speed_at_bottom"], rel=1e-6)
