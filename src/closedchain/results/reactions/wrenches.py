"""Reactions in all joints at samples of a motion: found once, then seen in any axes and about any point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

import numpy as np

from closedchain.arguments import known, positive, suggest
from closedchain.errors import ModelError
from closedchain.model.parts import Frame, Joint
from closedchain.pose.rank import LOOSE, relative_tolerance
from closedchain.pose.size import drawn_length
from closedchain.results.reactions.at_joints import AtJoints, at_joints
from closedchain.results.reactions.newton_euler import NewtonEuler, moved
from closedchain.results.samples import Samples

ZERO = 1e-7  # of an orthonormal column that tells what is open: a component that is none of it


@dataclass(frozen=True, eq=False)
class Reactions:
    """Wrenches of all joints over time, in world axes.

    Attributes
    ----------
    joints
        Names of the joints that carry something.
    wrench
        (time, joint, 6): moment and force of the joint's first body on its second, about the second's frame origin;
        NaN at samples where nothing balances the bodies.
    loose
        (time, joint, 6, k): what may be added to them without any change of the motion, with moments over ``length``.
    R_first, r_first, R_second, r_second
        (time, joint, 3, 3) axes and (time, joint, 3) origins of the joints' frames.
    length
        By which moments compare with forces, m.
    pieces
        The samples they belong to, with what acts in them.
    """

    joints: tuple[str, ...]
    wrench: np.ndarray
    loose: np.ndarray
    R_first: np.ndarray
    r_first: np.ndarray
    R_second: np.ndarray
    r_second: np.ndarray
    length: float
    pieces: tuple[tuple[Samples, AtJoints], ...]

    @property
    def t(self) -> np.ndarray:
        """Times, s."""
        return np.concatenate([samples.t for samples, _ in self.pieces])

    @property
    def axes(self) -> np.ndarray:
        """(time, joint, 3, 3) axes of the joint's first frame."""
        return self.R_first

    @property
    def unique(self) -> np.ndarray:
        """(joint, 6) whether a component is determined at all samples, in the axes of the joint's first frame."""
        return self.determined(self.R_first, self.r_second)

    def determined(self, R: np.ndarray, point: np.ndarray) -> np.ndarray:
        """(joint, 6) whether components in the axes R, moments about the points, are determined at all samples."""
        columns = seen(self.loose * np.repeat([self.length, 1.0], 3)[:, None], R, self.r_second - point)
        open_ = np.linalg.norm(columns, axis=3)
        # a moment about a distant point consists of forces too
        size = np.sqrt(self.length**2 + np.sum((self.r_second - point) ** 2, axis=2))[..., None]
        open_[..., :3] /= size
        samples = self.pieces[0][0]
        tolerance = relative_tolerance(samples.equations, samples.parameters)
        return (open_ <= max(ZERO, LOOSE * tolerance)).all(axis=0)

    def of(self, joint: str) -> Joint:
        """A joint that carries something."""
        topology = self.pieces[0][0].equations.topology
        known = {x.name: x for x in topology.joints}
        if joint in known and joint not in self.joints:
            raise ModelError(f"joint {joint!r} is free: it carries nothing, so it has no reaction")
        if joint not in self.joints:
            raise ModelError(
                f"mechanism {topology.mechanism.name!r} has no joint {joint!r}{suggest(joint, self.joints)}"
            )
        return known[joint]

    def part(self, joints: Sequence[str]) -> Reactions:
        """Of some joints only."""
        at = [self.joints.index(name) for name in joints]
        names = ("wrench", "loose", "R_first", "r_first", "R_second", "r_second")
        return replace(self, joints=tuple(joints), **{name: getattr(self, name)[:, at] for name in names})

    def pose(self, frame: Frame) -> tuple[np.ndarray, np.ndarray]:
        """Axes (time, 3, 3) and origin (time, 3) of a frame."""
        R, r = zip(*(samples.pose(frame) for samples, _ in self.pieces), strict=True)
        return np.concatenate(R), np.concatenate(r)


@singledispatch
def wrenches(samples: Samples, stiffness: Mapping[str, float] | None = None) -> Reactions:
    """Reactions in all joints at all samples of a motion.

    Parameters
    ----------
    samples
        The motion, and what is known of what acts.
    stiffness
        Relative stiffness of joints by name, for mechanisms that are over-constrained; one where not given.

    Examples
    --------
    A pendulum that passes its lowest point at 3 rad/s: the hinge carries its weight, and keeps it on the circle.

    >>> import closedchain as cc
    >>> from closedchain.derive.equations import derive
    >>> from closedchain.pose.state import parameter_vector
    >>> m = cc.library.pendulum()
    >>> q, v, a = (np.array([[x]]) for x in (-cc.pi / 2, 3.0, 0.0))
    >>> passing = Samples(derive(m), np.zeros(1), q, v, a, parameter_vector(m))
    >>> print(wrenches(passing).wrench[0, 0, 4].round(3))
    14.31
    """
    at, length = at_joints(samples), drawn_length(samples.equations, samples.parameters)
    return solved(NewtonEuler(samples, at, length), length, stiffness)


def solved(system: NewtonEuler, length: float, stiffness: Mapping[str, float] | None = None) -> Reactions:
    """Reactions in all joints from the equations of all samples."""
    samples, at, topology = system.samples, system.at, system.samples.equations.topology
    # a free joint carries nothing but what acts along it
    kept = [k for k, joint in enumerate(topology.joints) if joint.type.closure or joint.name in at.acted]
    names = tuple(topology.joints[k].name for k in kept)
    for name, value in (stiffness or {}).items():
        known("stiffness: no joint is named", name, names)
        positive(f"stiffness of {name!r}", value)
    weight = np.array([(stiffness or {}).get(joint.name, 1.0) for joint in topology.joints])
    found = [system.solve(block, weight) for block in system.blocks()]
    none = np.zeros((0, len(topology.joints), 6))
    return Reactions(
        names,
        np.concatenate([none, *(wrench for wrench, _ in found)])[:, kept],
        _side_by_side([none[..., None][..., :0], *(loose for _, loose in found)])[:, kept],
        at.first.R[:, kept],
        at.first.r[:, kept],
        at.second.R[:, kept],
        at.second.r[:, kept],
        length,
        ((samples, at),),
    )


def joined(parts: Sequence[Reactions]) -> Reactions:
    """The reactions of a motion from those of its pieces."""
    if len(parts) == 1:
        return parts[0]
    names = ("R_first", "r_first", "R_second", "r_second")
    places: dict[str, Any] = {name: np.concatenate([getattr(x, name) for x in parts]) for name in names}
    return replace(
        parts[0],
        wrench=np.concatenate([x.wrench for x in parts]),
        loose=_side_by_side([x.loose for x in parts]),
        pieces=tuple(piece for x in parts for piece in x.pieces),
        **places,
    )


def seen(wrench: np.ndarray, R: np.ndarray, arm: np.ndarray) -> np.ndarray:
    """Wrenches (time, joint, 6, columns) in other axes, and about points that see them at ``arm`` (time, joint, 3)."""
    two = moved(wrench, arm).reshape(*wrench.shape[:2], 2, 3, wrench.shape[3])  # moment, force
    return (np.swapaxes(R, -1, -2)[:, :, None] @ two).reshape(wrench.shape)


def _side_by_side(columns: Sequence[np.ndarray]) -> np.ndarray:
    """One after the other in time, with zeros where some have fewer columns."""
    widest = max(x.shape[3] for x in columns)
    return np.concatenate([np.pad(x, [(0, 0)] * 3 + [(0, widest - x.shape[3])]) for x in columns])
