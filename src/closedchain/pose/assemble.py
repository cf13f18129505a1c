"""Put a mechanism together: `assemble` finds a state that closes every loop, `assemblies` finds all of them.

The theory is in ``docs/theory/assembly.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from closedchain.arguments import finite, instance, known, mapping, names, needs, whole
from closedchain.cut.topology import Topology
from closedchain.derive.equations import derive
from closedchain.errors import AssemblyError, AssemblyWarning, ModelError, warn
from closedchain.model.expressions.expression import HUGE
from closedchain.model.mechanism import Mechanism
from closedchain.pose.closing import NEARLY, Closing, FramesAndGaps, active_rows, by_label, row_name, wanted_poses
from closedchain.pose.collapse import Collapse, collapse, scatter, unfolded
from closedchain.pose.redundancy import rank_lost
from closedchain.pose.state import State, parameter_vector
from closedchain.progress import visibly

RESTARTS = 24
PATIENT = 4  # so many of them go on by continuation where the direct search fails
SAME = 1e-5  # of the length: assemblies whose joints are closer than this are one


def assemble(
    mechanism: Mechanism,
    hold: Mapping[str, Any] | None = None,
    *,
    frames: Mapping[Any, Mapping[str, Any]] | None = None,
    guess: Mapping[str, Any] | State | None = None,
    velocity: Mapping[str, float] | None = None,
    acceleration: Mapping[str, float] | None = None,
    time: float = 0.0,
    parameters: Mapping[str, float] | None = None,
    open_joints: tuple[str, ...] = (),
    gaps: Mapping[str, float] | None = None,
    **joints: Any,
) -> State:
    """Find a state in which all loops are closed.

    Parameters
    ----------
    mechanism
        What to assemble.
    hold, **joints
        Coordinates to hold, by joint name (``O=1.2``, or in a mapping for names with spaces), or by the name of one
        coordinate (``{"table.x": 0.3}``); a sequence gives all coordinates of a joint. Without any, and without
        frames, ``mechanism.start``.
    frames
        Frames to hold: ``{"platform": {"position": (0, 0, 1), "rpy": (0, 0.1, 0)}}``. A position component of None is
        free; ``rotation`` takes a matrix instead of ``rpy``. ``velocity``, ``angular_velocity``, ``acceleration`` and
        ``angular_acceleration`` hold the rates of a frame, in world axes.
    guess
        Where the search starts, the same way as ``hold``, or a state; joints not mentioned start at their own guess.
    velocity
        Velocities to hold. Those that the loops leave undetermined are as small as possible.
    acceleration
        Accelerations to hold, likewise; they are found in ``state.a``.
    time
        Time of the state, s; it matters where motions are prescribed.
    parameters
        Parameter values for this call only.
    open_joints
        Cut joints to leave open: a run does without them.
    gaps
        How far closure rows are to be open, m or rad, by the names that `VirtualSpring` takes: ``{"B x": 1e-3}``. The
        joints are closed by stretched springs then: for `VirtualSpring` and `ModifiedDeNOC` only. The gaps begin at
        rest.

    Raises
    ------
    AssemblyError
        With the residual of each loop, if no closed configuration was found.

    Examples
    --------
    >>> import closedchain as cc
    >>> start = cc.library.four_bar().assemble(O=cc.pi / 2)
    >>> round(start["C"], 6)
    1.264858
    """
    asked = _Asked(hold, joints, frames, guess, velocity, time, parameters, open_joints, gaps)
    closing, wanted = _prepare(mechanism, asked)
    q, v, a, folds = _search(closing, wanted, acceleration)
    state = State(mechanism, q, v, dict(parameters or {}), time, tuple(open_joints), a)
    if folds and len(closing.columns):  # a pose that is held altogether is meant
        _warn(folds, state)
    return state


def folded(mechanism: Mechanism, hold: Mapping[str, Any] | None) -> tuple[State, bool]:
    """The state that `assemble` finds, and whether bodies coincide there; without a warning."""
    closing, wanted = _prepare(mechanism, _Asked(hold))
    q, v, _, folds = _search(closing, wanted)
    return State(mechanism, q, v), bool(folds)


def _search(
    closing: Closing, wanted: dict[str, float], acceleration: Mapping[str, float] | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, Collapse]:
    """A closed pose, velocities and accelerations there, and which bodies coincide."""
    closing.check_fixed()
    rng = np.random.default_rng(0)  # restarts must be the same each time
    best = closing.q0
    for attempt in visibly(range(1 + RESTARTS), "searching a closed pose"):
        start = closing.q0
        if attempt:
            moved = rng.normal(0, 0.1 * attempt**0.5, len(closing.columns))
            start = closing.count(closing.step(start, closing.column_size * moved))
        reached = closing.reach(start, patiently=attempt < PATIENT)
        if closing.closes(reached):
            reached = closing.settle(closing.polish(reached))
        if closing.closes(reached):
            q = reached
            folds = collapse(closing, q)
            if folds:
                q = unfolded(closing, q)
                folds = collapse(closing, q)
            v = closing.velocities(q, wanted)
            asked = acceleration is not None or any("acceleration" in name for x in closing.poses for name in x.rates)
            a = closing.accelerations(q, v, _rates(closing, acceleration, "acceleration")) if asked else None
            return q, v, a, folds
        if closing.error(reached) < closing.error(best):
            best = reached
    raise AssemblyError(closing.complaint(best))


@dataclass(frozen=True, eq=False)
class Assembly:
    """One way to put a mechanism together: its state, and the signs that tell it from the others.

    ``coincident`` are pairs of bodies that lie on each other by chance, where it is collapsed.
    """

    label: str
    state: State
    coincident: tuple[tuple[str, str], ...] = ()

    def __repr__(self) -> str:
        folded = "".join(f", {a!r} on {b!r}" for a, b in self.coincident)
        return f"Assembly({self.label!r}, {self.state}{folded})"


def assemblies(
    mechanism: Mechanism,
    hold: Mapping[str, Any] | None = None,
    *,
    frames: Mapping[Any, Mapping[str, Any]] | None = None,
    velocity: Mapping[str, float] | None = None,
    time: float = 0.0,
    parameters: Mapping[str, float] | None = None,
    starts: int = 200,
    seed: int = 0,
    **joints: Any,
) -> list[Assembly]:
    """Find the distinct closed configurations for given inputs.

    Held coordinates give assembly modes (forward kinematics), held frames give working modes (inverse kinematics). The
    search starts from ``starts`` random configurations: what it finds exists, but that it found all is likely, not
    proven.

    Parameters
    ----------
    hold, **joints, frames, velocity, time, parameters
        As for `assemble`. Each state has velocities that keep the loops closed and follow prescribed motions.
    starts, seed
        Number of random starts, and where they come from.

    Returns
    -------
    list of Assembly
        Ordered by label. A label names the coordinates whose signs differ between them, for instance
        ``"elbow1+ elbow2-"``; assemblies with equal signs are numbered.

    Examples
    --------
    >>> import closedchain as cc
    >>> [x.label for x in cc.library.four_bar().assemblies(O=1.0)]
    ['C+', 'C-']
    """
    starts, seed = whole("starts", starts, 1), whole("seed", seed, 0)
    closing, wanted = _prepare(mechanism, _Asked(hold, joints, frames, None, velocity, time, parameters))
    closing.check_fixed()
    rng = np.random.default_rng(seed)
    found: list[np.ndarray] = []
    places: list[np.ndarray] = []
    for attempt in visibly(range(starts), "searching closed poses"):
        q = closing.q0 if attempt == 0 else scatter(closing, rng)
        q = closing.search(q, iterations=60)
        if not closing.closes(q, NEARLY):
            continue
        q = closing.settle(closing.polish(q))
        # two configurations are one if all joints are at the same places, whatever the names of their angles
        place = np.array(closing.places(q)).ravel()
        if not any(np.abs(place - other).max() < SAME * closing.scale.length for other in places):
            found.append(q)
            places.append(place)
    states, refused = [], None
    for q in found:
        try:
            v = closing.velocities(q, wanted)
        except AssemblyError as error:  # at a singular pose, perhaps; others may move
            refused = error
            continue
        states.append(State(mechanism, q, v, dict(parameters or {}), time))
    if refused is not None and not states:
        raise refused
    if refused is not None:
        warn(
            f"{len(found) - len(states)} of {len(found)} assemblies of {mechanism.name!r} are left out: {refused}",
            AssemblyWarning,
        )
    return _labelled(states, closing)


@dataclass(frozen=True)
class _Asked:
    """What a pose is asked for; the attributes are arguments of `assemble`."""

    hold: Mapping[str, Any] | None
    joints: Mapping[str, Any] = field(default_factory=dict)
    frames: Mapping[Any, Mapping[str, Any]] | None = None
    guess: Mapping[str, Any] | State | None = None
    velocity: Mapping[str, float] | None = None
    time: float = 0.0
    parameters: Mapping[str, float] | None = None
    open_joints: tuple[str, ...] = ()
    gaps: Mapping[str, float] | None = None

    def check(self) -> None:
        """Refuse arguments of another kind."""
        for name in ("hold", "frames", "velocity", "parameters"):
            mapping(name, getattr(self, name))
        if self.guess is not None and not isinstance(self.guess, State):
            instance("guess", self.guess, Mapping, "a mapping by joint or coordinate, or a state")
        finite("time", self.time, HUGE)
        names("open_joints", self.open_joints, "names of cut joints")


def _prepare(mechanism: Mechanism, asked: _Asked) -> tuple[Closing, dict[str, float]]:
    """The search for a pose, and the velocities that are held there."""
    needs("assemble", mechanism, Mechanism, "a cc.Mechanism")
    asked.check()
    e = derive(mechanism)
    held, velocity = dict(asked.hold or {}) | dict(asked.joints), asked.velocity
    if not held and not asked.frames:
        held = dict(mechanism.start)
        velocity = velocity or mechanism.start_velocity
    near = _as_guess(e.topology, asked.guess) if isinstance(asked.guess, State) else asked.guess or {}
    held, guess = by_label(e.topology, held, "hold"), by_label(e.topology, near, "guess")
    shapes = [x for link in e.topology.links if link.shape is not None for x in link.shape.labels() if x not in guess]
    closing = Closing(
        e,
        parameter_vector(mechanism, dict(asked.parameters or {})),
        time=float(asked.time),
        held=dict.fromkeys(shapes, 0.0) | held,  # flexible bodies are put together undeformed
        guess=guess,
        beside=FramesAndGaps(wanted_poses(e, asked.frames), _gaps(e, asked.gaps, asked.open_joints)),
        rows=active_rows(e, asked.open_joints),
        open_joints=asked.open_joints,
    )
    return closing, dict.fromkeys(shapes, 0.0) | _rates(closing, velocity, "velocity")


def _as_guess(topology: Topology, state: State) -> dict[str, float]:
    """Coordinates of a state by name, as far as the mechanism has them: of an older drawing, or of another one."""
    if state.q.shape != (len(state.labels),):
        raise ModelError(
            f"guess: q of the state has the shape {state.q.shape}, but its mechanism {state.mechanism.name!r} has "
            f"{len(state.labels)} coordinates: take the state from m.assemble(...)"
        )
    found = {x: y for x, y in zip(state.labels, state.q.tolist(), strict=True) if x in topology.q_labels}
    if not found and topology.q_labels:
        raise ModelError(
            f"guess: the state of {state.mechanism.name!r} has no coordinate of {topology.mechanism.name!r}: "
            f"{', '.join(topology.q_labels[:8])}"
        )
    return found


def _rates(closing: Closing, wanted: Mapping[str, float] | None, what: str) -> dict[str, float]:
    labels = closing.velocity_labels
    return {
        known(f"{what}: no joint velocity is named", label, labels): finite(f"{what}: {label!r}", value, HUGE)
        for label, value in mapping(what, wanted).items()
    }


def _gaps(e: Any, gaps: Mapping[str, float] | None, open_joints: tuple[str, ...]) -> dict[str, float]:
    """Wanted residuals of closure rows, by the names of the rows."""
    rows = [row_name(e, row) for row in active_rows(e, open_joints)]
    fixed = [f"{row.joint} {row.label}" for row in e.closure.fixed]
    out: dict[str, float] = {}
    for name, value in mapping("gaps", gaps, "closure row, {'B x': 1e-3}").items():
        if name in fixed:
            raise ModelError(f"gaps: no motion opens the closure row {name!r}")
        out[known("gaps: there is no closure row", name, rows)] = finite(f"gaps: {name!r}", value, HUGE)
    return out


def _warn(folds: Collapse, state: State) -> None:
    """Warn of bodies that coincide at a state."""
    e = derive(state.mechanism)
    p, rows = parameter_vector(state.mechanism, state.parameters), active_rows(e, state.open_joints)
    lost = rank_lost(Closing(e, p, time=state.t, rows=rows), state.q)
    rank = f" The rank of the closures is {lost} less there than around it." if lost else ""
    warn(
        f"degenerate assembly of {state.mechanism.name!r}: {folds}.{rank} For other poses give another guess=, hold "
        "other values, or take one of m.assemblies(...) whose .coincident is empty",
        AssemblyWarning,
    )


def _labelled(states: list[State], closing: Closing) -> list[Assembly]:
    """Tell assemblies apart by the signs of as few angles as possible."""
    if not states:
        return []
    values = [s.coordinates for s in states]
    units = {x: u for j in closing.topology.joints for x, u in zip(j.labels(), j.type.coordinate_units, strict=True)}
    signs = {
        label: [np.sin(v[label]) > 0 for v in values]
        for label, unit in units.items()
        if unit == "rad" and label not in closing.held
    }
    clear = {label: min(abs(float(np.sin(v[label]))) for v in values) for label in signs}  # far from changing sign
    chosen: list[str] = []
    classes = 1
    while True:  # the next angle is the one that splits most
        splits = {
            x: (len({tuple(signs[y][i] for y in [*chosen, x]) for i in range(len(states))}), clear[x]) for x in signs
        }
        best = max(splits, key=lambda x: splits[x], default=None)
        if best is None or splits[best][0] <= classes:
            break
        chosen.append(best)
        classes = splits[best][0]
    chosen.sort(key=list(units).index)
    names = [" ".join(f"{x}{'+' if signs[x][i] else '-'}" for x in chosen) for i in range(len(states))]
    order = sorted(range(len(states)), key=lambda i: (names[i], states[i].q.tolist()))
    out, seen = [], dict.fromkeys(names, 0)
    for i in order:
        seen[names[i]] += 1
        number = f" #{seen[names[i]]}" if names.count(names[i]) > 1 else ""
        label = (names[i] + number).strip() or "only"
        out.append(Assembly(label, states[i], collapse(closing, states[i].q).bodies))
    return out
