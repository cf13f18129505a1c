"""``closedchain stiffness``: how stiff virtual springs must be for a wanted closure error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from closedchain.cli.parts import options, output, save
from closedchain.cli.parts.exits import GOOD, as_typed
from closedchain.cli.parts.grouped import Group, grouped


@dataclass(frozen=True, kw_only=True)
class Springs(Group):
    """Of the virtual springs."""

    panel = "Springs"

    error: Annotated[float, typer.Option(metavar="NUMBER", help="Largest gap of the loops over the run, m or rad.")] = (
        1e-4
    )
    damping: Annotated[
        float | None,
        typer.Option(metavar="NUMBER", help="0 for none.", show_default="critical for the stiffest closure"),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Short(options.Span):
    """A short run shows how stiff springs must be."""

    until: options.Until = 0.1


@dataclass(frozen=True, kw_only=True)
class Solver(options.Tolerance, options.SolverName):
    """Springs are stiff: errors of steps must be smaller than what is measured."""

    rtol: options.Rtol = 1e-9


@dataclass(frozen=True, kw_only=True)
class Results(options.Answer):
    """What is written."""

    outs: Annotated[list[str] | None, options.out_option("a picture (.png, .svg, .pdf)")] = None


@grouped
def stiffness(drawing: options.Moving, springs: Springs, span: Short, solving: Solver, results: Results) -> int:
    """Choose the stiffness of virtual springs for a wanted closure error.

    The error is measured for a range of stiffnesses (Figure 6 of Wang et al. 2002), the smallest that does is chosen
    and checked by a run, and its cost is predicted and counted.

    \b
    Example:
      closedchain stiffness four-bar --error 1e-5 --out curve.png
    """  # noqa: D301
    with output.only_json(results.as_json):
        solver = solving.name() or "dop853"
        found = drawing.find()
        files = save.targets(results.outs or [], found.mechanism.name, save.PICTURES)
        until = span.end(found)
        with output.bar(quiet=results.as_json):
            from closedchain.results.compare.stiffness import choose_stiffness

            start = drawing.start(found)
            got = as_typed(
                lambda: choose_stiffness(
                    found.mechanism,
                    start,
                    springs.error,
                    until,
                    damping=springs.damping,
                    solver=solver,
                    rtol=solving.rtol,
                )
            )
        for path in files:
            got.plot(path)
    wrote = [str(path) for path in files]
    if results.as_json:
        names = "mechanism stiffness damping wanted reached slope power predicted evaluations exact_evaluations".split()
        curve = {name: got.dataset[name].values.tolist() for name in ("stiffness", *got.dataset.data_vars)}
        output.print_json({name: getattr(got, name) for name in names} | {"curve": curve, "wrote": wrote})
        return GOOD
    output.show(str(got), *(f"wrote {path}" for path in wrote))
    return GOOD
