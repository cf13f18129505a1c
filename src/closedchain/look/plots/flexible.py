"""Figures of flexible links: deflections over time, spectra, section forces along a beam, frequencies over poses.

Pictures of whole mechanisms are in `closedchain.look.sketch`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.arguments import needs
from closedchain.errors import ModelError
from closedchain.look.sketch import COLOURS, INK
from closedchain.pose.state import State
from closedchain.results.beams.deflection import deflection
from closedchain.results.beams.fields import BeamFields
from closedchain.results.efforts.efforts import Efforts
from closedchain.results.files import saved
from closedchain.results.motion.motion import Motion
from closedchain.results.run import Run
from closedchain.results.vibration.spectrum import dominant, spectrum

if TYPE_CHECKING:
    import xarray

NOTHING = 2e-3  # of the largest deflection: a line that looks flat beside it


# ---- over time -------------------------------------------------------------------------------------------------------


def plot_deflection(source: Any, *bodies: str, at: float = 0.5, against: str = "frame", path: Any = None) -> Any:
    """Deflections of flexible bodies over time: a panel for each body, a line for each axis along which it bends.

    Parameters
    ----------
    source
        A run, or another motion with flexible bodies.
    *bodies
        Which; default: all flexible ones.
    at, against
        As for `closedchain.results.beams.deflection.deflection`.
    path
        Where to save the figure; the kind of file follows from the ending.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.figure import Figure

    needs("plot_deflection", source, (Run, Efforts, Motion, State), "a run, or another motion with flexible bodies")
    names = bodies or tuple(source.mechanism.flexible)
    if not names:
        raise ModelError(
            f"mechanism {source.mechanism.name!r} has no flexible body: make one so with body.flexible(...)"
        )
    found = [deflection(source, name, at, against=against) for name in names]
    figure = Figure(figsize=(7.5, 1.2 + 1.9 * len(names)), layout="constrained")
    axes = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
    for ax, name, one in zip(axes, names, found, strict=True):
        size = float(np.nanmax(np.abs(one.values), initial=0.0))
        factor, unit = _readable(size)
        for k, axis in enumerate("xyz"):
            values = one.sel(axis=axis)
            if np.nanmax(np.abs(values.values), initial=0.0) > NOTHING * size or (axis == "y" and not size):
                ax.plot(one["time"], factor * values, color=COLOURS[k], label=f"along {axis}")
        ax.set_ylabel(f"{name} [{unit}]")
        ax.grid(alpha=0.3)
        ax.margins(x=0)
        ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    axes[-1].set_xlabel("time [s]")
    place = {0.0: "the origin", 0.5: "the middle", 1.0: "the end"}.get(at, f"{at:g} of the length")
    title = f"{source.mechanism.name}: deflection at {place}, against the {against}"
    figure.suptitle(title, fontsize="medium")
    return saved(figure, path)


def plot_spectrum(
    *signals: xarray.DataArray,
    labels: Sequence[str] = (),
    most: float | None = None,
    above: float = 0.0,
    path: Any = None,
    **options: Any,
) -> Any:
    """Amplitude spectra of signals over time, each with its dominant frequency.

    Parameters
    ----------
    *signals
        Over time alone: ``run["coupler.y1"]``, or ``deflection(...).sel(axis="y")``.
    labels
        What they are called; default: their names.
    most
        The highest frequency to show, Hz.
    above
        Dominant frequencies are looked for above this one, Hz.
    path
        Where to save the figure.
    **options
        ``window``, ``detrend``, ``begin``, ``until``: see `closedchain.results.vibration.spectrum.spectrum`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.figure import Figure

    if not signals:
        raise ModelError("plot_spectrum needs a signal at least, for instance run['coupler.y1']")
    for x in signals:
        if not hasattr(x, "attrs") or getattr(x, "dims", None) != ("time",):
            raise ModelError(
                "plot_spectrum takes signals over time, for instance run['coupler.y1'] or run.deflection('coupler')"
                f".sel(axis='y'), not {type(x).__name__}"
            )
    units = {x.attrs.get("units", "") for x in signals}
    figure = Figure(figsize=(7.5, 3.6), layout="constrained")
    ax = figure.subplots()
    for k, signal in enumerate(signals):
        lines = spectrum(signal, **options)
        peak = dominant(signal, above=above, below=np.inf if most is None else most, **options)
        name = labels[k] if k < len(labels) else _called(k, signals)
        colour = COLOURS[k % len(COLOURS)]
        ax.semilogy(lines["frequency"][1:], np.maximum(lines[1:], 1e-300), color=colour, label=name)
        ax.plot([peak.frequency], [peak.amplitude], "o", color=colour, markersize=5)
        ax.annotate(
            f"{peak.frequency:.4g} Hz",
            (peak.frequency, peak.amplitude),
            (6, 2),
            textcoords="offset points",
            fontsize="small",
            color=colour,
        )
    heights = np.concatenate([line.get_ydata() for line in ax.get_lines()])
    ax.set_ylim(bottom=max(heights.max() * 1e-7, heights[heights > 0].min() / 2), top=heights.max() * 3)
    ax.set_xlim(0, most)
    ax.set_xlabel("frequency [Hz]")
    ax.set_ylabel(f"amplitude [{units.pop() if len(units) == 1 else 'unit of each'}]")
    ax.grid(alpha=0.3)
    ax.legend(fontsize="small", frameon=False)
    figure.suptitle(f"amplitude spectrum, window {options.get('window', 'hann')!r}", fontsize="medium")
    return saved(figure, path)


def _called(k: int, signals: Sequence[xarray.DataArray]) -> str:
    """What a signal is called in a legend: its name, and its number where several have that name."""
    name = signals[k].name
    if name is None:
        return f"signal {k + 1}"
    same = [i for i, x in enumerate(signals) if x.name == name]
    return str(name) if len(same) == 1 else f"{name}, {same.index(k) + 1}"


# ---- along a beam ----------------------------------------------------------------------------------------------------


def plot_beam(fields: BeamFields, name: str = "Mz", path: Any = None) -> Any:
    """A section force, stress or displacement along a beam: over time and place, and its envelope with the worst time.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.figure import Figure

    needs("plot_beam", fields, BeamFields, "the fields of a beam, run.beam('coupler')")
    values = fields[name]
    if values.ndim != 2:
        raise ModelError(f"{name!r} has several components: take one, for instance 'v' or 'Mz'")
    peak = fields.maximum(name)
    factor, unit = _readable_unit(float(np.nanmax(np.abs(values.values), initial=0.0)), values.attrs["units"])
    y = factor * values.values
    moving = len(fields.t) > 1
    figure = Figure(figsize=(10.5 if moving else 6.5, 3.8), layout="constrained")
    panels = figure.subplots(1, 2 if moving else 1, squeeze=False)[0]
    if moving:
        left = panels[0]
        lowest, most = float(np.nanmin(y)), float(np.nanmax(np.abs(y)))
        signed = lowest < 0
        mesh = left.pcolormesh(
            fields.t,
            fields.x,
            y.T,
            cmap="RdBu_r" if signed else "viridis",
            vmin=-most if signed else 0.0,
            vmax=most,
            shading="auto",
            rasterized=True,
        )
        figure.colorbar(mesh, ax=left, label=f"{name} [{unit}]")
        left.plot([peak.t], [peak.x], "o", mfc="none", mec=INK, clip_on=False)
        left.set(xlabel="time [s]", ylabel="x [m]")
    right = panels[-1]
    worst = int(np.argmin(np.abs(fields.t - peak.t)))
    if moving:
        low, high = np.nanmin(y, axis=0), np.nanmax(y, axis=0)
        right.fill_between(fields.x, low, high, color=COLOURS[0], alpha=0.18, lw=0, label="all times")
    right.plot(fields.x, y[worst], color=COLOURS[0], label=f"t = {peak.t:.4g} s")
    right.plot([peak.x], [factor * peak.value], "o", color=COLOURS[1], label=f"{factor * peak.value:.4g} {unit}")
    right.axhline(0, color=INK, lw=0.8)
    right.set(xlabel="x [m]", ylabel=f"{name} [{unit}]")
    right.margins(x=0)
    right.grid(alpha=0.3)
    right.legend(fontsize="small", frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    figure.suptitle(f"{fields.beam.name}: {values.attrs['about']} ({fields.way})", fontsize="medium")
    return saved(figure, path)


# ---- over the workspace ----------------------------------------------------------------------------------------------


def plot_frequencies(found: xarray.Dataset, mode: int | None = None, path: Any = None) -> Any:
    """Natural frequencies over the workspace, from `frequencies_over`: curves over one coordinate, a map over two.

    Parameters
    ----------
    found
        The frequencies.
    mode
        Of a map: which mode. Default: the first.
    path
        Where to save the figure.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.figure import Figure

    if getattr(found, "attrs", {}).get("mechanism") is None or "frequency" not in found:
        raise ModelError(f"plot_frequencies takes what frequencies_over gives, not {type(found).__name__}")
    table = found["frequency"].squeeze([d for d in found["frequency"].dims if d != "mode" and found.sizes[d] == 1])
    over = [str(d) for d in table.dims if d != "mode"]
    figure = Figure(figsize=(7.5, 4.2), layout="constrained")
    ax = figure.subplots()
    if len(over) == 1:
        for k, number in enumerate(table["mode"].values):
            y = table.sel(mode=number).values
            style = ("-", "--", ":")[k // len(COLOURS) % 3]
            ax.plot(
                table[over[0]], np.where(y < 0, np.nan, y), style, color=COLOURS[k % len(COLOURS)], label=str(number)
            )
        ax.set(xlabel=_labelled(found, over[0]), ylabel="frequency [Hz]")
        ax.legend(title="mode", fontsize="small", frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        ax.margins(x=0)
        ax.set_ylim(bottom=0)
        ax.grid(alpha=0.3)
    elif len(over) == 2:
        number = int(table["mode"].values[0]) if mode is None else mode
        if number not in table["mode"].values:
            raise ModelError(f"the frequencies are those of modes 1 to {int(table['mode'].max())}, not of {number}")
        z = table.sel(mode=number).transpose(over[1], over[0])
        filled = ax.contourf(table[over[0]], table[over[1]], z, levels=15, cmap="viridis")
        ax.contour(table[over[0]], table[over[1]], z, levels=filled.levels, colors="white", linewidths=0.4)
        figure.colorbar(filled, ax=ax, label=f"frequency of mode {number} [Hz]")
        ax.set(xlabel=_labelled(found, over[0]), ylabel=_labelled(found, over[1]))
    else:
        raise ModelError(f"frequencies over {', '.join(over)} cannot be drawn: select values of all but two of them")
    held = found.attrs.get("locked")
    figure.suptitle(
        f"{found.attrs['mechanism']}: frequencies{f' with {held} locked' if held else ''}", fontsize="medium"
    )
    return saved(figure, path)


def _labelled(found: xarray.Dataset, name: str) -> str:
    unit = found[name].attrs.get("units") if name in found.coords else None
    return f"{name} [{unit}]" if unit else name


# ---- numbers that are easy to read -----------------------------------------------------------------------------------


def _readable(size: float) -> tuple[float, str]:
    """Factor and unit in which lengths of a size are easy to read."""
    return (1e3, "mm") if 0 < size < 0.1 and size >= 1e-4 else (1e6, "um") if 0 < size < 1e-4 else (1.0, "m")


def _readable_unit(size: float, unit: str) -> tuple[float, str]:
    if unit == "Pa":
        return (1e-6, "MPa") if size >= 1e4 else (1.0, "Pa")
    return _readable(size) if unit == "m" else (1.0, unit)
