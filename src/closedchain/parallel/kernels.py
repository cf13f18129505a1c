"""What a member of a team computes, called by address as any right-hand side: its steps, and the exchanges between.

    void rhs(memory, t, x, w, dx)                    x, dx: the member's entries
    void correct(memory, t, x, w, x_plus, residual)  residual: the same for all members; see `integrate.project`
    void together(memory, values)                    sums over all members of three numbers, the largest of a fourth

The memory is that of a `Share`, the parameters w are the work vectors of the member's steps one after another
(`shares.Work`). How members reach each other is a matter of the three functions whose addresses are in `Share.talk`:

    void exchange(memory, board)                     the parcels of the step that `Share.numbers` tells
    void reduce(memory, board)                       the sums of that step
    void gather(memory, mine, all)                   GATHERED numbers of each member, one member after another

They are those of `ranks` or of `threads`.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba.extending import intrinsic

from closedchain.native.call import call
from closedchain.native.jit import cfunc
from closedchain.native.memory import inner, unpacker

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
# columns of `Share.steps`: the address of its function, `cutting.Step`, and its work vector in w
FUNCTION, BEGIN, SIZE, THEN, TO, TO_SIZE, WORK, WORK_END = range(8)


class Share(NamedTuple):
    """Everything of one member.

    Attributes
    ----------
    numbers, talk, counts : see the constants of this module.
    steps : (steps, 8) see the constants.
    parcels : (n, 6) see the constants; to send and to receive.
    board, out, all : workspace.
    tickets, posts : (members, 8), (members, 2, n) what threads meet by; empty for ranks.
    """

    numbers: np.ndarray
    talk: np.ndarray
    counts: np.ndarray
    steps: np.ndarray
    parcels: np.ndarray
    board: np.ndarray
    out: np.ndarray
    all: np.ndarray
    tickets: np.ndarray
    posts: np.ndarray


_I1, _I2, _F1, _F3 = numba.int64[::1], numba.int64[:, ::1], numba.float64[::1], numba.float64[:, :, ::1]
ShareType = numba.types.NamedTuple((_I1, _I1, _F1, _I2, _I2, _F1, _F1, _F1, _I2, _F3), Share)
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
def evaluate(share, memory, clock, x, w, y):
    """All steps of a member."""
    n, steps, counts = share.numbers, share.steps, share.counts
    begun, waited = cycles(), counts[WAITING]
    counts[TIME] = clock[0]
    for i in range(n[STEPS]):
        own = w[steps[i, WORK] : steps[i, WORK_END]]
        if steps[i, THEN] == NOTHING:
            call(steps[i, FUNCTION], clock, x, share.board, own, y)
            break
        out = share.board[steps[i, BEGIN] : steps[i, BEGIN] + steps[i, SIZE]]
        call(steps[i, FUNCTION], clock, x, share.board, own, out)
        n[NOW] = i
        left = cycles()
        counts[TALKING] = 1.0
        if steps[i, THEN] == EXCHANGE:
            call(share.talk[TO_EXCHANGE], memory, share.board)
            counts[EXCHANGES] += 1.0
        else:
            call(share.talk[TO_REDUCE], memory, share.board)
            counts[REDUCTIONS] += 1.0
            counts[BYTES] += 8.0 * steps[i, TO_SIZE]
        counts[TALKING] = 0.0
        counts[WAITING] += cycles() - left
    counts[COMPUTING] += cycles() - begun - (counts[WAITING] - waited)
    counts[EVALUATIONS] += 1.0


@inner
def gathered(share, memory, values):
    """GATHERED numbers of each member, one member after another."""
    left = cycles()
    share.counts[TALKING] = 1.0
    call(share.talk[TO_GATHER], memory, values, share.all)
    share.counts[TALKING] = 0.0
    share.counts[WAITING] += cycles() - left
    share.counts[GATHERINGS] += 1.0
    share.counts[BYTES] += 8.0 * GATHERED
    return share.all


@cfunc("void(CPointer(int64), CPointer(float64), CPointer(float64), CPointer(float64), CPointer(float64))")
def rhs(memory, clock, x, w, dx):  # type: ignore[no-untyped-def]
    """Rates of a member's entries of the state."""
    (share,) = unpack(memory)
    n, works = share.numbers, numba.carray(w, share.steps[-1, WORK_END])
    evaluate(share, memory, numba.carray(clock, 1), numba.carray(x, n[N_X]), works, numba.carray(dx, n[N_Y]))


@cfunc("void(CPointer(int64), " + ", ".join(["CPointer(float64)"] * 5) + ")")
def correct(memory, clock, x, w, x_plus, residual):  # type: ignore[no-untyped-def]
    """One Newton step of a member's entries, and residuals that are the same for all."""
    (share,) = unpack(memory)
    n_x, out = share.numbers[N_X], share.out
    before, after, told = numba.carray(x, n_x), numba.carray(x_plus, n_x), numba.carray(residual, 4)
    evaluate(share, memory, numba.carray(clock, 1), before, numba.carray(w, share.steps[-1, WORK_END]), out)
    mine = np.zeros(GATHERED)
    for i in range(n_x):
        after[i] = out[i]
        if not np.isfinite(out[i]):
            mine[3] = 1.0
        if out[i] != before[i]:
            mine[4] = 1.0
    for i in range(3):
        mine[i] = out[n_x + i]
    everyone = gathered(share, memory, mine)
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


@cfunc("void(CPointer(int64), CPointer(float64))")
def together(memory, values):  # type: ignore[no-untyped-def]
    """Sums of three numbers over all members, and the largest of a fourth; the same bits for each of them."""
    (share,) = unpack(memory)
    v = numba.carray(values, 4)
    mine = np.zeros(GATHERED)
    for i in range(4):
        mine[i] = v[i]
    everyone = gathered(share, memory, mine)
    for i in range(3):
        v[i] = 0.0
    for r in range(share.numbers[MEMBERS]):
        at = r * GATHERED
        for i in range(3):
            v[i] += everyone[at + i]
        v[3] = max(v[3], everyone[at + 3])
