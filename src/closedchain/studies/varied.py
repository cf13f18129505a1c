"""What a name in a study means: a parameter of the mechanism, a number of the method, or a part of the start."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np

from closedchain.arguments import suggest
from closedchain.close.formulation import Formulation
from closedchain.cut.topology import Topology, cut
from closedchain.derive.equations import derive
from closedchain.errors import ModelError
from closedchain.march.batch.assemble import BatchStart, batch_assemble
from closedchain.model.mechanism import Mechanism
from closedchain.pose.assemble import assemble
from closedchain.pose.closing import by_label
from closedchain.pose.independent import choose_pivots, scaled
from closedchain.pose.redundancy import independent_rows
from closedchain.pose.state import State
from closedchain.results.vibration.locked import motor_coordinates

SHORT = {"k": "stiffness", "b": "damping"}  # of the numbers of a method, in the letters of the equations
CLEAR = 1e-3  # the least singular value with which coordinates follow from others


@dataclass(frozen=True)
class Role:
    """What a name stands for: ``kind`` is parameter, method, coordinate or velocity; ``name`` is its name there."""

    kind: str
    name: str


def roles(names: Sequence[str], mechanism: Mechanism, method: Formulation) -> dict[str, Role]:
    """The meaning of each name; a `ModelError` for names that have none, or the same one."""
    out = {name: _role(name, mechanism, method) for name in names}
    seen: dict[Role, str] = {}
    for name, role in out.items():
        if role in seen:
            raise ModelError(f"{seen[role]!r} and {name!r} are the same number: vary one of them")
        seen[role] = name
    return out


def _role(name: str, mechanism: Mechanism, method: Formulation) -> Role:
    topology = cut(mechanism)
    coordinates = [x for joint in topology.measured for x in joint.labels()]
    velocities = [x for joint in topology.measured for x in joint.velocity_labels()]
    numbers = method_numbers(method)
    if name in mechanism.parameters:
        return Role("parameter", name)
    if name.startswith("start."):
        part = name.removeprefix("start.")
        if part in coordinates:
            return Role("coordinate", part)
        if part.removesuffix("'") in velocities and part.endswith("'"):
            return Role("velocity", part.removesuffix("'"))
        if part in velocities:  # rates that are no derivative of a coordinate have no prime
            return Role("velocity", part)
        known = [*coordinates, *(f"{x}'" for x in velocities)]
        raise ModelError(f"{name!r}: {mechanism.name!r} has no coordinate or velocity {part!r}{suggest(part, known)}")
    plain = name.removeprefix("method.")
    if SHORT.get(plain, plain) in numbers:
        return Role("method", SHORT.get(plain, plain))
    if name.startswith("method.") or plain in SHORT:
        known = [*numbers, *(x for x, y in SHORT.items() if y in numbers)]
        told = f": it has {', '.join(known)}" if known else ", it has none that can be varied"
        hint = "" if known else "; cc.VirtualSpring(1e6, 1e3) has k and b"
        raise ModelError(f"{name!r} is no number of {type(method).__name__}{told}{hint}")
    if name in coordinates:
        raise ModelError(f"{name!r} is a coordinate: to vary where it starts, say 'start.{name}'")
    known = [*mechanism.parameters, *(f"start.{x}" for x in coordinates), *(f"method.{x}" for x in numbers)]
    near = suggest(name, known)
    zero = "" if "did you mean" in near else " (a number drawn as exactly zero is structure: use m.parameter(...))"
    raise ModelError(f"there is nothing named {name!r} to vary in {mechanism.name!r}{near}{zero}")


def method_numbers(method: Formulation) -> list[str]:
    """The options of a method that are plain numbers."""
    if not is_dataclass(method):
        return []
    values = {field.name: getattr(method, field.name) for field in fields(method)}
    return [name for name, x in values.items() if isinstance(x, int | float) and not isinstance(x, bool)]


# ---- starts ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Start:
    """How a point is put together before it runs.

    Attributes
    ----------
    hold, velocity
        Coordinates and velocities that keep their values, by name; all others follow from the loops.
    guess
        Where the search begins.
    given
        A state to begin from as it is, where no point changes how it closes.
    """

    mechanism: Mechanism
    hold: dict[str, float]
    velocity: dict[str, float]
    guess: Any
    time: float
    parameters: dict[str, float]
    open_joints: tuple[str, ...] = ()
    given: State | None = None

    def at(self, parameters: Mapping[str, float], hold: Mapping[str, float], velocity: Mapping[str, float]) -> State:
        """The start of a point, with its own parameters, coordinates and velocities."""
        if self.given is not None and not parameters and not hold and not velocity:
            return self.given
        return assemble(
            self.mechanism,
            {**self.hold, **hold},
            guess=self.guess,
            velocity={**self.velocity, **velocity} or None,
            time=self.time,
            parameters={**self.parameters, **parameters},
            open_joints=self.open_joints,
        )

    def follow(
        self,
        reference: State,
        p: np.ndarray,
        hold: Mapping[str, np.ndarray],
        velocity: Mapping[str, np.ndarray],
        threads: int | None,
    ) -> BatchStart:
        """The starts of many points on the branch of a closed reference: p (m, np), and their own values (m,)."""
        shapes = [x for link in reference.topology.links if link.shape is not None for x in link.shape.labels()]
        rates = dict.fromkeys(shapes, 0.0) | self.velocity  # as `assemble` has it
        return batch_assemble(reference, p, {**self.hold, **hold}, {**rates, **velocity}, threads=threads)

    def __str__(self) -> str:
        where = self.guess if not isinstance(self.guess, State) else [self.guess.q.tolist(), self.guess.v.tolist()]
        return f"hold {self.hold}, velocity {self.velocity}, guess {where}, t = {self.time!r}, open {self.open_joints}"


def start_of(
    mechanism: Mechanism,
    start: State | Mapping[str, Any] | None,
    velocity: Mapping[str, float] | None,
    guess: Mapping[str, Any] | None,
    begin: float | None,
) -> Start:
    """From what a user gave: a state, values to hold, or nothing, which is the mechanism's own start."""
    topology = cut(mechanism)
    if isinstance(start, State):
        start = start.of(mechanism, "the start")
        if velocity is not None or guess is not None:
            raise ModelError("a start that is a state has its velocities already: leave velocity and guess out")
        time = start.t if begin is None else float(begin)
        start = replace(start, t=time)
        held, rates = independent(start)
        return Start(mechanism, held, rates, start, time, dict(start.parameters), start.open_joints, start)
    if start is not None and not isinstance(start, Mapping):
        raise ModelError(f"start takes a state from m.assemble(...), or values by joint, {{'O': 0.5}}, not {start!r}")
    if start is None:
        velocity = {**mechanism.start_velocity, **(velocity or {})}
        start = mechanism.start
    time = 0.0 if begin is None else float(begin)
    return Start(mechanism, by_label(topology, dict(start), "start"), dict(velocity or {}), guess, time, {})


def independent(state: State) -> tuple[dict[str, float], dict[str, float]]:
    """Coordinates and velocities of a state that all others follow from: those of the drawing's start or of its motors.

    Where neither will do, they are chosen with numbers.
    """
    e, topology = derive(state.mechanism), state.topology
    kept = independent_rows(e, state).kept
    A = scaled(e, state)[list(kept)]
    free: set[int] = set()
    for names in (by_label(topology, state.mechanism.start, "start"), motor_coordinates(state.mechanism)):
        free = _columns(topology, names)
        others = [k for k in range(A.shape[1]) if k not in free]
        if len(others) == len(kept) and (not kept or np.linalg.svd(A[:, others])[1][-1] > CLEAR):
            break
    else:
        free = set(range(A.shape[1])) - {column for _, column in choose_pivots(e, state, kept, "coordinates")}
    hold: dict[str, float] = {}
    rates: dict[str, float] = {}
    for joint in topology.measured:
        if joint.name in topology.own:
            q, v = topology.own[joint.name]
            mine = [k in free for k in range(v.start, v.stop)]
            rates |= {x: float(y) for x, y, keep in zip(joint.velocity_labels(), state.v[v], mine, strict=True) if keep}
            whole = mine if len(mine) == joint.type.nq else [all(mine)] * joint.type.nq  # a quaternion is one thing
            hold |= {x: float(y) for x, y, keep in zip(joint.labels(), state.q[q], whole, strict=True) if keep}
    return hold, rates


def _columns(topology: Topology, names: Collection[str]) -> set[int]:
    """Velocities of coordinates by name; all of a joint with a quaternion that is named."""
    out: set[int] = set()
    for joint in topology.measured:
        if joint.name in topology.own:
            columns = range(topology.own[joint.name][1].start, topology.own[joint.name][1].stop)
            if joint.type.nq == joint.type.nv:
                out |= {k for k, label in zip(columns, joint.labels(), strict=True) if label in names}
            elif any(label in names for label in joint.labels()):
                out |= set(columns)
    return out
