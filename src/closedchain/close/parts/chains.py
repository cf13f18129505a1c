"""Chains that meet at a reference member: which body that is, and which closure row belongs to which chain.

Take the reference member and the ground away, and the bodies that are left fall apart into *chains*: bodies that joints
of the tree or closed cuts still hold together. A closure row then acts on one chain, and perhaps on the reference
member or the ground. A row between two bodies of one chain, or between a chain that already stands on the ground and
the ground, is a loop inside that chain.

The theory is in ``docs/theory/operational_space.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import casadi as ca

from closedchain.arguments import known
from closedchain.derive.equations import Equations
from closedchain.derive.measure import measure
from closedchain.derive.relative import Pair
from closedchain.derive.rotors import rotor_inertia
from closedchain.errors import ModelError

ADVICE = "; use cc.Multipliers()"


@dataclass(frozen=True, eq=False)
class Row:
    """A closure row: its force acts on links by wrenches, and on joints by efforts.

    Attributes
    ----------
    name
        Joint, coupling, drive or rotor.
    ends
        Links between which it acts; -1 is the ground.
    wrenches
        Coefficients on the twists of links (1 x 6, and more for the rates of a shape), in world axes about the links'
        origins.
    efforts
        Coefficients on the velocities of links, 1 x freedoms.
    bias
        What the row accelerates by at constant velocities.
    unit
        Of the row's value.
    closes
        Whether it closes a loop: drives and gears do not.
    inertia
        Of a rotor on a cut joint, whose row is not held but resists; None for a closure.
    """

    name: str
    ends: tuple[int, ...]
    wrenches: dict[int, ca.SX]
    efforts: dict[int, ca.SX]
    bias: ca.SX
    unit: str
    closes: bool = False
    inertia: ca.SX | None = None

    @property
    def couples(self) -> bool:
        """Whether it is a gear, which acts between two joints wherever they are."""
        return len(self.ends) > 2


def closure_rows(e: Equations, rows: Sequence[int]) -> list[Row]:
    """The given closure rows, and behind them one for each rotor on a cut joint."""
    m, link_of, closure = e.topology.mechanism, e.topology.link_of, e.closure
    out = []
    for r in rows:
        name, acts = closure.joints[r], _Acts(e)
        closes = closure.labels[r] != "value"
        if closes:
            joint = m.joints[name]
            acts.ends += [link_of[joint.a.body.name], link_of[joint.b.body.name]]
            acts.add(closure.sides[r], closure.A[r, :], ca.SX(1))
        elif name in m.couplings:
            gear = m.couplings[name]
            acts.coordinate(*gear.driver, e.limbs.number(gear.ratio))
            acts.coordinate(*gear.driven, ca.SX(-1))
        else:
            acts.coordinate(m.drives[name].joint, m.drives[name].index, ca.SX(-1))
        out.append(acts.row(name, closure.gamma[r], closure.units[r], closes))
    for rotor in m.rotors.values():
        if rotor.joint not in e.topology.tree_joints:
            acts = _Acts(e)
            acts.coordinate(rotor.joint, rotor.index, ca.SX(1))
            _, bias = e.measures.velocity_row(rotor.joint, rotor.index)
            inertia = rotor_inertia(e.limbs, rotor)
            unit = m.joints[rotor.joint].type.velocity_units[rotor.index]
            out.append(acts.row(rotor.name, bias, unit, inertia=inertia))
    return out


class _Acts:
    """Collects what a row acts on."""

    def __init__(self, e: Equations) -> None:
        self.e = e
        self.ends: list[int] = []
        self.wrenches: dict[int, ca.SX] = {}
        self.efforts: dict[int, ca.SX] = {}

    def row(self, name: str, bias: ca.SX, unit: str, closes: bool = False, inertia: ca.SX | None = None) -> Row:
        """The finished row."""
        return Row(name, tuple(self.ends), self.wrenches, self.efforts, bias, unit, closes, inertia)

    def add(self, sides: dict[int, ca.SX], J: ca.SX, factor: ca.SX) -> None:
        """A row that is known by links, or if not so by joints."""
        for link, C in sides.items():
            _accumulate(self.wrenches, link, factor * C)
        if not sides:
            for traced in self.e.topology.links:
                if J[:, traced.freedoms].nnz():
                    _accumulate(self.efforts, traced.index, factor * J[:, traced.freedoms])

    def coordinate(self, name: str, index: int, factor: ca.SX) -> None:
        """A coordinate or velocity of a joint."""
        e, topology = self.e, self.e.topology
        joint = topology.mechanism.joints[name]
        self.ends += [topology.link_of[joint.a.body.name], topology.link_of[joint.b.body.name]]
        link = topology.tree_joints.get(name)
        if link is not None:
            effort = ca.SX(1, joint.type.nv + link.shapes)
            effort[index] = factor
            _accumulate(self.efforts, link.index, effort)
            return
        pair = e.measures.pairs[name]
        if joint.type.is_ball:
            self.add(_spin(pair, index), pair.spin().J[index, :], factor)
        else:
            rows = pair.rows(measure(joint.type))
            self.add({i: C[index, :] for i, C in rows.sides.items()}, rows.J[index, :], factor)


def _spin(pair: Pair, index: int) -> dict[int, ca.SX]:
    """One component of the relative angular velocity, on the twists of both links."""
    axis = pair.S.X.R.T[index, :]
    return pair.sides(ca.sparsify(ca.horzcat(-axis, axis, ca.SX(1, 3))))


def _accumulate(into: dict[int, ca.SX], key: int, x: ca.SX) -> None:
    into[key] = ca.sparsify(into[key] + x if key in into else x)


@dataclass(frozen=True)
class Chains:
    """How closure rows belong to the chains that meet at a reference member.

    Attributes
    ----------
    reference
        Number of its link; -1 where nothing is to be closed.
    carrier
        Rows of the chain that the reference member hangs on in the tree, and of the joint it hangs on.
    others
        Rows of each other chain; those that do not reach the reference member come first.
    limbs
        How many chains hold the reference member.
    """

    reference: int
    carrier: tuple[int, ...]
    others: tuple[tuple[int, ...], ...]
    limbs: int


def find_chains(e: Equations, rows: Sequence[Row], reference: str | None) -> Chains:
    """The chains at a given reference member, or at the body where most of them meet.

    Raises
    ------
    ModelError
        If closures tie chains together elsewhere than at the reference member.
    """
    bodies = [link.body.name for link in e.topology.links]
    if reference is not None:
        known("OperationalSpace: there is no body", reference, bodies)
    if not rows:
        return Chains(-1, (), (), 0)
    candidates = range(len(bodies)) if reference is None else [bodies.index(reference)]
    tries = [_Grouping(e, rows, i) for i in candidates]
    best = min(tries, key=lambda g: (g.problem is not None, -g.limbs, g.cost, g.reference))
    if best.problem is not None:
        worst = max(tries, key=lambda g: g.limbs)  # what is wrong with the body that looked most promising
        raise ModelError(f"OperationalSpace: {worst.problem}{ADVICE}")
    return best.chains()


class _Grouping:
    """All rows by chains, for one body as the reference member."""

    def __init__(self, e: Equations, rows: Sequence[Row], reference: int) -> None:
        self.e, self.rows, self.reference = e, rows, reference
        links = e.topology.links
        self.name = links[reference].body.name
        self.root = list(range(len(links)))
        for link in links:
            self._join([link.index, link.parent])
        for row in rows:
            if not row.couples:
                self._join(row.ends)

        # bodies joined to the reference member, directly
        near = {link.parent for link in links if link.index == reference}
        near |= {link.index for link in links if link.parent == reference}
        near |= {i for row in rows for i in row.ends if reference in row.ends}
        self.touching = {self._find(i) for i in near if i not in (-1, reference)}

        carrier = links[reference].parent
        self.carrier = "carrier" if carrier < 0 else self._find(carrier)
        self.groups: dict[object, list[int]] = {}
        self.problem: str | None = None
        for number, row in enumerate(rows):
            self._sort_in(number, row)
        self._look_for_strangers()
        holding = [key for key in self.groups if key != self.carrier and self._holds(key)]
        self.limbs = len(holding) + (carrier >= 0)
        self.cost = sum(len(group) ** 3 for group in self.groups.values())

    def _find(self, i: int) -> int:
        while self.root[i] != i:
            self.root[i] = i = self.root[self.root[i]]
        return i

    def _join(self, links: Iterable[int]) -> None:
        roots = [self._find(i) for i in links if i not in (-1, self.reference)]
        for i in roots[1:]:
            self.root[self._find(i)] = self._find(roots[0])

    def _sort_in(self, number: int, row: Row) -> None:
        chains: set[object] = {self._find(i) for i in row.ends if i not in (-1, self.reference)}
        if self.reference in row.efforts:  # it acts in the joint that the reference member hangs on
            chains.add(self.carrier)
        if len(chains) > 1:
            self.problem = (
                f"{row.name!r} ties two chains together that should meet at the reference member {self.name!r} only"
            )
        key = min(chains, key=str) if chains else f"{row.name} at the ground"
        self.groups.setdefault(key, []).append(number)

    def _holds(self, key: object) -> bool:
        """Whether a chain is joined to the reference member; rows from there to the ground are one without bodies."""
        return not isinstance(key, int) or key in self.touching

    def _look_for_strangers(self) -> None:
        for key, group in self.groups.items():
            loops = [self.rows[r].name for r in group if self.rows[r].closes]
            if loops and not self._holds(key):
                self.problem = self.problem or (
                    f"the loop at {loops[0]!r} does not meet {self.name!r}: this method is for loops that all meet at "
                    "one body, the reference member"
                )

    def chains(self) -> Chains:
        """The result."""
        groups = {
            key: tuple(sorted(group, key=lambda r: self._reaches(self.rows[r]))) for key, group in self.groups.items()
        }
        carrier = groups.pop(self.carrier, ())
        return Chains(self.reference, carrier, tuple(groups.values()), self.limbs)

    def _reaches(self, row: Row) -> bool:
        """Whether a row acts on the reference member, or on what hangs on it."""
        path = self.e.topology.path
        return any(self.reference in path(i) for i in (*row.wrenches, *row.efforts))
