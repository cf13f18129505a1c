"""``closedchain recommend``: which method and solver to use for a mechanism, and why."""

from __future__ import annotations

from closedchain.cli.parts import options, output
from closedchain.cli.parts.exits import GOOD, as_typed
from closedchain.cli.parts.grouped import grouped


@grouped
def recommend(drawing: options.Moving, span: options.Span, tolerance: options.Tolerance, answer: options.Answer) -> int:
    """Recommend a method and a solver for a mechanism, with reasons measured on it.

    The exact methods are run with all solvers that choose their steps, and compared by the operations that they need
    for the same error. Redundant closures, singular poses on the way and stiffness are looked for. --rtol is the
    tolerance that your runs are going to have.
    """
    with output.only_json(answer.as_json):
        found = drawing.find()
        end = span.end(found)
        with output.bar(quiet=answer.as_json):
            from closedchain.results.compare.recommend import recommend as recommend_

            start = drawing.start(found)
            got = as_typed(lambda: recommend_(found.mechanism, start, end, rtol=tolerance.rtol))
    if answer.as_json:
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
