"""Which coordinates are actuated, what their efforts cost, and which efforts are wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from closedchain.arguments import known, mapping, positive, shown, unique
from closedchain.derive.equations import Freedom
from closedchain.errors import ModelError
from closedchain.lock import locked
from closedchain.model.mechanism import Mechanism
from closedchain.model.parts import Joint
from closedchain.model.paths.checks import of_time
from closedchain.results.motion.motion import Motion


def actuated(mechanism: Mechanism, actuators: Sequence[str | Joint] | None = None) -> tuple[Freedom, ...]:
    """The freedoms that are actuated, as joint and number of the velocity."""
    if actuators is None:
        motors = [(x.joint, x.index) for x in mechanism.motors.values()]
        found = tuple(dict.fromkeys([*motors, *((x.joint, x.index) for x in mechanism.drives.values())]))
        if not found:
            raise ModelError(
                f"{mechanism.name!r} has no motor and no drive: say which coordinates are actuated, "
                "actuators=['base1', ...]"
            )
        return found
    if isinstance(actuators, str | Joint) or not isinstance(actuators, Sequence):
        raise ModelError(f"actuators takes a list of joints or coordinates, not {shown(actuators)}")
    by_label = {x: (j.name, i) for j in mechanism.joints.values() for i, x in enumerate(j.velocity_labels())}
    out: list[Freedom] = []
    for actuator in actuators:
        name = actuator.name if isinstance(actuator, Joint) else actuator
        if isinstance(name, str) and name in mechanism.joints and name not in by_label:
            out += [(name, i) for i in range(mechanism.joints[name].type.nv)]
        else:
            out.append(by_label[known("actuators: no joint or coordinate is named", name, by_label)])
    unique("actuators", [label(mechanism, x) for x in out])
    if not out:
        raise ModelError("actuators: name at least one coordinate")
    return tuple(out)


def label(mechanism: Mechanism, freedom: Freedom) -> str:
    """Name of an actuated freedom in results."""
    return mechanism.joints[freedom[0]].velocity_labels()[freedom[1]]


def weights_of(weights: Mapping[str, float] | None, labels: list[str]) -> np.ndarray:
    """The weight of each actuator's effort; 1 by default."""
    out = np.ones(len(labels))
    for name, value in _by_actuator("weights", weights, labels).items():
        out[labels.index(name)] = positive(f"weights: the weight of {name!r}", value)
    return out


@locked
def preload_along(motion: Motion, preload: Mapping[str, Any] | None, labels: list[str]) -> np.ndarray:
    """The wanted effort of each actuator at all samples (n, actuators); 0 by default."""
    e = motion.samples.equations
    out = np.zeros((len(motion.t), len(labels)))
    for name, value in _by_actuator("preload", preload, labels).items():
        number = of_time(value, f"preload of {name!r}")
        f = ca.Function("preload", [e.limbs.t, e.limbs.p], [e.expression(number)])
        out[:, labels.index(name)] = [float(f(at, motion.samples.p)) for at in motion.t]
    return out


def _by_actuator(what: str, values: Mapping[str, Any] | None, labels: list[str]) -> dict[str, Any]:
    found = mapping(what, values, "the name of the actuator")
    for name in found:
        known(f"{what}: no actuator is named", name, labels)
    return found
