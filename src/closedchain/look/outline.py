"""Mechanisms as lines, to be drawn: rigid bodies between their joints, flexible ones along their bent axes.

An `Outline` has every line twice: where the mechanism would be with rigid links, and where it is. What lies between is
elastic displacement, and may be magnified: bodies stay joined, because both ends of a joint move alike.

A motion of any kind can be drawn that can say where points of its bodies are (`Points`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from closedchain.derive.equations import derive
from closedchain.errors import ModelError
from closedchain.model.expressions.expression import Number
from closedchain.model.mechanism import Mechanism
from closedchain.pose.state import parameter_vector
from closedchain.results.motion.motion import Motion
from closedchain.results.points import Points, StatePoints
from closedchain.results.run import Run

if TYPE_CHECKING:
    from closedchain.results.vibration.modal import Modes

ALONG = 25  # points on a bent axis
SAME = 1e-9  # of the size of the drawing: points that are one
FLAT = 1e-6  # of the size of the drawing: what is thinner is planar
VISIBLE = 0.08  # of the size of the drawing: how large deflections should look
ROUND = (1.0, 2.0, 5.0)


class Line(NamedTuple):
    """A line to draw: on which body, whether along a bent axis or closed to a ring, and its points, (k, 3)."""

    body: str
    flexible: bool
    ring: bool
    drawn: np.ndarray


@dataclass(frozen=True, eq=False)
class Outline:
    """Lines of a mechanism at n samples.

    Attributes
    ----------
    mechanism, t
        What, and when.
    lines
        What is drawn on which body.
    rigid, bent
        For each line its points with rigid links and with elastic displacement, (n, k, 3).
    pins
        Joints that move: points with rigid links and with elastic displacement, (n, joints, 3).
    grounded
        (joints): whether a joint is on the ground.
    """

    mechanism: Mechanism
    t: np.ndarray
    lines: tuple[Line, ...]
    rigid: tuple[np.ndarray, ...]
    bent: tuple[np.ndarray, ...]
    pins: tuple[np.ndarray, np.ndarray]
    grounded: np.ndarray

    @property
    def size(self) -> float:
        """The largest extent of the mechanism, m."""
        return float(np.ptp(self._all(self.rigid, self.pins[0]), axis=0).max(initial=1e-300))

    @property
    def displacement(self) -> float:
        """The largest elastic displacement of all points, m."""
        away = [np.linalg.norm(b - a, axis=2).max(initial=0.0) for a, b in zip(self.rigid, self.bent, strict=True)]
        return float(max(away, default=0.0))

    @property
    def magnification(self) -> float:
        """A round number, 1 at least, that makes the displacements visible."""
        wanted = VISIBLE * self.size / max(self.displacement, 1e-300)
        if wanted <= 1 or not self.displacement > 1e-12 * self.size:
            return 1.0
        decade = 10.0 ** np.floor(np.log10(wanted))
        return float(max(x * decade for x in ROUND if x * decade <= wanted * (1 + 1e-12)))

    def magnified(self, by: float) -> tuple[list[np.ndarray], np.ndarray]:
        """Points of all lines, and joints, with displacements times a factor."""
        lines = [a + by * (b - a) for a, b in zip(self.rigid, self.bent, strict=True)]
        return lines, self.pins[0] + by * (self.pins[1] - self.pins[0])

    def some(self, which: Sequence[int]) -> Outline:
        """The same at some samples."""
        k = list(which)
        rigid, bent = (tuple(x[k] for x in group) for group in (self.rigid, self.bent))
        return replace(self, t=self.t[k], rigid=rigid, bent=bent, pins=(self.pins[0][k], self.pins[1][k]))

    def plane(self) -> np.ndarray | None:
        """The two directions (2, 3) of the plane in which everything is, or None if there is no such plane."""
        points = self._all((*self.rigid, *self.bent), np.concatenate(self.pins))
        points = points - points.mean(axis=0)
        for axes in ((0, 1), (0, 2), (1, 2)):
            (normal,) = {0, 1, 2} - set(axes)
            if np.ptp(points[:, normal]) <= FLAT * self.size:
                return np.eye(3)[list(axes)]
        basis = np.linalg.svd(points, full_matrices=False)[2]
        return basis[:2] if np.ptp(points @ basis[2]) <= FLAT * self.size else None

    @staticmethod
    def _all(lines: Sequence[np.ndarray], pins: np.ndarray) -> np.ndarray:
        return np.concatenate([x.reshape(-1, 3) for x in (*lines, pins)])


def outline(where: Points, value: Callable[[Number], float]) -> Outline:
    """Lines of a mechanism at the samples of a motion; ``value`` computes numbers of the drawing."""
    m = where.mechanism
    lines = tuple(_lines(m, value))
    joints = [joint for joint in m.joints.values() if joint.type.nv and joint.type.closure]
    frames = [joint.a if joint.a.body is not m.ground else joint.b for joint in joints]
    spots = [(frame.body.name, _at(frame.position, value)) for frame in frames]
    n = len(where.t)
    none = np.zeros((n, 0, 3))
    return Outline(
        m,
        where.t,
        lines,
        tuple(where.rigid_points(x.body, x.drawn) for x in lines),
        tuple(where.points(x.body, x.drawn) for x in lines),
        (
            np.concatenate([none, *(where.rigid_points(body, p[None]) for body, p in spots)], axis=1),
            np.concatenate([none, *(where.points(body, p[None]) for body, p in spots)], axis=1),
        ),
        np.array([m.ground in (joint.a.body, joint.b.body) for joint in joints], bool),
    )


def _at(position: Sequence[Number], value: Callable[[Number], float]) -> np.ndarray:
    return np.array([value(x) for x in position])


def _lines(m: Mechanism, value: Callable[[Number], float]) -> list[Line]:
    """Lines on each body: a bent axis and arms to what is off it; else through the body's joints."""
    out = []
    frames = [frame for joint in m.joints.values() if joint.type.closure for frame in (joint.a, joint.b)]
    for name, body in m.bodies.items():
        points = _distinct([_at(frame.position, value) for frame in frames if frame.body is body])
        if m.output is not None and m.output.body is body and len(points) < 3:
            points.append(_at(m.output.position, value))
        if name in m.flexible:
            length = value(m.flexible[name].length)
            axis = np.zeros((ALONG, 3))
            axis[:, 0] = np.linspace(0, length, ALONG)
            out.append(Line(name, True, False, axis))
            for p in points:
                foot = np.array([min(max(p[0], 0.0), length), 0.0, 0.0])
                if np.abs(p - foot).max() > SAME * length:
                    out.append(Line(name, False, False, np.array([foot, p])))
            continue
        points = _distinct([*points, *([] if len(points) > 1 else _more(body, value))])
        if len(points) > 1:
            order, ring = _around(np.array(points))
            out.append(Line(name, False, ring, np.array(points)[order]))
    return out


def _more(body: object, value: Callable[[Number], float]) -> list[np.ndarray]:
    """Something to draw a body by that has one joint only: its tip, or its centre of mass."""
    frames = body.frames  # type: ignore[attr-defined]
    return [_at(frames["tip" if "tip" in frames else "com"].position, value)]


def _distinct(points: list[np.ndarray]) -> list[np.ndarray]:
    size = max((float(np.abs(p).max()) for p in points), default=0.0)
    out: list[np.ndarray] = []
    for p in points:
        if all(np.abs(p - other).max() > SAME * size for other in out):
            out.append(p)
    return out


def _around(points: np.ndarray) -> tuple[np.ndarray, bool]:
    """An order of points in which a line through them looks like a body: along it, or around it as a ring."""
    off = points - points.mean(axis=0)
    _, s, basis = np.linalg.svd(off)
    if len(points) == 2 or s[1] < 1e-6 * s[0]:
        return np.argsort(off @ basis[0]), False
    return np.argsort(np.arctan2(off @ basis[1], off @ basis[0])), True


# ---- floating frames -------------------------------------------------------------------------------------------------


def points_of(run: Run | Motion, which: Sequence[int]) -> Points:
    """Points of bodies along a run or a motion at some of its samples, and with rigid links beside them."""
    if isinstance(run, Run):
        return run.solution.points(which)
    p = parameter_vector(run.mechanism, run.parameters)
    return StatePoints([run.state(int(k)) for k in which], derive(run.mechanism), p)


def run_outline(run: Run | Motion, which: Sequence[int]) -> Outline:
    """Lines of the mechanism of a run or a motion at some samples, by their numbers."""
    if not len(run.t):
        raise ModelError("the run has no sample to draw")
    return outline(points_of(run, which), run.mechanism.values(_known(run)))


def _known(run: Run | Motion) -> dict[str, float]:
    return {k: x for k, x in run.parameters.items() if k in run.mechanism.parameters}


def mode_outline(about: Modes, k: int, phases: Any = (0.0,)) -> Outline:
    """The mechanism in mode number k (from 1), displaced to first order, at some phases of its swing (rad).

    Displacements are such that the largest one over the swing is 1 m: magnify them by what it shall be.
    """
    swing, phases = about.swing(k), np.atleast_1d(np.asarray(phases, float))
    found = outline(swing, swing.mechanism.values(swing.parameters))

    def swung(rest: np.ndarray, two: np.ndarray, phases: np.ndarray) -> np.ndarray:
        away = two - rest
        return np.cos(phases)[:, None, None] * away[0] + np.sin(phases)[:, None, None] * away[1]

    pairs = [*zip(found.rigid, found.bent, strict=True), found.pins]
    round_ = np.linspace(0, np.pi, 37)
    size = max(float(np.linalg.norm(swung(*x, round_), axis=2).max(initial=0.0)) for x in pairs) or 1.0
    still = [np.repeat(a[:1], len(phases), axis=0) for a, _ in pairs]
    bent = [a + swung(*x, phases) / size for a, x in zip(still, pairs, strict=True)]
    return Outline(
        swing.mechanism,
        phases,
        found.lines,
        tuple(still[:-1]),
        tuple(bent[:-1]),
        (still[-1], bent[-1]),
        found.grounded,
    )
