"""A study: points, how each of them runs, and what is kept of it. What is kept are the columns of a table.

A study is sent to workers as it is; they find out nothing that is not in it, and a point gives the same columns to the
last bit wherever and in whatever company it is computed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain import processor
from closedchain._version import __version__
from closedchain.arguments import suggest
from closedchain.close.erls import ERLS
from closedchain.close.formulation import Formulation
from closedchain.derive.equations import derive
from closedchain.errors import AssemblyError, ClosedChainError, ModelError
from closedchain.integrate.times import ListedTimes
from closedchain.march.batch.assemble import SENTENCES, Reason
from closedchain.march.controllers import memories
from closedchain.march.controllers.fingerprint import fingerprint
from closedchain.march.identity import described_controller, digest_of_equations
from closedchain.march.marks import Divergence, SingularPoses
from closedchain.march.program.compiled import compiled
from closedchain.march.task import Task
from closedchain.model.forces.sampled import sampled_inputs
from closedchain.model.mechanism import Mechanism
from closedchain.pose.state import State, parameter_vector
from closedchain.results.run import Run
from closedchain.simulation import simulate
from closedchain.studies.drawn import as_drawn
from closedchain.studies.options import as_array, numbers_of
from closedchain.studies.points import Points
from closedchain.studies.start import PointStart
from closedchain.studies.varied import Role

if TYPE_CHECKING:
    import xarray

Columns = dict[str, np.ndarray]  # name -> (points, ...)
Measure = str | Callable[[Any], float]

REDUCTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {  # over time, the last axis
    "max": lambda x: x.max(axis=-1),
    "min": lambda x: x.min(axis=-1),
    "peak": lambda x: np.abs(x).max(axis=-1),
    "range": lambda x: x.max(axis=-1) - x.min(axis=-1),
    "mean": lambda x: x.mean(axis=-1),
    "rms": lambda x: np.sqrt((x * x).mean(axis=-1)),
    "first": lambda x: x[..., 0],
    "last": lambda x: x[..., -1],
}

TRIED = 12  # points that are tried before it is said that none can be put together


@dataclass(frozen=True, eq=False)
class Variable:
    """A column of a study: its axes after those of the points, its kind (``f8``, ``i8`` or ``str``), and attributes."""

    name: str
    dims: tuple[str, ...] = ()
    shape: tuple[int, ...] = ()
    kind: str = "f8"
    attrs: dict[str, Any] = field(default_factory=dict)

    def empty(self, *lengths: int) -> np.ndarray:
        """An array of so many points that holds nothing yet."""
        if self.kind == "str":
            return np.full(lengths, "", dtype=object)
        return np.full((*lengths, *self.shape), 0 if self.kind == "i8" else np.nan, dtype=self.kind)


ALWAYS = (
    Variable("status", kind="str", attrs={"about": "finished, event, or how the point failed; empty: not done"}),
    Variable("reason", kind="str", attrs={"about": "why a point failed"}),
    Variable("complaint", kind="str", attrs={"about": "what is worse than the tolerance promises"}),
    Variable("steps", kind="i8", attrs={"units": "1"}),
    Variable("end", attrs={"units": "s", "about": "time that was reached"}),
    Variable("largest_closure_error", attrs={"units": "m or rad"}),
    Variable("largest_energy_error", attrs={"units": "J"}),
)

GOOD = ("finished", "event")  # the status of a point that did not fail


@dataclass(frozen=True, eq=False)
class Study:
    """What is computed.

    Attributes
    ----------
    points, roles
        Values of what is varied, and what its names mean.
    start
        How a point begins.
    task
        How a point runs: the options of `simulate`, the same for all points.
    keep, measure
        Variables over time, and numbers of each run.
    variables
        The columns.
    axes
        Values along the axes of the columns, by name, with attributes.
    reference
        The start of a point, from which those of a batch are followed.
    engine
        How points are computed: ``"batch"``, many at once, or ``"simulate"`` and why.
    about
        The study in words by name, with digits of the values of its functions when it began.
    """

    mechanism: Mechanism
    points: Points
    roles: dict[str, Role]
    start: PointStart
    task: Task
    keep: tuple[str, ...]
    measure: dict[str, Measure]
    variables: tuple[Variable, ...] = ()
    axes: dict[str, tuple[np.ndarray, dict[str, Any]]] = field(default_factory=dict)
    reference: State | None = None
    engine: str = "simulate"
    about: dict[str, str] = field(default_factory=dict)

    @property
    def times(self) -> np.ndarray:
        """Of the samples, s."""
        return as_array(self.task.times)

    @property
    def span(self) -> float:
        """From the beginning of a run to its end, s."""
        return self.task.until - self.start.time

    def settings(self, number: int) -> tuple[dict[str, dict[str, float]], Formulation]:
        """Parameters, coordinates and velocities of a point, and its method."""
        kinds: dict[str, dict[str, float]] = {"parameter": {}, "coordinate": {}, "velocity": {}, "method": {}}
        for name, value in self.points[number].items():
            role = self.roles[name]
            kinds[role.kind][role.name] = value
        numbers = kinds.pop("method")
        method = self.task.method
        return kinds, replace(method, **numbers) if numbers else method  # type: ignore[type-var]

    def begin(self, number: int) -> tuple[State, Formulation]:
        """The start of a point, on the branch of the reference if there is one, and its method."""
        kinds, method = self.settings(number)
        own = (kinds["parameter"], kinds["coordinate"], kinds["velocity"])
        if self.reference is None or not any(own):
            return self.start.at(*own), method
        parameters = {**self.start.parameters, **kinds["parameter"]}
        p = parameter_vector(self.mechanism, parameters)
        hold, rates = ({name: np.array([x]) for name, x in values.items()} for values in own[1:])
        found = self.start.follow(self.reference, p[None], hold, rates, threads=1)
        if not found.ok[0]:
            other = self.start.at(*own)  # its error says more
            told = ", ".join(f"{name} = {x:.6g}" for name, x in other.coordinates.items())
            raise AssemblyError(
                f"{SENTENCES[Reason(found.reason[0])]}; m.assemble(...) finds another branch there, {told}, which is "
                "a study of its own: cc.sweep(..., start=...)"
            )
        open_joints = self.start.open_joints
        return State(self.mechanism, found.q[0], found.v[0], parameters, self.start.time, open_joints), method

    def run(self, number: int) -> Run:
        """The whole run of a point, as `simulate` makes it."""
        start, method = self.begin(number)
        task = self.task
        return simulate(
            self.mechanism,
            start,
            task.until,
            method=method,
            solver=task.solver,
            rtol=task.rtol,
            atol=task.atol,
            t_eval=self.times,
            events=(*task.events, SingularPoses(task.singularity), Divergence(task.divergence)),
        )

    def values(self, run: Run) -> dict[str, np.ndarray]:
        """The variables over time that are kept, or that a measure looks at."""
        wanted = dict.fromkeys([*self.keep, *(looks_at(x)[1] for x in self.measure.values() if isinstance(x, str))])
        return {name: variable_of(run, name).values for name in wanted}

    def tell(self, number: int) -> str:
        """A point in words."""
        told = ", ".join(f"{name} = {value:.6g}" for name, value in self.points[number].items())
        return f"point {number} ({told})"


# ---- what is kept ----------------------------------------------------------------------------------------------------


def looks_at(measure: str) -> tuple[str, str]:
    """Reduction and variable of a measure in words, ``"max O'"``."""
    word, _, name = measure.strip().partition(" ")
    if word not in REDUCTIONS or not name.strip():
        raise ModelError(
            f'a measure in words is one of {", ".join(REDUCTIONS)} and a variable, for instance "max O\'", '
            f"not {measure!r}"
        )
    return word, name.strip()


def variable_of(run: Run, name: str) -> xarray.DataArray:
    """A variable of a run, or the position of a frame."""
    if name in run.dataset:
        return run.dataset[name]
    mechanism = run.mechanism
    if mechanism._find(name) is not None:
        return run.frame(name)["position"]
    known = [*map(str, run.dataset.data_vars), *(f"{b}.{f}" for b, x in mechanism.bodies.items() for f in x.frames)]
    raise ModelError(f"runs of {mechanism.name!r} have no variable or frame {name!r} to keep{suggest(name, known)}")


def completed(study: Study, keep: Sequence[str] | None) -> Study:
    """The study with its columns, found in a run of no length."""
    with as_drawn(sampled_inputs(study.mechanism).controllers):
        run = _glance(study)
    if keep is None:
        joints = [x for joint in derive(study.mechanism).topology.measured for x in joint.labels()]
        keep = [x for x in joints if x in run.dataset]
    study = replace(study, keep=tuple(dict.fromkeys(keep)))
    axes: dict[str, Any] = {"time": (study.times, {"units": "s"})}
    variables = list(ALWAYS)
    kept = []
    for name in study.keep:
        array = variable_of(run, name)
        dims = tuple(map(str, array.dims))
        for dim in dims[1:]:
            labels = array[dim].values if dim in array.coords else np.arange(array.sizes[dim])
            axes[dim] = (labels, dict(array[dim].attrs) if dim in array.coords else {})
        shape = (len(study.times), *array.shape[1:])
        kept.append(Variable(name, dims, shape, attrs=_plain(array.attrs)))
    measured = []
    for name, how in study.measure.items():
        attrs = {"about": how if isinstance(how, str) else getattr(how, "__name__", "")}
        if isinstance(how, str):
            array = variable_of(run, looks_at(how)[1])
            if array.ndim != 1:
                raise ModelError(
                    f"measure {name!r}: {how!r} is not one number, {looks_at(how)[1]!r} has the axes "
                    f"{', '.join(map(str, array.dims))}; give a function of the run"
                )
            attrs |= _plain({k: array.attrs[k] for k in ("units",) if k in array.attrs})
        measured.append(Variable(name, attrs=attrs))
    variables += measured + kept
    taken = [*study.points.coords(), *axes, *(v.name for v in variables)]
    for name in taken:
        if taken.count(name) > 1:
            raise ModelError(
                f"two things in the results of this study would be named {name!r}: what is varied, kept and measured "
                f"needs names of its own. A variable can be measured under another name, measure={{'x': 'max {name}'}}"
            )
    return replace(study, variables=tuple(variables), axes=axes, reference=run.solution.shared_start)


def _plain(attrs: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(k): x for k, x in attrs.items() if isinstance(x, str)}


def _glance(study: Study) -> Run:
    """A run of no length of the first point that can be put together; it compiles what all of them need."""
    begin = study.start.time
    end = begin + 1e-6 * study.span if isinstance(study.task.method, ERLS) else begin  # which must go somewhere
    short = replace(study, task=replace(study.task, until=end, times=ListedTimes(np.array([begin])), events=()))
    first: ClosedChainError | None = None
    tried = _likely(study)
    for number in tried:
        try:
            return short.run(number)
        except (AssemblyError, ModelError) as error:
            what = f"none of the {len(tried)} points that were tried can begin. " if len(tried) > 1 else ""
            first = first or type(error)(f"{what}{study.tell(number)}: {error}")
    assert first is not None
    raise first


def _likely(study: Study) -> list[int]:
    """Some points, those first that are likely to begin: the nearest to the drawing, then some from everywhere."""
    values = study.points.values
    usual = {"parameter": study.mechanism.parameters, "coordinate": study.start.hold, "velocity": study.start.velocity}
    own = [usual.get(role.kind, {}).get(role.name) for role in study.roles.values()]
    middle = np.where([x is None for x in own], values.mean(axis=0), np.array(own, float))
    size = np.maximum(np.abs(values - middle).max(axis=0), 1e-300)
    nearest = int(np.argmin(np.abs((values - middle) / size).max(axis=1)))
    spread = np.linspace(0, len(values) - 1, min(len(values), TRIED)).astype(int).tolist()
    return list(dict.fromkeys([nearest, *spread]))[:TRIED]


# ---- what it is ------------------------------------------------------------------------------------------------------


def described(study: Study) -> dict[str, str]:
    """A study in words by name; what is saved goes on only where all of them are the same."""
    m = study.mechanism
    return {
        "mechanism": f"{m.name!r}, equations {_equations(study)}",
        "controllers": _controllers(m),
        "parameters": json.dumps(m.parameters.merged(study.start.parameters)),
        "varied": ", ".join(f"{name} ({role.kind} {role.name})" for name, role in study.roles.items()),
        "points": f"{len(study.points)} of shape {study.points.shape}, {_digest(study.points.values)}",
        "start": str(study.start),
        "until": repr(study.task.until),
        "method": repr(study.task.method),
        "solver": study.task.solver.name,
        "options": ", ".join(f"{name} {value!r}" for name, value in numbers_of(study.task).items()),
        "samples": f"{len(study.times)}, {_digest(study.times)}",
        "events": "; ".join(f"{e.name}: {e.when} {e.direction} {e.then}" for e in study.task.events),
        "keep": ", ".join(study.keep),
        "measure": "; ".join(f"{name}: {_described_measure(x)}" for name, x in study.measure.items()),
        "engine": study.engine,
        "cpu": processor.setting(),
        "closedchain": __version__,
    }


def _digest(array: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


def _equations(study: Study) -> str:
    """A few digits that change with the equations of motion."""
    if study.reference is not None:
        return digest_of_equations(compiled(study.reference, study.task.method))
    return hashlib.sha256(str(study.mechanism).encode()).hexdigest()[:16]  # finite elements have none


def _controllers(mechanism: Mechanism) -> str:
    """With digits of their values as drawn: every point begins with these."""
    controllers = sampled_inputs(mechanism).controllers
    with as_drawn(controllers):
        memories.reset(controllers)
        return "; ".join(
            f"{described_controller(c)}, values {fingerprint(c.function, private=True)}" for c in controllers
        )


def _described_measure(measure: Measure) -> str:
    return measure if isinstance(measure, str) else f"code {fingerprint(measure)}"
