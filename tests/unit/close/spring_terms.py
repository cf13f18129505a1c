"""What the tests of springs in the closures share: all terms of their equations as numbers, at any state."""

import casadi as ca
import numpy as np

from closedchain.close.formulation import Choice
from closedchain.derive.equations import derive
from closedchain.pose.state import State, parameter_vector
from closedchain.testing.measured import close_to
from closedchain.testing.terms import TIME
from tests.random_mechanisms import random_q


def somewhere(m, seed=4):
    """A state with open loops."""
    e, rng = derive(m), np.random.default_rng(seed)
    return State(m, random_q(rng, e.topology), rng.normal(size=e.topology.nv), t=TIME)


def evaluate(method, e, rows, state, **more):
    """Terms of a formulation by name: matrices stay matrices, columns become vectors. ``k, b`` as one for each row."""
    choice = Choice(tuple(rows))
    closed = method.close(e, choice)
    closure, picked = e.closure, list(rows)
    q, v = e.limbs.q, e.limbs.v
    terms = {"a": closed.a, "lam": closed.lam, "W_dot": closed.dx[-1], "stored": closed.stored}
    terms |= {"stored_dot": ca.jtimes(closed.stored, q, e.qdot) + ca.jtimes(closed.stored, e.limbs.t, ca.SX(1))}
    terms |= {"M": e.M, "h": e.h, "tau": e.tau, "power": e.energies.power, "dx": closed.dx}
    terms |= {"c": closure.c[picked, :], "A": closure.A[picked, :], "c_t": closure.c_t[picked, :]}
    terms |= more
    inputs = [e.limbs.t, q, v, e.limbs.p, closed.parameters]
    f = ca.Function("terms", inputs, [ca.densify(x) for x in terms.values()])
    numbers = method.numbers(e, choice)
    values = f.call([state.t, state.q, state.v, parameter_vector(state.mechanism), numbers])
    got = dict(zip(terms, map(np.array, values), strict=True))
    got = {name: x if name in ("M", "A") else x.ravel() for name, x in got.items()}
    got["k"] = np.array(numbers[: len(picked)])
    got["b"] = np.array(numbers[len(picked) :] or [0.0] * len(picked))
    return got


def check(method, e, rows, state):
    """The equations of springs: forces, accelerations, energy stored, work; returns the terms."""
    got = evaluate(method, e, rows, state)
    rate = got["A"] @ state.v + got["c_t"]
    force = got["k"] * got["c"] + got["b"] * rate
    # rounding of forces that differ by some orders of magnitude
    close_to(got["lam"], force, 1e-11)
    close_to(got["M"] @ got["a"] + got["h"], got["tau"] - got["A"].T @ force, 1e-11)
    close_to(got["stored"], [got["k"] @ got["c"] ** 2 / 2], 1e-12)
    close_to(got["W_dot"], got["power"] + force @ got["c_t"] - got["b"] @ rate**2, 1e-11)
    # what is stored, is moved in or is lost is what the springs take from the limbs
    close_to(got["W_dot"] - got["stored_dot"], got["power"] - force @ (got["A"] @ state.v), 1e-11)
    return got
