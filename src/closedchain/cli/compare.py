"""``closedchain compare``: a mechanism under many methods, solvers and tolerances."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from closedchain.cli.parts import options, output, save, values
from closedchain.cli.parts.exits import FAILED, GOOD, WrongUsage, as_typed, fail
from closedchain.cli.parts.grouped import Group, grouped

if TYPE_CHECKING:
    from closedchain.close.formulation import Formulation
    from closedchain.integrate.solvers import Solver
    from closedchain.results.compare.comparison import Comparison

ENDINGS = (".html", *save.PICTURES)
USUAL = "dop853,dopri5"  # solvers, with those of methods that these do not march


@dataclass(frozen=True, kw_only=True)
class Compared(Group):
    """What is compared."""

    panel = "Methods and solvers"

    methods: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Names of 'closedchain list methods', separated by commas.",
            show_default="all but erls, and springs of three stiffnesses",
        ),
    ] = None
    solvers: Annotated[
        str, typer.Option(metavar="NAMES", help="Names of 'closedchain list solvers', separated by commas.")
    ] = USUAL
    tolerances: Annotated[
        str, typer.Option(metavar="NUMBERS", help="Relative tolerances of a step, separated by commas.")
    ] = "1e-5,1e-7,1e-9"
    step: Annotated[
        float | None,
        typer.Option(metavar="S", help="For rk4: length of a step at the loosest tolerance, s; shorter at others."),
    ] = None

    def formulations(self) -> list[Formulation] | None:
        """The methods; None: all."""
        typed = None if self.methods is None else values.names("--methods", self.methods)
        return None if typed is None else [options.method_named(name) for name in typed]

    def chosen_solvers(self) -> list[Solver | str] | None:
        """The solvers, those with a fixed step as objects if it was typed; None: the usual ones."""
        from closedchain.results.compare.compare import MOST_STEPS

        typed = values.names("--solvers", self.solvers)
        fixed = [name for name in typed if not options.solver_named(name).adaptive]
        if self.step is None:
            return None if self.solvers == USUAL else [*typed]
        if not fixed:
            raise WrongUsage(f"--step is for solvers with a fixed one, as rk4: --solvers {self.solvers} has none")
        step: dict[str, Any] = {"step": self.step, "max_steps": MOST_STEPS}
        return [as_typed(partial(options.solver_named(x), **step)) if x in fixed else x for x in typed]


@dataclass(frozen=True, kw_only=True)
class Results(options.Answer):
    """What is written."""

    outs: Annotated[
        list[str] | None, options.out_option("a page (.html) with figure and table, or the figure (.png, .svg, .pdf)")
    ] = None


@grouped
def compare(drawing: options.Moving, span: options.Span, compared: Compared, results: Results) -> int:
    """Compare methods, solvers and tolerances on a mechanism: how good each run is, and what it costs.

    Errors are taken against a reference run. A run that fails is a line of the table, and its reason is told below. In
    a narrow terminal some columns are left out; a pipe, --out and --json have them all.

    \b
    Examples:
      closedchain compare four-bar --out four-bar.html
      closedchain compare gough-stewart --until 0.5 --methods multipliers,projection --tolerances 1e-6,1e-9
    """  # noqa: D301
    with output.only_json(results.as_json):
        methods, solvers = compared.formulations(), compared.chosen_solvers()
        tolerances = [values.number("--tolerances", x) for x in values.names("--tolerances", compared.tolerances)]
        found = drawing.find()
        files = save.targets(results.outs or [], found.mechanism.name, ENDINGS)
        end = span.end(found)
        with output.bar(quiet=results.as_json):
            from closedchain.results.compare.compare import compare as compare_

            start = drawing.start(found)
            got = as_typed(lambda: compare_(found.mechanism, start, end, methods, solvers, tolerances))
        for path in files:
            if path.suffix == ".html":
                got.to_html(path)
            else:
                got.plot(path)

    wrote = [str(path) for path in files]
    nothing = all(row["failure"] for row in got.rows())
    error = {"error": "no run reached its end: " + got.failures()[0]} if nothing else {}
    if results.as_json:
        output.print_json(error | _content(got) | {"wrote": wrote})
        return FAILED if nothing else GOOD
    output.show(got.table(output.console().width), *got.notes())
    for sentence in got.failures():
        output.say("note", f"failed: {sentence}")
    for sentence in got.complaints():
        output.say("note", sentence)
    output.show(*(f"wrote {path}" for path in wrote))
    return fail(error["error"], FAILED, False) if nothing else GOOD


def _content(got: Comparison) -> dict[str, Any]:
    data = got.dataset
    kinds = data["operations"]
    return {
        **{name: data.attrs[name] for name in ("mechanism", "begin", "until", "reference", "uncertainty")},
        "runs": got.rows(),
        "operations": {
            name: {str(kind): kinds.sel(formulation=name, kind=kind).item() for kind in kinds["kind"].values}
            for name in got.methods
        },
        "citations": got.citations(),
    }
