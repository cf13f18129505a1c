"""Planar mechanisms, drawn in space with ordinary hinges and slides. Plane xy, gravity along -y."""

from __future__ import annotations

from closedchain.arguments import whole
from closedchain.model.bodies.sections import Section
from closedchain.model.bodies.shapes import box, rod
from closedchain.model.expressions.expression import Number, t
from closedchain.model.expressions.functions import cos, pi
from closedchain.model.library.reachable import reachable
from closedchain.model.mechanism import Mechanism
from closedchain.model.shapes import pinned_pinned

STEEL, STEEL_DENSITY, STRIP = 210e9, 7850.0, 1.5e-3  # Pa, kg/m^3, and the thickness of a flexible rod, m


@reachable
def four_bar(torque: Number = 6.0, *, flexible: bool = False) -> Mechanism:
    """The crank-rocker of Wang, Gosselin and Cheng (2002), section 3.1: lengths 1, 4, 2.5 m, ground 3 m, rods of 1 kg.

    Starts at rest with the crank upright. Angles of the paper: theta = O, alpha = O + A, phi = C.

    Parameters
    ----------
    torque
        On the crank, N m.
    flexible
        The coupler bends in two sines, as in section 3.2 of the paper: E I = 2831.591 N m^2 (its E = 2123.56 Pa and
        I = 1.333417 m^4 are those of no real beam, but only the product counts). Its coordinates q21 and q22 are
        ``coupler.y1`` and ``coupler.y2``, of 10.448 and 41.793 Hz on their own; it starts undeformed. The hinge A turns
        with the end of the bent coupler, by theta = pi/4 (q21 + 2 q22): alpha = O + A - 2 atan(theta/2).
    """
    m = Mechanism("flexible-four-bar" if flexible else "four-bar", gravity=(0, -9.8, 0))
    crank = m.body("crank", rod(length=1.0, mass=1.0))
    coupler = m.body("coupler", rod(length=4.0, mass=1.0))
    rocker = m.body("rocker", rod(length=2.5, mass=1.0))
    m.revolute("O", m.ground, crank)
    m.revolute("A", crank.tip, coupler, guess=-1.2)
    m.revolute("C", m.ground.at(3, 0, 0), rocker, guess=1.3)
    m.revolute("B", coupler.tip, rocker.tip)
    if flexible:
        coupler.flexible(E=2123.56, section=Section(A=0.02, Iz=1.333417), shapes=pinned_pinned(y=2))
    m.motor("O", torque=torque)
    m.start = {"O": pi / 2}
    return m


@reachable
def slider_crank(torque: Number = 0.1, g: Number = 0.0, *, flexible: bool = False) -> Mechanism:
    """Crank 0.1 m, rod 0.3 m, slider 0.4 kg on the x axis; the crank is driven by a constant torque.

    The numbers are those of the rigid slider-crank among EXUDYN's test models; starts at rest in the outer dead centre.

    Parameters
    ----------
    torque
        On the crank, N m.
    g
        Gravity along -y, m/s^2.
    flexible
        The rod is a strip of spring steel (E = 210e9 Pa, 7850 kg/m^3), 1.5 mm thick in the plane of motion and as wide
        as its mass asks for, 56.6 mm; it bends in two sines, 39.1 and 156 Hz on their own.
    """
    m = Mechanism("flexible-slider-crank" if flexible else "slider-crank", gravity=(0, -g, 0))
    crank = m.body("crank", rod(length=0.1, mass=0.2))
    connecting = m.body("rod", rod(length=0.3, mass=0.2))
    slider = m.body("slider", box(size=(0.06, 0.04, 0.04), mass=0.4))
    m.revolute("O", m.ground, crank)
    m.revolute("A", crank.tip, connecting)
    m.prismatic("slide", m.ground, slider, axis=(1, 0, 0), guess=0.4)
    m.revolute("B", connecting.tip, slider)
    if flexible:
        strip = Section.rectangle(y=STRIP, z=0.2 / (0.3 * STRIP * STEEL_DENSITY))
        connecting.flexible(E=STEEL, section=strip, shapes=pinned_pinned(y=2))
    m.motor("O", torque=torque)
    m.start = {"O": 0.0}
    return m


@reachable
def five_bar(torques: tuple[float, float] = (0.15, 0.10)) -> Mechanism:
    """A planar robot with two motors on the ground, 0.2 m apart: proximal rods 0.25 m, distal rods 0.35 m.

    The tip of the robot is the frame ``left distal.tip``. It moves in a horizontal plane, back and forth once a second:
    ``torques`` are the amplitudes (N m) of a cosine.
    """
    m = Mechanism("five-bar", gravity=(0, 0, -9.81))
    sides = {}
    for side, x in (("left", -0.1), ("right", 0.1)):
        proximal = m.body(f"{side} proximal", rod(length=0.25, mass=0.4))
        distal = m.body(f"{side} distal", rod(length=0.35, mass=0.3))
        m.revolute(f"{side} motor", m.ground.at(x, 0, 0), proximal)
        m.revolute(f"{side} elbow", proximal.tip, distal, guess=-1.1 if side == "left" else 1.1)
        sides[side] = distal
    m.revolute("tip", sides["left"].tip, sides["right"].tip)
    m.output = sides["left"].tip
    for side, torque in zip(sides, torques, strict=True):
        amplitude = m.parameter(f"{side} amplitude", torque)
        m.motor(f"{side} motor", torque=amplitude * cos(2 * pi * t))
    m.start = {"left motor": 2.2, "right motor": pi - 2.2}
    return m


@reachable
def four_bar_chain(n: int = 5) -> Mechanism:
    """Problem A02 of the IFToMM multibody benchmarks: ``n`` square four-bars in a row, all links 1 m and 1 kg.

    Neighbours share a rocker; ``rocker0`` to ``rocker<n>`` stand on the ground 1 m apart. It starts with the rockers
    upright and their tips moving at 1 m/s along +x, and swings through the pose in which all links lie in one line:
    there its loops are singular. (Gonzalez, Dopico, Lugris and Cuadrado 2006; the original has 40 loops.)
    """
    whole("four_bar_chain: n", n, 1)
    m = Mechanism("four-bar-chain", gravity=(0, -9.81, 0))
    rocker = m.body("rocker0", rod(length=1.0, mass=1.0))
    m.output = rocker.tip
    m.revolute("O0", m.ground, rocker)
    for k in range(1, n + 1):
        coupler, neighbour = (m.body(f"{name}{k}", rod(length=1.0, mass=1.0)) for name in ("coupler", "rocker"))
        m.revolute(f"O{k}", m.ground.at(k, 0, 0), neighbour, guess=pi / 2)
        m.revolute(f"left{k}", rocker.tip, coupler, guess=-pi / 2)
        m.revolute(f"right{k}", coupler.tip, neighbour.tip)
        rocker = neighbour
    m.start, m.start_velocity = {"O0": pi / 2}, {"O0": -1.0}
    return m
