"""Flexible links: meshes at the order of their elements, the rigid limit at first order in 1/E, shapes and springs.

Wang, Gosselin and Cheng (2002), section 3.2, point out that with a spring in the joint shapes need not meet its
conditions. Powers of xi, which are lifted off the pin B, show it: they come to the motion of the sines, which are not.
"""

from functools import cache

import numpy as np
import pytest

import closedchain as cc

BAR = cc.Section.rectangle(y=0.02, z=0.03)
L, MASS, E = 0.5, 2.352, 5e9
CLAMPED_FREE, CLAMPED_CLAMPED = 1.8751040687119611, 4.7300407448627040  # roots of the frequency equations


def lowest(shapes, both_ends=False):
    """First frequency of the beam, clamped at one end or at both, over that of its stiffness and mass."""
    m = cc.Mechanism("beam")
    beam = m.body("beam", cc.rod(length=L, mass=MASS))
    beam.flexible(E, BAR, shapes=shapes, nu=0.3)
    m.weld("root", m.ground, beam)
    if both_ends:
        m.weld("end", m.ground.at(L, 0, 0), beam.tip, cut=True)
    return np.abs(m.linearise().eigenvalues).min()


def orders(errors, factor):
    return np.diff(np.log(errors)) / np.log(1 / factor)


def test_bending_is_of_fourth_order_in_the_mesh():
    """Of the cantilever by all shapes of a mesh, and of the clamped beam by its first normal modes."""
    unit = np.sqrt(E * BAR.Iz / (MASS * L**3))
    for both_ends, root, meshes in ((False, CLAMPED_FREE, (2, 4, 8)), (True, CLAMPED_CLAMPED, (4, 8, 16))):
        shapes = [cc.shapes.craig_bampton(y=2 if both_ends else 2 * n - 2, elements=n) for n in meshes]
        found = [lowest(x, both_ends) / unit / root**2 - 1 for x in shapes]
        np.testing.assert_allclose(orders(found, 2), 4.0, atol=0.15)
        assert 0 < found[-1] < 6e-6  # from above


@pytest.mark.parametrize("field", ["axial", "torsion"])
def test_stretching_and_twisting_are_of_second_order(field):
    stiffness, inertia = {
        "axial": (E * BAR.A / L, MASS),
        "torsion": (E / 2.6 * BAR.J / L, MASS * (BAR.Iy + BAR.Iz) / BAR.A),
    }[field]
    exact = np.pi / 2 * np.sqrt(stiffness / inertia)
    found = [lowest(cc.shapes.craig_bampton(**{field: n - 1}, elements=n)) / exact - 1 for n in (2, 4, 8)]
    np.testing.assert_allclose(orders(found, 2), 2.0, atol=0.05)


# ---- the four-bar ----------------------------------------------------------------------------------------------------

TIMES = np.linspace(0, 1.0, 101)


@cache
def four_bar(shapes, factor=1.0, **options):
    """That of the paper with other shapes, or a stiffer coupler."""
    m = cc.library.four_bar()
    coupler = m.bodies["coupler"]
    coupler.frame("middle", at=(2, 0, 0))
    coupler.flexible(E=2123.56 * factor, section=cc.Section(A=0.02, Iz=1.333417), shapes=shapes, **options)
    return m


def moves(m, **options):
    """Crank's angle and the middle of the coupler over time."""
    run = cc.simulate(m, until=TIMES[-1], t_eval=TIMES, rtol=1e-9, **options)
    return np.column_stack([run["O"].values, run.frame("coupler.middle").position.values[:, :2]])


@cache
def pinned():
    """Shapes that meet the conditions of both pins: the motion that others must come to."""
    return moves(four_bar(cc.shapes.pinned_pinned(y=6), stiffening=True))


def missed(m, **options):
    return np.abs(moves(m, **options) - pinned()).max(axis=0)[[0, 1]]


def test_a_stiff_coupler_is_a_rigid_one():
    """At first order in 1/E, once damping has taken what rings."""
    shapes, factors = cc.shapes.pinned_pinned(y=2), (4.0, 16.0, 64.0)
    rigid = cc.simulate(cc.library.four_bar(), until=TIMES[-1], t_eval=TIMES, rtol=1e-11)["O"].values
    found = [np.abs(moves(four_bar(shapes, x, damping=0.5))[:, 0] - rigid).max() for x in factors]
    np.testing.assert_allclose(orders(found, 4), 1.0, atol=0.01)
    assert found[-1] < 1e-4  # rad


def test_shapes_need_not_meet_the_conditions_of_the_joints():
    """Powers of xi are lifted and turned at B; closed by a loop or by a spring they come to the pinned motion."""
    few, more = (four_bar(cc.shapes.polynomials(y=n), stiffening=True) for n in (2, 5))
    assert more.flexible["coupler"].shapes.at(1.0)[0][1].all()
    # by more shapes (rad, m; measured 9.3e-4 and 1.9e-6 rad)
    coarse, fine = missed(few), missed(more)
    assert (fine < coarse / 50).all()
    assert (fine < (3e-6, 4e-5)).all()
    # by stiffer springs, until the shapes are what is missed (measured 9.0e-5, 1.0e-5 and 1.9e-6 rad)
    springs = (cc.VirtualSpring(k, 2 * np.sqrt(k)) for k in (1e5, 1e6, 1e7))
    soft, stiff, stiffest = (missed(more, method=spring, solver="rodas5p") for spring in springs)
    assert (stiff < soft / 5).all()
    assert (stiffest < 1.5 * fine).all()


def test_bending_shortens_the_chord():
    """Which shapes count on a small slope is a matter of second order: with stiffening it is one of the third."""
    powers, sines = cc.shapes.polynomials(y=5), cc.shapes.pinned_pinned(y=6)
    plain = np.abs(moves(four_bar(powers)) - moves(four_bar(sines))).max()
    assert missed(four_bar(powers, stiffening=True)).max() < plain / 20
