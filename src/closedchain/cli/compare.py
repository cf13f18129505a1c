"""``closedchain compare``: a mechanism under many methods, solvers and tolerances."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from closedchain.cli.parts import output, save, source
from closedchain.cli.parts.exits import FAILED, GOOD, WrongUsage, fail
from closedchain.cli.parts.values import names
from closedchain.cli.run import formulation
from closedchain.errors import ModelError
from closedchain.progress import Progress, reported

if TYPE_CHECKING:
    from closedchain.close.formulation import Formulation
    from closedchain.pose.state import State
    from closedchain.results.compare.comparison import Comparison

PICTURES = (".png", ".svg", ".pdf")
Until = Annotated[
    float | None,
    typer.Option(metavar="S", help="End of the runs, s. Default: the mechanism's usual run; 1 for a file."),
]
Plot = Annotated[str | None, typer.Option(metavar="FILE", help="Draw it: a .png, .svg or .pdf file.")]


def compare(
    where: source.Where,
    until: Until = None,
    methods: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Names of 'closedchain list methods', separated by commas. Default: all, and springs of three "
            "stiffnesses. 'erls': finite elements of flexible links.",
        ),
    ] = None,
    solvers: Annotated[
        str, typer.Option(metavar="NAMES", help="Names of 'closedchain list solvers', separated by commas.")
    ] = "dop853,dopri5",
    rtol: Annotated[str, typer.Option(metavar="NUMBERS", help="Tolerances, separated by commas.")] = "1e-5,1e-7,1e-9",
    step: Annotated[
        float | None,
        typer.Option(metavar="S", help="For rk4: the length of a step at the loosest tolerance, s; shorter at others."),
    ] = None,
    html: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write a page with the figure and the table.")
    ] = None,
    plot: Plot = None,
    as_json: output.Json = False,
) -> int:
    """Compare methods, solvers and tolerances on a mechanism: how good each run is, and what it costs.

    Errors are taken against a reference run. A run that fails is a line of the table, and its reason is told below. In
    a narrow terminal some columns are left out; a pipe, --html and --json have them all.

    \b
    Examples:
      closedchain compare four-bar --html four-bar.html
      closedchain compare gough-stewart --until 0.5 --methods multipliers,projection --rtol 1e-6,1e-9
    """  # noqa: D301
    with output.only_json(as_json):
        chosen = None if methods is None else [method(name) for name in names("--methods", methods)]
        by, tolerances = names("--solvers", solvers), numbers("--rtol", rtol)
        check_solvers(by)
        pages = [target("--html", html, (".html",))] if html is not None else []
        pictures = [target("--plot", plot, PICTURES)] if plot is not None else []
        found = source.find(where)
        end = found.until if until is None else until
        with Progress(quiet=as_json) as progress:
            from closedchain.results.compare.compare import compare as compare_

            start = start_of(found)
            solvers = as_typed(lambda: [_solver(name, step) for name in by])
            with reported(progress.count):
                got = as_typed(lambda: compare_(found.mechanism, start, end, chosen, solvers, tolerances))
        for path in pages:
            got.to_html(path)
        for path in pictures:
            got.plot(path)

    wrote = [str(path) for path in (*pages, *pictures)]
    nothing = all(row["failure"] for row in got.rows())
    error = {"error": "no run reached its end: " + got.failures()[0]} if nothing else {}
    if as_json:
        output.print_json(error | _content(got) | {"wrote": wrote})
        return FAILED if nothing else GOOD
    output.show(got.table(output.console().width), *got.notes())
    for sentence in got.failures():
        output.say("note", f"failed: {sentence}")
    for sentence in got.complaints():
        output.say("note", sentence)
    output.show(*(f"wrote {path}" for path in wrote))
    return fail(error["error"], FAILED, as_json) if nothing else GOOD


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


# ---- what was typed -------------------------------------------------------------------------------------------------


def method(name: str) -> Formulation:
    """The method of a name; finite elements can be compared, too."""
    from closedchain.close.erls import ERLS

    return ERLS() if name == "erls" else formulation(name)


def _solver(name: str, step: float | None) -> Any:
    """A solver with the step that was typed, if it has a fixed one."""
    from closedchain.integrate.solvers import SOLVERS

    kind = SOLVERS[name]
    return name if step is None or kind.adaptive else kind(max_steps=100_000, step=step)  # type: ignore[call-arg]


def numbers(option: str, typed: str) -> list[float]:
    """Numbers separated by commas."""
    out = []
    for word in names(option, typed):
        try:
            out.append(float(word))
        except ValueError:
            raise WrongUsage(f"{option}: {word!r} is not a number") from None
    return out


def check_solvers(by: list[str]) -> None:
    """Say which solver does not exist."""
    from closedchain.arguments import suggest
    from closedchain.integrate.solvers import SOLVERS

    for solver in by:
        if solver not in SOLVERS:
            raise WrongUsage(
                f"there is no solver {solver!r}{suggest(solver, SOLVERS)} ('closedchain list solvers' shows all)"
            )


def target(option: str, typed: str, endings: tuple[str, ...]) -> Path:
    """A file to write, with its folder made, so that long work does not end at a typing error."""
    path = save.typed(option, typed)
    if path.suffix not in endings:
        raise WrongUsage(f"{option} {typed}: the file must end in {' or '.join(endings)}")
    save.folder(path.parent, option)
    return path


def as_typed(work: Callable[[], Any]) -> Any:
    """Do something that a `ModelError` ends only because of what was typed."""
    try:
        return work()
    except ModelError as error:
        raise WrongUsage(str(error)) from error


def start_of(found: source.Source) -> State:
    """The start that the file or the mechanism wants."""
    return found.start() if found.start is not None else found.mechanism.assemble()
