"""Length, mass and time of a drawing: what they are, and that they follow a change of units exactly."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.derive.equations import derive
from closedchain.march.program.compiled import compiled, tolerances
from closedchain.pose.size import Scale, drawn_length, drawn_scale
from closedchain.pose.state import parameter_vector


def scale(m, span=0.0):
    return drawn_scale(derive(m), parameter_vector(m), span)


def slider(g=9.81, mass=2.0):
    """A block on the ground's x axis with a rod on it."""
    m = cc.Mechanism("slider", gravity=(0, -g, 0))
    block, rod = m.body("block", cc.box(size=(0.1, 0.1, 0.1), mass=mass)), m.body("rod", cc.rod(length=0.5, mass=1.0))
    m.prismatic("slide", m.ground, block, axis=(1, 0, 0))
    m.revolute("hinge", block, rod)
    return m


def test_the_longest_distance_on_a_body_all_masses_and_the_period_of_a_pendulum():
    m = cc.library.four_bar()
    found = scale(m)
    assert (found.length, found.mass) == (4.0, 3.0)
    assert found.time == pytest.approx(2 * np.pi * (4.0 / 9.8) ** 0.5, rel=1e-15)
    assert found.energy == pytest.approx(3.0 * (4.0 / found.time) ** 2, rel=1e-15)
    assert drawn_length(derive(m), parameter_vector(m)) == 4.0


def test_without_gravity_the_time_is_that_of_the_run():
    m = slider(g=0.0)
    assert [scale(m, span).time for span in (0.0, 3.0, -3.0)] == [1.0, 3.0, 3.0]
    assert scale(m, None).time == np.inf  # no rate is small where nothing gives a time


def test_a_drawing_without_lengths_has_those_of_the_ground_or_of_gyration():
    wheel = cc.Mechanism("wheel", gravity=(0, 0, 0))
    wheel.revolute("axle", wheel.ground, wheel.body("disk", cc.rigid(mass=2.0, inertia=(1.0, 2.0, 3.0))))
    assert scale(wheel) == Scale(3.0**0.5, 2.0, 1.0)

    two = cc.Mechanism("two")
    for x in (0.0, 5.0):
        two.prismatic(
            f"slide {x:g}", two.ground.at(x, 0, 0), two.body(f"block {x:g}", cc.rigid(mass=1.0, inertia=(1, 1, 1)))
        )
    assert scale(two).length == 5.0

    point = cc.Mechanism("point")
    point.prismatic("slide", point.ground, point.body("bead", cc.rigid(mass=1.0, inertia=(0, 0, 0))))
    assert scale(point).length == 1.0


def test_many_points_at_once_are_the_same_numbers():
    m = cc.library.four_bar()
    p = np.tile(parameter_vector(m), (3, 1))
    p[:, list(m.parameters.merged(None)).index("coupler.length")] = 3.9, 4.0, 4.3
    many = drawn_scale(derive(m), p)
    for i in range(3):
        one = drawn_scale(derive(m), p[i])
        assert (one.length, one.mass, one.time) == (many.length[i, 0], many.mass[i, 0], many.time[i, 0])
    program = compiled(m.assemble(), cc.Multipliers())
    np.testing.assert_array_equal(program.sizes(many)[1], program.sizes(drawn_scale(derive(m), p[1])))


def test_each_entry_of_a_state_has_its_own_tolerance():
    m = slider()
    program, found = compiled(m.assemble(), cc.Multipliers()), scale(m)
    sizes = [found.length, 1.0, found.length / found.time, 1.0 / found.time, found.energy]
    np.testing.assert_array_equal(tolerances(program, found, 1e-6, None), 1e-6 * np.array(sizes))
    np.testing.assert_array_equal(tolerances(program, found, 1e-6, 1e-9), np.full(5, 1e-9))
