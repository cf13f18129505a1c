"""Everything that the kernels work on, made from a `System`; and the kernels, to be called from Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from closedchain.erls.kernels import compiled as kernels
from closedchain.erls.kernels.condense import make_factors
from closedchain.erls.kernels.eliminate import make_kept
from closedchain.erls.kernels.linearise import difference_steps, make_linear
from closedchain.erls.kernels.problem import (
    Call,
    Functions,
    LoadPlaces,
    MotionPlaces,
    NodeMotion,
    OnePiece,
    Options,
    Plan,
    Room,
    TangentPlaces,
    Tree,
    ZeroedBlock,
)
from closedchain.erls.steps.records import CLOCK
from closedchain.erls.system import System
from closedchain.native.memory import Memory


class Workspace:
    """Memory of one run, for one thread; it keeps the forces at the ends of each element if asked to.

    Attributes
    ----------
    plan, mesh, room, linear, factors, kept : the tuples that the kernels take.
    table : where they are.
    """

    def __init__(self, system: System, keep_ends: bool = False) -> None:
        self.system = system
        self.mesh = system.mesh.arrays
        self.plan = make_plan(system)
        self.room = make_room(system, keep_ends)
        self.linear = make_linear(self.plan, system.mesh, self.room)
        self.factors = make_factors(self.plan, system.mesh)
        self.kept = make_kept(self.plan, np.array(system.compiled.zeroed, np.int64), len(self.factors.rest.swings))
        self._memory = Memory(self.plan, self.mesh, self.room, self.linear, self.factors, self.kept)
        self.table = self._memory.table

    def residual(self, t: float, y: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """``R(t, y, y', y'')``, all rows; not a number where the loops do not close."""
        clock, r = _clock(t), np.empty(self.plan.n)
        _call(kernels.residual, self.table, clock, _vector(y), _vector(v), _vector(a), r)
        return r if clock[1] else np.full_like(r, np.nan)

    def linearise(self, t: float, y: np.ndarray, v: np.ndarray, a: np.ndarray) -> bool:
        """Take the derivatives at a state; whether that was possible."""
        clock = _clock(t)
        _call(kernels.linearise, self.table, clock, _vector(y), _vector(v), _vector(a), np.empty(1))
        return bool(clock[1])

    def factor(self, m: float, c: float, k: float) -> bool:
        """Factorise ``m M + c C + k K``; whether it is regular."""
        weights = np.array([0.0, m, c, k])
        _call(kernels.factor, self.table, weights)
        return bool(weights[0])

    def solve(self, b: np.ndarray) -> np.ndarray:
        """Solve with the factors; zeroed displacements are zero in the solution."""
        x = np.array(b, float)
        _call(kernels.solve, self.table, x)
        return x


def _clock(t: float) -> np.ndarray:
    out = np.zeros(CLOCK)
    out[0] = t
    return out


def _vector(x: Any) -> np.ndarray:
    return np.ascontiguousarray(x, float)


def _call(kernel: Any, *arrays: np.ndarray) -> None:
    pointers = [a.ctypes.data_as(kind) for a, kind in zip(arrays, kernel.ctypes.argtypes, strict=True)]
    kernel.ctypes(*pointers)


def make_plan(system: System) -> Plan:
    """Addresses and sizes."""
    c = system.compiled
    begin = {name: place.start for name, place in {**c.traced.motion[1], **c.traced.tangent[2]}.items()}

    def places(kind: Any) -> Any:
        return kind(**{name: begin[name] for name in kind._fields})

    return Plan(
        functions=Functions(c.motion.address, c.newton.address, c.tangent.address, kernels.residual.address),
        motion=places(MotionPlaces),
        loads=places(LoadPlaces),
        tangent=places(TangentPlaces),
        options=Options(
            loops=int(bool(c.traced.motions.rows) or bool(system.e.topology.counters)),
            paper=int(system.method.terms == "paper"),
            driven=int(bool(system.twin.drives)),
            resists=int("paper" in (system.method.terms, system.method.damping)),
        ),
        tree=system.e.topology.nq,
        n_q=system.n_q,
        n_u=system.n_u,
        n_held=c.traced.T.shape[0],
        n_chain=system.n_chain,
        n=system.n,
    )


def make_room(system: System, keep_ends: bool = False) -> Room:
    """Memory of the residual; the rigid-link system is where it starts."""
    c = system.compiled
    nodes, k, links = len(system.mesh.places), len(system.mesh.names), len(system.e.topology.links)

    def of(function: Any) -> Call:
        n_in, n_out = function.input_shapes["x"][0], function.output_shapes["out"][0]
        return Call(function.prepare(system.p), np.zeros(n_in), np.zeros(n_out))

    start = system.start
    return Room(
        motion=of(c.motion),
        newton=of(c.newton),
        tangent=of(c.tangent),
        tree=Tree(where=system.where, q=start.q.copy(), last=start.q.copy(), when=np.array([start.t])),
        nodes=NodeMotion(
            u=np.zeros((3, nodes, k)),
            rates=np.zeros((nodes, k)),
            f=np.zeros((nodes, k)),
            ends=np.zeros((len(system.mesh.pieces) if keep_ends else 0, 2, k)),
            hats=np.zeros(c.traced.T.shape[0]),
            swings=np.zeros((links, system.mesh.arrays.nodes.modal.shape[2])),
        ),
        piece=OnePiece(
            W=np.zeros((3, 3)), P=np.zeros((3, 4)), A=np.zeros((3, 4)), Q=np.zeros((3, 4)), turn=np.zeros((3, 3))
        ),
        zeroed=ZeroedBlock(
            block=np.zeros((system.n_q, system.n_q)), units=system.units, begun=np.array([system.begun])
        ),
        wrenches=np.zeros((links, 6)),
        work=np.zeros(2),
        counts=np.zeros(2, np.int64),
        steps=difference_steps(system.sizes[system.n - system.n_q :], system.time),
    )
