"""Flexible links over time: energy of undamped runs, momentum of a free body; and input that cannot be a beam."""

from functools import cache

import numpy as np
import pytest

import closedchain as cc
from tests.agreement.test_flexible import tripod
from tests.identities.flexible import SETS, FlexibleTree

BAR = cc.Section.rectangle(y=0.02, z=0.03)


# ---- energy ----------------------------------------------------------------------------------------------------------


@cache
def swinging(rtol):
    """The four-bar with its flexible coupler under gravity alone: 20 s, some 200 vibrations of the coupler."""
    m = cc.library.four_bar(torque=0.0, flexible=True)
    return cc.simulate(m, until=20.0, rtol=rtol, t_eval=np.linspace(0, 20, 401))


def drift(run):
    """Largest energy error, by the largest kinetic energy."""
    return float(np.abs(run.energy_error).max() / run["kinetic_energy"].max())


def test_energy_of_a_long_run():
    loose, tight = swinging(1e-6), swinging(1e-9)
    # the promise of `results.checks` is 1000 rtol (measured: 73 and 6 rtol)
    assert drift(loose) < 3e-4
    assert drift(tight) < 3e-7
    assert drift(tight) < drift(loose) / 100
    # rounding of lengths of 4 m
    assert tight.closure_error.max() < 1e-14
    assert np.abs(tight["coupler.y1"]).max() > 1e-3  # m: it does bend


def test_energy_of_a_platform_on_flexible_legs():
    """In space, with stretching legs and one that stiffens; it falls over."""
    m = tripod()
    run = cc.simulate(m, until=0.3, rtol=1e-9)
    assert drift(run) < 1e-7
    assert run.closure_error.max() < 1e-12
    assert np.abs(run["leg1.y1"]).max() > 5e-5  # m: it does bend


def test_damping_takes_energy_away():
    """And no more than the work that the run counts: of an arm that has been pushed."""
    m = cc.library.flexible_arm(0.0, shapes=cc.shapes.clamped_free(y=1))
    m.bodies["beam"].flexible(5e9, BAR, shapes=cc.shapes.clamped_free(y=1), damping=0.05)
    run = cc.simulate(m, m.assemble(hold={"beam.y1": 0.02}), until=1.0, rtol=1e-9)
    energy = run["kinetic_energy"] + run["potential_energy"]
    assert (np.diff(energy) < 1e-12).all()
    assert energy[-1] < 0.01 * energy[0]
    assert drift(run) < 1e-8


# ---- momentum --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stiffening", [False, True])
def test_momentum_of_a_free_beam(stiffening):
    """All fields at once, tumbling: both momenta stay, and the energy."""
    shapes, functions = SETS["floating"]()
    m = cc.Mechanism("afloat", gravity=(0, 0, 0))
    beam = m.body("beam", cc.rod(length=1.0, mass=1.0, radius=0.01))
    beam.flexible(2e7, BAR, shapes=shapes, stiffening=stiffening)
    m.free("pose", m.ground, beam)
    start = m.assemble(
        hold={"beam.y1": 0.01, "beam.y2": -0.003, "beam.z1": 0.01, "beam.axial1": 1e-4, "beam.torsion1": 0.1},
        velocity={"pose.wx": 1.0, "pose.wy": 2.0, "pose.wz": 3.0, "pose.vx": 0.3, "beam.y1": 0.2},
    )
    run = cc.simulate(m, start, until=3.0, rtol=1e-10, t_eval=np.linspace(0, 3, 16))
    topology = run.program.equations.topology
    tree = FlexibleTree(topology, {"beam": functions})
    found = np.array([momentum(tree, x[: topology.nq], x[topology.nq : -1]) for x in run.x])
    assert np.abs(found[0]).min() > 1e-3
    # rtol over 3 s of vibrations of 20 to 5000 rad/s
    np.testing.assert_allclose(found, np.broadcast_to(found[0], found.shape), atol=1e-8)
    assert drift(run) < 1e-8


def momentum(tree, q, v):
    """Angular about the world's origin, and linear."""
    T, x = tree.poses(q)["beam"], tree.motions(q, v)["beam"]
    both = (tree.body_inertia("beam", q) @ x)[:6]
    linear = T[:3, :3] @ both[3:]
    return np.concatenate([T[:3, :3] @ both[:3] + np.cross(T[:3, 3], linear), linear])


# ---- what cannot be ----------------------------------------------------------------------------------------------


def powers(*exponents):
    return cc.shapes.from_functions({"v": [lambda xi, k=k: xi**k for k in exponents]})


SINE = cc.shapes.pinned_pinned(y=1)
REFUSED = {
    "the same shape twice": ({"shapes": SINE + SINE}, "not independent"),
    "shapes that depend on each other": (
        {"shapes": cc.shapes.polynomials(y=2) + cc.shapes.static(y=True)},
        "not independent",
    ),
    "too many powers": ({"shapes": cc.shapes.polynomials(y=14)}, "not independent"),
    "a shape that turns the whole beam": ({"shapes": powers(1)}, "'y1' moves it without strain"),
    "no stiffness": ({"E": 0.0}, "its E is 0 Pa"),
    "no section to bend": ({"section": cc.Section(A=1e-3)}, "Iz = 0"),
    "too long": ({"length": 2.0}, "centre of mass"),
    "energy from nothing": ({"damping": -0.1}, "damping takes energy away"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_beam_is_refused(case):
    options, message = REFUSED[case]
    m = cc.Mechanism("arm")
    beam = m.body("beam", cc.rod(length=1.0, mass=1.0))
    m.revolute("hinge", m.ground, beam)
    with pytest.raises(cc.ModelError, match=message):
        beam.flexible(**({"E": 1e9, "section": BAR, "shapes": SINE} | options))
    assert not m.flexible  # nothing of it is left


def test_a_value_for_one_run_is_refused_too():
    m = cc.library.flexible_arm()
    with pytest.raises(cc.ModelError, match="flexible body 'beam': its E is 0 Pa"):
        cc.simulate(m, m.assemble(parameters={"beam.E": 0.0}), until=0.1)


def test_a_shape_where_the_joint_sits_is_no_second_freedom():
    """A hinge on a section that turns: the angle is that of the section, and the inertia matrix stays regular."""
    m = cc.Mechanism("arm")
    beam = m.body("beam", cc.rod(length=1.0, mass=1.0))
    beam.flexible(1e6, BAR, shapes=SINE)
    m.revolute("hinge", m.ground, beam)
    about = m.linearise()
    assert np.linalg.cond(about.inertia) < 100
    assert (about.modes().frequencies > 0).sum() == 1
