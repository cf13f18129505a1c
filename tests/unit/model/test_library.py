"""The library: every mechanism builds, is found by name, and starts from a closed state without being told how."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.march.compiled import compiled
from closedchain.model.library import MECHANISMS, get

# joints, bodies, freedoms of the drawing: counted by hand
COUNTS = {
    "pendulum": (1, 1, 1),
    "double-pendulum": (2, 2, 2),
    "four-bar": (4, 3, 1),
    "slider-crank": (4, 3, 1),
    "five-bar": (5, 4, 2),
    "rrr3": (9, 7, 3),
    "gough-stewart": (19, 13, 6),  # the free joint that says where the platform is counts as one
}


def test_all_are_counted():
    assert set(COUNTS) == set(MECHANISMS)


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_of_the_library(name):
    entry = get(name)
    m = entry.build()
    start = m.assemble()
    program = compiled(start, cc.Multipliers())
    joints, bodies, freedoms = COUNTS[name]

    assert m.name == name and entry.until > 0 and entry.about
    assert (len(m.joints), len(m.bodies)) == (joints, bodies)
    assert start.topology.nv - len(program.rows) == freedoms
    assert not start.v.any()
    assert all(start[key] == pytest.approx(value, abs=1e-12) for key, value in m.start.items())  # held to rounding


@pytest.mark.parametrize("name", MECHANISMS)
def test_two_of_a_kind_are_independent(name):
    build = MECHANISMS[name].build
    first, second = build(), build()
    key = next(iter(first.parameters))
    before = second.parameters[key]
    first.parameters[key] += 1.0

    assert second.parameters[key] == before


def test_names_with_underscores():
    assert get("four_bar") is get("four-bar")


def test_an_unknown_name_suggests():
    with pytest.raises(cc.ModelError, match="the library has no mechanism 'fourbar'; did you mean 'four-bar'"):
        get("fourbar")


@pytest.mark.parametrize("drive", ["pd", "open", "none"])
def test_drives_of_the_platform(drive):
    m = cc.library.gough_stewart(drive=drive)

    assert len(m.motors) == (0 if drive == "none" else 6)


def test_an_unknown_drive_is_refused():
    with pytest.raises(cc.ModelError, match=r"gough_stewart: drive must be .*not 'manual'"):
        cc.library.gough_stewart(drive="manual")


def test_the_platform_starts_where_it_is_told():
    m = cc.library.gough_stewart(position=(-1.4, 0.0, 1.6), tilt=0.2)
    run = cc.simulate(m, until=1e-3, t_eval=[0.0])
    pose = run.frame("platform")
    c, s = np.cos(0.2), np.sin(0.2)

    # assembled to 1e-11
    np.testing.assert_allclose(pose["position"][0], [-1.4, 0.0, 1.6], atol=1e-9)
    np.testing.assert_allclose(pose["rotation"][0], [[c, 0, s], [0, 1, 0], [-s, 0, c]], atol=1e-9)


def test_numbers_of_the_four_bar():
    """Wang, Gosselin and Cheng (2002), section 3.1."""
    m = cc.library.four_bar()
    lengths = [m.parameters[f"{name}.length"] for name in ("crank", "coupler", "rocker")]

    assert lengths == [1.0, 4.0, 2.5] and m.parameters["ground.C.x"] == 3.0
    assert m.parameters["O.motor"] == 6.0 and m.parameters["gravity.y"] == -9.8


def test_numbers_may_be_given_as_arguments():
    assert cc.library.pendulum(length=2.0).parameters["arm.length"] == 2.0
    assert cc.library.slider_crank(g=9.81).parameters["gravity.y"] == -9.81
    assert cc.library.five_bar(torques=(1.0, 2.0)).parameters["right amplitude"] == 2.0
    assert str(cc.library.four_bar(torque=lambda t: cc.sin(t)).motors["O.motor"].effort) == "sin(t)"
