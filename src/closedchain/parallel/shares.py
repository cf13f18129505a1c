"""Which member owns which limb, and what its part of the equations is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from closedchain.arguments import suggest
from closedchain.close.formulation import Closed, Sums
from closedchain.close.parts.aims import close
from closedchain.cut.topology import Topology
from closedchain.derive.equations import Equations
from closedchain.errors import ModelError
from closedchain.lock import once
from closedchain.march.program.compiled import Compiled
from closedchain.model.derived import cached_by
from closedchain.native.function import NativeFunction, Parts, compile_parts
from closedchain.native.memory import Memory
from closedchain.native.memory_function import MemoryFunction
from closedchain.native.traced.graph import Graph
from closedchain.native.traced.trace import trace
from closedchain.parallel import kernels
from closedchain.parallel.cutting import Cutting, Member
from closedchain.parallel.kernels import COUNTS, GATHERED, NUMBERS, Share

OF_LAST = 3  # residuals, which each member has


def limb_names(topology: Topology) -> tuple[str, ...]:
    """A limb is called by the body that hangs on the ground."""
    return tuple(limb[0].body.name for limb in topology.limbs)


def limbs_of_state(e: Equations, closed: Closed) -> list[int]:
    """The limb of each entry of a state; the work, which comes last, goes with the first limb."""
    top = e.topology
    of_q, of_v = [0] * top.nq, [0] * top.nv
    for link in top.links:
        for k in range(link.q.start, max(link.q.stop, link.shape_q.stop)):
            of_q[k] = link.limb
        for k in range(link.v.start, link.shape_v.stop):
            of_v[k] = link.limb
    for counter in top.counters:  # the turns of a cut joint go with one of its bodies
        ends = (top.link_of[end.body.name] for end in (counter.joint.a, counter.joint.b))
        of_q[counter.q] = top.links[max(ends)].limb
    picked = range(top.nv) if closed.velocities is None else closed.velocities
    return [*of_q, *(of_v[k] for k in picked), 0]


@dataclass(frozen=True, eq=False)
class Traced:
    """The graphs of a formulation, with sums over limbs left open if there is a team to make them.

    Attributes
    ----------
    rhs, correct
        Graphs of the rates, and of the correction with its three residuals (None: there is none).
    limbs
        The limb of each entry of the state.
    pivot
        The smallest relative one of the correction, as a function of t, x, p.
    totals
        How many sums there are.
    size
        Entries of the state.
    cuttings
        Made so far: by the member of each limb, whether of the correction, and whether there is a master.
    """

    rhs: Graph
    correct: Graph | None
    limbs: list[int]
    pivot: ca.Function | None
    totals: int
    size: int
    cuttings: dict[tuple[tuple[int, ...], bool, bool], Cutting] = field(default_factory=dict)

    def costs(self, limbs: int, master: bool) -> list[int]:
        """Operations of each limb's part, if each had a member of its own."""
        alone = cut_for(self, range(limbs), correction=False, master=master)
        return [member.operations for member in alone.members]


@cached_by(lambda x, master: (x.equations, x.method.family, x.choice, x.by_limbs, master))
def trace_limbs(program: Compiled, master: bool) -> Traced:
    """Trace the equations of a program again, limb by limb."""
    e, m = program.equations, program.equations.topology.mechanism
    sums = Sums(len(e.topology.limbs))
    closed = program.closed if master else close(program.method, e, program.choice, sums)
    n, totals = closed.x.numel(), sums.symbols.numel()
    inputs = {"t": e.limbs.t, "x": closed.x, "p": ca.vertcat(e.limbs.p, closed.parameters), "totals": sums.symbols}
    outputs = {"y": closed.dx}
    if totals:
        outputs["parts"] = ca.vertcat(*sums.parts)
    rhs = trace(f"{m.name} right-hand side", inputs, outputs)
    correct = pivot = None
    if closed.correction is not None:
        both = ca.vertcat(*closed.correction)
        known = {k: inputs[k] for k in ("t", "x", "p")}
        correct = trace(f"{m.name} correction", known, {"y": both})
        pivot = ca.Function("pivot", list(known.values()), [closed.correction.residual[2]])
    return Traced(rhs, correct, limbs_of_state(e, closed), pivot, totals, n)


def share_out(costs: Sequence[int], members: int) -> list[int]:
    """The member of each limb: the dearest limb first, to the member that has least to do."""
    load, out = [0] * members, [0] * len(costs)
    for limb in sorted(range(len(costs)), key=lambda k: -costs[k]):
        member = min(range(members), key=lambda r: (load[r], r))
        out[limb], load[member] = member, load[member] + max(costs[limb], 1)
    order = list(dict.fromkeys(out))  # members are numbered by their first limb
    return [order.index(member) for member in out]


def given_shares(topology: Topology, groups: Sequence[Sequence[str]], members: int) -> list[int]:
    """The member of each limb as a user said it: lists of limbs, named by any of their bodies."""
    limb_of = {link.body.name: link.limb for link in topology.links}
    names = limb_names(topology)
    if len(groups) != members:
        raise ModelError(f"limbs= needs a list for each member: {members} of them, not {len(groups)}")
    out: list[int | None] = [None] * len(names)
    for member, group in enumerate(groups):
        for name in [group] if isinstance(group, str) else group:
            if name not in limb_of:
                raise ModelError(f"limbs=: there is no limb with a body {name!r}{suggest(str(name), limb_of)}")
            limb = limb_of[name]
            if out[limb] not in (None, member):
                raise ModelError(f"limbs=: the limb {names[limb]!r} is given to members {out[limb]} and {member}")
            out[limb] = member
    missing = [names[k] for k, member in enumerate(out) if member is None]
    if missing:
        raise ModelError(f"limbs=: nobody has {', '.join(map(repr, missing))}: give each limb to a member")
    for member in range(members):
        if member not in out:
            raise ModelError(f"limbs=: member {member} has no limb")
    return [member for member in out if member is not None]


def cut_for(traced: Traced, member_of: Sequence[int], correction: bool, master: bool) -> Cutting:
    """Cut one of the graphs for a team; the same team gets the same cuts."""
    key = (tuple(member_of), correction, master)
    if key not in traced.cuttings:
        traced.cuttings[key] = _cut(traced, member_of, correction, master)
    return traced.cuttings[key]


def _cut(traced: Traced, member_of: Sequence[int], correction: bool, master: bool) -> Cutting:
    owner = [member_of[limb] for limb in traced.limbs]
    members = 1 + max(member_of)
    mine = [[i for i, member in enumerate(owner) if member == r] for r in range(members)]
    if not correction:
        return Cutting(_copy(traced.rhs), owner, mine, member_of, traced.totals, master)
    assert traced.correct is not None
    last = [traced.size + i for i in range(OF_LAST)]
    return Cutting(_copy(traced.correct), owner, [entries + last for entries in mine], master=master)


def _copy(graph: Graph) -> Graph:
    return graph.reordered(list(range(len(graph))))[0]


@dataclass(eq=False)
class Work:
    """A member's part of a function, compiled: its steps, its memory, and what it counts.

    Attributes
    ----------
    functions
        One for each step.
    share
        What the kernels work on.
    memory
        Its table.
    """

    functions: list[NativeFunction]
    share: Share
    memory: Memory
    cutting: Cutting

    def prepare(self, p: np.ndarray) -> np.ndarray:
        """The work vectors of all steps at parameter values, one after another."""
        return np.concatenate([function.prepare(p) for function in self.functions])

    @once
    def rhs(self) -> MemoryFunction:
        """The member's rates: ``dx = f(t, x, w)``."""
        return MemoryFunction(kernels.rhs.address, self.memory.table, arguments=4)

    @once
    def correct(self) -> MemoryFunction:
        """The member's correction, if this is its part of one."""
        return MemoryFunction(kernels.correct.address, self.memory.table, arguments=5)

    @once
    def together(self) -> MemoryFunction:
        """What brings numbers of all members together; see `integrate.step_control.together`."""
        return MemoryFunction(kernels.together.address, self.memory.table, arguments=1)


def make_work(
    name: str,
    cutting: Cutting,
    number: int,
    n_p: int,
    talk: Sequence[int],
    meeting: tuple[np.ndarray, np.ndarray],
    counts: np.ndarray | None = None,
) -> Work:
    """A member's part, with its steps compiled; it counts in an array that others may look at."""
    me = cutting.members[number]
    functions = _functions(name, me, n_p)
    rows = []
    for i, parcels in enumerate(me.parcels):
        for parcel in parcels:
            sends = parcel.sender == number
            peer = parcel.receiver if sends else parcel.sender
            place = parcel.at_sender if sends else parcel.at_receiver
            rows.append((i, peer, int(sends), place, parcel.length, 0 if sends else _sent_from(cutting, i, parcel)))
    ends = np.cumsum([0, *(function.n_work for function in functions)]).tolist()
    steps = [
        (function.address, s.begin, s.length, s.then, *s.received, *ends[i : i + 2])
        for i, (function, s) in enumerate(zip(functions, me.steps, strict=True))
    ]
    share = Share(
        numbers=np.zeros(NUMBERS, np.int64),
        talk=np.array(talk, np.int64),
        counts=np.zeros(COUNTS) if counts is None else counts,
        steps=np.array(steps, np.int64),
        parcels=np.array(rows, np.int64).reshape(-1, 6),
        board=np.zeros(me.board),
        out=np.zeros(len(me.y)),
        all=np.zeros(GATHERED * len(cutting.members)),
        tickets=meeting[0],
        posts=meeting[1],
    )
    share.numbers[:5] = len(me.x), len(me.y), len(steps), len(cutting.members), number
    return Work(functions, share, Memory(share), cutting)


def _functions(name: str, me: Member, n_p: int) -> list[NativeFunction]:
    """The steps of a member, compiled when they are first asked for."""
    for i in range(len(me.compiled), len(me.steps)):
        shapes = {"t": (1, 1), "x": (len(me.x), 1), "board": (me.board, 1), "p": (n_p, 1)}
        made = {"out": (me.steps[i].length, 1)}
        what = f"{name}, member {me.number}, step {i}"
        me.compiled.append(compile_parts(what, Parts.of_graph(me.steps[i].graph, shapes, made, slow=("p",))))
    return me.compiled


def _sent_from(cutting: Cutting, step: int, parcel) -> int:  # type: ignore[no-untyped-def]
    """Where a parcel begins among what its sender posts."""
    sender = cutting.members[parcel.sender]
    same = next(x for x in sender.parcels[step] if x.sender == parcel.sender and x.receiver == parcel.receiver)
    return same.at_sender - sender.steps[step].begin


def widest(cutting: Cutting) -> int:
    """The most numbers that a member posts at once."""
    return max([GATHERED, *(s.length for m in cutting.members for s in m.steps)])
