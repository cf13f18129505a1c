"""``closedchain run``: simulate a mechanism."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from closedchain.cli.parts import options, output, reactions_report, save, source
from closedchain.cli.parts import run_report as report
from closedchain.cli.parts.exits import DOUBTFUL, FAILED, GOOD, INTERRUPTED, WrongUsage, as_typed
from closedchain.cli.parts.grouped import grouped
from closedchain.cli.parts.march import kept, march

if TYPE_CHECKING:
    from closedchain.close.formulation import Formulation
    from closedchain.disk.save_to import SaveTo
    from closedchain.integrate.solvers import Solver
    from closedchain.parallel.teams import Partition
    from closedchain.pose.state import State
    from closedchain.results.run import Run

ENDINGS = (*save.TABLES, *save.PICTURES)
DEFLECTION = "deflection"
MOST_SAID = 10


@dataclass(frozen=True, kw_only=True)
class Results(options.Answer):
    """What a run reports and writes."""

    outs: Annotated[list[str] | None, options.out_option("a .nc, .csv, .png, .svg or .pdf file")] = None
    plots: Annotated[
        list[str] | None,
        typer.Option(
            "--plot",
            metavar="NAMES",
            help="Variables in the picture, separated by commas, or 'deflection': how flexible links bend. Default: "
            "all coordinates. Without --out the picture goes into ./out.",
        ),
    ] = None
    reactions: Annotated[str | None, options.REACTIONS] = None

    def names(self) -> list[str]:
        """Variables in the picture."""
        return [name.strip() for group in self.plots or [] for name in group.split(",") if name.strip()]

    def files(self, name: str) -> list[Path]:
        """The files to write, of a mechanism of this name."""
        paths = save.targets(self.outs or [], name, ENDINGS)
        picture = f"{save.file_name(name)}.png"
        if self.names() and not self.outs:
            return [save.folder("out") / picture]
        if self.names() and not any(path.suffix in save.PICTURES for path in paths):
            raise WrongUsage(f"--plot needs a picture: add --out {picture}, or a folder")
        return paths


@dataclass(frozen=True)
class Plan:
    """What was typed, checked: all that can be refused before anything is computed."""

    found: source.Source
    end: float
    method: Formulation
    solver: Solver | None
    save: SaveTo | None
    joints: list[str]
    paths: list[Path]


@grouped
def run(
    drawing: options.Moving,
    times: options.Sampled,
    closing: options.Closing,
    solving: options.Solving,
    team: options.Team,
    saving: options.Saving,
    results: Results,
) -> int:
    """Simulate a mechanism, and say how good the result is.

    The mechanism comes from the library, or from a Python file that defines 'mechanism' (a cc.Mechanism, or a function
    that returns one) and, if it likes, 'start' (a cc.State, or a function of the mechanism that returns one).

    With --method erls flexible links are finite elements on an equivalent rigid-link system (Vidoni et al. 2012);
    other methods take their shape functions.

    Ctrl-C stops the run; what was computed until then is reported, and written if --out is given.

    \b
    Examples:
      closedchain run four-bar --until 5 --set O.motor=8 --out four-bar.csv
      closedchain run four-bar --hold O=45*deg --plot O,C,closure_error
      closedchain run my_robot.py --solver rk4 --step 1e-3 --out results/
      closedchain run flexible-pacdrive --method erls --elements 4
      closedchain run four-bar --until 1000 --samples 1000001 --to long-run
      mpiexec -n 3 closedchain run gough-stewart --partition ranks
    """  # noqa: D301
    partition = _team(team)
    leads = partition is None or partition.leads

    # what fails on one rank fails on all of them: nobody waits for one that is gone
    agreed: Callable[[Callable[[], Any]], Any] = (lambda work: work()) if partition is None else partition.agree
    with output.only_json(results.as_json):
        plan: Plan = agreed(lambda: _plan(drawing, times, closing, solving, saving, results))
        with output.bar(plan.end, quiet=results.as_json):
            start = agreed(lambda: _start(plan, drawing, results.names()))
            got, error, complaints = _of_elements(plan.method)(
                lambda: kept(
                    start,
                    plan.end,
                    times.count(),
                    method=plan.method,
                    solver=plan.solver,
                    rtol=solving.rtol,
                    atol=solving.atol,
                    save=plan.save,
                    partition=partition,
                )
            )
        summary = report.summary(got, complaints)
        carried = {joint: got.reaction(joint) for joint in plan.joints} if leads and len(got.t) else {}
        if carried:
            summary["reactions"] = reactions_report.summary(carried)
        written, troubles = _write(got, plan.paths, results.names(), carried) if leads else ([], [])
    return _tell(got, summary | {"wrote": written}, ([error] if error else []) + troubles, results.as_json)


# ---- what was typed -------------------------------------------------------------------------------------------------


def _team(team: options.Team) -> Partition | None:
    """The team that was asked for; one of its ranks speaks for all."""
    partition = team.team()
    if partition is None:
        return None
    if partition.kind == "rank" and partition.members == 1:
        output.say("note", "there is one rank only: start several with 'mpiexec -n 4 closedchain run ...'")
    if not partition.leads:
        output.be_silent()
    return partition


def _plan(
    drawing: options.Moving,
    times: options.Sampled,
    closing: options.Closing,
    solving: options.Solving,
    saving: options.Saving,
    results: Results,
) -> Plan:
    found = drawing.find()
    end, method = times.end(found), closing.formulation(found.mechanism)
    solver = solving.solver(method)
    solving.check(method, solver, end)
    times.count()
    joints = reactions_report.joints(found.mechanism, results.reactions)
    folder, paths = saving.save(), results.files(found.mechanism.name)
    found.mechanism.validate()
    return Plan(found, end, method, solver, folder, joints, paths)


def _start(plan: Plan, drawing: options.Moving, names: list[str]) -> State:
    """The state to start from; variables to plot are looked for in a run of no length."""
    start = drawing.start(plan.found)
    if plan.end == start.t:
        raise WrongUsage(f"--until {plan.end:g}: a run needs a length; give the time at which it ends, in s")
    if names == [DEFLECTION]:
        if not start.mechanism.flexible:
            raise WrongUsage(f"--plot {DEFLECTION}: {start.mechanism.name!r} has no flexible body")
    elif names:
        from closedchain.arguments import suggest

        shortest = 1e-6 if "elements" in plan.method.kind else 0.0  # these must go somewhere
        until = start.t + shortest * (plan.end - start.t)
        run = _of_elements(plan.method)(lambda: march(start, until, 1 + (shortest > 0), method=plan.method)[0])
        for name in names:
            if name not in run.dataset:
                near = suggest(name, run.dataset.data_vars)
                raise WrongUsage(f"--plot: the run will have no variable {name!r}{near}")
    return start


def _of_elements(method: Formulation) -> Callable[[Callable[[], Any]], Any]:
    """How to do something with a method: finite elements are refused for what was typed, as links that are rigid."""
    return as_typed if "elements" in method.kind else lambda work: work()


# ---- what came of it -------------------------------------------------------------------------------------------------


def _write(run: Run, paths: list[Path], names: list[str], carried: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Write each file; returns those that were written, and a sentence for each that could not be."""
    from closedchain.results.files import save_csv, save_netcdf

    def one(path: Path) -> None:
        if path.suffix in save.PICTURES:
            _draw(run, names, path)
        elif path.suffix == ".nc" and not carried:
            run.to_netcdf(path)
        elif path.suffix == ".nc":
            save_netcdf(reactions_report.beside(run.dataset, carried), path)
        else:
            data = reactions_report.beside(run.dataset, carried)
            save_csv(data.drop_dims([d for d in data.dims if d != "time"]).to_dataframe(), path)

    return save.each(paths, one)


def _draw(run: Run, names: list[str], path: Path) -> None:
    if names == [DEFLECTION]:
        run.plot_deflection(path=path)
    else:
        run.plot(*names, path=path)


def _tell(run: Run, summary: dict[str, Any], errors: list[str], as_json: bool) -> int:
    """Print it; returns the exit code."""
    complaints = summary["complaints"]
    interrupted = run.status.name == "interrupted"
    code = FAILED if errors else INTERRUPTED if interrupted else DOUBTFUL if complaints else GOOD
    if as_json:
        told = errors or (complaints[:1] if interrupted else [])
        output.print_json(({"error": "; ".join(told)} if told else {}) | summary)
        return code
    output.show(report.table(summary, report.timings(run)))
    if "reactions" in summary:
        output.show(reactions_report.table(summary["reactions"]))
    output.show(*(f"wrote {path}" for path in summary["wrote"]))
    if run.partition is not None:
        output.show(*str(run.partition).splitlines())
        if run.partition.hint:
            output.say("note", run.partition.hint)
    for sentence in summary["record"][:MOST_SAID]:
        output.say("note", sentence)
    if len(summary["record"]) > MOST_SAID:
        output.say("note", f"and {len(summary['record']) - MOST_SAID} more things happened; --json tells all")
    for complaint in complaints:
        output.say("warning", complaint)
    for sentence in errors:
        output.say("error", sentence)
    return code
