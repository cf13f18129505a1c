"""A mechanism under ERLS: traced, compiled, meshed; what the integrators and the results work with."""

from __future__ import annotations

import time
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import casadi as ca
import numpy as np

from closedchain.close.erls import ERLS, Traced
from closedchain.cut.topology import cut
from closedchain.derive.equations import Equations, derive
from closedchain.derive.erls.links import Displacements
from closedchain.derive.erls.nodes import Nodes, hold_nodes
from closedchain.erls import choice
from closedchain.erls.mesh import Mesh, Settings, make_mesh
from closedchain.erls.start import ErlsState
from closedchain.erls.zeroed import Choosing, choose_zeroed
from closedchain.errors import ModelError
from closedchain.lock import locked, once
from closedchain.model.derived import cached
from closedchain.model.mechanism import Mechanism
from closedchain.native import NativeFunction, compile_function
from closedchain.pose.closing import Closing
from closedchain.pose.size import drawn_scale
from closedchain.pose.state import State, parameter_vector

BENT = 1e-12  # of the longest beam: what a shape may be of an undeformed start
CLOSED = 1e-6  # rad, or of the mechanism's length: what a start may be open


Origin = tuple[choice.Pivots, State, np.ndarray]
"""Pivots of the closures, the state of the rigid twin that they were chosen at, and its parameters"""


@dataclass(frozen=True, eq=False)
class Compiled:
    """What does not depend on numbers of the mechanism, nor on how many elements there are.

    Attributes
    ----------
    traced : what the functions were traced from.
    zeroed, why : numbers of the zeroed displacements among those at joints, and what they mean.
    rigid : J = dr/dq at the displacements at joints (n_u, n_q), a function of t, the tree and the parameters.
    motion, newton, tangent : native functions.
    origin : what the zeroed displacements were chosen for.
    """

    traced: Traced
    zeroed: tuple[int, ...]
    why: tuple[str, ...]
    rigid: ca.Function
    motion: NativeFunction
    newton: NativeFunction
    tangent: NativeFunction
    seconds: float
    origin: Origin


@dataclass(frozen=True, eq=False)
class System:
    """A flexible mechanism ready to be marched.

    Attributes
    ----------
    mechanism, twin : as drawn, and with rigid links.
    start : state of the rigid twin.
    given : displacements and rates (n,) of a start that is deformed; None: it is not.
    p : parameters.
    compiled : native functions and what they were traced from.
    mesh : numbers of the elements.
    """

    mechanism: Mechanism
    twin: Mechanism
    method: ERLS
    start: State
    p: np.ndarray
    compiled: Compiled
    mesh: Mesh
    given: tuple[np.ndarray, np.ndarray] | None = None
    functions: dict[object, Any] = field(default_factory=dict)

    def __reduce__(self) -> tuple[Any, ...]:
        compiled = self.compiled
        return _again, (
            (self.mechanism, self.twin, self.method, self.start, self.p, compiled.origin),
            compiled.zeroed,
            self.given,
        )

    @property
    def d(self) -> Displacements:
        """The traced displacements."""
        return self.compiled.traced.d

    @property
    def e(self) -> Equations:
        """The equations of the rigid twin."""
        return self.d.e

    @property
    def independent(self) -> tuple[int, ...]:
        """Numbers of the velocities of the tree that are the coordinates q."""
        return self.compiled.traced.independent

    @property
    def n_q(self) -> int:
        """How many coordinates q there are."""
        return len(self.independent)

    @property
    def n_u(self) -> int:
        """Displacements at joints."""
        return len(self.d.of)

    @property
    def n_chain(self) -> int:
        """Displacements between joints."""
        return len(self.mesh.chain_nodes) * len(self.mesh.names)

    @property
    def n(self) -> int:
        """Size of ``y = (u between, u at joints, q)``, zeroed displacements included."""
        return self.n_chain + self.n_u + self.n_q

    @property
    def zeroed(self) -> np.ndarray:
        """Places of the zeroed displacements in y."""
        return self.n_chain + np.array(self.compiled.zeroed, np.int64)

    @once
    def where(self) -> np.ndarray:
        """Places of the coordinates q among those of the tree."""
        return np.array([self._coordinate(k) for k in self.independent], np.int64)

    def _coordinate(self, velocity: int) -> int:
        link = next(x for x in self.e.topology.links if x.v.start <= velocity < x.v.stop)
        return link.q.start + velocity - link.v.start

    @once
    def labels(self) -> tuple[str, ...]:
        """Names of the entries of y: body, number of the node, and direction; then the coordinates q."""
        mesh, names = self.mesh, []
        for node in mesh.chain_nodes:
            names += [f"{mesh.bodies[node]}.{mesh.numbers[node]}.{name}" for name in mesh.names]
        held = {int(mesh.arrays.nodes.held[node]): int(node) for node in mesh.held_nodes}
        for x in self.d.of:
            node = held[x.node]
            names.append(f"{mesh.bodies[node]}.{mesh.numbers[node]}.{x.name}")
        coordinates = self.e.topology.v_labels
        return (*names, *(coordinates[k] for k in self.independent))

    def rigid(self, t: float, tree: np.ndarray) -> np.ndarray:
        """J = dr/dq: displacements at joints that a unit of each coordinate q makes rigidly (n_u, n_q)."""
        return np.array(self.compiled.rigid(t, tree, self.p)).reshape(self.n_u, self.n_q)

    @once
    def units(self) -> np.ndarray:
        """What the entries of the zeroed block of J are measured by (n_q, n_q)."""
        return choice.units(self.rigid(self.start.t, self.start.q), self.turning, self.compiled.zeroed)

    @once
    def begun(self) -> float:
        """Determinant of the zeroed block of J at the start, without units."""
        block = self.rigid(self.start.t, self.start.q)[list(self.compiled.zeroed)]
        return float(np.linalg.det(block / self.units)) if self.n_q else 1.0

    @property
    def health(self) -> float:
        """How well the zeroed displacements determine the coordinates at the start: 1 well, 0 not at all."""
        return abs(self.begun) ** (1 / max(self.n_q, 1))

    @once
    def turning(self) -> np.ndarray:
        """Of each displacement at joints: whether it is an angle."""
        return choice.is_rotation(self.d)

    @once
    def longest(self) -> float:
        """Length of the longest beam, m: what angles are measured by."""
        value = self.twin.values(dict(self.start.parameters))
        return max(value(beam.length) for beam in self.mechanism.flexible.values())

    @once
    def turns(self) -> np.ndarray:
        """Of each entry of y: whether it is an angle (n,)."""
        names = [*np.tile(self.mesh.names, len(self.mesh.chain_nodes))]
        turning = [name.startswith("r") for name in names] + self.turning.tolist()
        units = self.e.topology.v_units
        return np.array([*turning, *(units[k] == "rad/s" for k in self.independent)], bool)

    @once
    def sizes(self) -> np.ndarray:
        """By which the entries of y compare (n,): 1 for an angle, the longest beam for a length."""
        return np.where(self.turns, 1.0, self.longest)

    @once
    def time(self) -> float:
        """By which rates compare, s: that of the drawing, or without gravity that in which a beam swings along."""
        time, beams = drawn_scale(self.e, self.p).time, [x for x in self.mesh.pieces if x.length > 0]
        stiffest = max(x.EA / x.length for x in beams)
        return time if np.isfinite(time) else float(np.sqrt(self.mesh.masses.sum() / stiffest))

    def at_rest(self) -> tuple[np.ndarray, np.ndarray]:
        """The state y and its rate at the start: undeformed, moving as the rigid twin does."""
        y, v = np.zeros(self.n), np.zeros(self.n)
        first = self.n_chain + self.n_u
        y[first:], v[first:] = self.start.q[self.where], self.start.v[list(self.independent)]
        return y, v

    def begin(self) -> tuple[np.ndarray, np.ndarray]:
        """The state y and its rate at the start, with the displacements that it was given."""
        y, v = self.at_rest()
        if self.given is not None:
            y, v = y + self.given[0], v + self.given[1]
        return y, v


def system(
    mechanism: Mechanism,
    start: State,
    method: ERLS,
    *,
    parameters: Mapping[str, float] | None = None,
    twin: Mechanism | None = None,
) -> System:
    """Trace, compile and mesh a flexible mechanism.

    Parameters
    ----------
    start : a state of the mechanism, or of its rigid twin.
    parameters : values for this run.
    twin : the rigid twin, if it is not simply that of the mechanism, as with brakes.
    """
    if not mechanism.flexible:
        raise ModelError(
            f"mechanism {mechanism.name!r} has no flexible body: make one with body.flexible(E=..., section=...), "
            "or use another method"
        )
    twin = rigid_twin(mechanism) if twin is None else twin
    overrides = dict(mechanism.parameters.merged({**start.parameters, **(parameters or {})}))
    mechanism.validate(overrides)
    at = start_of_twin(mechanism, twin, start, overrides)
    p = parameter_vector(twin, overrides)
    origin = choice.choose_coordinates(derive(twin), at, method.coordinates, mechanism.flexible), at, p
    made = _made(mechanism, twin, method, at, p, origin)
    if made.health <= choice.POOR:  # what is zeroed was chosen at another start, and is poor at this one
        made = _made(mechanism, twin, method, at, p, origin, anew=True)
    return replace(made, given=given_displacements(made, start)) if isinstance(start, ErlsState) else made


@dataclass
class _Latest:
    """The equations compiled last; a start at which their zeroed displacements are poor replaces them."""

    compiled: Compiled | None = None


@cached
def _latest(twin: Mechanism, *key: Hashable) -> _Latest:
    return _Latest()


@locked
def _made(
    mechanism: Mechanism, twin: Mechanism, method: ERLS, at: State, p: np.ndarray, origin: Origin, anew: bool = False
) -> System:
    value = twin.values(at.parameters)
    lengths = {name: beam.length for name, beam in mechanism.flexible.items()}
    held = frozenset((x.joint, x.index) for x in twin.drives.values())
    nodes = hold_nodes(cut(twin), lengths, locked=held, value=value)
    named = None if isinstance(method.zero, str) else method.elements
    # places on beams are numbers of what is traced: other places, other equations
    latest = _latest(twin, origin[0], method.zero, held, named, nodes.nodes, nodes.roots)
    if anew or latest.compiled is None:
        latest.compiled = _compiled(twin, origin, nodes, method, held)
    compiled = latest.compiled
    T = compiled.traced.T.sparsity().get_triplet()
    mesh = make_mesh(
        compiled.traced.d.nodes,
        mechanism.flexible,
        value,
        compiled.traced.d.names,
        (np.array(T[0]), np.array(T[1])),
        Settings(method.elements, method.rayleigh, method.stiffening),
    )
    return System(mechanism, twin, method, at, p, compiled, mesh)


def _again(
    parts: tuple[Mechanism, Mechanism, ERLS, State, np.ndarray, Origin],
    zeroed: tuple[int, ...],
    given: tuple[np.ndarray, np.ndarray] | None,
) -> System:
    """A system that was pickled; machine code is taken from the cache."""
    made = _made(*parts)
    if made.compiled.zeroed != zeroed:
        made = _made(*parts, True)
    return replace(made, given=given)


def given_displacements(made: System, start: ErlsState) -> tuple[np.ndarray, np.ndarray] | None:
    """Displacements and rates of a deformed start, as entries of y."""
    labels = made.labels[: made.n - made.n_q]
    zeroed = [made.labels[k] for k in made.zeroed]
    bent = [label for label, x in start.u.items() if x != 0.0]
    if not bent and not any(start.u_dot.values()):
        return None
    if set(labels) != set(start.u) or any(start.u[x] or start.u_dot[x] for x in zeroed):
        raise ModelError(
            f"the start of {made.mechanism.name!r} is deformed ({bent[0] if bent else labels[0]!r} is not zero), with "
            f"other displacements than those of {made.method!r}: go on with the elements and zero= of the run it comes "
            "from, or start undeformed from m.assemble(...)"
        )
    none = [0.0] * made.n_q
    return np.array([*(start.u[x] for x in labels), *none]), np.array([*(start.u_dot[x] for x in labels), *none])


@cached
def rigid_twin(mechanism: Mechanism) -> Mechanism:
    """The rigid twin of a mechanism, made once for each drawing."""
    cut(mechanism)  # refuses what cannot be right
    return mechanism.rigid_twin()


def start_of_twin(mechanism: Mechanism, twin: Mechanism, start: State, parameters: Mapping[str, float]) -> State:
    """The state of the rigid twin with the same joint coordinates and velocities."""
    topology = cut(twin)
    if start.mechanism is not twin:
        if start.mechanism is not mechanism and start.mechanism is not rigid_twin(mechanism):
            raise ModelError(f"the start belongs to {start.mechanism.name!r}, not to {mechanism.name!r}")
        number = mechanism.values(parameters)
        most = {x: BENT * number(beam.length) for beam in mechanism.flexible.values() for x in beam.labels}
        bent = [x for x, value in zip(start.labels, start.q, strict=True) if abs(value) > most.get(x, np.inf)]
        if bent:
            raise ModelError(
                f"the start of {mechanism.name!r} is deformed ({bent[0]!r} is not zero), but ERLS begins undeformed: "
                "take it from m.assemble(...) without shapes"
            )
    q, v = start.coordinates, start.velocities
    state = State(
        twin,
        np.array([q[label] for label in topology.q_labels]),
        np.array([v[label] for label in topology.v_labels]),
        dict(parameters),
        start.t,
        start.open_joints,
    )
    if start.open_joints:
        raise ModelError(f"joint {start.open_joints[0]!r} is open at the start: ERLS has all joints closed")
    closing = Closing(derive(twin), parameter_vector(twin, dict(parameters)), time=start.t)
    closing.check_fixed()
    if closing.error(state.q) > CLOSED:
        raise ModelError(
            f"the loops of {mechanism.name!r} are open by {closing.error(state.q):.2g} rad, or of its length, at the "
            "start: take it from m.assemble(...) with the same parameters"
        )
    return state


def _compiled(
    twin: Mechanism, origin: Origin, nodes: Nodes, method: ERLS, held: frozenset[tuple[str, int]]
) -> Compiled:
    clock = time.perf_counter()
    pivots, start, p = origin
    e = derive(twin)
    zeroed = choose_zeroed(Choosing(e, start, p, pivots, nodes, method, held))
    traced = Traced(zeroed.d, pivots, zeroed.which)
    name = e.topology.mechanism.name
    inputs = {"x": traced.x, "p": e.limbs.p}
    motion = compile_function(f"{name} motion of its links", inputs, {"out": traced.motion[0]}, slow=("p",))
    at = {"x": ca.vertcat(e.limbs.t, e.limbs.q), "p": e.limbs.p}
    newton = compile_function(f"{name} closing of its loops", at, {"out": traced.newton}, slow=("p",))
    f, derivatives, _ = traced.tangent
    asked = {"x": ca.vertcat(traced.x, f), "p": e.limbs.p}
    tangent = compile_function(f"{name} tangent", asked, {"out": derivatives}, slow=("p",))
    rigid = ca.Function("J", [e.limbs.t, e.limbs.q, e.limbs.p], [ca.densify(zeroed.d.J @ traced.motions.S)])
    return Compiled(
        traced, zeroed.which, zeroed.why, rigid, motion, newton, tangent, time.perf_counter() - clock, origin
    )
