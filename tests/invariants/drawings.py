"""Mechanisms that several tests draw: the four-bar of the yardstick in many ways, rings of hinges, loops in a row."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

import closedchain as cc

REFERENCE = Path(__file__).parent.parent / "reference"
TILT = Rotation.from_rotvec([0.9, -1.3, 0.4]).as_matrix()  # nothing is parallel to anything


def reference(name):
    """Columns of a table of ``tests/reference``, by the names printed there."""
    numbers = json.loads((REFERENCE / f"{name}.json").read_text())
    assert numbers["provenance"], f"{name} does not say where its numbers come from"
    return dict(zip(numbers["columns"], np.array(numbers["rows"]).T, strict=True))


def relative_energy_error(run):
    """Energy that came from nowhere, over the energy exchanged."""
    return float(np.abs(run.energy_error).max()) / run.energy_error.attrs["exchanged"]


def rod(length, spin=0.01):
    """A rod of 1 kg/m that has some inertia about its own axis, so that it may hang on a ball joint."""
    across = length**3 / 12
    return cc.rigid(mass=length, com=(length / 2, 0, 0), inertia=(spin, across, across))


# ---- the four-bar of the yardstick -------------------------------------------------------------------------------

LENGTHS = {"crank": 1.0, "coupler": 2.5, "rocker": 2.0}
# near end and angle of each body at 60 degrees, rocker up; the search for a closed loop starts there
AT_60 = {
    "crank": (0.0, 0.0, np.pi / 3),
    "coupler": (0.5, 0.8660254, 0.3959014),
    "rocker": (2.0, 0.0, 1.1556633),
}


def four_bar(kinds="RRRR", cut="", R=None, turned=(), planar=(), gravity=9.81, **options):
    """The four-bar of the yardstick, at rest at 60 degrees.

    Parameters
    ----------
    kinds
        Of the joints O, A, B, C: Revolute, Universal, Spherical or Cylindrical.
    cut
        Joints to open; bodies that this sets adrift get the six coordinates of their pose.
    R
        Turns the whole mechanism in space.
    turned
        Bodies drawn from their other end.
    planar
        Bodies that also lie on a planar joint with the ground.
    options
        More for a joint, by its name.
    """
    R = np.eye(3) if R is None else R
    m = cc.Mechanism("yardstick", gravity=tuple(R @ [0, -gravity, 0]))
    left = m.ground.frame("left", R=R)
    right = m.ground.frame("right", at=tuple(R @ [2, 0, 0]), R=R)
    ends, poses = {}, {}
    for name, length in LENGTHS.items():
        body = m.body(name, rod(length))
        x, y, angle = AT_60[name]
        ends[name] = [body.frame("near"), body.frame("far", at=(length, 0, 0))]
        poses[name] = (x, y, angle)
        if name in turned:
            ends[name].reverse()
            poses[name] = (x + length * np.cos(angle), y + length * np.sin(angle), angle - np.pi)
        if name in planar:
            m.planar(f"{name} plane", left, body, guess=poses[name])
    crank, coupler, rocker = (poses[name][2] for name in LENGTHS)
    joints = {
        "O": (left, ends["crank"][0], crank),
        "A": (ends["crank"][1], ends["coupler"][0], coupler - crank),
        "B": (ends["coupler"][1], ends["rocker"][1], rocker - coupler),
        "C": (right, ends["rocker"][0], rocker),
    }
    for (name, (a, b, angle)), kind in zip(joints.items(), kinds, strict=True):
        more = ({"cut": True} if name in cut else {}) | options.get(name, {})
        if kind == "R":
            m.revolute(name, a, b, guess=angle, **more)
        elif kind == "C":
            m.cylindrical(name, a, b, guess=(angle, 0.0), **more)
        elif kind == "U":
            m.universal(name, a, b, axes=((0, 0, 1), (0, 1, 0)), guess=(angle, 0.0), **more)
        elif kind == "S":
            m.spherical(name, a, b, guess=(np.cos(angle / 2), 0, 0, np.sin(angle / 2)), **more)
    m.start = {"O": crank}
    return m


def pins(run, R=None, turned=()):
    """Moving ends of crank and rocker over time, seen in the plane of the drawing: (time, 2 bodies x 3)."""
    tips = [run.frame(f"{name}.{'near' if name in turned else 'far'}").position.values for name in ("crank", "rocker")]
    return np.column_stack(tips if R is None else [x @ R for x in tips])


def pins_expected(table):
    """The same from the crank's and the rocker's angle."""
    crank, rocker = table["crank [rad]"], table["rocker [rad]"]
    zero = np.zeros_like(crank)
    return np.column_stack([np.cos(crank), np.sin(crank), zero, 2 + 2 * np.cos(rocker), 2 * np.sin(rocker), zero])


# ---- loops in a row ------------------------------------------------------------------------------------------------


def parallelograms(n, R=None):
    """N square loops of rods of 1 m and 1 kg in a row, upright, moving to the right with 1 m/s: IFToMM A02."""
    R = np.eye(3) if R is None else R
    m = cc.Mechanism(f"{n} parallelograms", gravity=tuple(R @ [0, -9.81, 0]))

    def pivot(k):
        return m.ground.at(*(R @ [k, 0, 0]), R=R)

    rocker = m.body("rocker0", cc.rod(length=1.0, mass=1.0))
    m.revolute("O0", pivot(0), rocker, guess=cc.pi / 2)
    for k in range(1, n + 1):
        coupler, neighbour = (m.body(f"{name}{k}", cc.rod(length=1.0, mass=1.0)) for name in ("coupler", "rocker"))
        m.revolute(f"O{k}", pivot(k), neighbour, guess=cc.pi / 2)
        m.revolute(f"left{k}", rocker.tip, coupler, guess=-cc.pi / 2)
        m.revolute(f"right{k}", coupler.tip, neighbour.tip, guess=cc.pi / 2)
        rocker = neighbour
    m.start = {"O0": cc.pi / 2}
    m.start_velocity = {"O0": -1.0}
    return m


def scissor_lift(stages, guess=0.3, arm=1.0, layer=0.0):
    """Crossed arms of 1 kg, stage on stage, on a fixed and a sliding foot; arms that cross are ``layer`` m apart."""
    m = cc.Mechanism(f"lift of {stages}", gravity=(0, -9.81, 0))
    shoe = m.body("shoe", cc.rigid(mass=1.0, inertia=(0.01, 0.01, 0.01)))
    m.prismatic("foot", m.ground, shoe, axis=(1, 0, 0), guess=arm * np.cos(guess))
    below = (m.ground, shoe.at(0, 0, layer))
    for k in range(1, stages + 1):
        rise, fall = (m.body(f"{name}{k}", cc.rod(length=arm, mass=1.0)) for name in ("rise", "fall"))
        m.revolute(f"left{k}", below[0], rise, guess=guess if k == 1 else 2 * guess - np.pi)
        m.revolute(f"right{k}", below[1], fall, guess=np.pi - (guess if k == 1 else 2 * guess))
        m.revolute(f"pin{k}", rise.at(arm / 2, 0, layer), fall.at(arm / 2, 0, 0))
        below = (fall.at(arm, 0, -layer), rise.at(arm, 0, layer))
    m.motor("foot", force=0.0)
    return m


# ---- linkages that move although the count says they cannot --------------------------------------------------------


def ring(name, lengths, twists, angles, offsets=None, cut=None):
    """A closed ring of hinges after Denavit and Hartenberg: each link is ``Tz(offset) Tx(length) Rx(twist)``.

    The last link is the ground; the search for a closed ring starts at ``angles`` and holds the first of them.
    """
    n = len(lengths)
    offsets = offsets or (0.0,) * n
    m = cc.Mechanism(name)
    ends = []
    for i in range(n):
        last = i == n - 1
        body = m.ground if last else m.body(f"link{i + 1}", cc.rod(lengths[i], mass=1.0 + 0.1 * i, radius=0.05))
        ends.append(body.frame("end", at=(lengths[i], 0, offsets[i]), rpy=(twists[i], 0, 0)))
    for i in range(n):
        here = m.ground if i == n - 1 else m.bodies[f"link{i + 1}"]
        m.revolute(f"J{i + 1}", ends[i - 1], here, guess=angles[i], cut=True if cut == f"J{i + 1}" else None)
    m.start = {"J1": angles[0]}
    return m


def bennett(cut=None):
    """Opposite links are alike and ``a / sin(alpha) = b / sin(beta)``."""
    a, alpha, b = 1.0, np.radians(40), 0.7
    beta = np.arcsin(b / a * np.sin(alpha))
    # tan(J1 / 2) tan(J2 / 2) = sin((beta + alpha) / 2) / sin((beta - alpha) / 2)
    first = 0.8
    second = 2 * np.arctan(np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2) / np.tan(first / 2))
    return ring("bennett", [a, b] * 2, [alpha, beta] * 2, [first, second, -first, -second], cut=cut)


def bricard_threefold(cut=None):
    """Six equal links with right-angled twists: three neighbouring ones repeat the other three."""
    first = np.pi / 3
    second = np.arccos(-np.cos(first) / (1 + np.cos(first)))
    return ring("bricard, threefold", [1.0] * 6, [np.pi / 2, -np.pi / 2] * 3, [first, second] * 3, cut=cut)


def bricard_rectangular(cut=None):
    """Right-angled twists, and ``a1^2 + a3^2 + a5^2 = a2^2 + a4^2 + a6^2``."""
    lengths = [1.0, 0.8, 0.7, 0.9, 0.9, 0.0]
    lengths[5] = np.sqrt(lengths[0] ** 2 + lengths[2] ** 2 + lengths[4] ** 2 - lengths[1] ** 2 - lengths[3] ** 2)
    angles = [np.pi / 3, 1.9] * 3
    return ring("bricard, rectangular", lengths, [np.pi / 2, -np.pi / 2] * 3, angles, cut=cut)


def bricard_line(cut=None):
    """Opposite links, twists and offsets are equal."""
    lengths, offsets = [0.8, 1.0, 0.6], [0.2, -0.1, 0.15]
    twists = [np.radians(70), np.radians(100), np.radians(60)]
    angles = [1.2, -1.4, 2.0]
    return ring("bricard, line-symmetric", lengths * 2, twists * 2, angles * 2, offsets * 2, cut=cut)


def sarrus(cut=None, legs=2):
    """A table on two folding legs that bend in different planes: it moves straight up and down."""
    m = cc.Mechanism("sarrus")
    top = m.body("top", cc.box((1, 1, 0.1), mass=2.0))
    for k in range(legs):
        lower, upper = (m.body(f"{name}{k}", cc.rod(1.0, mass=0.5, radius=0.02)) for name in ("lower", "upper"))
        R = Rotation.from_euler("z", k * np.pi / 2).as_matrix()
        base, place = (body.at(*(R @ [0.5, 0, 0]), R=R) for body in (m.ground, top))
        for name, a, b, guess in (
            (f"hip{k}", base, lower, -0.9),
            (f"knee{k}", lower.tip, upper, -1.3),
            (f"ankle{k}", upper.tip, place, 2.2),
        ):
            m.revolute(name, a, b, axis=(0, 1, 0), guess=guess, cut=True if cut == name else None)
    m.start = {"hip0": -0.9}
    return m


def storeys(n, rockers=2):
    """A stack of parallelograms: each floor stands on equal rockers on the floor below, all swing independently."""
    m = cc.Mechanism(f"{n} storeys on {rockers} rockers", gravity=(0, -9.81, 0))
    below = m.ground
    for k in range(1, n + 1):
        floor = m.body(f"floor{k}", cc.rigid(mass=1.0, inertia=(0.1, 0.1, 0.1)))
        for i in range(rockers):
            rocker = m.body(f"rocker{k}.{i}", rod(0.5))
            m.revolute(f"foot{k}.{i}", below.at(i, 0, 0), rocker, guess=1.2)
            m.revolute(f"head{k}.{i}", rocker.at(0.5, 0, 0), floor.at(i, 0, 0), guess=-1.2)
        m.start[f"foot{k}.0"] = 1.2 + 0.1 * k
        below = floor
    return m


# ---- platforms -----------------------------------------------------------------------------------------------------


def translating_hexapod():
    """A platform on six legs universal-slide-universal whose axes are parallel in pairs: it cannot turn.

    Each leg locks one rotation, so the three rotations are locked twice over. Springs in the slides.
    """
    from closedchain.model.library.gough_stewart import BASE, PLATFORM

    m = cc.Mechanism("six legs UPU")
    platform = m.body("platform", cc.rigid(mass=1.5, inertia=(0.08, 0.08, 0.08)))
    for k, azimuth in enumerate((0.3, 1.4, 2.6, 3.3, 4.5, 5.9)):
        d = np.array([-1.5, 0.1, 1.5]) + PLATFORM[k] - np.array(BASE[k])
        length = float(np.linalg.norm(d))
        u, v = np.array([np.cos(azimuth), np.sin(azimuth), 0]), np.array([-np.sin(azimuth), np.cos(azimuth), 0])
        first, second = np.arctan2(-d @ v, d[2]), np.arcsin(d @ u / length)
        lower, upper = (
            m.body(f"{name}{k}", cc.rigid(mass=0.1, com=(0, 0, z), inertia=(0.00625, 0.00625, 0.000625)))
            for name, z in (("lower", 0.5), ("upper", -0.5))
        )
        m.universal(f"base{k}", m.ground.at(*BASE[k]), lower, axes=(u, v), guess=(first, second))
        m.prismatic(f"slide{k}", lower, upper, guess=length)
        m.universal(f"top{k}", upper, platform.at(*PLATFORM[k]), axes=(v, u), guess=(-second, -first))
        m.joint_spring(f"slide{k}", 20.0, rest=length + 0.1 * k)
        if k < 3:
            m.start[f"slide{k}"] = length
    return m


def driven_hexapod(doubled=0):
    """The library's Gough-Stewart with its legs driven back and forth, and the first leg drawn several times over."""
    from closedchain.model.library.gough_stewart import STROKE

    m = cc.library.gough_stewart("none")
    lengths = dict(m.start)
    m.start = {}
    for k in range(7, 7 + doubled):
        lower, upper = (
            m.body(f"leg{k} {name}", cc.rigid(mass=0.1, com=(0, 0, z), inertia=(0.00625, 0.00625, 0.000625)))
            for name, z in (("lower", 0.5), ("upper", -0.5))
        )
        axes, guess = ((0, 0, 1), (0, 1, 0)), m.joints["leg1 base"].guess
        m.universal(f"leg{k} base", m.ground["leg1 base"], lower, axes=axes, guess=guess)
        m.prismatic(f"leg{k} slide", lower, upper, guess=lengths["leg1 slide"])
        m.spherical(f"leg{k} ball", upper, m.bodies["platform"]["corner1"], cut=True)
    for k in range(1, 7 + doubled):
        like = 1 if k > 6 else k
        stroke = STROKE[like - 1]
        m.drive(f"leg{k} slide", lengths[f"leg{like} slide"] + stroke * cc.math.sin(cc.pi * cc.t / 2) ** 2)
    return m


def delta(parallelograms="hinges"):
    """A platform on three arms with parallelograms: made of hinges (Tsai), or of rods with ball joints (Clavel)."""
    m = cc.Mechanism(f"delta with {parallelograms}")
    platform = m.body("platform", cc.rigid(mass=0.5, inertia=(0.002, 0.002, 0.004)))
    for k in range(3):
        R = Rotation.from_euler("z", 2 * np.pi * k / 3).as_matrix()  # x outwards, y along the hinges
        arm = m.body(f"arm{k}", cc.rod(0.3, mass=0.3, radius=0.01))
        elbow, wrist = arm.frame("elbow", at=(0.3, 0, 0)), platform.frame(f"wrist{k}", at=tuple(R @ [0.05, 0, 0]), R=R)
        m.revolute(f"shoulder{k}", m.ground.at(*(R @ [0.2, 0, 0]), R=R), arm, axis=(0, 1, 0), guess=0.4)
        if parallelograms == "balls":
            for side, y in (("left", 0.05), ("right", -0.05)):
                rod = m.body(f"{side} rod{k}", cc.rod(0.8, mass=0.1, radius=0.01))
                turn = Rotation.from_euler("y", 1.6)
                m.spherical(f"{side} upper{k}", arm.at(0.3, y, 0), rod, guess=turn.as_quat(scalar_first=True))
                m.spherical(f"{side} lower{k}", rod.at(0.8, 0, 0), platform.at(*(R @ [0.05, y, 0])))
            continue
        upper, lower = (m.body(f"{name} bar{k}", cc.rigid(0.05, inertia=(1e-4,) * 3)) for name in ("upper", "lower"))
        m.revolute(f"elbow{k}", elbow, upper, axis=(0, 1, 0), guess=1.6)
        for side, y in (("left", 0.05), ("right", -0.05)):
            rod = m.body(f"{side} rod{k}", cc.rod(0.8, mass=0.1, radius=0.01))
            m.revolute(f"{side} upper{k}", upper.at(0, y, 0), rod)
            m.revolute(f"{side} lower{k}", rod.at(0.8, 0, 0), lower.at(0, y, 0))
        m.revolute(f"wrist{k}", lower, wrist, axis=(0, 1, 0), guess=-2.0)
        m.start[f"shoulder{k}"] = 0.4 + 0.1 * k
    return m


def spherical_four_bar():
    """Four hinges whose axes meet in one point."""
    arcs = {"input": 0.6, "coupler": 1.3, "output": 1.1, "ground": 1.4}
    m = cc.Mechanism("spherical four-bar")
    bodies = {name: m.body(name, cc.rigid(1.0, com=(0.2, 0, 0.5), inertia=(0.2, 0.3, 0.25))) for name in list(arcs)[:3]}
    # the far hinge of each link is its near one turned by the arc about x
    far = {name: body.frame("far", rpy=(arcs[name], 0, 0)) for name, body in bodies.items()}
    m.revolute("one", m.ground, bodies["input"], guess=1.0)
    m.revolute("two", far["input"], bodies["coupler"], guess=1.2)
    m.revolute("four", m.ground.frame("far", rpy=(arcs["ground"], 0, 0)), bodies["output"], guess=1.5)
    m.revolute("three", far["coupler"], far["output"], guess=-1.2)
    m.start = {"one": 1.0}
    return m
