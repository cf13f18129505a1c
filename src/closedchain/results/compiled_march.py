"""The march of a compiled program: all formulations but finite elements."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

from closedchain.erls.start import ErlsState
from closedchain.errors import ModelError
from closedchain.march.checkpoints import Saving
from closedchain.march.controllers import memories
from closedchain.march.events import check_events
from closedchain.march.identity import check_same, described
from closedchain.march.judge.gaps import allowed_gap, fitted
from closedchain.march.options import check_laws
from closedchain.march.program.compiled import compiled
from closedchain.march.program.solver_inputs import for_solver
from closedchain.march.run_loop import March, Refused
from closedchain.march.stabilisation import Stabilisation
from closedchain.march.start import check_start
from closedchain.march.task import Task
from closedchain.model.forces.sampled import sampled_inputs
from closedchain.model.mechanism import Mechanism
from closedchain.pose.size import drawn_scale
from closedchain.pose.state import State, parameter_vector
from closedchain.results.march_solution import MarchSolution
from closedchain.results.marching import Marching


class CompiledMarch(Marching):
    """Equations of motion with closed loops, compiled, in as many pieces as closures and solvers need."""

    @classmethod
    def begin(cls, mechanism: Mechanism, start: State, parameters: Mapping[str, float]) -> State:
        """See `Marching.begin`."""
        if isinstance(start, ErlsState):
            raise ModelError(
                "the start is from a run with cc.ERLS(...), a state of its rigid-link system with displacements: go "
                "on with that method, or start from m.assemble(...)"
            )
        start = start.of(mechanism, "the start")
        start = replace(start, parameters={**start.parameters, **parameters})
        mechanism.validate(start.parameters)
        return start

    def __init__(self, mechanism: Mechanism, start: State, task: Task) -> None:
        self.mechanism, self.task = mechanism, task
        self.p = p = parameter_vector(mechanism, start.parameters)
        cuts = {*(j.name for j in start.topology.cuts), *mechanism.drives, *mechanism.couplings}
        check_events(mechanism, cuts, task.events)
        check_laws(start, task.events)
        task.solver.load()  # the first time in a process this loads Numba; it is no part of the march

        clock = time.perf_counter()
        program = compiled(start, task.method, native=task.team is None)
        program = Stabilisation(task.until < start.t, task.solver.lengths.fixed).applied(program)
        scale = drawn_scale(program.equations, p, task.until - start.t)
        check_start(program, start, p, scale, 10 * allowed_gap(task.method) * task.rtol if task.method.drifts else 0.0)
        start = fitted(program, start)
        for_solver(task.solver.name, program, p)  # compiled before the march begins
        self._seconds = {**program.seconds, "prepare": time.perf_counter() - clock}

        about = described(start, task, program) if task.team is not None or task.saving is not None else {}
        if task.team is not None:
            folder = None if task.saving is None else str(task.saving.folder)
            check_same(task.team, about | {"save": str(folder)})
        saving = None
        if task.saving is not None:
            controllers = sampled_inputs(mechanism).controllers
            memories.saved(controllers, memories.begun(controllers))  # says which of them cannot be
            saving = Saving(task.saving, about, task.team is None or task.team.leads)
        self._march = March(start, task, program, saving)

    def run(self) -> None:
        """See `Marching.run`."""
        clock = time.perf_counter()
        try:
            self._march.run()
        except Refused as refused:
            self.refusal = str(refused)
        except KeyboardInterrupt:
            if not self._march.segments:
                raise
            self.stopped = True
        self._seconds["march"] = time.perf_counter() - clock

    @property
    def solution(self) -> MarchSolution:
        """The pieces."""
        return MarchSolution(self.mechanism, self._march.segments, self._march.record, self.p)

    @property
    def seconds(self) -> dict[str, float]:
        """What closing, compiling, preparing and marching took."""
        return self._seconds
