"""Section 5: the linkage divided into two chains, and what their processors tell each other; Figures 1, 2 and 3."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import casadi as ca
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

import closedchain as cc
from closedchain.march.program.compiled import compiled, operations
from papers import plots
from papers.khan_krovi import two_ranks
from papers.khan_krovi.equations import DYNAMICS, OURS, REDUCTION
from papers.khan_krovi.runs import four_bar, projection, springs
from papers.paper import CORRECTED, FAILS, HOLDS, Claim, Exhibit, Finding, Table, judged

METHODS = {"A, compliance": springs(1e6), "B, projection": projection(10.0)}
# rounding, magnified by half a second of springs, or by two seconds of a crank that speeds up
SAME = 1e-8
EVENLY = 1.5  # times as fast: half of the way from one processor to two that share evenly
LEFT, RIGHT = plots.COLOURS[0], plots.COLOURS[1]


@dataclass(frozen=True)
class Member:
    """What a processor does in one evaluation: bodies, state entries, operations, numbers sent by message, reduced."""

    bodies: tuple[str, ...]
    state: int
    operations: int
    sent: tuple[int, ...]
    reduced: int


@cache
def members(method, closing: str = "everyone", name: str = "four-bar", number: int = 2) -> tuple[Member, ...]:
    """A mechanism's limbs on so many processors: counted from the cut equations; nothing is run."""
    m = four_bar() if name == "four-bar" else cc.library.get(name).build()
    program = compiled(m.assemble(), method, native=False)
    parts = cc.Threads(number, closing=closing).cut(program)
    top = program.equations.topology
    bodies = [tuple(link.body.name for link in limb) for limb in top.limbs]
    found = []
    for member in parts.rhs.members:
        mine = [limb for limb, owner in zip(bodies, parts.member_of, strict=True) if owner == member.number]
        sent = [p.length for parcels in member.parcels for p in parcels if p.sender == member.number]
        found.append(Member(tuple(sum(mine, ())), len(member.x), member.operations, tuple(sent), parts.rhs.totals))
    return tuple(found)


def alone(method) -> int:
    """Operations of an evaluation in one process."""
    return operations(four_bar().assemble(), method)["total"]


# ---- figures ---------------------------------------------------------------------------------------------------------


def points(theta: float, alpha: float, phi: float) -> tuple[np.ndarray, np.ndarray]:
    """Joints of the left chain, and of the right one: (3, 2) and (2, 2)."""

    def along(length, angle):
        return length * np.array([np.cos(angle), np.sin(angle)])

    left = np.cumsum([np.zeros(2), along(OURS.l[0], theta), along(OURS.l[1], alpha)], axis=0)
    ground = np.array([OURS.l0, 0.0])
    return left, np.array([ground, ground + along(OURS.l[2], phi)])


def fig1() -> Sequence[Figure]:
    """The linkage at its start, divided and whole."""
    start = four_bar().assemble()
    theta, alpha, phi = start["O"], start["O"] + start["A"], start["C"]
    figure, axes = plots.panels("(a) divided", "(b) composite", x="x [m]", y="y [m]")
    for ax, opened in zip(axes, (0.25, 0.0), strict=True):
        left, right = points(theta, alpha + opened / 2, phi - opened)
        for chain, colour, name in ((left, LEFT, "left chain"), (right, RIGHT, "right chain")):
            ax.plot(*chain.T, "o-", color=colour, linewidth=2.5, ms=6, label=name)
        for place, word in ((left[:2], r"$l_1,\ \theta$"), (left[1:], r"$l_2,\ \alpha$"), (right, r"$l_3,\ \phi$")):
            ax.annotate(word, place.mean(axis=0), xytext=(6, -12), textcoords="offset points", fontsize=9)
        for at, word in ((left[0], "O"), (left[1], "A"), (right[0], "C")):
            ax.annotate(word, at, xytext=(-12, 4), textcoords="offset points", fontsize=9)
        if opened:
            ax.annotate("", right[1], left[2], arrowprops={"arrowstyle": "<->", "color": "#444444"})
            ax.annotate("C(q)", (left[2] + right[1]) / 2, xytext=(6, 0), textcoords="offset points", fontsize=9)
        else:
            ax.annotate("B", left[2], xytext=(6, 4), textcoords="offset points", fontsize=9)
        ax.plot([0, OURS.l0], [0, 0], "^", color="#444444", ms=9, zorder=0)
        ax.set_aspect("equal")
        ax.set_xlim(-0.6, 5.2)
        ax.set_ylim(-0.4, 3.4)
    axes[0].legend(fontsize=8, frameon=False, loc="upper left")
    return [figure]


def diagram(ax: Axes, method, closing: str) -> None:
    """Processors as boxes, with what they own and send."""
    ax.set_axis_off()
    ax.set_xlim(0, 10)
    ax.set_ylim(0.3, 5.4)
    found = members(method, closing)
    for k, (member, colour) in enumerate(zip(found, (LEFT, RIGHT), strict=True)):
        x = 0.2 + 6.4 * k
        ax.add_patch(FancyBboxPatch((x, 1.4), 3.2, 3.6, boxstyle="round,pad=0.1", fill=False, edgecolor=colour, lw=1.6))
        master = closing == "master" and k == 0
        words = [
            f"processor {'AB'[k]}" + (" (master)" if master else ""),
            ", ".join(member.bodies),
            f"{member.state} state entries",
            f"{member.operations} operations",
        ]
        for i, word in enumerate(words):
            weight = "bold" if i == 0 else "normal"
            ax.text(x + 1.6, 4.6 - 0.85 * i, word, ha="center", va="center", fontsize=8, weight=weight)
        arrow = {"arrowstyle": "->", "color": colour, "lw": 1.6}
        y = 3.9 - 1.2 * k
        begin, end = ((3.6, y), (6.4, y)) if k == 0 else ((6.4, y), (3.6, y))
        ax.annotate("", end, begin, arrowprops=arrow)
        told = " + ".join(map(str, member.sent)) or "0"
        ax.text(5.0, y + 0.12, f"{told} numbers", ha="center", va="bottom", fontsize=8, color=colour)
    if found[0].reduced:
        ax.text(5.0, 0.7, f"sum over both: {found[0].reduced} numbers", ha="center", va="center", fontsize=8)


def blocks(name: str, *closings: str) -> Figure:
    """A diagram for each way of closing."""
    titles = {"everyone": "each computes what both need", "master": "a master computes what both need"}
    figure, axes = plots.panels(*(titles[x] for x in closings), x="", y="")
    for ax, closing in zip(axes, closings, strict=True):
        diagram(ax, METHODS[name], closing)
    return figure


def counts(name: str) -> Table:
    """What is computed and sent in one evaluation."""
    rows = []
    for closing in two_ranks.CLOSINGS:
        for k, member in enumerate(members(METHODS[name], closing)):
            rows.append(
                [
                    closing,
                    f"{'AB'[k]}: {', '.join(member.bodies)}",
                    f"{member.state}",
                    f"{member.operations}",
                    " + ".join(map(str, member.sent)) or "0",
                    f"{member.reduced}",
                ]
            )
    rows.append(["one processor", "all", "", f"{alone(METHODS[name])}", "0", "0"])
    return Table(
        ["common parts by", "processor", "state entries", "operations", "numbers sent", "numbers summed"],
        rows,
        f"For one evaluation of the rates by method {name}; entries of the state include a counter of turns at the cut "
        "joint and the work of the motor, which the library integrates beside the motion.",
    )


def fig2() -> Sequence[Figure | Table]:
    """Method A."""
    return [blocks("A, compliance", *two_ranks.CLOSINGS), counts("A, compliance")]


def fig3() -> Sequence[Figure | Table]:
    """Method B."""
    return [blocks("B, projection", *two_ranks.CLOSINGS), counts("B, projection"), agreement()]


def agreement() -> Table:
    """Two processors against one."""
    team, found = two_ranks.on_two()
    rows = [[*name.split(", "), f"{x:.0e}"] for name, x in found.items()]
    ends = ", ".join(f"{name} {x:g} s" for name, x in two_ranks.UNTIL.items())
    return Table(
        ["method", "steps", "common parts by", "largest difference from one process"],
        rows,
        f"Two {team}; angles in rad and velocities in rad/s over {ends}.",
    )


# ---- claims ----------------------------------------------------------------------------------------------------------


def same_answer(method: str) -> tuple[str, float]:
    """What the team was, and its largest difference from one process by a method."""
    team, found = two_ranks.on_two()
    return team, max(x for name, x in found.items() if name.startswith(method))


def only_the_gap() -> Finding:
    """Springs on two processors: what is sent, and whether the answer is that of one."""
    team, off = same_answer("compliance")
    both = members(METHODS["A, compliance"])
    sent = [sum(x.sent) for x in both]
    told = [needs(METHODS["A, compliance"], x)[0] for x in (0, 1)]
    return judged(
        off < SAME and max(sent) <= 3 and told == [1, 2],
        {"sent by A": sent[0], "sent by B": sent[1], "difference": off},
        f"in an evaluation the chains tell each other {sent[0]} and {sent[1]} numbers: the place of each one's side "
        "of the cut, 2 numbers, and the coupler's turning, which only the counter of turns at the cut joint needs; no "
        f"velocity enters a force. On two {team} the motion is that of one process to {off:.0e}, with adaptive and "
        "with fixed steps",
    )


def many_parts() -> Finding:
    """Three legs of a 3-RRR on three threads, and seven limbs of a platform, counted."""
    m, method = cc.library.rrr3(), cc.VirtualSpring(1e4, 30.0)
    start = m.assemble(m.start, velocity=dict.fromkeys(("base1", "base2", "base3"), 1.0))
    options = {"start": start, "until": 0.05, "rtol": 1e-6, "method": method}
    one = cc.simulate(m, **options)
    three = cc.simulate(m, **options, partition=cc.Threads(3))
    off = max(float(np.abs(three[name] - one[name]).max()) for name in three.topology.q_labels)
    way = float(np.ptp(one["base1"].values))
    legs = {
        name: max(sum(x.sent) for x in members(method, name=name, number=n)[1:])
        for name, n in (("rrr3", 3), ("gough-stewart", 7))
    }
    # a leg tells where its end is and how fast, in the plane or in space, and the power of its motor
    return judged(
        off < SAME < 1e-3 * way and legs["rrr3"] <= 5 and legs["gough-stewart"] <= 7,
        {"3-RRR, difference [rad]": off, "3-RRR, way [rad]": way}
        | {f"{name}, sent by a leg": n for name, n in legs.items()},
        f"the motors of a 3-RRR on three threads turn by {way:.2f} rad as in one process, to {off:.0e} rad; a leg "
        f"sends {legs['rrr3']} numbers an evaluation with damped springs, one of a Gough-Stewart platform on seven "
        f"{legs['gough-stewart']}",
    )


def needs(method, member: int) -> tuple[int, int]:
    """On how many of the other's angles and velocities a processor's rates depend, and how many the other has."""
    program = compiled(four_bar().assemble(), method, native=False)
    parts = cc.Threads(2).cut(program)
    beside = {program.equations.topology.nq - 1, program.closed.x.numel() - 1}  # a counter of turns, and the work
    mine, others = ([k for k in parts.entries(r) if k not in beside] for r in (member, 1 - member))
    J = ca.jacobian(program.closed.dx, program.closed.x).sparsity()
    used = {column for row, column in zip(*J.get_triplet(), strict=True) if row in mine}
    return len(used.intersection(others)), len(others)


def complete_state() -> Finding:
    """Projection on two processors: what rates depend on, and what is sent."""
    team, off = same_answer("projection")
    (a, all_b), (b, all_a) = (needs(METHODS["B, projection"], x) for x in (0, 1))
    springs_need = needs(METHODS["A, compliance"], 1)
    both = members(METHODS["B, projection"])
    sent, reduced = [sum(x.sent) for x in both], both[0].reduced
    return judged(
        off < SAME and (a, b) == (all_b, all_a) and springs_need[0] < springs_need[1],
        {"sent by A": sent[0], "sent by B": sent[1], "summed": reduced, "difference": off, "A needs": a, "B needs": b},
        f"the rates of chain B depend on all {b} entries of chain A's state (two angles and nu), those of A on the "
        f"{a} of B; with springs they depend on {springs_need[0]} of {springs_need[1]}. The library sends {sent[0]} "
        f"and {sent[1]} numbers, results that the other then need not compute, and adds up {reduced}, S'MS and the "
        f"force on nu. On two {team} the motion is that of one process to {off:.0e}",
    )


def inverse_on_each() -> Finding:
    """Either way of closing the loop with projection."""
    team, off = same_answer("projection")
    each, master = (members(METHODS["B, projection"], x) for x in two_ranks.CLOSINGS)
    a, b = (sum(x.operations for x in y) for y in (each, master))
    return judged(
        off < SAME and b < a,
        {
            "operations, each": a,
            "operations, master": b,
            "one process": alone(METHODS["B, projection"]),
            "difference": off,
        },
        f"both arrangements give the motion of one process to {off:.0e} on two {team}; all processors together do {a} "
        f"operations an evaluation if each computes what both need, {b} with a master, and one process alone "
        f"{alone(METHODS['B, projection'])}",
    )


def load_is_shared() -> Finding:
    """The busiest processor against one that is alone; judged by operations, since clocks depend on the machine."""
    busiest = {name: max(x.operations for x in members(method)) for name, method in METHODS.items()}
    whole = {name: alone(method) for name, method in METHODS.items()}
    made = two_ranks.run("projection", "fixed", partition=cc.Threads(2)).partition
    waits = min(x.waiting / x.computing for x in made.members)
    slower = ". On two threads it is slower: they wait for each other for most of the time" if waits > 1 else ""
    told = " and ".join(f"{busiest[name]} of {whole[name]} operations by method {name[0]}" for name in METHODS)
    gain = max(whole[name] / busiest[name] for name in METHODS)
    return Finding(
        FAILS if gain <= 1 else HOLDS if gain > EVENLY else CORRECTED,
        {f"{name}: busiest": x for name, x in busiest.items()}
        | {f"{name}: one process": x for name, x in whole.items()}
        | {"waiting by computing": waits, "gain at best": gain},
        f"the busiest of two processors does {told}: the chain of two links has most of the work, and a run could be "
        f"{gain:.2f} times as fast at best{slower}",
    )


EXHIBITS = (
    Exhibit("fig1", "the four-bar, divided and composite", fig1, (DYNAMICS,)),
    Exhibit(
        "fig2",
        "method A on two processors",
        fig2,
        (
            Claim(
                "only the gap",
                "section 5.2, Figure 2",
                "with springs the chains can be simulated apart if the constraint violation is exchanged: it is the "
                "only coupling",
                only_the_gap,
            ),
            Claim(
                "many parts",
                "section 5.2",
                "method A generalises to any number of parts",
                many_parts,
            ),
        ),
    ),
    Exhibit(
        "fig3",
        "method B on two processors",
        fig3,
        (
            REDUCTION,
            Claim(
                "complete state",
                "section 5.3, Figure 3",
                "with the projection the complete state has to be exchanged",
                complete_state,
            ),
            Claim(
                "inverse on each",
                "section 5.3, Figure 3",
                "the inverse of S'MS is computed on each processor, or once by a master who tells the others",
                inverse_on_each,
            ),
            Claim(
                "load is shared",
                "sections 1 and 5",
                "both methods distribute the load of computing to the processors",
                load_is_shared,
            ),
        ),
    ),
)
