"""The random mechanisms that all identities are tested on. Each is traced once for all tests of a session."""

from functools import cache

import numpy as np

from closedchain.pose.redundancy import independent_rows
from closedchain.testing.terms import TIME, Terms
from tests.random_mechanisms import SCALAR_KINDS, draw, draw_platform, random_q

# seeds were taken in a row; `test_sample.py` checks that together they contain every joint, both ways round and cut
TREES = tuple(("tree", seed) for seed in range(10))
LOOPS = tuple(("loop", seed) for seed in range(140, 158))
SCALAR = tuple(("scalar", seed) for seed in range(200, 208))  # no quaternions: Lagrange's equations apply as they are
GEARED = tuple(("geared", seed) for seed in range(720, 726))  # with rotors, stops, couplings, prescribed motions
PLATFORMS = tuple(("platform", seed) for seed in range(500, 506))  # so many rows at one body that they share its twist


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


class Case(Terms):
    """A drawing with its equations as numbers."""

    def __init__(self, drawing, seed):
        super().__init__(drawing.mechanism)
        self.drawing = drawing
        self.seed = seed
        self.independent = drawing.independent

    def anywhere(self, which=0):
        """A random state, loops open."""
        rng = np.random.default_rng([self.seed, 1, which])
        return random_q(rng, self.topology), rng.normal(size=self.topology.nv)

    def closed(self, which=0):
        """The state at which the loops were drawn, with random velocities that keep them closed."""
        q = self.drawing.q()
        return q, self.closing(q, np.random.default_rng([self.seed, 2, which]).normal(size=self.topology.nv))


def solved_rows(e, state):
    """Numbers of the closure rows that the library would solve at a state."""
    return independent_rows(e, state).kept
