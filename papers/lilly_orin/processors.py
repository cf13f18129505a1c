"""Section V: m chains on m processors, O(N) + O(log m)."""

from __future__ import annotations

from functools import cache
from math import ceil, log2

from benchmarks.teams import Case, Plan, plan
from closedchain.parallel.kernels import REDUCE
from papers.paper import Claim, Finding, Table, judged

TEAMS = ((2, 4), (3, 4), (5, 4), (2, 6), (2, 8), (2, 10))  # chains and joints: a member of the team for each chain
SUMMED = 27  # numbers of a chain in (45): the lower half of X'R, and X'P
MANY = 1024


@cache
def planned(chains: int, joints: int) -> Plan:
    """A body held by arms, cut for a team with a member for each arm; nothing is compiled."""
    return plan(Case("held", (chains, joints)), chains)


def reduced(made: Plan) -> int:
    """Numbers that are summed over all members in an evaluation."""
    last = made.rhs[-1]
    return sum(n for n, then in zip(last.bytes, last.then, strict=True) if then == REDUCE) // 8


def rounds(items: int, processors: int) -> int:
    """Rounds in which so many things are added up in pairs (recursive doubling), with so many processors."""
    count = 0
    while items > 1:
        items -= min(items // 2, processors)
        count += 1
    return count


def on_teams() -> list[Table]:
    """Exact counts of what members do."""
    rows = []
    for m, N in TEAMS:
        made = planned(m, N)
        first, last = made.rhs[0], made.rhs[-1]
        rows.append(
            (
                f"m = {m}, N = {N}",
                f"{made.alone[0]}",
                f"{sum(last.operations)}",
                f"{sum(first.operations)}",
                f"{reduced(made)}",
                f"{rounds(m, (m + 1) // 2)}",
                f"{sum(first.messages)}",
            )
        )
    columns = (
        "chains",
        "one processor",
        "a chain's member",
        "the member with the body, too",
        "numbers summed",
        "rounds",
        "messages",
    )
    note = (
        "Operations of the right-hand side by cc.OperationalSpace of a body held by m arms of N links on hard "
        "points; the messages are those that tell the arms where the body is."
    )
    return [Table(columns, rows, note)]


def doubling() -> Finding:
    """Rounds to add m chains and the reference member on (m + 1) / 2 processors."""
    late = [m for m in range(1, MANY + 1) if rounds(m + 1, max((m + 1) // 2, 1)) > log2(m) + 1]
    few = {m: rounds(m + 1, (m + 1) // 2) for m in (3, 7, 15, 63)}
    return judged(
        not late,
        {"m that take more": float(len(late))} | {f"m = {m}": float(n) for m, n in few.items()},
        "adding I_0 and what comes from m chains in pairs on (m + 1) / 2 processors takes at most log2(m) + 1 rounds "
        "of "
        f"{SUMMED} additions for every m up to {MANY}: " + ", ".join(f"{n} for m = {m}" for m, n in few.items()),
    )


def independent_of_m() -> Finding:
    """What a member does, for more chains and for more joints."""
    by_chains = {m: planned(m, N) for m, N in TEAMS if N == 4}
    by_joints = {N: planned(m, N) for m, N in TEAMS if m == 2 and N > 4}
    others = {m: {sum(work.operations) for work in made.rhs[1:]} for m, made in by_chains.items()}
    each = sum(by_chains[2].rhs[-1].operations)
    first = {m: sum(made.rhs[0].operations) for m, made in by_chains.items()}
    joint = {N: sum(made.rhs[-1].operations) for N, made in by_joints.items()}
    sums = {reduced(made) for made in (*by_chains.values(), *by_joints.values())}
    more = [first[3] - first[2], (first[5] - first[3]) / 2]
    straight = joint[10] - joint[8] == joint[8] - joint[6]
    return judged(
        all(x == {each} for x in others.values()) and sums == {SUMMED} and straight and more[0] == more[1],
        {"a chain, N = 4": float(each), "a joint": (joint[10] - joint[8]) / 2, "numbers summed": float(max(sums)),
         "for one more chain, member 0": more[0]},
        f"with a member for each chain an evaluation takes a member {each} operations (N = 4) whether there are "
        f"2, 3 or 5 chains, and {(joint[10] - joint[8]) / 2:.0f} for one more joint; {max(sums)} numbers are summed "
        f"over all, in {', '.join(str(ceil(log2(m))) for m in by_chains)} rounds. In our program the member that has "
        f"the body, too, tells each chain where its tip belongs, {more[0]:.0f} operations and a message for each "
        "chain: that is O(m), and would go away if every member computed the body's motion for itself",
    )  # fmt: skip


PARALLEL = (
    Claim(
        "recursive doubling",
        "section V",
        "the sums for a_0 take O(log2 m + 1) on (m + 1) / 2 processors",
        doubling,
    ),
    Claim(
        "a processor for each chain",
        "sections V and VI",
        "on m processors the work is O(N) + O(log2 m + 1)",
        independent_of_m,
    ),
)
