"""Put a mechanism together: positions that close every loop, velocities that keep it closed.

Positions are found by a Levenberg-Marquardt search with a trust region on the closure residuals, in the space of
velocities (so quaternions stay on their sphere), finished by plain Newton steps of least length to machine precision.
Values that the user holds are kept exactly if their joint is in the tree, and as extra equations if it is cut.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import casadi as ca
import numpy as np

from closedchain.close.formulation import normalise
from closedchain.derive.equations import Equations, derive
from closedchain.errors import AssemblyError, ModelError
from closedchain.march.state import State, parameter_vector
from closedchain.model.mechanism import Mechanism
from closedchain.model.parts import suggest

TOLERANCE = 1e-11  # m or rad: a residual that counts as closed; Newton then goes on to rounding
RESTARTS = 24


def assemble(
    mechanism: Mechanism,
    hold: Mapping[str, Any] | None = None,
    *,
    guess: Mapping[str, Any] | None = None,
    velocity: Mapping[str, float] | None = None,
    parameters: Mapping[str, float] | None = None,
    **joints: Any,
) -> State:
    """Find a state in which all loops are closed.

    Parameters
    ----------
    mechanism
        What to assemble.
    hold, **joints
        Coordinates to hold, by joint name (``O=1.2``, or in a mapping for names with spaces), or by the name of one
        coordinate (``{"table.x": 0.3}``); a sequence gives all coordinates of a joint. Without any,
        ``mechanism.start``.
    guess
        Where the search starts, the same way; joints not mentioned start at their own guess, or zero.
    velocity
        Velocities to hold. Those that the loops leave undetermined are as small as possible.
    parameters
        Parameter values for this call only.

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
    held = dict(hold or {}) | joints
    if not held and not velocity:
        velocity = mechanism.start_velocity
    if not held:
        held = dict(mechanism.start)
    problem = _Problem(derive(mechanism), held, guess or {}, parameter_vector(mechanism, dict(parameters or {})))
    q = problem.positions()
    v = problem.velocities(q, dict(velocity or {}))
    return State(mechanism, q, v, dict(parameters or {}))


class _Problem:
    def __init__(self, e: Equations, held: dict[str, Any], guess: Mapping[str, Any], p: np.ndarray) -> None:
        self.e, self.p = e, p
        self.topology = e.topology
        self.held = _by_label(self.topology, held, "hold")
        start = _by_label(self.topology, guess, "guess")
        functions = _functions(e)
        self._residual, self._retract, self._measure = (
            functions["residual"],
            functions["retract"],
            functions["measure"],
        )
        self.q0 = self._start(start)
        self.rows, self.values = self._held_rows()
        self.columns = self._free_columns()

    # ---- positions -------------------------------------------------------------------------------------------------

    def positions(self) -> np.ndarray:
        self._check_fixed()
        best: np.ndarray | None = None
        rng = np.random.default_rng(0)  # restarts must be the same each time
        for attempt in range(1 + RESTARTS):
            q = self.q0
            if attempt:
                q = self.step(q, rng.normal(0, 0.1 * attempt**0.5, len(self.columns)))
            q = self._search(q)
            if self.error(q) < TOLERANCE:
                return self._polish(q)
            if best is None or self.error(q) < self.error(best):
                best = q
        raise AssemblyError(self._complaint(best))

    def residual(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Closure and held rows, with their Jacobian by the free velocities."""
        c, A = (np.array(x) for x in self._residual(0, q, np.zeros(self.topology.nv), self.p))
        r = c.ravel()
        if self.rows.size:
            value, J = self._measured(q)
            off = value - self.values
            off = np.where(self.turns, (off + np.pi) % (2 * np.pi) - np.pi, off)
            r, A = np.concatenate([r, off]), np.vstack([A, J])
        return r, A[:, self.columns]

    def error(self, q: np.ndarray) -> float:
        r = self.residual(q)[0]
        return float(np.abs(r).max()) if r.size and np.isfinite(r).all() else (0.0 if not r.size else np.inf)

    def step(self, q: np.ndarray, d: np.ndarray) -> np.ndarray:
        full = np.zeros(self.topology.nv)
        full[self.columns] = d
        return np.array(self._retract(0, q, full, self.p)).ravel()

    def _search(self, q: np.ndarray) -> np.ndarray:
        """Levenberg-Marquardt; the trust region is widened and narrowed by the ratio of actual to predicted gain."""
        r, J = self.residual(q)
        damping = 1e-3
        for _ in range(200):
            if not r.size or np.abs(r).max() < TOLERANCE or not len(self.columns):
                break
            scale = np.maximum((J * J).sum(0), 1e-12)
            H = J.T @ J
            d = -np.linalg.lstsq(H + damping * np.diag(scale), J.T @ r, rcond=None)[0]
            largest = np.abs(d).max()
            if largest > 0.7:  # a radian or so: beyond that the linear picture means nothing
                d *= 0.7 / largest
            trial = self.step(q, d)
            r_new, J_new = self.residual(trial)
            gain = r @ r - r_new @ r_new if np.isfinite(r_new).all() else -np.inf
            predicted = -2 * (r @ (J @ d)) - (J @ d) @ (J @ d)
            if gain > 1e-4 * predicted > 0:
                q, r, J = trial, r_new, J_new
                damping = max(damping * (0.2 if gain > 0.5 * predicted else 1.0), 1e-14)
            else:
                damping *= 4
                if damping > 1e12 or np.abs(d).max() < 1e-15:
                    break
        return q

    def _polish(self, q: np.ndarray) -> np.ndarray:
        """Newton steps of least length until rounding stops them."""
        for _ in range(10):
            r, J = self.residual(q)
            if not r.size or not len(self.columns):
                break
            trial = self.step(q, -np.linalg.lstsq(J, r, rcond=1e-10)[0])
            if not self.error(trial) < self.error(q):
                break
            q = trial
        return q

    # ---- velocities ------------------------------------------------------------------------------------------------

    def velocities(self, q: np.ndarray, wanted: dict[str, float]) -> np.ndarray:
        A = np.array(self._residual(0, q, np.zeros(self.topology.nv), self.p)[1])
        labels, _, J = self._all_velocities(q)
        rows, values = [], []
        for label, value in wanted.items():
            if label not in labels:
                raise ModelError(f"velocity: no joint velocity is named {label!r}{suggest(label, labels)}")
            rows.append(J[labels.index(label)])
            values.append(float(value))
        if not wanted:
            return np.zeros(self.topology.nv)
        system = np.vstack([A, *rows])
        right = np.concatenate([np.zeros(len(A)), values])
        v = np.linalg.lstsq(system, right, rcond=1e-11)[0]
        miss = np.abs(system @ v - right)
        if miss.max() > 1e-9 * max(1.0, np.abs(right).max()):
            worst = list(wanted)[int(np.argmax(miss[len(A) :]))] if miss[len(A) :].max() > 0 else "the loops"
            raise AssemblyError(
                f"the velocities {wanted} of {self.topology.mechanism.name!r} contradict the loops or each other "
                f"(off by {miss.max():.3g} at {worst}): the mechanism has fewer freedoms here; hold fewer velocities"
            )
        return v

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
        return np.array(self._retract(0, q, np.zeros(self.topology.nv), self.p)).ravel()

    def _free_columns(self) -> np.ndarray:
        """Velocities that positions may move along: all but those of held coordinates in the tree."""
        fixed = np.zeros(self.topology.nv, bool)
        for link in self.topology.links:
            labels = link.joint.labels()
            mine = [label in self.held for label in labels]
            if link.joint.type.has_quaternion:
                fixed[link.v] = all(mine)
            else:
                fixed[link.v] = mine
        return np.flatnonzero(~fixed)

    def _held_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Held coordinates that cannot simply be left alone: of cut joints, or some of a quaternion joint's."""
        labels, _, units = self._all_coordinates()
        rows = []
        for label in self.held:
            link = next((k for k in self.topology.links if label in k.joint.labels()), None)
            if link is not None and (
                not link.joint.type.has_quaternion or all(x in self.held for x in link.joint.labels())
            ):
                continue
            rows.append(labels.index(label))
        self.turns = np.array([units[i] == "rad" for i in rows], bool)
        return np.array(rows, int), np.array([self.held[labels[i]] for i in rows])

    def _measured(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        value, J = (np.array(x) for x in self._measure(0, q, np.zeros(self.topology.nv), self.p)[:2])
        return value.ravel()[self.rows], J[self.rows]

    def _all_coordinates(self) -> tuple[list[str], None, list[str]]:
        joints = self.topology.joints
        return (
            [x for j in joints for x in j.labels()],
            None,
            [u for j in joints for u in j.type.coordinate_units],
        )

    def _all_velocities(self, q: np.ndarray) -> tuple[list[str], None, np.ndarray]:
        labels = [x for j in self.topology.joints for x in j.velocity_labels()]
        return labels, None, np.array(self._measure(0, q, np.zeros(self.topology.nv), self.p)[2])

    # ---- words -----------------------------------------------------------------------------------------------------

    def _check_fixed(self) -> None:
        for joint, label, value in self.e.closure.fixed:
            f = self.e.function("fixed", {"c": value})
            gap = abs(float(f(0, self.q0, np.zeros(self.topology.nv), self.p)))
            if gap > 1e-9:
                raise AssemblyError(
                    f"joint {joint!r} can never close: its residual {label!r} is {gap:.4g} at every pose; "
                    "check the positions of its frames out of the plane of motion, and the directions of the axes"
                )

    def _complaint(self, q: np.ndarray | None) -> str:
        assert q is not None
        name = self.topology.mechanism.name
        r, _ = self.residual(q)
        lines = [f"mechanism {name!r} does not close: the best configuration found leaves these gaps"]
        closure = self.e.closure
        for joint in dict.fromkeys(closure.joints):
            parts = [
                f"{closure.labels[i]} {r[i]:.3g} {closure.units[i]}" for i, j in enumerate(closure.joints) if j == joint
            ]
            lines.append(f"  loop closed by {joint!r}: " + ", ".join(parts))
        labels, _, _ = self._all_coordinates()
        for k, i in enumerate(self.rows):
            lines.append(f"  held value {labels[i]!r}: off by {r[len(closure) + k]:.3g}")
        held = ", ".join(f"{k}={x:.4g}" for k, x in self.held.items()) or "nothing"
        lines.append(f"held: {held}. Check the lengths, hold fewer or other values, or give a closer guess=")
        return "\n".join(lines)


def close_near(e: Equations, q: np.ndarray, displacement: np.ndarray, p: np.ndarray) -> np.ndarray:
    """A closed pose near q, displaced along what the loops leave free as far as possible."""
    problem = _Problem(e, {}, {}, p)
    _, A = problem.residual(q)
    free = displacement - np.linalg.lstsq(A, A @ displacement, rcond=1e-9)[0]
    return problem._polish(problem._search(problem.step(q, free)))


def _by_label(topology: Any, values: Mapping[str, Any], what: str) -> dict[str, float]:
    """Values by coordinate name from values by joint or coordinate name."""
    joints = {j.name: j for j in topology.joints}
    known = [x for j in topology.joints for x in j.labels()]
    out: dict[str, float] = {}
    for key, value in values.items():
        labels = (key,)
        if key in joints:
            labels = joints[key].labels()
        elif key not in known:
            raise ModelError(f"{what}: no joint or coordinate is named {key!r}{suggest(key, [*joints, *known])}")
        numbers = np.atleast_1d(np.asarray(value, float))
        if numbers.shape != (len(labels),) or not np.isfinite(numbers).all():
            raise ModelError(
                f"{what}: {key!r} takes {len(labels)} finite value{'s' * (len(labels) != 1)}, not {value!r}"
            )
        out |= dict(zip(labels, numbers.tolist(), strict=True))
    return out


def _functions(e: Equations) -> dict[str, Callable[..., Any]]:
    """CasADi functions for the search, made once for each drawing."""
    derived = e.topology.mechanism._derived
    if "assembly" not in derived:
        limbs = e.limbs
        joints = e.topology.joints
        q_all, J_q, J_v = [ca.SX(0, 1)], [ca.SX(0, e.topology.nv)], [ca.SX(0, e.topology.nv)]
        N = ca.jacobian(e.qdot, limbs.v)
        for j in joints:
            link = e.topology.tree_joints.get(j.name)
            q_all.append(e.measures.coordinates(j))
            J_v.append(e.measures.jacobian(j))
            if link is not None:
                J_q.append(N[link.q, :])
            else:  # a quaternion of a cut joint is a function of q like any other
                J_q.append(ca.jacobian(q_all[-1], limbs.q) @ N if j.type.has_quaternion else J_v[-1])
        moved = normalise(e, limbs.q + e.qdot)
        derived["assembly"] = {
            "residual": e.function("residual", {"c": e.closure.c, "A": e.closure.A}),
            "retract": e.function("retract", {"q_moved": moved}),
            "measure": e.function(
                "measure", {"q_all": ca.vertcat(*q_all), "J_q": ca.vertcat(*J_q), "J_v": ca.vertcat(*J_v)}
            ),
        }
    return derived["assembly"]
