"""`equilibrium`: a closed pose at which a mechanism may rest.

At rest, what acts must do no work on any motion that keeps the loops closed: ``g = S' (tau - h) = 0``. The search lets
the mechanism sink, in Newton steps ``K d = g`` along the feasible motions S, with the stiffness ``K = S' R_q N S`` of
`pose.tangent`. Where K is not positive, its eigenvalues against the inertia are replaced by their absolute values, so
that every step goes the way the forces push: from most places this ends where the equilibrium is stable. A step that
overshoots, so that the forces push back, is halved. No potential is needed, only forces; where they have none and the
mechanism would go round in circles, the least-squares problem ``|g| = min`` is tried (Levenberg-Marquardt).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from closedchain.arguments import instance, mapping, needs
from closedchain.derive.equations import Equations, derive
from closedchain.errors import AssemblyError, ModelError
from closedchain.lock import locked
from closedchain.model.mechanism import Mechanism
from closedchain.pose.assemble import assemble
from closedchain.pose.closing import Closing, active_rows
from closedchain.pose.closing import functions as closing_functions
from closedchain.pose.inertia import weightless
from closedchain.pose.loads import load_sizes
from closedchain.pose.rank import cut_off, relative_tolerance
from closedchain.pose.redundancy import closure_jacobian, independent_rows
from closedchain.pose.size import drawn_length, velocity_sizes
from closedchain.pose.state import State, parameter_vector
from closedchain.pose.tangent import functions

STEPS = 200
LONGEST = 0.3  # rad, or of the length: beyond that the linear picture means nothing
FLAT = 1e-13  # of the largest square of a frequency: a motion that nothing resists; beams have very high ones
ROUNDING = 1e-12  # of the forces that cancel
ARRIVED = 1e-10  # rad, or of the length: a Newton step this short only improves rounding


def equilibrium(
    mechanism: Mechanism,
    guess: State | Mapping[str, Any] | None = None,
    *,
    time: float | None = None,
    parameters: Mapping[str, float] | None = None,
) -> State:
    """Find a pose at which a mechanism rests under gravity, springs and the present efforts of its motors.

    Parameters
    ----------
    mechanism
        What shall rest.
    guess
        Where the search begins: a state, or coordinates by name at which the mechanism is assembled first; None:
        ``mechanism.assemble()``. An unstable equilibrium is found only from its close neighbourhood.
    time
        Time at which motors and drives are looked at, s. Default: that of the guess, or 0.
    parameters
        Parameter values for this call only.

    Returns
    -------
    State
        At rest, with loops closed to rounding.

    Raises
    ------
    AssemblyError
        If none is found from this guess.

    Examples
    --------
    >>> import closedchain as cc
    >>> rest = cc.library.pendulum().equilibrium({"hinge": -1.0})
    >>> round(rest["hinge"] / cc.pi, 12)
    -0.5
    """
    state = _start(mechanism, guess, time, parameters)
    search = _Search(state)
    found = search.sink() or search.squeeze()
    if found is None:
        raise AssemblyError(search.complaint())
    return replace(state, q=found.q, v=np.zeros_like(state.v), a=None)


def _start(mechanism: Mechanism, guess: State | Mapping[str, Any] | None, time: float | None, parameters: Any) -> State:
    needs("equilibrium", mechanism, Mechanism, "a cc.Mechanism")
    mapping("parameters", parameters)
    if guess is not None:
        instance("guess", guess, (State, Mapping), "a mapping by coordinate, or a state")
    mechanism.validate({**(guess.parameters if isinstance(guess, State) else {}), **(parameters or {})})
    if not isinstance(guess, State):
        return assemble(mechanism, guess, parameters=parameters, time=0.0 if time is None else time)
    guess = guess.of(mechanism, "the guess")
    changes = {**guess.parameters, **(parameters or {})}
    return replace(guess, parameters=changes, t=guess.t if time is None else time)


@dataclass(frozen=True, eq=False)
class _Place:
    """A closed pose: forces g along its feasible motions S, stiffness K and inertia M there, and the rounding of g."""

    q: np.ndarray
    S: np.ndarray
    force: np.ndarray
    g: np.ndarray
    K: np.ndarray
    M: np.ndarray
    rounding: np.ndarray

    def newton(self) -> tuple[np.ndarray, bool]:
        """The step to where the forces vanish, or at least the way they push; and whether it is the former."""
        from scipy.linalg import eigh

        w, Q = eigh((self.K + self.K.T) / 2, self.M)
        flat = np.abs(w) <= FLAT * np.abs(w).max(initial=0.0)
        push = Q.T @ self.g
        idle = np.abs(push) <= np.abs(Q.T) @ self.rounding  # a neutral motion along which nothing pushes
        if (w > 0).all() and not flat.any():
            return np.linalg.solve(self.K, self.g), True
        size = np.where(flat, FLAT * np.abs(w).max(initial=0.0) + 1e-300, np.abs(w))
        return Q @ np.where(flat & idle, 0.0, push / size), bool((~flat | idle).all())


class _Search:
    def __init__(self, state: State) -> None:
        m = state.mechanism
        self.e: Equations = derive(m)
        self.state = state
        self.p = parameter_vector(m, state.parameters)
        rows = independent_rows(self.e, state)
        active = active_rows(self.e, state.open_joints)
        self.closing = Closing(self.e, self.p, time=state.t, rows=active, open_joints=state.open_joints)
        missing = weightless(self.e, state, rows.active)
        if missing:
            raise ModelError(f"mechanism {m.name!r} cannot be let sink to rest. {missing}")
        self.freedoms = self.e.topology.nv - len(rows.kept)
        self.size = velocity_sizes(self.e, drawn_length(self.e, self.p))
        self.tolerance = relative_tolerance(self.e, self.p)
        self.active = active
        rate = np.abs(self.closing.velocities(state.q, {}) / self.size)
        if rate.max(initial=0.0) > 1e-9 * self.closing.pace(state.q):
            raise ModelError(
                f"mechanism {m.name!r} cannot rest at t = {state.t:g} s: its drives move there; give a time at which "
                "they stand still"
            )
        self.first = self.place(self.closing.polish(state.q))
        self.best = self.first

    def place(self, q: np.ndarray) -> _Place:
        terms, slopes = functions(self.e)
        n = self.e.topology.nv
        at_rest = (self.state.t, q, np.zeros(n), self.p)
        M, force, A, _, N = (np.array(x) for x in terms(*at_rest))
        if not np.isfinite(force).all():
            raise ModelError(f"a force or torque on {self.state.mechanism.name!r} is not a number at this pose")
        S, lam = np.eye(n), np.zeros(len(self.e.closure))
        if self.active:
            scaled = closure_jacobian(self.closing, q)
            S = np.linalg.qr(self.size[:, None] * np.linalg.svd(scaled)[2][n - self.freedoms :].T)[0]
            cut = cut_off(A[self.active], scaled, self.tolerance)
            lam[self.active] = np.linalg.lstsq(A[self.active].T, force[:, 0], rcond=cut)[0]
        # forces that cancel: those of the closures, what they hold, and loads that balance each other
        size = np.abs(force[:, 0]) + np.abs(A.T) @ np.abs(lam) + self._elastic(q) + load_sizes(self.e, *at_rest)
        R_q = np.array(slopes(*at_rest, np.zeros(n), lam)[0])
        return _Place(
            q, S, force[:, 0], S.T @ force[:, 0], S.T @ R_q @ N @ S, S.T @ M @ S, ROUNDING * (np.abs(S.T) @ size)
        )

    @locked
    def _elastic(self, q: np.ndarray) -> np.ndarray:
        """How large the elastic forces are that cancel in each shape of a flexible body."""
        out = np.zeros(self.e.topology.nv)
        for traced in self.e.limbs.links:
            if traced.beam is not None:
                K = np.array(ca.Function("K", [self.e.limbs.p], [ca.densify(traced.beam.K)])(self.p))
                out[traced.link.shape_v] = np.abs(K) @ np.abs(q[traced.link.shape_q])
        return out

    def moved(self, at: _Place, d: np.ndarray) -> _Place | None:
        """The closed pose that a displacement along S leads to, if there is one."""
        q = self.closing.near(at.q, at.S @ d)
        # counters of cut joints went along with a finite step: set to the angles they count
        counters = [counter.q for counter in self.e.topology.counters]
        counted = closing_functions(self.e)["counted"](self.state.t, q, np.zeros(self.e.topology.nv), self.p)
        q[counters] = np.array(counted).ravel()
        return self.place(q) if self.closing.closes(q) else None

    def sink(self) -> _Place | None:
        """Follow the forces until they vanish."""
        at = self.first
        last = np.inf
        for _ in range(STEPS):
            d, sure = at.newton()
            length = float(np.abs(at.S @ d / self.size).max(initial=0.0))
            if not length or (sure and length < ARRIVED and not length < last):
                return at
            last = length if sure else np.inf
            d = d * min(1.0, LONGEST / length)
            work = at.g @ d
            for _ in range(30):
                trial = self.moved(at, d)
                # pushed back by more than half of what pushed: too far
                if trial is not None and trial.force @ trial.S @ (trial.S.T @ (at.S @ d)) >= -0.5 * work:
                    break
                d, work = d / 2, work / 2
            else:
                return None
            at = trial
            self._remember(at)
        return None

    def squeeze(self) -> _Place | None:
        """Make the forces as small as possible, by Levenberg-Marquardt, from where they were smallest."""
        at, damping = self.best, 1e-3
        for _ in range(STEPS):
            W = np.linalg.inv(at.M)
            H = at.K.T @ W @ at.K
            weight = np.maximum(np.diag(H), 1e-12 * np.diag(H).max(initial=0.0) or 1.0)
            d = np.linalg.solve(H + damping * np.diag(weight), at.K.T @ W @ at.g)
            length = float(np.abs(at.S @ d / self.size).max(initial=0.0))
            if (np.abs(at.g) <= at.rounding).all():
                return at
            if length < 1e-15 or damping > 1e12:
                return None
            trial = self.moved(at, d * min(1.0, LONGEST / length))
            if trial is not None and _size(trial) < _size(at):
                at, damping = trial, max(damping / 5, 1e-14)
                self._remember(at)
            else:
                damping *= 4
        return None

    def _remember(self, at: _Place) -> None:
        if _size(at) < _size(self.best):
            self.best = at

    def complaint(self) -> str:
        at, m = self.best, self.state.mechanism
        labels, push = self.e.topology.v_labels, at.S @ at.g
        i = int(np.argmax(np.abs(push)))
        unit = "N" if self._slides(i) else "N m"
        return (
            f"no equilibrium of {m.name!r} was found from this guess: where the forces are closest to balance, "
            f"{push[i]:.3g} {unit} still act on {labels[i]!r}. Try another guess, or give a motor that nothing resists "
            "a smaller effort, a spring or a controller"
        )

    def _slides(self, i: int) -> bool:
        return self.e.topology.v_units[i] == "m/s"


def _size(at: _Place) -> float:
    return float(at.g @ np.linalg.solve(at.M, at.g))
