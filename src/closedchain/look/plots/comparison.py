"""Work-precision diagrams: what a run costs against how good it is, one line for each method and solver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.close.parts.springs import SpringFormulation
from closedchain.results.files import saved

if TYPE_CHECKING:
    from closedchain.results.compare.comparison import Comparison

# dark enough on white, and apart for most eyes (Okabe and Ito); springs are shades of red
EXACT = ("#0072B2", "#56B4E9", "#000000", "#009E73", "#7B4FA3", "#B8860B", "#7F7F7F", "#1B4F72")
SPRINGS = ("#F5B7B1", "#E67E73", "#C0392B", "#78281F")
FILLS = ("white", "#FFD966", "#B7E1CD")  # of markers, for solvers after the first
MARKERS = "osD^vP<>X*hpd"
LEAST = 1e-17  # an error of zero has no place on a logarithmic axis


def plot(comparison: Comparison, path: Any = None) -> Any:
    """Draw error against time, and error against operations.

    Parameters
    ----------
    comparison
        What to draw.
    path
        Where to save the figure; the kind of file follows from the ending.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    data = comparison.dataset
    figure = Figure(figsize=(11.0, 5.2), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    springs = [isinstance(x, SpringFormulation) for x in comparison.methods.values()]
    colours = {True: iter(SPRINGS[-sum(springs) :] * 9 or SPRINGS), False: iter(EXACT * 9)}
    handles = []
    for i, name in enumerate(comparison.methods):
        style: dict[str, Any] = {"color": next(colours[springs[i]]), "marker": MARKERS[i % len(MARKERS)]}
        style |= {"markersize": 5.5, "linestyle": (0, (4, 1.5)) if springs[i] else "-"}
        drawn = False
        for j, solver in enumerate(data["solver"].values):
            one = data.sel(formulation=name, solver=solver)
            error = np.maximum(one["error"].values, LEAST)
            face = style["color"] if j == 0 else FILLS[(j - 1) % len(FILLS)]
            for ax, cost in ((left, "seconds"), (right, "run_operations")):
                ax.plot(one[cost], error, markerfacecolor=face, linewidth=1.6 if j == 0 else 0.8, **style)
            drawn |= bool(np.isfinite(error).any())
        handles.append(Line2D([], [], label=name if drawn else f"{name} (failed)", **style))

    for j, solver in enumerate(data["solver"].values if data.sizes["solver"] > 1 else []):
        face = "#444444" if j == 0 else FILLS[(j - 1) % len(FILLS)]
        handles.append(
            Line2D([], [], color="#444444", marker="o", linestyle="", markerfacecolor=face, label=str(solver))
        )
    floor = data.attrs["uncertainty"]
    for ax, what in ((left, "time to march [s]"), (right, "operations of the run")):
        ax.set(xlabel=what)
        ax.grid(alpha=0.25, which="major")
        if bool(np.isfinite(data["error"]).any()):
            ax.set(xscale="log", yscale="log")
        else:
            ax.text(0.5, 0.5, "no run got to its end", ha="center", va="center", transform=ax.transAxes)
    lowest = left.get_ylim()[0]
    if np.isfinite(floor) and lowest < floor:
        for ax in (left, right):
            band = ax.axhspan(lowest, floor, color="#888888", alpha=0.15, linewidth=0, label="not resolved")
        left.set_ylim(lowest)
        handles.append(band)
    if bool(np.isfinite(data["error"]).any()):
        _readable_times(left)
    left.set_ylabel("largest error of a coordinate [rad or m]")
    figure.legend(handles=handles, loc="outside right center", frameon=False, fontsize="small")
    figure.suptitle(
        f"{data.attrs['mechanism']}, {data.attrs['begin']:g} to {data.attrs['until']:g} s", fontsize="medium"
    )
    return saved(figure, path)


def _readable_times(ax: Any) -> None:
    """Durations on a logarithmic axis in the units one says them in."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = ax.get_xlim()
    parts = (1.0,) if high > 300 * low else (1.0, 3.0) if high > 10 * low else (1.0, 2.0, 5.0)
    ax.xaxis.set_major_locator(LogLocator(subs=parts))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: _duration(x)))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("time to march")


def _duration(x: float) -> str:
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if x >= 0.999 * size:
            return f"{x / size:.3g} {unit}"
    return f"{x:.0e} s"
