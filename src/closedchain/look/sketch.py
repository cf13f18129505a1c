"""Pictures of whole mechanisms with flexible links: deformed at a time, and in their modes.

They are drawn in the plane they move in, or in space; grey is where they would be with rigid links.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from closedchain.arguments import finite, needs, positive
from closedchain.errors import ModelError
from closedchain.look.outline import VISIBLE, Outline, mode_outline, outline, run_outline
from closedchain.pose.state import State
from closedchain.results.beams.deflection import deflection
from closedchain.results.files import saved
from closedchain.results.motion.motion import Motion
from closedchain.results.points import Points, StatePoints
from closedchain.results.run import Run
from closedchain.results.vibration.modal import Modes

# distinguishable with all common kinds of colour vision (Okabe and Ito 2008, jfly.uni-koeln.de/color)
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
INK, GREY = "#222222", "#b8b8b8"
MARGIN = 0.06  # of the extent of a drawing


class Sketch:
    """Draws outlines into one pair of axes: in the plane of the mechanism, or in space."""

    def __init__(self, shape: Outline, magnify: float, figure: Any, position: tuple[int, int, int] = (1, 1, 1)) -> None:
        self.shape, self.magnify = shape, magnify
        self.plane = shape.plane()
        self.bodies = list(dict.fromkeys(line.body for line in shape.lines))
        flexible = [x for x in self.bodies if x in shape.mechanism.flexible]
        # more bodies than colours: all flexible ones alike
        few = len(flexible) <= len(COLOURS)
        self.colour = {x: COLOURS[k] if few else COLOURS[0] for k, x in enumerate(flexible)}
        self.named = few
        planar = self.plane is not None
        self.ax = figure.add_subplot(*position, projection="rectilinear" if planar else "3d")
        lines, pins = shape.magnified(magnify)
        points = np.concatenate([x.reshape(-1, 3) for x in (*shape.rigid, *lines, shape.pins[0], pins)])
        low, high = points.min(axis=0), points.max(axis=0)
        if planar:
            flat = self._flat(points)
            low, high = flat.min(axis=0), flat.max(axis=0)
            self.ax.set_aspect("equal")
            labels = [self._axis_name(direction) for direction in self.plane]  # type: ignore[union-attr]
            self.ax.set(xlabel=labels[0], ylabel=labels[1])
            self.ax.grid(alpha=0.25)
        else:
            self.ax.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
            self.ax.locator_params(nbins=4)
        room = MARGIN * max(high - low)
        for axis, a, b in zip("xyz", low, high, strict=False):
            getattr(self.ax, f"set_{axis}lim")(a - room, b + room)
        if not planar:
            self.ax.set_box_aspect(high - low + 2 * room)

    @staticmethod
    def _axis_name(direction: np.ndarray) -> str:
        largest = int(np.argmax(np.abs(direction)))
        return f"{'xyz'[largest]} [m]" if np.isclose(direction[largest], 1.0) else "in the plane [m]"

    def _flat(self, points: np.ndarray) -> np.ndarray:
        return points if self.plane is None else points @ self.plane.T

    def draw(self, i: int, *, legend: bool = True) -> list[Any]:
        """Draw sample i: grey without, and in colour with displacements; returns what can be taken off again."""
        drawn: list[Any] = []
        lines, pins = self.shape.magnified(self.magnify)
        told: set[str] = set()
        for line, rigid, bent in zip(self.shape.lines, self.shape.rigid, lines, strict=True):
            for points, style in (
                (rigid[i], {"color": GREY, "lw": 1.4, "zorder": 1}),
                (bent[i], self._style(line.body, line.flexible, told)),
            ):
                p = self._flat(np.vstack([points, points[:1]]) if line.ring else points)
                drawn += self.ax.plot(*p.T, solid_capstyle="round", solid_joinstyle="round", **style)
        for grounded, marker, colour in ((False, "o", "white"), (True, "^", GREY)):
            here = self._flat(pins[i][self.shape.grounded == grounded])
            if len(here):
                style = {"marker": marker, "ls": "none", "mfc": colour, "mec": INK, "mew": 1.0, "ms": 5, "zorder": 6}
                drawn += self.ax.plot(*here.T, **style)
        if legend and self.named and told:
            self.ax.legend(fontsize="small", frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        return drawn

    def _style(self, body: str, flexible: bool, told: set[str]) -> dict[str, Any]:
        if body not in self.colour:
            return {"color": INK, "lw": 2.2, "zorder": 3}
        style: dict[str, Any] = {"color": self.colour[body], "lw": 2.4 if flexible else 1.6, "zorder": 4}
        if flexible and body not in told:
            told.add(body)
            style["label"] = body
        return style


def plot_deformed(
    source: Run | Motion | State | Points, time: float | None = None, *, magnify: float | None = None, path: Any = None
) -> Any:
    """The deformed mechanism at a time, with displacements magnified; grey: with rigid links.

    Parameters
    ----------
    source
        A run, a state, or another motion that knows where points of its bodies are.
    time
        s; the nearest sample is drawn. Default: that with the largest deflection among some.
    magnify
        Factor on elastic displacements, against the rigid twin with the same motor coordinates. None: a round number
        that makes them visible.
    path
        Where to save the figure.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.figure import Figure

    shape = _outline_at(source, time)
    factor = magnification(shape, magnify)
    figure = Figure(figsize=(7.5, 5.2), layout="constrained")
    Sketch(shape, factor, figure).draw(0)
    figure.suptitle(f"{shape.mechanism.name} at t = {shape.t[0]:.4g} s: {told_factor(factor)}", fontsize="medium")
    return saved(figure, path)


def magnification(shape: Outline, magnify: float | None) -> float:
    """The factor on displacements that was asked for, checked; None: one that makes them visible."""
    if magnify is None:
        return shape.magnification
    return positive("magnify", magnify)


def told_factor(factor: float) -> str:
    """What a picture says about its magnification."""
    return "displacements as they are" if factor == 1 else f"elastic displacements {factor:g} times as large"


def _outline_at(source: Run | Motion | State | Points, time: float | None) -> Outline:
    if isinstance(source, State):
        return outline(StatePoints([source]), source.mechanism.values(source.parameters))
    needs("plot_deformed", source, (Run, Motion, Points), "a run, a state or a motion")
    t = np.asarray(source.t, float)
    if time is not None:
        finite("time", time)
    if time is not None and not (t.min() <= time <= t.max()):
        raise ModelError(f"the motion goes from {t.min():g} to {t.max():g} s: there is nothing at {time:g} s")
    if isinstance(source, Run | Motion):
        if time is not None:
            return run_outline(source, [int(np.argmin(np.abs(t - time)))])
        return run_outline(source, [_most_bent(source)])
    whole = outline(source, source.mechanism.values(source.parameters))
    away = [np.linalg.norm(b - a, axis=2).max(axis=1) for a, b in zip(whole.rigid, whole.bent, strict=True)]
    i = int(np.argmax(np.max(away, axis=0))) if time is None else int(np.argmin(np.abs(t - time)))
    return whole.some([i])


def _most_bent(run: Run | Motion) -> int:
    """The sample at which some point of a flexible body is farthest from its chord, or its frame."""
    size = np.zeros(len(run.t))
    for name in run.mechanism.flexible:
        for at in (0.5, 1.0):
            size = np.maximum(size, np.linalg.norm(deflection(run, name, at).values, axis=1))
    return int(np.argmax(size))


# ---- modes -----------------------------------------------------------------------------------------------------------


def plot_modes(about: Modes, *modes: int, amplitude: float = VISIBLE, path: Any = None) -> Any:
    """Shapes of modes, one panel each, at one end of their swing; grey: at rest.

    Parameters
    ----------
    about
        From `modes`.
    *modes
        Their numbers, from 1; default: the first six.
    amplitude
        Largest displacement in the picture, as a part of the mechanism's size.
    path
        Where to save the figure.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.figure import Figure

    amplitude = positive("amplitude", amplitude)
    numbers = modes or tuple(range(1, min(6, len(about.frequencies)) + 1))
    columns = min(3, len(numbers))
    rows = -(-len(numbers) // columns)
    figure = Figure(figsize=(4.0 * columns, 0.6 + 3.4 * rows), layout="constrained")
    flexible = about.deforms()
    for place, k in enumerate(numbers):
        shape = mode_outline(about, k)
        sketch = Sketch(shape, amplitude * shape.size, figure, (rows, columns, place + 1))
        sketch.draw(0, legend=False)
        title = f"mode {k}: {told_frequency(about, k)}"
        title += "" if flexible[k - 1] == "-" else f"\n{flexible[k - 1]}"
        sketch.ax.set_title(title, fontsize="small")
        sketch.ax.set(xlabel="", ylabel="")
        sketch.ax.tick_params(labelsize="x-small")
    figure.suptitle(f"{shape.mechanism.name}: modes", fontsize="medium")
    return saved(figure, path)


def told_frequency(about: Modes, k: int) -> str:
    """What a picture says about the frequency of mode number k (from 1)."""
    frequency = float(about.frequencies[k - 1])
    return f"{frequency:.4g} Hz" if frequency > 0 else "does not swing"
