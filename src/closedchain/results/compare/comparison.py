"""What `compare` found: as a dataset, a table, a figure and a page."""

from __future__ import annotations

import io
import shutil
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.attached import Attached
from closedchain.close.erls import ERLS
from closedchain.close.formulation import Formulation
from closedchain.integrate.solvers import SOLVERS

if TYPE_CHECKING:
    import xarray
    from rich.table import Table

    from closedchain.look.comparison_page import write_page
    from closedchain.look.plots.comparison import plot

ABOUT = {
    "error": {
        "units": "rad or m",
        "about": "largest error of a coordinate over the run, against the reference",
    },
    "angle_error": {"units": "rad", "about": "the same, of angles"},
    "length_error": {"units": "m", "about": "the same, of lengths"},
    "closure_error": {"units": "m or rad", "about": "largest gap of a loop over the run"},
    "closure_velocity_error": {"units": "m/s or rad/s", "about": "largest rate of a gap"},
    "energy_error": {"units": "J", "about": "largest energy that came from nowhere"},
    "reaction_error": {
        "units": "1",
        "about": "of the closing forces A' lam after the start, over their largest value",
    },
    "steps": {"units": "1", "about": "accepted steps"},
    "rejections": {"units": "1", "about": "rejected steps"},
    "evaluations": {"units": "1", "about": "of the right-hand side"},
    "corrections": {"units": "1", "about": "Newton steps back to the manifold"},
    "run_operations": {
        "units": "1",
        "about": "of all evaluations and corrections of the run; not known for implicit solvers",
    },
    "seconds": {"units": "s", "about": "to march, median of the repeats, without samples"},
    "seconds_to_prepare": {"units": "s", "about": "to trace and compile the formulation"},
}

# columns of the table: heading, variable, format; the first ones stay longest where there is little room
COLUMNS = (
    ("error", "error", "error"),
    ("march", "seconds", "seconds"),
    ("gap", "closure_error", "error"),
    ("evaluations", "evaluations", "count"),
    ("operations", "run_operations", "short"),
    ("force error", "reaction_error", "error"),
    ("energy [J]", "energy_error", "error"),
    ("gap rate", "closure_velocity_error", "error"),
    ("steps", "steps", "count"),
    ("rejected", "rejections", "count"),
    ("prepare", "seconds_to_prepare", "seconds"),
)
ORDER = ("error", "gap", "gap rate", "force error", "energy [J]", "steps", "rejected", "evaluations", "operations",
         "march", "prepare")  # fmt: skip


class Comparison(Attached):
    """What methods, solvers and tolerances are worth on a mechanism, and what they cost.

    Attributes
    ----------
    dataset
        All numbers by method, solver and tolerance, with units; `failure` has the sentence of a run that failed.
    methods
        The formulations by label.
    """

    if TYPE_CHECKING:  # attached by `closedchain.verbs`
        plot = plot
        to_html = write_page

    def __init__(self, dataset: xarray.Dataset, methods: dict[str, Formulation]) -> None:
        self.dataset = dataset
        self.methods = methods

    @property
    def reference(self) -> str:
        """Which run the errors are taken against, and how good it is."""
        return str(self.dataset.attrs["reference"])

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary for each run; what is not known is nan."""
        out = []
        for name in self.dataset["formulation"].values:
            for solver in self.dataset["solver"].values:
                for rtol in self.dataset["rtol"].values:
                    one = self.dataset.sel(formulation=name, solver=solver, rtol=rtol)
                    row = {"method": str(name), "solver": str(solver), "rtol": float(rtol)}
                    row |= {what: float(one[what]) for what in ABOUT}
                    row |= {what: str(one[what].values) for what in ("failure", "complaint")}
                    if row["failure"] or not np.isnan(float(one["steps"])):  # else the method has another solver
                        out.append(row)
        return out

    def failures(self) -> list[str]:
        """A sentence for each run that failed; one for all where they failed in the same way."""
        return self._sentences("failure")

    def complaints(self) -> list[str]:
        """A sentence for each run that is worse than its tolerance promises."""
        return self._sentences("complaint")

    def citations(self) -> list[str]:
        """What to cite for the methods and solvers that were compared."""
        methods = [x.citation() for x in self.methods.values()]
        solvers = [str(x) for x in self.dataset["solver"].values]
        return list(dict.fromkeys(methods + [SOLVERS[x].citation for x in solvers]))

    # ---- as a table --------------------------------------------------------------------------------------------------

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """Headings and rows of the whole table, as text."""
        several = [name for name in ("solver", "rtol") if self.dataset.sizes[name] > 1]
        headings = ["method", *several, *ORDER]
        formats = {heading: (name, form) for heading, name, form in COLUMNS}
        body = []
        for row in self.rows():
            line = [row["method"], *(f"{row[x]:.0e}" if x == "rtol" else row[x] for x in several)]
            for heading in ORDER:
                name, form = formats[heading]
                line.append("failed" if row["failure"] and heading == "error" else text(row[name], form))
            body.append(line)
        return headings, body

    def table(self, width: int | None = None) -> Table:
        """A rich table of at most ``width`` characters: columns that do not fit are left out; None: all of them."""
        from rich import box
        from rich.table import Table
        from rich.text import Text

        headings, body = self.cells()
        shown = _fitting(headings, body, width)
        out = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
        for i in shown:
            name = headings[i]
            left = name in ("method", "solver")
            out.add_column(Text(name), justify="left" if left else "right", overflow="fold", no_wrap=name != "method")
        last = ""
        for line in body:
            # a method is named once
            out.add_row(*(Text("" if i == 0 and line[0] == last else line[i]) for i in shown))
            last = line[0]
        return out

    def notes(self) -> list[str]:
        """What belongs under the table."""
        data = self.dataset
        fixed = [f"{name} {data[name].values[0]}" for name in ("solver",) if data.sizes[name] == 1]
        fixed += [f"rtol {float(data['rtol'][0]):.0e}"] if data.sizes["rtol"] == 1 else []
        elements = any(isinstance(x, ERLS) for x in self.methods.values())
        return [
            f"{data.attrs['mechanism']} from {data.attrs['begin']:g} to {data.attrs['until']:g} s"
            + (f", {', '.join(fixed)}" if fixed else ""),
            "errors (rad, m; forces relative) are the largest over the run; reference: " + self.reference,
            *(["ERLS has finite elements, the reference shapes: its error is the difference of the two"] * elements),
        ]

    def __str__(self) -> str:
        from rich.console import Console

        width = shutil.get_terminal_size((120, 40)).columns
        target = io.StringIO()
        console = Console(file=target, width=width, markup=False, highlight=False, emoji=False, color_system=None)
        console.print(self.table(width))
        console.print()
        for note in self.notes():
            console.print(note)
        for sentence in self.failures():
            console.print(f"failed: {sentence}")
        return "\n".join(line.rstrip() for line in target.getvalue().splitlines())

    def __repr__(self) -> str:
        sizes = self.dataset.sizes
        counts = f"{sizes['formulation']} methods x {sizes['solver']} solvers x {sizes['rtol']} tolerances"
        return f"Comparison({self.dataset.attrs['mechanism']!r}: {counts})"

    def _sentences(self, variable: str) -> list[str]:
        said: dict[tuple[str, str], list[str]] = {}
        for row in self.rows():
            if row[variable]:
                solver = f"{row['solver']} " if self.dataset.sizes["solver"] > 1 else ""
                where = f"{solver}{row['rtol']:.0e}"
                said.setdefault((row["method"], row[variable]), []).append(where)
        runs = self.dataset.sizes["solver"] * self.dataset.sizes["rtol"]
        out = []
        for (method, sentence), places in said.items():
            which = "" if len(places) == runs else f" ({', '.join(places)})"
            out.append(f"{method}{which}: {sentence}")
        return out


def _fitting(headings: Sequence[str], body: Sequence[Sequence[str]], width: int | None) -> list[int]:
    """Indices of the columns that fit into a width, in the order of the table."""
    if width is None:
        return list(range(len(headings)))
    wide = [max(len(x) for x in column) + 2 for column in zip(headings, *body, strict=True)]
    wide[0] = min(wide[0], max(16, width // 3))  # the names of methods may be folded
    shown = [i for i, name in enumerate(headings) if name in ("method", "solver", "rtol")]
    left = width - sum(wide[i] for i in shown)
    for heading, _, _ in COLUMNS:
        i = headings.index(heading)
        if wide[i] > left:
            break
        shown.append(i)
        left -= wide[i]
    return sorted(shown)


def text(x: float, form: str) -> str:
    """A number for a cell: ``error``, ``count``, ``short`` (12.3 M) or ``seconds``; a dash where there is none."""
    if not np.isfinite(x):
        return "-"
    if form == "error":
        return f"{x:.1e}"
    if form == "count":
        return f"{x:.0f}"
    if form == "seconds":
        return f"{1e6 * x:.0f} us" if x < 1e-3 else f"{1e3 * x:.1f} ms" if x < 0.1 else f"{x:.2f} s"
    for size, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if x >= size:
            return f"{x / size:.3g}{letter}"
    return f"{x:.3g}"
