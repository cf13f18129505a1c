"""Mechanisms ready to run. Each function returns a new `Mechanism`; ``MECHANISMS`` lists them by name.

Not known here: anything but drawing.

How to add your own mechanism
-----------------------------
1. Write a function in a file of this folder that draws it and returns the `Mechanism`. Its docstring gives the source
   of the numbers. Arguments have defaults.
2. Set ``m.start`` (values of enough coordinates to fix the pose) and guesses of the other joints, so that
   ``m.assemble()`` needs no argument.
3. Add one line to ``MECHANISMS``. The tests and benchmarks that go through the library then include it. One with
   flexible links goes to ``FLEXIBLE``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from closedchain.arguments import known
from closedchain.model.expressions.expression import t
from closedchain.model.expressions.functions import cos, pi
from closedchain.model.library.arms_with_box import arms_with_box
from closedchain.model.library.delta import delta
from closedchain.model.library.flexible_arm import flexible_arm
from closedchain.model.library.gough_stewart import gough_stewart
from closedchain.model.library.hexaglide import hexaglide
from closedchain.model.library.legged import hexapod, walker
from closedchain.model.library.pacdrive import pacdrive
from closedchain.model.library.pendulums import double_pendulum, pendulum
from closedchain.model.library.planar import five_bar, four_bar, four_bar_chain, slider_crank
from closedchain.model.library.rrr3 import rrr3
from closedchain.model.mechanism import Mechanism

__all__ = [
    "FLEXIBLE",
    "MECHANISMS",
    "Entry",
    "arms_with_box",
    "delta",
    "double_pendulum",
    "five_bar",
    "flexible_arm",
    "four_bar",
    "four_bar_chain",
    "get",
    "gough_stewart",
    "hexaglide",
    "hexapod",
    "pacdrive",
    "pendulum",
    "rrr3",
    "slider_crank",
    "walker",
]


@dataclass(frozen=True)
class Entry:
    """A mechanism of the library: how to build it, how long its usual run is (s), and what it is."""

    build: Callable[..., Mechanism]
    until: float
    about: str


MECHANISMS: dict[str, Entry] = {
    "pendulum": Entry(pendulum, 5.0, "a rod on a hinge"),
    "double-pendulum": Entry(double_pendulum, 5.0, "two rods on hinges"),
    "four-bar": Entry(four_bar, 2.0, "crank-rocker driven by a constant torque (Wang et al. 2002)"),
    "slider-crank": Entry(slider_crank, 1.0, "crank, rod and slider driven by a constant torque"),
    "five-bar": Entry(five_bar, 2.0, "planar robot with two motors on the ground"),
    "rrr3": Entry(rrr3, 2.0, "planar parallel robot 3-RRR (Raoofian et al. 2017)"),
    "gough-stewart": Entry(gough_stewart, 2.0, "six-legged platform under leg control (Wang et al. 2002)"),
    "four-bar-chain": Entry(four_bar_chain, 2.0, "square four-bars in a row (IFToMM benchmark A02)"),
    "pacdrive": Entry(pacdrive, 0.4, "planar packaging robot with two parallelograms (Vidoni et al. 2012)"),
    "delta": Entry(delta, 1.0, "three motors and six rods move a platform without turning it"),
    "hexaglide": Entry(hexaglide, 2.0, "platform on six struts whose feet slide on rails"),
    "arms-with-box": Entry(arms_with_box, 2.0, "three PUMA 560 arms lift a box (after Lilly and Orin 1989)"),
    "hexapod": Entry(hexapod, 2.0, "body on six legs of three hinges, on point feet"),
    "walker": Entry(walker, 2.0, "body on four legs whose feet can be lifted"),
}

# with flexible links; ``m.rigid_twin()`` is each of them with rigid ones
FLEXIBLE: dict[str, Entry] = {
    "flexible-arm": Entry(flexible_arm, 1.0, "flexible beam on the hub of a motor"),
    "flexible-four-bar": Entry(
        partial(four_bar, flexible=True), 2.0, "crank-rocker with a flexible coupler (Wang et al. 2002)"
    ),
    "flexible-slider-crank": Entry(
        partial(slider_crank, flexible=True), 1.0, "slider-crank whose rod is a strip of spring steel"
    ),
    "flexible-rrr3": Entry(
        partial(rrr3, [torque * cos(2 * pi * t) for torque in (4.0, -3.0, 2.0)], flexible=True),
        1.0,
        "planar parallel robot 3-RRR with rods that are steel blades",
    ),
    "flexible-pacdrive": Entry(
        partial(pacdrive, flexible=True), 0.3, "packaging robot of eleven flexible beams (Vidoni et al. 2012)"
    ),
    "flexible-delta": Entry(partial(delta, flexible="arms"), 0.5, "Delta with flexible upper arms"),
}


def get(name: str) -> Entry:
    """Find a mechanism by name; ``four_bar`` and ``four-bar`` are the same."""
    entries = MECHANISMS | FLEXIBLE
    return entries[known("the library has no mechanism", name.replace("_", "-"), entries)]
