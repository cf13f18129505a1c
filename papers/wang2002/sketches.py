"""Figures 1 to 5: the mechanisms and where they are cut, drawn from the models.

Springs are drawn where a run with soft ones has them: a stiff one would not be seen.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

import closedchain as cc
from papers.paper import Claim, Finding, Table, judged
from papers.plots import COLOURS, panels
from papers.wang2002 import four_bar, platform

INK = "#222222"
SOFT, SOFT_LEG = 25.0, 12.0  # N/m, for springs that can be seen
LEG = 3  # drawn in Figures 4 and 5


def _zigzag(a, b, across, turns: int = 7, width: float = 0.08) -> np.ndarray:
    """Points of a spring from a to b, drawn with its windings along ``across``."""
    a, b, across = (np.asarray(x, float) for x in (a, b, across))
    s = np.linspace(0, 1, 2 * turns + 2)
    swing = np.where(np.arange(len(s)) % 2, 1, -1) * width
    swing[[0, 1, -2, -1]] = 0
    return a + s[:, None] * (b - a) + swing[:, None] * across


def _four_bar(ax, run, k: int) -> dict[str, np.ndarray]:
    """Draw the links at sample k; returns the joints."""
    ends = ("crank", "crank.tip", "coupler.tip", "rocker", "rocker.tip")
    places = [run.frame(x).position.values[k, :2] for x in ends]
    joints = dict(zip(("O", "A", "B", "O'", "B'"), places, strict=True))
    for i, (a, b) in enumerate((("O", "A"), ("A", "B"), ("O'", "B'"))):
        ax.plot(*np.array([joints[a], joints[b]]).T, color=COLOURS[i], linewidth=4, solid_capstyle="round")
    for name, place in joints.items():
        ground = name in ("O", "O'")
        ax.plot(*place, "^" if ground else "o", color=INK, markerfacecolor="white", markersize=9 if ground else 7)
    ax.set_aspect("equal")
    ax.set(xlabel="x [m]", ylabel="y [m]", xlim=(-0.7, 4.6), ylim=(-0.5, 3.1))
    return joints


def _angle(ax, place, angle: float, label: str, radius: float = 0.42) -> None:
    """An angle from the x axis."""
    ax.plot(place[0] + np.array([0, 1.6 * radius]), place[1] + np.zeros(2), color="#999999", linewidth=0.8)
    turn = np.linspace(0, angle, 40)
    ax.plot(place[0] + radius * np.cos(turn), place[1] + radius * np.sin(turn), color=INK, linewidth=0.9)
    ax.text(
        place[0] + 1.45 * radius * np.cos(angle / 2), place[1] + 1.45 * radius * np.sin(angle / 2), label, va="center"
    )


def show_four_bar():
    """Figure 1."""
    figure, (ax,) = panels("four-bar at the start")
    figure.set_size_inches(6.0, 4.0)
    run = cc.simulate(four_bar.mechanism(), until=0.0)
    joints = _four_bar(ax, run, 0)
    for name, q, at in zip(("theta", "alpha", "phi"), four_bar.angles(run)[0], ("O", "A", "O'"), strict=True):
        _angle(ax, joints[at], q, name)
    for i, (a, b) in enumerate((("O", "A"), ("A", "B"), ("O'", "B'"))):
        middle = (joints[a] + joints[b]) / 2
        ax.annotate(f"l{i + 1}", middle, (8, -14) if i == 1 else (8, 0), textcoords="offset points", color=COLOURS[i])
    for name in ("O", "A", "B", "O'"):
        below = (-4, -18) if name in ("O", "O'") else (-4, 9)
        ax.annotate(name, joints[name], below, textcoords="offset points")
    return [figure, _data()]


def _data() -> Table:
    """Numbers of the links."""
    bodies = four_bar.mechanism().bodies
    values = four_bar.mechanism().parameters
    rows = [
        [name, f"{values[f'{name}.length']:g}", f"{values[f'{name}.mass']:g}", f"{values[f'{name}.length'] / 2:g}",
         f"{values[f'{name}.mass'] * values[f'{name}.length'] ** 2 / 12:.4f}"]
        for name in bodies
    ]  # fmt: skip
    note = "Ground 3 m, g = 9.8 m/s^2 along -y, 6 N m on the crank; starts at rest with the crank upright."
    return Table(["link", "length [m]", "mass [kg]", "centre of mass [m]", "inertia about it [kg m^2]"], rows, note)


def show_cut():
    """Figure 2."""
    figure, (ax,) = panels(f"joint B cut, a spring in its place (here of {SOFT:g} N/m)")
    figure.set_size_inches(6.0, 4.0)
    times = np.linspace(0, 1, 101)
    run = cc.simulate(four_bar.mechanism(), until=1.0, method=cc.VirtualSpring(SOFT), t_eval=times)
    k = int(np.argmax(four_bar.gap(run)))
    joints = _four_bar(ax, run, k)
    a, b = joints["B"], joints["B'"]
    along = (b - a) / np.linalg.norm(b - a)
    ax.plot(*_zigzag(a, b, [-along[1], along[0]]).T, color=COLOURS[3], linewidth=1.6)
    ax.annotate("k", (a + b) / 2, (12, 6), textcoords="offset points", color=COLOURS[3])
    ax.text(0.02, 0.95, f"t = {run.t[k]:.2f} s, gap {four_bar.gap(run)[k]:.2f} m", transform=ax.transAxes)
    return [figure]


# ---- the platform ----------------------------------------------------------------------------------------------------


def _space(title: str, size: tuple[float, float] = (6.4, 5.2)) -> tuple[Figure, Any]:
    figure = Figure(figsize=size, layout="constrained")
    ax = figure.add_subplot(projection="3d")
    ax.set_title(title, fontsize=10)
    ax.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    ax.view_init(22, -62)
    ax.locator_params(nbins=5)
    return figure, ax


def _line(ax, *points, **style) -> None:
    ax.plot(*np.array(points).T, **style)


def show_platform():
    """Figure 3."""
    figure, ax = _space("Gough-Stewart platform at the start")
    run = cc.simulate(platform.mechanism("open"), until=0.0)
    feet, corners = platform.points(run, 0)
    _line(ax, *feet, feet[0], color="#9a9a9a", linewidth=2)
    ax.plot_trisurf(*corners.T, color=COLOURS[1], alpha=0.35)
    _line(ax, *corners, corners[0], color=COLOURS[1], linewidth=2.5)
    for i, (foot, corner) in enumerate(zip(feet, corners, strict=True)):
        way = (corner - foot) / np.linalg.norm(corner - foot)
        _line(ax, foot, corner - 0.7 * way, color=COLOURS[0], linewidth=5, solid_capstyle="butt")
        _line(ax, foot, corner, color=INK, linewidth=1.5)
        for point, points, letter in ((foot, feet, "O"), (corner, corners, "P")):
            out = point - points.mean(axis=0)
            ax.text(*(point + 0.22 * out / np.linalg.norm(out)), f"{letter}{i + 1}", ha="center", va="center")
    place, turn = run.frame("platform").position.values[0], run.frame("platform").rotation.values[0]
    for origin, axes, name in ((np.zeros(3), np.eye(3), ""), (place, turn, "'")):
        for axis, letter in zip(axes.T, "xyz", strict=True):
            _line(ax, origin, origin + 0.4 * axis, color=COLOURS[2], linewidth=1.5)
            ax.text(*(origin + 0.47 * axis), letter + name, color=COLOURS[2])
    ax.set_box_aspect((2.4, 2.8, 1.6))
    ax.view_init(30, -82)
    return [figure]


def show_leg():
    """Figure 4."""
    run = cc.simulate(platform.mechanism("open"), until=0.0)
    feet, corners = platform.points(run, 0)
    foot, corner = feet[LEG - 1], corners[LEG - 1]
    alpha, beta, rho = (run[f"leg{LEG} {x}"].values[0] for x in ("base.angle1", "base.angle2", "slide"))
    figure, ax = _space(f"leg {LEG}: rho = {rho:.4f} m, alpha = {alpha:.4f} rad, beta = {beta:.4f} rad")
    _line(ax, foot, corner, color=COLOURS[0], linewidth=3)
    down = np.array([corner[0], corner[1], 0.0])
    _line(ax, foot, down, corner, color="#9a9a9a", linestyle="--", linewidth=1)
    for axis, letter in zip(np.eye(3), "xyz", strict=True):
        _line(ax, foot, foot + 1.2 * axis, color=INK, linewidth=1)
        ax.text(*(foot + 1.28 * axis), letter)
    s = np.linspace(0, 1, 30)
    flat = np.stack([np.cos(s * alpha), np.sin(s * alpha), 0 * s], axis=1)
    tilt = np.stack([np.sin(s * beta) * np.cos(alpha), np.sin(s * beta) * np.sin(alpha), np.cos(s * beta)], axis=1)
    _line(ax, *(foot + 0.45 * flat), color=COLOURS[1], linewidth=2)
    _line(ax, *(foot + 0.55 * tilt), color=COLOURS[2], linewidth=2)
    ax.text(*(foot + 0.6 * flat[15]), "alpha", color=COLOURS[1])
    ax.text(*(foot + 0.62 * tilt[14]), "beta", color=COLOURS[2])
    ax.text(*(0.4 * foot + 0.6 * corner + [0.1, 0, 0]), "rho", color=COLOURS[0])
    ax.text(*(foot - [0, 0, 0.15]), f"O{LEG}")
    ax.text(*corner, f" P{LEG}")
    ax.set_box_aspect((1, 1, 1))
    return [figure]


def show_spring():
    """Figure 5."""
    figure, ax = _space(f"ball joint of leg {LEG} cut, a spring in its place (here of {SOFT_LEG:g} N/m)")
    times = np.linspace(0, 0.4, 41)
    method = cc.VirtualSpring(SOFT_LEG, 1.0)
    run = cc.simulate(platform.mechanism("open"), until=0.4, method=method, t_eval=times)
    k = int(np.argmax(platform.gaps(run)[:, LEG - 1]))
    feet, corners = platform.points(run, k)
    end = run.frame(f"leg{LEG} upper").position.values[k]
    place = run.frame("platform").position.values[k]
    foot, corner = feet[LEG - 1], corners[LEG - 1]
    _line(ax, foot, end, color=COLOURS[0], linewidth=3)
    _line(ax, *corners, corners[0], color=COLOURS[1], linewidth=2)
    ax.plot_trisurf(*corners.T, color=COLOURS[1], alpha=0.25)
    _line(ax, np.zeros(3), place, color="#9a9a9a", linewidth=1.2, linestyle="--")
    _line(ax, place, corner, color="#9a9a9a", linewidth=1.2, linestyle="--")
    _line(ax, np.zeros(3), foot, color="#9a9a9a", linewidth=1.2, linestyle="--")
    across = np.cross(corner - end, [1.0, 0, 0])
    _line(ax, *_zigzag(end, corner, across / np.linalg.norm(across), width=0.03), color=COLOURS[3], linewidth=1.6)
    ax.text(*((end + corner) / 2 + [-0.25, 0, 0.02]), f"k{LEG}", color=COLOURS[3])
    ax.text(*((foot + end) / 2 + [-0.35, 0, 0]), f"rho{LEG}", color=COLOURS[0])
    ax.text(*(0.5 * place + [0.05, 0, 0]), "p")
    ax.text(*((place + corner) / 2 + [0, 0, 0.06]), f"Q p'{LEG}")
    ax.text(*(0.5 * foot + [0, 0, -0.15]), f"r{LEG}0")
    ax.text(*(foot - [0, 0, 0.15]), f"O{LEG}")
    ax.text(0, 0, -0.15, "O")
    ax.set_box_aspect((2.4, 1.6, 1.6), zoom=1.1)
    return [figure]


def coordinates() -> Finding:
    """How many numbers say where the platform and its legs are."""
    start = platform.mechanism("open").assemble()
    freedoms = len(start.v)
    return judged(
        freedoms == 24,
        {"velocities": freedoms, "coordinates": len(start.q)},
        f"with all ball joints cut there are {freedoms} velocities, six of the platform and three of each leg; ours "
        f"has {len(start.q)} coordinates, since the platform turns by a unit quaternion instead of three Euler "
        "angles, which fail where theta = 0",
    )


def five_springs() -> Finding:
    """Loops of the drawing: joints less bodies."""
    m = platform.mechanism("open")
    joints = [x for x in m.joints if x != "pose"]  # the platform's six coordinates are no joint of the machine
    loops = len(joints) - len(m.bodies)
    return judged(
        loops == 5,
        {"joints": len(joints), "moving bodies": len(m.bodies), "loops": loops},
        f"{len(joints)} joints and {len(m.bodies)} moving bodies make {loops} loops, so as many cuts open them all; "
        "the sixth makes the platform a body of its own, and the inertia matrix falls into more blocks",
    )


CUTS = (
    Claim(
        "five springs",
        "section 2.2, Figure 5",
        "five springs would open all loops; six are taken for symmetry",
        five_springs,
    ),
)
COORDINATES = (
    Claim(
        "24 coordinates",
        "section 2.2, Figure 4 and equation (24)",
        "six coordinates of the platform and three of each leg determine the configuration, 24 in all",
        coordinates,
    ),
)
