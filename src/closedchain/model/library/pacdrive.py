"""The PacDrive packaging robot of Vidoni, Gasparetto, Boscariol and Giovagnoni (2012), with rigid or flexible links."""

from __future__ import annotations

import math

import numpy as np

from closedchain.arguments import one_of
from closedchain.model.bodies.sections import Section
from closedchain.model.bodies.shapes import Shape, rigid, rod
from closedchain.model.expressions.expression import Expression, t
from closedchain.model.expressions.functions import maximum, minimum, where
from closedchain.model.library.reachable import reachable
from closedchain.model.mechanism import Mechanism
from closedchain.model.parts import Body, Frame
from closedchain.model.shapes import craig_bampton

PIVOTS = {1: (-0.05, 0.0), 2: (0.05, 0.0), 6: (0.05, 0.07)}
DENSITY, SMALL = 7840.0, 0.07
WIDE, NARROW, SHORT = 0.02 * 0.03, 0.01 * 0.02, 0.01 * 0.03  # cross-sections, m^2
SLOPE = math.radians(150)  # from joint 4 to 9 and from 5 to 11
DRIVES = ("smooth", "step", "pick", "none")
SPREAD, PICKING = ((math.radians(a), math.radians(b)) for a, b in ((-170, -10), (-140, -40)))  # starts of the paper

# tables 1 and 2 of the paper: length, sides of the section in the plane and across it (m), beams
LINKS = {
    1: (0.2, 0.02, 0.03, 2), 2: (0.2, 0.02, 0.03, 2), 3: (0.5, 0.02, 0.03, 2), 4: (0.5, 0.02, 0.03, 2),
    5: (0.05, 0.01, 0.03, 1), 6: (0.2, 0.01, 0.02, 2), 7: (0.07, 0.01, 0.02, 1), 8: (0.07, 0.01, 0.02, 1),
    9: (0.07, 0.01, 0.02, 1), 10: (0.5, 0.01, 0.02, 2), 11: (0.07, 0.01, 0.02, 1),
}  # fmt: skip


@reachable
def pacdrive(
    drive: str = "smooth",
    angles: tuple[float, float] | None = None,
    *,
    flexible: bool = False,
) -> Mechanism:
    """A planar robot with two motors, whose two parallelograms keep its tool upright.

    Links 1-3 and 2-4 form a five-bar between the motors; links 6, 10 and the triangle 7-8-9 guide the tool 5-11. Joint
    k is where link k starts (the paper's numbers); there is no joint 8 or 10. The point of the tool is ``tool.tip``.

    Parameters
    ----------
    drive
        ``"smooth"``: the robot drops for 0.1 s, then is raised by 20 N m in both motors for 0.1 s, with ramps of 20 ms;
        ``"step"``: the same without ramps; ``"pick"``: up and down again and again, as in picking and placing, with
        15 N m that raise (``torque``) in the first half of each 0.2 s (``period``) and 5 N m that lower (``lowering``)
        in the second, from a start at 3 rad/s downwards; ``"none"``.
    angles
        Of links 1 and 2 from the x axis at the start, rad; default: -140 and -40 degrees for ``"pick"``, else -170 and
        -10 degrees.
    flexible
        Eleven beams ``link1`` to ``link11``, those of the tool and of the triangle welded together; the point of the
        tool is ``link5.tip``. Young's modulus 5e9 Pa (the parameter ``E``) and Poisson's ratio 0.33 are the paper's.
        Each beam may take all shapes that the paper's mesh of it has: 2 elements for links 1, 2, 3, 4, 6 and 10, one
        for the others, bending in the plane and stretching. ``rigid_twin()`` moves as the robot with rigid links.

    Notes
    -----
    Lengths, sections and the density 7840 kg/m^3 are the paper's. It does not give the places of the pivots and the
    directions in the tool: ground pivots at (-0.05, 0), (0.05, 0) and (0.05, 0.07) m, joints 9 and 11 at 150 degrees
    from 4 and 5, the tool pointing down. Links 5 and 11 are one body, and so are the sides of the triangle: pinned, the
    robot would have three freedoms. Thin rods, g = 9.81 along -y.
    """
    one_of("pacdrive: drive", drive, DRIVES)
    m = Mechanism("flexible-pacdrive" if flexible else "pacdrive", gravity=(0, -9.81, 0))
    q1, q2 = angles if angles is not None else PICKING if drive == "pick" else SPREAD
    four = np.array(PIVOTS[2]) + 0.2 * np.array([math.cos(q2), math.sin(q2)])
    q3, q4 = _lower_arms(np.array(PIVOTS[1]) + 0.2 * np.array([math.cos(q1), math.sin(q1)]), four)
    (_draw_beams if flexible else _draw_bodies)(m, q1, q2, q3, q4)
    if drive != "none":
        raising = _up_and_down(m) if drive == "pick" else m.parameter("torque", 20.0) * _pulse(drive)
        m.motor("joint1", torque=-raising)
        m.motor("joint2", torque=raising)
    m.start = {"joint1": q1, "joint2": q2}
    if drive == "pick":
        m.start_velocity = {"joint1": 3.0, "joint2": -3.0}
    return m


def _draw_bodies(m: Mechanism, q1: float, q2: float, q3: float, q4: float) -> None:
    """Eight rigid bodies."""
    arm = 0.2 * WIDE * DENSITY
    link = {k: m.body(f"link{k}", rod(0.2, arm)) for k in (1, 2)}
    link |= {k: m.body(f"link{k}", rod(0.5, 0.5 * WIDE * DENSITY)) for k in (3, 4)}
    link |= {
        6: m.body("link6", rod(0.2, 0.2 * NARROW * DENSITY)),
        10: m.body("link10", rod(0.5, 0.5 * NARROW * DENSITY)),
    }
    slope, down = SMALL * np.array([math.cos(SLOPE), math.sin(SLOPE)]), np.array([0.0, -0.05])
    origin, seven = np.zeros(2), np.array([0.0, SMALL])
    # both are drawn in world axes, from joint 4 and joint 5: they never turn
    triangle = m.body("triangle", _bars((origin, seven, NARROW), (origin, slope, NARROW), (seven, slope, NARROW)))
    tool = m.body("tool", _bars((origin, down, SHORT), (origin, slope, NARROW)))
    m.output = tool.frame("tip", at=(*down, 0.0))

    m.revolute("joint1", m.ground.at(*PIVOTS[1]), link[1], guess=q1)
    m.revolute("joint2", m.ground.at(*PIVOTS[2]), link[2], guess=q2)
    m.revolute("joint3", link[1].tip, link[3], guess=q3 - q1)
    m.revolute("joint4", link[2].tip, link[4], guess=q4 - q2)
    m.revolute("joint4 triangle", link[2].tip, triangle, guess=-q2)
    m.revolute("joint5", link[3].tip, link[4].tip)
    m.revolute("joint5 tool", link[4].tip, tool, guess=-q4)
    m.revolute("joint6", m.ground.at(*PIVOTS[6]), link[6], guess=q2)
    m.revolute("joint7", link[6].tip, triangle.at(*seven))
    m.revolute("joint9", triangle.at(*slope), link[10], guess=q4)
    m.revolute("joint11", link[10].tip, tool.at(*slope))


def _draw_beams(m: Mechanism, q1: float, q2: float, q3: float, q4: float) -> None:
    """Eleven flexible beams, each from the joint of its number to the end that table 2 gives."""
    E, link = m.parameter("E", 5e9), {}
    for k, (length, depth, width, beams) in LINKS.items():
        link[k] = m.body(f"link{k}", rod(length, length * depth * width * DENSITY))
        shapes = craig_bampton(y=2 * (beams - 1), axial=beams - 1, elements=beams)
        link[k].flexible(E, Section.rectangle(y=depth, z=width), shapes=shapes, nu=0.33)
    m.output = link[5].tip
    at = {1: q1, 2: q2, 3: q3, 4: q4, 6: q2, 10: q4} | {
        k: math.radians(degrees) for k, degrees in {5: -90, 7: -90, 8: 150, 9: 30, 11: -30}.items()
    }

    def pin(name: str, a: int, b: int, end: Frame | None = None) -> None:
        """A hinge from the end of one link to the start (or another end) of the next."""
        m.revolute(name, link[a].tip, end or link[b], guess=math.remainder(at[b] - at[a], 2 * math.pi))

    for k in PIVOTS:
        m.revolute(f"joint{k}", m.ground.at(*PIVOTS[k]), link[k], guess=at[k])
    pin("joint3", 1, 3)
    pin("joint4", 2, 4)
    pin("joint4 triangle", 2, 7, link[7].tip)
    pin("joint5", 3, 4, link[4].tip)
    pin("joint5 tool", 4, 5)
    pin("joint7", 6, 7)
    pin("joint9", 8, 10)
    pin("joint11", 10, 11)
    m.weld("weld5", _turned(link[11], at[5] - at[11]), link[5])
    m.weld("weld4", _turned(link[7], at[8] - at[7]), link[8])
    m.weld("weld9", _turned(link[8], at[9] - at[8]), link[9])
    m.weld("weld7", _turned(link[9], at[7] - at[9]), link[7])


def _turned(body: Body, angle: float) -> Frame:
    """The end of a link, with the axes of another one that is welded to it."""
    return body.at(*body.tip.position, rpy=(0.0, 0.0, math.remainder(angle, 2 * math.pi)))


def _up_and_down(m: Mechanism) -> Expression:
    """The torque that raises the links in the first half of each period, and lowers them in the second."""
    torque, lowering, period = m.parameter("torque", 15.0), m.parameter("lowering", 5.0), m.parameter("period", 0.2)
    return where(t % period < period / 2, torque, -lowering)


def _pulse(drive: str) -> Expression:
    """1 between 0.1 and 0.2 s, 0 elsewhere; smooth: with ramps of 20 ms that have two derivatives."""
    if drive == "step":
        return where((t >= 0.1) & (t < 0.2), 1.0, 0.0)

    def ramp(since: float) -> Expression:
        x = maximum(0.0, minimum(1.0, (t - since) / 0.02))
        return x**3 * (10 - 15 * x + 6 * x**2)

    return ramp(0.1) - ramp(0.2)


def _bars(*bars: tuple[np.ndarray, np.ndarray, float]) -> Shape:
    """Thin bars welded together in the plane xy, each with its two ends and its cross-section."""
    lengths = np.array([np.linalg.norm(b - a) for a, b, _ in bars])
    masses = lengths * [section * DENSITY for _, _, section in bars]
    middles = np.array([(a + b) / 2 for a, b, _ in bars])
    com = masses @ middles / masses.sum()
    # second moments about the centre of mass
    S = sum(
        mass * (np.outer(c - com, c - com) + np.outer(b - a, b - a) / 12)
        for mass, c, (a, b, _) in zip(masses, middles, bars, strict=True)
    )
    xx, yy, xy = float(S[1, 1]), float(S[0, 0]), float(-S[0, 1])
    return rigid(float(masses.sum()), (*com, 0.0), (xx, yy, xx + yy, xy, 0.0, 0.0))


def _lower_arms(three: np.ndarray, four: np.ndarray) -> tuple[float, float]:
    """Directions of links 3 and 4, which meet below."""
    half = (four - three) / 2
    drop = math.sqrt(0.5**2 - half @ half) * np.array([half[1], -half[0]]) / math.hypot(*half)
    return tuple(math.atan2(d[1], d[0]) for d in (half + drop, -half + drop))  # type: ignore[return-value]
