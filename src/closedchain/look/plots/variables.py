"""Plots of a run over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from closedchain.results.files import saved

if TYPE_CHECKING:
    from closedchain.results.run import Run

MANY = 40  # curves: more names than fit beside a panel


def plot(run: Run, *names: str, path: Any = None) -> Any:
    """Plot variables of a run over time, one panel for each unit.

    Parameters
    ----------
    run
        What to plot.
    *names
        Variables of the dataset; default: the coordinates of all joints that move by an angle or a length.
    path
        Where to save the figure; the kind of file follows from the ending.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.figure import Figure

    data = run.dataset
    if not names:
        links = run.topology.links
        names = tuple(label for link in links for label in link.q_labels if data[label].attrs["units"] != "1")
    drawn = {name: run[name] for name in names}
    panels: dict[str, list[str]] = {}
    for name, values in drawn.items():
        panels.setdefault(values.attrs.get("units", ""), []).append(name)
    figure = Figure(figsize=(7.5, 1.2 + 2.2 * len(panels)), layout="constrained")
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for ax, (unit, group) in zip(axes, panels.items(), strict=True):
        for name in group:
            values = drawn[name]
            if values.ndim == 1:
                ax.plot(data["time"], values, label=name)
            else:
                for label in values[values.dims[1]].values:
                    ax.plot(data["time"], values.sel({values.dims[1]: label}), label=f"{name} {label}")
        ax.set_ylabel(unit)
        ax.grid(alpha=0.3)
        if len(ax.get_lines()) <= MANY:
            ax.legend(
                fontsize="small",
                ncols=2 if len(group) > 4 else 1,
                loc="upper left",
                bbox_to_anchor=(1.0, 1.0),
                frameon=False,
            )
        else:
            ax.set_title(f"{', '.join(group)}: {len(ax.get_lines())} curves", fontsize="small", loc="left")
    axes[-1].set_xlabel("time [s]")
    title = f"{run.mechanism.name}: {type(run.method).__name__}, {run.solver}, rtol {run.rtol:g}"
    figure.suptitle(title + ("" if run.complete else " (incomplete)"), fontsize="medium")
    return saved(figure, path)
