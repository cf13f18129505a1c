"""Tables 2 and 3: what the paper counts, and exact counts of the same quantities with the library's recursions.

The machine is the general one of the paper: chains of N revolute joints with all lengths and twists of Denavit and
Hartenberg and full inertia matrices. Nothing is compiled; a count is that of the traced graph, with what occurs twice
computed once. Sines and cosines are not counted, as in the paper.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import comb

import casadi as ca

from benchmarks.growth import arms
from closedchain.derive.articulated import ArticulatedBodies
from closedchain.derive.equations import Equations, derive
from closedchain.derive.ldl import LDL
from closedchain.derive.rnea import body_forces
from closedchain.derive.spatial import Vector6, symmetric
from closedchain.testing.operations import count

ROWS = ("q''_open, x''_open", "Omega, Lambda_inv", "P, R", "X'P, X'R", "f", "q''")
A_0, LARGEST = 6, 6  # size of a_0; most constraints n_c of a joint


@dataclass(frozen=True)
class Work:
    """Multiplications, additions, and divisions, which the paper does not count."""

    mul: int
    add: int
    div: int = 0

    def __sub__(self, other: Work) -> Work:
        return Work(self.mul - other.mul, self.add - other.add, self.div - other.div)

    @property
    def both(self) -> int:
        """Multiplications and additions."""
        return self.mul + self.add


# ---- the paper's -----------------------------------------------------------------------------------------------------


def table_2(N: int, n_c: int) -> dict[str, Work]:
    """Rows of Table 2, in sixths so that all of it is whole numbers."""
    sixths = (
        (250 * N - 182, 220 * N - 167),
        (400 * N - 621, 320 * N - 528),
        ((n_c**3 + 39 * n_c**2 + 32 * n_c + 156) / 6, (n_c**3 + 36 * n_c**2 + 5 * n_c + 60) / 6),
        (36 * n_c + 20, 36 * n_c - 24),
        (36, 36),
        (6 * N, 6 * N),
    )
    return {name: Work(round(x), round(y)) for name, (x, y) in zip(ROWS, sixths, strict=True)}


def total_2(N: int, n_c: int) -> Work:
    """The printed total of Table 2."""
    mul = 656 * N - 767 + (n_c**3 + 39 * n_c**2 + 248 * n_c + 276) / 6
    add = 546 * N - 659 + (n_c**3 + 36 * n_c**2 + 221 * n_c - 84) / 6
    return Work(round(mul), round(add))


def table_3(m: int) -> Work:
    """The only row of Table 3."""
    return Work(86, 27 * m + 71)


# ---- ours ------------------------------------------------------------------------------------------------------------


class OpenChain:
    """A chain of the general machine with a reference member, traced: the quantities of Table 1 as expressions."""

    def __init__(self, N: int, n_c: int) -> None:
        self.N, self.n_c = N, n_c
        m = arms(1, N, n_c)
        self.e: Equations = derive(m)
        self.links = [link for link in self.e.topology.links if link.joint.name.startswith("joint")]
        self.mine = [i for link in self.links for i in range(link.v.start, link.v.stop)]
        self.tip = m.joints["tip 0"].a
        self.place = self.e.limbs.attach(self.tip)[0]
        symbol = ca.SX.sym
        turn, arm = symbol("A", 3, 3), symbol("Ab", 3, 3)
        self.X = ca.sparsify(ca.blockcat([[turn, ca.SX(3, 3)], [arm, turn]]))
        self.given = {
            "A": turn, "Ab": arm, "zeta": symbol("zeta", 6), "alpha_c": symbol("alpha_c", n_c),
            "h": symbol("h", 6 - n_c), "a_0": symbol("a_0", 6),
        }  # fmt: skip

    def recursive(self) -> dict[str, ca.SX]:
        """Step 1 by articulated bodies and the propagation of unit forces."""
        e = self.e
        bodies = ArticulatedBodies(e.limbs, {})
        needed = body_forces(e.limbs, e.motion, e.applied.wrenches)
        efforts = {link.index: e.tau[link.v, :] for link in self.links}
        free, _ = bodies.inward({i: -f for i, f in enumerate(needed)}, efforts)
        units = self.place.force_out(Vector6.split(ca.SX.eye(6)))
        Z, _ = bodies.inward({self.links[-1].index: units}, {})
        columns = [bodies.outward({i: z[:, k] for i, z in Z.items()}) for k in range(6)]
        return {
            "q_open": bodies.outward(free)[self.mine, :],
            "Omega": ca.horzcat(*columns)[self.mine, :],
            "Lambda_inv": bodies.product(Z, Z),
            "x_open": bodies.product(Z, free) + self.tip_bias(),
        }

    def dense(self) -> dict[str, ca.SX]:
        """Step 1 by the inertia matrix of the joints, factored."""
        e = self.e
        H, J = LDL(e.M[self.mine, self.mine]), self.jacobian()
        solve = lambda b: H.backward(ca.diag(H.d_inv) @ H.forward(b))  # noqa: E731
        q_open, Omega = solve((e.tau - e.h)[self.mine, :]), solve(J.T)
        return {
            "q_open": q_open,
            "Omega": Omega,
            "Lambda_inv": symmetric(J @ Omega),
            "x_open": J @ q_open + self.tip_bias(),
        }

    def jacobian(self) -> ca.SX:
        """Of the tip, in its axes."""
        x = self.e.motion.frame(self.tip)
        return ca.vertcat(x.X.R.T @ x.J.ang, x.X.R.T @ x.J.lin)[:, self.mine]

    def tip_bias(self) -> ca.SX:
        """Acceleration of the tip with all joint accelerations zero, in its axes.

        The ground accelerates upwards instead of gravity, and so does all that stands on it: a_0 is then a_0 less g.
        """
        x = self.e.motion.frame(self.tip)
        return ca.vertcat(x.X.R.T @ x.bias.ang, x.X.R.T @ x.bias.lin)

    def rest(self, step_1: Mapping[str, ca.SX]) -> dict[str, dict[str, ca.SX]]:
        """Steps 2 to 4 (but for a_0 itself), row by row of Table 2."""
        n_c, given = self.n_c, self.given
        # a hard point: all forces, no moment; or all six
        Phi_c, Phi = (ca.SX.eye(6)[:, k] for k in (list(range(6 - n_c, 6)), list(range(6 - n_c))))
        L = step_1["Lambda_inv"]
        known = L @ Phi @ given["h"] if n_c < LARGEST else 0
        S = given["alpha_c"] - Phi_c.T @ (given["zeta"] - step_1["x_open"] + known)
        B = ca.sparsify(Phi_c.T @ self.X)
        G = LDL(Phi_c.T @ L @ Phi_c)
        MS, MB = (G.backward(ca.diag(G.d_inv) @ G.forward(x)) for x in (S, B))
        P = ca.vertcat(given["h"], MS) if n_c < LARGEST else MS
        R = ca.sparsify(Phi_c @ MB)
        f = P - R @ given["a_0"]
        return {
            "P, R": {"P": P, "R": R},
            "X'P, X'R": {"XP": self.X.T @ P, "XR": ca.tril(self.X.T @ R)},
            "f": {"f": f},
            "q''": {"qdd": step_1["q_open"] - step_1["Omega"] @ f},
        }

    def work(self, outputs: Mapping[str, ca.SX]) -> Work:
        """Exact operations of all these together."""
        e = self.e
        inputs = {"t": e.limbs.t, "q": e.limbs.q, "v": e.limbs.v, "p": e.limbs.p} | self.given
        found = count(inputs, {name: ca.densify(x) for name, x in outputs.items()}, "p")[0]
        return Work(found.mul, found.add + found.neg, found.div)


@cache
def open_chain(N: int, n_c: int) -> OpenChain:
    """The same one for the same sizes."""
    return OpenChain(N, n_c)


@cache
def ours_2(N: int, n_c: int) -> dict[str, Work]:
    """What each row of Table 2 adds to the rows before; x_open costs next to nothing with the unit forces of row 2."""
    chain = open_chain(N, n_c)
    step_1 = chain.recursive()
    rows = {
        "q''_open, x''_open": {"q_open": step_1["q_open"]},
        "Omega, Lambda_inv": {k: step_1[k] for k in ("Omega", "Lambda_inv", "x_open")},
    } | chain.rest(step_1)
    found, so_far, before = {}, {}, Work(0, 0)
    for name, outputs in rows.items():
        so_far |= outputs
        now = chain.work(so_far)
        found[name], before = now - before, now
    return found


@cache
def step_1(N: int, recursive: bool) -> Work:
    """All of step 1, by recursion or by the inertia matrix."""
    chain = open_chain(N, 3)
    return chain.work(chain.recursive() if recursive else chain.dense())


@cache
def ours_3(m: int) -> Work:
    """Table 3: sums over chains, and a symmetric system of six equations."""
    symbol = ca.SX.sym
    names = [*(f"XR{k}" for k in range(m)), "I"]
    low = {name: symbol(name, ca.Sparsity.lower(A_0)) for name in names}
    sides = {name: symbol(name, A_0) for name in (*(f"XP{k}" for k in range(m)), "b", "g")}
    inertia = low["I"]
    for k in range(m):
        inertia = inertia + low[f"XR{k}"]
    force = sides["g"] - sides["b"]
    for k in range(m):
        force = force + sides[f"XP{k}"]
    whole = LDL(inertia)
    a_0 = whole.backward(whole.d_inv * whole.forward(force))
    inputs = {name: ca.vertcat(*x.nonzeros()) for name, x in low.items()} | sides | {"p": symbol("p", 0)}
    found = count(inputs, {"a_0": a_0}, "p")[0]
    return Work(found.mul, found.add + found.neg, found.div)


def elimination(n: int) -> Work:
    """What ``L D L'`` and one right side of n equations take, by formula: Table 3 without its sums."""
    factor = Work(comb(n, 2) + comb(n + 1, 3), comb(n + 1, 3), n)
    return Work(factor.mul + n * (n - 1) + n, factor.add + n * (n - 1), n)
