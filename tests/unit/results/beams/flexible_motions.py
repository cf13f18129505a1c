"""Mechanisms with flexible links that several tests look at; none of them may change one."""

import functools
import json
from pathlib import Path

import numpy as np

import closedchain as cc

ELEMENTARY = json.loads((Path(__file__).parents[3] / "reference" / "beams" / "elementary.json").read_text())
BEAM = ELEMENTARY["beam"]
SECTION = cc.Section.rectangle(y=BEAM["depth_in_plane"], z=BEAM["width"])
MASS = BEAM["mass_per_length"] * BEAM["L"]


def clamped(shapes, *, g=9.81, push=None, turn=0.0, **more):
    """The beam of the elementary cases on a hinge that a drive holds, or turns."""
    m = cc.Mechanism("cantilever", gravity=(0, -g, 0))
    arm = m.body("arm", cc.rod(BEAM["L"], MASS))
    arm.flexible(BEAM["E"], SECTION, shapes=shapes, **more)
    m.revolute("clamp", m.ground, arm)
    m.drive("clamp", turn)
    if push is not None:
        m.force("push", arm.tip, push)
    return m


@functools.cache
def four_bar_run():
    """Wang's four-bar with a flexible coupler, one second."""
    m = cc.library.four_bar(flexible=True)
    return cc.simulate(m, until=1.0, rtol=1e-9, t_eval=np.linspace(0, 1, 201))


@functools.cache
def flexible_four_bar():
    """The mechanism of `four_bar_run`, another drawing of it."""
    return cc.library.four_bar(flexible=True)


@functools.cache
def driven_slider_crank():
    """A slider-crank whose crank a drive turns, with a slim rod between pins."""
    m = cc.Mechanism("slider-crank", gravity=(0, -9.81, 0))
    crank = m.body("crank", cc.rod(length=0.1, mass=0.5))
    rod = m.body("rod", cc.rod(length=0.3, mass=0.1))
    slider = m.body("slider", cc.point_mass(0.2))
    m.revolute("O", m.ground, crank)
    m.revolute("A", crank.tip, rod)
    m.prismatic("slide", m.ground, slider, axis=(1, 0, 0))
    m.revolute("B", rod.tip, slider)
    m.drive("O", 0.5 + 10 * cc.t)
    m.start = {"O": 0.5}
    rod.flexible(70e9, cc.Section.rectangle(y=0.004, z=0.01), shapes=cc.shapes.pinned_pinned(y=2))
    return m


@functools.cache
def two_beams():
    """Two cantilevers on hinges with motors, without anything that couples them."""
    m = cc.Mechanism("two beams", gravity=(0, 0, 0))
    for name, thick in (("slim", 0.01), ("strong", 0.02)):
        arm = m.body(name, cc.rod(0.5, 1.0))
        arm.flexible(70e9, cc.Section.rectangle(y=thick, z=0.03), shapes=cc.shapes.clamped_free(y=2))
        m.revolute(f"{name} hinge", m.ground, arm)
        m.motor(f"{name} hinge", 0.0)
    return m


@functools.cache
def tripod():
    """A beam in space on a ball, held by a spring: it moves in no plane."""
    m = cc.Mechanism("boom", gravity=(0, 0, -9.81))
    boom = m.body("boom", cc.rod(1.0, 2.0))
    boom.flexible(70e9, cc.Section.tube(0.01, 0.002), shapes=cc.shapes.clamped_free(y=1, z=1))
    m.universal("foot", m.ground, boom)
    m.spring("stay", m.ground.at(0, 0, 1), boom.tip, stiffness=200.0)
    m.spring("other", m.ground.at(0, 1, 0.2), boom.tip, stiffness=200.0)
    return m


def crossing():
    """Two beams, one of which grows heavier at its tip when a slide moves out: their frequencies cross."""
    m = cc.Mechanism("crossing", gravity=(0, 0, 0))
    for name, thick in (("fixed", 0.01), ("loaded", 0.012)):
        arm = m.body(name, cc.rod(0.5, 1.0))
        arm.flexible(70e9, cc.Section.rectangle(y=thick, z=0.03), shapes=cc.shapes.clamped_free(y=1))
        m.revolute(f"{name} hinge", m.ground.at(0, 0, 0.1 * len(m.bodies)), arm)
        m.motor(f"{name} hinge", 0.0)
    rider = m.body("rider", cc.point_mass(0.3))
    m.prismatic("slide", m.bodies["loaded"].tip, rider, axis=(1, 0, 0))
    m.start = {"fixed hinge": 0.0, "loaded hinge": 0.0, "slide": 0.0}
    return m
