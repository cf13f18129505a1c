"""``closedchain recommend``: which method and solver to use for a mechanism, and why."""

from __future__ import annotations

from typing import Annotated

import typer

from closedchain.cli.compare import Until, as_typed, start_of
from closedchain.cli.parts import output, source
from closedchain.cli.parts.exits import GOOD
from closedchain.progress import Progress, reported


def recommend(
    where: source.Where,
    until: Until = None,
    rtol: Annotated[float, typer.Option(metavar="NUMBER", help="The tolerance that runs are going to have.")] = 1e-8,
    as_json: output.Json = False,
) -> int:
    """Recommend a method and a solver for a mechanism, with reasons measured on it.

    The exact methods are run with all solvers that choose their steps, and compared by the operations that they need
    for the same error. Redundant closures, singular poses on the way and stiffness are looked for.
    """
    with output.only_json(as_json):
        found = source.find(where)
        end = found.until if until is None else until
        with Progress(quiet=as_json) as progress:
            from closedchain.results.compare.recommend import recommend as recommend_

            start = start_of(found)
            with reported(progress.count):
                got = as_typed(lambda: recommend_(found.mechanism, start, end, rtol=rtol))
    if as_json:
        output.print_json(
            {
                "mechanism": got.mechanism,
                "method": repr(got.method),
                "solver": got.solver,
                "rtol": got.rtol,
                "reasons": list(got.reasons),
                "runs": got.comparison.rows(),
            }
        )
        return GOOD
    output.show(str(got))
    return GOOD
