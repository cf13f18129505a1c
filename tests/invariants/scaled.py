"""Mechanisms in other units: the same drawing with all lengths, masses and times multiplied."""

from __future__ import annotations

from dataclasses import dataclass

import closedchain as cc
from closedchain.model.mechanism import Mechanism
from closedchain.pose.state import State


@dataclass(frozen=True)
class Units:
    """How many metres, kilograms and seconds the units of a drawing are."""

    L: float = 1.0
    M: float = 1.0
    T: float = 1.0

    @property
    def acceleration(self) -> float:
        """Of a unit, m/s^2."""
        return self.L / (self.T * self.T)

    @property
    def force(self) -> float:
        """Of a unit, N."""
        return self.M * self.acceleration

    @property
    def energy(self) -> float:
        """Of a unit, J."""
        return self.force * self.L


def four_bar(u: Units) -> tuple[Mechanism, State]:
    """Four hinges in a plane, a torque on the crank."""
    m = cc.Mechanism("four-bar", gravity=(0, -9.7 * u.acceleration, 0))
    crank, coupler, rocker = (
        m.body(name, cc.rod(length=length * u.L, mass=mass * u.M, radius=0.013 * u.L))
        for name, length, mass in (("crank", 1.1, 1.3), ("coupler", 3.9, 1.7), ("rocker", 2.6, 0.9))
    )
    m.revolute("O", m.ground, crank)
    m.revolute("A", crank.tip, coupler)
    m.revolute("C", m.ground.at(3.1 * u.L, 0, 0), rocker)
    m.revolute("B", coupler.tip, rocker.tip)
    m.motor("O", torque=5.9 * u.energy)
    return m, m.assemble(O=1.57, guess={"A": -1.2, "C": 1.3})


def slider_crank(u: Units) -> tuple[Mechanism, State]:
    """A crank that drives a slider."""
    m = cc.Mechanism("slider-crank", gravity=(0, -9.7 * u.acceleration, 0))
    crank = m.body("crank", cc.rod(length=0.11 * u.L, mass=0.23 * u.M, radius=0.013 * u.L))
    rod = m.body("rod", cc.rod(length=0.31 * u.L, mass=0.19 * u.M, radius=0.011 * u.L))
    slider = m.body("slider", cc.box(size=(0.06 * u.L, 0.04 * u.L, 0.04 * u.L), mass=0.43 * u.M))
    m.revolute("O", m.ground, crank)
    m.revolute("A", crank.tip, rod)
    m.prismatic("slide", m.ground, slider, axis=(1, 0, 0), guess=0.4 * u.L)
    m.revolute("B", rod.tip, slider)
    m.motor("O", torque=0.13 * u.energy)
    return m, m.assemble(O=0.7)


def rssr(u: Units) -> tuple[Mechanism, State]:
    """A spatial four-bar: hinges on the ground, ball joints at both ends of the coupler."""
    m = cc.Mechanism("RSSR", gravity=(0, 0, -9.7 * u.acceleration))
    crank = m.body("crank", cc.rod(length=0.9 * u.L, mass=1.1 * u.M, radius=0.07 * u.L))
    coupler = m.body("coupler", cc.rod(length=3.1 * u.L, mass=1.7 * u.M, radius=0.09 * u.L))
    rocker = m.body("rocker", cc.rod(length=2.1 * u.L, mass=0.9 * u.M, radius=0.06 * u.L))
    m.revolute("O", m.ground, crank, axis=(0, 0, 1))
    m.spherical("A", crank.tip, coupler)
    m.revolute("C", m.ground.at(2.3 * u.L, 0.7 * u.L, 0.4 * u.L), rocker, axis=(0, 1, 0))
    m.spherical("B", coupler.tip, rocker.tip)
    m.motor("O", torque=2.9 * u.energy)
    return m, m.assemble(O=0.6)


def rssp(u: Units) -> tuple[Mechanism, State]:
    """A spatial slider-crank: a hinge, two ball joints, and a slide across."""
    m = cc.Mechanism("RSSP", gravity=(0, 0, -9.7 * u.acceleration))
    crank = m.body("crank", cc.rod(length=0.43 * u.L, mass=0.7 * u.M, radius=0.03 * u.L))
    rod = m.body("rod", cc.rod(length=1.9 * u.L, mass=1.1 * u.M, radius=0.05 * u.L))
    block = m.body("block", cc.box(size=(0.3 * u.L, 0.2 * u.L, 0.1 * u.L), mass=2.3 * u.M))
    m.revolute("O", m.ground, crank, axis=(0.3, 0, 1))
    m.spherical("A", crank.tip, rod)
    m.prismatic("slide", m.ground.at(0.1 * u.L, 0.2 * u.L, 0), block, axis=(0.2, 1, 0.1), guess=1.7 * u.L)
    m.spherical("B", rod.tip, block)
    m.motor("O", torque=1.9 * u.energy)
    return m, m.assemble(O=0.4)


MECHANISMS = {f.__name__: f for f in (four_bar, slider_crank, rssr, rssp)}
