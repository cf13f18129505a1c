"""`follow`: the motion of a whole mechanism when some of its frames or coordinates follow paths."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

import numpy as np

from closedchain.arguments import finite, increasing, mapping, needs, suggest, whole
from closedchain.derive.equations import derive
from closedchain.errors import AssemblyError, ModelError, RunWarning, warn
from closedchain.integrate.times import Every
from closedchain.model.mechanism import Mechanism
from closedchain.model.targets import Targets, path_targets
from closedchain.pose.assemble import assemble, assemblies
from closedchain.pose.follow import Follower, Found, LostError, Shapes, numbers
from closedchain.pose.state import State, parameter_vector
from closedchain.results.motion.jumps import jumps
from closedchain.results.motion.motion import Motion
from closedchain.results.samples import Samples

SAMPLES = 201
BESIDE = 1e-9  # of the whole time: how long before a jump it is looked at
MOST_SAMPLES = 10**8  # all of them are in memory


class PathOptions(TypedDict, total=False):
    """Options of `follow` that other verbs along paths take, too."""

    begin: float
    t_eval: Any
    samples: int
    guess: Mapping[str, Any] | State | None
    assembly: str | None
    parameters: Mapping[str, float] | None
    open_joints: tuple[str, ...]


def check_options(verb: str, path: PathOptions) -> None:
    """Refuse keywords that no verb along paths knows, as Python does."""
    for name in path:
        if name not in PathOptions.__annotations__:
            near = suggest(name, PathOptions.__annotations__)
            raise TypeError(f"{verb}() got an unexpected keyword argument {name!r}{near}")


def follow(
    mechanism: Mechanism,
    along: Mapping[Any, Any] | None = None,
    until: float | None = None,
    *,
    begin: float = 0.0,
    t_eval: Any = None,
    samples: int = SAMPLES,
    guess: Mapping[str, Any] | State | None = None,
    assembly: str | None = None,
    parameters: Mapping[str, float] | None = None,
    open_joints: tuple[str, ...] = (),
    shapes: Shapes | None = None,
) -> Motion:
    """Find the motion of a mechanism whose frames or coordinates follow paths.

    Frames on paths make it inverse kinematics, coordinates on paths forward kinematics; both may be mixed. Velocities
    and accelerations are exact: the paths are differentiated as formulas. Flexible bodies stay undeformed, unless their
    shapes are given: how a motion bends them is a question of forces, which `inverse_dynamics` answers.

    Parameters
    ----------
    mechanism
        What moves.
    along
        Paths by frame, joint or coordinate: ``{"platform": cc.paths.rose(0.05, period=2)}``. A coordinate also takes a
        number, an expression of ``cc.t`` or a function of time, a frame three of them. None: its drives say it all.
    until, begin
        End and beginning, s; the end is that of the longest path unless given.
    t_eval
        Times at which the motion is wanted: an array, or ``cc.Every(seconds)`` from the beginning on.
    samples
        Without ``t_eval``: the number of equally spaced times. Both sides of instants at which a path's acceleration
        jumps come on top.
    guess
        Where the first configuration is looked for, as in `assemble`: it decides on the working mode.
    assembly
        Label of a way to put the mechanism together, as `assemblies` names them, instead of a guess.
    parameters
        Parameter values for this call only.
    open_joints
        Cut joints that are open, as a foot in the air.
    shapes
        A function of time that gives the coordinates of the shapes of all flexible bodies, in the order of the
        mechanism's coordinates, and their first two rates.

    Raises
    ------
    AssemblyError
        If the path leaves the workspace; the message tells when, and the motion until then is in ``error.motion``.

    Examples
    --------
    >>> import closedchain as cc
    >>> motion = cc.follow(cc.library.four_bar(), {"O": lambda t: 1.0 + t}, until=1.0)
    >>> f"{float(motion['C'][-1]):.6f}"
    '1.466691'
    """
    needs("follow", mechanism, Mechanism, "a cc.Mechanism")
    parameters = None if parameters is None else mapping("parameters", parameters)
    e = derive(mechanism)
    if along is None and not mechanism.drives:
        raise ModelError(
            f"say what {mechanism.name!r} is to follow, for instance {{'platform': cc.paths.rose(0.05, period=2)}}"
        )
    targets = path_targets(mechanism, along or {})
    t = _times(targets, until, begin, t_eval, samples)
    p = parameter_vector(mechanism, dict(parameters or {}))
    hold, frames = numbers(e, targets, p, float(t[0]))
    start = _first(mechanism, hold, frames, float(t[0]), guess, assembly, parameters, open_joints)
    follower = Follower(e, targets, p, tuple(open_joints), shapes)
    first = follower.shaped(float(t[0]), _with_shafts(start, targets))

    def motion(found: Found, reached: int) -> Motion:
        samples = Samples(e, t[:reached], *found, p, open_joints=tuple(open_joints))
        conditioning = follower.conditioning(samples.t, samples.q)
        return Motion(samples, parameters, targets.breaks, conditioning, follower.idle)

    try:
        whole = motion(follower.follow(t, first), len(t))
    except LostError as error:
        if error.found is not None:
            error.motion = motion(error.found, len(error.found[0]))
        raise
    for sentence in [*map(str, whole.violations), *jumps(whole, follower, t_eval is None)]:
        warn(sentence, RunWarning)
    return whole


def _times(targets: Targets, until: float | None, begin: float, t_eval: Any, samples: int) -> np.ndarray:
    if t_eval is not None and not isinstance(t_eval, Every):
        return increasing("t_eval", np.atleast_1d(t_eval), meant="increasing times in seconds, or cc.Every(seconds)")
    until = targets.duration if until is None else until
    if until is None:
        raise ModelError("say until when the path is followed: until=2.0")
    until, begin = finite("until", until), finite("begin", begin)
    if not until > begin:
        raise ModelError(f"until ({until:g} s) must come after begin ({begin:g} s)")
    if isinstance(t_eval, Every):
        count = (until - begin) / t_eval.seconds
        _check_count(f"t_eval = {t_eval}", count)
        return begin + t_eval.seconds * np.arange(int(count * (1 + 1e-12)) + 1)
    samples = whole("samples", samples, 2)
    _check_count("samples", samples)
    t = np.linspace(begin, until, samples)
    # both sides of every jump, where peaks lie
    beside = BESIDE * (until - begin)
    inside = np.array([x for x in targets.breaks if begin + beside < x < until])
    apart = [x for x in t if not (np.abs(inside - x) < 2 * beside).any()]
    return np.unique(np.concatenate([apart, inside, inside - beside]))


def _check_count(name: str, count: float) -> None:
    if count > MOST_SAMPLES:
        raise ModelError(
            f"{name}: {count:.2g} samples are more than a motion can hold: take {MOST_SAMPLES:.0g} at most"
        )


def _first(
    m: Mechanism,
    hold: dict[str, float],
    frames: dict[Any, Any],
    t: float,
    guess: Mapping[str, Any] | State | None,
    assembly: str | None,
    parameters: Mapping[str, float] | None,
    open_joints: tuple[str, ...],
) -> State:
    """The configuration at the beginning."""
    if assembly is None:
        if guess is None and m.start:
            guess = _usual(m, parameters)
        try:
            return assemble(
                m,
                hold or None,
                frames=frames or None,
                guess=guess,
                time=t,
                parameters=parameters,
                open_joints=open_joints,
            )
        except AssemblyError as error:
            raise AssemblyError(
                f"the path begins, at t = {t:.6g} s, where {m.name!r} cannot be: outside its workspace, or with more "
                f"prescribed than it has freedoms.\n{error}"
            ) from None
    if guess is not None or open_joints:
        raise ModelError("give an assembly, or a guess and open joints, not both")
    found = assemblies(m, hold or None, frames=frames or None, time=t, parameters=parameters)
    for candidate in found:
        if candidate.label == assembly:
            return candidate.state
    known = ", ".join(repr(x.label) for x in found) or "none at all: the path begins outside the workspace"
    raise ModelError(f"{m.name!r} has no assembly {assembly!r} at the beginning of the path; known: {known}")


def _with_shafts(start: State, targets: Targets) -> np.ndarray:
    """The coordinates of a state with the shafts of motors where the joints behind their springs are."""
    q, topology = start.q.copy(), start.topology
    for target in targets.coordinates:
        if target.ahead_of is not None:
            joint, index = target.ahead_of
            q[topology.tree_joints[target.joint.name].q.start + target.index] = start[
                start.mechanism.joints[joint].labels()[index]
            ]
    return q


def _usual(m: Mechanism, parameters: Mapping[str, float] | None) -> State | None:
    """The mechanism's own start, to begin near it."""
    try:
        return assemble(m, parameters=parameters)
    except AssemblyError:
        return None
