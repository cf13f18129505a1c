"""All pictures of README.md and these pages, made with the library: ``python docs/pictures.py [folder]``.

Each function draws one picture and is named after its file. The tests run them all, and check that every picture that
a page shows is made here.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

import closedchain as cc
from closedchain.results.run import Run

BLUE, GREEN, RED, ORANGE, GREY, INK = "#0072b2", "#009e73", "#d55e00", "#e69f00", "#9a9a9a", "#222222"

PICTURES: dict[str, Callable[[], Any]] = {}


def picture(function: Callable[[], Any]) -> Callable[[], Any]:
    """Add a function to the pictures; its file is its name with dashes."""
    PICTURES[function.__name__.replace("_", "-") + ".png"] = function
    return function


def make(folder: Path, names: Sequence[str] = (), dpi: float = 120) -> list[Path]:
    """Draw pictures (default: all) into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, draw in PICTURES.items():
        if names and name not in names:
            continue
        figure = draw()
        # no version of matplotlib in the file: the same picture gives the same bytes
        figure.savefig(folder / name, dpi=dpi, metadata={"Software": None}, facecolor="white")
        plt.close("all")
        written.append(folder / name)
    return written


# ---- what several pictures need --------------------------------------------------------------------------------------


def places(run: Run, frame: str) -> np.ndarray:
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


def bare_3d(ax: Any, zoom: float, elevation: float, azimuth: float, height: float = 0.75) -> None:
    """A drawing in space without axes."""
    ax.set_axis_off()
    ax.set_box_aspect((1, 1, height), zoom=zoom)
    ax.view_init(elevation, azimuth)


def open_axes(ax: Any) -> None:
    """A diagram without a box around it."""
    ax.spines[["top", "right"]].set_visible(False)


def rods(ax: Any, *points: Any, **style: Any) -> None:
    """A line through points in space."""
    ax.plot(*np.array(points).T, **{"solid_capstyle": "round", "solid_joinstyle": "round"} | style)


def example(name: str) -> dict[str, Any]:
    """The names that a script of examples/ defines."""
    return runpy.run_path(str(Path(__file__).parents[1] / "examples" / f"{name}.py"))


# ---- four-bar --------------------------------------------------------------------------------------------------------


def four_bar_run(until: float = 2.0) -> Run:
    """The four-bar of the library, with a point on the coupler to watch."""
    m = cc.library.four_bar()
    m.bodies["coupler"].frame("pen", at=(1.6, 0.9, 0))
    return cc.simulate(m, until=until, rtol=1e-9, t_eval=np.linspace(0, until, 801))


def draw_four_bar(ax: Any, angles: Sequence[float]) -> None:
    """A four-bar at some angles of its crank, the last one drawn strongly, with the path of a point."""
    run = four_bar_run()
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


def rrr3_run() -> Run:
    """A planar parallel robot whose motors pull back and forth."""
    wave = [2.5 * cc.math.sin(cc.pi * cc.t + k * 2 * cc.pi / 3) for k in range(3)]
    m = cc.library.rrr3(torques=wave, position=(0.0, 0.0))
    for k in range(3):
        m.joint_damper(f"base{k + 1}", 1.0)
    return cc.simulate(m, until=4.0, t_eval=np.linspace(0, 4, 401))


def draw_rrr3(ax: Any, moment: float) -> None:
    """A 3-RRR robot, and the path of its platform."""
    run = rrr3_run()
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


# ---- Delta -----------------------------------------------------------------------------------------------------------


def draw_delta(ax: Any) -> None:
    """A Delta robot at the beginning of the path of examples/delta.py, with that path."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    script = example("delta")
    m, path = script["mechanism"](), script["path"]
    run = cc.simulate(m, m.assemble({"pose": path(0.3)}), until=0.0, t_eval=[0.0])
    at = lambda frame: places(run, frame)[0]  # noqa: E731
    ax.plot(*np.array([path(s)[:3] for s in np.linspace(0, 1, 121)]).T, color=ORANGE, lw=1.6)
    shoulders = [at(f"arm{k}") for k in (1, 2, 3)]
    rods(ax, *shoulders, shoulders[0], color=GREY, lw=1.2)
    corners = [at(f"tool.{side}{k}") for k in (1, 2, 3) for side in ("right", "left")]
    ax.add_collection3d(Poly3DCollection([corners], color=GREEN, alpha=0.25))
    rods(ax, *corners, corners[0], color=GREEN, lw=2.2)
    for k in (1, 2, 3):
        tip = at(f"arm{k}.tip")
        ends = [at(f"{side} rod{k}") for side in ("left", "right")]
        for side, end in zip(("left", "right"), ends, strict=True):
            rods(ax, end, at(f"{side} rod{k}.tip"), color=RED, lw=1.5)
        rods(ax, *ends, color=BLUE, lw=2.6)
        rods(ax, shoulders[k - 1], tip, color=BLUE, lw=3.6)
    ax.plot(*np.array(shoulders).T, "o", color="white", mec=INK, ms=4.5)


# ---- the pictures ----------------------------------------------------------------------------------------------------


@picture
def mechanisms() -> Any:
    """The picture of the README."""
    figure = plt.figure(figsize=(12, 3.1))
    first = figure.add_axes((0.0, 0.0, 0.26, 0.88))
    draw_four_bar(first, np.array([0.5, 0.8, 1.1, 2.3]) * np.pi)
    bare(first)
    second = figure.add_axes((0.275, 0.0, 0.23, 0.88))
    draw_rrr3(second, 1.5)
    bare(second)
    third = figure.add_axes((0.50, -0.07, 0.24, 1.05), projection="3d")
    draw_delta(third)
    bare_3d(third, 1.3, 18, 64, 1.0)
    fourth = figure.add_axes((0.735, -0.14, 0.265, 1.14), projection="3d")
    draw_gough_stewart(fourth, "open", 0.62, (0.0, 0.3, 0.5, 0.62))
    bare_3d(fourth, 1.3, 18, -62)
    titles = {0.13: "four-bar", 0.39: "planar 3-RRR", 0.635: "Delta", 0.87: "Gough-Stewart platform"}
    for x, title in titles.items():
        figure.text(x, 0.935, title, ha="center", fontsize="large", color=INK)
    return figure


@picture
def four_bar_graph() -> Any:
    """Limbs and cut of the four-bar."""
    return cc.library.four_bar().draw_graph()


@picture
def gough_stewart_graph() -> Any:
    """Limbs and cuts of the platform."""
    return cc.library.gough_stewart().draw_graph()


def tutorial_four_bar(torque: Any) -> cc.Mechanism:
    """The four-bar of the first tutorial."""
    m = cc.Mechanism("my four-bar", gravity=(0, -9.81, 0))
    crank = m.body("crank", cc.rod(length=1.0, mass=1.0))
    coupler = m.body("coupler", cc.rod(length=4.0, mass=1.0))
    rocker = m.body("rocker", cc.rod(length=2.5, mass=1.0))
    m.revolute("O", m.ground, crank)
    m.revolute("A", crank.tip, coupler, guess=-1.2)
    m.revolute("C", m.ground.at(3, 0, 0), rocker, guess=1.3)
    m.revolute("B", coupler.tip, rocker.tip)
    m.motor("O", torque=torque)
    m.start = {"O": cc.pi / 2}
    return m


@picture
def four_bar_angles() -> Any:
    """The plot of the first tutorial."""
    return cc.simulate(tutorial_four_bar(6.0), until=2.0, rtol=1e-9).plot("O", "C", "C'")


@picture
def four_bar_steady() -> Any:
    """The speed controller of the first tutorial."""
    m = tutorial_four_bar(lambda t, q, v: 40.0 * (4.0 - v["O"]))
    return cc.simulate(m, until=3.0).plot("O'", "O.motor", "C")


@picture
def coupler_curve() -> Any:
    """The path of a point, with the linkage."""
    figure = plt.figure(figsize=(5.4, 3.5))
    ax = figure.add_axes((0.02, 0.02, 0.96, 0.96))
    draw_four_bar(ax, np.array([0.5, 0.8, 1.1, 2.3]) * np.pi)
    bare(ax)
    return figure


@picture
def four_bar_results() -> Any:
    """Chosen variables of a run."""
    return cc.simulate(cc.library.four_bar(), until=2.0, rtol=1e-9).plot("C'", "lam", "closure_error")


@picture
def gough_stewart_legs() -> Any:
    """Lengths and forces of the legs."""
    legs = [f"leg{k} slide" for k in range(1, 7)]
    run = cc.simulate(cc.library.gough_stewart(), until=2.0)
    return run.plot(*legs, *(f"{leg}.motor" for leg in legs))


@picture
def hexapod_move() -> Any:
    """The motion of the second tutorial."""
    script = example("gough_stewart")
    m, legs = script["mechanism"](), script["LEGS"]
    level = m.assemble({"pose": (0, 0, 1.0, 1, 0, 0, 0)})
    tilted = m.assemble({"pose": (0.1, 0, 1.1, np.cos(0.1), np.sin(0.1), 0, 0)})
    lengths = {f"begin{k}": level[f"slide{k}"] for k in legs} | {f"end{k}": tilted[f"slide{k}"] for k in legs}
    run = cc.simulate(m, level, until=1.5, parameters=lengths)
    return run.plot("slide1", "slide3", "slide1.motor", "slide3.motor")


@picture
def space_four_bar() -> Any:
    """A linkage in space with the frames of its joints."""
    m = cc.Mechanism("space four-bar")
    crank = m.body("crank", cc.rod(length=0.3, mass=0.5))
    coupler = m.body("coupler", cc.rod(length=1.4, mass=0.8, radius=0.01))
    rocker = m.body("rocker", cc.rod(length=0.8, mass=0.6))
    hinge = m.ground.at(1.0, 0.5, 0.0, axis=(1, 0, 0))
    m.revolute("O", m.ground, crank)
    m.revolute("C", hinge, rocker, guess=1.0)
    m.spherical("A", crank.tip, coupler)
    m.universal("B", coupler.tip, rocker.tip, axes=((0, 1, 0), (0, 0, 1)))
    run = cc.simulate(m, m.assemble(O=-0.6), until=0.0, t_eval=[0.0])
    at = lambda frame: places(run, frame)[0]  # noqa: E731

    figure = plt.figure(figsize=(6.2, 3.9))
    ax = figure.add_axes((-0.05, -0.28, 1.1, 1.4), projection="3d")
    x, y = np.meshgrid([-0.25, 1.35], [-0.45, 0.95])
    ax.plot_surface(x, y, 0 * x, color=GREY, alpha=0.10, lw=0)
    O, A, B, C = at("crank"), at("crank.tip"), at("rocker.tip"), at("rocker")
    rods(ax, O, A, color=BLUE, lw=4.5)
    rods(ax, A, B, color=GREEN, lw=4.5)
    rods(ax, C, B, color=RED, lw=4.5)
    for frame in (m.ground["origin"], m.joints["C"].a, m.joints["B"].b):
        pose = run.frame(frame)
        p, R = pose["position"].values[0], pose["rotation"].values[0]
        for axis, name in enumerate("xyz"):
            along = R[:, axis]
            ax.quiver(*p, *(0.24 * along), color=INK, lw=1.2, arrow_length_ratio=0.16, zorder=20)
            ax.text(*(p + 0.29 * along), name, color=INK, fontsize=9, ha="center", va="center", zorder=21)
    for p, text, across, align in (
        (O, "O: hinge", (-0.07, 0.0, 0.03), "right"),
        (A, "A: ball joint", (-0.02, 0.0, -0.11), "center"),
        (B, "B: universal joint", (-0.12, 0.0, 0.05), "right"),
        (C, "C: hinge, its z\nalong the world's x", (0.02, 0.0, -0.17), "center"),
    ):
        ax.plot(*p[:, None], "o", color="white", mec=INK, ms=6.5, zorder=22)
        ax.text(*(p + across), text, fontsize=9, ha=align, va="center", color=INK, zorder=23)
    bare_3d(ax, 1.08, 22, -64, 0.55)
    return figure


@picture
def angle_measures() -> Any:
    """Why a closure measures angles by twice the tangent of half of them."""
    figure, ax = plt.subplots(figsize=(5.4, 3.4), layout="constrained")
    open_axes(ax)
    angle = np.linspace(-np.pi, np.pi, 801)[1:-1]
    ax.axhline(0, color=GREY, lw=0.8)
    ax.plot(angle, angle, color=GREY, lw=1.0, ls=":", label="the angle itself")
    ax.plot(angle, np.sin(angle), color=RED, lw=1.8, label=r"$\sin\,\theta$: zero again at half a turn")
    ax.plot(angle, 2 * np.tan(angle / 2), color=BLUE, lw=2.2, label=r"$2\,\tan(\theta/2)$")
    ax.set(ylim=(-7, 7), xlim=(-np.pi, np.pi), xlabel="angle [rad]", ylabel="residual")
    ax.set_xticks(np.pi * np.array([-1, -0.5, 0, 0.5, 1]), ["-pi", "-pi/2", "0", "pi/2", "pi"])
    ax.legend(frameon=False, loc="upper left", fontsize=9)
    return figure


@picture
def stabilisation() -> Any:
    """Closure error of the three variants of the multipliers."""
    figure, ax = plt.subplots(figsize=(7.2, 3.4), layout="constrained")
    open_axes(ax)
    m = cc.library.four_bar()
    for stabilise, colour, label in (
        ("none", RED, 'stabilise="none"'),
        (cc.Baumgarte(20.0), ORANGE, "Baumgarte(20)"),
        ("projection", BLUE, '"projection" (default)'),
    ):
        run = cc.simulate(m, until=5.0, method=cc.Multipliers(stabilise), rtol=1e-6, t_eval=np.linspace(0, 5, 2001))
        error = run.closure_error.rolling(time=20, min_periods=1).max().values  # the worst of the last 0.05 s
        ax.semilogy(run.t[1:], error[1:], color=colour, lw=1.6)
        ax.text(5.05, np.median(error[-50:]), label, color=colour, va="center")
    ax.set(xlabel="time [s]", ylabel="closure error [m]", ylim=(1e-16, 1e-2), xlim=(0, 5))
    ax.set_title("four-bar, dop853, rtol 1e-6")
    ax.grid(alpha=0.25)
    return figure


@picture
def gough_stewart_structure() -> Any:
    """Non-zero entries of the system that is solved."""
    from closedchain.derive.equations import derive

    e = derive(cc.library.gough_stewart())
    n, m = e.topology.nv, len(e.closure)
    pattern = np.zeros((n + m, n + m))
    rows, columns = e.M.sparsity().get_triplet()
    pattern[rows, columns] = 1
    rows, columns = e.closure.A.sparsity().get_triplet()
    pattern[np.array(rows) + n, columns] = pattern[columns, np.array(rows) + n] = 2
    figure, ax = plt.subplots(figsize=(5.2, 5.2), layout="constrained")
    ax.imshow(pattern, cmap=mpl.colors.ListedColormap(["white", BLUE, RED]), interpolation="none")
    for edge in [link.v.start for limb in e.topology.limbs for link in limb[:1]] + [n]:
        for line in (ax.axhline, ax.axvline):
            line(edge - 0.5, color=INK, lw=1.1 if edge == n else 0.25)
    for x, text in ((n / 2, "24 velocities"), (n + m / 2, "18 closures")):
        ax.text(x, -1.6, text, ha="center", fontsize=10)
        ax.text(-1.6, x, text, va="center", ha="right", rotation=90, fontsize=10)
    for x, y, text in ((17, 5, "M"), (33, 8, "A'"), (8, 33, "A"), (33, 33, "0")):
        ax.text(x, y, text, fontsize=16, ha="center", va="center", color=INK,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 2})  # fmt: skip
    ax.set(xticks=[], yticks=[])
    for side in ax.spines.values():
        side.set_visible(True)
    return figure


# ---- measured pictures: from the runs that benchmarks/work_precision.py has kept beside its page ---------------------


def work_precision() -> tuple[Any, Any]:
    """The benchmark, which is no part of the package, and what it has measured."""
    root = Path(__file__).parents[1]
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    from benchmarks import work_precision as benchmark

    return benchmark, benchmark.load(root / "docs" / "reference" / "work-precision.json")


@picture
def work_precision_four_bar() -> Any:
    """Error against time and operations."""
    benchmark, results = work_precision()
    return benchmark.picture(results, "four-bar")


@picture
def work_precision_rrr3() -> Any:
    """Error against time and operations."""
    benchmark, results = work_precision()
    return benchmark.picture(results, "rrr3")


@picture
def work_precision_gough_stewart() -> Any:
    """Error against time and operations."""
    benchmark, results = work_precision()
    return benchmark.picture(results, "gough-stewart")


@picture
def work_precision_stiffness() -> Any:
    """What springs cost."""
    benchmark, results = work_precision()
    return benchmark.stiffness_picture(results)


@picture
def rose_torques() -> Any:
    """What the motors of the 3-RRR give along a rose."""
    path = cc.paths.rose(0.05, period=2.0).turned(about=(0, 0, 1), angle=0.0)
    need = cc.inverse_dynamics(cc.library.rrr3(), {"platform": path})
    at = path.at(need.t).value
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.0), width_ratios=(1, 2.2), layout="constrained")
    axes[0].plot(at[:, 0], at[:, 1], color=INK, lw=1.2)
    axes[0].plot(*at[0, :2], "o", color=RED, ms=4)
    axes[0].set(xlabel="x [m]", ylabel="y [m]", aspect="equal", xticks=(-0.05, 0, 0.05), yticks=(-0.05, 0, 0.05))
    for name, colour in zip(need.actuators, (BLUE, GREEN, ORANGE), strict=True):
        axes[1].plot(need.t, need[name], color=colour, label=name)
    axes[1].set(xlabel="time [s]", ylabel="torque [N m]")
    axes[1].legend(frameon=False, ncols=3, loc="upper center", bbox_to_anchor=(0.5, 1.16))
    for ax in axes:
        open_axes(ax)
    return figure


@picture
def motor_envelope() -> Any:
    """Torque against speed of a Delta's motor in a pick-and-place cycle, and what a motor can give."""
    points = [(-0.15, 0, -0.8), (-0.13, 0, -0.75), (0.13, 0, -0.75), (0.15, 0, -0.8)]
    there = cc.paths.spline(points, duration=0.3, ends="rest")
    m = cc.library.delta(drive="none")
    motors = [f"arm{k} motor" for k in (1, 2, 3)]
    need = cc.inverse_dynamics(m, {"platform": there.then(there.reversed())}, actuators=motors)
    motor = cc.DCMotor(
        resistance=0.6, torque_constant=0.06, gear=25, rotor_inertia=3e-5, coulomb=0.01, max_voltage=24, max_current=30
    )
    return need.envelope(motor)


@picture
def coupler_deflection() -> Any:
    """The flexible coupler of Wang and others: how far its middle is from its frame."""
    run = cc.simulate(cc.library.four_bar(flexible=True), until=2.0, rtol=1e-8, t_eval=np.linspace(0, 2, 801))
    return run.plot_deflection("coupler")


@picture
def pacdrive_modes() -> Any:
    """The first modes of the flexible PacDrive with its motors locked."""
    m = cc.library.pacdrive(flexible=True, drive="none")
    return m.modes(locked=["joint1", "joint2"]).plot(*range(1, 7))


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "pictures"
    for path in make(target):
        print(path)
