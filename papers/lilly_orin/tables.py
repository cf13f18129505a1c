"""Tables 2 and 3, and how operations grow with joints and chains (sections III, V and VI)."""

from __future__ import annotations

from functools import cache

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator, ScalarFormatter

import closedchain as cc
from benchmarks.growth import arms, operations
from papers.lilly_orin import counts
from papers.lilly_orin.counts import ROWS, Work
from papers.paper import CORRECTED, FAILS, HOLDS, Claim, Finding, Table, judged
from papers.plots import legend, panels

N, N_C, M = 6, 3, 3  # the paper's example
PAIR = 2  # chains whose joints grow in number
PRINTED_2 = {
    "q''_open, x''_open": Work(1318, 1153), "Omega, Lambda_inv": Work(1779, 1392), "P, R": Work(105, 71),
    "X'P, X'R": Work(128, 84), "f": Work(36, 36), "q''": Work(36, 36),
}  # fmt: skip
TOTAL_2, PRINTED_3 = Work(3402, 2772), Work(86, 152)
LENGTHS = (6, 7, 9)  # joints: from the fourth on each link has all velocities a link can have
LONG = (4, 6, 8, 10, 12, 24)  # for step 1 by two ways
LONGER = 48  # by the polynomials that hit all counts
CHAINS = (2, 3, 4)
WORTH = 0.1  # of the operations: less is no significant improvement
NEAR = 0.1  # of a row of Table 2: another order of the same recursion
EXACT = 1e-6  # of a count: a polynomial that should hit whole numbers


def total(rows: dict[str, Work]) -> Work:
    """Of all rows."""
    return Work(*(sum(getattr(x, kind) for x in rows.values()) for kind in ("mul", "add", "div")))


# ---- Table 2 ---------------------------------------------------------------------------------------------------------


def table_2() -> list[Table]:
    """The paper's numbers beside exact counts."""
    found = []
    for N_, n_c in ((N, N_C), (N, 6), (12, 6)):
        paper, ours = counts.table_2(N_, n_c), counts.ours_2(N_, n_c)
        rows = [_row(name, paper[name], ours[name]) for name in ROWS]
        rows.append(_row("total", counts.total_2(N_, n_c), total(ours)))
        note = (
            "Ours: what a row adds to the rows before, for the same general chain and quantities, with the library's "
            "recursions; x''_open is counted with the second row, whose unit forces give it."
            if n_c == N_C
            else ""
        )
        columns = (f"N = {N_}, n_c = {n_c}", "mult., paper", "mult., ours", "add., paper", "add., ours", "div., ours")
        found.append(Table(columns, rows, note))
    return found


def _row(name: str, paper: Work, ours: Work) -> tuple[str, ...]:
    return (name, f"{paper.mul}", f"{ours.mul}", f"{paper.add}", f"{ours.add}", f"{ours.div}")


def arithmetic_2() -> Finding:
    """Formulas at N = 6, n_c = 3, the sums of rows, and the printed total as a formula."""
    rows = counts.table_2(N, N_C)
    wrong = sum(rows[name] != PRINTED_2[name] for name in ROWS)
    sums = sum(total(counts.table_2(a, b)) != counts.total_2(a, b) for a in (1, 3, 6, 12, 50) for b in range(1, 7))
    whole = total(rows)
    return judged(
        wrong == 0 and sums == 0 and whole == TOTAL_2,
        {
            "rows that differ": float(wrong),
            "sums that differ": float(sums),
            "mult.": float(whole.mul),
            "add.": float(whole.add),
        },
        f"all six formulas give the printed numbers at N = 6, n_c = 3 ({whole.mul} multiplications and {whole.add} "
        "additions in all), and the formula of the total is the sum of the rows for every N and n_c that we tried",
    )


def rows_2() -> Finding:
    """Exact counts of the same quantities; n_c = 3 and 6."""
    numbers: dict[str, float] = {}
    fewer, excess, most = True, 0.0, ""
    for N_, n_c in ((N, N_C), (N, 6), (12, 6)):
        paper, ours = counts.table_2(N_, n_c), counts.ours_2(N_, n_c)
        for kind in ("mul", "add"):
            mine, theirs = (getattr(total(x), kind) for x in (ours, paper))
            fewer = fewer and mine <= theirs
            numbers |= {
                f"N = {N_}, n_c = {n_c}, {kind}": float(mine),
                f"N = {N_}, n_c = {n_c}, {kind}, paper": float(theirs),
            }
            for row in ROWS:
                more = getattr(ours[row], kind) / getattr(paper[row], kind) - 1
                if more > excess:
                    excess, most = more, f"{row} at N = {N_}, n_c = {n_c}"
    ours, paper = total(counts.ours_2(N, N_C)), TOTAL_2
    return judged(
        fewer and excess < NEAR,
        numbers | {"largest excess of a row": excess},
        f"the same quantities of the same general chain take us {ours.mul} multiplications and {ours.add} additions "
        f"where the paper has {paper.mul} and {paper.add} (N = 6, n_c = 3), and fewer in all with N = 12 and n_c = "
        f"6, too; a single row takes us at most {100 * excess:.0f} % more than it says ({most or 'none'}). "
        "Sines, cosines and a division for each joint and each locked direction "
        "come on top of both",
    )


# ---- Table 3 ---------------------------------------------------------------------------------------------------------


def table_3() -> list[Table]:
    """The system for a_0."""
    rows = []
    for m in (1, 3, 6):
        paper, ours = counts.table_3(m), counts.ours_3(m)
        rows.append((f"m = {m}", f"{paper.mul}", f"{ours.mul}", f"{paper.add}", f"{ours.add}", f"{ours.div}"))
    columns = ("a_0", "mult., paper", "mult., ours", "add., paper", "add., ours", "div., ours")
    note = "Ours: sums of the lower halves of X'R and of X'P, and L D L' of the sum, with one right side."
    return [Table(columns, rows, note)]


def row_3() -> Finding:
    """27 m + 71 and 86 from the elimination of a symmetric matrix, and counted."""
    solve = counts.elimination(6)
    derived = {m: Work(solve.mul, solve.add + 27 * m + 6) for m in (1, 3, 6)}
    same = all((derived[m].mul, derived[m].add) == (counts.table_3(m).mul, counts.table_3(m).add) for m in derived)
    counted = {m: counts.ours_3(m) for m in derived}
    near = all(
        x.add == counts.table_3(m).add and x.mul + x.div <= counts.table_3(m).mul + 6 for m, x in counted.items()
    )
    chain, machine = total(counts.table_2(N, N_C)), counts.table_3(M)
    whole = Work(M * chain.mul + machine.mul, M * chain.add + machine.add)
    return judged(
        same and near and counts.table_3(M) == PRINTED_3,
        {"mult.": float(solve.mul), "add.": float(solve.add), "ours, mult.": float(counted[M].mul),
         "ours, add.": float(counted[M].add), "ours, div.": float(counted[M].div),
         "machine, mult.": float(whole.mul), "machine, add.": float(whole.add)},
        f"L D L' of six equations with one right side takes {solve.mul} multiplications and {solve.add} additions, "
        f"the sums 27 for each chain and 6 more: the printed row. Counted: {counted[M].mul} and {counted[M].add} "
        f"with m = 3, and {counted[M].div} divisions, which the paper leaves out. A machine of three chains needs "
        f"{whole.mul} and {whole.add}",
    )  # fmt: skip


# ---- growth ----------------------------------------------------------------------------------------------------------


@cache
def machine_operations(chains: int, joints: int) -> int:
    """Of the whole right-hand side under ``OperationalSpace``, with sines, X, b_0, zeta and all."""
    return operations(arms(chains, joints), cc.OperationalSpace()).total


def per_more(sizes: tuple[int, ...], values: list[int]) -> np.ndarray:
    """What one more costs."""
    return np.diff(values) / np.diff(sizes)


def published(chains: int, joints: int) -> int:
    """Multiplications and additions of Tables 2 and 3, with hard points."""
    return chains * counts.total_2(joints, N_C).both + counts.table_3(chains).both


def growth() -> list[Figure]:
    """Operations over joints and over chains."""
    figure, (left, right) = panels(
        f"{PAIR} chains of N joints", "m chains of 6 joints", x="", y=("multiplications and additions", "")
    )
    left.set_xlabel("N")
    right.set_xlabel("m")
    for ax, sizes, of in ((left, (4, *LENGTHS), lambda n: (PAIR, n)), (right, (1, *CHAINS), lambda m: (m, N))):
        pairs = [of(size) for size in sizes]
        literal = [a * total(counts.ours_2(b, N_C)).both + counts.ours_3(a).both for a, b in pairs]
        ax.plot(sizes, [published(*x) for x in pairs], "s-", label="Tables 2 and 3")
        ax.plot(sizes, literal, "o-", label="the same quantities, exact counts")
        ax.plot(sizes, [machine_operations(*x) for x in pairs], "^-", label="cc.OperationalSpace, all of it")
        ax.set_ylim(0)
        ax.set_xlim(0)
    legend(left)
    return [figure]


def linear() -> Finding:
    """O(mN): one more joint, and one more chain."""
    joint = per_more(LENGTHS, [machine_operations(PAIR, n) for n in LENGTHS]) / PAIR
    chain = per_more(CHAINS, [machine_operations(m, N) for m in CHAINS])
    in_table = per_more(LENGTHS, [total(counts.ours_2(n, N_C)).both for n in LENGTHS])
    straight = all(np.ptp(x) == 0 for x in (joint, chain, in_table))
    theirs = counts.total_2(7, N_C).both - counts.total_2(6, N_C).both
    return judged(
        straight,
        {"joint": float(joint[0]), "chain": float(chain[0]), "joint, Table 2": float(in_table[0]),
         "joint, paper": float(theirs)},
        f"exactly: one more joint of a chain costs {joint[0]:.0f} operations from {LENGTHS[0]} joints to "
        f"{LENGTHS[-1]}, one more chain of six joints {chain[0]:.0f} from {CHAINS[0]} chains to {CHAINS[-1]}; for "
        f"the quantities of Table 2 a joint costs {in_table[0]:.0f}, in the paper {theirs}",
    )  # fmt: skip


@cache
def crossing() -> tuple[int, dict[int, tuple[int, int]], float]:
    """From how many joints on the recursion takes fewer operations than the inertia matrix; both, by N; and their ratio
    in a chain that is longer than those that are traced.
    """
    found = {n: (counts.step_1(n, True).both, counts.step_1(n, False).both) for n in LONG}
    some = [n for n in LONG if n >= LENGTHS[0]]
    line = np.polynomial.Polynomial.fit(some, [found[n][0] for n in some], 1)
    cubic = np.polynomial.Polynomial.fit(some, [found[n][1] for n in some], 3)
    for fit, k in ((line, 0), (cubic, 1)):
        error = max(abs(fit(n) / found[n][k] - 1) for n in some)
        if error > EXACT:
            raise ValueError(f"operations are no polynomial of the joints: off by {error}")
    return next(n for n in range(2, 200) if line(n) < cubic(n)), found, float(line(LONGER) / cubic(LONGER))


def two_ways() -> list[Figure]:
    """Step 1 by recursion and by the inertia matrix."""
    first, found, _ = crossing()
    figure, (ax,) = panels(
        "q''_open, x''_open, Omega and Lambda_inv of a chain", x="N", y="multiplications and additions"
    )
    figure.set_size_inches(5.6, 3.6)
    paper = [sum(counts.table_2(n, N_C)[name].both for name in ROWS[:2]) for n in found]
    ax.loglog(list(found), paper, "s-", label="Table 2, rows 1 and 2")
    ax.loglog(list(found), [x[0] for x in found.values()], "o-", label="by recursion, exact counts")
    ax.loglog(list(found), [x[1] for x in found.values()], "^-", label="by the inertia matrix, exact counts")
    ax.axvline(first, color="#9a9a9a", lw=0.8, ls="--", label=f"N = {first}")
    ax.set_xticks(LONG)
    ax.xaxis.set_major_formatter(ScalarFormatter())
    ax.xaxis.set_minor_locator(NullLocator())
    legend(ax)
    return [figure]


def best_from_six() -> Finding:
    """Where the recursion begins to be cheaper."""
    first, found, last = crossing()
    at = {n: found[n][0] / found[n][1] for n in (6, 12, 24)} | {LONGER: last}
    return judged(
        first <= N,
        {"from N": float(first)} | {f"ratio, N = {n}": x for n, x in at.items()},
        f"the recursion takes {at[6]:.2f} times the operations of the way by the inertia matrix (composite bodies, L "
        f"D L', Jacobian) at N = 6, {at[12]:.2f} times at 12, {at[24]:.2f} times at 24 and {last:.2f} times at "
        f"{LONGER}: it is the cheaper one from N = {first} on, with counts of the best that we can write of both",
        otherwise=CORRECTED if last < 1 else FAILS,
    )


def improvement() -> Finding:
    """Linear growth against the inertia matrix, whose work has a cubic part."""
    first, found, at_last = crossing()
    at_six = found[N][0] / found[N][1]
    holds = at_six < 1 - WORTH
    late = at_last < 1 - WORTH
    return Finding(
        HOLDS if holds else CORRECTED if late else FAILS,
        {"N = 6": at_six, f"N = {LONGER}": at_last, "from N": float(first)},
        f"it is for long chains: at N = {LONGER} step 1 takes {100 * (1 - at_last):.0f} % fewer operations than by "
        "the inertia matrix, and the ratio grows with N squared; at N = 6, the paper's example, "
        f"{100 * (at_six - 1):.0f} % more, and up to N = {first - 1} the inertia matrix is the better choice. (The "
        "algorithm of [1] itself is not at hand: we compare with a careful inertia matrix)",
    )


SECTION_3 = (
    Claim(
        "best from six joints",
        "section III",
        "the O(N) recursion for Omega and Lambda_inv is the most efficient one for N of six or more",
        best_from_six,
    ),
)
TABLE_2 = (
    Claim(
        "arithmetic of Table 2",
        "Table 2",
        "a chain with N = 6, n_c = 3 takes 3402 multiplications and 2772 additions",
        arithmetic_2,
    ),
    Claim(
        "rows of Table 2",
        "Table 2",
        "the quantities of Table 1 take 656 N - 767 + ... multiplications and 546 N - 659 + ... additions for each "
        "chain",
        rows_2,
    ),
)
TABLE_3 = (Claim("row of Table 3", "Table 3", "a_0 takes 86 multiplications and 27 m + 71 additions", row_3),)
SECTION_5 = (Claim("O(mN)", "sections V and VI", "on one processor the work is O(mN)", linear),)
CONCLUSION = (
    Claim(
        "significant improvement",
        "section VI",
        "to be linear in N is a great advance on earlier algorithms",
        improvement,
    ),
)
