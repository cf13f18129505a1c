"""The random mechanisms that all identities are tested on. Each is traced once for all tests of a session."""

from functools import cache, cached_property

import casadi as ca
import numpy as np

from closedchain.close.formulation import Choice
from closedchain.close.multipliers import Multipliers
from closedchain.derive.equations import derive
from closedchain.pose.redundancy import independent_rows
from closedchain.pose.state import State, parameter_vector
from tests.random_mechanisms import SCALAR_KINDS, draw, draw_platform, random_q

# seeds were taken in a row; `test_sample.py` checks that together they contain every joint, both ways round and cut
TREES = tuple(("tree", seed) for seed in range(10))
LOOPS = tuple(("loop", seed) for seed in range(140, 158))
SCALAR = tuple(("scalar", seed) for seed in range(200, 208))  # no quaternions: Lagrange's equations apply as they are
GEARED = tuple(("geared", seed) for seed in range(720, 726))  # with rotors, stops, couplings, prescribed motions
PLATFORMS = tuple(("platform", seed) for seed in range(500, 506))  # so many rows at one body that they share its twist

TIME = 0.3


@cache
def case(kind, seed):
    """One mechanism of the sample; sizes and branching vary with the seed."""
    size, branching = 2 + seed % 5, (0.0, 0.5, 1.0)[seed % 3]
    if kind == "tree":
        return Case(draw(seed, bodies=size, branching=branching, acting=True), seed)
    if kind == "platform":
        return Case(draw_platform(seed, limbs=5 + seed % 2, planar=seed % 3 == 0, acting=True), seed)
    if kind == "geared":
        drawing = draw(seed, bodies=5 + seed % 2, loops=1 + seed % 2, mobility=4, acting=True, geared=TIME)
        return Case(drawing, seed)
    if kind == "scalar":
        return Case(draw(seed, bodies=size, branching=branching, kinds=SCALAR_KINDS, acting=True), seed)
    return Case(draw(seed, bodies=size + 1, loops=1 + seed % 3, branching=branching, acting=True), seed)


class Case:
    """A drawing with its equations as numbers."""

    def __init__(self, drawing, seed):
        self.drawing = drawing
        self.mechanism = drawing.mechanism
        self.seed = seed
        self.equations = derive(drawing.mechanism)
        self.topology = self.equations.topology
        self.independent = drawing.independent
        self.p = parameter_vector(drawing.mechanism)

    @cached_property
    def terms(self):
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

    def numbers(self, q, v, p=None, t=TIME):
        """All terms at a state, as arrays by name: matrices stay matrices, columns become vectors."""
        values = self.terms(t=t, q=q, v=v, p=self.p if p is None else p)
        return {k: np.array(x) if k in "MA" else np.array(x)[:, 0] for k, x in values.items()}

    def evaluate(self, expressions, q, v):
        """Any traced expressions at a state, as matrices."""
        f = self.equations.function("f", dict(enumerate_names(expressions)))
        got = f.call([TIME, q, v, self.p])
        return [np.array(x) for x in got]

    def anywhere(self, which=0):
        """A random state, loops open."""
        rng = np.random.default_rng([self.seed, 1, which])
        return random_q(rng, self.topology), rng.normal(size=self.topology.nv)

    def closed(self, which=0):
        """The state at which the loops were drawn, with random velocities that keep them closed."""
        q = self.drawing.q()
        v = np.random.default_rng([self.seed, 2, which]).normal(size=self.topology.nv)
        got = self.numbers(q, v)
        return q, v - np.linalg.lstsq(got["A"], got["A"] @ v + got["c_t"], rcond=1e-10)[0]

    @cached_property
    def rows(self):
        """Independent closure rows."""
        return solved_rows(self.equations, State(self.mechanism, *self.closed(), t=TIME))

    @cached_property
    def multipliers(self):
        """A function (t, q, v, p) -> a, lam by the library's elimination."""
        closed = Multipliers("none").close(self.equations, Choice(self.rows))
        return self.equations.function("multipliers", {"a": closed.a, "lam": closed.lam})

    def accelerations(self, q, v):
        """a and lam."""
        return [np.array(x)[:, 0] for x in self.multipliers(TIME, q, v, self.p)]


def solved_rows(e, state):
    """Numbers of the closure rows that the library would solve at a state."""
    return independent_rows(e, state).kept


def enumerate_names(expressions):
    return ((f"x{i}", ca.SX(x)) for i, x in enumerate(expressions))


def close_to(actual, wanted, rtol):
    """Compare two arrays relative to the largest entry of the second: small entries are differences of large ones."""
    actual, wanted = np.asarray(actual), np.asarray(wanted)
    assert actual.shape == wanted.shape
    size = np.abs(wanted).max(initial=0.0)
    np.testing.assert_allclose(actual, wanted, rtol=0, atol=rtol * max(size, 1.0))
