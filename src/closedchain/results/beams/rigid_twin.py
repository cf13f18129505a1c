"""The rigid twin of a mechanism with flexible links, posed beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from closedchain.derive.equations import derive
from closedchain.errors import AssemblyError
from closedchain.model.derived import cached
from closedchain.model.mechanism import Mechanism
from closedchain.model.parts import Frame
from closedchain.pose.assemble import assemble
from closedchain.pose.mobility import mobility
from closedchain.pose.state import State, parameter_vector
from closedchain.results.samples import Samples


class RigidTwin:
    """The rigid twin of a mechanism, put where a flexible one is.

    Its motors' coordinates are those of the flexible mechanism (as long as there are no more of them than freedoms);
    all others are as near as the closed loops allow. Drives lead both alike.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self.twin = mechanism.rigid_twin()
        self.twin.start, self.twin.start_velocity = {}, {}  # it is put beside states, wherever these are
        self.labels = derive(self.twin).topology.q_labels
        self._freedoms: int | None = None

    @staticmethod
    @cached
    def of(mechanism: Mechanism) -> RigidTwin:
        """Made once for a drawing."""
        derive(mechanism)  # refuses what cannot be right
        return RigidTwin(mechanism)

    def driven(self) -> list[str]:
        """Names of the coordinates that motors act on."""
        joints = self.twin.joints
        pairs = dict.fromkeys((x.joint, x.index) for x in self.twin.motors.values())
        return [joints[name].labels()[k] for name, k in pairs if not joints[name].type.has_quaternion]

    def state(self, beside: State, *, moving: bool = False) -> State:
        """The rigid pose beside a flexible state; with its velocities if asked for."""
        values, rates = beside.coordinates, beside.velocities
        near = {x: values[x] for x in self.labels}
        driven = self.driven()
        try:
            if self._freedoms is None or moving:
                found = mobility(self.twin, assemble(self.twin, guess=near, **self._common(beside)))
                self._freedoms = found.true
            held = driven if len(driven) <= self._freedoms else []
            hold = {x: values[x] for x in held}
            velocity = {x: rates[x] for x in (held or found.independent)} if moving else None
            return assemble(self.twin, hold, guess=near, velocity=velocity, **self._common(beside))
        except AssemblyError as no:
            raise AssemblyError(
                f"with rigid links, the motors and drives of {self.twin.name!r} cannot be where they are: {no}"
            ) from None

    def _common(self, beside: State) -> dict[str, Any]:
        # all values of now: those of the twin are as old as it is
        values = beside.mechanism.parameters.merged(beside.parameters)
        return {"time": beside.t, "parameters": values, "open_joints": beside.open_joints}

    def samples(self, beside: Sequence[State]) -> Samples:
        """The rigid poses beside flexible states, at rest."""
        found = [self.state(state) for state in beside]
        e = derive(self.twin)
        still = np.zeros((len(found), e.topology.nv))
        p = parameter_vector(self.twin, found[0].parameters)
        return Samples(e, np.array([x.t for x in found]), np.array([x.q for x in found]), still, still, p)

    def frame(self, frame: Frame) -> Frame:
        """The same frame on the twin."""
        bodies = {"ground": self.twin.ground, **self.twin.bodies}
        return replace(frame, body=bodies[frame.body.name])


def with_parameters(state: State, parameters: Mapping[str, float]) -> State:
    """A state of a run with all its parameter values: the drawing may have others by now."""
    known = {k: x for k, x in parameters.items() if k in state.mechanism.parameters}
    return replace(state, parameters=known)
