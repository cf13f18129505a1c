"""``closedchain sweep``: a mechanism at many points, its results in one dataset."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from closedchain.cli.compare import as_typed, target
from closedchain.cli.parts import output, save, source, values
from closedchain.cli.parts import run_report as report
from closedchain.cli.parts.exits import DOUBTFUL, FAILED, GOOD, INTERRUPTED, WrongUsage, fail
from closedchain.cli.run import Atol, Method, Rtol, Step, formulation
from closedchain.progress import Progress, reported

if TYPE_CHECKING:
    import numpy as np
    import xarray

MOST_SAID = 5
DISTRIBUTIONS = ("uniform", "normal", "loguniform")


def sweep(
    where: source.Where,
    vary: Annotated[
        list[str],
        typer.Option(
            metavar="NAME=VALUES",
            help="What to vary: a list 1e4,1e6, so many from one to another 0.8:1.2:50 (or 1e4:1e8:5:log), or a "
            "distribution, 0.8:1.2 or normal(1,0.05), with --samples. Repeatable: all combinations.",
        ),
    ],
    until: Annotated[
        float | None,
        typer.Option(metavar="S", help="End of the runs, s. Default: the mechanism's usual run; 1 for a file."),
    ] = None,
    together: Annotated[
        bool, typer.Option("--together", help="Lists go together, value by value, instead of in all combinations.")
    ] = False,
    samples: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="How many samples of the distributions to draw.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Where random numbers come from.")] = 0,
    monte_carlo: Annotated[
        bool, typer.Option("--monte-carlo/--latin", help="Independent samples, or a Latin hypercube.")
    ] = False,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="Write results there as they come (Zarr); the same command goes on after a crash or Ctrl-C.",
        ),
    ] = None,
    keep: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES", help="Variables or frames to keep over time, separated by commas. Default: coordinates."
        ),
    ] = None,
    measures: Annotated[
        list[str] | None,
        typer.Option(
            "--measure",
            metavar="NAME=WORDS",
            help='A number of each run, "fastest=max O\'": max, min, peak, range, mean, rms, first or last of a '
            "variable. Repeatable.",
        ),
    ] = None,
    times: Annotated[int, typer.Option(metavar="N", min=1, help="How many equally spaced times to keep.")] = 201,
    method: Method = "multipliers",
    solver: Annotated[
        str | None, typer.Option(metavar="NAME", help="'closedchain list solvers' shows the names. Default: dop853.")
    ] = None,
    rtol: Rtol = 1e-8,
    atol: Atol = None,
    step: Step = None,
    max_steps: Annotated[int, typer.Option(metavar="N", min=1, help="Give a point up after so many.")] = 10_000_000,
    sets: source.Sets = None,
    holds: source.Holds = None,
    workers: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Compute in so many processes. Default: on all processors."),
    ] = None,
    outs: Annotated[
        list[str] | None,
        typer.Option("--out", metavar="FILE", help="Write a .nc file, or a .csv of one line a point. Repeatable."),
    ] = None,
    as_json: output.Json = False,
) -> int:
    """Simulate a mechanism at many points: parameters, starts and numbers of the method.

    Names are those of 'closedchain info'; start.O and "start.O'" are a coordinate and a velocity at the start, k and b
    the stiffness and damping of a spring method. A point that fails is recorded with its reason, and costs no other.

    \b
    Examples:
      closedchain sweep four-bar --vary crank.length=0.8:1.2:50 --vary O.motor=5,6,7 --to study
      closedchain sweep four-bar --method virtual-spring --vary k=1e4:1e8:5:log --measure "gap=max closure_error"
      closedchain sweep four-bar --vary "crank.mass=normal(1,0.05)" --vary start.O=1.4:1.7 --samples 1000 --seed 1
    """  # noqa: D301
    with output.only_json(as_json):
        found = source.find(where)
        m = found.mechanism
        if to is not None:
            save.typed("--to", to)
        paths = [target("--out", out, (".nc", ".csv")) for out in outs or []]
        if any(path.suffix == ".nc" for path in paths) and not save.has_netcdf():
            raise WrongUsage("--out: a .nc file needs netCDF4 (pip install 'closedchain[netcdf]')")
        for name, value in values.assignments("--set", sets or []).items():
            as_typed(partial(m.parameters.__setitem__, name, value))
        end = found.until if until is None else until
        hold = values.pose("--hold", holds or [])
        start = hold or (found.start() if found.start is not None else None)
        begin = getattr(start, "t", 0.0)
        how = formulation(method)
        varied = _varied(vary, samples)
        values.count("--times", times)
        kept = None if keep is None else [x.strip() for x in keep.split(",") if x.strip()]
        clock = time.perf_counter()
        try:
            with Progress(quiet=as_json) as progress, reported(progress.count):
                import numpy as np

                from closedchain.studies.points import Samples, Together
                from closedchain.studies.sweep import sweep as sweep_

                def points() -> Any:
                    if samples is not None and not together:
                        sampling = "monte-carlo" if monte_carlo else "latin-hypercube"
                        return Samples(varied, count=samples, sampling=sampling, seed=seed)
                    if samples is not None:
                        raise WrongUsage("--together is for lists, --samples for distributions: leave one of them out")
                    return Together(varied) if together else varied

                got = as_typed(
                    lambda: sweep_(
                        m,
                        points(),
                        end,
                        start=start,
                        keep=kept,
                        measure=values.texts("--measure", measures or []),
                        save=to,
                        executor=workers,
                        method=how,
                        solver=_solver(solver, how, step, max_steps),
                        rtol=rtol,
                        atol=atol,
                        t_eval=np.linspace(begin, end, times) if times > 1 else np.array([end]),
                    )
                )
        except KeyboardInterrupt as stop:
            return fail(str(stop) or "interrupted", INTERRUPTED, as_json)
        seconds = time.perf_counter() - clock
        summary = summarised(got)
        written, troubles = save.each(paths, lambda path: _write(got, path))

    # tell
    bad = summary["points"] - summary["finished"]
    error = (
        {"error": f"no point reached its end: {summary['failures'][0]['reason']}"} if not summary["finished"] else {}
    )
    code = FAILED if error or troubles else DOUBTFUL if bad or summary["complaints"] else GOOD
    if as_json:
        output.print_json(error | summary | {"seconds": seconds, "to": to, "wrote": written})
        return code
    facts = [
        ("points", " x ".join(f"{n} {name}" for name, n in summary["axes"].items())),
        ("finished", f"{summary['finished']} of {summary['points']}"),
        ("method", f"{got.attrs['method']} with {got.attrs['solver']}"),
        ("time", report.seconds(seconds)),
    ]
    wrote = [f"wrote {path}" for path in written]
    output.show(output.facts(m.name, facts), _table(summary), *wrote)
    if to is not None:
        output.show(f"results are in '{to}': xarray.open_zarr('{to.rstrip('/')}/results.zarr', consolidated=False)")
    for failure in summary["failures"][:MOST_SAID]:
        count = f"{failure['points']} point{'s' * (failure['points'] > 1)}"
        output.say(
            "warning", f"{count} failed ({failure['status']}), the first at {failure['at']}: {failure['reason']}"
        )
    for complaint in summary["complaints"][:MOST_SAID]:
        output.say("warning", complaint)
    for trouble in troubles:
        output.say("error", trouble)
    return fail(error["error"], FAILED, as_json) if error else code


# ---- what was typed --------------------------------------------------------------------------------------------------


def _solver(name: str | None, method: Any, step: float | None, max_steps: int) -> Any:
    """A solver with its options, as an object."""
    from closedchain.integrate.solvers import SOLVERS
    from closedchain.march.options import usual_solver

    if name is not None and name not in SOLVERS:
        return name
    own: dict[str, Any] = {"max_steps": max_steps} | ({} if step is None else {"step": step})
    kind = SOLVERS[usual_solver(method) if name is None else name]
    try:
        return kind(**own)
    except TypeError:
        return name


def _varied(typed: Sequence[str], samples: int | None) -> dict[str, Any]:
    """Lists and distributions by name."""
    out = {}
    for name, text in values.texts("--vary", typed).items():
        out[name] = _values(f"--vary {name}={text}", text, samples)
    return out


def _values(typed: str, text: str, samples: int | None) -> Any:
    import numpy as np
    from scipy import stats

    word, bracket, inside = text.strip().partition("(")
    if bracket:
        pair = [values.number(typed, x) for x in inside.removesuffix(")").split(",")]
        if word not in DISTRIBUTIONS or len(pair) != 2 or not text.strip().endswith(")"):
            raise WrongUsage(f"{typed}: a distribution is uniform(a,b), loguniform(a,b) or normal(mean,sd)")
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
    low, high, *count = (values.number(typed, part) for part in parts)
    if not count:
        if samples is None:
            raise WrongUsage(f"{typed}: how many? Write {parts[0]}:{parts[1]}:11 for 11 values, or add --samples 1000")
        return _between(typed, low, high, log)
    if len(count) > 1 or count[0] != int(count[0]) or count[0] < 1:
        raise WrongUsage(f"{typed}: write FROM:TO:COUNT with a whole number, for instance 0.8:1.2:50")
    if log and not (low > 0 and high > 0):
        raise WrongUsage(f"{typed}: equal ratios need two positive ends")
    return (np.geomspace if log else np.linspace)(low, high, values.count(typed, count[0]))


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


def _write(got: xarray.Dataset, path: Any) -> None:
    from closedchain.results.files import save_csv, save_netcdf

    if path.suffix == ".nc":
        text = {x: got[x].astype(str).astype(object) for x in ("status", "reason", "complaint")}
        save_netcdf(got.assign(text), path)
    else:
        inner = [d for d in got.dims if d not in got["status"].dims]
        save_csv(got.drop_dims(inner).to_dataframe(), path)
