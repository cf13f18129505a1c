"""A mechanism under a formulation as native functions: traced, compiled and kept until the drawing changes.

The theory is in ``docs/theory/compiled.md``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from closedchain.close.formulation import Choice, Closed, Formulation
from closedchain.close.parts.aims import close
from closedchain.close.parts.elimination import REDUNDANT
from closedchain.close.parts.massless import fortify
from closedchain.derive.equations import Equations, derive
from closedchain.derive.size import traced_sizes
from closedchain.errors import ModelError
from closedchain.lock import locked
from closedchain.model.derived import cached_by
from closedchain.native import LazyFunction
from closedchain.native.at_samples import at_samples
from closedchain.native.partial import WithNumbers
from closedchain.pose.closing import Closing, active_rows
from closedchain.pose.independent import Pivots, choose_pivots, health
from closedchain.pose.inertia import limbs_have_inertia
from closedchain.pose.rank import relative_tolerance
from closedchain.pose.redundancy import Rows, independent_rows
from closedchain.pose.size import Scale, sizes_of
from closedchain.pose.state import State, parameter_vector

if TYPE_CHECKING:
    from closedchain.integrate.solved_first import SolvedFirst


# Loops that cross another assembly at a singular pose pass it at a distance of the root of what their numbers miss, on
# one side or the other. So far from it a row is left out, whose pivot falls with the square of the distance; at most
# until here, where pivots begin to be watched.
BLURRED = 1e-5

AS_GOOD = 0.5  # of the health of the best independent velocities: those of others that are not worth a compilation


@dataclass(frozen=True, eq=False)
class Compiled:
    """Native functions of one mechanism under one formulation.

    Attributes
    ----------
    rhs
        ``(t, x, p) -> dx``.
    correct
        ``(t, x, p) -> x_plus, residual``, or None.
    choice
        Which closure rows are solved, and how.
    found
        What was found out about the closure rows at the start.
    numbers
        Of the formulation, and the aims of the rows that are solved, if they have any; see `close.parts.aims`.
    seconds
        What tracing and compiling took, by name.
    """

    equations: Equations
    method: Formulation
    closed: Closed
    rhs: WithNumbers | SolvedFirst
    correct: WithNumbers | None
    choice: Choice
    found: Rows
    numbers: np.ndarray
    seconds: dict[str, float]
    shared: dict[Any, Any]  # functions of results and the Jacobian, made when asked for, by all methods of the family
    by_limbs: bool  # whether each limb has inertia of its own
    functions: dict[Any, Any] = field(default_factory=dict)  # with this method's own numbers

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.equations, self.method, self.choice, self.found, self.by_limbs, self.numbers)

    @property
    def active(self) -> tuple[int, ...]:
        """All closure rows that hold; those of open joints do not."""
        return self.found.active

    @property
    def moving(self) -> tuple[int, ...]:
        """Those of them that some motion changes."""
        return self.found.moving

    @property
    def rank(self) -> int:
        """How many of these are independent at generic poses."""
        return len(self.found.kept)

    @property
    def loops_rank(self) -> int:
        """The same without prescribed motions."""
        return self.found.loops_rank

    @property
    def rows(self) -> tuple[int, ...]:
        """The closure rows that are solved; all others follow from them."""
        return self.choice.rows

    @property
    def aims(self) -> np.ndarray:
        """Residuals at which the solved rows are held, m or rad."""
        n = len(self.numbers) - len(self.rows)
        return self.numbers[n:] if self.choice.aimed else np.zeros(len(self.rows))

    @locked
    def aimed(self, state: State, before: Compiled | None = None) -> Compiled:
        """The same equations with the residuals of a state for aims, where there are aims.

        Rows that were solved ``before``, in the same run, keep their aims. Loads and gaps given to `assemble` stretch
        springs: these rest at the residuals of the nearest closed pose.
        """
        if not self.choice.aimed:
            return self
        e, rows = self.equations, list(self.rows)
        p = parameter_vector(state.mechanism, state.parameters)
        q = _nearest(e, state).q if self.method.all_rows else state.q
        c = np.array(e.function("rows", {"c": e.closure.c[rows, :]})(state.t, q, state.v, p)).ravel()
        kept = dict(zip(before.rows, before.aims, strict=True)) if before is not None and before.choice.aimed else {}
        aims = [kept.get(row, x) for row, x in zip(rows, c.tolist(), strict=True)]
        return self.with_numbers(np.concatenate([self.numbers[: len(self.numbers) - len(rows)], aims]))

    def same(self, other: Compiled) -> bool:
        """Whether another program has the same equations with the same numbers."""
        mine, its = ((x.method, x.choice, x.active, x.by_limbs) for x in (self, other))
        return self is other or (mine == its and np.array_equal(self.numbers, other.numbers))

    @property
    def guarded(self) -> bool:
        """Whether rows that lose their independence on the way are left out while they do."""
        return self.choice.guarded

    @property
    def energy(self) -> ca.SX:
        """Kinetic and potential energy, with what springs in the closures store, J."""
        return self.equations.energies.kinetic + self.equations.energies.potential + self.closed.stored

    def with_numbers(self, numbers: np.ndarray) -> Compiled:
        """The same equations with other numbers of the formulation; nothing is compiled."""
        if np.array_equal(numbers, self.numbers):
            return self
        rhs: Any = (
            WithNumbers(self.rhs.function, numbers)
            if isinstance(self.rhs, WithNumbers)
            else self.rhs.with_numbers(numbers)
        )
        correct = None if self.correct is None else WithNumbers(self.correct.function, numbers)
        return replace(self, rhs=rhs, correct=correct, numbers=numbers, functions={})

    @locked
    def of_state(self, expressions: list[ca.SX]) -> list[ca.SX]:
        """Expressions of ``t, q, v, p`` as functions of ``t, x, p``."""
        if self.closed.velocities is None:
            return expressions
        return ca.substitute([ca.SX(x) for x in expressions], [self.equations.limbs.v], [self.closed.v])

    def sizes(self, scale: Scale) -> np.ndarray:
        """By which the entries of the state ``x`` compare (n,), or of those of many points (m, n).

        1 for an angle or an entry of a quaternion, the mechanism's length for a slide, both over its time for their
        rates, and its energy for the work; algebraic entries (accelerations, forces, impulses) likewise.
        """
        picked, topology = self.closed.velocities, self.equations.topology
        rates = topology.v_units if picked is None else [topology.v_units[i] for i in picked]
        return sizes_of((*topology.q_units, *rates, *self.closed.unknowns.units, "J"), scale)

    def balances(self, scale: Scale) -> np.ndarray:
        """By which the equations of algebraic entries compare (k,)."""
        return sizes_of(self.closed.unknowns.balances, scale)

    def pack(self, q: np.ndarray, v: np.ndarray, W: float = 0.0) -> np.ndarray:
        """The state ``x`` of the formulation."""
        picked = self.closed.velocities
        return np.concatenate([q, v if picked is None else v[list(picked)], np.zeros(self.closed.algebraic), [W]])

    def unpack(self, t: float, x: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Coordinates, velocities and work of a state ``x``."""
        n = self.equations.topology.nq
        whole = self.whole(np.array([t]), x[None], p)[0]
        return whole[:n], whole[n:-1], float(whole[-1])

    def whole(self, t: np.ndarray, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        """``(q, v, W)`` of many states, with all velocities."""
        n = self.equations.topology.nq
        if self.closed.velocities is None:
            return np.hstack([x[:, : n + self.equations.topology.nv], x[:, -1:]])
        v = self.evaluate("velocities", lambda: {"v": self.closed.v}, t, x, p)["v"][:, :, 0]
        return np.hstack([x[:, :n], v, x[:, -1:]])

    def evaluate(
        self, key: object, expressions: Callable[[], dict[str, ca.SX]], t: np.ndarray, x: np.ndarray, p: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Evaluate traced expressions of (t, x, p) at many samples; leading axis is time.

        ``p`` is one vector, or a row for each sample.

        ``expressions`` gives them by name; it is called once for each key.
        """
        f = self._function((key, self.active), expressions)
        t, x = np.reshape(t, (-1, 1)), np.reshape(x, (len(t), self.closed.x.numel()))
        return dict(zip(f.name_out(), at_samples(f, len(t), [t, x, p, self.numbers]), strict=True))

    @locked
    def _function(self, key: object, expressions: Callable[[], dict[str, ca.SX]]) -> ca.Function:
        if key not in self.shared:
            e = self.equations
            traced = expressions()
            dense = ca.cse([ca.densify(v) for v in self.of_state(list(traced.values()))])
            inputs = {"t": e.limbs.t, "x": self.closed.x, "p": e.limbs.p, "numbers": self.closed.parameters}
            self.shared[key] = ca.Function("evaluate", list(inputs.values()), dense, list(inputs), list(traced))
        return self.shared[key]


def tolerances(program: Compiled, scale: Scale, rtol: float, atol: float | None) -> np.ndarray:
    """Absolute tolerances of the entries of a state: as given for all of them, else rtol of the size of each."""
    sizes = program.sizes(scale)
    return rtol * sizes if atol is None else np.full(sizes.shape, float(atol))


def relative_tolerances(program: Compiled, scale: Scale, rtol: float, atol: float | None) -> Any:
    """The tolerance relative to the sizes of the entries, or (m,) of many points: rtol, or what atol is of them."""
    largest = program.sizes(scale).max(axis=-1)
    return np.full_like(largest, rtol) if atol is None else np.maximum(rtol, atol / largest)


@locked
def compiled(
    start: State,
    method: Formulation,
    guarded: bool = False,
    before: Sequence[Pivots] = (),
    native: bool = True,
    aimed: bool = False,
) -> Compiled:
    """Trace and compile a mechanism under a formulation, or find it among what was compiled before.

    ``guarded``: watch the pivots of the closures, as a singular pose needs; it is switched on where the start is one.
    ``before``: choices of independent velocities to return to, if they are not much worse than the best.
    ``native``: compile now; otherwise when machine code is first asked for, which a team never does.
    ``aimed``: hold the rows at the residuals of the start, even if none of them repeats others.
    """
    e, choice, rows = _chosen(start, method, guarded, before, aimed)
    return _program(e, method, choice, rows, native).aimed(start)


@cached_by(lambda e, method, choice, rows, native: (e.topology.mechanism, method, choice, rows.active, e.by_limbs))
def _program(e: Equations, method: Formulation, choice: Choice, rows: Rows, native: bool) -> Compiled:
    m = e.topology.mechanism
    numbers = np.array(method.numbers(e, choice), float)
    if choice.aimed:
        numbers = np.concatenate([numbers, np.zeros(len(choice.rows))])
    closed, rate, step, newton, seconds, shared = _native(e, method, choice, native)
    correct = None if step is None else WithNumbers(step, numbers)
    rhs: WithNumbers | SolvedFirst = WithNumbers(rate, numbers)
    if closed.solved_first:
        from closedchain.integrate.solved_first import SolvedFirst  # loads Numba

        assert newton is not None
        rhs = SolvedFirst(WithNumbers(newton, numbers), WithNumbers(rate, numbers))
    return Compiled(
        derive(m),
        method,
        closed,
        rhs,
        correct,
        choice,
        rows,
        numbers,
        seconds,
        shared,
        e.by_limbs,
    )


@locked
def _again(
    e: Equations, method: Formulation, choice: Choice, found: Rows, by_limbs: bool, numbers: np.ndarray
) -> Compiled:
    """A program that was pickled; machine code is taken from the cache when it is first asked for."""
    e = e if by_limbs else fortify(e, choice.rows)
    return _program(e, method, choice, found, native=False).with_numbers(numbers)


@locked
def chosen(start: State, method: Formulation) -> tuple[Equations, Choice]:
    """The equations that a formulation closes at a start, and what it has to know of them."""
    return _chosen(start, method, guarded=False)[:2]


def _chosen(
    start: State, method: Formulation, guarded: bool, before: Sequence[Pivots] = (), aimed: bool = False
) -> tuple[Equations, Choice, Rows]:
    e = derive(start.mechanism)
    rows = independent_rows(e, start if method.all_rows else _settled(e, start))
    aimed = (aimed and len(rows.kept) > 0) or (start.mechanism.tolerance > 0 and len(rows.kept) < len(rows.active))
    choice = _choose(e, start, method, rows, guarded, before, aimed)
    if limbs_have_inertia(e, start):
        return e, choice, rows
    if method.by_limbs:
        raise ModelError(
            f"{type(method).__name__} divides by the inertia of each limb, but a limb of {start.mechanism.name!r} ends "
            "in a body without mass: give it a mass, or use cc.Multipliers()"
        )
    # methods with independent velocities never divide by the inertia of open limbs
    return (e if method.chooses else fortify(e, choice.rows)), choice, rows


def _settled(e: Equations, start: State) -> State:
    """The nearest state with closed loops: off it, rows that repeat others seem to say something of their own."""
    p = parameter_vector(start.mechanism, start.parameters)
    closing = Closing(e, p, time=start.t, rows=active_rows(e, start.open_joints))
    if closing.closes(start.q):
        return start
    return replace(start, q=closing.near(start.q, np.zeros(e.topology.nv)))


def _nearest(e: Equations, state: State) -> State:
    """The nearest state that closes loops as well as the drawing's numbers let it, with bodies bent as they are."""
    p = parameter_vector(state.mechanism, state.parameters)
    bent = [(link.shape.labels(), link.shape_q) for link in e.topology.links if link.shape is not None]
    held = {label: x for labels, at in bent for label, x in zip(labels, state.q[at].tolist(), strict=True)}
    closing = Closing(e, p, time=state.t, rows=active_rows(e, state.open_joints), held=held)
    return replace(state, q=closing.near(state.q, np.zeros(e.topology.nv)))


@cached_by(lambda e, method, choice, now: (e.topology.mechanism, method.family, choice, e.by_limbs))
def _native(
    e: Equations, method: Formulation, choice: Choice, now: bool
) -> tuple[Closed, LazyFunction, LazyFunction | None, LazyFunction | None, dict[str, float], dict[Any, Any]]:
    """Trace and compile once for all methods of a family: the rates, the correction, and Newton's step alone."""
    m = e.topology.mechanism
    clock = time.perf_counter()
    closed = close(method, e, choice)
    seconds = {"derive": e.seconds, "close": time.perf_counter() - clock, "compile": 0.0}
    inputs = {"t": e.limbs.t, "x": closed.x, "p": ca.vertcat(e.limbs.p, closed.parameters)}
    rate = LazyFunction(f"{m.name} right-hand side", inputs, {"dx": closed.dx}, ("p",))
    step = newton = None
    if closed.correction is not None:
        outputs = closed.correction._asdict()
        step = LazyFunction(f"{m.name} correction", inputs, dict(outputs), ("p",))
        if closed.solved_first:  # many times in a step: without what is asked for once
            moved = (closed.correction.x_plus - closed.x)[: e.topology.nq]
            outputs["residual"] = ca.norm_2(moved / traced_sizes(e, e.topology.q_units))
            newton = LazyFunction(f"{m.name} position closure", inputs, outputs, ("p",))
    if now:
        seconds["compile"] = sum(f.native.timings.total for f in (rate, step, newton) if f is not None)
    return closed, rate, step, newton, seconds, {}


def _choose(
    e: Equations,
    start: State,
    method: Formulation,
    rows: Rows,
    guarded: bool,
    before: Sequence[Pivots],
    aimed: bool,
) -> Choice:
    """What the formulation has to know before it is traced."""
    if method.all_rows:
        return Choice(rows.moving, aimed=aimed and len(rows.moving) > 0)
    if method.guards and (rows.singular or guarded):
        # guarded equations find out themselves which rows repeat others, but not which ones do so nearly
        if aimed:
            p = parameter_vector(start.mechanism, start.parameters)
            blurred = min(max(relative_tolerance(e, p), REDUNDANT), BLURRED)
            return Choice(rows.kept, guarded=True, aimed=True, redundant=blurred)
        return Choice(rows.moving, guarded=True)
    if rows.singular:
        raise ModelError(
            f"{type(method).__name__} cannot start at a singular pose, where no independent velocities can be chosen: "
            "use cc.Multipliers(), which passes it"
        )
    if method.chooses is None:
        return Choice(rows.kept, aimed=aimed)
    # a choice that this run made before is as good as a new one if it is not much worse, and is compiled already
    pivots = choose_pivots(e, start, rows.kept, method.chooses)
    mine = [other for other in before if {row for row, _ in other} == set(rows.kept)]
    best = max(mine, key=lambda other: health(e, start, other), default=None)
    if best is not None and health(e, start, best) > AS_GOOD * health(e, start, pivots):
        return Choice(rows.kept, pivots=best, aimed=aimed)
    return Choice(rows.kept, pivots=pivots, aimed=aimed)


def operations(start: State, method: Formulation) -> dict[str, int]:
    """Exact operation counts of the right-hand side, by kind."""
    from dataclasses import asdict

    counts = compiled(start, method, native=False).rhs.counts
    return {**asdict(counts), "total": counts.total}


def right_hand_side(start: State, method: Formulation, t: float = 0.0) -> np.ndarray:
    """``dx`` at a state: a single evaluation, for looking at numbers."""
    p = parameter_vector(start.mechanism, start.parameters)
    program = compiled(start, method)
    return program.rhs(t, program.pack(start.q, start.v), p)
