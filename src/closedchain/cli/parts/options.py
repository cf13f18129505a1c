"""The options that commands share, each written once; every group makes the objects of the library from what was typed.

See `grouped` for how groups work. What one command alone has stands in its own file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from closedchain.cli.parts import output, save, source, values
from closedchain.cli.parts.exits import WrongUsage, as_typed
from closedchain.cli.parts.grouped import Group
from closedchain.integrate.solvers import SOLVERS, marching

if TYPE_CHECKING:
    from closedchain.close.formulation import Formulation
    from closedchain.disk.save_to import SaveTo
    from closedchain.integrate.solvers import Solver
    from closedchain.model.mechanism import Mechanism
    from closedchain.parallel.teams import Partition
    from closedchain.pose.state import State

# ---- mechanism and start ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Drawing(Group):
    """A mechanism, its parameters, and the pose it starts from."""

    panel = "Mechanism and start"

    where: Annotated[
        str,
        typer.Argument(
            metavar="NAME|FILE.py",
            help="A mechanism of the library (see 'closedchain list'), or a Python file that defines 'mechanism'.",
            show_default=False,
            autocompletion=source.complete,
        ),
    ]
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PARAM=VALUE", help="Change a parameter of 'closedchain info'. Repeatable."),
    ] = None
    holds: Annotated[
        list[str] | None,
        typer.Option(
            "--hold",
            metavar="JOINT=VALUE",
            help="Start at this coordinate, rad or m; pi/2 and 90*deg work. Replaces the mechanism's own start. "
            "Repeatable.",
        ),
    ] = None

    def find(self) -> source.Source:
        """The mechanism, with its parameters as typed."""
        found = source.find(self.where)
        for name, value in values.assignments("--set", self.sets or []).items():
            as_typed(partial(found.mechanism.parameters.__setitem__, name, value))
        return found

    @property
    def pose(self) -> dict[str, list[float]]:
        """Coordinates to start at, by joint."""
        return values.pose("--hold", self.holds or [])

    @property
    def rates(self) -> dict[str, float]:
        """Velocities to start with, by joint."""
        return {}

    def start(self, found: source.Source, open_joints: tuple[str, ...] = ()) -> State:
        """The state to start from: as typed, else as the file says, else the mechanism's own."""
        pose, rates = self.pose, self.rates
        if pose or rates:
            return as_typed(lambda: found.mechanism.assemble(pose, velocity=rates, open_joints=open_joints))
        return found.start() if found.start is not None else found.mechanism.assemble()


@dataclass(frozen=True, kw_only=True)
class Moving(Drawing):
    """A drawing that may start with a velocity."""

    velocities: Annotated[
        list[str] | None,
        typer.Option("--velocity", metavar="JOINT=VALUE", help="Start with this velocity, rad/s or m/s. Repeatable."),
    ] = None

    @property
    def rates(self) -> dict[str, float]:
        """Velocities to start with, by joint."""
        return values.assignments("--velocity", self.velocities or [])


# ---- time ------------------------------------------------------------------------------------------------------------


def sample_count(least: int = 2) -> Any:
    """The option ``--samples``, of at least so many."""
    return typer.Option(metavar="N", min=least, help="How many equally spaced times to keep.")


Until = Annotated[
    float | None,
    typer.Option(metavar="S", help="End of the run, s.", show_default="the usual run of the mechanism; 1 for a file"),
]


@dataclass(frozen=True, kw_only=True)
class Span(Group):
    """How long a run takes."""

    panel = "Time"

    until: Until = None

    def end(self, found: source.Source) -> float:
        """When the run ends, s."""
        return found.until if self.until is None else self.until


@dataclass(frozen=True, kw_only=True)
class Sampled(Span):
    """How long a run takes, and how many samples are kept."""

    samples: Annotated[int, sample_count()] = 201

    def count(self) -> int:
        """How many samples, refused if no memory holds them."""
        return values.count("--samples", self.samples)


# ---- method and solver -----------------------------------------------------------------------------------------------

METHOD = typer.Option(
    metavar="NAME", help="How loops are closed: a name of 'closedchain list methods', or of those that fit."
)


def methods() -> dict[str, Formulation]:
    """All methods by the names that can be typed."""
    from closedchain.close.erls import ERLS
    from closedchain.close.methods import METHODS

    return METHODS | {"erls": ERLS()}


def method_named(name: str) -> Formulation:
    """The method of a name."""
    from closedchain.arguments import named

    return as_typed(lambda: named("method", name, methods(), "'closedchain list methods' shows all"))


def solver_named(name: str) -> type[Solver]:
    """The class of a solver."""
    from closedchain.arguments import named

    return as_typed(lambda: named("solver", name, SOLVERS, "'closedchain list solvers' shows all"))


@dataclass(frozen=True, kw_only=True)
class Method(Group):
    """A method by its name."""

    panel = "Method"

    method: Annotated[str, METHOD] = "multipliers"

    def formulation(self, m: Mechanism) -> Formulation:
        """The method that was typed."""
        return method_named(self.method)


@dataclass(frozen=True, kw_only=True)
class Closing(Method):
    """A method, with the options of finite elements."""

    elements: Annotated[
        list[str] | None,
        typer.Option(metavar="[BODY=]N", help="With erls: elements of each flexible link, or of one. Repeatable."),
    ] = None
    terms: Annotated[
        str | None, typer.Option(metavar="NAME", help="With erls: 'consistent' (all terms) or 'paper'.")
    ] = None
    zero: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="With erls: displacements kept at zero, 'chord', 'base', or names. Repeatable."
        ),
    ] = None
    rho_inf: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER", help="With erls: generalised alpha that damps high frequencies; 1 none, 0 most."
        ),
    ] = None

    def formulation(self, m: Mechanism) -> Formulation:
        """The method that was typed, with its options."""
        own: dict[str, Any] = {x: getattr(self, x) for x in ("elements", "terms", "zero", "rho_inf")}
        typed = {name: value for name, value in own.items() if value not in (None, [])}
        if self.method != "erls":
            for name in typed:
                raise WrongUsage(f"{_typed(name)} is for finite elements: add --method erls")
            return method_named(self.method)
        from closedchain.close.erls import ERLS

        if self.elements:
            typed["elements"] = _elements(m.flexible, self.elements)
        if self.zero:
            typed["zero"] = self.zero[0] if self.zero in (["chord"], ["base"]) else tuple(self.zero)
        return as_typed(lambda: ERLS(**typed))


def _elements(flexible: Mapping[str, Any], typed: Sequence[str]) -> int | dict[str, int]:
    """``--elements 4 --elements arm=8`` as `ERLS` takes it."""
    every, by_body = 2, {}
    for item in typed:
        body, equals, number = item.rpartition("=")
        if not number.isdecimal():
            raise WrongUsage(f"--elements {item}: give a whole number, or BODY=N")
        if equals:
            by_body[body] = int(number)
        else:
            every = int(number)
    return {**dict.fromkeys(flexible, every), **by_body} if by_body else every


IN_PYTHON = ("dense_output",)  # what only a program can ask afterwards

SOLVER_WORDS = {
    "step": ("S", "Length of a step, s, of solvers with a fixed one (rk4)."),
    "first_step": ("S", "First step to try, s. Default: by the derivatives at the start."),
    "max_step": ("S", "Longest step, s. Default: any."),
    "max_steps": ("N", "Give up after so many steps. Default: 10 million."),
}


def _solver_options() -> dict[str, Any]:
    """An option for each field of the classes of `cc.solvers`."""
    found: dict[str, Any] = {}
    for kind in SOLVERS.values():
        for one in fields(kind):
            if one.name not in (*found, *IN_PYTHON):
                metavar, words = SOLVER_WORDS.get(one.name, ("VALUE", f"See {kind.__name__} in cc.solvers."))
                number: Any = int if "int" in str(one.type) else float
                found[one.name] = Annotated[number | None, typer.Option(metavar=metavar, help=words)]
    return {name: found[name] for name in (*SOLVER_WORDS, *found) if name in found}


SOLVER_OPTIONS = _solver_options()


def _typed(name: str) -> str:
    """An option as it is typed."""
    return f"--{name.replace('_', '-')}"


Rtol = Annotated[float, typer.Option(metavar="NUMBER", help="Relative tolerance of a step.")]


@dataclass(frozen=True, kw_only=True)
class Tolerance(Group):
    """How exact a step is."""

    panel = "Solver"

    rtol: Rtol = 1e-8


@dataclass(frozen=True, kw_only=True)
class SolverName(Group):
    """A solver by its name."""

    panel = "Solver"

    solver_name: Annotated[
        str | None,
        typer.Option(
            "--solver",
            metavar="NAME",
            help="'closedchain list solvers' shows the names.",
            show_default="dop853, or the method's own",
        ),
    ] = None

    def name(self) -> str | None:
        """The name that was typed, if there is a solver of this name."""
        if self.solver_name is not None:
            solver_named(self.solver_name)
        return self.solver_name


@dataclass(frozen=True, kw_only=True)
class Solving(Tolerance, SolverName):
    """A solver with its options, and its tolerances."""

    atol: Annotated[
        float | None, typer.Option(metavar="NUMBER", help="Absolute tolerance of a step. Default: by size.")
    ] = None
    options: Annotated[Mapping[str, Any], SOLVER_OPTIONS] = field(default_factory=dict)

    def solver(self, method: Formulation) -> Solver | None:
        """The solver that was typed; None: the usual one of the method."""
        name = self.name()
        if name is None and not self.options:
            return None
        kind = SOLVERS[marching(method.kind)[0] if name is None else name]
        known = [x.name for x in fields(kind) if x.name not in IN_PYTHON]
        for option in self.options:
            if option == "step" and "step" not in known:
                raise WrongUsage(f"{kind.name!r} chooses its own steps: leave --step out, or take --solver rk4")
            if option not in known:
                raise WrongUsage(f"{kind.name!r} takes no {_typed(option)}; it takes {', '.join(map(_typed, known))}")
        if "step" not in self.options and not kind.adaptive and "elements" not in method.kind:
            raise WrongUsage(f"solver {kind.name!r} has a fixed step: say how long it is, for instance --step 1e-3")
        return as_typed(lambda: kind(**self.options))

    def check(self, method: Formulation, solver: Solver | None, until: float) -> None:
        """Refuse tolerances and times that no run has, before anything is computed."""
        from closedchain.march.options import end_time, solver_for, tolerances

        as_typed(lambda: end_time("until", until))
        as_typed(lambda: tolerances(solver_for(method, solver), self.rtol, self.atol))
        step, most = self.options.get("step"), self.options.get("max_steps", SOLVERS["rk4"].max_steps)
        if step and abs(until) / step > most:
            raise WrongUsage(
                f"--step {step:g} makes {abs(until) / step:.3g} steps until {until:g} s, more than {most}: "
                "take longer steps, or raise --max-steps"
            )


# ---- processors ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Team(Group):
    """Limbs on several processors."""

    panel = "Several processors"

    partition: Annotated[
        str | None,
        typer.Option(
            metavar="threads:N|ranks",
            help="Limbs over N threads of this process, or over the ranks of an MPI job: mpiexec -n 4 closedchain ...",
        ),
    ] = None
    limbs: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Limbs of the next rank or thread, separated by commas; once for each of them. Default: shared out by "
            "operation counts.",
        ),
    ] = None
    closing: Annotated[
        str,
        typer.Option(metavar="WHO", help="Who computes what several ranks or threads need: everyone, or the master."),
    ] = "everyone"

    def team(self) -> Partition | None:
        """The team that was asked for, if any."""
        if self.partition is None:
            if self.limbs:
                raise WrongUsage("--limbs says who has which limb: add --partition threads:N, or ranks under mpiexec")
            if self.closing != "everyone":
                raise WrongUsage(
                    "--closing says who computes what several need: add --partition threads:N, or ranks under mpiexec"
                )
            return None
        from closedchain.parallel.teams import Ranks, Threads

        kind, _, number = self.partition.partition(":")
        limbs = [[name.strip() for name in group.split(",")] for group in self.limbs] if self.limbs else None
        if self.partition == "ranks":
            return as_typed(lambda: Ranks(limbs, self.closing))
        if kind == "threads" and number.strip().isdecimal():
            return as_typed(lambda: Threads(int(number), limbs, self.closing))
        raise WrongUsage(f"--partition takes threads:N, for instance threads:2, or ranks, not {self.partition!r}")


# ---- results ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Saving(Group):
    """Results written while they are computed."""

    panel = "Results"

    to: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="Save results there while they are computed; repeat the command to resume after a crash or Ctrl-C.",
        ),
    ] = None

    def save(self) -> SaveTo | None:
        """The folder, if one was typed."""
        from closedchain.disk.save_to import SaveTo

        return None if self.to is None else as_typed(lambda: SaveTo(save.typed("--to", self.to or "")))


@dataclass(frozen=True, kw_only=True)
class Answer(Group):
    """How a command answers."""

    panel = "Results"

    as_json: output.Json = False


def out_option(kinds: str) -> Any:
    """The option ``--out``; ``kinds`` are the files that a command writes, in words."""
    return typer.Option(
        "--out", metavar="FILE|FOLDER", help=f"Write {kinds}, or one of each kind into a folder. Repeatable."
    )


REACTIONS = typer.Option(
    "--reactions", metavar="JOINTS", help="Tell what joints carry: names separated by commas, or 'all'."
)
