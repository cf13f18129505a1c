"""What a member of a team computes, called by address as any right-hand side: its steps, and the exchanges between.

    void rhs(t, x, table, dx)                        x, dx: the member's entries
    void correct(t, x, table, x_plus, residual)      residual: the same for all members; see `integrate.project`
    void together(table, values)                     sums over all members of three numbers, the largest of a fourth

How members reach each other is a matter of the three functions whose addresses are in the table (`Share.talk`):

    void exchange(table, board)                      the parcels of the step that `Share.numbers` tells
    void reduce(table, board)                        the sums of that step
    void gather(table, mine, all)                    GATHERED numbers of each member, one member after another

They are those of `ranks` or of `threads`.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba.extending import intrinsic

from closedchain.native.call import call2, call3, call5
from closedchain.native.jit import cfunc
from closedchain.native.memory import inner, table_of, unpacker

EXCHANGE, REDUCE, NOTHING = range(3)  # what follows a step
GATHERED = 5
# places in `Share.numbers`
N_X, N_Y, STEPS, MEMBERS, ME, NOW = range(6)
NUMBERS = 6
# places in `Share.talk`: addresses of functions
TO_EXCHANGE, TO_REDUCE, TO_GATHER = range(3)
# places in `Share.counts`; waiting and computing are in cycles of the processor's clock, TIME is that of the mechanism,
# and TALKING is 1 while a member waits for others
BYTES, MESSAGES, EXCHANGES, REDUCTIONS, GATHERINGS, WAITING, COMPUTING, EVALUATIONS, TIME, TALKING = range(10)
COUNTS = 10
# columns of `Share.parcels`
STEP, PEER, SENDS, PLACE, LENGTH, FROM = range(6)


class Share(NamedTuple):
    """Everything of one member.

    Attributes
    ----------
    numbers, talk, counts : see the constants of this module.
    functions : (steps,) addresses.
    begin, length, then, to, to_length : (steps,) see `cutting.Step`.
    works, works_at : work vectors of the steps one after another, and where each begins.
    parcels : (n, 6) see the constants; to send and to receive.
    board, out, all : workspace.
    tickets, posts : (members, 8), (members, 2, n) what threads meet by; empty for ranks.
    """

    numbers: np.ndarray
    talk: np.ndarray
    counts: np.ndarray
    functions: np.ndarray
    begin: np.ndarray
    length: np.ndarray
    then: np.ndarray
    to: np.ndarray
    to_length: np.ndarray
    works: np.ndarray
    works_at: np.ndarray
    parcels: np.ndarray
    board: np.ndarray
    out: np.ndarray
    all: np.ndarray
    tickets: np.ndarray
    posts: np.ndarray


_I1, _I2, _F1, _F3 = numba.int64[::1], numba.int64[:, ::1], numba.float64[::1], numba.float64[:, :, ::1]
ShareType = numba.types.NamedTuple(
    (_I1, _I1, _F1, _I1, _I1, _I1, _I1, _I1, _I1, _F1, _I1, _I2, _F1, _F1, _F1, _I2, _F3), Share
)
LENGTH_OF_TABLE = table_of((ShareType,))
unpack = unpacker(ShareType)


@intrinsic
def cycles(typingctx):  # type: ignore[no-untyped-def]
    """The processor's clock."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        kind = ir.FunctionType(ir.IntType(64), [])
        function = builder.module.declare_intrinsic("llvm.readcyclecounter", (), kind)
        return builder.uitofp(builder.call(function, []), ir.DoubleType())

    return numba.float64(), generate


@inner
def evaluate(share, table, clock, x, y):
    """All steps of a member."""
    n, counts = share.numbers, share.counts
    begun, waited = cycles(), counts[WAITING]
    counts[TIME] = clock[0]
    for i in range(n[STEPS]):
        w = share.works[share.works_at[i] : share.works_at[i + 1]]
        if share.then[i] == NOTHING:
            call5(share.functions[i], clock, x, share.board, w, y)
            break
        out = share.board[share.begin[i] : share.begin[i] + share.length[i]]
        call5(share.functions[i], clock, x, share.board, w, out)
        n[NOW] = i
        left = cycles()
        counts[TALKING] = 1.0
        if share.then[i] == EXCHANGE:
            call2(share.talk[TO_EXCHANGE], table, share.board)
            counts[EXCHANGES] += 1.0
        else:
            call2(share.talk[TO_REDUCE], table, share.board)
            counts[REDUCTIONS] += 1.0
            counts[BYTES] += 8.0 * share.to_length[i]
        counts[TALKING] = 0.0
        counts[WAITING] += cycles() - left
    counts[COMPUTING] += cycles() - begun - (counts[WAITING] - waited)
    counts[EVALUATIONS] += 1.0


@inner
def gathered(share, table, values):
    """GATHERED numbers of each member, one member after another."""
    left = cycles()
    share.counts[TALKING] = 1.0
    call3(share.talk[TO_GATHER], table, values, share.all)
    share.counts[TALKING] = 0.0
    share.counts[WAITING] += cycles() - left
    share.counts[GATHERINGS] += 1.0
    share.counts[BYTES] += 8.0 * GATHERED
    return share.all


@cfunc("void(CPointer(float64), CPointer(float64), voidptr, CPointer(float64))")
def rhs(clock, x, table, dx):  # type: ignore[no-untyped-def]
    """Rates of a member's entries of the state."""
    (share,) = unpack(numba.carray(table, LENGTH_OF_TABLE, np.int64))
    n = share.numbers
    same = numba.carray(table, LENGTH_OF_TABLE, np.float64)
    evaluate(share, same, numba.carray(clock, 1), numba.carray(x, n[N_X]), numba.carray(dx, n[N_Y]))


@cfunc("void(CPointer(float64), CPointer(float64), voidptr, CPointer(float64), CPointer(float64))")
def correct(clock, x, table, x_plus, residual):  # type: ignore[no-untyped-def]
    """One Newton step of a member's entries, and residuals that are the same for all."""
    (share,) = unpack(numba.carray(table, LENGTH_OF_TABLE, np.int64))
    n_x, out = share.numbers[N_X], share.out
    same = numba.carray(table, LENGTH_OF_TABLE, np.float64)
    before, after, told = numba.carray(x, n_x), numba.carray(x_plus, n_x), numba.carray(residual, 4)
    evaluate(share, same, numba.carray(clock, 1), before, out)
    mine = np.zeros(GATHERED)
    for i in range(n_x):
        after[i] = out[i]
        if not np.isfinite(out[i]):
            mine[3] = 1.0
        if out[i] != before[i]:
            mine[4] = 1.0
    for i in range(3):
        mine[i] = out[n_x + i]
    everyone = gathered(share, same, mine)
    for i in range(3):
        told[i] = everyone[i]
    told[3] = 0.0
    broken = False
    for r in range(share.numbers[MEMBERS]):
        at = r * GATHERED
        for i in range(2):
            if everyone[at + i] > told[i] or np.isnan(everyone[at + i]):  # what is not a number stays
                told[i] = everyone[at + i]
        if everyone[at + 2] < told[2]:
            told[2] = everyone[at + 2]
        broken = broken or everyone[at + 3] != 0.0
        if everyone[at + 4] != 0.0:
            told[3] = 1.0
    if broken:
        after[0] = np.nan


@cfunc("void(voidptr, CPointer(float64))")
def together(table, values):  # type: ignore[no-untyped-def]
    """Sums of three numbers over all members, and the largest of a fourth; the same bits for each of them."""
    (share,) = unpack(numba.carray(table, LENGTH_OF_TABLE, np.int64))
    v = numba.carray(values, 4)
    mine = np.zeros(GATHERED)
    for i in range(4):
        mine[i] = v[i]
    everyone = gathered(share, numba.carray(table, LENGTH_OF_TABLE, np.float64), mine)
    for i in range(3):
        v[i] = 0.0
    for r in range(share.numbers[MEMBERS]):
        at = r * GATHERED
        for i in range(3):
            v[i] += everyone[at + i]
        v[3] = max(v[3], everyone[at + 3])
