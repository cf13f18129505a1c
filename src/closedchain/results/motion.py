"""`follow`: the motion of a whole mechanism when some of its frames or coordinates follow paths."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from closedchain.cut.topology import cut
from closedchain.derive.equations import Equations, derive
from closedchain.errors import AssemblyError, ModelError, RunWarning
from closedchain.march.assemble import assemble, assembly_modes
from closedchain.march.follow import Follower, LostError, numbers
from closedchain.march.state import State, parameter_vector
from closedchain.model.expression import Number
from closedchain.model.mechanism import Mechanism
from closedchain.model.parts import suggest
from closedchain.model.paths import splines
from closedchain.model.wishes import Wishes, wishes

if TYPE_CHECKING:
    import pandas
    import xarray

SAMPLES = 201
THINNED = 1e-8  # of a coordinate's range: how far a reference may be off at samples that it leaves out


@dataclass(frozen=True)
class Violation:
    """A coordinate that leaves its limits: from when to when, how far, and which limit."""

    coordinate: str
    begin: float
    end: float
    worst: float
    limit: float
    unit: str

    def __str__(self) -> str:
        return (
            f"{self.coordinate!r} is beyond its limit {self.limit:.6g} {self.unit} from t = {self.begin:.6g} to "
            f"{self.end:.6g} s; at most it is {self.worst:.6g} {self.unit}"
        )


class Motion:
    """A motion along paths: coordinates, velocities and accelerations of every joint at sample times.

    ``motion["O"]`` is the coordinate of joint O over time, ``motion["O'"]`` its velocity, ``motion["O''"]`` its
    acceleration, for tree joints and cut joints alike; ``motion.dataset`` holds all of it with units.

    Attributes
    ----------
    t
        Sample times, s.
    q, v, a
        Coordinates (n x nq), velocities and accelerations (n x nv) of the cut mechanism, numbered as in `State`.
    parameters
        Values that differed from the mechanism's own.
    open_joints
        Cut joints that are open.
    violations
        Coordinates that leave their limits.
    """

    def __init__(
        self,
        e: Equations,
        t: np.ndarray,
        q: np.ndarray,
        v: np.ndarray,
        a: np.ndarray,
        parameters: Mapping[str, float] | None = None,
        open_joints: tuple[str, ...] = (),
    ) -> None:
        self.equations = e
        self.mechanism: Mechanism = e.topology.mechanism
        self.t, self.q, self.v, self.a = t, q, v, a
        self.parameters = dict(parameters or {})
        self.open_joints = tuple(open_joints)
        self.p = parameter_vector(self.mechanism, self.parameters)
        self.conditioning = np.ones(len(t))

    @property
    def start(self) -> State:
        """The state at the beginning, to simulate from."""
        return self.state(0)

    def state(self, index: int = -1) -> State:
        """The state at one of the samples."""
        if not isinstance(index, int | np.integer) or not -len(self.t) <= index < len(self.t):
            raise ModelError(
                f"the motion has {len(self.t)} samples: its states are numbered 0 to {len(self.t) - 1}, not {index!r}"
            )
        q, v, a = self._in_drawing(index)
        return State(self.mechanism, q, v, dict(self.parameters), float(self.t[index]), self.open_joints, a)

    def _in_drawing(self, index: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coordinates, velocities and accelerations as the drawing of now numbers them: its cuts may have changed."""
        then, now = self.equations.topology, cut(self.mechanism)
        if (then.q_labels, then.v_labels) == (now.q_labels, now.v_labels):
            return self.q[index], self.v[index], self.a[index]
        coordinates = [x for j in then.joints for x in j.labels()]
        velocities = [x for j in then.joints for x in j.velocity_labels()]
        if not set(now.q_labels) <= set(coordinates):
            raise ModelError(f"joints were drawn in {self.mechanism.name!r} after the motion was found: find it again")
        at_q = [coordinates.index(x) for x in now.q_labels]
        at_v = [velocities.index(x) for x in now.v_labels]
        found = self._joints
        return found["q"][index, at_q], found["v"][index, at_v], found["a"][index, at_v]

    @cached_property
    def _joints(self) -> dict[str, np.ndarray]:
        """Coordinates, velocities and accelerations of all joints, each (n, size), in the order of the drawing."""
        e = self.equations
        derived = self.mechanism._derived
        if "joint motions" not in derived:
            a = ca.SX.sym("a", e.topology.nv)
            joints = e.topology.joints
            columns = [
                ca.vertcat(ca.SX(0, 1), *(e.measures.coordinates(j) for j in joints)),
                ca.vertcat(ca.SX(0, 1), *(e.measures.velocities(j) for j in joints)),
                ca.vertcat(ca.SX(0, 1), *(ca.densify(e.measures.jacobian(j) @ a + e.measures.bias(j)) for j in joints)),
            ]
            derived["joint motions"] = ca.Function("joint_motions", [*e.symbols.values(), a], columns)
        n = len(self.t)
        p = np.tile(self.p, (n, 1)).T
        found = derived["joint motions"].map(n)(self.t[None], self.q.T, self.v.T, p, self.a.T)
        return dict(zip("qva", (np.array(x).T for x in found), strict=True))

    @cached_property
    def dataset(self) -> xarray.Dataset:
        """All joints over time, with units: coordinates, velocities with a prime, accelerations with two."""
        import xarray

        variables: dict[str, Any] = {}
        iq = iv = 0
        for joint in self.equations.topology.joints:
            kind = joint.type
            for label, unit in zip(joint.labels(), kind.coordinate_units, strict=True):
                variables[label] = ("time", self._joints["q"][:, iq], {"units": unit, "joint": joint.name})
                iq += 1
            for name, label, unit in zip(kind.velocities, joint.velocity_labels(), kind.velocity_units, strict=True):
                prime = "'" if name in kind.coordinates else ""
                variables[label + prime] = ("time", self._joints["v"][:, iv], {"units": unit, "joint": joint.name})
                faster = {"units": unit + "^2", "joint": joint.name}
                variables[label + prime + "'"] = ("time", self._joints["a"][:, iv], faster)
                iv += 1
        about = {"units": "1", "about": "0 where the path does not determine the motion"}
        variables["path_conditioning"] = ("time", self.conditioning, about)
        attrs = {"mechanism": self.mechanism.name}
        return xarray.Dataset(variables, {"time": ("time", self.t, {"units": "s"})}, attrs)

    def __getitem__(self, name: str) -> xarray.DataArray:
        if name not in self.dataset:
            raise ModelError(f"the motion has no variable {name!r}{suggest(name, self.dataset.data_vars)}")
        return self.dataset[name]

    def reference(self, label: str) -> Number:
        """A coordinate as an expression of time, for controllers and drives.

        It is a polynomial of degree five between each two of some samples, with their coordinates, velocities and
        accelerations, which are exact. Samples are left out where the polynomials are right without them, to 1e-8 of
        the coordinate's range: the fewer they are, the less a run with the reference costs.
        """
        scalars = self.scalars
        if label not in scalars:
            raise ModelError(f"the motion has no coordinate {label!r}{suggest(label, scalars)}")
        column_q, column_v = scalars[label]
        found = self._joints
        y, v, a = found["q"][:, column_q], found["v"][:, column_v], found["a"][:, column_v]
        at = _needed(self.t, y, v, a)
        return splines.through(self.t[at], y[at], v[at], a[at])

    @cached_property
    def scalars(self) -> dict[str, tuple[int, int]]:
        """Coordinates whose rate is a velocity, by name: their columns among all coordinates and velocities."""
        out: dict[str, tuple[int, int]] = {}
        iq = iv = 0
        for joint in self.equations.topology.joints:
            if not joint.type.has_quaternion:
                for k, label in enumerate(joint.labels()):
                    out[label] = (iq + k, iv + k)
            iq, iv = iq + joint.type.nq, iv + joint.type.nv
        return out

    @cached_property
    def violations(self) -> list[Violation]:
        """Coordinates that leave the limits of their joints, with the times."""
        out = []
        for joint in self.equations.topology.joints:
            for k, limits in enumerate(joint.limits):
                if limits is None or joint.type.has_quaternion:
                    continue
                label = joint.labels()[k]
                column_q, column_v = self.scalars[label]
                values, rates = self._joints["q"][:, column_q], self._joints["v"][:, column_v]
                for limit, sign in zip(limits, (-1.0, 1.0), strict=True):
                    unit = joint.type.coordinate_units[k]
                    out += [
                        Violation(label, begin, end, limit + sign * worst, limit, unit)
                        for begin, end, worst in _stretches(self.t, sign * (values - limit), sign * rates)
                    ]
        return sorted(out, key=lambda x: x.begin)

    def frame(self, frame: Any) -> xarray.Dataset:
        """Position, rotation, velocity and acceleration of a frame or body over time, in world axes."""
        import xarray

        from closedchain.model.parts import Body, Frame

        if isinstance(frame, Body):
            frame = frame["origin"]
        frame = frame if isinstance(frame, Frame) else self.mechanism.find_frame(frame)
        e = self.equations
        at = e.motion.frame(frame)
        a = ca.SX.sym("a", e.topology.nv)
        fall = e.limbs.vector(self.mechanism.gravity)
        columns = {
            "position": at.X.r,
            "rotation": ca.vec(ca.densify(at.X.R)),
            "velocity": at.velocity.lin,
            "angular_velocity": at.velocity.ang,
            "acceleration": at.J.lin @ a + at.bias.lin + fall,
            "angular_acceleration": at.J.ang @ a + at.bias.ang,
        }
        f = ca.Function("frame", [*e.symbols.values(), a], [ca.densify(x) for x in columns.values()])
        n = len(self.t)
        got = f.map(n)(self.t[None], self.q.T, self.v.T, np.tile(self.p, (n, 1)).T, self.a.T)
        values = dict(zip(columns, (np.array(x).T for x in got), strict=True))
        units = {"velocity": "m/s", "angular_velocity": "rad/s", "acceleration": "m/s^2", "position": "m"}
        units["angular_acceleration"] = "rad/s^2"
        variables: dict[str, Any] = {k: (("time", "axis"), values[k], {"units": u}) for k, u in units.items()}
        turned = values["rotation"].reshape(n, 3, 3).transpose(0, 2, 1)  # columns come first
        variables["rotation"] = (("time", "axis", "frame_axis"), turned, {"units": "1"})
        coords = {"time": ("time", self.t, {"units": "s"}), "axis": list("xyz"), "frame_axis": list("xyz")}
        return xarray.Dataset(variables, coords, {"frame": f"{frame.body.name}.{frame.name}", "axes": "world"})

    def to_dataframe(self) -> pandas.DataFrame:
        """One column for each variable, indexed by time."""
        return self.dataset.to_dataframe()

    def __repr__(self) -> str:
        said = f", {len(self.violations)} limits violated" if self.violations else ""
        return f"Motion({self.mechanism.name!r} from {self.t[0]:g} to {self.t[-1]:g} s, {len(self.t)} samples{said})"


def follow(
    mechanism: Mechanism,
    along: Mapping[Any, Any] | None = None,
    until: float | None = None,
    *,
    begin: float = 0.0,
    t_eval: Any = None,
    samples: int = SAMPLES,
    guess: Mapping[str, Any] | State | None = None,
    mode: str | None = None,
    parameters: Mapping[str, float] | None = None,
    open_joints: tuple[str, ...] = (),
) -> Motion:
    """Find the motion of a mechanism whose frames or coordinates follow paths.

    Frames on paths make it inverse kinematics, coordinates on paths forward kinematics; both may be mixed. Velocities
    and accelerations are exact: the paths are differentiated as formulas.

    Parameters
    ----------
    mechanism
        What moves.
    along
        Paths by frame, joint or coordinate: ``{"platform": cc.paths.rose(0.05, period=2)}``. A coordinate also takes a
        number, an expression of ``cc.t`` or a function of time, a frame three of them. None: its drives say it all.
    until, begin
        End and beginning, s; the end is that of the longest path unless given.
    t_eval, samples
        Times at which the motion is wanted, or how many equally spaced ones.
    guess
        Where the first configuration is looked for, as in `assemble`: it decides on the working mode.
    mode
        Label of a working or assembly mode, as `assembly_modes` names them, instead of a guess.
    parameters
        Parameter values for this call only.
    open_joints
        Cut joints that are open, as a foot in the air.

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
    if not isinstance(mechanism, Mechanism):
        raise ModelError(f"follow needs a cc.Mechanism, not {mechanism!r}")
    e = derive(mechanism)
    if along is None and not mechanism.drives:
        raise ModelError(
            f"say what {mechanism.name!r} is to follow, for instance {{'platform': cc.paths.rose(0.05, period=2)}}"
        )
    asked = wishes(mechanism, along or {})
    t = _times(asked, until, begin, t_eval, samples)
    p = parameter_vector(mechanism, dict(parameters or {}))
    hold, frames = numbers(e, asked, p, float(t[0]))
    start = _first(mechanism, hold, frames, float(t[0]), guess, mode, parameters, open_joints)
    follower = Follower(e, asked, p, tuple(open_joints))
    try:
        q, v, a = follower.follow(t, start.q)
    except LostError as error:
        if error.reached:
            t = t[: error.reached]
            error.motion = Motion(e, t, *follower.follow(t, start.q), parameters, open_joints)
        raise
    motion = Motion(e, t, q, v, a, parameters, open_joints)
    motion.conditioning = follower.conditioning(t, q)
    for violation in motion.violations:
        warnings.warn(str(violation), RunWarning, stacklevel=2)
    return motion


def _times(asked: Wishes, until: float | None, begin: float, t_eval: Any, samples: int) -> np.ndarray:
    if t_eval is not None:
        t = np.atleast_1d(np.asarray(t_eval, float))
        if t.ndim != 1 or not len(t) or not np.isfinite(t).all() or (len(t) > 1 and not (np.diff(t) > 0).all()):
            raise ModelError("t_eval takes increasing times in seconds")
        return t
    until = asked.duration if until is None else until
    if until is None:
        raise ModelError("say until when the path is followed: until=2.0")
    for name, value in (("until", until), ("begin", begin)):
        if not isinstance(value, int | float | np.number) or not np.isfinite(value):
            raise ModelError(f"{name} must be a finite time in seconds, not {value!r}")
    if not until > begin:
        raise ModelError(f"until ({until:g} s) must come after begin ({begin:g} s)")
    if not isinstance(samples, int | np.integer) or samples < 2:
        raise ModelError(f"samples must be a whole number of at least 2, not {samples!r}")
    return np.linspace(begin, until, int(samples))


def _first(
    m: Mechanism,
    hold: dict[str, float],
    frames: dict[Any, Any],
    t: float,
    guess: Mapping[str, Any] | State | None,
    mode: str | None,
    parameters: Mapping[str, float] | None,
    open_joints: tuple[str, ...],
) -> State:
    """The configuration at the beginning."""
    if mode is None:
        if guess is None and m.start:
            guess = _usual(m, parameters)
        return assemble(
            m,
            hold or None,
            frames=frames or None,
            guess=guess,
            time=t,
            parameters=parameters,
            open_joints=open_joints,
        )
    if guess is not None or open_joints:
        raise ModelError("give a mode, or a guess and open joints, not both")
    found = assembly_modes(m, hold or None, frames=frames or None, time=t, parameters=parameters)
    for candidate in found:
        if candidate.label == mode:
            return candidate.state
    known = ", ".join(repr(x.label) for x in found) or "none at all: the path begins outside the workspace"
    raise ModelError(f"{m.name!r} has no mode {mode!r} at the beginning of the path; known: {known}")


def _usual(m: Mechanism, parameters: Mapping[str, float] | None) -> State | None:
    """The mechanism's own start, to begin near it."""
    try:
        return assemble(m, parameters=parameters)
    except AssemblyError:
        return None


def _needed(t: np.ndarray, y: np.ndarray, v: np.ndarray, a: np.ndarray) -> list[int]:
    """Samples through which polynomials of degree five go that are right at all the others."""
    bound = THINNED * max(float(np.ptp(y)), 1e-3)
    kept, open_ = [0], [(0, len(t) - 1)]
    while open_:
        first, last = open_.pop()
        inside = slice(first + 1, last)
        if last - first < 2 or np.abs(_quintic(t, y, v, a, first, last, t[inside]) - y[inside]).max() <= bound:
            kept.append(last)
            continue
        middle = (first + last) // 2
        open_ += [(middle, last), (first, middle)]
    return kept


def _quintic(
    t: np.ndarray, y: np.ndarray, v: np.ndarray, a: np.ndarray, first: int, last: int, at: np.ndarray
) -> np.ndarray:
    """The polynomial of degree five with values and two derivatives of two samples, at times between them."""
    from scipy.interpolate import BPoly

    ends = [[y[k], v[k], a[k]] for k in (first, last)]
    return BPoly.from_derivatives(t[[first, last]], ends)(at)


def _stretches(t: np.ndarray, beyond: np.ndarray, rates: np.ndarray) -> list[tuple[float, float, float]]:
    """Intervals of time in which something is positive, with its largest value at a sample there."""
    outside = beyond > 1e-9
    if not outside.any():
        return []
    from scipy.interpolate import CubicHermiteSpline

    roots = CubicHermiteSpline(t, beyond, rates).roots(extrapolate=False) if len(t) > 1 else np.zeros(0)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], outside, [False]])))
    out = []
    for first, after in zip(edges[::2], edges[1::2], strict=True):
        before = roots[(roots >= t[max(first - 1, 0)]) & (roots <= t[first])]
        later = roots[(roots >= t[after - 1]) & (roots <= t[min(after, len(t) - 1)])]
        begin = before.max(initial=t[0]) if first else t[0]
        end = later.min(initial=t[-1]) if after < len(t) else t[-1]
        out.append((float(begin), float(end), float(beyond[first:after].max())))
    return out
