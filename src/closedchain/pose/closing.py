"""The search for closed configurations: closure residuals, held values and held frames as one set of equations.

Positions are found by a Levenberg-Marquardt search with a trust region, in the space of velocities (so quaternions stay
on their sphere), finished by plain Newton steps of least length to machine precision. Where the direct search fails,
the equations are approached by continuation: the residual at the guess is let go to zero little by little.

The theory is in ``docs/theory/assembly.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from closedchain.arguments import instance, known, numeric, real, shown, suggest
from closedchain.close.formulation import normalise
from closedchain.cut.topology import Topology
from closedchain.derive.equations import Equations
from closedchain.errors import AssemblyError, ModelError
from closedchain.lock import PATIENCE, locked, patient
from closedchain.model.bodies.rotation import from_matrix, from_rpy
from closedchain.model.derived import cached
from closedchain.model.expressions.expression import HUGE
from closedchain.model.parts import Frame
from closedchain.pose.rank import (
    ALIKE,
    COARSEST,
    LOOSE,
    SOLVED,
    STILL,
    cut_off,
    needed_tolerance,
    rank,
    relative_tolerance,
    row_tolerances,
    significant,
)
from closedchain.pose.size import drawn_scale, row_sizes, velocity_sizes

TOLERANCE = 1e-11  # rad, or of the mechanism's length: a residual that counts as closed; Newton goes on to rounding
NEARLY = 100.0  # so many of them: what Newton's method closes
FURTHEST = 0.7  # rad, or of the length: beyond a step of this the linear picture means nothing
POLISH = 10  # Newton steps at most
ROUNDED = 1e-3  # of the mechanism's length: larger gaps are not blamed on rounded numbers
AMPLE = 5.0  # a tolerance over the gap it is recommended for: at other poses the gap may be larger
MATTERS = 1e-3  # of the largest gap: smaller ones are met as well as the others let them, and are not told
NEAREST = 1e-6  # of a full step: where the nearest reachable value is known well enough to be told
REMEDIES = 3  # held values that a message names as possible culprits


@dataclass(frozen=True)
class Pose:
    """What is wanted of a frame: position (m; None leaves a component free), rotation (3x3; None leaves it free), and
    rates by name (``velocity``, ``angular_velocity``, ``acceleration``, ``angular_acceleration``; world axes).
    """

    frame: Frame
    position: tuple[float | None, ...] | None
    rotation: np.ndarray | None
    rates: Mapping[str, Sequence[float | None]]


RATES = ("velocity", "angular_velocity", "acceleration", "angular_acceleration")


class FramesAndGaps(NamedTuple):
    """What is wanted beside held coordinates: poses of frames, and residuals of closure rows that stay open."""

    poses: Sequence[Pose] = ()
    gaps: Mapping[str, float] = MappingProxyType({})


NOTHING_ELSE = FramesAndGaps()


class Closing:
    """Closure equations of a mechanism together with what is held, at a time and at parameter values."""

    def __init__(
        self,
        e: Equations,
        p: np.ndarray,
        *,
        time: float = 0.0,
        held: Mapping[str, float] | None = None,
        guess: Mapping[str, float] | None = None,
        beside: FramesAndGaps = NOTHING_ELSE,
        rows: Sequence[int] | None = None,
        open_joints: Sequence[str] = (),
    ) -> None:
        self.e, self.p, self.t = e, p, time
        self.topology = e.topology
        self.held = dict(held or {})
        self.poses = tuple(beside.poses)
        self.open_joints = tuple(open_joints)
        self.scale = drawn_scale(e, p)
        self._rounded = relative_tolerance(e, p)
        self.tolerance = max(TOLERANCE, self._rounded)  # relative
        self.active = list(range(len(e.closure)) if rows is None else rows)
        self.gaps = dict(beside.gaps)
        self._gaps = np.array([self.gaps.get(row_name(e, i), 0.0) for i in self.active])
        self._zero = np.zeros(self.topology.nv)
        made = functions(e)
        self._f = {name: patient(f) for name, f in made.items()}
        self._closure, self._measure = patient(made["residual"], 2), patient(made["measure"], 2)  # all a search needs
        self.labels = [x for j in self.topology.measured for x in j.labels()]
        self.velocity_labels = [x for j in self.topology.measured for x in j.velocity_labels()]
        self._wraps = np.array([j.type.wraps(i) for j in self.topology.measured for i in range(j.type.nq)], bool)
        self.rows = self._held_rows()
        self._turns = self._wraps[self.rows]  # held up to whole turns
        self._normalise_held()
        self._values = np.array([self.held[self.labels[i]] for i in self.rows])
        self._pose_f = patient(_pose_function(e, self.poses)) if self.poses else None
        self.columns = self._free_columns()
        self.velocity_size = velocity_sizes(e, self.scale.length)  # by which moves compare
        self.column_size = self.velocity_size[self.columns]
        self._closure_size = row_sizes(e, self.active, self.scale.length)
        self.row_size = np.concatenate([self._closure_size, self._held_sizes()])
        self._units = [unit for _, _, unit in self._row_names()]
        self._rows_rounded = row_tolerances(self._units, e.topology.mechanism.tolerance, self.scale.length)
        drawn = {x for j in self.topology.joints if j.guess for x in j.labels()}
        self.guessed = (drawn | set(guess or {})) - set(self.held)  # all others start at zero because nobody said where
        self._nominal_turns = self._turns_of(dict(guess or {}))
        self.q0 = self._start(dict(guess or {}))

    # ---- the equations ---------------------------------------------------------------------------------------------

    def residual(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Closure, held values and held frames, with the Jacobian by the free velocities."""
        c, A = self._closure(self.t, q, self._zero, self.p)
        parts, rows = [c.ravel()[self.active] - self._gaps], [A[self.active]]
        if len(self.rows):
            value, J = self._measure(self.t, q, self._zero, self.p)
            off = value.ravel()[self.rows] - self._signed(value.ravel()[self.rows])
            parts.append(np.where(self._turns, (off + np.pi) % (2 * np.pi) - np.pi, off))
            rows.append(J[self.rows])
        if self._pose_f is not None:
            value, J = self._pose_off(q)
            parts.append(value)
            rows.append(J)
        return np.concatenate(parts), np.vstack(rows)[:, self.columns]

    def jacobian(self, q: np.ndarray) -> np.ndarray:
        """``A`` of the active closure rows, by all velocities."""
        return self._closure(self.t, q, self._zero, self.p)[1][self.active]

    def relative_jacobian(self, q: np.ndarray) -> np.ndarray:
        """The same without units: rows and velocities are taken by their sizes."""
        return self.jacobian(q) * self.velocity_size / self._closure_size[:, None]

    def relative(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """`residual` without units: lengths and moves along slides are taken by the mechanism's length."""
        r, J = self.residual(q)
        return r / self.row_size, J * self.column_size / self.row_size[:, None]

    def _cut(self, J: np.ndarray, least: float) -> float:
        """Relative size of singular values that mean nothing, of rows without units."""
        return cut_off(J, self._even(J), self._rounded, least) if self._rounded else least

    def _count(self, J: np.ndarray) -> int:
        """How many rows without units are independent at one pose."""
        return rank(self._even(J) if self._rounded else J, self._rounded, ALIKE)

    def _even(self, J: np.ndarray) -> np.ndarray:
        """Rows without units, those after the active closure rows each of length one."""
        size = np.linalg.norm(J, axis=1)
        size[: len(self.active)] = 1.0
        return J / np.where(size > 0, size, 1.0)[:, None]

    def error(self, q: np.ndarray) -> float:
        """Largest residual, rad or of the mechanism's length."""
        r = self.residual(q)[0] / self.row_size
        return 0.0 if not r.size else (float(np.abs(r).max()) if np.isfinite(r).all() else np.inf)

    def step(self, q: np.ndarray, d: np.ndarray) -> np.ndarray:
        """Move along the free velocities by d."""
        full = self._zero.copy()
        full[self.columns] = d
        return self._f["retract"](self.t, q, full, self.p).ravel()

    def count(self, q: np.ndarray) -> np.ndarray:
        """The same configuration, with the angles of cut joints in the turns that are held, guessed or usual."""
        at = [counter.q for counter in self.topology.counters]
        q = q.copy()
        q[at] = self._nominal_turns
        q[at] = self._f["counted"](self.t, q, self._zero, self.p).ravel()
        return q

    def places(self, q: np.ndarray) -> np.ndarray:
        """World positions of all joints on all bodies and of the centres of mass."""
        return self._f["places"](self.t, q, self._zero, self.p)

    # ---- the search ------------------------------------------------------------------------------------------------

    def reach(self, q: np.ndarray, patiently: bool = True) -> np.ndarray:
        """Where a search from q ends, be it closed or not: directly, else by continuation if that closes."""
        direct = self.search(q)
        if patiently and not self.closes(direct):
            further = self.continuation(q)
            if self.closes(further):
                return further
        return direct

    def closes(self, q: np.ndarray, slack: float = 1.0) -> bool:
        """Whether a configuration is closed as far as a search goes, or so much less."""
        return bool((np.abs(self.residual(q)[0]) < self._allowed(slack)).all())

    def _allowed(self, slack: float = 1.0) -> np.ndarray:
        """How far each row may be open, m or rad: rounding, or as the drawing's numbers are rounded."""
        return np.maximum(slack * TOLERANCE * self.row_size, self._rows_rounded)

    def settle(self, q: np.ndarray) -> np.ndarray:
        """The same configuration in the turns that are held or guessed; gears at cut joints know better."""
        counted = self.count(q)
        return counted if self.closes(counted) or self.error(counted) <= self.error(q) else q

    @PATIENCE
    def search(self, q: np.ndarray, target: np.ndarray | float = 0.0, iterations: int = 200) -> np.ndarray:
        """Levenberg-Marquardt towards ``residual = target``, both relative.

        The trust region is widened and narrowed by the ratio of the actual to the predicted gain.
        """
        r, J = self.relative(q)
        if not (np.isfinite(r).all() and np.isfinite(J).all()):  # half a turn off: there is no way from here
            return q
        r = r - target
        damping, enough = 1e-3, self._allowed() / self.row_size
        for _ in range(iterations):
            if (np.abs(r) < enough).all() or not len(self.columns):
                break
            # (J'J + damping D) d = -J'r, solved for forces on the rows: what no row sees, such as the spin of a rod
            # between two ball joints, is not moved by rounding
            inverse = J.T / np.maximum((J * J).sum(0), 1e-12)[:, None]
            d = -inverse @ np.linalg.solve(J @ inverse + damping * np.eye(len(r)), r)
            largest = np.abs(d).max()
            if largest > FURTHEST:
                d *= FURTHEST / largest
            trial = self.step(q, self.column_size * d)
            r_new, J_new = self.relative(trial)
            r_new = r_new - target
            gain = r @ r - r_new @ r_new if np.isfinite(r_new).all() else -np.inf
            predicted = -2 * (r @ (J @ d)) - (J @ d) @ (J @ d)
            if predicted < 1e-14 * (r @ r):  # the bottom of a valley: nothing more is to be had here
                break
            if gain > 1e-4 * predicted > 0:
                q, r, J = trial, r_new, J_new
                damping = max(damping * (0.2 if gain > 0.5 * predicted else 1.0), 1e-14)
            else:
                damping *= 4
                if damping > 1e12 or np.abs(d).max() < 1e-15:
                    break
        return q

    def continuation(self, q: np.ndarray) -> np.ndarray:
        """Follow ``residual = (1 - s) residual(q)`` from s = 0 to 1, in steps that shrink where it is hard."""
        gap = self.relative(q)[0]
        if not np.isfinite(gap).all():
            return q
        s, ds = 0.0, 0.1
        while s < 1 and ds > 1e-3:
            target = (1 - min(s + ds, 1.0)) * gap
            trial = self.search(q, target, iterations=15)
            if np.abs(self.relative(trial)[0] - target).max(initial=0.0) < 1e-6:
                s, q, ds = min(s + ds, 1.0), trial, ds * 1.7
            else:
                ds /= 2
        return self.search(q) if s >= 1 else q

    @PATIENCE
    def polish(self, q: np.ndarray) -> np.ndarray:
        """Newton steps of least length until rounding stops them; rounded data are satisfied by least squares."""
        last, best = np.inf, q
        for _ in range(1 + POLISH):
            r, J = self.relative(q)
            if not r.size or not len(self.columns) or not (np.isfinite(r).all() and np.isfinite(J).all()):
                break
            d = -np.linalg.lstsq(J, r, rcond=self._cut(J, SOLVED))[0]
            off = float(np.abs(J @ d if self._rounded else r).max())  # what a motion can still mend
            if not off < last:
                break
            last, best, q = off, q, self.step(q, self.column_size * d)
        return best

    def near(self, q: np.ndarray, displacement: np.ndarray) -> np.ndarray:
        """A closed configuration near q, displaced along what the equations leave free as far as possible."""
        _, J = self.relative(q)
        d = displacement[self.columns] / self.column_size
        free = d - np.linalg.lstsq(J, J @ d, rcond=self._cut(J, ALIKE))[0] if J.size else d
        return self.polish(self.search(self.step(q, self.column_size * free)))

    # ---- velocities and accelerations ------------------------------------------------------------------------------

    @PATIENCE
    def velocities(self, q: np.ndarray, wanted: Mapping[str, float]) -> np.ndarray:
        """Velocities that keep the loops closed, hold the wanted values, and are otherwise as small as possible."""
        A, c_t, c_tt = self._f["residual"](self.t, q, self._zero, self.p)[1:]
        rows, right, units = self._wanted_rates(q, self._zero, wanted, ("velocity", "angular_velocity"), bias=False)
        rows.insert(0, A[self.active] * self.velocity_size / self._closure_size[:, None])
        right.insert(0, -c_t.ravel()[self.active] / self._closure_size)
        v = self._least(rows, right, units, "velocities", wanted, self._pace(c_tt))
        return self._on_a_branch(q, v, rows[0], np.vstack(rows))

    def pace(self, q: np.ndarray) -> float:
        """A rate beside which rounding does not count, 1/s: by the mechanism's time, or by prescribed accelerations."""
        return self._pace(self._f["residual"](self.t, q, self._zero, self.p)[3])

    def _pace(self, c_tt: np.ndarray) -> float:
        prescribed = np.abs(c_tt.ravel()[self.active] / self._closure_size).max(initial=0.0)
        return max(1.0 / self.scale.time, float(prescribed) ** 0.5)

    def _on_a_branch(self, q: np.ndarray, v: np.ndarray, A: np.ndarray, held: np.ndarray) -> np.ndarray:
        """At a singular pose, the nearest velocities that lead along closed poses; A and held rows are relative.

        Where rows lose their rank, ``A v + c_t = 0`` allows more than the closures do: accelerations exist only if
        ``u' gamma(q, v) = 0`` for all u with ``u' A = 0``, which is quadratic in v and tells the branches apart.
        """
        if not A.size or not v.any():
            return v
        u = np.linalg.svd(A)[0][:, self._count(A) :]
        free = np.linalg.svd(held)[2][self._count(held) :].T

        def misfit(w: np.ndarray) -> np.ndarray:
            moving = v + self.velocity_size * (free @ w)
            gamma = self._f["residual"](self.t, q, moving, self.p)[3].ravel()[self.active]
            return u.T @ (gamma / self._closure_size)

        start = np.zeros(free.shape[1])
        fast = float(np.linalg.norm(v / self.velocity_size))
        bound = 10 * max(ALIKE, LOOSE * self._rounded) * max(1.0 / self.scale.time, fast) ** 2
        if np.abs(misfit(start)).max(initial=0.0) <= bound:
            return v
        found = []
        if free.shape[1]:
            from scipy.optimize import least_squares  # singular starts are rare

            rng = np.random.default_rng(0)
            for k in range(12):
                fit = least_squares(
                    misfit, start + (k > 0) * fast * rng.normal(size=len(start)), xtol=1e-15, ftol=1e-15
                )
                slip = np.abs(A @ (free @ fit.x)).max()
                if np.abs(fit.fun).max() <= bound and slip <= self.loose(A, v + self.velocity_size * (free @ fit.x)):
                    found.append(fit.x)
        if not found:
            raise AssemblyError(
                f"the pose of {self.topology.mechanism.name!r} is singular, and no closed motion goes through it with "
                "the velocities that are held: hold others, or start away from it"
            )
        return v + self.velocity_size * (free @ min(found, key=np.linalg.norm))

    def loose(self, A: np.ndarray, v: np.ndarray) -> float:
        """How far relative rows A may be from the velocities v, 1/s: as far as data are rounded, or next to nothing."""
        fast = float((np.abs(A) @ np.abs(v / self.velocity_size)).max(initial=0.0))
        return max(ALIKE, LOOSE * self._rounded) * max(1.0 / self.scale.time, fast)

    @PATIENCE
    def accelerations(self, q: np.ndarray, v: np.ndarray, wanted: Mapping[str, float]) -> np.ndarray:
        """Accelerations that keep the loops closed, hold the wanted values, and are otherwise as small as possible."""
        _, A, _, gamma = self._f["residual"](self.t, q, v, self.p)
        rows, right, units = self._wanted_rates(q, v, wanted, ("acceleration", "angular_acceleration"), bias=True)
        rows.insert(0, A[self.active] * self.velocity_size / self._closure_size[:, None])
        right.insert(0, -gamma.ravel()[self.active] / self._closure_size)
        units = [f"{unit}^2" for unit in units]
        fast = float(np.abs(v / self.velocity_size).max(initial=0.0))
        return self._least(rows, right, units, "accelerations", wanted, max(1.0 / self.scale.time, fast) ** 2)

    @locked
    def _wanted_rates(
        self, q: np.ndarray, v: np.ndarray, wanted: Mapping[str, float], names: tuple[str, str], bias: bool
    ) -> tuple[list[np.ndarray], list[np.ndarray], list[str]]:
        """Rows and right-hand sides for the wanted rates of joints and frames, relative to the mechanism's length.

        Units of velocity come with them: of the active closure rows, which go before, and of these.
        """
        _, _, J, drift = self._f["measure"](self.t, q, v, self.p)
        picked = [self.velocity_labels.index(label) for label in wanted]
        units = [unit for j in self.topology.measured for unit in j.type.velocity_units]
        told = [f"{self.e.closure.units[i]}/s" for i in self.active] + [units[i] for i in picked]
        size = np.array([self.scale.length if units[i] == "m/s" else 1.0 for i in picked])
        rows = [J[picked] * self.velocity_size / size[:, None]]
        right = [(np.array(list(wanted.values())) - bias * drift.ravel()[picked]) / size]
        for pose in self.poses:
            at = self.e.motion.frame(pose.frame)
            for name, J_x, b in ((names[0], at.J.lin, at.bias.lin), (names[1], at.J.ang, at.bias.ang)):
                rate = pose.rates.get(name)
                if rate is None:
                    continue
                keep = [i for i, x in enumerate(rate) if x is not None]
                if name == "acceleration":  # the recursion counts gravity as an acceleration of the ground
                    b = b + self.e.limbs.vector(self.topology.mechanism.gravity)
                f = self.e.function("rate", {"J": J_x, "b": b})
                J_now, b_now = (np.array(x) for x in f(self.t, q, v, self.p))
                b_now = b_now.ravel()
                length = self.scale.length if name == names[0] else 1.0
                rows.append(J_now[keep] * self.velocity_size / length)
                right.append((np.array([rate[i] for i in keep], float) - bias * b_now[keep]) / length)
                told += ["m/s" if name == names[0] else "rad/s"] * len(keep)
        return rows, right, told

    def _least(
        self,
        rows: list[np.ndarray],
        right: list[np.ndarray],
        units: list[str],
        what: str,
        wanted: Mapping[str, float],
        slow: float,
    ) -> np.ndarray:
        """The smallest solution of relative rows; ``slow`` is a rate beside which rounding does not count."""
        system, b = np.vstack(rows), np.concatenate(right)
        if not system.size or not b.any():
            return self._zero.copy()
        x = np.linalg.lstsq(system, b, rcond=self._cut(system, STILL))[0]
        miss = np.abs(system @ x - b)
        most = max(ALIKE, LOOSE * self._rounded)
        if miss.max() > most * max(slow, np.abs(b).max(), (np.abs(system) @ np.abs(x)).max()):
            m, i = self.topology.mechanism, int(np.argmax(miss))
            off = miss[i] * (self.scale.length if units[i].startswith("m/") else 1.0)
            held = [*wanted, *m.drives, *(f"{x.frame.body.name}.{x.frame.name}" for x in self.poses if x.rates)]
            raise AssemblyError(
                f"the {what} of {m.name!r} that are held or prescribed ({', '.join(held)}) contradict the loops or "
                f"each other (off by {off:.3g} {units[i]}): the mechanism has fewer freedoms here; hold fewer of them"
            )
        return self.velocity_size * x

    # ---- what is held ----------------------------------------------------------------------------------------------

    def _start(self, guess: dict[str, float]) -> np.ndarray:
        q = np.zeros(self.topology.nq)
        for link in self.topology.links:
            joint = link.joint
            if joint.type.has_quaternion:
                q[link.q.stop - 4] = 1.0
            if joint.guess:
                q[link.q] = joint.guess
        for i, label in enumerate(self.topology.q_labels):
            q[i] = self.held.get(label, guess.get(label, q[i]))
        return self.count(self._f["retract"](self.t, q, self._zero, self.p).ravel())

    def _turns_of(self, guess: dict[str, float]) -> np.ndarray:
        """Where the counted angles of cut joints are looked for: held, guessed, or where what uses them is at rest."""
        out = self._f["middle"](self.t, np.zeros(self.topology.nq), self._zero, self.p).ravel()
        for k, counter in enumerate(self.topology.counters):
            drawn = counter.joint.guess[counter.index] if counter.joint.guess else out[k]
            out[k] = self.held.get(counter.label, guess.get(counter.label, drawn))
        return out

    def _quaternions(self) -> list[list[str]]:
        """Names of the quaternions that are held as a whole."""
        every = [j.labels()[-4:] for j in self.topology.joints if j.type.has_quaternion]
        return [list(four) for four in every if all(label in self.held for label in four)]

    def _normalise_held(self) -> None:
        for four in self._quaternions():
            size = float(np.linalg.norm([self.held[label] for label in four]))
            if size < 1e-9:
                raise ModelError(f"hold: the quaternion {four[0].rpartition('.')[0]!r} has no length")
            self.held |= {label: self.held[label] / size for label in four}

    def _signed(self, measured: np.ndarray) -> np.ndarray:
        """The held values; of a quaternion and its negative, which mean the same, the one that is nearer."""
        values = self._values.copy()
        names = [self.labels[i] for i in self.rows]
        for four in self._quaternions():
            at = [names.index(label) for label in four if label in names]
            if len(at) == 4 and values[at] @ measured[at] < 0:
                values[at] *= -1
        return values

    def _free_columns(self) -> np.ndarray:
        """Velocities that positions may move along: all but those of held coordinates in the tree."""
        fixed = np.zeros(self.topology.nv, bool)
        for link in self.topology.links:
            mine = [label in self.held for label in link.joint.labels()]
            fixed[link.v] = all(mine) if link.joint.type.has_quaternion else mine
            if link.shape is not None:
                fixed[link.shape_v] = [label in self.held for label in link.shape.labels()]
        return np.flatnonzero(~fixed)

    def _held_rows(self) -> list[int]:
        """Held coordinates that cannot simply be left alone: of cut joints, or some of a quaternion joint's."""
        rows = []
        for label in self.held:
            link = next((k for k in self.topology.links if label in k.q_labels), None)
            if link is not None and label not in link.joint.labels():
                continue
            whole = link is not None and all(x in self.held for x in link.joint.labels())
            if link is None or (link.joint.type.has_quaternion and not whole):
                rows.append(self.labels.index(label))
        return rows

    def _held_sizes(self) -> np.ndarray:
        """By which residuals of held values and frames compare: the length, or 1 for angles and quaternions."""
        out = [*self.held_units]
        for pose in self.poses:
            out += ["m" for x in pose.position or () if x is not None] + ["rad"] * (3 * (pose.rotation is not None))
        return np.array([self.scale.length if unit == "m" else 1.0 for unit in out])

    @property
    def held_units(self) -> list[str]:
        """Unit of each held value that is an equation."""
        units = [unit for j in self.topology.measured for unit in j.type.coordinate_units]
        return [units[i] for i in self.rows]

    # ---- words -----------------------------------------------------------------------------------------------------

    def check_fixed(self) -> None:
        """Rows that no motion changes must be zero as drawn."""
        fixed = [row for row in self.e.closure.fixed if row.joint not in self.open_joints]
        if not fixed:
            return
        f = self.e.function("fixed", {"c": ca.vertcat(*(row.value for row in fixed))})
        gaps = np.abs(patient(f)(self.t, self.q0, self._zero, self.p).ravel())
        units, length = [row.unit for row in fixed], self.scale.length
        rounded = row_tolerances(units, self.topology.mechanism.tolerance, length)
        for row, gap, most in zip(fixed, gaps, rounded, strict=True):
            if not gap < max(NEARLY * TOLERANCE * (length if row.unit == "m" else 1.0), most):
                said = (
                    f"joint {row.joint!r} can never close: its residual {row.label!r} is {gap:.4g} at every pose; "
                    "check the positions of its frames out of the plane of motion, and the directions of the axes"
                )
                needed = needed_tolerance(units, gaps, length)
                if needed < ROUNDED * length:
                    needed = max(needed, self._needed(self.search(self.q0)))
                raise AssemblyError("\n".join([said, *self._advice(needed)]))

    def complaint(self, q: np.ndarray) -> str:
        """What keeps the mechanism from closing: the gaps that matter, the largest first, and what would close it."""
        r = self.residual(q)[0]
        sizes = np.abs(r) / self.row_size  # by which metres and radians compare
        matters = ~((np.abs(r) < self._allowed()) | (sizes <= MATTERS * sizes.max()))
        groups: dict[str, list[tuple[float, str]]] = {}
        for k, (group, row, unit) in enumerate(self._row_names()):
            if matters[k]:
                groups.setdefault(group, []).append((sizes[k], f"{row} {r[k]:.3g} {unit}".strip()))
        lines = [
            f"mechanism {self.topology.mechanism.name!r} does not close: the best configuration found leaves these gaps"
        ]
        for group, parts in sorted(groups.items(), key=lambda x: -max(x[1])[0]):
            lines.append(f"  {group}: " + ", ".join(text for _, text in sorted(parts, key=lambda x: -x[0])))
        held = ", ".join(f"{k}={x:.4g}" for k, x in self.held.items()) or "no coordinate"
        held += "".join(f", gap {k}={x:.4g}" for k, x in self.gaps.items())
        lines.append(f"held: {held}. {self._remedy(q)}")
        return "\n".join([*lines, *self._advice(self._needed(q))])

    def _needed(self, q: np.ndarray) -> float:
        """The least tolerance that explains the gaps of a configuration, m."""
        return needed_tolerance(self._units, np.abs(self.residual(q)[0]), self.scale.length)

    def _advice(self, needed: float) -> list[str]:
        """What to say about gaps that rounded numbers may explain, if the tolerance were what is needed."""
        tolerance, length = self.topology.mechanism.tolerance, self.scale.length
        if not 0 < needed < ROUNDED * length:
            return []
        if tolerance:
            return [
                f"the drawing says tolerance={tolerance:g}, which is less than the gaps need: mend its numbers, or say "
                f"tolerance={enough(needed, length):g}"
            ]
        return [
            "the gaps are small: if loops are closed more than once and the drawing's numbers are rounded, say how "
            f"much, cc.Mechanism(..., tolerance={enough(needed, length):.0e})"
        ]

    def _row_names(self) -> list[tuple[str, str, str]]:
        """Of each residual: the loop, held value or frame it belongs to, its name there, and its unit."""
        closure = self.e.closure
        names = [(f"loop closed by {closure.joints[i]!r}", closure.labels[i], closure.units[i]) for i in self.active]
        units = [unit for x in self.topology.measured for unit in x.type.coordinate_units]
        names += [(f"held value {self.labels[i]!r}", "off by", units[i].replace("1", "")) for i in self.rows]
        for pose in self.poses:
            group = f"held frame '{pose.frame.body.name}.{pose.frame.name}'"
            names += [(group, axis, "m") for axis, x in zip("xyz", pose.position or (), strict=False) if x is not None]
            names += [(group, f"turn {axis}", "rad") for axis in "xyz" if pose.rotation is not None]
        return names

    def _remedy(self, q: np.ndarray) -> str:
        """What to change: each held value in turn is let go; where the loops then close, how near it comes is told."""
        freest = self._without(held=[x for x in self.held if x in self._shapes], poses=())
        if len(freest.held) == len(self.held) and not self.poses:
            return "Check the lengths, or give a closer guess="
        if not freest.closes(freest.reach(q)):
            return "It does not close without them either: check the lengths, or give a closer guess="
        closes = []
        for joint in self.topology.joints:
            let_go = [x for x in joint.labels() if x in self.held]
            for names in [let_go] if joint.type.has_quaternion and let_go else [[x] for x in let_go]:
                freer = self._without(held=[x for x in self.held if x not in names])
                found = freer.search(q)
                if freer.closes(found):
                    at = [self.labels.index(x) for x in names]
                    found = freer._nearest(found, lambda q, at=at: self._off(q, at))  # type: ignore[misc]
                    values = self._measured(found)[at]
                    off = float(np.abs(self._off(found, at)[0]).max())
                    closes.append((off, " and ".join(f"{x} = {y:.5g}" for x, y in zip(names, values, strict=True))))
        if closes:
            ways = " or ".join(text for _, text in sorted(closes)[:REMEDIES])
            return f"It closes with {ways} instead: hold fewer or other values, or give a closer guess="
        if self._pose_f is not None:
            freer = self._without(poses=())
            found = freer.search(q)
            if freer.closes(found):
                off = float(np.abs(self._pose_off(freer._nearest(found, self._pose_off))[0]).max())
                return (
                    f"With closed loops the held frames come within {off:.3g} m or rad of where they are wanted: move "
                    "them, hold fewer values, or give a closer guess="
                )
        return "No single one of them is to blame: hold fewer or other values, or give a closer guess="

    def _nearest(self, q: np.ndarray, aim: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
        """From a closed configuration along closed ones to where ``aim`` (a residual, its Jacobian) is smallest."""
        w, J = aim(q)
        size = 1.0
        while size > NEAREST and np.abs(w).max() > self.tolerance:
            free = self._free_motions(q)
            d = -free @ np.linalg.lstsq(J @ free, w, rcond=SOLVED)[0] if free.size else np.zeros(0)
            length = np.abs(d / self.velocity_size).max(initial=0.0) if d.size else 0.0
            if not length > 0:
                break
            trial = self.near(q, d * size * min(1.0, 0.2 / length))
            w_new, J_new = aim(trial)
            if self.closes(trial) and w_new @ w_new < w @ w:
                q, w, J, size = trial, w_new, J_new, min(1.0, 2 * size)
            else:
                size /= 4
        return q

    def _free_motions(self, q: np.ndarray) -> np.ndarray:
        """Velocities that the equations leave free, as columns: orthonormal without units."""
        _, J = self.relative(q)
        _, s, vt = np.linalg.svd(J) if J.size else (None, np.zeros(0), np.eye(len(self.columns)))
        out = np.zeros((self.topology.nv, len(vt) - int(significant(s, self._rounded, ALIKE))))
        out[self.columns] = self.column_size[:, None] * vt[len(vt) - out.shape[1] :].T
        return out

    def _off(self, q: np.ndarray, at: list[int]) -> tuple[np.ndarray, np.ndarray]:
        """By how much some coordinates are off what is held, and the Jacobian by all velocities."""
        _, J = self._measure(self.t, q, self._zero, self.p)
        off = self._measured(q)[at] - [self.held[self.labels[i]] for i in at]
        return np.where(self._wraps[at], (off + np.pi) % (2 * np.pi) - np.pi, off), J[at]

    def _pose_off(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """By how much the frames are off where they are held, and the Jacobian by all velocities."""
        assert self._pose_f is not None
        value, J = self._pose_f(self.t, q, self._zero, self.p)
        return value.ravel(), J

    def _measured(self, q: np.ndarray) -> np.ndarray:
        """All coordinates, in the order of ``labels``."""
        return self._measure(self.t, q, self._zero, self.p)[0].ravel()

    @property
    def _shapes(self) -> set[str]:
        """Names of the coordinates of flexible bodies."""
        return {x for link in self.topology.links if link.shape is not None for x in link.shape.labels()}

    def _without(self, held: Sequence[str] | None = None, poses: Sequence[Pose] | None = None) -> Closing:
        """The same equations with only some of the held values and frames."""
        return Closing(
            self.e,
            self.p,
            time=self.t,
            held=self.held if held is None else {x: self.held[x] for x in held},
            beside=FramesAndGaps(self.poses if poses is None else poses, self.gaps),
            rows=self.active,
            open_joints=self.open_joints,
        )


def enough(gap: float, length: float) -> float:
    """A tolerance for a drawing of some length with such a gap, m: 1, 2 or 5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(AMPLE * gap))
    ample = next(float(f"{x * power:.0e}") for x in (1, 2, 5, 10) if x * power >= AMPLE * gap)
    return min(COARSEST * length, ample)


def row_name(e: Equations, row: int) -> str:
    """Name of a closure row: the joint and its residual, ``"B x"``."""
    return f"{e.closure.joints[row]} {e.closure.labels[row]}"


def is_number(x: Any) -> bool:
    """Whether a value is a number that can be computed with."""
    value = real(x)
    return value is not None and abs(value) < HUGE


def by_label(topology: Topology, values: Mapping[str, Any], what: str) -> dict[str, float]:
    """Values by coordinate name from values by joint or coordinate name."""
    joints = {j.name: j for j in topology.measured}
    coordinates = [x for j in topology.measured for x in j.labels()]
    out: dict[str, float] = {}
    for key, value in values.items():
        labels: tuple[str, ...] = (key,)
        if key in joints:
            labels = joints[key].labels()
        elif key not in coordinates:
            known(f"{what}: no joint or coordinate is named", key, list(dict.fromkeys([*joints, *coordinates])))
        numbers = numeric(value)
        if numbers is None:
            raise ModelError(f"{what}: {key!r} takes numbers, not {shown(value)}")
        numbers = np.atleast_1d(numbers)
        if numbers.shape != (len(labels),) or not (np.abs(numbers) < HUGE).all():
            raise ModelError(
                f"{what}: {key!r} takes {len(labels)} finite value{'s' * (len(labels) != 1)}, not {shown(value)}"
            )
        out |= dict(zip(labels, numbers.tolist(), strict=True))
    return out


def wanted_poses(e: Equations, frames: Mapping[Any, Mapping[str, Any]] | None) -> list[Pose]:
    """Frames to hold, by `Frame`, body or ``"body.frame"``; see `assemble` for what may be held."""
    out = []
    for key, pose in (frames or {}).items():
        frame = key if isinstance(key, Frame) else e.topology.mechanism.find_frame(key)
        instance(f"frames: {key!r}", pose, Mapping, "a mapping such as {'position': (0, 0, 1)}")
        unknown = set(pose) - {"position", "rpy", "rotation", *RATES}
        if unknown:
            raise ModelError(
                f"frames: {key!r} takes position, rpy, rotation, {', '.join(RATES)}, not {sorted(unknown)}"
            )
        for name in ("position", *RATES):
            numbers = pose.get(name, (0, 0, 0))
            listed = isinstance(numbers, list | tuple | np.ndarray) and getattr(numbers, "ndim", 1) == 1
            if not listed or len(numbers) != 3 or not all(x is None or is_number(x) for x in numbers):
                raise ModelError(
                    f"frames: the {name} of {key!r} has three finite components (None leaves one free), not "
                    f"{shown(numbers)}"
                )
        rotation = None
        if "rpy" in pose:
            rotation = np.array(from_rpy(pose["rpy"], f"frame {key!r}"), float)
        if "rotation" in pose:
            rotation = np.array(from_matrix(pose["rotation"], f"frame {key!r}"), float)
        position = tuple(pose["position"]) if "position" in pose else None
        out.append(Pose(frame, position, rotation, {name: tuple(pose[name]) for name in RATES if name in pose}))
    return out


@locked
def _pose_function(e: Equations, poses: Sequence[Pose]) -> ca.Function:
    values, rows = [ca.SX(0, 1)], [ca.SX(0, e.topology.nv)]
    for pose in poses:
        at = e.motion.frame(pose.frame)
        for i, x in enumerate(pose.position or ()):
            if x is not None:
                values.append(ca.densify(at.X.r)[i] - float(x))
                rows.append(at.J.lin[i, :])
        if pose.rotation is not None:
            Q = ca.SX(ca.DM(pose.rotation)).T @ ca.densify(at.X.R)  # 2 tan(angle / 2), as in closures
            off = 2 * ca.vertcat(Q[2, 1] - Q[1, 2], Q[0, 2] - Q[2, 0], Q[1, 0] - Q[0, 1]) / (1 + ca.trace(Q))
            values.append(off)
            N = ca.jacobian(e.qdot, e.limbs.v)
            rows.append(ca.jacobian(off, e.limbs.q) @ N)
    return e.function("poses", {"value": ca.vertcat(*values), "J": ca.vertcat(*rows)})


def _column(scalars: Iterable[ca.SX]) -> ca.SX:
    return ca.vertcat(ca.SX(0, 1), *scalars)


@cached
def functions(e: Equations) -> dict[str, ca.Function]:
    """CasADi functions for the search."""
    limbs = e.limbs
    q_all, J_q, J_v, drift = [ca.SX(0, 1)], [ca.SX(0, e.topology.nv)], [ca.SX(0, e.topology.nv)], [ca.SX(0, 1)]
    N = ca.jacobian(e.qdot, limbs.v)
    for j in e.topology.measured:
        q_all.append(e.measures.coordinates(j))
        J_v.append(e.measures.jacobian(j))
        drift.append(e.measures.bias(j))
        if j.name in e.topology.own:
            J_q.append(N[e.topology.own[j.name][0], :])
        else:  # a quaternion of a cut joint is a function of q like any other
            J_q.append(ca.jacobian(q_all[-1], limbs.q) @ N if j.type.has_quaternion else J_v[-1])
    columns = {"q_all": ca.vertcat(*q_all), "J_q": ca.vertcat(*J_q), "J_v": ca.vertcat(*J_v)}
    columns["drift"] = ca.vertcat(*drift)
    closure = {"c": e.closure.c, "A": e.closure.A, "c_t": e.closure.c_t, "gamma": e.closure.gamma}
    frames = [side for j in e.topology.joints for side in (j.a, j.b)] + [link.body["com"] for link in e.topology.links]
    at = [e.motion.X[e.topology.link_of[frame.body.name]] @ limbs.place(frame) for frame in frames]
    places = ca.vertcat(*(ca.densify(X.r) for X in at))
    turns = e.topology.counters
    return {
        "places": e.function("places", {"r": places}),
        "residual": e.function("residual", closure),
        "retract": e.function("retract", {"q_moved": normalise(e, limbs.q + e.qdot)}),
        "measure": e.function("measure", columns),
        "counted": e.function("counted", {"angle": _column(e.measures.coordinates(x.joint)[x.index] for x in turns)}),
        "middle": e.function("middle", {"angle": _column(limbs.number(x.middle) for x in turns)}),
    }


def active_rows(e: Any, open_joints: tuple[str, ...]) -> list[int]:
    """Closure rows of all cut joints but the open ones."""
    cuts = {j.name for j in e.topology.cuts} | set(e.topology.mechanism.couplings) | set(e.topology.mechanism.drives)
    for name in open_joints:
        if name not in cuts:
            raise ModelError(
                f"{name!r} is not a cut joint{suggest(name, cuts)}; draw it with cut=True to open and close it"
            )
    return [i for i, joint in enumerate(e.closure.joints) if joint not in open_joints]
