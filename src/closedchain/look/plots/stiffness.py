"""The error-against-stiffness curve (Figure 6 of Wang et al. 2002), and what the stiffness costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.results.compare.trial import number
from closedchain.results.files import saved

if TYPE_CHECKING:
    from closedchain.results.compare.stiffness import StiffnessChoice


def plot(choice: StiffnessChoice, path: Any = None) -> Any:
    """Errors and evaluations against stiffness, with the choice marked.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.figure import Figure

    data = choice.dataset
    k = data["stiffness"].values
    figure = Figure(figsize=(10.0, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(k, data["closure_error"], "o-", color="#C0392B", label="gap of the loops, largest over the run")
    left.plot(
        k,
        data["closure_error_at_end"],
        "s--",
        color="#E67E73",
        markersize=4,
        label="gap at the end, norm of all rows",
    )
    left.plot(k, data["motion_error"], "^-", color="#0072B2", label="motion, against the exact run")
    fit = 10 ** (data.attrs["intercept"] + choice.slope * np.log10(k))
    left.plot(k, fit, color="#888888", linewidth=1, linestyle=":", label=f"fit, slope {choice.slope:.2f}")
    left.axhline(choice.wanted, color="#444444", linewidth=0.8)
    left.annotate(
        "wanted", (k[0], choice.wanted), (2, 3), textcoords="offset points", fontsize="small", color="#444444"
    )
    left.plot([choice.stiffness], [choice.reached], "*", color="#000000", markersize=14, label="chosen")
    left.set(ylabel="error [m or rad]")

    right.plot(k, data["evaluations"], "o", color="#C0392B", label="counted")
    fit = 10 ** (data.attrs["cost_intercept"] + choice.power * np.log10(k))
    right.plot(k, fit, ":", color="#888888", linewidth=1, label=f"fit, k^{choice.power:.2f}")
    right.plot([choice.stiffness], [choice.evaluations], "*", color="#000000", markersize=14, label="chosen")
    right.axhline(choice.exact_evaluations, color="#0072B2", linewidth=1.2, label="Multipliers")
    right.set(ylabel="evaluations of the right-hand side")
    for ax in (left, right):
        ax.set(xscale="log", yscale="log", xlabel="stiffness [N/m or N m/rad]")
        ax.grid(alpha=0.25)
        ax.legend(fontsize="small", frameon=False)
    until = data.attrs["until"]
    title = f"{choice.mechanism} until {until:g} s: k = {number(choice.stiffness)}, b = {number(choice.damping)}"
    figure.suptitle(title, fontsize="medium")
    return saved(figure, path)
