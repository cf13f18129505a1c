"""How the runs of a study begin: at a state, at coordinates and velocities that keep their values, or as drawn."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from closedchain.arguments import finite
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

CLEAR = 1e-3  # the least singular value with which coordinates follow from others


@dataclass(frozen=True)
class Start:
    """How every run of a study begins: ``cc.sweep(..., start=cc.Start({"O": 1.2}, velocity={"O": 3.0}))``.

    The loops are closed anew for each point, with these values.

    Attributes
    ----------
    coordinates
        Coordinates that keep their values, by name, as in `assemble`; default: the mechanism's own start.
    velocity
        Velocities that keep their values, by name; default: those of the mechanism's own start if coordinates are left
        out, else none.
    guess
        Where the search for the other coordinates begins.
    time
        When the runs begin, s.
    """

    coordinates: Mapping[str, Any] | None = None
    velocity: Mapping[str, float] | None = field(default=None, kw_only=True)
    guess: Mapping[str, Any] | None = field(default=None, kw_only=True)
    time: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        for name in ("coordinates", "velocity", "guess"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, Mapping):
                raise ModelError(f"Start: {name} takes values by joint, {{'O': 0.5}}, not {value!r}")
        object.__setattr__(self, "time", finite("Start: time", self.time))


@dataclass(frozen=True, eq=False)
class PointStart:
    """How a point is put together before it runs.

    Attributes
    ----------
    hold, velocity
        Coordinates and velocities that keep their values, by name; all others follow from the loops.
    guess
        Where the search begins.
    as_it_is
        A state to begin from as it is, where no point changes how it closes.
    """

    mechanism: Mechanism
    hold: dict[str, float]
    velocity: dict[str, float]
    guess: Any
    time: float
    parameters: dict[str, float]
    open_joints: tuple[str, ...] = ()
    as_it_is: State | None = None

    def at(self, parameters: Mapping[str, float], hold: Mapping[str, float], velocity: Mapping[str, float]) -> State:
        """The start of a point, with its own parameters, coordinates and velocities."""
        if self.as_it_is is not None and not parameters and not hold and not velocity:
            return self.as_it_is
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


def start_of(mechanism: Mechanism, start: State | Start | Mapping[str, Any] | None) -> PointStart:
    """From what a user gave: a state, values to hold, or nothing, which is the mechanism's own start."""
    if isinstance(start, State):
        state = start.of(mechanism, "the start")
        hold, rates = independent(state)
        return PointStart(mechanism, hold, rates, state, state.t, dict(state.parameters), state.open_joints, state)
    if not isinstance(start, Start):
        if start is not None and not isinstance(start, Mapping):
            raise ModelError(
                "start takes a state from m.assemble(...), values by joint, {'O': 0.5}, or cc.Start({'O': 0.5}, "
                f"velocity={{'O': 3.0}}), not {start!r}"
            )
        start = Start(start)
    coordinates, rates = start.coordinates, {}
    if coordinates is None:
        coordinates, rates = mechanism.start, mechanism.start_velocity
    rates = {**rates, **(start.velocity or {})}
    hold = by_label(cut(mechanism), dict(coordinates), "start")
    return PointStart(mechanism, hold, rates, start.guess, start.time, {})


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
