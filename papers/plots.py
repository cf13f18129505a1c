"""How figures of all papers look."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

# distinguishable with all common kinds of colour vision (Okabe and Ito 2008, jfly.uni-koeln.de/color)
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#444444", "#9a9a9a")
WIDTH, HEIGHT = 4.4, 3.1  # inches of a panel


def panels(*titles: str, x: str = "t [s]", y: str | Sequence[str] = "") -> tuple[Figure, list[Axes]]:
    """A figure with panels side by side, each with its title and labels of its axes."""
    figure = Figure(figsize=(WIDTH * len(titles), HEIGHT), layout="constrained")
    axes = list(figure.subplots(1, len(titles), squeeze=False)[0])
    labels = [y] * len(titles) if isinstance(y, str) else y
    for ax, title, label in zip(axes, titles, labels, strict=True):
        ax.set_title(title, fontsize=10)
        ax.set_xlabel(x)
        ax.set_ylabel(label)
        ax.grid(color="#dddddd", linewidth=0.6)
        ax.set_prop_cycle(color=COLOURS)
    return figure, axes


def legend(*axes: Axes) -> None:
    """A small legend in each panel."""
    for ax in axes:
        ax.legend(fontsize=8, frameon=False)
