"""A motion along paths, of a whole mechanism: what `closedchain.results.motion.follow.follow` finds."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from closedchain.arguments import known
from closedchain.attached import Attached
from closedchain.derive.equations import Equations, derive
from closedchain.errors import ModelError
from closedchain.model.expressions.expression import Number
from closedchain.model.mechanism import Mechanism
from closedchain.model.parts import Body, Frame
from closedchain.pose.closing import active_rows
from closedchain.pose.rank import LOOSE, relative_tolerance
from closedchain.pose.size import drawn_scale, row_sizes, velocity_sizes
from closedchain.pose.state import State, parameter_vector
from closedchain.results.motion.limits import Violation, violations
from closedchain.results.motion.splines import thinned
from closedchain.results.samples import Samples

if TYPE_CHECKING:
    import pandas
    import xarray

    from closedchain.look.animation import animate
    from closedchain.look.plots.flexible import plot_deflection
    from closedchain.look.sketch import plot_deformed
    from closedchain.results.beams.deflection import beam_of_motion, deflection

AT_REST = 1e-12  # of the mechanism's size in its time: rates of a motion at rest, which are rounding
OPEN = 1e-7  # of the mechanism's size, or of the rates: loops that are open more than this belong to another drawing


class Motion(Attached):
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
    breaks
        Times at which accelerations may jump.
    idle
        How many motions the paths leave open because they move nothing but what spins about itself.
    conditioning
        (n) how well the paths determine the motion, 0 at a singular pose.
    violations
        Coordinates that leave their limits.
    """

    if TYPE_CHECKING:  # attached by `closedchain.verbs`
        beam = beam_of_motion
        deflection = deflection
        plot_deflection = plot_deflection
        plot_deformed = plot_deformed
        animate = animate

    def __init__(
        self,
        samples: Samples,
        parameters: Mapping[str, float] | None = None,
        breaks: tuple[float, ...] = (),
        conditioning: np.ndarray | None = None,
        idle: int = 0,
    ) -> None:
        self.samples = samples
        self.mechanism: Mechanism = samples.equations.topology.mechanism
        self.parameters = dict(parameters or {})
        self.breaks = breaks
        self.idle = idle
        self.conditioning = np.ones(len(samples)) if conditioning is None else conditioning

    @classmethod
    def instant(cls, state: State) -> Motion:
        """A state as a motion of one sample; without accelerations it has none."""
        state.check()
        a = np.zeros_like(state.v) if state.a is None else state.a
        p = parameter_vector(state.mechanism, state.parameters)
        t, e = np.array([state.t]), derive(state.mechanism)
        samples = Samples(e, t, state.q[None], state.v[None], a[None], p, open_joints=state.open_joints)
        check_closed(samples, "Take a state from m.assemble(..., velocity=..., acceleration=...)")
        return cls(samples, state.parameters)

    @property
    def t(self) -> np.ndarray:
        """Sample times, s."""
        return self.samples.t

    @property
    def q(self) -> np.ndarray:
        """Coordinates (n x nq)."""
        return self.samples.q

    @property
    def v(self) -> np.ndarray:
        """Velocities (n x nv)."""
        return self.samples.v

    @property
    def a(self) -> np.ndarray:
        """Accelerations (n x nv)."""
        return self.samples.a

    @property
    def open_joints(self) -> tuple[str, ...]:
        """Cut joints that are open."""
        return self.samples.open_joints

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
        samples = self.in_drawing().samples
        return State(
            self.mechanism,
            samples.q[index],
            samples.v[index],
            dict(self.parameters),
            float(samples.t[index]),
            samples.open_joints,
            samples.a[index],
        )

    def in_drawing(self) -> Motion:
        """The same motion in the drawing as it is today: numbered as its cuts are, with its parameter values.

        Raises
        ------
        ModelError
            If the loops of the drawing are not closed along the motion any more.
        """
        old, e = self.samples.equations, derive(self.mechanism)
        p = parameter_vector(self.mechanism, self.parameters)
        if e is old and np.array_equal(p, self.samples.p):
            return self
        q, v, a = self._numbered(e)
        samples = Samples(e, self.t, q, v, a, p, open_joints=self.open_joints)
        check_closed(samples, "A length or a joint of the drawing has changed since: find the motion again")
        return Motion(samples, self.parameters, self.breaks, self.conditioning, self.idle)

    def _numbered(self, e: Equations) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coordinates, velocities and accelerations in the numbering of other equations of this mechanism."""
        old, new = self.samples.equations.topology, e.topology
        if (old.q_labels, old.v_labels) == (new.q_labels, new.v_labels):
            return self.q, self.v, self.a
        coordinates = [x for j in old.measured for x in j.labels()]
        velocities = [x for j in old.measured for x in j.velocity_labels()]
        if not set(new.q_labels) <= set(coordinates):
            raise ModelError(f"joints were drawn in {self.mechanism.name!r} after the motion was found: find it again")
        at_q = [coordinates.index(x) for x in new.q_labels]
        at_v = [velocities.index(x) for x in new.v_labels]
        return self.joints["q"][:, at_q], self.joints["v"][:, at_v], self.joints["a"][:, at_v]

    @cached_property
    def joints(self) -> dict[str, np.ndarray]:
        """``q, v, a`` of all joints, cut or not, each (n, size), in the order of the drawing."""
        measures, joints = self.samples.equations.measures, self.samples.equations.topology.measured

        def trace(a: ca.SX, lam: dict[int, ca.SX]) -> dict[str, ca.SX]:
            accelerations = [ca.densify(measures.jacobian(j) @ a + measures.bias(j)) for j in joints]
            return {
                "q": ca.vertcat(ca.SX(0, 1), *(measures.coordinates(j) for j in joints)),
                "v": ca.vertcat(ca.SX(0, 1), *(measures.velocities(j) for j in joints)),
                "a": ca.vertcat(ca.SX(0, 1), *accelerations),
            }

        return {name: x[:, :, 0] for name, x in self.samples.evaluate("joints", trace).items()}

    @cached_property
    def dataset(self) -> xarray.Dataset:
        """All joints over time, with units: coordinates, velocities with a prime, accelerations with two."""
        import xarray

        variables: dict[str, Any] = {}
        iq = iv = 0
        for joint in self.samples.equations.topology.measured:
            kind = joint.type
            for label, unit in zip(joint.labels(), kind.coordinate_units, strict=True):
                variables[label] = ("time", self.joints["q"][:, iq], {"units": unit, "joint": joint.name})
                iq += 1
            for name, label, unit in zip(kind.velocities, joint.velocity_labels(), kind.velocity_units, strict=True):
                prime = "'" if name in kind.coordinates else ""
                variables[label + prime] = ("time", self.joints["v"][:, iv], {"units": unit, "joint": joint.name})
                faster = {"units": unit + "^2", "joint": joint.name}
                variables[label + prime + "'"] = ("time", self.joints["a"][:, iv], faster)
                iv += 1
        about = {"units": "1", "about": "0 where the path does not determine the motion"}
        variables["path_conditioning"] = ("time", self.conditioning, about)
        attrs = {"mechanism": self.mechanism.name}
        return xarray.Dataset(variables, {"time": ("time", self.t, {"units": "s"})}, attrs)

    def __getitem__(self, name: str) -> xarray.DataArray:
        known("the motion has no variable", name, [*self.dataset.data_vars, *self.dataset.coords])
        return self.dataset[name]

    def reference(self, label: str) -> Number:
        """A coordinate as an expression of time, for controllers and drives.

        It is a polynomial of degree five between each two of some samples, with their coordinates, velocities and
        accelerations, which are exact. Samples are left out where the polynomials are right without them, to 1e-8 of
        the coordinate's range: the fewer they are, the less a run with the reference costs.
        """
        scalars = self.scalars
        known("the motion has no coordinate", label, scalars)
        column_q, column_v = scalars[label]
        found = self.joints
        return thinned(self.t, found["q"][:, column_q], found["v"][:, column_v], found["a"][:, column_v])

    @cached_property
    def scalars(self) -> dict[str, tuple[int, int]]:
        """Coordinates whose rate is a velocity, by name: their columns among all coordinates and velocities."""
        out: dict[str, tuple[int, int]] = {}
        iq = iv = 0
        for joint in self.samples.equations.topology.measured:
            if not joint.type.has_quaternion:
                for k, label in enumerate(joint.labels()):
                    out[label] = (iq + k, iv + k)
            iq, iv = iq + joint.type.nq, iv + joint.type.nv
        return out

    @cached_property
    def violations(self) -> list[Violation]:
        """Coordinates that leave the limits of their joints, with the times."""
        out = []
        for joint in self.samples.equations.topology.joints:
            for k, limits in enumerate(joint.limits):
                if limits is not None and not joint.type.has_quaternion:
                    label, unit = joint.labels()[k], joint.type.coordinate_units[k]
                    column_q, column_v = self.scalars[label]
                    values, rates = self.joints["q"][:, column_q], self.joints["v"][:, column_v]
                    out += violations(label, unit, limits, self.t, values, rates)
        return sorted(out, key=lambda x: x.begin)

    def frame(self, frame: Any) -> xarray.Dataset:
        """Position, rotation, velocity and acceleration of a frame or body over time, in world axes."""
        import xarray

        if isinstance(frame, Body):
            frame = frame["origin"]
        frame = frame if isinstance(frame, Frame) else self.mechanism.find_frame(frame)
        self.samples.pose(frame)  # which knows whether it belongs to this motion
        e = self.samples.equations
        at = e.motion.frame(frame)
        fall = e.limbs.vector(self.mechanism.gravity)

        def trace(a: ca.SX, lam: dict[int, ca.SX]) -> dict[str, ca.SX]:
            return {
                "position": at.X.r,
                "rotation": at.X.R,
                "velocity": at.velocity.lin,
                "angular_velocity": at.velocity.ang,
                "acceleration": at.J.lin @ a + at.bias.lin + fall,
                "angular_acceleration": at.J.ang @ a + at.bias.ang,
            }

        got = self.samples.evaluate(("frame", frame), trace)
        units = {"position": "m", "velocity": "m/s", "angular_velocity": "rad/s", "acceleration": "m/s^2"}
        units["angular_acceleration"] = "rad/s^2"
        variables: dict[str, Any] = {k: (("time", "axis"), got[k][:, :, 0], {"units": u}) for k, u in units.items()}
        variables["rotation"] = (("time", "axis", "frame_axis"), got["rotation"], {"units": "1"})
        coords = {"time": ("time", self.t, {"units": "s"}), "axis": list("xyz"), "frame_axis": list("xyz")}
        return xarray.Dataset(variables, coords, {"frame": f"{frame.body.name}.{frame.name}", "axes": "world"})

    def to_dataframe(self) -> pandas.DataFrame:
        """One column for each variable, indexed by time."""
        return self.dataset.to_dataframe()

    def __repr__(self) -> str:
        said = f", {len(self.violations)} limits violated" if self.violations else ""
        return f"Motion({self.mechanism.name!r} from {self.t[0]:g} to {self.t[-1]:g} s, {len(self.t)} samples{said})"


def check_closed(samples: Samples, advice: str) -> None:
    """Refuse a motion along which the loops are not closed, in places or rates."""
    e = samples.equations
    rows = active_rows(e, samples.open_joints)
    if not rows or not len(samples):
        return
    c, A, c_t, gamma = (x[rows, :] for x in (e.closure.c, e.closure.A, e.closure.c_t, e.closure.gamma))

    def trace(a: ca.SX, lam: dict[int, ca.SX]) -> dict[str, ca.SX]:
        return {"places": c, "velocities": A @ e.limbs.v + c_t, "accelerations": A @ a + gamma}

    # free of units: by the size of the drawing
    scale = drawn_scale(e, samples.parameters, float(np.ptp(samples.t)))
    row_size, size = row_sizes(e, rows, scale.length), velocity_sizes(e, scale.length)
    fast, faster = (float(np.abs(x / size).max(initial=0.0)) for x in (samples.v, samples.a))
    bounds = {"places": 1.0, "velocities": fast, "accelerations": faster + fast**2}
    pace = max(1.0 / scale.time, faster**0.5)
    rounding = {"places": 0.0, "velocities": AT_REST * pace, "accelerations": AT_REST * pace**2}
    least = max(OPEN, LOOSE * relative_tolerance(e, samples.parameters))
    for what, off in samples.evaluate(("closed", tuple(rows)), trace).items():
        gap = np.abs(off[:, :, 0]) / row_size
        k, row = np.unravel_index(int(np.argmax(gap)), gap.shape)
        if not gap[k, row] <= least * bounds[what] + rounding[what]:
            raise ModelError(
                f"the {what} at t = {samples.t[k]:.4g} s leave loops of {e.topology.mechanism.name!r} open: "
                f"{e.closure.joints[rows[row]]!r} is off by {np.abs(off[k, row, 0]):.3g}. {advice}"
            )
