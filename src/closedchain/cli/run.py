"""``closedchain run``: simulate a mechanism."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from closedchain.cli.parts import output, save, source, values
from closedchain.cli.parts import run_report as report
from closedchain.cli.parts.exits import DOUBTFUL, FAILED, GOOD, INTERRUPTED, WrongUsage
from closedchain.errors import Interrupted, ModelError, RunError, RunWarning
from closedchain.progress import Progress, reported

if TYPE_CHECKING:
    from pathlib import Path

    from closedchain.close.formulation import Formulation
    from closedchain.parallel.teams import Partition
    from closedchain.pose.state import State
    from closedchain.results.run import Run

Method = Annotated[
    str, typer.Option(metavar="NAME", help="How loops are closed; 'closedchain list methods' shows the names.")
]
Rtol = Annotated[float, typer.Option(metavar="NUMBER", help="Relative tolerance of a step.")]
Atol = Annotated[float | None, typer.Option(metavar="NUMBER", help="Absolute tolerance of a step. Default: by size.")]
Step = Annotated[
    float | None, typer.Option(metavar="S", help="Length of a step, s, for solvers with a fixed one (rk4).")
]


def run(
    where: source.Where,
    until: Annotated[
        float | None,
        typer.Option(metavar="S", help="End of the run, s. Default: the mechanism's usual run; 1 for a file."),
    ] = None,
    method: Method = "multipliers",
    solver: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="'closedchain list solvers' shows the names. Default: dop853, or the method's own."
        ),
    ] = None,
    rtol: Rtol = 1e-8,
    atol: Atol = None,
    step: Step = None,
    max_steps: Annotated[int, typer.Option(metavar="N", min=1, help="Give up after so many steps.")] = 10_000_000,
    sets: source.Sets = None,
    holds: source.Holds = None,
    velocities: Annotated[
        list[str] | None,
        typer.Option("--velocity", metavar="JOINT=VALUE", help="Start with this velocity, rad/s or m/s. Repeatable."),
    ] = None,
    samples: Annotated[int, typer.Option(metavar="N", min=2, help="How many equally spaced times to keep.")] = 201,
    save_to: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="Write samples there as they come, and what is needed to go on; the same command goes on after a "
            "crash or Ctrl-C.",
        ),
    ] = None,
    distributed: Annotated[
        bool, typer.Option("--distributed", help="Limbs over the ranks of an MPI job: mpiexec -n 4 closedchain run ...")
    ] = False,
    threads: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Limbs over so many threads of this process.")
    ] = None,
    shares: Annotated[
        list[str] | None,
        typer.Option(
            "--limbs",
            metavar="NAMES",
            help="Limbs of the next rank or thread, separated by commas; once for each of them. Default: shared out by "
            "operation counts.",
        ),
    ] = None,
    closing: Annotated[
        str,
        typer.Option(metavar="WHO", help="Who computes what several ranks or threads need: everyone, or the master."),
    ] = "everyone",
    outs: Annotated[
        list[str] | None,
        typer.Option(
            "--out",
            metavar="FILE|FOLDER",
            help="Write a .nc, .csv or .png file, or all three into a folder. Repeatable.",
        ),
    ] = None,
    plots: Annotated[
        list[str] | None,
        typer.Option(
            "--plot",
            metavar="NAMES",
            help="Variables in the .png, separated by commas. Default: all coordinates. Without --out the picture goes "
            "into ./out.",
        ),
    ] = None,
    as_json: output.Json = False,
) -> int:
    """Simulate a mechanism, and say how good the result is.

    The mechanism comes from the library, or from a Python file that defines 'mechanism' (a cc.Mechanism, or a function
    that returns one) and, if it likes, 'start' (a cc.State, or a function of the mechanism that returns one).

    Ctrl-C stops the run; what was computed until then is reported, and written if --out is given.

    \b
    Examples:
      closedchain run four-bar --until 5 --set O.motor=8 --out four-bar.csv
      closedchain run four-bar --hold O=45*deg --plot O,C,closure_error
      closedchain run my_robot.py --solver rk4 --step 1e-3 --out results/
      closedchain run four-bar --until 1000 --samples 1000001 --save-to long-run
      mpiexec -n 3 closedchain run gough-stewart --method operational-space --distributed
    """  # noqa: D301
    partition = _partition(distributed, threads, shares, closing)
    if partition is not None and not partition.leads:
        output.be_silent()  # one rank speaks for all
    with output.only_json(as_json):
        how = formulation(method)
        solver = usual(how) if solver is None else solver
        names = [name.strip() for group in plots or [] for name in group.split(",") if name.strip()]

        def drawn() -> tuple[source.Source, float, list[Path]]:
            found = source.find(where)
            m = found.mechanism
            end = found.until if until is None else until
            _check_options(solver, end, rtol, atol, step, max_steps)
            _set(m.parameters, values.assignments("--set", sets or []))
            if save_to is not None:
                save.typed("--save-to", save_to)
            paths = save.targets(outs or [], m.name)
            if names and not outs:
                paths = [save.folder("out") / f"{save.file_name(m.name)}.png"]
            if names and not any(path.suffix == ".png" for path in paths):
                raise WrongUsage(f"--plot needs a picture: add --out {save.file_name(m.name)}.png, or a folder")
            m.validate()
            return found, end, paths

        def begun() -> State:
            start = _start(found, holds or [], velocities or [])
            if names:
                _check_names(start, how, names)
            return start

        # what fails on one rank fails on all of them: nobody waits for one that is gone
        agreed: Callable[[Callable[[], Any]], Any] = (lambda work: work()) if partition is None else partition.agree
        found, end, paths = agreed(drawn)
        with Progress(end, quiet=as_json) as progress:
            start = agreed(begun)
            options: dict[str, Any] = {"max_steps": max_steps} | ({} if step is None else {"step": step})
            from closedchain.integrate.solvers import SOLVERS

            by = SOLVERS[solver](**options)
            with reported(progress):
                got, error, complaints = kept(
                    start,
                    samples,
                    until=end,
                    method=how,
                    solver=by,
                    rtol=rtol,
                    atol=atol,
                    save=save_to,
                    partition=partition,
                )
        summary = report.summary(got, complaints)
        written, troubles = save.write(got, paths, names) if partition is None or partition.leads else ([], [])

    # tell
    errors = ([error] if error else []) + troubles
    interrupted = got.status.name == "interrupted"
    code = FAILED if errors else INTERRUPTED if interrupted else DOUBTFUL if complaints else GOOD
    if as_json:
        told = errors or (complaints[:1] if interrupted else [])
        output.print_json(({"error": "; ".join(told)} if told else {}) | summary | {"wrote": written})
        return code
    output.show(report.table(summary, _timings(got)), *(f"wrote {path}" for path in written))
    if got.partition is not None:
        output.show(*str(got.partition).splitlines())
        if got.partition.hint:
            output.say("note", got.partition.hint)
    for sentence in summary["record"][:MOST_SAID]:
        output.say("note", sentence)
    if len(summary["record"]) > MOST_SAID:
        output.say("note", f"and {len(summary['record']) - MOST_SAID} more things happened; --json tells all")
    for complaint in complaints:
        output.say("warning", complaint)
    for sentence in errors:
        output.say("error", sentence)
    return code


MOST_SAID = 10


def _partition(distributed: bool, threads: int | None, shares: list[str] | None, closing: str) -> Partition | None:
    """The team that was asked for, if any."""
    if distributed and threads is not None:
        raise WrongUsage("--distributed or --threads, not both")
    if not distributed and threads is None:
        if shares:
            raise WrongUsage("--limbs says who has which limb: add --threads N, or --distributed under mpiexec")
        if closing != "everyone":
            raise WrongUsage("--closing says who computes what several need: add --threads N, or --distributed")
        return None
    from closedchain.parallel.teams import Ranks, Threads

    limbs = [[name.strip() for name in group.split(",")] for group in shares] if shares else None
    made = _as_typed(lambda: Ranks(limbs, closing) if distributed else Threads(threads or 1, limbs, closing))
    if distributed and made.members == 1:
        output.say("note", "there is one rank only: start several with 'mpiexec -n 4 closedchain run ...'")
    return made


def usual(method: Formulation) -> str:
    """The solver of a method, if none is named."""
    from closedchain.march.options import usual_solver

    return usual_solver(method)


def formulation(name: str) -> Formulation:
    """The method of a name."""
    from closedchain.arguments import suggest
    from closedchain.close.methods import METHODS

    if name == "erls":
        raise WrongUsage("'closedchain erls' runs finite elements: this command has shapes of flexible links")
    if name not in METHODS:
        raise WrongUsage(f"there is no method {name!r}{suggest(name, METHODS)} ('closedchain list methods' shows all)")
    return METHODS[name]


def march(
    start: State, samples: int = 201, *, until: float, solver: Any = "dop853", **options: Any
) -> tuple[Run, str | None, list[str]]:
    """A simulation whose failures are values: the run as far as it got, an error, and the complaints of its checks."""
    import numpy as np

    from closedchain.integrate.solvers import named
    from closedchain.integrate.times import Every
    from closedchain.results.run import Run
    from closedchain.simulation import simulate

    # Numba and the compiled solver are loaded here, so that the time of the march is that of the march
    clock = time.perf_counter()
    named(solver).load()
    loaded = time.perf_counter() - clock
    times: Any = None
    if options.get("save") is None:
        times = np.linspace(0.0, until, values.count("--samples", samples))
    else:
        times = Every(abs(until) / (samples - 1))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RunWarning)
        try:
            got, error = simulate(start.mechanism, start, until, t_eval=times, solver=solver, **options), None
        except RunError as failure:
            if not isinstance(failure.run, Run):
                raise
            got, error = failure.run, str(failure)
    got.seconds["load"] = loaded
    complaints = [str(w.message) for w in caught if issubclass(w.category, RunWarning)]
    for other in caught:
        if not issubclass(other.category, RunWarning):
            output.say("note", f"{other.category.__name__}: {other.message}")
    return got, error, complaints


def kept(start: State, samples: int, **options: Any) -> tuple[Run, str | None, list[str]]:
    """The same; what Ctrl-C left of the run is a value, too."""
    try:
        return march(start, samples, **options)
    except Interrupted as stop:
        run: Any = stop.run
        if run is None or run.complete:
            raise
        return run, None, run.complaints()


# ---- what was typed -------------------------------------------------------------------------------------------------


def _as_typed(work: Callable[[], Any]) -> Any:
    """Do something that fails only because of what was typed."""
    try:
        return work()
    except ModelError as error:
        raise WrongUsage(str(error)) from error


def _check_options(
    solver: str, until: float, rtol: float, atol: float | None, step: float | None, max_steps: int
) -> None:
    from closedchain.arguments import suggest
    from closedchain.integrate.solvers import SOLVERS
    from closedchain.march.options import end_time, tolerances

    if solver not in SOLVERS:
        raise WrongUsage(
            f"there is no solver {solver!r}{suggest(solver, SOLVERS)} ('closedchain list solvers' shows all)"
        )
    if not SOLVERS[solver].adaptive and step is None:
        raise WrongUsage(f"solver {solver!r} has a fixed step: say how long it is, for instance --step 1e-3")
    if until == 0:
        raise WrongUsage("--until 0: a run needs a length; give the time at which it ends, in s")
    options: dict[str, Any] = {"max_steps": max_steps} | ({} if step is None else {"step": step})
    _as_typed(lambda: (end_time("until", until), tolerances(SOLVERS[solver](**options), rtol, atol)))
    if step is not None and abs(until) / step > max_steps:
        raise WrongUsage(
            f"--step {step:g} makes {abs(until) / step:.3g} steps until {until:g} s, more than {max_steps}: "
            "take longer steps, or raise --max-steps"
        )


def _set(parameters: Any, changes: dict[str, float]) -> None:
    for name, value in changes.items():
        _as_typed(partial(parameters.__setitem__, name, value))


def _start(found: source.Source, holds: list[str], velocities: list[str]) -> State:
    """The state to start from: as typed, else as the file says, else the mechanism's own."""
    hold, velocity = values.pose("--hold", holds), values.assignments("--velocity", velocities)
    if hold or velocity:
        return _as_typed(lambda: found.mechanism.assemble(hold, velocity=velocity))
    return found.start() if found.start is not None else found.mechanism.assemble()


def _check_names(start: State, method: Formulation, names: list[str]) -> None:
    """Look for the variables to plot in a run of no length, before the real one is made."""
    from closedchain.arguments import suggest

    data = march(start, 1, until=0.0, method=method)[0].dataset
    for name in names:
        if name not in data:
            raise WrongUsage(f"--plot: the run will have no variable {name!r}{suggest(name, data.data_vars)}")


def _timings(got: Run) -> tuple[str, str]:
    marching, compiling, loading = (
        report.seconds(x)
        for x in (got.seconds["march"], got.seconds["close"] + got.seconds["compile"], got.seconds.get("load", 0.0))
    )
    cached = " (machine code from the cache)" if got.program.rhs.timings.cached else ""
    return "time", f"{marching} to march, {compiling} to close and compile{cached}, {loading} to load the solver"
