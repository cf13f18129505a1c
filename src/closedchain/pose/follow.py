"""Kinematics along paths: positions by continuation, velocities and accelerations from the same linear equations.

Frames or coordinates that follow paths, and loops that stay closed, are one set of equations for the coordinates. From
sample to sample the motion is predicted with the velocity and acceleration that it has, and corrected by Newton steps
of least length to rounding. Where a prediction is far off, or the correction does not converge, the time between two
samples is halved: so the motion stays on the branch (the working mode) that it began on. Where no step is small enough,
the path has left the workspace.

Idle motions, which move no joint and no centre of mass (a rod that spins between two ball joints), need no path: they
have no momentum of their own, and the accelerations that their own equations give them.

At a sample where the equations lose their rank (a parallelogram that lies flat), they do not tell velocities and
accelerations. The motion itself does: it is continued there from four instants before.

The theory is in ``docs/theory/inverse_dynamics.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from closedchain.derive.along import Along, trace_along
from closedchain.derive.equations import Equations
from closedchain.errors import AssemblyError, ModelError
from closedchain.lock import locked, once
from closedchain.model.targets import Targets
from closedchain.pose.closing import TOLERANCE, active_rows
from closedchain.pose.closing import functions as closing_functions
from closedchain.pose.in_place import InPlace
from closedchain.pose.rank import LOOSE, SOLVED, UNDETERMINED, apart, cut_off, relative_tolerance, significant
from closedchain.pose.size import drawn_scale, row_sizes, velocity_sizes
from closedchain.progress import visibly

NEWTON = 12  # iterations: from a good prediction it takes three
FAR = 0.02  # rad, or this part of the mechanism's size: a correction that may be another branch
SHARE = 0.25  # ... unless it is a smaller part of the way predicted
SMALLEST = 1e-7  # of the whole time: a step that leads nowhere
AT_REST = 1e-14  # of the mechanism's size in its time: rates of a motion at rest, which are rounding
NEAR_SINGULAR = 1e-3  # where a path is lost at the edge of the workspace, conditioning is far below


Found = tuple[np.ndarray, np.ndarray, np.ndarray]  # coordinates, velocities and accelerations


class LostError(AssemblyError):
    """A path could not be followed to its end; ``found`` is what there was until then, and so is ``motion``."""

    def __init__(self, message: str, found: Found | None, t: float) -> None:
        super().__init__(message)
        self.found = found
        self.t = t
        self.motion: object = None


class SingularError(AssemblyError):
    """The equations do not tell the rates at a pose."""


Shapes = Callable[[float], tuple[np.ndarray, np.ndarray, np.ndarray]]
"""Coordinates of the shapes of all flexible bodies at a time, and their first two rates"""


class Follower:
    """The equations of a motion along paths: closures (but those of open joints) and targets, at parameter values p.

    Flexible bodies have the shapes they are given; none means undeformed.
    """

    def __init__(
        self,
        e: Equations,
        targets: Targets,
        p: np.ndarray,
        open_joints: tuple[str, ...] = (),
        shapes: Shapes | None = None,
    ) -> None:
        self.e, self.targets, self.p = e, targets, p
        links = e.topology.links
        self._shape_q = [k for link in links for k in range(link.shape_q.start, link.shape_q.stop)]
        self._shape_rows = np.eye(e.topology.nv)[[k for x in links for k in range(x.shape_v.start, x.shape_v.stop)]]
        none = np.zeros(len(self._shape_q))
        self.shapes: Shapes = shapes or (lambda t: (none, none, none))
        self.along: Along = trace_along(e, targets)
        self.closed = active_rows(e, open_joints)
        c, A, c_t, gamma = (x[self.closed, :] for x in (e.closure.c, e.closure.A, e.closure.c_t, e.closure.gamma))
        rows = {"c": ca.vertcat(c, self.along.residual), "K": ca.vertcat(A, self.along.J)}
        self._place = InPlace(e.function("place", rows | {"rate": ca.vertcat(-c_t, self.along.rate)}))
        self._bias = InPlace(e.function("bias", {"acceleration": ca.vertcat(-gamma, self.along.acceleration)}))
        self._retract = InPlace(closing_functions(e)["retract"])
        self._zero = np.zeros(e.topology.nv)
        self._rounded = relative_tolerance(e, p)
        scale = drawn_scale(e, p)
        self.length, self.time = scale.length, scale.time
        self.size = velocity_sizes(e, self.length)
        on_path = [1.0 if turns else self.length for turns in self.along.turns]
        shaped = self._shape_rows @ self.size
        self._row_size = np.concatenate([row_sizes(e, self.closed, self.length), on_path, shaped])[:, None]
        lengths = [e.closure.units[row] == "m" for row in self.closed]
        lengths += [not turns for turns in self.along.turns]
        lengths += [e.topology.v_units[k] == "m/s" for x in links for k in range(x.shape_v.start, x.shape_v.stop)]
        units = ["m" if x else "rad" for x in lengths]
        self._most = apart(units, TOLERANCE, e.topology.mechanism.tolerance, self.length)
        self.idle = 0  # motions that the path leaves open, and that move nothing but what spins

    def at(self, t: float, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Residual, Jacobian and wanted rates of all rows."""
        c, K, rate = self._place(t, q, self._zero, self.p)
        K = K.reshape(len(c), len(self._zero))
        if not self._shape_q:
            return c, K, rate
        eta, eta_dot, _ = self.shapes(t)
        off = q[self._shape_q] - eta
        return np.concatenate([c, off]), np.vstack([K, self._shape_rows]), np.concatenate([rate, eta_dot])

    def shaped(self, t: float, q: np.ndarray) -> np.ndarray:
        """A configuration near q with the shapes of a time, on the path and closed."""
        if not self._shape_q:
            return q
        found = self.correct(t, q)
        if found is None:
            raise AssemblyError(
                f"no closed configuration of {self.e.topology.mechanism.name!r} at t = {t:.6g} s has the shapes that "
                "its flexible bodies are given"
            )
        return found[0]

    @once
    def _inertia(self) -> InPlace:
        return InPlace(self.e.function("inertia", {"M": self.e.M, "force": self.e.h - self.e.tau}))

    def move(self, q: np.ndarray, d: np.ndarray) -> np.ndarray:
        """Coordinates after a small displacement d along the velocities."""
        return self._retract(0.0, q, d, self.p)[0]

    def correct(self, t: float, q: np.ndarray) -> tuple[np.ndarray, float] | None:
        """The nearest configuration that closes the loops and is on the path, and how far it was; None if none."""
        way, last = np.zeros_like(self._zero), np.inf
        for _ in range(NEWTON):
            c, K, _ = self.at(t, q)
            gap = float(np.abs(c / self._row_size[:, 0]).max(initial=0.0))
            if not np.isfinite(gap):
                return None
            # as good as rounding allows; shapes that are zero would go on becoming smaller
            if (np.abs(c) <= self._most).all() and (not gap < 0.5 * last or gap < 1e-16):
                break
            if not c.size:
                break
            d = -self._least(K, c)[0]
            if np.abs(d / self.size).max() > 1.0:
                return None
            q, way, last = self.move(q, d), way + d, gap
        else:
            return None
        return q, float(np.abs(way / self.size).max(initial=0.0))

    def rates(self, t: float, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Velocities and accelerations of a configuration that is on the path."""
        _, K, rate = self.at(t, q)
        v = self._solve(t, K, rate, "velocity")
        if self.idle:
            Z = self.size[:, None] * np.linalg.svd(self._scaled(K))[2][-self.idle :].T
            M, _ = self._inertia(t, q, v, self.p)
            M = M.reshape(len(v), len(v))
            v = v - Z @ np.linalg.lstsq(Z.T @ M @ Z, Z.T @ (M @ v), rcond=SOLVED)[0]
        wanted = np.concatenate([self._bias(t, q, v, self.p)[0], self.shapes(t)[2]])
        a = self._solve(t, K, wanted, "acceleration", np.abs(v / self.size).max(initial=0.0) ** 2)
        if self.idle:
            force = M @ a + self._inertia(t, q, v, self.p)[1]
            a = a - Z @ np.linalg.lstsq(Z.T @ M @ Z, Z.T @ force, rcond=SOLVED)[0]
        return v, a

    def _least(self, K: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, float]:
        """The solution of ``K x = b`` of least length, in units that compare, and how far K is from losing rank."""
        scaled = self._scaled(K)
        cut = cut_off(scaled, scaled, self._rounded)
        x, _, rank, s = np.linalg.lstsq(scaled, b / self._row_size[:, 0], rcond=cut)
        wanted = len(self.size) - self.idle
        return x * self.size, float(s[wanted - 1] / s[0]) if 0 < wanted <= rank else 0.0

    def _solve(self, t: float, K: np.ndarray, b: np.ndarray, what: str, natural: float = 0.0) -> np.ndarray:
        """Rates that suit all rows; ``natural`` is their size where what the rows ask for cancels."""
        if not b.size:
            return self._zero.copy()
        if not np.isfinite(b).all():
            bad = self._name(int(np.argmin(np.isfinite(b))))
            raise AssemblyError(f"the path of {bad} has no finite {what} at t = {t:.6g} s")
        x, health = self._least(K, b)
        if health < UNDETERMINED:
            raise SingularError(f"the pose of {self.e.topology.mechanism.name!r} at t = {t:.6g} s is singular")
        off = np.abs(K @ x - b) / self._row_size[:, 0]
        worst = int(np.argmax(off))
        size = np.abs(b / self._row_size[:, 0]).max() + (np.abs(self._scaled(K)) @ np.abs(x / self.size)).max()
        size += natural
        most = max(UNDETERMINED, LOOSE * self._rounded)
        slow = 1.0 / self.time if what == "velocity" else self.time**-2.0
        if not off[worst] <= most * size + AT_REST * slow:
            raise AssemblyError(
                f"no motion of {self.e.topology.mechanism.name!r} has the {what} that the path of {self._name(worst)} "
                f"asks for at t = {t:.6g} s (off by {off[worst]:.3g}): more is prescribed than it has freedoms"
            )
        return x

    def _name(self, row: int) -> str:
        closures = len(self.closed)
        if row >= closures + len(self.along):
            return repr(self.e.topology.q_labels[self._shape_q[row - closures - len(self.along)]])
        return repr(self.along.names[row - closures] if row >= closures else self.e.closure.joints[self.closed[row]])

    def check_determined(self, t: float, q: np.ndarray) -> None:
        """Refuse paths that leave a motion open: its velocities would be anybody's guess."""
        _, K, _ = self.at(t, q)
        n = len(self._zero)
        if not n:
            return
        _, s, vt = np.linalg.svd(self._scaled(K))
        rank = int(significant(s, self._rounded, UNDETERMINED))
        if rank == n:
            return
        labels, free = self.e.topology.v_labels, vt[rank:]
        if self._spins(t, q, self.size[:, None] * free.T):
            self.idle = n - rank
            return
        moving = np.abs(free).max(axis=0)
        names = [labels[i] for i in np.argsort(-moving) if moving[i] > 1e-3]
        m = self.e.topology.mechanism
        prescribed = ", ".join(map(repr, self.targets.names)) or "nothing"
        raise ModelError(
            f"the path leaves {n - rank} motion{'s' * (n - rank != 1)} of {m.name!r} open at t = {t:.6g} s: "
            f"{', '.join(map(repr, names[:6]))}{', ...' if len(names) > 6 else ''} still move with {prescribed} on the "
            "path. Prescribe more (a coordinate of these, or the orientation of the frame); a motion that no path can "
            "choose is found by simulating, with the others prescribed by m.drive(...)"
        )

    def _spins(self, t: float, q: np.ndarray, motions: np.ndarray) -> bool:
        """Whether motions (nv, k) leave all joints and centres of mass where they are."""
        places = closing_functions(self.e)["places"]
        here = np.array(places(t, q, self._zero, self.p)).ravel()
        step = 1e-3  # of a turn: what only spins stays, whatever the angle
        for k in range(motions.shape[1]):
            there = np.array(places(t, self.move(q, step * motions[:, k]), self._zero, self.p)).ravel()
            if np.abs(there - here).max(initial=0.0) > 1e-2 * step * self.length:  # second-order parts of the step
                return False
        return True

    def follow(self, t: np.ndarray, q: np.ndarray) -> Found:
        """Coordinates, velocities and accelerations at the times t, beginning at the configuration q."""
        self.check_determined(float(t[0]), q)
        span = float(abs(t[-1] - t[0])) or 1.0
        rows: list[Found] = [(q, *self.rates(float(t[0]), q))]
        for k in visibly(range(1, len(t)), "following the path"):
            try:
                rows.append(self.reach(float(t[k - 1]), rows[-1], float(t[k]), SMALLEST * span))
            except LostError as error:
                error.found = self._together(rows)
                raise
            except AssemblyError as error:
                raise LostError(str(error), self._together(rows), float(t[k])) from None
        return self._together(rows)

    def _together(self, rows: list[Found]) -> Found:
        q, v, a = (np.array(x) for x in zip(*rows, strict=True))
        return q, v, a

    def reach(self, t: float, at: Found, aim: float, smallest: float) -> Found:
        """The motion at another time, in as many steps as it takes."""
        try:
            return self._regular(t, at, aim, smallest)
        except SingularError:
            return self._continued(t, at, aim, smallest)

    def _regular(self, t: float, at: Found, aim: float, smallest: float) -> Found:
        aims = [aim]
        while aims:
            found = self._step(t, at, aims[-1])
            if found is not None:
                t, at = aims.pop(), found
                continue
            if abs(aims[-1] - t) < smallest:
                raise LostError(self._complaint(t, at[0]), None, t)
            aims.append(0.5 * (t + aims[-1]))
        return at

    def _step(self, t: float, at: Found, aim: float) -> Found | None:
        q, v, a = at
        h = aim - t
        ahead = v * h + a * (h * h / 2)
        way = float(np.abs(ahead / self.size).max(initial=0.0))
        if not way < 0.5:
            return None
        found = self.correct(aim, self.move(q, ahead))
        if found is None or found[1] > max(FAR, SHARE * way):
            return None
        return found[0], *self.rates(aim, found[0])

    def _continued(self, t: float, at: Found, aim: float, smallest: float) -> Found:
        """The motion at a singular pose, from four instants before it.

        Accelerations are continued as a cubic of time and integrated twice: errors are of the fourth order of the
        distance for them, and two orders smaller for coordinates.
        """
        d = (aim - t) / 8
        before: list[Found] = []
        for k in (4, 3, 2, 1):
            at = self._regular(t, at, aim - k * d, smallest)
            t = aim - k * d
            before.append(at)
        q, v, _ = before[-1]
        cubic = np.polynomial.polynomial.polyfit([-3.0, -2.0, -1.0, 0.0], np.array([x[2] for x in before]), 3)
        a = cubic.sum(axis=0)
        powers = np.arange(4.0)[:, None]
        way = v * d + d * d * (cubic / ((powers + 1) * (powers + 2))).sum(axis=0)
        return self.move(q, way), v + d * (cubic / (powers + 1)).sum(axis=0), a

    def _complaint(self, t: float, q: np.ndarray) -> str:
        """Where the path leaves the workspace, and what is in the way."""
        m = self.e.topology.mechanism
        _, K, _ = self.at(t, q)
        _, s, vt = np.linalg.svd(self._scaled(K))
        labels = self.e.topology.v_labels
        names = [labels[i] for i in np.argsort(-np.abs(vt[min(len(s), len(labels)) - 1]))[:3]]
        targets = ", ".join(map(repr, self.targets.names)) or "the drives"
        if s[-1] > NEAR_SINGULAR * s[0]:
            return (
                f"{m.name!r} cannot follow the path of {targets} after t = {t:.6g} s, though its pose is not singular: "
                "the path jumps there, or more is prescribed than the mechanism has freedoms. Then leave components of "
                "the path free (None), or its orientation"
            )
        return (
            f"the path of {targets} leaves the workspace of {m.name!r} at t = {t:.6g} s: no closed configuration "
            f"follows it further in this assembly. It ends at a singular pose (conditioning {s[-1] / s[0]:.1e}), "
            f"where {', '.join(map(repr, names))} move most. Shrink or shift the path, or begin in another assembly "
            "(m.assemblies shows them)"
        )

    def conditioning(self, t: np.ndarray, q: np.ndarray) -> np.ndarray:
        """How far each pose is from one at which the path cannot determine the motion, 0 to 1."""
        out = np.ones(len(t))
        for k in visibly(range(len(t)), "looking for singular poses"):
            s = np.linalg.svd(self._scaled(self.at(float(t[k]), q[k])[1]), compute_uv=False)
            n = len(self._zero) - self.idle
            out[k] = s[n - 1] / s[0] if len(s) >= n > 0 else 1.0
        return out

    def _scaled(self, K: np.ndarray) -> np.ndarray:
        """Free of units: angles and lengths compared by the size of the drawing."""
        return K * self.size / self._row_size


def numbers(e: Equations, targets: Targets, p: np.ndarray, t: float) -> tuple[dict[str, float], dict[Any, Any]]:
    """What paths and drives ask for at a time, as `assemble` takes it: coordinates and frames to hold."""
    hold: dict[str, float] = {}
    frames: dict[Any, Any] = {}

    @locked
    def value(x: Any) -> float:
        f = ca.Function("value", [e.limbs.t, e.limbs.p], [e.expression(x)])
        return float(f(t, p))

    m = e.topology.mechanism
    for drive in m.drives.values():
        hold[m.joints[drive.joint].labels()[drive.index]] = value(drive.position)
    for target in targets.coordinates:
        if target.ahead_of is None:
            hold[target.name] = value(target.position)
    for frame_target in targets.frames:
        pose: dict[str, Any] = {}
        if any(x is not None for x in frame_target.position):
            pose["position"] = tuple(None if x is None else value(x) for x in frame_target.position)
        if frame_target.rotation is not None:
            pose["rotation"] = [[value(x) for x in row] for row in frame_target.rotation]
        frames[frame_target.frame] = pose
    return hold, frames
