"""All pictures of README.md and these pages, made with the library: ``python docs/pictures.py [folder]``.

Each function draws one picture and is named after its file. The tests run them all, and check that every picture that a page
shows is made here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

import closedchain as cc

BLUE, GREEN, RED, ORANGE, GREY, INK = "#0072b2", "#009e73", "#d55e00", "#e69f00", "#9a9a9a", "#222222"

PICTURES: dict[str, Callable[[], Any]] = {}


def picture(function: Callable[[], Any]) -> Callable[[], Any]:
    """Add a function to the pictures; its file is its name with dashes."""
    PICTURES[function.__name__.replace("_", "-") + ".png"] = function
    return function


def make(folder: Path, names: Sequence[str] = ()) -> list[Path]:
    """Draw pictures (default: all) into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    style = {"axes.spines.top": False, "axes.spines.right": False, "font.size": 9.5, "axes.titlesize": 10.5}
    for name, draw in PICTURES.items():
        if names and name not in names:
            continue
        with mpl.rc_context(style):
            figure = draw()
        # no version of matplotlib in the file: the same picture gives the same bytes
        figure.savefig(folder / name, dpi=140, metadata={"Software": None}, facecolor="white")
        plt.close("all")
        written.append(folder / name)
    return written


# ---- what several pictures need --------------------------------------------------------------------------------------


def places(run: cc.Run, frame: str) -> np.ndarray:
    """Positions of a frame over time, (time, 3)."""
    return run.frame(frame)["position"].values


def shades(n: int, colour: str) -> list[tuple[float, ...]]:
    """A colour that comes out of the paper in n steps."""
    strong = np.array(mpl.colors.to_rgb(colour))
    return [tuple(1 - (1 - strong) * f) for f in np.linspace(0.12, 0.45, n)]


def pin(ax: Any, x: float, y: float, size: float = 5.0) -> None:
    """A joint of a planar mechanism."""
    ax.plot(x, y, "o", color="white", mec=INK, mew=1.2, ms=size, zorder=10)


def pivot(ax: Any, x: float, y: float, size: float) -> None:
    """A joint on the ground."""
    ax.fill([x, x - 0.6 * size, x + 0.6 * size], [y, y - size, y - size], color=GREY, zorder=5, lw=0)
    ax.plot([x - size, x + size], [y - size, y - size], color=INK, lw=1.2, zorder=6)
    pin(ax, x, y)


def bare(ax: Any) -> None:
    """A drawing without axes."""
    ax.set_aspect("equal")
    ax.axis("off")


# ---- four-bar --------------------------------------------------------------------------------------------------------


def four_bar_run(until: float = 2.0) -> tuple[cc.Mechanism, cc.Run]:
    """The four-bar of the library, with a point on the coupler to watch."""
    m = cc.library.four_bar()
    m.bodies["coupler"].frame("pen", at=(1.6, 0.9, 0))
    return m, cc.simulate(m, until=until, rtol=1e-9, t_eval=np.linspace(0, until, 801))


def draw_four_bar(ax: Any, angles: Sequence[float]) -> None:
    """A four-bar at some angles of its crank, the last one drawn strongly, with the path of a point."""
    _, run = four_bar_run()
    A, B, pen = places(run, "crank.tip"), places(run, "rocker.tip"), places(run, "coupler.pen")
    O, C = np.zeros(3), np.array([3.0, 0, 0])
    turn = int(np.argmax(run["O"].values > run["O"].values[0] + 2 * np.pi)) or len(run.t) - 1
    ax.plot(pen[: turn + 1, 0], pen[: turn + 1, 1], color=ORANGE, lw=1.4, zorder=1)
    when = [int(np.argmin(np.abs(run["O"].values - angle))) for angle in angles]
    for k, i in enumerate(when):
        last = k == len(when) - 1
        for colour, group in (
            (BLUE, [O, A[i]]),
            (GREEN, [A[i], B[i], pen[i], A[i]]),
            (RED, [C, B[i]]),
        ):
            line = np.array(group)
            tone = colour if last else shades(len(when), colour)[k]
            if last and colour == GREEN:
                ax.fill(line[:, 0], line[:, 1], color=colour, alpha=0.18, lw=0, zorder=3)
            ax.plot(line[:, 0], line[:, 1], color=tone, lw=2.6 if last else 1.4, zorder=4 if last else 2,
                    solid_capstyle="round", solid_joinstyle="round")  # fmt: skip
        if last:
            for p in (A[i], B[i]):
                pin(ax, p[0], p[1])
            ax.plot(pen[i, 0], pen[i, 1], "o", color=ORANGE, ms=5, zorder=11)
    pivot(ax, 0, 0, 0.22)
    pivot(ax, 3, 0, 0.22)


# ---- 3-RRR -----------------------------------------------------------------------------------------------------------


def rrr3_run() -> tuple[cc.Mechanism, cc.Run]:
    """A planar parallel robot that its motors turn to and fro."""
    wave = [2.5 * cc.sin(cc.pi * cc.t + k * 2 * cc.pi / 3) for k in range(3)]
    m = cc.library.rrr3(torques=wave, position=(0.0, 0.0))
    for k in range(3):
        m.joint_damper(f"base{k + 1}", 1.0)
    return m, cc.simulate(m, until=4.0, t_eval=np.linspace(0, 4, 401))


def draw_rrr3(ax: Any, moment: float) -> None:
    """A 3-RRR robot, and the path of its platform."""
    m, run = rrr3_run()
    i = int(np.argmin(np.abs(run.t - moment)))
    middle = places(run, "platform")
    ax.plot(middle[:, 0], middle[:, 1], color=ORANGE, lw=1.4, zorder=8)
    corners = np.array([places(run, f"platform.corner{k}")[i] for k in (1, 2, 3)])
    ax.fill(corners[:, 0], corners[:, 1], color=GREEN, alpha=0.25, lw=0, zorder=3)
    ax.plot(*corners[[0, 1, 2, 0], :2].T, color=GREEN, lw=2.6, zorder=4, solid_joinstyle="round")
    for k in (1, 2, 3):
        base, elbow = places(run, f"proximal{k}")[i], places(run, f"proximal{k}.tip")[i]
        ax.plot(*np.array([base, elbow])[:, :2].T, color=BLUE, lw=2.6, zorder=4, solid_capstyle="round")
        ax.plot(*np.array([elbow, corners[k - 1]])[:, :2].T, color=RED, lw=2.6, zorder=4, solid_capstyle="round")
        pivot(ax, base[0], base[1], 0.06)
        pin(ax, elbow[0], elbow[1])
        pin(ax, corners[k - 1, 0], corners[k - 1, 1])
    ax.plot(middle[i, 0], middle[i, 1], "o", color=ORANGE, ms=5, zorder=11)


# ---- Gough-Stewart ---------------------------------------------------------------------------------------------------


def draw_gough_stewart(ax: Any, drive: str, until: float, moments: Sequence[float]) -> None:
    """A six-legged platform in space at some moments, the last one drawn strongly."""
    m = cc.library.gough_stewart(drive)
    run = cc.simulate(m, until=until, t_eval=np.linspace(0, until, 201))
    base = np.array([places(run, f"leg{k} lower")[0] for k in range(1, 7)])
    ring = [*range(6), 0]
    ax.plot(*base[ring].T, color=GREY, lw=1.2)
    ax.plot(*places(run, "platform").T, color=ORANGE, lw=1.6)
    when = [int(np.argmin(np.abs(run.t - t))) for t in moments]
    for k, i in enumerate(when):
        last = k == len(when) - 1
        corner = np.array([places(run, f"platform.corner{j}")[i] for j in range(1, 7)])
        sleeve = np.array([places(run, f"leg{j} lower.com")[i] for j in range(1, 7)])
        tone = lambda c: c if last else shades(len(when), c)[k]  # noqa: B023, E731
        if last:
            from mpl_toolkits.mplot3d.art3d import Poly3DCollection

            ax.add_collection3d(Poly3DCollection([corner[ring]], color=GREEN, alpha=0.25))
        ax.plot(*corner[ring].T, color=tone(GREEN), lw=2.4 if last else 1.2)
        for j in range(6):
            knee = base[j] + 1.0 * (sleeve[j] - base[j])
            ax.plot(*np.array([base[j], corner[j]]).T, color=tone(RED), lw=1.6 if last else 0.9)
            if last:
                ax.plot(*np.array([base[j], knee]).T, color=BLUE, lw=4.0, solid_capstyle="round")
    ax.plot(*base.T, "o", color="white", mec=INK, ms=4.5)


@picture
def mechanisms() -> Any:
    """The picture of the README."""
    figure = plt.figure(figsize=(10.4, 3.3))
    left = figure.add_axes((0.0, 0.0, 0.345, 0.86))
    draw_four_bar(left, np.array([0.5, 0.8, 1.1, 2.3]) * np.pi)
    bare(left)
    middle = figure.add_axes((0.365, 0.0, 0.29, 0.86))
    draw_rrr3(middle, 1.5)
    bare(middle)
    right = figure.add_axes((0.655, -0.12, 0.345, 1.14), projection="3d")
    draw_gough_stewart(right, "open", 0.62, (0.0, 0.3, 0.5, 0.62))
    right.set_axis_off()
    right.set_box_aspect((1, 1, 0.75), zoom=1.32)
    right.view_init(18, -62)
    for x, title in ((0.17, "four-bar"), (0.51, "3-RRR robot"), (0.83, "Gough-Stewart platform")):
        figure.text(x, 0.93, title, ha="center", fontsize="large", color=INK)
    return figure


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "pictures"
    for path in make(target):
        print(path)
