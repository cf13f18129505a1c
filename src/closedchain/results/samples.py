"""A motion at samples, wherever it comes from: a run, a path, or states that were put together by hand.

Whatever follows from the motion alone, reactions above all, takes it in this form, so that it does not depend on a
formulation, a solver or a controller.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import casadi as ca
import numpy as np

from closedchain.arguments import suggest
from closedchain.derive.equations import Equations, Freedom
from closedchain.errors import ModelError
from closedchain.model.derived import cached_by
from closedchain.model.parts import Frame
from closedchain.native.at_samples import at_samples

Trace = Callable[[ca.SX, dict[int, ca.SX]], dict[str, ca.SX]]
"""Expressions by name, given the symbols of the accelerations and of the known forces in closure rows"""


@dataclass(frozen=True, eq=False)
class Samples:
    """A motion at n samples.

    Attributes
    ----------
    equations
        Of the mechanism that moves.
    t, q, v, a
        Times (n), coordinates (n, nq), velocities and accelerations (n, nv) of the tree, as in `State`.
    p
        Parameter values: one vector, or a row for each sample.
    efforts
        (n) torque or force on a freedom (joint, number of its velocity), by actuators: they take the place of all
        motors and drives there. Springs, dampers, friction, stops and rotors act as drawn.
    closing
        (n) forces in closure rows, by number, where more is known than the balance of bodies tells: those of springs
        in the place of joints, and of drives and gears that act on open joints.
    open_joints
        Cut joints, drives and gears that do not hold.
    """

    equations: Equations
    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    p: np.ndarray
    efforts: Mapping[Freedom, np.ndarray] = field(default_factory=dict)
    closing: Mapping[int, np.ndarray] = field(default_factory=dict)
    open_joints: tuple[str, ...] = ()

    no_balance: ClassVar[str] = ""  # why `balance` cannot check reactions of this motion, if it cannot

    def __post_init__(self) -> None:
        joints = {joint.name: joint for joint in self.equations.topology.joints}
        for name, index in self.efforts:
            if name not in joints:
                raise ModelError(f"an effort on the unknown joint {name!r}{suggest(name, joints)}")
            if not 0 <= index < joints[name].type.nv:
                raise ModelError(f"an effort on freedom {index} of joint {name!r}, which has {joints[name].type.nv}")

    def __len__(self) -> int:
        return len(self.t)

    @property
    def parameters(self) -> np.ndarray:
        """The parameter values of the first sample; zeros if there is none."""
        return self.p if self.p.ndim == 1 else np.vstack([self.p[:1], np.zeros(self.p.shape[1])])[0]

    @property
    def slack(self) -> frozenset[str]:
        """Cut joints that are open, or whose springs are known: nothing about them is left to find."""
        e = self.equations
        known = {e.closure.joints[row] for row in self.closing} | set(self.open_joints)
        return frozenset(joint.name for joint in e.topology.cuts if joint.name in known)

    def batches(self, most: int) -> Iterator[Samples]:
        """The same motion, at most so many samples at a time."""
        for begin in range(0, max(len(self), 1), most):
            part = slice(begin, begin + most)
            yield replace(
                self,
                t=self.t[part],
                q=self.q[part],
                v=self.v[part],
                a=self.a[part],
                p=self.p if self.p.ndim == 1 else self.p[part],
                efforts={freedom: effort[part] for freedom, effort in self.efforts.items()},
                closing={row: force[part] for row, force in self.closing.items()},
            )

    def evaluate(self, key: Hashable, trace: Trace) -> dict[str, np.ndarray]:
        """Numbers at the samples, (n, rows, columns) each; ``trace`` is called once for each key."""
        rows = tuple(sorted(self.closing))
        f, names = self._function(key, rows, trace)
        n = len(self)
        lam = np.array([self.closing[row] for row in rows], float).reshape(len(rows), n)
        values = at_samples(f, n, [np.reshape(self.t, (n, 1)), self.q, self.v, self.p, self.a, lam.T])
        return dict(zip(names, values, strict=True))

    @cached_by(lambda self, key, rows, trace: (self.equations.topology.mechanism, self.equations, key, rows))
    def _function(self, key: Hashable, rows: tuple[int, ...], trace: Trace) -> tuple[ca.Function, tuple[str, ...]]:
        e = self.equations
        inputs = {**e.symbols, "a": ca.SX.sym("a", e.topology.nv), "lam": ca.SX.sym("lam", len(rows))}
        try:
            traced = trace(inputs["a"], {row: inputs["lam"][k] for k, row in enumerate(rows)})
        except RuntimeError:  # something has parameters that the motion does not have
            name = e.topology.mechanism.name
            raise ModelError(f"the drawing of {name!r} has changed since the motion was computed") from None
        dense = ca.cse([ca.densify(x) for x in traced.values()])
        return ca.Function("samples", list(inputs.values()), dense), tuple(traced)

    def pose(self, frame: Frame) -> tuple[np.ndarray, np.ndarray]:
        """Axes (n, 3, 3) and origin (n, 3) of a frame in the world."""
        e = self.equations
        name = f"{frame.body.name}.{frame.name or '?'}"
        if frame.body.mechanism is not e.topology.mechanism:
            raise ModelError(f"frame {name} belongs to another mechanism, {frame.body.mechanism.name!r}")
        if frame.body.name not in e.topology.link_of:
            raise ModelError(f"body {frame.body.name!r} was drawn after the motion was computed: compute it again")

        def trace(a: ca.SX, lam: dict[int, ca.SX]) -> dict[str, ca.SX]:
            X = e.motion.frame(frame).X
            return {"R": X.R, "r": X.r}

        got = self.evaluate(frame, trace)
        return got["R"], got["r"][:, :, 0]
