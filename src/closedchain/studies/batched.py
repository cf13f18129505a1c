"""Points of a study, many at once: started, marched and evaluated by compiled code on all cores (`march.batch.batch`).

What is not for a batch, and points that come to no good end in one, go to `simulate`, each by itself: it passes
singular poses, and has a sentence for everything. Which ones these are depends on the point alone, so that a point
gives the same numbers in whatever company it is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from closedchain.close.erls import ERLS
from closedchain.derive.equations import Equations
from closedchain.integrate.batch.threads import Piece, cores, share_out
from closedchain.integrate.trajectory import Counts, Status, Trajectory
from closedchain.march.batch.assemble import SENTENCES
from closedchain.march.batch.batch import Reason, batch_march, can_batch
from closedchain.march.controllers.held_inputs import HeldInputs
from closedchain.march.judge import divergence
from closedchain.march.program.compiled import Compiled, compiled
from closedchain.march.segment import Segment
from closedchain.march.stabilisation import Stabilisation
from closedchain.native import NativeFunction, compile_function
from closedchain.pose.size import drawn_scale
from closedchain.pose.state import State, parameter_vector
from closedchain.results.checks import ENERGY, STILL, closure_bounds
from closedchain.results.dataset import motion_variables
from closedchain.results.evaluate import continue_quaternions, output_columns
from closedchain.results.march_solution import MarchSolution
from closedchain.results.run import Run
from closedchain.studies.plausible import valid
from closedchain.studies.study import REDUCTIONS, Columns, Study, looks_at

ADVICE = (
    "m.assemble(...) with the parameters of this point tells which loop is open, and by how much, or finds another "
    "branch, which is a study of its own: cc.sweep(..., start=...)"
)

# Steps of a point in a batch, where nobody looks at it on its way: one that takes more, and may run away, is for
# `simulate`, which looks.
MOST_STEPS = 100_000
FEW = 16  # points: a batch compiles what `simulate` interprets


def why_not(study: Study) -> str | None:
    """Why the points of a study are not for a batch, in a sentence; None if they are."""
    if len(study.points) < FEW:
        return "so few points are not worth a compilation"
    if not len(study.times):
        return "no times are kept"
    if isinstance(study.task.method, ERLS):
        return "finite elements are assembled with numbers"
    reason = can_batch(
        study.mechanism,
        study.task.method,
        solver=study.task.solver.name,
        events=study.task.events,
        singularity=study.task.singularity,
    )
    if reason:
        return reason
    functions = [name for name, how in study.measure.items() if not isinstance(how, str)]
    if functions:
        return f"measure {functions[0]!r} is a function of the whole run"
    for name in _looked_at(study):
        if name.endswith("_conditioning"):
            return f"{name!r} is found in each run"
    try:
        compute_many(study, [0], threads=1)
    except Exception as error:  # what nobody thought of costs speed, not the study
        return f"{type(error).__name__}: {error}"
    return None


def _looked_at(study: Study) -> list[str]:
    """Variables over time that are kept, or that a measure looks at."""
    measured = [looks_at(how)[1] for how in study.measure.values() if isinstance(how, str)]
    return list(dict.fromkeys([*study.keep, *measured]))


def compute_many(study: Study, numbers: Sequence[int], threads: int | None) -> tuple[Columns, np.ndarray]:
    """The columns of some points, and which of them (m,) are settled; the others are for `simulate`."""
    reference = study.reference
    assert reference is not None
    program = _stabilisation(study).applied(compiled(reference, study.task.method))
    p, own = _parameters(study, program, numbers)
    x0, reason = _starts(study, program, numbers, p, threads)
    plausible, started = valid(study.mechanism, p), reason == Reason.closed
    good = plausible & started
    x0[~good] = program.pack(reference.q, reference.v)  # marched for nothing, so that rows stay in their places
    p[~good], own[~good] = parameter_vector(study.mechanism, reference.parameters), program.numbers
    task, solver = study.task, study.task.solver
    if solver.adaptive:
        solver = replace(solver, max_steps=min(solver.max_steps, MOST_STEPS))
    result = batch_march(
        program,
        (study.start.time, task.until),
        x0,
        p,
        study.times,
        solver=solver,
        rtol=task.rtol,
        atol=task.atol,
        numbers=own,
        threads=threads,
    )
    good &= result.status == Status.finished
    out = {v.name: v.empty(len(numbers)) for v in study.variables}
    out["status"][:], out["end"][:], out["steps"][:] = "finished", study.task.until, result.steps
    found = _Evaluated(study, program, p, own, x0, result.x, threads)
    good &= ~found.may_run_away()
    out["largest_closure_error"][:] = np.abs(found.values["closure_error"]).max(axis=1, initial=0.0)
    out["largest_energy_error"][:] = np.abs(found.values["energy_error"]).max(axis=1, initial=0.0)
    for name in study.keep:
        out[name][:] = found.values[name]
    for name, how in study.measure.items():
        reduction, variable = looks_at(str(how))
        out[name][:] = REDUCTIONS[reduction](found.values[variable])
    for i in np.flatnonzero(good & found.doubtful()).tolist():
        out["complaint"][i] = "; ".join(found.run(i, numbers[i]).complaints())
    for i in np.flatnonzero(plausible & ~started).tolist():  # a search for a sentence would take seconds
        for v in study.variables:
            out[v.name][i] = v.empty(1)[0]
        out["status"][i], out["reason"][i] = "no start", f"{SENTENCES[Reason(reason[i])]}; {ADVICE}"
    return out, good | (plausible & ~started)


# ---- before ----------------------------------------------------------------------------------------------------------


def _stabilisation(study: Study) -> Stabilisation:
    return Stabilisation(study.span < 0, study.task.solver.lengths.fixed)


def _parameters(study: Study, program: Compiled, numbers: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Parameters of the mechanism (m, np), and numbers of the method (m, n)."""
    names = list(study.mechanism.parameters)
    p = np.tile(parameter_vector(study.mechanism, study.start.parameters), (len(numbers), 1))
    own = np.tile(program.numbers, (len(numbers), 1))
    values = study.points.values[list(numbers)]
    of_method = [name for name, role in study.roles.items() if role.kind == "method"]
    for k, role in enumerate(study.roles.values()):
        if role.kind == "parameter":
            p[:, names.index(role.name)] = values[:, k]
    if of_method:
        for i, number in enumerate(numbers):
            _, method = study.settings(number)
            own[i] = _stabilisation(study).numbers(method, program.equations, program.choice)
    return p, own


def _starts(
    study: Study, program: Compiled, numbers: Sequence[int], p: np.ndarray, threads: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Starts (m, nx), and why there is none (m,)."""
    begin, reference = study.start, study.reference
    assert reference is not None
    m = len(numbers)
    varied = {role.kind for role in study.roles.values()}
    if begin.as_it_is is not None and varied == {"method"}:
        return np.tile(program.pack(begin.as_it_is.q, begin.as_it_is.v), (m, 1)), np.full(m, int(Reason.closed))
    values = study.points.values[list(numbers)]
    columns = dict(zip(study.roles.values(), values.T, strict=True))
    hold, rates = (
        {role.name: x for role, x in columns.items() if role.kind == kind} for kind in ("coordinate", "velocity")
    )
    found = begin.follow(reference, p, hold, rates, threads)
    picked = program.closed.velocities
    v = found.v if picked is None else found.v[:, list(picked)]
    rest = np.zeros((m, program.closed.algebraic + 1))
    return np.hstack([found.q, v, rest]), found.reason


# ---- after -----------------------------------------------------------------------------------------------------------


class _Evaluated:
    """Samples of many points, evaluated: ``values`` are variables (m, k, ...) by name."""

    def __init__(
        self,
        study: Study,
        program: Compiled,
        p: np.ndarray,
        own: np.ndarray,
        x0: np.ndarray,
        x: np.ndarray,
        threads: int | None,
    ) -> None:
        self.study, self.program, self.p, self.own, self.x0, self.x = study, program, p, own, x0, x
        e = program.equations
        m, k, _ = x.shape
        frames = [name for name in _looked_at(study) if study.mechanism._find(name) is not None]
        function, places = _native(program, frames)
        whole = np.hstack([p, own])
        t = np.concatenate([study.times, [study.start.time]])
        y = np.empty((m, k + 1, places["size"].stop))

        def some(piece: Piece) -> None:
            first, last, _ = piece
            n = last - first
            states = np.concatenate([x[first:last], x0[first:last, None]], axis=1)  # the last one is the start
            rows = function.batch(
                np.tile(t, n)[:, None], states.reshape(n * (k + 1), -1), np.repeat(whole[first:last], k + 1, axis=0)
            )
            y[first:last] = np.asarray(rows).reshape(n, k + 1, -1)

        share_out(some, m, cores() if threads is None else threads)
        if _cut_quaternions(e):
            for point in y[:, :k, places["q"]]:
                continue_quaternions(program, point)
        self.out = {name: y[:, :k, at] for name, at in places.items() if name not in ("size", *frames)}
        flat = {name: values.reshape(m * k, -1) for name, values in self.out.items()}
        variables = motion_variables(e, flat)
        self.values = {name: v.reshape(m, k, *v.shape[1:]) for name, (_, v, _) in variables.items()}
        self.values |= {name: y[:, :k, places[name]] for name in frames if name not in self.values}
        energy = self.values["kinetic_energy"] + self.values["potential_energy"]
        self.begin = {name: y[:, k, places[name]] for name in ("kinetic", "potential")}
        self.values["energy_error"] = energy - self.begin["kinetic"] - self.begin["potential"] - self.values["work"]

    def doubtful(self) -> np.ndarray:
        """Points (m,) whose run may have something to complain of: the bounds of `results.checks`, for all at once."""
        study, v, method = self.study, self.values, self.program.method
        rtol, m = study.task.rtol, len(self.x)
        if not self.x.shape[1]:
            return np.zeros(m, bool)
        e = self.program.equations
        if any(link.shape is not None for link in e.topology.links):
            return np.ones(m, bool)
        scale = drawn_scale(e, self.p, study.span)
        bounds = closure_bounds(self.program, study.task.solver.name, rtol, scale.length)
        far = (np.abs(self.out["c"]) / bounds[:, None, :]).max(axis=(1, 2), initial=0.0)
        out = np.full(m, False) if method.all_rows else far > 1
        work, potential = v["work"], v["potential_energy"]
        exchanged = np.max([v["kinetic_energy"].max(axis=1), np.ptp(potential, axis=1), np.ptp(work, axis=1)], axis=0)
        rest = np.maximum(rtol * np.abs(potential).max(axis=1), STILL * scale.energy[:, 0])
        allowed = np.maximum(ENERGY * rtol * exchanged, rest)
        out |= ~(np.abs(v["energy_error"]).max(axis=1) <= allowed)
        column = 0
        for joint in e.topology.joints:
            for pair in joint.limits or (None,) * joint.type.nq:
                if pair is not None:
                    q = self.out["q"][:, :, column]
                    out |= ((q < pair[0]) | (q > pair[1])).any(axis=1)
                column += 1
        return out

    def may_run_away(self) -> np.ndarray:
        """Points (m,) for `simulate`, which looks at them on their way: their energies grow a lot, or from nowhere."""
        v, e = self.values, self.program.equations
        m, k = v["work"].shape
        if not k:
            return np.zeros(m, bool)
        picked, nq = self.program.closed.velocities, e.topology.nq
        columns = list(range(e.topology.nv) if picked is None else picked)
        scale = drawn_scale(e, self.p, self.study.span)  # (m, 1) each
        sizes = np.where(np.array(e.topology.v_units)[columns] == "m/s", scale.length, 1.0)
        speed = np.abs(self.x[:, :, nq : nq + len(columns)] / sizes[:, None]).max(axis=2, initial=0.0)
        travels = speed * abs(self.study.span) >= divergence.AT_REST
        entered = v["energy_error"] + v["work"]
        kinetic = self.begin["kinetic"]
        base = np.maximum(kinetic, divergence.natural(e, self.p, self.study.span))  # (m, 1)
        released = np.maximum(self.begin["potential"] - v["potential_energy"], 0.0).max(axis=1)
        explained = np.max([kinetic[:, 0], released, v["work"].max(axis=1)], axis=0)
        nowhere = (travels & (v["energy_error"] > divergence.UNEXPLAINED * explained[:, None])).any(axis=1)
        began = np.max([np.abs(self.begin["potential"][:, 0]), kinetic[:, 0], np.abs(v["work"]).max(axis=1)], axis=0)
        began = np.maximum(began, scale.energy[:, 0])
        grown = (travels & (entered >= 10**divergence.DECADES * base)).any(axis=1)
        return nowhere | (released > divergence.ENDLESS * began) | grown

    def run(self, i: int, number: int) -> Run:
        """A point as a run, for its checks: what it cost is not known in full."""
        study, program = self.study, self.program.with_numbers(self.own[i])
        kinds, method = study.settings(number)
        n = program.equations.topology.nq
        whole = program.whole(np.array([study.start.time]), self.x0[i : i + 1], self.p[i])[0]
        parameters = {**study.start.parameters, **kinds["parameter"]}
        start = State(study.mechanism, whole[:n], whole[n:-1], parameters, study.start.time, study.start.open_joints)
        task = replace(study.task, method=method)
        counts = Counts(0, 0, 0, 0, np.nan, np.nan)
        path = Trajectory(study.times, self.x[i], np.empty(0), counts, Status.finished, "the end was reached")
        held_inputs = HeldInputs(study.mechanism, self.p[i], study.start.time, task.until, watched=False)
        segment = Segment(start, program, path, task.solver.name, held_inputs, (start, False, 0, None))
        return Run(MarchSolution(study.mechanism, [segment], [], self.p[i]), task, {})


def _native(program: Compiled, frames: Sequence[str]) -> tuple[NativeFunction, dict[str, slice]]:
    """All standard results and positions of frames as one native function of (t, x, p), and where each of them is."""
    key = ("native outputs", program.active, tuple(frames))
    if key not in program.shared:
        e = program.equations
        columns: dict[str, Any] = output_columns(program)
        columns |= {name: e.motion.frame(e.topology.mechanism.find_frame(name)).X.r for name in frames}
        dense = [ca.densify(ca.SX(x)) for x in program.of_state(list(columns.values()))]
        places, at = {}, 0
        for name, x in zip(columns, dense, strict=True):
            places[name] = slice(at, at := at + x.numel())
        places["size"] = slice(0, at)
        inputs = {"t": e.limbs.t, "x": program.closed.x, "p": ca.vertcat(e.limbs.p, program.closed.parameters)}
        title = f"{e.topology.mechanism.name} results"
        program.shared[key] = compile_function(title, inputs, {"y": ca.vertcat(*dense)}), places
    return program.shared[key]


def _cut_quaternions(e: Equations) -> bool:
    return any(j.type.has_quaternion and j.name not in e.topology.tree_joints for j in e.topology.measured)


__all__ = ["compute_many", "why_not"]
