"""The pictures of ``closedchain demo``: platform, legs, forces, and how exact it all is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.results.checks import ENERGY, promised
from closedchain.results.files import saved

if TYPE_CHECKING:
    from closedchain.results.run import Run

# distinguishable with all common kinds of colour vision (Okabe and Ito 2008, jfly.uni-koeln.de/color)
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
LEGS = range(1, 7)


def write(run: Run, folder: Path) -> list[Path]:
    """Draw all figures of a run of the Gough-Stewart platform; returns the files."""
    written = []
    for name, draw in (
        ("platform-motion", platform_motion),
        ("leg-lengths", leg_lengths),
        ("leg-forces", leg_forces),
        ("errors", errors),
    ):
        path = folder / f"{name}.png"
        saved(draw(run), path)
        written.append(path)
    return written


def platform_motion(run: Run) -> Any:
    """Where the platform goes and how it turns, both from its pose at the start."""
    from scipy.spatial.transform import Rotation

    motion = run.frame("platform")
    moved = motion["position"].values - motion["position"].values[0]
    R = motion["rotation"].values
    turned = Rotation.from_matrix(R @ R[0].T).as_rotvec(degrees=True)
    figure, (above, below) = _panels("Platform, from its pose at the start", 2)
    for i, axis in enumerate("xyz"):
        above.plot(run.t, 1e3 * moved[:, i], color=COLOURS[i], label=axis)
        below.plot(run.t, turned[:, i], color=COLOURS[i], label=f"about {axis}")
    above.set_ylabel("displacement [mm]")
    below.set_ylabel("rotation vector [deg]")
    return _finish(figure)


def leg_lengths(run: Run) -> Any:
    """Change of each leg's length beside what its motor is asked for, and the difference."""
    figure, (above, below) = _panels("Legs, from their length at the start", 2)
    wanted_shape = np.sin(np.pi * run.t / 2) ** 2
    for k, colour in zip(LEGS, COLOURS, strict=True):
        slide = run[f"leg{k} slide"].values
        change = slide - run.parameters[f"leg{k} start"]
        wanted = run.parameters[f"leg{k} stroke"] * wanted_shape
        above.plot(run.t, 1e3 * change, color=colour, label=f"leg {k}")
        above.plot(run.t, 1e3 * wanted, color=colour, linestyle=":", linewidth=1)
        below.plot(run.t, 1e3 * (change - wanted), color=colour, label=f"leg {k}")
    above.plot([], [], color="black", linestyle=":", linewidth=1, label="wanted")
    above.set_ylabel("change of length [mm]")
    below.set_ylabel("length - wanted [mm]")
    return _finish(figure)


def leg_forces(run: Run) -> Any:
    """The force of each leg's motor."""
    figure, (ax,) = _panels("Motor forces along the legs", 1)
    for k, colour in zip(LEGS, COLOURS, strict=True):
        ax.plot(run.t, run[f"leg{k} slide.motor"], color=colour, label=f"leg {k}")
    ax.set_ylabel("force [N]")
    return _finish(figure)


def errors(run: Run) -> Any:
    """Closure and energy errors, with the bounds below which the run counts as good."""
    figure, (above, below) = _panels(f"How exact: {run.solver}, rtol {run.rtol:g}", 2)
    above.semilogy(run.t, _drawable(run["closure_error"]), color=COLOURS[0], label="position [m]")
    above.semilogy(run.t, _drawable(run["closure_velocity_error"]), color=COLOURS[1], label="velocity [m/s]")
    above.axhline(
        max(promised(run.program.method, run.solver) * run.rtol, 1e-10),
        color="grey",
        linestyle="--",
        linewidth=1,
        label="good below this",
    )
    above.set_ylabel("largest gap of all loops")
    exchanged = run["energy_error"].attrs["exchanged"]
    below.semilogy(run.t, _drawable(run["energy_error"]), color=COLOURS[2], label="$|E(t) - E(0) - W(t)|$")
    below.axhline(exchanged, color="black", linestyle=":", linewidth=1, label="energy exchanged")
    below.axhline(ENERGY * run.rtol * exchanged, color="grey", linestyle="--", linewidth=1, label="good below this")
    below.set_ylabel("energy error [J]")
    return _finish(figure)


def _panels(title: str, count: int) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 1.4 + 2.6 * count), layout="constrained")
    figure.suptitle(f"Gough-Stewart platform under leg control\n{title}", fontsize="medium")
    return figure, figure.subplots(count, 1, sharex=True, squeeze=False)[:, 0]


def _finish(figure: Any) -> Any:
    for ax in figure.axes:
        ax.grid(alpha=0.3)
        ax.spines[["top", "right"]].set_visible(False)
        ax.margins(x=0)
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize="small")
    figure.axes[-1].set_xlabel("time [s]")
    return figure


def _drawable(values: Any) -> np.ndarray:
    """Sizes for a logarithmic axis; exact zeros leave a gap."""
    size = np.abs(np.asarray(values))
    return np.where(size > 0, size, np.nan)
