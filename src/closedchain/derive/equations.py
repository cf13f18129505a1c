"""All equations of a cut mechanism, in the letters of the design. This file is the table of contents of `derive`.

``M a + h = tau - A' lam``, ``A a + gamma = 0``, ``q' = N(q) v``.

Efforts of control laws that know the equations (`model.forces.control.TracedLaw`) are symbols at first; each law is
then asked for them, and they are put in.

The theory is in ``docs/theory/equations.md``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import casadi as ca

from closedchain.cut.topology import Topology, cut
from closedchain.derive.applied import Applied, trace_applied, trace_leaf
from closedchain.derive.closure import Closure, close_cuts, pair_up
from closedchain.derive.crba import crba
from closedchain.derive.energy import elastic_energy, elastic_loss, gravity_potential, kinetic_energy
from closedchain.derive.kinematics import Kinematics, kinematics
from closedchain.derive.limbs import Limbs, trace_limbs
from closedchain.derive.lower import lower
from closedchain.derive.measure import JointMeasures
from closedchain.derive.rnea import rnea
from closedchain.derive.rotors import rotor_energy, with_rotors
from closedchain.errors import ModelError
from closedchain.lock import locked, once
from closedchain.model.derived import Derived, cached, cached_by
from closedchain.model.expressions.expression import Expression
from closedchain.model.forces.control import traced_laws
from closedchain.model.mechanism import Mechanism

Freedom = tuple[str, int]
"""A joint and the number of one of its velocities"""


class Energies(NamedTuple):
    """Kinetic and potential energy, J, and the power of all that has no potential, W."""

    kinetic: ca.SX
    potential: ca.SX
    power: ca.SX


@dataclass(frozen=True, eq=False)
class Equations:
    """Traced terms of a cut mechanism, functions of ``t, q, v, p``.

    Attributes
    ----------
    qdot
        ``N(q) v``, nq: of the tree, and of the counters of turns of cut joints.
    M, h
        Inertia matrix (n x n, sparse) and bias (n): Coriolis, centrifugal, gravity, forces at frames, point springs.
    tau
        Motors, joint springs, joint dampers (n).
    closure
        ``c, A, gamma`` of all cuts.
    energies
        Energies, and the power of all that has no potential.
    seconds
        What the tracing took.
    by_limbs
        Whether M is the inertia of the limbs alone, so that their recursions factor it.
    """

    limbs: Limbs
    motion: Kinematics
    measures: JointMeasures
    applied: Applied
    qdot: ca.SX
    M: ca.SX
    h: ca.SX
    tau: ca.SX
    closure: Closure
    energies: Energies
    seconds: float = 0.0
    by_limbs: bool = True

    @property
    def topology(self) -> Topology:
        """The cut mechanism these equations belong to."""
        return self.limbs.topology

    @once
    def _cache(self) -> Derived:
        """Values computed from these equations; see `closedchain.model.derived`."""
        return Derived()

    @locked
    def __reduce__(self) -> tuple[Any, ...]:
        m = self.topology.mechanism
        if self not in m._cache:
            raise ModelError(
                f"the drawing of {m.name!r} has changed since this was computed from it: copy or pickle results before "
                "the drawing is changed, or draw on a copy of the mechanism"
            )
        return derive, (m,)

    @property
    def symbols(self) -> dict[str, ca.SX]:
        """``t, q, v, p`` by name."""
        return {"t": self.limbs.t, "q": self.limbs.q, "v": self.limbs.v, "p": self.limbs.p}

    @locked
    def expression(
        self,
        x: Any,
        special: Callable[[Expression], ca.SX | None] = lambda node: None,
        held: Callable[[Expression, ca.SX], ca.SX] | None = None,
    ) -> ca.SX:
        """A number or expression of the drawing as a traced scalar.

        ``special`` may give the value of a leaf itself, as of closing forces, which these equations do not know;
        ``held`` that of a condition (see `derive.lower`).
        """

        def leaf(node: Expression) -> ca.SX:
            value = special(node)
            return trace_leaf(self.limbs, self.motion, self.measures, node) if value is None else value

        return self.known(lower(x, leaf, held))

    def acting(self, replaced: Collection[Freedom]) -> Applied:
        """What acts without the motors on some freedoms, whose efforts are given otherwise; traced once."""
        motors = self.topology.mechanism.motors.values()
        return self.without(tuple(x.name for x in motors if (x.joint, x.index) in replaced))

    @cached_by(lambda self, names: (self.topology.mechanism, self, names))
    def without(self, names: tuple[str, ...]) -> Applied:
        """What acts without forces of some names; traced once."""
        if not names:
            return self.applied
        return _put_in_applied(trace_applied(self.limbs, self.motion, self.measures, names), *self.applied.laws)

    @locked
    def known(self, x: ca.SX) -> ca.SX:
        """An expression with the efforts of control laws put in, wherever it was lowered by itself."""
        return put(x, *self.applied.laws)

    @locked
    def function(self, name: str, outputs: dict[str, ca.SX]) -> ca.Function:
        """A CasADi function of ``(t, q, v, p)``."""
        inputs = self.symbols
        dense = [ca.densify(x) for x in outputs.values()]
        return ca.Function(name, list(inputs.values()), dense, list(inputs), list(outputs))


@cached
def derive(mechanism: Mechanism) -> Equations:
    """Cut a mechanism and trace its equations; the result is kept until the drawing changes.

    Examples
    --------
    >>> import closedchain as cc
    >>> from closedchain.derive.equations import derive
    >>> derive(cc.library.four_bar()).M.shape
    (3, 3)
    """
    topology = cut(mechanism)
    clock = time.perf_counter()
    equations = _derive(topology)
    return replace(equations, seconds=time.perf_counter() - clock)


def put(x: ca.SX, symbols: ca.SX, values: ca.SX) -> ca.SX:
    """An expression with values in the place of symbols; it stays the same object if it has none of them."""
    return ca.substitute(x, symbols, values) if symbols.numel() and ca.depends_on(x, symbols) else x


def _derive(topology: Topology) -> Equations:
    limbs = trace_limbs(topology)
    motion = kinematics(limbs)
    pairs = pair_up(limbs, motion)
    measures = JointMeasures(limbs, pairs)
    applied = trace_applied(limbs, motion, measures)
    M, h = with_rotors(measures, crba(limbs), rnea(limbs, motion, applied.wrenches))
    equations = Equations(
        limbs=limbs,
        motion=motion,
        measures=measures,
        applied=applied,
        qdot=ca.vertcat(ca.SX(0, 1), *(x.motion.qdot for x in limbs.links), *map(measures.turning, topology.counters)),
        M=M,
        h=h,
        tau=ca.densify(applied.tau),
        closure=close_cuts(limbs, motion, pairs, measures),
        energies=Energies(
            kinetic=kinetic_energy(limbs, motion) + rotor_energy(measures),
            potential=gravity_potential(limbs, motion) + elastic_energy(limbs) + applied.potential,
            power=applied.power - elastic_loss(limbs),
        ),
    )
    return _with_laws(equations)


def _with_laws(e: Equations) -> Equations:
    """The equations with the efforts of control laws put in."""
    laws = traced_laws(e.topology.mechanism)
    if not laws:
        return e
    commands = {law: ca.vertcat(*(e.expression(x, held=e.limbs.held) for x in law.commands)) for law in laws}
    unknown = ca.vertcat(*(law.unknown for law in laws))
    none = ca.SX.zeros(unknown.shape)
    without = _put_in(e, unknown, none)
    efforts = ca.vertcat(*(law.trace(without, commands) for law in laws))
    return _put_in(e, unknown, efforts)


def _put_in(e: Equations, symbols: ca.SX, values: ca.SX) -> Equations:
    """The same equations with values in place of symbols, in all that acts and wherever one is lowered."""
    applied = replace(_put_in_applied(e.applied, symbols, values), laws=(symbols, values))
    h = put(e.h, symbols, values)
    power = ca.densify(put(e.energies.power, symbols, values))
    return replace(
        e, applied=applied, h=ca.densify(h), tau=ca.densify(applied.tau), energies=e.energies._replace(power=power)
    )


def _put_in_applied(old: Applied, symbols: ca.SX, values: ca.SX) -> Applied:
    def known(x: ca.SX) -> ca.SX:
        new = put(x, symbols, values)
        return x if new is x else ca.sparsify(new)

    def all_known(table: dict[Any, ca.SX]) -> dict[Any, ca.SX]:
        return {name: ca.densify(known(x)) for name, x in table.items()}

    return replace(
        old,
        tau=known(old.tau),
        wrenches={i: w.map(known) for i, w in old.wrenches.items()},
        potential=known(old.potential),
        power=ca.densify(known(old.power)),
        efforts=all_known(old.efforts),
        powers=all_known(old.powers),
        on_joints=all_known(old.on_joints),
        on_frames=[(frame, known(f), known(n)) for frame, f, n in old.on_frames],
    )
