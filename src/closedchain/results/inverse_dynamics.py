"""`inverse_dynamics`: the efforts of motors that a motion takes, and `holding_efforts`: those that hold a pose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from closedchain.derive.equations import Equations, derive
from closedchain.errors import ModelError
from closedchain.march.assemble import assemble
from closedchain.march.inverse import (
    UNBALANCED,
    Balance,
    Freedom,
    Terms,
    by_natural_complement,
    by_projection,
    by_spring_elimination,
    terms,
)
from closedchain.march.state import State
from closedchain.model.expression import Expression, check_number
from closedchain.model.expression import t as time_leaf
from closedchain.model.mechanism import Mechanism
from closedchain.model.parts import Joint, suggest
from closedchain.results.efforts import Efforts
from closedchain.results.motion import SAMPLES, Motion, follow

METHODS = ("projection", "virtual-spring", "denoc")


def inverse_dynamics(
    mechanism: Mechanism,
    along: Mapping[Any, Any] | Motion | State | None = None,
    until: float | None = None,
    *,
    actuators: Sequence[str | Joint] | None = None,
    weights: Mapping[str, float] | None = None,
    preload: Mapping[str, Any] | None = None,
    method: str = "projection",
    begin: float = 0.0,
    t_eval: Any = None,
    samples: int = SAMPLES,
    guess: Mapping[str, Any] | State | None = None,
    mode: str | None = None,
    parameters: Mapping[str, float] | None = None,
    open_joints: tuple[str, ...] = (),
) -> Efforts:
    """Find the torques and forces of motors that make a mechanism follow paths.

    Parameters
    ----------
    mechanism
        What moves. All that is drawn acts: gravity, springs, dampers, friction, forces, rotors; but not the motors and
        drives of the actuated coordinates, whose efforts are the question.
    along
        Paths by frame, joint or coordinate, as for `follow`; or a `Motion` that `follow` found; or a `State` with
        accelerations (none: zero), for a single instant. None: the drives say it all.
    until, begin, t_eval, samples, guess, mode, parameters, open_joints
        As for `follow`.
    actuators
        Which coordinates are actuated, by name (``"O"``, ``"table.x"``); default: all that have a motor or a drive.
    weights
        With more actuators than freedoms: how dear the effort of each is, by name; one where not given. The efforts
        have the least ``sum weight effort^2`` (a torque divided by the size of the mechanism, where both torques and
        forces occur).
    preload
        With more actuators than freedoms: wanted efforts by name, numbers or functions of time; the result is as near
        to them as the motion allows. What they add are internal forces, which move nothing.
    method
        ``"projection"`` (default); for cross-checks, with as many actuators as freedoms: ``"virtual-spring"``, the
        elimination of Wang and others (2002, equation 20), or ``"denoc"``, the natural orthogonal complement.

    Raises
    ------
    ModelError
        If the actuators cannot produce the motion: the message tells which motion is not theirs to choose, and when.

    Examples
    --------
    >>> import closedchain as cc
    >>> need = cc.inverse_dynamics(cc.library.four_bar(), {"O": cc.pi / 2}, until=1.0)
    >>> f"{float(need['O'][0]):.4f} N m hold the crank upright"
    '3.5034 N m hold the crank upright'
    """
    if method not in METHODS:
        raise ModelError(f"method must be one of {', '.join(map(repr, METHODS))}, not {method!r}")
    motion = _motion(mechanism, along, until, begin, t_eval, samples, guess, mode, parameters, open_joints)
    e = motion.equations
    freedoms = actuated(mechanism, actuators)
    labels = [label(mechanism, x) for x in freedoms]
    weight = _weights(weights, labels)
    wanted = _preload(e, preload, labels, motion)
    x = terms(e, freedoms, motion.t, motion.q, motion.v, motion.a, motion.p, motion.start)
    found = by_projection(x, weight, wanted)
    _check_balance(x, found, motion, labels)
    spring_forces = None
    if method != "projection":
        if found.internal.shape[2]:
            raise ModelError(
                f"method {method!r} has no choice among efforts, but {len(labels)} actuators move "
                f"{found.freedoms} freedoms here: use method='projection'"
            )
        if method == "denoc":
            u = by_natural_complement(x)
        else:
            u, spring_forces = by_spring_elimination(x)
        found = Balance(u, found.unbalanced, found.internal, found.conditioning, found.freedoms)
    return Efforts(motion, freedoms, tuple(labels), found, method, spring_forces)


def holding_efforts(
    mechanism: Mechanism,
    state: State | None = None,
    *,
    actuators: Sequence[str | Joint] | None = None,
    weights: Mapping[str, float] | None = None,
    preload: Mapping[str, Any] | None = None,
    method: str = "projection",
    parameters: Mapping[str, float] | None = None,
) -> Efforts:
    """Find the torques and forces that hold a mechanism at rest in a pose.

    Parameters
    ----------
    mechanism
        What is held.
    state
        Its pose, from `assemble`; velocities are ignored. Default: the mechanism's own start.
    actuators, weights, preload, method, parameters
        As for `inverse_dynamics`.

    Examples
    --------
    >>> import closedchain as cc
    >>> m = cc.library.gough_stewart(drive="none")
    >>> legs = [f"leg{k} slide" for k in range(1, 7)]
    >>> [round(float(cc.holding_efforts(m, actuators=legs)[leg][0]), 3) for leg in legs]
    [5.934, 4.672, 3.043, 5.82, 5.64, 4.107]
    """
    if state is None:
        state = assemble(mechanism, parameters=parameters)
    elif isinstance(state, State):
        if parameters is not None:
            raise ModelError("the parameters of a state are those that it was assembled with: give one or the other")
        state.check()
    else:
        raise ModelError(f"holding_efforts needs a state, from m.assemble(...), not {state!r}")
    rest = np.zeros_like(state.v)
    still = State(mechanism, state.q, rest, dict(state.parameters), state.t, state.open_joints, rest)
    return inverse_dynamics(mechanism, still, actuators=actuators, weights=weights, preload=preload, method=method)


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
        raise ModelError(f"actuators takes a list of joints or coordinates, not {actuators!r}")
    by_label = {x: (j.name, i) for j in mechanism.joints.values() for i, x in enumerate(j.velocity_labels())}
    out: list[Freedom] = []
    for given in actuators:
        name = given.name if isinstance(given, Joint) else given
        if name in by_label:
            out.append(by_label[name])
        elif isinstance(name, str) and name in mechanism.joints:
            out += [(name, i) for i in range(mechanism.joints[name].type.nv)]
        else:
            raise ModelError(f"actuators: no joint or coordinate is named {name!r}{suggest(str(name), by_label)}")
    if len(set(out)) != len(out):
        raise ModelError(f"actuators: {next(label(mechanism, x) for x in out if out.count(x) > 1)!r} is named twice")
    if not out:
        raise ModelError("actuators: name at least one coordinate")
    return tuple(out)


def label(mechanism: Mechanism, freedom: Freedom) -> str:
    """Name of an actuated freedom in results."""
    return mechanism.joints[freedom[0]].velocity_labels()[freedom[1]]


def _motion(
    mechanism: Mechanism,
    along: Mapping[Any, Any] | Motion | State | None,
    until: float | None,
    begin: float,
    t_eval: Any,
    samples: int,
    guess: Mapping[str, Any] | State | None,
    mode: str | None,
    parameters: Mapping[str, float] | None,
    open_joints: tuple[str, ...],
) -> Motion:
    if not isinstance(mechanism, Mechanism):
        raise ModelError(f"inverse_dynamics needs a cc.Mechanism, not {mechanism!r}")
    if isinstance(along, Motion | State):
        options = {"until": until, "t_eval": t_eval, "guess": guess, "mode": mode, "parameters": parameters}
        given = [name for name, value in options.items() if value is not None]
        if given:
            raise ModelError(f"a motion has its times and parameters already: leave out {', '.join(given)}")
        if along.mechanism is not mechanism:
            raise ModelError(f"the motion is one of {along.mechanism.name!r}, not of this {mechanism.name!r}")
        along.state(0).check() if isinstance(along, Motion) else along.check()
        e = derive(mechanism)
        if isinstance(along, Motion):
            return along if along.equations is e else _redrawn(e, along)
        a = np.zeros_like(along.v) if along.a is None else along.a
        return Motion(
            e, np.array([along.t]), along.q[None], along.v[None], a[None], along.parameters, along.open_joints
        )
    return follow(
        mechanism,
        along,
        until,
        begin=begin,
        t_eval=t_eval,
        samples=samples,
        guess=guess,
        mode=mode,
        parameters=parameters,
        open_joints=open_joints,
    )


def _redrawn(e: Equations, motion: Motion) -> Motion:
    """The same motion of a mechanism that has got something more to act on it since."""
    again = Motion(e, motion.t, motion.q, motion.v, motion.a, motion.parameters, motion.open_joints)
    again.conditioning = motion.conditioning
    return again


def _weights(weights: Mapping[str, float] | None, labels: list[str]) -> np.ndarray:
    out = np.ones(len(labels))
    for name, value in _by_name(weights, labels, "weights").items():
        if not isinstance(value, int | float | np.number) or not 0 < value < np.inf:
            raise ModelError(f"weights: the weight of {name!r} must be a positive number, not {value!r}")
        out[labels.index(name)] = value
    return out


def _preload(e: Equations, preload: Mapping[str, Any] | None, labels: list[str], motion: Motion) -> np.ndarray:
    import casadi as ca

    out = np.zeros((len(motion.t), len(labels)))
    for name, value in _by_name(preload, labels, "preload").items():
        value = value(time_leaf) if callable(value) and not isinstance(value, Expression) else value
        number = check_number(value, f"preload of {name!r}")
        for leaf in number.leaves() if isinstance(number, Expression) else ():
            if leaf.op not in ("time", "parameter"):
                raise ModelError(f"preload of {name!r} may depend on time and parameters only, not on {leaf}")
        f = ca.Function("preload", [e.limbs.t, e.limbs.p], [e.expression(number)])
        out[:, labels.index(name)] = [float(f(time, motion.p)) for time in motion.t]
    return out


def _by_name(given: Mapping[str, Any] | None, labels: list[str], what: str) -> Mapping[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ModelError(f"{what} takes a mapping by the name of the actuator, not {given!r}")
    for name in given:
        if name not in labels:
            raise ModelError(f"{what}: no actuator is named {name!r}{suggest(str(name), labels)}")
    return given


def _check_balance(x: Terms, found: Balance, motion: Motion, labels: list[str]) -> None:
    """Refuse a motion that the actuators cannot produce; say which part of it is not theirs to choose."""
    bound = UNBALANCED * float(x.force_size.max(initial=0.0))
    off = np.abs(found.unbalanced * x.velocity_size)  # N m
    if not np.isfinite(found.u).all():
        k = int(np.argmin(np.isfinite(found.u).all(axis=1)))
        raise ModelError(f"the efforts at t = {motion.t[k]:.6g} s are not finite: a force or torque there is not")
    if not off.size or off.max() <= bound:
        return
    k = int(np.argmax(off.max(axis=1)))
    names = x.equations.topology.v_labels
    order = np.argsort(-off[k])
    units = [u for link in x.equations.topology.links for u in link.joint.type.velocity_units]
    worst = int(order[0])
    moving = [names[i] for i in order if off[k, i] > 0.1 * off[k, worst]][:4]
    unit = "N" if units[worst] == "m/s" else "N m"
    lacking = found.freedoms - len(labels)
    why = (
        f"{len(labels)} actuator{'s' * (len(labels) != 1)} cannot choose {found.freedoms} freedoms"
        if lacking > 0
        else "the actuators are in a singular pose, where something moves although all of them are locked"
    )
    raise ModelError(
        f"the actuators ({', '.join(labels)}) of {x.equations.topology.mechanism.name!r} cannot produce this motion: "
        f"at t = {motion.t[k]:.6g} s {found.unbalanced[k, worst]:.4g} {unit} along {names[worst]!r} are missing "
        f"(the motion of {', '.join(map(repr, moving))} is not theirs to choose). {why}: add an actuator, or prescribe "
        "the actuated coordinates with m.drive(...) and simulate, which finds the rest of the motion"
    )
