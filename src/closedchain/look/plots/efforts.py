"""Figures of what a motion takes: over time, and effort against speed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.model.actuators.base import effective
from closedchain.results.efforts.sizing import loads
from closedchain.results.files import saved

STYLES = ("-", "--", ":")  # after ten actuators colours begin again
LEAST_WIDTH = 5.0  # in, for the title
ROUND = (1, 2, 5, 10)  # ticks

if TYPE_CHECKING:
    from closedchain.model.actuators.base import ActuatorModel
    from closedchain.results.efforts.efforts import Efforts


def plot(need: Efforts, path: Any = None) -> Any:
    """Efforts, speeds and powers of all actuators over time: a panel for each unit; of one instant, efforts as bars.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.figure import Figure

    kinds = list(dict.fromkeys(need.units.values()))
    if len(need.t) == 1:
        return saved(_bars(need, kinds), path)
    panels = [("effort", unit) for unit in kinds] + [("speed", unit) for unit in kinds] + [("power", "W")]
    height = max(1.0 + 2.1 * len(panels), 0.6 + 0.2 * len(need.actuators))
    figure = Figure(figsize=(8, height), layout="constrained")
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for ax, (what, unit) in zip(axes, panels, strict=True):
        for k, name in enumerate(need.actuators):
            if what != "power" and need.units[name] != unit:
                continue
            values = {"effort": need.tau, "speed": need.speed, "power": need.tau * need.speed}[what][:, k]
            ax.plot(need.t, values, label=name, color=f"C{k % 10}", linestyle=STYLES[k // 10 % len(STYLES)])
        label = {"effort": unit, "speed": "rad/s" if unit == "N m" else "m/s", "power": "W"}[what]
        ax.set_ylabel(f"{what} [{label}]")
        ax.grid(alpha=0.3)
        ax.margins(x=0)
    lines = axes[-1].get_lines()  # the power of all actuators
    figure.legend(lines, need.actuators, fontsize="small", loc="outside right upper", frameon=False)
    axes[-1].set_xlabel("time [s]")
    figure.suptitle(f"{need.mechanism.name}: efforts along the path", fontsize="medium")
    return saved(figure, path)


def _bars(need: Efforts, kinds: Sequence[str]) -> Any:
    """The efforts of a single instant."""
    from matplotlib.figure import Figure

    groups = [[k for k, name in enumerate(need.actuators) if need.units[name] == unit] for unit in kinds]
    sizes = [len(group) for group in groups]
    figure = Figure(figsize=(8, 0.8 + 0.7 * len(kinds) + 0.3 * sum(sizes)), layout="constrained")
    axes = figure.subplots(len(kinds), 1, squeeze=False, height_ratios=sizes)[:, 0]
    for ax, unit, group in zip(axes, kinds, groups, strict=True):
        efforts = need.tau[0, group]
        bars = ax.barh([need.actuators[k] for k in group], efforts, color=[f"C{k % 10}" for k in group])
        ax.bar_label(bars, [f"{x:.4g}" for x in efforts], padding=3, fontsize="small")
        ax.axvline(0.0, color="k", lw=0.8)
        ax.margins(x=0.15)  # for the numbers
        ax.invert_yaxis()
        ax.set_xlabel(f"effort [{unit}]")
        ax.grid(axis="x", alpha=0.3)
    figure.suptitle(f"{need.mechanism.name}: efforts at t = {need.t[0]:g} s", fontsize="medium")
    return figure


def envelope(
    need: Efforts, models: ActuatorModel | Mapping[str, ActuatorModel] | None = None, *, path: Any = None
) -> Any:
    """Effort against speed of every actuator, with the efforts that its motor can give where a model is known.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    count = len(need.actuators)
    columns = min(3, count)
    rows = -(-count // columns)
    figure = Figure(figsize=(max(3.4 * columns, LEAST_WIDTH), 0.9 + 2.8 * rows), layout="constrained")
    known_motor = False
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for k, (ax, (name, effort, speed, model)) in enumerate(zip(axes, loads(need, models), strict=False)):
        turning = need.units[name] == "N m"
        if np.abs(speed).max() < 1e-9 * np.abs(need.speed).max():  # what rounding leaves of rest
            speed = np.zeros_like(speed)
        ax.plot(speed, effort, color=f"C{k}", zorder=3, marker="o" if len(speed) == 1 else None)
        rms = effective(effort, need.t)
        ax.axhspan(-rms, rms, color=f"C{k}", alpha=0.1, lw=0)
        if model is not None:
            known_motor = True
            wide = 1.3 * max(float(np.abs(speed).max()), 1e-9)
            at = np.linspace(-wide, wide, 201)
            low, high = model.envelope(at)
            known = np.isfinite(low) & np.isfinite(high)
            ax.plot(at[known], low[known], "k--", lw=1)
            ax.plot(at[known], high[known], "k--", lw=1)
        ax.set_title(name, fontsize="small")
        ax.set_xlabel("speed [rad/s]" if turning else "speed [m/s]")
        ax.set_ylabel("torque [N m]" if turning else "force [N]")
        ax.xaxis.set_major_locator(MaxNLocator(nbins=5, steps=ROUND))
        ax.yaxis.set_major_locator(MaxNLocator(nbins=6, steps=ROUND))
        ax.grid(alpha=0.3)
    for ax in axes[count:]:
        ax.set_visible(False)
    legend = "band: rms" + ("; dashed: what the motor can give" if known_motor else "")
    figure.suptitle(f"{need.mechanism.name}: effort against speed\n({legend})", fontsize="medium")
    return saved(figure, path)
