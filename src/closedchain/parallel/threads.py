"""How threads of one process reach each other from compiled code: by numbers that each posts, and tickets that count.

Every exchange, reduction and gathering is a *meeting*, and all members come to all meetings in the same order. A member
posts what it has to say, raises its ticket, and waits until all tickets are as high. What was posted is overwritten two
meetings later: then all have read it, since they have come to the meeting between.

Waiting threads look at the tickets all the time, for microseconds matter; after a while they let others have the
processor between two looks.
"""

from __future__ import annotations

import numba
import numpy as np
from llvmlite import ir
from numba.extending import intrinsic

from closedchain.native.jit import cfunc
from closedchain.native.memory import inner
from closedchain.parallel.kernels import (
    BEGIN,
    BYTES,
    FROM,
    GATHERED,
    LENGTH,
    ME,
    MEMBERS,
    MESSAGES,
    NOW,
    PEER,
    PLACE,
    SENDS,
    STEP,
    TO,
    TO_SIZE,
    unpack,
)

PATIENCE = 2000  # looks at a ticket before others may have the processor
MEETINGS = 1  # column of the tickets: how many meetings a member has come to, for itself
GONE = -1  # the ticket of a member that will not come any more


@intrinsic
def look(typingctx, tickets, at):  # type: ignore[no-untyped-def]
    """A ticket as it is now, with everything that was written before it was raised."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.load_atomic(builder.gep(array.data, [arguments[1]]), "acquire", 8)

    return numba.int64(tickets, numba.int64), generate


@intrinsic
def raise_to(typingctx, tickets, at, value):  # type: ignore[no-untyped-def]
    """Raise a ticket, after everything that was written before."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        builder.store_atomic(arguments[2], builder.gep(array.data, [arguments[1]]), "release", 8)
        return context.get_dummy_value()

    return numba.void(tickets, numba.int64, numba.int64), generate


@intrinsic
def let_others(typingctx):  # type: ignore[no-untyped-def]
    """Let other threads have the processor."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        kind = ir.FunctionType(ir.IntType(32), [])
        name = "sched_yield"
        found = builder.module.globals.get(name)
        builder.call(found if found is not None else ir.Function(builder.module, kind, name), [])
        return context.get_dummy_value()

    return numba.void(), generate


@inner
def meet(share):
    """Come to the next meeting: what is posted is the row that this returns, once all have come; -1: one never will."""
    n = share.numbers
    tickets = share.tickets.ravel()
    width = share.tickets.shape[1]
    share.tickets[n[ME], MEETINGS] += 1
    number = share.tickets[n[ME], MEETINGS]
    raise_to(tickets, n[ME] * width, number)
    for r in range(n[MEMBERS]):
        looks = 0
        while True:
            ticket = look(tickets, r * width)
            if ticket >= number:
                break
            if ticket == GONE:
                return -1
            looks += 1
            if looks > PATIENCE:
                let_others()
    return number % 2


@cfunc("void(CPointer(int64), CPointer(float64))")
def exchange(memory, board):  # type: ignore[no-untyped-def]
    """The parcels of a step."""
    (share,) = unpack(memory)
    now, me = share.numbers[NOW], share.numbers[ME]
    first = share.steps[now, BEGIN]
    mine = share.posts[me, (share.tickets[me, MEETINGS] + 1) % 2]
    for i in range(share.parcels.shape[0]):
        if share.parcels[i, STEP] == now and share.parcels[i, SENDS] == 1:
            place = share.parcels[i, PLACE]
            for j in range(place, place + share.parcels[i, LENGTH]):
                mine[j - first] = share.board[j]
    row = meet(share)
    for i in range(share.parcels.shape[0]):
        if share.parcels[i, STEP] != now:
            continue
        length = share.parcels[i, LENGTH]
        if share.parcels[i, SENDS] == 1:
            share.counts[BYTES] += 8.0 * length
            share.counts[MESSAGES] += 1.0
            continue
        peer, at, place = share.parcels[i, PEER], share.parcels[i, FROM], share.parcels[i, PLACE]
        for j in range(length):
            share.board[place + j] = share.posts[peer, row, at + j] if row >= 0 else np.nan


@cfunc("void(CPointer(int64), CPointer(float64))")
def reduce(memory, board):  # type: ignore[no-untyped-def]
    """The sums of a step."""
    (share,) = unpack(memory)
    now, me = share.numbers[NOW], share.numbers[ME]
    n, first, to = share.steps[now, TO_SIZE], share.steps[now, BEGIN], share.steps[now, TO]
    mine = share.posts[me, (share.tickets[me, MEETINGS] + 1) % 2]
    for i in range(n):
        mine[i] = share.board[first + i]
    row = meet(share)
    for i in range(n):
        total = 0.0
        for r in range(share.numbers[MEMBERS]):
            total += share.posts[r, row, i] if row >= 0 else np.nan
        share.board[to + i] = total


@cfunc("void(CPointer(int64), CPointer(float64), CPointer(float64))")
def gather(memory, mine, everyone):  # type: ignore[no-untyped-def]
    """Numbers of each member, one member after another."""
    (share,) = unpack(memory)
    members, me = share.numbers[MEMBERS], share.numbers[ME]
    given, taken = numba.carray(mine, GATHERED), numba.carray(everyone, members * GATHERED)
    post = share.posts[me, (share.tickets[me, MEETINGS] + 1) % 2]
    for i in range(GATHERED):
        post[i] = given[i]
    row = meet(share)
    for r in range(members):
        for i in range(GATHERED):
            taken[r * GATHERED + i] = share.posts[r, row, i] if row >= 0 else np.nan


def talk() -> tuple[int, int, int]:
    """Addresses of exchange, reduce and gather."""
    return exchange.address, reduce.address, gather.address
