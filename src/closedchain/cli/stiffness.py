"""``closedchain stiffness``: how stiff virtual springs must be for a wanted closure error."""

from __future__ import annotations

from typing import Annotated

import typer

from closedchain.cli.compare import PICTURES, Plot, as_typed, check_solvers, start_of, target
from closedchain.cli.parts import output, source
from closedchain.cli.parts.exits import GOOD
from closedchain.cli.run import Rtol
from closedchain.progress import Progress, reported


def stiffness(
    where: source.Where,
    error: Annotated[
        float, typer.Option(metavar="NUMBER", help="Largest gap of the loops over the run, m or rad.")
    ] = 1e-4,
    until: Annotated[float, typer.Option(metavar="S", help="End of the runs, s.")] = 0.1,
    damping: Annotated[
        float | None,
        typer.Option(metavar="NUMBER", help="Of the springs; 0 for none. Default: critical for the stiffest closure."),
    ] = None,
    solver: Annotated[str, typer.Option(metavar="NAME", help="'closedchain list solvers' shows the names.")] = "dop853",
    rtol: Rtol = 1e-9,
    plot: Plot = None,
    as_json: output.Json = False,
) -> int:
    """Choose the stiffness of virtual springs for a wanted closure error.

    The error is measured for a range of stiffnesses (Figure 6 of Wang et al. 2002), the smallest that does is chosen
    and checked by a run, and its cost is predicted and counted.

    \b
    Example:
      closedchain stiffness four-bar --error 1e-5 --plot curve.png
    """  # noqa: D301
    with output.only_json(as_json):
        check_solvers([solver])
        picture = target("--plot", plot, PICTURES) if plot is not None else None
        found = source.find(where)
        with Progress(quiet=as_json) as progress:
            from closedchain.results.compare.stiffness import choose_stiffness

            start = start_of(found)
            with reported(progress.count):
                got = as_typed(
                    lambda: choose_stiffness(
                        found.mechanism, start, error, until, damping=damping, solver=solver, rtol=rtol
                    )
                )
        if picture is not None:
            got.plot(picture)
    wrote = [str(picture)] if picture else []
    if as_json:
        names = "mechanism stiffness damping wanted reached slope power predicted evaluations exact_evaluations".split()
        curve = {name: got.dataset[name].values.tolist() for name in ("stiffness", *got.dataset.data_vars)}
        output.print_json({name: getattr(got, name) for name in names} | {"curve": curve, "wrote": wrote})
        return GOOD
    output.show(str(got), *(f"wrote {path}" for path in wrote))
    return GOOD
