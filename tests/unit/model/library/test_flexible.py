"""Mechanisms of the library with flexible links: drawn with the numbers of their rigid twins, and able to start."""

import math

import numpy as np
import pytest

import closedchain as cc
from closedchain.model.library import FLEXIBLE, MECHANISMS, get
from tests.reference.compare import load

BEAMS = load("beams/elementary")

# shapes of each flexible body
SHAPES = {
    "flexible-arm": {"beam": 3},
    "flexible-four-bar": {"coupler": 2},
    "flexible-slider-crank": {"rod": 2},
    "flexible-rrr3": {f"{kind}{k}": 2 for k in (1, 2, 3) for kind in ("proximal", "distal")},
    "flexible-pacdrive": {f"link{k}": 6 if k in (1, 2, 3, 4, 6, 10) else 3 for k in range(1, 12)},
    "flexible-delta": {f"arm{k} upper": 5 for k in (1, 2, 3)},
}


def weight_of(m, body, density):
    """Mass of a beam by its section and length over the mass that is drawn."""
    value, beam = m.values(), m.flexible[body]
    return density * value(beam.section.A) * value(beam.length) / value(beam.body.properties.mass)


@pytest.mark.parametrize("name", FLEXIBLE)
def test_a_flexible_mechanism_of_the_library(name):
    entry = get(name)
    m = entry.build()
    m.validate()

    assert m.name == name and entry.until > 0 and entry.about
    assert {body: beam.shapes.n for body, beam in m.flexible.items()} == SHAPES[name]
    twin = m.rigid_twin()
    assert not twin.flexible and list(twin.joints) == list(m.joints)


def test_names_are_told_apart():
    assert set(FLEXIBLE) == set(SHAPES) and not set(FLEXIBLE) & set(MECHANISMS)
    assert get("flexible_four_bar") is FLEXIBLE["flexible-four-bar"]


@pytest.mark.parametrize("build", [cc.library.four_bar, cc.library.slider_crank, cc.library.rrr3])
def test_flexibility_only_adds(build):
    """The numbers of the rigid drawing are there unchanged, and so are its parts."""
    rigid, flexible = build(), build(flexible=True)

    assert not rigid.flexible
    assert dict(rigid.parameters).items() <= dict(flexible.parameters).items()
    assert list(rigid.bodies) == list(flexible.bodies) and list(rigid.joints) == list(flexible.joints)
    assert rigid.start == flexible.start


def test_sections_have_the_mass_that_is_drawn():
    m = cc.library.slider_crank(flexible=True)
    assert weight_of(m, "rod", 7850.0) == pytest.approx(1.0, rel=1e-12)
    m = cc.library.rrr3(flexible=True)
    assert [weight_of(m, body, 7850.0) for body in m.flexible] == pytest.approx([1.0] * 6, rel=1e-12)
    m = cc.library.pacdrive(flexible=True)
    assert [weight_of(m, body, 7840.0) for body in m.flexible] == pytest.approx([1.0] * 11, rel=1e-12)
    m = cc.library.delta(flexible=True)
    assert weight_of(m, "arm1 upper", 2700.0) == pytest.approx(1.0, rel=0.01)  # as the docstring says
    assert weight_of(m, "arm1 left rod", 1910.0) == pytest.approx(1.0, rel=0.01)  # glass fibre


def test_the_coupler_is_the_papers():
    m = cc.library.four_bar(flexible=True)
    value, beam = m.values(), m.flexible["coupler"]

    assert value(beam.E) * value(beam.section.Iz) == pytest.approx(2831.5910045200003, rel=1e-14)


def test_the_arm_is_the_elementary_beam():
    m = cc.library.flexible_arm(hub=0.0196, tip_mass=1.0)
    value, beam, want = m.values(), m.flexible["beam"], BEAMS["beam"]

    assert value(beam.length) == want["L"]
    assert value(beam.E) * value(beam.section.Iz) == pytest.approx(want["EI"])
    assert value(beam.E) * value(beam.section.A) == pytest.approx(want["EA"])
    assert value(m.bodies["beam"].properties.mass) == pytest.approx(want["mass_per_length"] * want["L"])
    assert value(m.bodies["hub"].properties.inertia[2]) == 0.0196
    assert m.joints["grip"].a is m.bodies["beam"].tip


def test_a_rigid_arm():
    rigid, twin = cc.library.flexible_arm(flexible=False), cc.library.flexible_arm().rigid_twin()

    assert not rigid.flexible and rigid.name == "rigid-arm"
    assert dict(rigid.parameters).items() <= dict(twin.parameters).items()
    with pytest.raises(cc.ModelError, match="flexible_arm: a rigid arm has no shapes"):
        cc.library.flexible_arm(shapes=cc.library.flexible_arm().flexible["beam"].shapes, flexible=False)


def test_parts_of_the_delta():
    assert set(cc.library.delta(flexible="rods").flexible) == {
        f"arm{k} {s} rod" for k in (1, 2, 3) for s in ("left", "right")
    }
    assert len(cc.library.delta(flexible=True).flexible) == 9
    with pytest.raises(cc.ModelError, match="delta: flexible must be 'arms' or 'rods', not 'legs'"):
        cc.library.delta(flexible="legs")


@pytest.fixture(scope="module")
def twin():
    return cc.library.pacdrive(flexible=True).rigid_twin()


def test_eleven_beams_weigh_what_the_robot_weighs(twin):
    whole, bodies = (
        sum(m.values()(body.properties.mass) for body in m.bodies.values()) for m in (twin, cc.library.pacdrive())
    )
    assert whole == pytest.approx(bodies, rel=1e-14)
    assert whole == pytest.approx(8.23984, rel=1e-9)  # counted independently, printed to five places


def test_eleven_rigid_beams_have_two_freedoms(twin):
    """The triangle is a loop of welds, all of whose equations repeat others."""
    found = twin.mobility()

    assert found.true == found.here == 2
    assert sum(joint == "weld7" for joint, _ in found.redundant) == 6


def test_eleven_rigid_beams_move_as_the_robot_with_rigid_links(twin):
    times = np.linspace(0.0, 0.1, 6)
    beams, bodies = (
        cc.simulate(m, until=0.1, t_eval=times, rtol=1e-10, atol=1e-12) for m in (twin, cc.library.pacdrive())
    )
    for joint in ("joint1", "joint2"):
        np.testing.assert_allclose(beams[joint], bodies[joint], rtol=0, atol=1e-9)  # the tolerance is 1e-10
    places = beams.frame("link5.tip").position.values, bodies.frame("tool.tip").position.values
    np.testing.assert_allclose(*places, rtol=0, atol=1e-9)
    assert beams["joint1"].values[0] == pytest.approx(math.radians(-170), abs=1e-14)
