"""A run as named strings: a saved run resumes, and ranks march together, only if every entry matches."""

from __future__ import annotations

import hashlib
import json

import casadi as ca

from closedchain import processor
from closedchain._version import __version__
from closedchain.errors import ModelError
from closedchain.integrate.times import Equal, ListedTimes
from closedchain.lock import locked
from closedchain.march.controllers.fingerprint import fingerprint
from closedchain.march.program.compiled import Compiled
from closedchain.march.task import Task
from closedchain.march.team import Team
from closedchain.model.forces.sampled import Controller, sampled_inputs
from closedchain.pose.state import State


def check_same(team: Team, about: dict[str, str]) -> None:
    """Check that all ranks were given the same run; ranks with different runs would wait for each other forever."""
    everyone = team.everyone(about)
    for rank, about in enumerate(everyone):
        for name, value in everyone[0].items():
            if about.get(name) != value:
                raise ModelError(
                    f"ranks were given different runs, with other {name}: {value} on rank 0, {about.get(name)} on rank "
                    f"{rank}; every rank has to make the same call"
                )


@locked
def digest_of_equations(program: Compiled) -> str:
    """A few digits that change with the equations of motion."""
    inputs = [program.equations.limbs.t, program.closed.x, program.equations.limbs.p, program.closed.parameters]
    traced = ca.Function("equations", inputs, [program.closed.dx])
    return hashlib.sha256(traced.serialize().encode()).hexdigest()[:16]


def described_controller(controller: Controller) -> str:
    """A controller in words, and a few digits that change with its code."""
    seen = fingerprint(controller.function, values=False)  # it may remember things
    return f"{controller.name} every {controller.period!r} s, {controller.outputs} outputs, code {seen}"


def described_times(times: Equal | ListedTimes) -> str:
    """Sample times in words; of listed ones a few digits, too."""
    if isinstance(times, Equal):
        return f"{times.intervals + 1} equal ones from {times.begin!r} to {times.until!r} s"
    array = times.array
    ends = f" from {float(array[0])!r} to {float(array[-1])!r} s" if len(array) else ""
    return f"{len(array)} listed ones{ends}, {hashlib.sha256(array.tobytes()).hexdigest()[:16]}"


def difference(saved: str, here: str) -> tuple[str, str]:
    """What differs between two entries: of numbers by name those that differ, else the whole texts."""
    try:
        one, other = json.loads(saved), json.loads(here)
    except ValueError:
        return saved, here
    if not (isinstance(one, dict) and isinstance(other, dict)):
        return saved, here
    names = [name for name in one | other if one.get(name) != other.get(name)]
    return json.dumps({x: one.get(x) for x in names}), json.dumps({x: other.get(x) for x in names})


def described(start: State, task: Task, program: Compiled) -> dict[str, str]:
    """Describe the run as named strings. A saved run resumes only if every entry matches."""
    m = start.mechanism
    numbers = hashlib.sha256(start.q.tobytes() + start.v.tobytes()).hexdigest()[:16]
    return {
        "method": repr(task.method),  # first, as the equations depend on it: the first difference is the one told
        "mechanism": f"{m.name!r}, equations {digest_of_equations(program)}",
        "controllers": "; ".join(described_controller(c) for c in sampled_inputs(m).controllers),
        "coordinates": ", ".join(program.equations.topology.q_labels),
        "parameters": json.dumps(m.parameters.merged(start.parameters)),
        "start": f"t = {start.t!r}, state {numbers}, open joints {start.open_joints}",
        "until": repr(float(task.until)),
        "solver": str(task.solver),
        "tolerances": f"rtol {task.rtol!r}, atol {'by size' if task.atol is None else repr(task.atol)}",
        "samples": described_times(task.times),
        "events": "; ".join(f"{e.name}: {e.when} {e.direction} {e.then}" for e in task.events),
        "singularity": task.singularity,
        "divergence": task.divergence,
        "partition": "" if task.team is None else task.team.about,
        "cpu": processor.setting(),
        "closedchain": __version__,
    }
