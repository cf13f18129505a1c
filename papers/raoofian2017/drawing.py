"""Figures 1 to 3: the robot, and the robot with its platform taken off and held by springs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from papers.paper import Claim, Finding, Shown, judged
from papers.plots import COLOURS, panels
from papers.raoofian2017.robot import LEGS, TIMES, along, robot, rose, springs

NAMES = ("I", "II", "III")
SOFT, SEEN = 1e2, 0.35  # N/m and s: a spring and an instant at which gaps can be seen
PULL = 0.01  # m of an arrow for each newton
INK = COLOURS[6]


def points(run, sample: int) -> dict[str, np.ndarray]:
    """Places in the plane of joints and ends, m, at a sample of a run or a motion."""
    names = ["platform", *(f"platform.corner{k}" for k in LEGS)]
    names += [f"{link}{k}{end}" for k in LEGS for link in ("proximal", "distal") for end in ("", ".tip", ".com")]
    return {name: run.frame(name).position.values[sample, :2] for name in names}


def sketch(ax: Axes, at: dict[str, np.ndarray], legs: Sequence[int] = LEGS) -> None:
    """Links as lines, joints as circles, the platform as a triangle."""
    corners = np.array([at[f"platform.corner{k}"] for k in (*LEGS, LEGS[0])])
    ax.fill(*corners.T, color="#cfe3f1", zorder=1)
    ax.plot(*corners.T, color=COLOURS[0], linewidth=1.5, zorder=2)
    for k in legs:
        for link, colour in (("proximal", COLOURS[1]), ("distal", COLOURS[2])):
            line = np.array([at[f"{link}{k}"], at[f"{link}{k}.tip"]])
            ax.plot(*line.T, color=colour, linewidth=2.5, zorder=3, solid_capstyle="round")
        ax.plot(*at[f"proximal{k}"], "s", color=INK, markersize=8, zorder=4)
        for joint in (f"proximal{k}", f"distal{k}", f"distal{k}.tip"):
            ax.plot(*at[joint], "o", color="white", markeredgecolor=INK, markersize=5, zorder=5)
    ax.set_aspect("equal")
    ax.margins(0.12)


def coil(ax: Axes, a: np.ndarray, b: np.ndarray) -> None:
    """A spring between two points."""
    along, turns = b - a, 9
    across = 0.012 * np.array([-along[1], along[0]]) / np.linalg.norm(along)
    line = [a, *(a + (i + 0.5) / turns * along + (-1) ** i * across for i in range(turns)), b]
    ax.plot(*np.array(line).T, color=COLOURS[3], linewidth=1.4, zorder=6)


def note(ax: Axes, text: str, at: np.ndarray, by: tuple[float, float] = (6, 6), colour: str = INK) -> None:
    """A word beside a point."""
    ax.annotate(text, at, by, textcoords="offset points", fontsize=8, color=colour, zorder=8)


def beside(ax: Axes, text: str, a: np.ndarray, b: np.ndarray, colour: str = INK) -> None:
    """A word at the middle of a line, on its left."""
    along = (b - a) / np.linalg.norm(b - a)
    by = 11 * np.array([-along[1], along[0]])
    ax.annotate(
        text, (a + b) / 2, by, textcoords="offset points", fontsize=8, color=colour, ha="center", va="center", zorder=8
    )


def figure_2() -> list[Shown]:
    """The robot at the start of the rose, with the names of the paper."""
    figure, (ax,) = panels("the 3-RRR at the start of the rose", x="x [m]", y="y [m]")
    figure.set_size_inches(5.6, 4.8)
    at = points(along(), 0)
    sketch(ax, at)
    base = np.array([at[f"proximal{k}"] for k in (*LEGS, LEGS[0])])
    ax.plot(*base.T, color="#9a9a9a", linewidth=0.8, linestyle=":")
    note(ax, "$S_B$ = 1.2 m", (base[0] + base[1]) / 2, (-20, -12), "#666666")
    for k, name in zip(LEGS, NAMES, strict=True):
        note(ax, f"$O^{{{name}}}$", at[f"proximal{k}"], (8, -10))
        beside(ax, "$l_1$", at[f"proximal{k}"], at[f"distal{k}"], COLOURS[1])
        beside(ax, "$l_2$", at[f"distal{k}"], at[f"distal{k}.tip"], COLOURS[2])
    note(ax, "P", at["platform"], (-3, -3), COLOURS[0])
    note(ax, "$S_P$", (at["platform.corner1"] + at["platform.corner2"]) / 2, (-5, -11), COLOURS[0])
    return [figure]


def figure_3() -> list[Shown]:
    """The platform off the legs, held by soft springs, and the vectors of leg II."""
    figure, (ax, near) = panels("legs and platform, held by springs", "vectors of leg II", x="x [m]", y="y [m]")
    figure.set_size_inches(9.6, 4.6)
    at = stretched()
    for where in (ax, near):
        sketch(where, at, LEGS if where is ax else (2,))
        for k in LEGS if where is ax else (2,):
            coil(where, at[f"distal{k}.tip"], at[f"platform.corner{k}"])
    for k, name in zip(LEGS, NAMES, strict=True):
        note(ax, rf"$\theta_1^{{{name}}}$", at[f"proximal{k}"], (8, -10) if k < 3 else (-26, -4), COLOURS[1])
        note(ax, rf"$\theta_2^{{{name}}}$", at[f"distal{k}"], (6, 4), COLOURS[2])
    note(ax, r"$x, y, \theta_P$", at["platform"], (-14, -3), COLOURS[0])
    for link, name in (("proximal2", "1"), ("distal2", "2")):
        for (a, b), letter in (((link, f"{link}.com"), "d"), ((f"{link}.com", f"{link}.tip"), "r")):
            near.annotate("", at[b], at[a], arrowprops={"arrowstyle": "->", "color": INK, "linewidth": 1.0}, zorder=7)
            beside(near, f"${letter}_{name}$", at[a], at[b])
    return [figure]


def figure_1() -> list[Shown]:
    """One chain that is opened, and the forces of its spring on both sides."""
    figure, (ax, near) = panels(
        f"loops opened, springs of {SOFT:g} N/m put in", "leg II and what its spring does", x="x [m]", y="y [m]"
    )
    figure.set_size_inches(9.6, 4.6)
    at, run = stretched(), springs(SOFT)
    sketch(ax, at)
    for k in LEGS:
        coil(ax, at[f"distal{k}.tip"], at[f"platform.corner{k}"])
    tip, corner = at["distal2.tip"], at["platform.corner2"]
    force = run["lam"].values[_instant(), 2:4]
    sketch(near, at, (2,))
    coil(near, tip, corner)
    aside = 0.04 * np.array([force[1], -force[0]]) / np.linalg.norm(force)
    for start, pull, text, by in ((corner + aside, force, "on platform", -88), (tip - aside, -force, "on leg", 7)):
        end = start + PULL * pull
        near.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": COLOURS[3], "linewidth": 2}, zorder=9)
        note(near, f"{np.linalg.norm(force):.1f} N {text}", (start + end) / 2, (by, 0), COLOURS[3])
    near.set(xlim=tip[0] + np.array([-0.25, 0.25]), ylim=tip[1] + np.array([-0.15, 0.25]))
    return [figure]


def stretched() -> dict[str, np.ndarray]:
    """Places with soft springs at an instant at which gaps can be seen."""
    return points(springs(SOFT), _instant())


def _instant() -> int:
    return int(np.argmin(np.abs(TIMES - SEEN)))


def freedoms() -> Finding:
    """Mobility of the drawing in nine coordinates, and how many of its closures are independent."""
    m = robot()
    counted = m.mobility()
    coordinates = len(m.assemble().v)
    closures = coordinates - counted.true
    return judged(
        (coordinates, closures, counted.true) == (9, 6, 3),
        {"coordinates": coordinates, "independent closures": closures, "freedoms": counted.true},
        f"with the platform's three joints cut there are {coordinates} coordinates and {closures} independent "
        f"closures, x and y at each joint, which leave {counted.true} freedoms",
    )


def path_figure() -> Figure:
    """Figure 4 and its first two derivatives."""
    figure, (ax, speed, pull) = panels(
        "the rose", "velocity", "acceleration", x="t [s]", y=["y [m]", "velocity [m/s]", "acceleration [m/s$^2$]"]
    )
    t = np.linspace(0, 2, 401)
    at = rose().at(t)
    ax.plot(at.value[:, 0], at.value[:, 1])
    ax.plot(*at.value[0, :2], "o")
    ax.set(xlabel="x [m]", aspect="equal", xticks=(-0.05, 0, 0.05), yticks=(-0.05, 0, 0.05))
    for panel, values in ((speed, at.rate), (pull, at.acceleration)):
        for axis, name in enumerate("xy"):
            panel.plot(t, values[:, axis], label=name)
        panel.legend(fontsize=8, frameon=False)
    return figure


FREEDOMS = Claim(
    "nine coordinates",
    "section 3, equations (22) and (29)",
    "opened at the platform's joints the robot has nine independent coordinates, and six closures, two at each joint, "
    "leave its three freedoms",
    freedoms,
)
