"""Mechanisms ready to run. Each function returns a new `Mechanism`; ``MECHANISMS`` lists them by name.

How to add your own mechanism
-----------------------------
1. Write a function in a file of this folder that draws it and returns the `Mechanism`. Its docstring gives the source
   of the numbers. Arguments have defaults.
2. Set ``m.start`` (values of enough coordinates to fix the pose) and guesses of the other joints, so that
   ``m.assemble()`` needs no argument.
3. Add one line to ``MECHANISMS``. The tests and benchmarks that go through the library then include it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from closedchain.errors import ModelError
from closedchain.model.library.gough_stewart import gough_stewart
from closedchain.model.library.pendulums import double_pendulum, pendulum
from closedchain.model.library.planar import five_bar, four_bar, slider_crank
from closedchain.model.library.rrr3 import rrr3
from closedchain.model.mechanism import Mechanism
from closedchain.model.parts import suggest

__all__ = [
    "MECHANISMS",
    "Entry",
    "double_pendulum",
    "five_bar",
    "four_bar",
    "get",
    "gough_stewart",
    "pendulum",
    "rrr3",
    "slider_crank",
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
}


def get(name: str) -> Entry:
    """Find a mechanism by name; ``four_bar`` and ``four-bar`` are the same."""
    key = name.replace("_", "-")
    if key not in MECHANISMS:
        raise ModelError(f"the library has no mechanism {name!r}{suggest(key, MECHANISMS)}")
    return MECHANISMS[key]
