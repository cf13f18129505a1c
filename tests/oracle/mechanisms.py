"""The mechanisms of the oracle, drawn in Exudyn from plain numbers: SI units, the plane xy, undeformed at the start."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tests.oracle.exudyn_beams import Planar

Law = float | Callable[[float], float]

# lengths, masses, ground and gravity of Wang, Gosselin and Cheng (2002), section 3
FOUR_BAR = {"crank": 1.0, "coupler": 4.0, "rocker": 2.5, "ground": 3.0, "mass": 1.0, "g": 9.8}

# Vidoni et al. (2012): joints between which a link lies, its length, the depth in the plane, the width.
# Pivots and the directions in triangle and tool, which the paper does not give, are those of the library.
PACDRIVE = {
    "1": (1, 3, 0.20, 0.02, 0.03), "2": (2, 4, 0.20, 0.02, 0.03), "3": (3, 5, 0.50, 0.02, 0.03),
    "4": (4, 5, 0.50, 0.02, 0.03), "5": (5, 0, 0.05, 0.01, 0.03), "6": (6, 7, 0.20, 0.01, 0.02),
    "7": (7, 4, 0.07, 0.01, 0.02), "8": (4, 9, 0.07, 0.01, 0.02), "9": (9, 7, 0.07, 0.01, 0.02),
    "10": (9, 11, 0.50, 0.01, 0.02), "11": (11, 5, 0.07, 0.01, 0.02),
}  # fmt: skip
PACDRIVE_PINS = (
    ("3.start", "1.end"), ("4.start", "2.end"), ("7.end", "2.end"), ("6.end", "7.start"), ("4.end", "3.end"),
    ("5.start", "3.end"), ("10.start", "9.start"), ("10.end", "11.start"),
)  # fmt: skip
PACDRIVE_WELDS = (("8.start", "7.end"), ("9.end", "7.start"), ("8.end", "9.start"), ("11.end", "5.start"))

# Raoofian et al. (2017)
RRR3 = {
    "proximal": 0.4, "distal": 0.6, "base": 1.2, "side": 0.4, "proximal_mass": 3.0, "distal_mass": 4.0,
    "platform_mass": 8.0, "platform_inertia": 0.0817,
}  # fmt: skip


def along(angle: float) -> np.ndarray:
    return np.array([math.cos(angle), math.sin(angle)])


def cross_with(angle: float) -> np.ndarray:
    return np.array([-math.sin(angle), math.cos(angle)])


def meeting(a: np.ndarray, b: np.ndarray, from_a: float, from_b: float) -> np.ndarray:
    """The point at two distances from two points, on the right of the way from ``a`` to ``b``."""
    d = b - a
    reach = math.hypot(*d)
    x = (reach**2 + from_a**2 - from_b**2) / (2 * reach)
    return a + (x * d + math.sqrt(from_a**2 - x**2) * np.array([d[1], -d[0]])) / reach


def four_bar(
    *, EI: float, EA: float, elements: int, torque: Law = 6.0, theta: float = math.pi / 2, mass_per_length: float = 0.25
) -> Planar:
    """A crank-rocker with a flexible coupler: rods for crank and rocker. Watched: A, B (the pins) and mid."""
    n = FOUR_BAR
    O, C = np.zeros(2), np.array([n["ground"], 0.0])
    A = O + n["crank"] * along(theta)
    B = meeting(C, A, n["rocker"], n["coupler"])
    p = Planar(gravity=(0.0, -n["g"]))
    p.rod("crank", O, A, mass=n["mass"])
    p.beam("coupler", A, B, mass_per_length=mass_per_length, EI=EI, EA=EA, elements=elements)
    p.rod("rocker", C, B, mass=n["mass"])
    p.pin("crank.start", O)
    p.pin("coupler.start", "crank.end")
    p.pin("coupler.end", "rocker.end")
    p.pin("rocker.start", C)
    p.torque("crank.start", torque)
    p.watch("A", "crank.end")
    p.watch("B", "rocker.end")
    p.watch("mid", "coupler.0.5")
    p.watch_angle("theta", "crank.start")
    return p


def slider_crank(
    *, crank: float, rod: float, crank_mass: float, rod_mass: float, slider_mass: float, EI: float, EA: float,
    elements: int, torque: Law, theta: float,
) -> Planar:  # fmt: skip
    """A rigid crank, a flexible rod, a slider on the x axis, no gravity. Watched: A, B and mid of the rod."""
    A = crank * along(theta)
    B = np.array([A[0] + math.sqrt(rod**2 - A[1] ** 2), 0.0])
    p = Planar()
    p.rod("crank", (0.0, 0.0), A, mass=crank_mass)
    p.beam("rod", A, B, mass_per_length=rod_mass / rod, EI=EI, EA=EA, elements=elements)
    p.slider("slider", B, mass=slider_mass)
    p.pin("crank.start", (0.0, 0.0))
    p.pin("rod.start", "crank.end")
    p.pin("rod.end", "slider.pin")
    p.torque("crank.start", torque)
    p.watch("A", "rod.start")
    p.watch("B", "rod.end")
    p.watch("mid", "rod.0.5")
    p.watch_angle("theta", "crank.start")
    return p


def arm(
    *, length: float, mass_per_length: float, EI: float, EA: float, hub_inertia: float, elements: int, torque: Law
) -> Planar:
    """A beam on a motor, along x at the start, in a horizontal plane. Watched: tip, and the angle of the hub."""
    p = Planar()
    # the mass of the hub is at rest on the pivot: any will do
    p.rigid("hub", (0.0, 0.0), mass=1.0, inertia=hub_inertia, points={"axis": (0.0, 0.0)})
    p.beam("beam", (0.0, 0.0), (length, 0.0), mass_per_length=mass_per_length, EI=EI, EA=EA, elements=elements)
    p.pin("hub.axis", (0.0, 0.0))
    p.weld("beam.start", "hub.axis")
    p.torque("hub.axis", torque)
    p.watch("tip", "beam.end")
    p.watch_angle("hub", "hub.axis")
    return p


def pacdrive(
    *, q: tuple[float, float], qd: tuple[float, float] = (0.0, 0.0), torques: tuple[Law, Law],
    elements: tuple[int, int], E: float = 5e9, density: float = 7840.0, g: float = 9.81,
) -> Planar:  # fmt: skip
    """PacDrive: eleven beams, ``elements`` in long links and in those of 0.05 and 0.07 m.

    Watched: 3, 4 (ends of the driven links), tip, and the angles motor1 and motor2 at their starts.
    """
    at = {1: np.array([-0.05, 0.0]), 2: np.array([0.05, 0.0]), 6: np.array([0.05, 0.07])}
    at[3], at[4] = (at[k] + 0.2 * along(angle) for k, angle in zip((1, 2), q, strict=True))
    at[5] = meeting(at[3], at[4], 0.5, 0.5)
    aside = 0.07 * along(math.radians(150))
    at |= {0: at[5] - [0.0, 0.05], 7: at[4] + [0.0, 0.07], 9: at[4] + aside, 11: at[5] + aside}
    # the motion of the rigid robot: triangle and tool do not turn
    v = dict.fromkeys((1, 2, 6), np.zeros(2))
    v[3], v[4] = (0.2 * rate * cross_with(angle) for rate, angle in zip(qd, q, strict=True))
    links = np.array([at[5] - at[3], at[5] - at[4]])
    v[5] = np.linalg.solve(links, [links[0] @ v[3], links[1] @ v[4]])
    v |= {0: v[5], 11: v[5], 7: v[4], 9: v[4]}

    p = Planar(gravity=(0.0, -g))
    for name, (a, b, length, depth, width) in PACDRIVE.items():
        section = depth * width
        p.beam(
            name,
            at[a],
            at[b],
            mass_per_length=density * section,
            EI=E * section * depth**2 / 12,
            EA=E * section,
            elements=elements[0 if length > 0.1 else 1],
            velocities=(v[a], v[b]),
        )
    for name, pivot in (("1", 1), ("2", 2), ("6", 6)):
        p.pin(f"{name}.start", tuple(at[pivot]))
    for pair in PACDRIVE_PINS:
        p.pin(*pair)
    for pair in PACDRIVE_WELDS:
        p.weld(*pair)
    for name, torque in zip("12", torques, strict=True):
        p.torque(f"{name}.start", torque)
        p.watch(str(PACDRIVE[name][1]), f"{name}.end")
        p.watch_angle(f"motor{name}", f"{name}.start")
    p.watch("tip", "5.end")
    return p


def rrr3(
    *, EI: tuple[float, float], EA: tuple[float, float], elements: int, torques: tuple[Law, Law, Law],
    position: tuple[float, float] = (0.05, 0.0), locked: bool = False,
) -> Planar:  # fmt: skip
    """The 3-RRR with flexible proximal and distal links, in a horizontal plane, platform angle 0 at the start.

    Watched: platform (its centre), its angle; of each leg elbow, mid (of the distal link) and corner. ``locked``: the
    motors hold.
    """
    n = RRR3
    polar = [math.radians(x) for x in (210, 330, 90)]
    centre = np.array(position)
    corners = [centre + n["side"] / math.sqrt(3) * along(x) for x in polar]
    p = Planar()
    points = {f"corner{k}": tuple(corner) for k, corner in enumerate(corners, 1)} | {"centre": position}
    p.rigid("platform", position, mass=n["platform_mass"], inertia=n["platform_inertia"], points=points)
    for k, (angle, corner, torque) in enumerate(zip(polar, corners, torques, strict=True), 1):
        base = n["base"] / math.sqrt(3) * along(angle)
        elbow = meeting(corner, base, n["distal"], n["proximal"])
        for name, (a, b), mass, bending, axial in (
            (f"proximal{k}", (base, elbow), n["proximal_mass"] / n["proximal"], EI[0], EA[0]),
            (f"distal{k}", (elbow, corner), n["distal_mass"] / n["distal"], EI[1], EA[1]),
        ):
            p.beam(name, a, b, mass_per_length=mass, EI=bending, EA=axial, elements=elements)
        (p.weld if locked else p.pin)(f"proximal{k}.start", tuple(base))
        p.pin(f"distal{k}.start", f"proximal{k}.end")
        p.pin(f"distal{k}.end", f"platform.corner{k}")
        p.torque(f"proximal{k}.start", torque)
        p.watch(f"elbow{k}", f"proximal{k}.end")
        p.watch(f"mid{k}", f"distal{k}.0.5")
        p.watch(f"corner{k}", f"distal{k}.end")
    p.watch("platform", "platform.centre")
    p.watch_angle("angle", "platform.centre")
    return p
