"""``closedchain sweep``: a mechanism at many points, its results in one dataset."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from closedchain.cli.parts import options, output, save, source, values
from closedchain.cli.parts import run_report as report
from closedchain.cli.parts.exits import DOUBTFUL, FAILED, GOOD, INTERRUPTED, WrongUsage, as_typed, fail
from closedchain.cli.parts.grouped import Group, grouped

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    import xarray

MOST_SAID = 5
DISTRIBUTIONS = ("uniform", "normal", "loguniform")


@dataclass(frozen=True, kw_only=True)
class Varied(Group):
    """What is varied."""

    panel = "Points"

    vary: Annotated[
        list[str],
        typer.Option(
            metavar="NAME=VALUES",
            help="What to vary: a list 1e4,1e6, so many from one to another 0.8:1.2:50 (or 1e4:1e8:5:log), or a "
            "distribution, 0.8:1.2 or normal(1,0.05), with --count. Repeatable: all combinations.",
        ),
    ]
    together: Annotated[
        bool, typer.Option("--together", help="Lists go together, value by value, instead of in all combinations.")
    ] = False
    count: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="How many samples of the distributions to draw.")
    ] = None
    sampling: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="How to draw them: latin-hypercube or monte-carlo (independent).",
            show_default="latin-hypercube",
        ),
    ] = None
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Of the random numbers.")] = 0

    def points(self) -> Any:
        """The points of the study, as `sweep` takes them."""
        from closedchain.studies.points import Samples, Together

        varied = {
            name: _values(f"--vary {name}={text}", text, self.count)
            for name, text in values.texts("--vary", self.vary).items()
        }
        how = {} if self.sampling is None else {"sampling": self.sampling}
        if self.count is not None:
            if self.together:
                raise WrongUsage("--together is for lists, and --count for distributions: leave one of them out")
            drawn = {"count": self.count, "seed": self.seed, **how}
            return as_typed(lambda: Samples(varied, **drawn))  # type: ignore[arg-type]
        if how:
            raise WrongUsage("--sampling says how samples are drawn: add --count N")
        return as_typed(lambda: Together(varied)) if self.together else varied


@dataclass(frozen=True, kw_only=True)
class Times(options.Sampled):
    """How long the runs take, and how many times of each are kept; with one, the end."""

    samples: Annotated[int, options.sample_count(least=1)] = 201


@dataclass(frozen=True, kw_only=True)
class Results(options.Saving, options.Answer):
    """What of each run is kept, who computes it, and where it goes."""

    keep: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES", help="Variables or frames to keep over time, separated by commas. Default: coordinates."
        ),
    ] = None
    measures: Annotated[
        list[str] | None,
        typer.Option(
            "--measure",
            metavar="NAME=WORDS",
            help='A number of each run, "fastest=max O\'": max, min, peak, range, mean, rms, first or last of a '
            "variable. Repeatable.",
        ),
    ] = None
    workers: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Compute in so many processes. Default: on all processors."),
    ] = None
    outs: Annotated[list[str] | None, options.out_option("a .nc file, or a .csv with one line for each point")] = None

    def kept(self) -> list[str] | None:
        """Names of what is kept over time; None: the coordinates."""
        return None if self.keep is None else [x.strip() for x in self.keep.split(",") if x.strip()]


@grouped
def sweep(
    drawing: options.Moving,
    varied: Varied,
    times: Times,
    closing: options.Closing,
    solving: options.Solving,
    results: Results,
) -> int:
    """Simulate a mechanism at many points: parameters, starts and numbers of the method.

    Names are those of 'closedchain info'; start.O and "start.O'" are a coordinate and a velocity at the start, k and b
    the stiffness and damping of a spring method. A point that fails is recorded with its reason, and costs no other.

    \b
    Examples:
      closedchain sweep four-bar --vary crank.length=0.8:1.2:50 --vary O.motor=5,6,7 --to study
      closedchain sweep four-bar --method virtual-spring --vary k=1e4:1e8:5:log --measure "gap=max closure_error"
      closedchain sweep four-bar --vary "crank.mass=normal(1,0.05)" --vary start.O=1.4:1.7 --count 1000 --seed 1
    """  # noqa: D301
    with output.only_json(results.as_json):
        found = drawing.find()
        name, end, method = found.mechanism.name, times.end(found), closing.formulation(found.mechanism)
        folder, paths = results.save(), save.targets(results.outs or [], name, save.TABLES)
        points, start = varied.points(), _start(drawing, found)
        solver = solving.solver(method)
        clock = time.perf_counter()
        try:
            with output.bar(quiet=results.as_json):
                from closedchain.studies.sweep import sweep as sweep_

                got = as_typed(
                    lambda: sweep_(
                        found.mechanism,
                        points,
                        end,
                        start=start,
                        keep=results.kept(),
                        measure=values.texts("--measure", results.measures or []),
                        save=folder,
                        executor=results.workers,
                        method=method,
                        solver=solver,
                        rtol=solving.rtol,
                        atol=solving.atol,
                        t_eval=_grid(getattr(start, "t", 0.0), end, times.count()),
                    )
                )
        except KeyboardInterrupt as stop:
            said = str(stop).replace("save=FOLDER", "--to FOLDER")
            return fail(said or "interrupted", INTERRUPTED, results.as_json)
        summary = summarised(got) | {"seconds": time.perf_counter() - clock, "to": results.to}
        written, troubles = save.each(paths, partial(_write, got))
    return _tell(got, summary | {"wrote": written}, troubles, results.as_json)


# ---- what was typed --------------------------------------------------------------------------------------------------


def _start(drawing: options.Moving, found: source.Source) -> Any:
    """How the runs begin, as `sweep` takes it; None: as drawn."""
    from closedchain.studies.start import Start

    if drawing.pose or drawing.rates:
        return Start(drawing.pose or None, velocity=drawing.rates or None)
    return None if found.start is None else found.start()


def _grid(begin: float, end: float, count: int) -> np.ndarray:
    import numpy as np

    return np.linspace(begin, end, count) if count > 1 else np.array([end])


def _values(typed: str, text: str, count: int | None) -> Any:
    import numpy as np
    from scipy import stats

    word, bracket, inside = text.strip().partition("(")
    if bracket:
        pair = [values.number(typed, x) for x in inside.removesuffix(")").split(",")]
        if word not in DISTRIBUTIONS or len(pair) != 2 or not text.strip().endswith(")"):
            raise WrongUsage(f"{typed}: a distribution is uniform(a,b), loguniform(a,b) or normal(mean,sd)")
        if count is None:
            raise WrongUsage(f"{typed}: how many samples? Add --count 1000")
        if word == "normal":
            if not pair[1] > 0:
                raise WrongUsage(f"{typed}: the standard deviation must be positive")
            return stats.norm(*pair)
        return _between(typed, pair[0], pair[1], log=word == "loguniform")
    parts = [part.strip() for part in text.split(":")]
    log = parts[-1] == "log" and len(parts) > 1
    parts = parts[:-1] if log else parts
    if len(parts) == 1:
        return [values.number(typed, part) for part in text.split(",")]
    low, high, *steps = (values.number(typed, part) for part in parts)
    if not steps:
        if count is None:
            raise WrongUsage(f"{typed}: how many? Write {parts[0]}:{parts[1]}:11 for 11 values, or add --count 1000")
        return _between(typed, low, high, log)
    if len(steps) > 1 or steps[0] != int(steps[0]) or steps[0] < 1:
        raise WrongUsage(f"{typed}: write FROM:TO:COUNT with a whole number, for instance 0.8:1.2:50")
    if log and not (low > 0 and high > 0):
        raise WrongUsage(f"{typed}: equal ratios need two positive ends")
    return (np.geomspace if log else np.linspace)(low, high, values.count(typed, steps[0]))


def _between(typed: str, low: float, high: float, log: bool) -> Any:
    from scipy import stats

    if not low < high or (log and low <= 0):
        raise WrongUsage(f"{typed}: the first number must be the smaller one{', and positive' * log}")
    return stats.loguniform(low, high) if log else stats.uniform(low, high - low)


# ---- what came of it -------------------------------------------------------------------------------------------------


def summarised(got: xarray.Dataset) -> dict[str, Any]:
    """A study in a few numbers."""
    import numpy as np

    status = np.asarray(got["status"].values).astype(str)
    reasons, complaints = (np.asarray(got[x].values).astype(str).ravel() for x in ("reason", "complaint"))
    good = np.isin(status, ("finished", "event"))
    failures = []
    for what in dict.fromkeys(status[~good].tolist()):
        where = np.flatnonzero(status.ravel() == what)
        first = int(where[0])
        failures.append(
            {"status": what, "points": len(where), "at": _at(got, status.shape, first), "reason": reasons[first]}
        )
    dims = got["status"].dims
    numbers = [str(x) for x in got.data_vars if got[x].dims == dims and got[x].dtype.kind in "fi" and x != "end"]
    return {
        "mechanism": got.attrs["mechanism_name"],
        "axes": {str(name): got.sizes[name] for name in dims},
        "points": int(status.size),
        "finished": int(good.sum()),
        "method": got.attrs["method"],
        "engine": got.attrs["engine"],
        "numbers": {name: _spread(got, name, good) for name in numbers},
        "failures": failures,
        "complaints": list(dict.fromkeys(x for x in complaints.tolist() if x)),
    }


def _spread(got: xarray.Dataset, name: str, good: np.ndarray) -> dict[str, Any]:
    """Smallest, middle and largest value of the points that are good, and where the largest one is."""
    import numpy as np

    found = np.where(good, np.asarray(got[name].values, float), np.nan)
    if np.isnan(found).all():
        return {"min": None, "median": None, "max": None, "at": ""}
    top = int(np.nanargmax(found))
    low, middle, high = np.nanmin(found), np.nanmedian(found), np.nanmax(found)
    return {"min": low, "median": middle, "max": high, "at": _at(got, found.shape, top)}


def _at(got: xarray.Dataset, shape: tuple[int, ...], number: int) -> str:
    import numpy as np

    place = dict(zip(map(str, got["status"].dims), np.unravel_index(number, shape), strict=True))
    words = []
    for name, coord in got.coords.items():
        if coord.dims and set(coord.dims) <= set(place) and name not in ("point", "sample"):
            words.append(f"{name} = {float(coord.values[place[str(coord.dims[0])]]):.6g}")
    return ", ".join(words)


def _table(summary: dict[str, Any]) -> Any:
    rows = []
    for name, x in summary["numbers"].items():
        cells = ["-" if x[k] is None else f"{x[k]:.6g}" for k in ("min", "median", "max")]
        rows.append([name, *cells, x["at"]])
    return output.table(["of all points", "min", "median", "max", "largest at"], rows, right=["min", "median", "max"])


def _tell(got: xarray.Dataset, summary: dict[str, Any], troubles: list[str], as_json: bool) -> int:
    """Print it; returns the exit code."""
    bad, folder = summary["points"] - summary["finished"], summary["to"]
    nothing = f"no point reached its end: {summary['failures'][0]['reason']}" if not summary["finished"] else ""
    code = FAILED if nothing or troubles else DOUBTFUL if bad or summary["complaints"] else GOOD
    if as_json:
        output.print_json(({"error": nothing} if nothing else {}) | summary)
        return code
    facts = [
        ("points", " x ".join(f"{n} {name}" for name, n in summary["axes"].items())),
        ("finished", f"{summary['finished']} of {summary['points']}"),
        ("method", f"{got.attrs['method']} with {got.attrs['solver']}"),
        ("time", report.seconds(summary["seconds"])),
    ]
    wrote = [f"wrote {path}" for path in summary["wrote"]]
    output.show(output.facts(summary["mechanism"], facts), _table(summary), *wrote)
    if folder is not None:
        there = f"{folder.rstrip('/')}/results.zarr"
        output.show(f"results are in '{folder}': xarray.open_zarr('{there}', consolidated=False)")
    for failure in summary["failures"][:MOST_SAID]:
        count = f"{failure['points']} point{'s' * (failure['points'] > 1)}"
        output.say(
            "warning", f"{count} failed ({failure['status']}), the first at {failure['at']}: {failure['reason']}"
        )
    for complaint in summary["complaints"][:MOST_SAID]:
        output.say("warning", complaint)
    for trouble in troubles:
        output.say("error", trouble)
    return fail(nothing, FAILED, as_json) if nothing else code


def _write(got: xarray.Dataset, path: Path) -> None:
    from closedchain.results.files import save_csv, save_netcdf

    if path.suffix == ".nc":
        text = {x: got[x].astype(str).astype(object) for x in ("status", "reason", "complaint")}
        save_netcdf(got.assign(text), path)
    else:
        inner = [d for d in got.dims if d not in got["status"].dims]
        save_csv(got.drop_dims(inner).to_dataframe(), path)
