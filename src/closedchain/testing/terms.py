"""Equations of a mechanism as numbers, and laws that they obey at any state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from closedchain.close.formulation import Choice
from closedchain.close.multipliers import Multipliers
from closedchain.cut.topology import Topology
from closedchain.derive.equations import Equations, derive
from closedchain.model.mechanism import Mechanism
from closedchain.pose.redundancy import independent_rows
from closedchain.pose.state import State, parameter_vector

TIME = 0.3  # at which equations are looked at


class Terms:
    """Equations of a mechanism as numbers."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self.equations: Equations = derive(mechanism)
        self.topology: Topology = self.equations.topology
        self.p = parameter_vector(mechanism)

    @cached_property
    def terms(self) -> ca.Function:
        """All terms as one function."""
        e = self.equations
        closure = e.closure
        outputs = {
            "M": e.M,
            "h": e.h,
            "tau": e.tau,
            "qdot": e.qdot,
            "c": closure.c,
            "A": closure.A,
            "gamma": closure.gamma,
            "c_t": closure.c_t,
            "kinetic": e.energies.kinetic,
            "potential": e.energies.potential,
            "power": e.energies.power,
        }
        return e.function("terms", outputs)

    def numbers(self, q: np.ndarray, v: np.ndarray, p: Any = None, t: float = TIME) -> dict[str, np.ndarray]:
        """All terms at a state, as arrays by name: matrices stay matrices, columns become vectors."""
        values = self.terms(t=t, q=q, v=v, p=self.p if p is None else p)
        return {k: np.array(x) if k in "MA" else np.array(x)[:, 0] for k, x in values.items()}

    def evaluate(self, expressions: Sequence[Any], q: np.ndarray, v: np.ndarray) -> list[np.ndarray]:
        """Any traced expressions at a state, as matrices."""
        f = self.equations.function("f", {f"x{i}": ca.SX(x) for i, x in enumerate(expressions)})
        return [np.array(x) for x in f.call([TIME, q, v, self.p])]

    def closing(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The velocities next to v that keep the loops closed."""
        got = self.numbers(q, v)
        return v - np.linalg.lstsq(got["A"], got["A"] @ v + got["c_t"], rcond=1e-10)[0]

    def closed(self) -> tuple[np.ndarray, np.ndarray]:
        """A state at which the loops are closed."""
        start = self.mechanism.assemble()
        return start.q, self.closing(start.q, np.random.default_rng(0).normal(size=self.topology.nv))

    @cached_property
    def rows(self) -> tuple[int, ...]:
        """Independent closure rows."""
        return independent_rows(self.equations, State(self.mechanism, *self.closed(), t=TIME)).kept

    @cached_property
    def multipliers(self) -> ca.Function:
        """A function (t, q, v, p) -> a, lam by the library's elimination."""
        closed = Multipliers("none").close(self.equations, Choice(self.rows))
        return self.equations.function("multipliers", {"a": closed.a, "lam": closed.lam})

    def accelerations(self, q: np.ndarray, v: np.ndarray) -> list[np.ndarray]:
        """A and lam."""
        return [np.array(x)[:, 0] for x in self.multipliers(TIME, q, v, self.p)]


def difference(f: Callable[[float], np.ndarray], step: float) -> np.ndarray:
    """``f'(0)``, central, sixth order: with a step of 1e-3 and quantities of size one about 1e-12."""
    weights = {1: 45 / 60, 2: -9 / 60, 3: 1 / 60}
    return np.asarray(sum(w * (f(k * step) - f(-k * step)) for k, w in weights.items())) / step


def skew(a: np.ndarray) -> np.ndarray:
    """The matrix that takes b to a x b."""
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def unskew(W: np.ndarray) -> np.ndarray:
    """The vector of a skew matrix."""
    return np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]]) / 2


# ---- laws: each returns what has to be equal ------------------------------------------------------------------------

Pair = tuple[np.ndarray, np.ndarray]


def twists(c: Terms, q: np.ndarray, v: np.ndarray) -> list[Pair]:
    """Of each link: ``R' = R skew(w)``, ``r' = R v``, with the twist in the link's own frame; exact to rounding."""
    e, out = c.equations, []
    for i in range(len(c.topology.links)):
        X, twist = e.motion.X[i], e.motion.twist[i]
        rate = [ca.jtimes(ca.densify(x), e.limbs.q, e.qdot) for x in (X.R, X.r)]
        R, w, lin, R_dot, r_dot = c.evaluate([X.R, twist.ang, twist.lin, *rate], q, v)
        out += [(unskew(R.T @ R_dot), w[:, 0]), (R_dot, R @ skew(w[:, 0])), (r_dot, R @ lin)]
    return out


def closure_rates(c: Terms, q: np.ndarray, v: np.ndarray) -> Pair:
    """``c' = A v + c_t``, by differences along the motion.

    Sixth order: the error is that of the seventh derivative of 2 tan(angle / 2) at a speed of some rad/s.
    """
    got = c.numbers(q, v)
    return got["A"] @ v + got["c_t"], difference(lambda s: c.numbers(q + s * got["qdot"], v, t=TIME + s)["c"], 1e-4)


def closure_bias(c: Terms, q: np.ndarray, v: np.ndarray) -> Pair:
    """``gamma = d(A v + c_t)/dt`` with a = 0, by differences."""
    got = c.numbers(q, v)

    def rate(s: float) -> np.ndarray:
        there = c.numbers(q + s * got["qdot"], v, t=TIME + s)
        return np.asarray(there["A"] @ v + there["c_t"])

    return got["gamma"], difference(rate, 1e-4)


def energy_rate(c: Terms, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> float:
    """``d(T + V)/dt`` along ``q' = N v``, ``v' = a``, by CasADi's derivatives."""
    e = c.equations
    energy = e.energies.kinetic + e.energies.potential
    along = ca.jtimes(energy, e.limbs.q, e.qdot) + ca.jtimes(energy, e.limbs.v, ca.SX(ca.DM(a)))
    (value,) = c.evaluate([along + ca.jtimes(energy, e.limbs.t, ca.SX(1))], q, v)
    return float(value[0, 0])


def rate_is_power(c: Terms, q: np.ndarray, v: np.ndarray) -> Pair:
    """``d(T + V)/dt`` is the power of what has no potential, where loops are closed.

    Of the closing forces only those of prescribed motions do work, ``lam' c_t``. Both are relative to the size of the
    terms of the sum: all forces times all speeds.
    """
    a, lam = c.accelerations(q, v)
    got = c.numbers(q, v)
    size = 1 + np.abs(lam).max(initial=0) + np.abs(got["h"]).max() + np.abs(got["tau"]).max()
    work = lam @ got["c_t"][list(c.rows)]
    return np.array(energy_rate(c, q, v, a) / size), np.array((got["power"][0] + work) / size)
