"""`inverse_dynamics`: the efforts of motors that a motion takes, and `holding_efforts`: those that hold a pose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import numpy as np

from closedchain.arguments import needs, one_of
from closedchain.errors import ModelError
from closedchain.model.mechanism import Mechanism
from closedchain.model.parts import Joint
from closedchain.pose.assemble import assemble
from closedchain.pose.inverse import closing_forces
from closedchain.pose.state import State
from closedchain.results.efforts.actuators import actuated, label, preload_along, weights_of
from closedchain.results.efforts.along import METHODS, Question, continued, solved
from closedchain.results.efforts.efforts import Efforts
from closedchain.results.efforts.feasible import check_balance, warn_of_singular_poses
from closedchain.results.efforts.series_springs import SETTLED, deflected, series_springs
from closedchain.results.efforts.shapes_along import bent_as_loaded, shape_freedoms
from closedchain.results.motion.follow import PathOptions, check_options, follow
from closedchain.results.motion.motion import Motion
from closedchain.results.run import Run
from closedchain.results.samples import Samples
from closedchain.results.vibration.locked import drives_of

DEAR = 1e10  # weight of what a shape would have to be given: nothing, if motors can do without


def inverse_dynamics(
    mechanism: Mechanism,
    along: Mapping[Any, Any] | Motion | Run | State | None = None,
    until: float | None = None,
    *,
    actuators: Sequence[str | Joint] | None = None,
    weights: Mapping[str, float] | None = None,
    preload: Mapping[str, Any] | None = None,
    method: str = "projection",
    **path: Unpack[PathOptions],
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
    until
        End, s; that of the longest path unless given.
    actuators
        Which coordinates are actuated, by name (``"O"``, ``"table.x"``); default: all that have a motor or a drive.
    weights
        With more actuators than freedoms: cost weight of each actuator, by name; default 1. The efforts
        have the least ``sum weight effort^2`` (a torque divided by the size of the mechanism, where both torques and
        forces occur).
    preload
        With more actuators than freedoms: wanted efforts by name, numbers or functions of time; the result is as near
        to them as the motion allows. What they add are internal forces, which move nothing.
    method
        ``"projection"`` (default); for cross-checks, with as many actuators as freedoms: ``"virtual-spring"``, the
        elimination of Wang and others (2002, equation 20), or ``"denoc"``, the natural orthogonal complement.
    **path
        How the motion along paths is found: ``begin, t_eval, samples, guess, assembly, parameters, open_joints``, as
        for `follow`.

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
    one_of("method", method, METHODS)
    check_options("inverse_dynamics", path)
    motion = _motion(mechanism, along, until, path)
    freedoms = actuated(mechanism, actuators)
    labels = [label(mechanism, x) for x in freedoms]
    springs = series_springs(mechanism, motion, freedoms)
    if springs and method != "projection":
        raise ModelError(f"method {method!r} knows no springs between motors and joints: use method='projection'")
    # behind a spring the joint is an actuator too, until the spring gives all that it would; so are shapes, dearly
    bent = shape_freedoms(motion.samples.equations)
    others = np.zeros((len(motion.t), len(springs) + len(bent)))
    question = Question(
        freedoms=(*freedoms, *(x.output for x in springs), *bent),
        method=method,
        weight=np.concatenate([weights_of(weights, labels), np.ones(len(springs)), np.full(len(bent), DEAR)]),
        wanted=np.hstack([preload_along(motion, preload, labels), others]),
    )
    if bent:
        paths = None if isinstance(along, Motion | Run | State) else along
        found_here = paths is along  # a motion that was found before must be bent already
        again = (lambda shapes: follow(mechanism, paths, until, shapes=shapes, **path)) if found_here else None
        motion = bent_as_loaded(motion, question, again)
    x, regular, u = solved(motion, question)
    if springs:
        motion = deflected(motion, springs, continued(motion.t, regular, u)[:, len(freedoms) :][:, : len(springs)])
        x, regular, u = solved(motion, question)
        _check_springs(mechanism, u, u[:, len(freedoms) : len(freedoms) + len(springs)])
    some = x.only(regular)
    if preload and not x.redundancy:
        raise ModelError(
            f"preload: {len(labels)} actuators and {x.freedoms} freedoms leave no room for internal forces; the "
            "efforts are what the motion takes"
        )
    lam, left = closing_forces(some, u)
    check_balance(some, u, left, motion.t[regular], labels)
    warn_of_singular_poses(some, motion.t[regular])
    u, lam = (continued(motion.t, regular, values) for values in (u, lam))
    return Efforts(motion, tuple(labels), freedoms, x, regular, u[:, : len(freedoms)], lam, method)


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
    needs("holding_efforts", mechanism, Mechanism, "a cc.Mechanism")
    if state is None:
        state = assemble(mechanism, parameters=parameters)
    else:
        state = needs("holding_efforts", state, State, "a state, from m.assemble(...)").of(mechanism)
        if parameters is not None:
            raise ModelError("the parameters of a state are those that it was assembled with: give one or the other")
    # drives that are actuators stand still, wherever they would go
    names = [label(mechanism, x) for x in actuated(mechanism, actuators)]
    opened = tuple(dict.fromkeys([*state.open_joints, *drives_of(mechanism, names)]))
    if mechanism.flexible:  # they sag: only what is actuated stays where it is
        return inverse_dynamics(
            mechanism,
            {name: state[name] for name in names},
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


def _motion(
    mechanism: Mechanism, along: Mapping[Any, Any] | Motion | Run | State | None, until: float | None, path: PathOptions
) -> Motion:
    """The motion along paths, or the one that is there already."""
    needs("inverse_dynamics", mechanism, Mechanism, "a cc.Mechanism")
    if isinstance(along, Motion | State) or (isinstance(along, Run) and not along.solution.has_elements):
        options = {"until": until, **path}
        superfluous = [name for name, value in options.items() if value is not None]
        if superfluous:
            raise ModelError(f"a motion has its times and parameters already: leave out {', '.join(superfluous)}")
        if isinstance(along, State):
            return Motion.instant(along.of(mechanism))
        if along.mechanism is not mechanism:
            raise ModelError(f"the motion is one of {along.mechanism.name!r}, not of this {mechanism.name!r}")
        return (along if isinstance(along, Motion) else _of_run(along)).in_drawing()
    if along is not None and not isinstance(along, Mapping):
        raise ModelError(
            "inverse_dynamics goes along paths by name, a motion from follow, a run on a floating frame, or a state, "
            f"not {along!r}. In a run with cc.ERLS(...) the effort of a drive is in run['joint.drive']"
        )
    return follow(mechanism, along, until, **path)


def _of_run(run: Run) -> Motion:
    """The motion of a run."""
    pieces = run._samples()
    first = pieces[0]
    if any(x.equations is not first.equations or x.open_joints != first.open_joints for x in pieces):
        raise ModelError("joints open or close in this run: take the part between with run.window(begin, until)")
    t, q, v, a = (np.concatenate([getattr(x, name) for x in pieces]) for name in "tqva")
    at = Samples(first.equations, t, q, v, a, first.parameters, open_joints=first.open_joints)
    return Motion(at, run.start.parameters)


def _check_springs(mechanism: Mechanism, u: np.ndarray, missing: np.ndarray) -> None:
    """Refuse a motion whose series springs do not carry what their joints need."""
    most = np.abs(missing).max(initial=0.0)
    if not most <= SETTLED * np.abs(u).max(initial=0.0):
        raise ModelError(
            f"the springs between motors and joints of {mechanism.name!r} lack {most:.3g} N or N m along this "
            "motion: take more samples, so that what they carry is known between them"
        )
