"""Cut a function of the whole state into what each member of a team computes, and what the members tell each other.

A function ``y = f(t, x, p)`` is a graph of scalar values. Each entry of the state x has an owner; so has each entry of
y. A value that depends on entries of one owner only is *local*: its owner computes it, and tells it to those members
whose entries of y need it. All others are *common*, and computed by each member that needs them: of limbs between
springs these are the few that turn the motions of two sides of a cut into a force. So what has to be sent follows from
the equations, whatever the formulation:

    compute what others need, exchange, compute the own entries of y

Sums over all limbs, as ``S' M S``, are told apart (`Sums`): each member adds up what its limbs contribute, and one
reduction gives the total to all, which is a symbol in f. With a *master* what is common to several members is computed
once, by the first member, and sent to the others:

    compute what others need, exchange, [compute contributions, reduce, | master: compute, exchange,] compute y

Sums of many terms are regrouped by their owners before (`regrouped`), so that one number is sent instead of its terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from closedchain.lock import once
from closedchain.native.function import NativeFunction
from closedchain.native.traced.counts import OperationCounts, count_operations
from closedchain.native.traced.graph import Graph
from closedchain.native.traced.hoist import hoist
from closedchain.native.traced.schedule import share_divisors
from closedchain.parallel.kernels import EXCHANGE, NOTHING, REDUCE

T, X, P, TOTALS = range(4)  # inputs of the whole function
BOARD, P_OF_STEP, INPUTS = 2, 3, 4  # of a member's functions: t, x, board, p
Y, CONTRIBUTIONS = range(2)  # outputs of the whole function


@dataclass(frozen=True)
class Parcel:
    """Values that one member tells another: where they lie on the boards of the two."""

    sender: int
    receiver: int
    at_sender: int
    at_receiver: int
    length: int


@dataclass(frozen=True)
class Step:
    """What a member computes, and what happens then.

    Attributes
    ----------
    graph
        Inputs t, x, board, p; one output.
    begin, length
        Where its output begins on the board, and how long it is; that of the last step is y.
    then
        EXCHANGE, REDUCE or NOTHING.
    received
        Where that puts what comes of it: the board's place and length.
    """

    graph: Graph
    begin: int
    length: int
    then: int
    received: tuple[int, int] = (0, 0)

    @once
    def operations(self) -> OperationCounts:
        """What it costs, as compiled: what follows from parameters alone is computed before."""
        return count_operations(
            share_divisors(hoist(self.graph, frozenset([P_OF_STEP]), INPUTS)[1].without_dead_values())
        )


@dataclass
class Member:
    """One member's part.

    Attributes
    ----------
    number
        Of the member.
    x
        Its entries of the state.
    y
        Its entries of the result.
    steps
        What it does, in their order.
    parcels
        By step: what it sends and receives after it.
    board
        How many numbers it keeps between steps.
    compiled
        Machine code of its steps, once there is some.
    """

    number: int
    x: tuple[int, ...]
    y: tuple[int, ...]
    steps: list[Step] = field(default_factory=list)
    parcels: list[list[Parcel]] = field(default_factory=list)
    board: int = 0
    compiled: list[NativeFunction] = field(default_factory=list)

    @property
    def operations(self) -> int:
        """What all its steps cost."""
        return sum(step.operations.total for step in self.steps)


def owners_of(graph: Graph, owner: Sequence[int]) -> list[int]:
    """Of each value: the members whose entries of the state it depends on, as bits."""
    masks: list[int] = []
    for k in range(len(graph)):
        if graph.name[k] == "input":
            masks.append(1 << owner[graph.b[k]] if graph.a[k] == X else 0)
        else:
            mask = 0
            for operand in graph.operands(k):
                mask |= masks[operand]
            masks.append(mask)
    return masks


def single(mask: int) -> bool:
    """Whether there is one owner."""
    return mask != 0 and mask & (mask - 1) == 0


def regrouped(graph: Graph, owner: Sequence[int]) -> Graph:
    """The same values, with sums of terms of several owners added up owner by owner first."""
    masks, uses = owners_of(graph, owner), graph.number_of_uses()
    users: list[int] = [-1] * len(graph)
    for k in range(len(graph)):
        for operand in graph.operands(k):
            users[operand] = k

    def joins(k: int) -> bool:
        """Whether a value is an inner part of a longer sum."""
        return graph.name[k] in ("add", "sub") and not single(masks[k]) and masks[k] != 0

    made = Graph()
    new = [0] * len(graph)
    for k in range(len(graph)):
        name, a, b = graph.name[k], graph.a[k], graph.b[k]
        if name == "const":
            new[k] = made.constant(graph.constants[a])
        elif name == "input":
            new[k] = made.input(a, b)
        elif joins(k) and not (uses[k] == 1 and users[k] >= 0 and joins(users[k])):
            new[k] = _sum_by_owner(graph, masks, uses, joins, k, made, new)
        elif not (joins(k) and uses[k] == 1):
            operands = graph.operands(k)
            new[k] = made.operate(name, *(new[i] for i in operands))
    made.outputs = [(output, position, new[number]) for output, position, number in graph.outputs]
    return made.without_dead_values()


def _sum_by_owner(graph, masks, uses, joins, top, made, new) -> int:  # type: ignore[no-untyped-def]
    terms: dict[int, list[tuple[bool, int]]] = {}
    open_ends = [(top, False)]
    while open_ends:
        k, minus = open_ends.pop()
        for i, operand in enumerate(graph.operands(k)):
            sign = minus != (i == 1 and graph.name[k] == "sub")
            if joins(operand) and uses[operand] == 1:
                open_ends.append((operand, sign))
            else:
                terms.setdefault(masks[operand], []).append((sign, new[operand]))
    groups = [_added(made, group) for _, group in sorted(terms.items())]
    return _added(made, groups, plain=True)[1]


def _added(made: Graph, terms: list[tuple[bool, int]], plain: bool = False) -> tuple[bool, int]:
    """Sum of signed terms: its sign, and its value; plain: with the sign put in."""
    terms = sorted(terms)  # those with a plus sign first
    minus, total = terms[0]
    for sign, k in terms[1:]:
        total = made.operate("add" if sign == minus else "sub", total, k)
    if plain and minus:
        return False, made.operate("neg", total)
    return minus, total


class Cutting:
    """Cuts a graph for a team.

    Parameters
    ----------
    graph
        Inputs t, x, p, totals; outputs y, and (if there are sums) the contributions, limb after limb.
    owner
        The member of each entry of x.
    results
        By member: its entries of y. An entry may belong to several members.
    limbs
        The member of each limb that contributes.
    totals
        How many totals there are; 0: no sums.
    master
        Whether the first member computes what is common to several.
    """

    def __init__(
        self,
        graph: Graph,
        owner: Sequence[int],
        results: Sequence[Sequence[int]],
        limbs: Sequence[int] = (),
        totals: int = 0,
        master: bool = False,
    ) -> None:
        self.owner, self.results = list(owner), [list(x) for x in results]
        self.size = len(results)
        self.totals = totals
        graph = self._with_contributions(graph, limbs) if totals else graph
        self.graph = regrouped(graph, owner)
        self.masks = owners_of(self.graph, owner)
        self.late = self._late()
        self.values: dict[tuple[int, int], int] = {(o, position): k for o, position, k in self.graph.outputs}
        self.shared = self._common() if master and self.size > 1 else set()
        self.members = [Member(r, self.entries(r), tuple(self.results[r])) for r in range(self.size)]
        self._plan()

    def entries(self, r: int) -> tuple[int, ...]:
        """Entries of the state of a member."""
        return tuple(i for i, k in enumerate(self.owner) if k == r)

    def _with_contributions(self, graph: Graph, limbs: Sequence[int]) -> Graph:
        """The graph with contributions added up by member."""
        n = self.totals
        kept = [x for x in graph.outputs if x[0] == Y]
        parts: dict[tuple[int, int], list[tuple[bool, int]]] = {}
        for output, position, k in graph.outputs:
            if output == CONTRIBUTIONS:
                parts.setdefault((limbs[position // n], position % n), []).append((False, k))
        for (r, i), terms in sorted(parts.items()):
            kept.append((CONTRIBUTIONS, r * n + i, _added(graph, terms)[1]))
        graph.outputs = kept
        return graph

    def _late(self) -> list[bool]:
        """Of each value: whether it depends on totals."""
        late: list[bool] = []
        for k in range(len(self.graph)):
            if self.graph.name[k] == "input":
                late.append(self.graph.a[k] == TOTALS)
            else:
                late.append(any(late[i] for i in self.graph.operands(k)))
        return late

    def targets(self, r: int, output: int) -> list[int]:
        """Values that a member has to produce, -1 for a zero."""
        if output == Y:
            return [self.values.get((Y, i), -1) for i in self.results[r]]
        return [self.values.get((CONTRIBUTIONS, r * self.totals + i), -1) for i in range(self.totals)]

    def told(self, k: int, r: int) -> bool:
        """Whether a member is told a value by its owner, and does not compute it."""
        return single(self.masks[k]) and self.masks[k] != 1 << r and not self.late[k]

    def cone(
        self, targets: Iterable[int], stops: Iterable[int] = (), r: int | None = None
    ) -> tuple[set[int], set[int]]:
        """Values that targets are computed from, and those at which this stops: told ones, or given ones."""
        stop = set(stops)
        inside: set[int] = set()
        ends: set[int] = set()
        todo = [k for k in targets if k >= 0]
        while todo:
            k = todo.pop()
            if k in inside or k in ends:
                continue
            if k in stop or (r is not None and self.told(k, r)):
                ends.add(k)
                continue
            inside.add(k)
            todo += self.graph.operands(k)
        return inside, ends

    def _common(self) -> set[int]:
        """Values of several owners that several members need."""
        count: dict[int, int] = {}
        for r in range(self.size):
            inside, _ = self.cone(self.targets(r, Y), r=r)
            for k in inside:
                if self.masks[k] and not single(self.masks[k]):
                    count[k] = count.get(k, 0) + 1
        return {k for k, n in count.items() if n > 1}

    def _plan(self) -> None:
        """Who tells what to whom, and what each member does."""
        everyone = range(self.size)
        # what each member needs of the others before the first step after the exchange
        needs: dict[tuple[int, int], list[int]] = {}
        answers: dict[int, list[int]] = {}  # of the master, by member
        for r in everyone:
            own = self.targets(r, Y) + (self.targets(r, CONTRIBUTIONS) if self.totals else [])
            ends = self.cone(own, self.shared if r else (), r)[1]
            answers[r] = sorted(k for k in ends if k in self.shared)
            ends -= set(answers[r])
            if r == 0 and self.shared:
                ends |= self.cone(self.shared, (), 0)[1]
            for k in sorted(ends):
                needs.setdefault((self._teller(k), r), []).append(k)
        for r in everyone:
            self._member(r, needs, answers)

    def _teller(self, k: int) -> int:
        return self.masks[k].bit_length() - 1

    def _member(self, r: int, needs: dict[tuple[int, int], list[int]], answers: dict[int, list[int]]) -> None:
        me, at = self.members[r], 0
        known: dict[int, int] = {}  # value -> place on the board

        def step(targets: list[int], keep_for: list[int], then: int) -> None:
            nonlocal at
            before = dict(known)
            inside = self.cone(targets, before)[0]
            # of what is computed here: what is needed later, and is not cheap to have again
            later = self.cone(keep_for, set(before) | {k for k in inside if self._worth(k)}, r)[1]
            kept = sorted(k for k in later if k in inside and k not in targets)
            out = targets + kept
            graph = self._extract(r, out, before)
            me.steps.append(Step(graph, at, len(out), then))
            for i, k in enumerate(out):
                if k >= 0:
                    known.setdefault(k, at + i)
            at += len(out)

        def receive(parcels: list[tuple[int, list[int]]]) -> list[tuple[int, int, int]]:
            nonlocal at
            places = []
            for sender, values in parcels:
                places.append((sender, at, len(values)))
                for i, k in enumerate(values):
                    known.setdefault(k, at + i)
                at += len(values)
            return places

        final = self.targets(r, Y)
        sums = self.targets(r, CONTRIBUTIONS) if self.totals else []
        mine = sorted((q, values) for (s, q), values in needs.items() if s == r)
        sent = [k for _, values in mine for k in values]
        common = [k for q in sorted(answers) if q for k in answers[q]] if r == 0 else []
        if any(needs.values()):
            begin = at
            step(sent, sums + common + final, EXCHANGE)
            got = receive(sorted((s, values) for (s, q), values in needs.items() if q == r))
            me.parcels.append(self._parcels(r, begin, [(q, len(v)) for q, v in mine], got))
        if any(answers.values()):
            begin = at
            step(common, final, EXCHANGE)
            got = receive([(0, answers[r])] if r and answers[r] else [])
            told = [(q, len(answers[q])) for q in sorted(answers) if q and answers[q]] if r == 0 else []
            me.parcels.append(self._parcels(r, begin, told, got))
        if self.totals:
            step(sums, final, REDUCE)
            me.steps[-1] = replace(me.steps[-1], received=(at, self.totals))
            me.parcels.append([])
            self._totals_at = at
            at += self.totals
        graph = self._extract(r, final, known)
        me.steps.append(Step(graph, 0, len(final), NOTHING))
        me.parcels.append([])
        me.board = at

    def _parcels(
        self, r: int, begin: int, told: list[tuple[int, int]], got: list[tuple[int, int, int]]
    ) -> list[Parcel]:
        """What goes out and what comes in; places at the other side are its own business."""
        out, at = [], begin
        for q, length in told:
            out.append(Parcel(r, q, at, -1, length))
            at += length
        return out + [Parcel(s, r, -1, place, length) for s, place, length in got]

    def _worth(self, k: int) -> bool:
        """Whether a value is kept rather than had again: leaves and functions of parameters alone are not."""
        return not self.graph.is_leaf(k) and self.masks[k] != 0

    def _extract(self, r: int, targets: list[int], known: dict[int, int]) -> Graph:
        """The graph of some values, as a function of t, the member's x, its board, and p."""
        graph, out = self.graph, Graph()
        place = {i: n for n, i in enumerate(self.entries(r))}
        inside = self.cone(targets, known)[0]
        new: dict[int, int] = {k: out.input(BOARD, at) for k, at in known.items()}
        for k in sorted(inside):
            name, a, b = graph.name[k], graph.a[k], graph.b[k]
            if name == "const":
                new[k] = out.constant(graph.constants[a])
            elif name == "input" and a == TOTALS:
                new[k] = out.input(BOARD, self._totals_at + b)
            elif name == "input":
                new[k] = out.input(X, place[b]) if a == X else out.input(T if a == T else P_OF_STEP, b)
            else:
                new[k] = out.operate(name, *(new[i] for i in graph.operands(k)))
        out.outputs = [(0, i, new[k] if k >= 0 else out.constant(0.0)) for i, k in enumerate(targets)]
        return out.without_dead_values()
