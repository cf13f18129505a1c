"""`inverse_dynamics`: the efforts of motors that a motion takes, and `holding_efforts`: those that hold a pose."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from closedchain.arguments import suggest
from closedchain.derive.equations import Freedom
from closedchain.errors import AssemblyError, ModelError, RunWarning, warn
from closedchain.lock import locked
from closedchain.model.mechanism import Mechanism
from closedchain.model.parts import Joint
from closedchain.model.paths.checks import of_time
from closedchain.pose.assemble import assemble
from closedchain.pose.follow import Shapes
from closedchain.pose.inverse import (
    UNBALANCED,
    Terms,
    by_natural_complement,
    by_projection,
    by_spring_elimination,
    closing_forces,
    terms,
)
from closedchain.pose.state import State
from closedchain.results.efforts.efforts import Efforts
from closedchain.results.efforts.series_springs import SETTLED, deflected, series_springs
from closedchain.results.efforts.shapes_along import settle, shape_freedoms, shape_stiffness
from closedchain.results.motion.follow import SAMPLES, follow
from closedchain.results.motion.motion import Motion
from closedchain.results.run import Run
from closedchain.results.samples import Samples
from closedchain.results.vibration.locked import drives_of

METHODS = ("projection", "virtual-spring", "denoc")
DEAR = 1e10  # weight of what a shape would have to be given: nothing, if motors can do without
VIBRATING = (
    "Take a smoother or slower path or more samples; or prescribe the motion with m.drive(...) and simulate, which "
    "tells the efforts with all vibrations"
)
TREMBLES, VIBRATES = 1e-6, 1e-3  # of the forces: what may be missing along flexible bodies, with and without a warning
WEAK = 1e-3  # conditioning of the actuators below which one is told


def inverse_dynamics(
    mechanism: Mechanism,
    along: Mapping[Any, Any] | Motion | Run | State | None = None,
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
    assembly: str | None = None,
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
        Paths by frame, joint or coordinate, as for `follow`; or a `Motion` that `follow` found; or a `Run`, along whose
        motion efforts are then asked for; or a `State` with accelerations (none: zero), for a single instant. None: the
        drives say it all.
    until, begin, t_eval, samples, guess, assembly, parameters, open_joints
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

    def path(shapes: Shapes | None = None) -> Motion:
        return _motion(
            mechanism, along, until, begin, t_eval, samples, guess, assembly, parameters, open_joints, shapes
        )

    motion = path()
    freedoms = actuated(mechanism, actuators)
    labels = [label(mechanism, x) for x in freedoms]
    springs = series_springs(mechanism, motion, freedoms)
    if springs and method != "projection":
        raise ModelError(f"method {method!r} knows no springs between motors and joints: use method='projection'")
    # behind a spring the joint is an actuator too, until the spring gives all that it would; so are shapes, dearly
    bent = shape_freedoms(motion.samples.equations)
    asked = (*freedoms, *(x.output for x in springs), *bent)
    weight = np.concatenate([_weights(weights, labels), np.ones(len(springs)), np.full(len(bent), DEAR)])
    others = np.zeros((len(motion.t), len(springs) + len(bent)))
    wanted = np.hstack([_preload(motion, preload, labels), others])
    if bent:
        motion = _settled(motion, path, asked, weight, wanted, moves=not isinstance(along, Motion | Run | State))
    x, told, u = _solved(motion, asked, method, weight, wanted)
    if springs:
        motion = deflected(motion, springs, _continued(motion.t, told, u)[:, len(freedoms) :][:, : len(springs)])
        x, told, u = _solved(motion, asked, method, weight, wanted)
        missing = np.abs(u[:, len(freedoms) : len(freedoms) + len(springs)]).max(initial=0.0)
        if not missing <= SETTLED * np.abs(u).max(initial=0.0):
            raise ModelError(
                f"the springs between motors and joints of {mechanism.name!r} lack {missing:.3g} N or N m along this "
                "motion: take more samples, so that what they carry is known between them"
            )
    some = x.only(told)
    if preload and not x.redundancy:
        raise ModelError(
            f"preload: {len(labels)} actuators and {x.freedoms} freedoms leave no room for internal forces; the "
            "efforts are what the motion takes"
        )
    lam, left = closing_forces(some, u)
    _check_balance(some, u, left, motion.t[told], labels)
    _warn_of_singular_poses(some, motion.t[told])
    u, lam = (_continued(motion.t, told, values) for values in (u, lam))
    return Efforts(motion, tuple(labels), freedoms, x, told, u[:, : len(freedoms)], lam, method)


def _settled(
    motion: Motion,
    path: Callable[[Shapes | None], Motion],
    asked: tuple[Freedom, ...],
    weight: np.ndarray,
    wanted: np.ndarray,
    moves: bool,
) -> Motion:
    """The motion with flexible bodies bent as it bends them; one that was given as it is must be so already."""
    e, bent = motion.samples.equations, shape_freedoms(motion.samples.equations)
    name = e.topology.mechanism.name

    def lacking(shapes: Shapes | None) -> tuple[Motion, np.ndarray, np.ndarray, float]:
        try:
            now = motion if shapes is None else path(shapes)
        except AssemblyError:
            raise ModelError(
                f"along this path the flexible bodies of {name!r} would vibrate: bent as its accelerations ask, they "
                f"cannot be put together. {VIBRATING}"
            ) from None
        x, told, u = _solved(now, asked, "projection", weight, wanted)
        size = float((x.force_size / x.length).max(initial=0.0))
        return now, now.t, _continued(now.t, told, u)[:, -len(bent) :], size

    if moves:
        found, left = settle(lacking, shape_stiffness(e, motion.samples.parameters), motion.breaks)
    else:
        found, _, u, size = lacking(None)
        left = np.abs(u).max(initial=0.0) / max(size, 1e-300)
    if not left <= VIBRATES:
        worst = e.topology.mechanism.flexible[bent[0][0]].labels[0]
        if not moves:
            raise ModelError(
                f"this motion of {name!r} does not bend its flexible bodies as their stiffness asks: {left:.1e} of the "
                f"forces along {worst!r} and the like are missing. Give the path itself, of joints or frames, and they "
                "are bent as it takes"
            )
        raise ModelError(
            f"along this path the flexible bodies of {name!r} would vibrate: without vibration {left:.1e} of the "
            f"forces are missing. {VIBRATING}"
        )
    if left > TREMBLES:
        warn(
            f"along this path the flexible bodies of {name!r} cannot be quite free of vibration: {left:.1e} of the "
            "forces are missing in these efforts",
            RunWarning,
        )
    return found


def _solved(
    motion: Motion, asked: tuple[Freedom, ...], method: str, weight: np.ndarray, wanted: np.ndarray
) -> tuple[Terms, np.ndarray, np.ndarray]:
    """The terms at all samples, the samples where they tell something, and the efforts there."""
    at = motion.samples
    x = terms(at.equations, asked, at.t, at.q, at.v, at.a, at.p, motion.start, motion.idle)
    told = _regular(x)
    some = x.only(told)
    if method == "projection":
        return x, told, by_projection(some, weight, wanted[told])
    return x, told, by_natural_complement(some) if method == "denoc" else by_spring_elimination(some)


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
        Its pose, from `assemble`; velocities are ignored, also those of drives that are actuators. Default: the
        mechanism's own start.
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
        state = state.of(mechanism)
        if parameters is not None:
            raise ModelError("the parameters of a state are those that it was assembled with: give one or the other")
    else:
        raise ModelError(f"holding_efforts needs a state, from m.assemble(...), not {state!r}")
    # drives that are actuators stand still, wherever they would go
    names = [label(mechanism, x) for x in actuated(mechanism, actuators)]
    opened = tuple(dict.fromkeys([*state.open_joints, *drives_of(mechanism, names)]))
    if mechanism.flexible:  # they sag: only what is actuated stays where it is
        held = {name: state[name] for name in names}
        return inverse_dynamics(
            mechanism,
            held,
            t_eval=[state.t],
            guess=state,
            actuators=actuators,
            weights=weights,
            preload=preload,
            method=method,
            parameters=state.parameters,
            open_joints=opened,
        )
    rest = np.zeros_like(state.v)
    still = State(mechanism, state.q, rest, dict(state.parameters), state.t, opened, rest)
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
    along: Mapping[Any, Any] | Motion | Run | State | None,
    until: float | None,
    begin: float,
    t_eval: Any,
    samples: int,
    guess: Mapping[str, Any] | State | None,
    assembly: str | None,
    parameters: Mapping[str, float] | None,
    open_joints: tuple[str, ...],
    shapes: Shapes | None,
) -> Motion:
    if not isinstance(mechanism, Mechanism):
        raise ModelError(f"inverse_dynamics needs a cc.Mechanism, not {mechanism!r}")
    if isinstance(along, Motion | State) or (isinstance(along, Run) and not along.solution.has_elements):
        options = {"until": until, "t_eval": t_eval, "guess": guess, "assembly": assembly, "parameters": parameters}
        given = [name for name, value in options.items() if value is not None]
        if given:
            raise ModelError(f"a motion has its times and parameters already: leave out {', '.join(given)}")
        if isinstance(along, State):
            return Motion.instant(along.of(mechanism))
        if along.mechanism is not mechanism:
            raise ModelError(f"the motion is one of {along.mechanism.name!r}, not of this {mechanism.name!r}")
        return (along if isinstance(along, Motion) else _of_run(along)).now()
    if along is not None and not isinstance(along, Mapping):
        raise ModelError(
            "inverse_dynamics goes along paths by name, a motion from follow, a run on a floating frame, or a state, "
            f"not {along!r}. In a run with cc.ERLS(...) the effort of a drive is in run['joint.drive']"
        )
    return follow(
        mechanism,
        along,
        until,
        begin=begin,
        t_eval=t_eval,
        samples=samples,
        guess=guess,
        assembly=assembly,
        parameters=parameters,
        open_joints=open_joints,
        shapes=shapes,
    )


def _of_run(run: Run) -> Motion:
    """The motion of a run."""
    pieces = run._samples()
    first = pieces[0]
    if any(x.equations is not first.equations or x.open_joints != first.open_joints for x in pieces):
        raise ModelError("joints open or close in this run: take the part between with run.window(begin, until)")
    t, q, v, a = (np.concatenate([getattr(x, name) for x in pieces]) for name in "tqva")
    at = Samples(first.equations, t, q, v, a, first.parameters, open_joints=first.open_joints)
    return Motion(at, run.start.parameters)


def _weights(weights: Mapping[str, float] | None, labels: list[str]) -> np.ndarray:
    out = np.ones(len(labels))
    for name, value in _by_name(weights, labels, "weights").items():
        if not isinstance(value, int | float | np.number) or not 0 < value < np.inf:
            raise ModelError(f"weights: the weight of {name!r} must be a positive number, not {value!r}")
        out[labels.index(name)] = value
    return out


@locked
def _preload(motion: Motion, preload: Mapping[str, Any] | None, labels: list[str]) -> np.ndarray:
    e = motion.samples.equations
    out = np.zeros((len(motion.t), len(labels)))
    for name, value in _by_name(preload, labels, "preload").items():
        number = of_time(value, f"preload of {name!r}")
        f = ca.Function("preload", [e.limbs.t, e.limbs.p], [e.expression(number)])
        out[:, labels.index(name)] = [float(f(at, motion.samples.p)) for at in motion.t]
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


def _regular(x: Terms) -> np.ndarray:
    """Numbers of the samples at which the closures tell what moves; all of them if there are too few."""
    found = np.flatnonzero(x.regular)
    return found if len(found) > 1 else np.arange(len(x.r))


def _continued(t: np.ndarray, told: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Values at all samples from those at some: others lie on the polynomial through the six nearest of these."""
    out = np.empty((len(t), values.shape[1]))
    out[told] = values
    for k in np.setdiff1d(np.arange(len(t)), told):
        near = np.argsort(np.abs(t[told] - t[k]))[:6]
        at = (t[told][near] - t[k]) / np.ptp(t[told][near])
        out[k] = np.polynomial.polynomial.polyfit(at, values[near], len(near) - 1)[0]
    return out


def _check_balance(x: Terms, u: np.ndarray, left: np.ndarray, t: np.ndarray, labels: list[str]) -> None:
    """Refuse a motion that the actuators cannot produce; say which part of it is not theirs to choose."""
    if not np.isfinite(u).all():
        k = int(np.argmin(np.isfinite(u).all(axis=1)))
        raise ModelError(f"the efforts at t = {t[k]:.6g} s are not finite: a force or torque there is not")
    off = np.abs(left * x.velocity_size)  # N m
    sizes = np.maximum(x.force_size, 1e-6 * x.force_size.max(initial=0.0))  # rates have errors of their own
    bound = UNBALANCED * np.maximum(sizes, np.abs(u * x.effort_size).max(axis=1, initial=0.0))
    excess = off.max(axis=1, initial=0.0) / np.maximum(bound, 1e-300)
    k = int(np.argmax(excess))
    if not off.size or excess[k] <= 1.0:
        return
    names = x.equations.topology.v_labels
    order = np.argsort(-off[k])
    worst = int(order[0])
    moving = [names[i] for i in order if off[k, i] > 0.1 * off[k, worst]][:4]
    unit = "N" if x.equations.topology.v_units[worst] == "m/s" else "N m"
    why = (
        f"{len(labels)} actuator{'s' * (len(labels) != 1)} cannot choose {x.freedoms} freedoms"
        if x.freedoms > len(labels)
        else "the actuators are in a singular pose, where something moves although all of them are locked"
    )
    raise ModelError(
        f"the actuators ({', '.join(labels)}) of {x.equations.topology.mechanism.name!r} cannot produce this motion: "
        f"at t = {t[k]:.6g} s {left[k, worst]:.4g} {unit} along {names[worst]!r} are missing "
        f"(the motion of {', '.join(map(repr, moving))} is not theirs to choose). {why}: add an actuator, or prescribe "
        "the actuated coordinates with m.drive(...) and simulate, which finds the rest of the motion"
    )


def _warn_of_singular_poses(x: Terms, t: np.ndarray) -> None:
    """Say where the actuators lose their hold: efforts grow without bound there, and samples may miss it."""
    if len(x.actuators) < x.freedoms - x.idle or not len(t):
        return
    name, held = x.equations.topology.mechanism.name, x.conditioning
    k = int(np.argmin(held))
    if len(x.actuators) == x.freedoms > 0 and len(t) > 1:
        # the sign of what efforts do along motions that go on continuously
        N = x.motions / x.velocity_size[:, None]
        going_on = np.sign(np.linalg.det(np.einsum("nvf,nvg->nfg", N[:-1], N[1:])))
        sign = np.sign(np.linalg.det(x.felt))
        passed = np.flatnonzero(sign[1:] * sign[:-1] * going_on < 0)
        if len(passed):
            first, after = t[passed[0] : passed[0] + 2]
            warn(
                f"between t = {first:.6g} and {after:.6g} s the actuators of {name!r} pass a singular "
                "pose, where something moves although all of them are locked: near it the efforts grow without bound",
                RunWarning,
            )
            return
    if held[k] < WEAK:
        warn(
            f"the actuators of {name!r} hardly hold it at t = {t[k]:.6g} s (conditioning "
            f"{held[k]:.1e}; 0 is a singular pose): the efforts there are as large as that makes them",
            RunWarning,
        )
