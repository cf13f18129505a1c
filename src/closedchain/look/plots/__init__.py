"""Figures with axes: variables over time, beams, efforts, comparisons, stiffness.

Objects draw themselves (``run.plot()``, ``modes.plot()``); `cc.plot` has the functions for data sets.

Not known here: how numbers are computed.
"""

from closedchain.look.plots.flexible import plot_frequencies as frequencies
from closedchain.look.plots.flexible import plot_spectrum as spectrum

__all__ = ["frequencies", "spectrum"]
