"""``closedchain torques``: which motors a motion needs, and what the joints carry."""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from closedchain.cli.parts import options, output, path_kinds, paths, reactions_report, save, values
from closedchain.cli.parts.exits import DOUBTFUL, FAILED, GOOD, WrongUsage, as_typed
from closedchain.cli.parts.grouped import Group, grouped
from closedchain.cli.parts.values import names
from closedchain.errors import AssemblyError, ModelError, RunWarning

if TYPE_CHECKING:
    import xarray

    from closedchain.model.mechanism import Mechanism
    from closedchain.pose.state import State
    from closedchain.results.efforts.efforts import Efforts
    from closedchain.results.motion.motion import Motion

ENDINGS = (*save.TABLES, *save.PICTURES)
ENVELOPE = "-envelope.png"
TOO_MUCH = "more is prescribed than"


@dataclass(frozen=True, kw_only=True)
class Moves(Group):
    """What a mechanism is to follow."""

    panel = "Motion"

    specs: Annotated[
        list[str] | None,
        typer.Option(
            "--path",
            metavar="[TARGET=]KIND",
            help="What to follow, from where the mechanism is at its start: "
            + ", ".join(kind.form for kind in path_kinds.KINDS.values())
            + ". For the output frame, or for a TARGET: a body, 'body.frame', or a coordinate. Repeatable.",
        ),
    ] = None
    period: Annotated[
        float | None, typer.Option(metavar="S", help="Circle, rose and sine go on and on, a round in so many s.")
    ] = None
    duration: Annotated[
        float | None,
        typer.Option(
            metavar="S",
            help="Paths from rest to rest take so many s.",
            show_default="the usual run of the mechanism; 1 for a file",
        ),
    ] = None
    law: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help=f"Time law from rest to rest: {', '.join(path_kinds.LAWS)}. Default: the first."
        ),
    ] = None
    plane: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of a circle, a rose or an arc: xy, yz or zx. Default: xy.")
    ] = None
    centre: Annotated[
        str | None,
        typer.Option(metavar="X,Y,Z", help="Of a circle or a rose, m. Default: so that it begins at the start."),
    ] = None
    free_orientation: Annotated[
        bool,
        typer.Option("--free-orientation", help="Keep no orientation, even where the position leaves it open."),
    ] = False
    static: Annotated[bool, typer.Option("--static", help="Only hold the mechanism at its start: no path.")] = False
    assembly: Annotated[
        str | None,
        typer.Option(metavar="LABEL", help="Way to put it together, instead of that of the start."),
    ] = None

    def read(self) -> list[paths.Spec]:
        """The paths."""
        return [paths.read(text) for text in self.specs or []]

    def plan(self, usual: float) -> path_kinds.Plan:
        """Times, law and place that all paths share; ``usual`` is how long they take, s."""
        middle = None if self.centre is None else paths.point("--centre", self.centre)
        return path_kinds.Plan(usual, self.period, self.duration, self.law, middle, self.plane)


@dataclass(frozen=True, kw_only=True)
class Times(options.Sampled):
    """When to stop, and how many samples are kept."""

    until: Annotated[
        float | None, typer.Option(metavar="S", help="When to stop, s.", show_default="the end of the longest path")
    ] = None


@dataclass(frozen=True, kw_only=True)
class Actuation(Group):
    """Who moves it, and how efforts are found."""

    panel = "Actuators"

    actuators: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES", help="Actuated coordinates, separated by commas. Default: all with a motor or a drive."
        ),
    ] = None
    preloads: Annotated[
        list[str] | None,
        typer.Option(
            "--preload", metavar="NAME=VALUE", help="With redundant actuators: wanted effort, N m or N. Repeatable."
        ),
    ] = None
    weights: Annotated[
        list[str] | None,
        typer.Option(
            "--weight",
            metavar="NAME=VALUE",
            help="With redundant actuators: cost of an effort; the others have 1. Repeatable.",
        ),
    ] = None
    method: Annotated[str, options.METHOD] = "projection"
    check: Annotated[bool, typer.Option("--check", help="Tell how far the other methods differ.")] = False


@dataclass(frozen=True, kw_only=True)
class Results(options.Answer):
    """What is reported and written."""

    outs: Annotated[
        list[str] | None,
        options.out_option("a .csv, .nc, .png, .svg or .pdf file"),
    ] = None
    reactions: Annotated[str | None, options.REACTIONS] = None


@grouped
def torques(
    drawing: options.Drawing,
    moves: Moves,
    times: Times,
    actuation: Actuation,
    results: Results,
) -> int:
    """Find the torques and forces that a motion takes: for choosing motors, and for the joints between them.

    Paths begin where the mechanism is at its start. Where the position of a frame leaves its orientation open, that is
    kept. What was computed until a path leaves the workspace is reported, and written if --out is given. A folder also
    gets a plot of effort against speed. The method is projection, or for cross-checks virtual-spring or denoc.

    \b
    Examples:
      closedchain torques rrr3 --path rose:0.05 --period 2
      closedchain torques delta --path "points:0,0,0.1;0.1,0,0.1;0.1,0,0" --duration 0.6 --out delta/
      closedchain torques four-bar --path O=move:2*pi --duration 2 --reactions all
      closedchain torques gough-stewart --static --set platform.mass=2
    """  # noqa: D301
    with output.only_json(results.as_json):
        # what was typed
        wanted, found = moves.read(), drawing.find()
        m, plan = found.mechanism, moves.plan(found.until)
        m.validate()
        _check_motion(m, wanted, moves, plan, times.until)
        how = _inverse_options(m, actuation)
        joints = reactions_report.joints(m, results.reactions)
        also = () if moves.static else (ENVELOPE,)  # at rest there is no speed to draw efforts against
        files = save.targets(results.outs or [], f"{save.file_name(m.name)}-torques", ENDINGS, also)

        # the motion, and what it takes
        with output.bar(quiet=results.as_json):
            from closedchain.cli.parts import efforts_report

            clock = time.perf_counter()
            start = drawing.start(found)
            followed = paths.build(wanted, m, start, plan, moves.free_orientation) if wanted else []
            with _heard() as of_motion:
                motion, error = (start, None) if moves.static else _follow(followed, times, start, moves.assembly)
            moved = time.perf_counter()
            with _heard() as of_efforts:
                need = _need(m, motion, how)
            _check_redundancy(need, how, actuation.check)
            carried = {joint: need.reaction(joint) for joint in joints}
            differences = _differences(m, motion, need, how) if actuation.check else {}
        told = efforts_report.summary(need, followed, carried, differences)
        told["complaints"] += of_efforts
        told["notes"] = [sentence for sentence in of_motion if sentence not in told["complaints"]]
        told["seconds"] = {"motion": moved - clock, "efforts": time.perf_counter() - moved}
        told["complete"] = error is None
        told["wrote"], troubles = _write(need, carried, files)
    chosen = "efforts next to the preload" if how["preload"] else "the smallest efforts"
    return _tell(told, chosen, ([error] if error else []) + troubles, results.as_json)


def _tell(told: dict[str, Any], chosen: str, errors: list[str], as_json: bool) -> int:
    """Print it; returns the exit code. ``chosen`` says which of the efforts that are possible were taken."""
    from closedchain.cli.parts import efforts_report

    code = FAILED if errors else DOUBTFUL if told["complaints"] else GOOD
    if as_json:
        output.print_json(({"error": "; ".join(errors)} if errors else {}) | told)
        return code
    output.show(efforts_report.facts(told, told["complete"], chosen), efforts_report.sizing_table(told))
    if told["demands"]:
        output.show(efforts_report.demands_table(told))
    if "reactions" in told:
        output.show(reactions_report.table(told["reactions"]))
    output.show(*(f"wrote {path}" for path in told["wrote"]))
    for note in told["notes"]:
        output.say("note", note)
    for complaint in told["complaints"]:
        output.say("warning", complaint)
    for sentence in errors:
        output.say("error", sentence)
    return code


# ---- what was typed -------------------------------------------------------------------------------------------------


def _check_motion(
    m: Mechanism, wanted: Sequence[paths.Spec], moves: Moves, plan: path_kinds.Plan, until: float | None
) -> None:
    """Whether it is clear what moves: paths, drives, or nothing."""
    if moves.static:
        first = f"--path {wanted[0].typed}" if wanted else ""
        for option, value in {first: wanted, "--until": until, "--assembly": moves.assembly}.items():
            if value:
                raise WrongUsage(f"--static holds the mechanism at its start (see --hold): leave out {option}")
    elif not wanted and not m.drives:
        raise WrongUsage(
            f"say what {m.name!r} is to follow, for instance --path {paths.example(m)}, or --static to hold it where "
            "it is ('closedchain torques --help' shows the kinds of paths)"
        )
    elif not wanted and until is None:
        raise WrongUsage("the drives do not say when to stop: give --until S")
    if not wanted:
        plan.check_used()


def _inverse_options(m: Mechanism, actuation: Actuation) -> dict[str, Any]:
    """Arguments of `inverse_dynamics`."""
    from closedchain.arguments import named, positive, suggest
    from closedchain.results.efforts.actuators import actuated, label
    from closedchain.results.efforts.along import METHODS

    actuators = actuation.actuators
    method = as_typed(lambda: named("method", actuation.method, {x: x for x in METHODS}))
    chosen = None if actuators is None else names("--actuators", actuators)
    if chosen is None and not m.motors and not m.drives:
        single = [j for j in m.joints.values() if len(j.velocity_labels()) == 1]
        at_ground = [j.name for j in single if m.ground in (j.a.body, j.b.body)]
        could = at_ground or [j.name for j in single] or [*m.joints]
        raise WrongUsage(
            f"{m.name!r} has no motor and no drive: say which coordinates are actuated, for instance "
            f"--actuators '{could[0]}' ({'joints at the ground' if at_ground else 'joints'}: {', '.join(could)})"
        )
    labels = [label(m, freedom) for freedom in as_typed(lambda: actuated(m, chosen))]
    preload, weight = (
        values.assignments(option, typed or [])
        for option, typed in (("--preload", actuation.preloads), ("--weight", actuation.weights))
    )
    for option, given in (("--preload", preload), ("--weight", weight)):
        for name in given:
            if name not in labels:
                raise WrongUsage(f"{option}: no actuator is named {name!r}{suggest(name, labels)}")
    for name, value in weight.items():
        as_typed(partial(positive, f"--weight {name}", value))
    return {"actuators": labels, "preload": preload or None, "weights": weight or None, "method": method}


# ---- the motion, and what it takes ----------------------------------------------------------------------------------


def _follow(
    followed: Sequence[paths.Followed], times: Times, start: State, assembly: str | None
) -> tuple[Motion, str | None]:
    """The motion, as far as it goes, and why it goes no further."""
    from closedchain.results.motion.follow import follow

    where: dict[str, Any] = {"parameters": start.parameters, "open_joints": start.open_joints}
    where |= {"guess": start} if assembly is None else {"assembly": assembly}
    along, samples = paths.along(followed) or None, times.count()
    try:
        return as_typed(lambda: follow(start.mechanism, along, times.until, samples=samples, **where)), None
    except AssemblyError as error:
        motion = getattr(error, "motion", None)
        if motion is None or len(motion.t) < 2:
            raise AssemblyError(_advised(str(error))) from error
        return motion, _advised(str(error))


@contextlib.contextmanager
def _heard() -> Iterator[list[str]]:
    """The sentences of warnings about a run, in a list, when it is over."""
    heard: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RunWarning)
        yield heard
    heard += [str(w.message).replace("samples=...", "--samples") for w in caught if w.category is RunWarning]


def _advised(error: str) -> str:
    """The same with what can be typed: in Python there are other ways out."""
    said, too_much, _ = error.partition(TOO_MUCH)
    if too_much:
        return (
            f"{said}{too_much} the mechanism has freedoms. Type 0 for what lies across its plane, choose another "
            "--plane, or leave out a turn that it cannot make"
        )
    return error.replace("m.assemblies shows them", "m.assemblies shows them in Python, --assembly takes one")


def _need(m: Mechanism, motion: Motion | State, options: dict[str, Any]) -> Efforts:
    """What a motion takes; of a state, what holds it at rest."""
    from closedchain.results.efforts.inverse_dynamics import holding_efforts, inverse_dynamics
    from closedchain.results.motion.motion import Motion

    try:
        if isinstance(motion, Motion):
            return inverse_dynamics(m, motion, **options)
        return holding_efforts(m, motion, **options)
    except ModelError as error:
        if str(error).startswith("preload:"):
            raise WrongUsage(f"--{error}") from error
        raise


def _check_redundancy(need: Efforts, options: dict[str, Any], check: bool) -> None:
    """Refuse options that have nothing to choose, or too much."""
    if options["weights"] and not need.redundancy:
        raise WrongUsage(
            "--weight changes nothing here: it chooses among efforts where there are more actuators than are needed"
        )
    if check and need.redundancy:
        raise WrongUsage(
            f"--check: {need.redundancy} of {len(need.actuators)} actuators are more than needed, and only the "
            "projection chooses among their efforts; name fewer --actuators"
        )


def _differences(m: Mechanism, motion: Motion | State, need: Efforts, options: dict[str, Any]) -> dict[str, float]:
    """How far the efforts of each other method differ, over the largest effort."""
    import numpy as np

    from closedchain.results.efforts.along import METHODS

    size = max(float(np.abs(need.tau).max()), 1e-300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RunWarning)  # of the same motion
        others = {name: _need(m, motion, options | {"method": name}) for name in METHODS if name != need.method}
    return {name: float(np.abs(other.tau - need.tau).max()) / size for name, other in others.items()}


def _write(need: Efforts, carried: dict[str, xarray.Dataset], files: Sequence[Path]) -> tuple[list[str], list[str]]:
    from closedchain.cli.parts.efforts_report import dataset
    from closedchain.results.files import save_csv, save_netcdf

    def one(path: Path) -> None:
        if path.name.endswith(ENVELOPE):
            need.envelope(path=path)
        elif path.suffix in save.PICTURES:
            need.plot(path)
        elif path.suffix == ".csv":
            save_csv(dataset(need, carried).to_dataframe(), path)
        else:
            save_netcdf(dataset(need, carried), path)

    return save.each(files, one)
