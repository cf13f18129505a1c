"""How ranks of an MPI job reach each other from compiled code: messages to neighbours, a reduction, a gathering.

numba-mpi finds the library, and says what its handles are; functions of MPI are called by addresses that come with the
data (`Share.talk`), not as constants of the code as numba-mpi itself has them. So the code is compiled once for all
processes, instead of for two seconds in each rank of each job. Nobody looks at what they return: the communicator of a
march ends the job at an error (`guarded.Guarded.march`).
"""

from __future__ import annotations

import ctypes
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.extending import intrinsic

from closedchain.native.jit import cfunc
from closedchain.parallel.kernels import (
    BEGIN,
    BYTES,
    GATHERED,
    LENGTH,
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

# places in `Share.talk`, after the addresses of what is below
ISEND, IRECV, WAITALL, ALLREDUCE, ALLGATHER, COMM, DOUBLE, SUM, HANDLE = range(3, 12)
STATUS = 64  # bytes, more than any MPI has for one


@intrinsic
def call_c(typingctx, address, arguments):  # type: ignore[no-untyped-def]
    """Call ``int f(...)`` at an address with integers, handles and arrays; an array is told by where its data are."""

    def generate(context, builder, signature, values):  # type: ignore[no-untyped-def]
        word = ir.IntType(64)
        given = []
        for i, kind in enumerate(signature.args[1]):
            value = builder.extract_value(values[1], i)
            if isinstance(kind, numba.types.Array):
                given.append(builder.ptrtoint(context.make_array(kind)(context, builder, value).data, word))
            else:  # where 32 bits are expected, the lower ones are read
                given.append(context.cast(builder, value, kind, numba.int64))
        function = ir.FunctionType(ir.IntType(32), [word] * len(given))
        return builder.call(builder.inttoptr(values[0], function.as_pointer()), given)

    return numba.int32(address, arguments), generate


@cfunc("void(CPointer(int64), CPointer(float64))")
def exchange(memory, board):  # type: ignore[no-untyped-def]
    """The parcels of a step."""
    (share,) = unpack(memory)
    parcels, now, mpi = share.parcels, share.numbers[NOW], share.talk
    size = mpi[HANDLE]
    requests = np.empty(parcels.shape[0] * size, np.uint8)
    open_ = 0
    for sends in range(2):  # first say what is expected
        for i in range(parcels.shape[0]):
            if parcels[i, STEP] != now or parcels[i, SENDS] != sends:
                continue
            n, peer = parcels[i, LENGTH], parcels[i, PEER]
            part = share.board[parcels[i, PLACE] : parcels[i, PLACE] + n]
            if sends == 1:
                call_c(mpi[ISEND], (part, n, mpi[DOUBLE], peer, now, mpi[COMM], requests[open_ * size :]))
                share.counts[BYTES] += 8.0 * n
                share.counts[MESSAGES] += 1.0
            else:
                call_c(mpi[IRECV], (part, n, mpi[DOUBLE], peer, now, mpi[COMM], requests[open_ * size :]))
            open_ += 1
    statuses = np.empty(open_ * STATUS, np.uint8)
    call_c(mpi[WAITALL], (open_, requests, statuses))


@cfunc("void(CPointer(int64), CPointer(float64))")
def reduce(memory, board):  # type: ignore[no-untyped-def]
    """The sums of a step."""
    (share,) = unpack(memory)
    step, mpi = share.steps[share.numbers[NOW]], share.talk
    n = step[TO_SIZE]
    mine = share.board[step[BEGIN] : step[BEGIN] + n]
    totals = share.board[step[TO] : step[TO] + n]
    call_c(mpi[ALLREDUCE], (mine, totals, n, mpi[DOUBLE], mpi[SUM], mpi[COMM]))


@cfunc("void(CPointer(int64), CPointer(float64), CPointer(float64))")
def gather(memory, mine, everyone):  # type: ignore[no-untyped-def]
    """Numbers of each member, one member after another."""
    (share,) = unpack(memory)
    mpi = share.talk
    given, taken = numba.carray(mine, GATHERED), numba.carray(everyone, share.numbers[MEMBERS] * GATHERED)
    call_c(mpi[ALLGATHER], (given, GATHERED, mpi[DOUBLE], taken, GATHERED, mpi[DOUBLE], mpi[COMM]))


def talk(comm: Any) -> tuple[int, ...]:
    """Addresses of exchange, reduce and gather, and what they need of MPI to reach the ranks of a communicator."""
    from mpi4py import MPI
    from numba_mpi.common import libmpi

    def address(name: str) -> int:
        return ctypes.cast(getattr(libmpi, name), ctypes.c_void_p).value or 0

    def handle(thing: Any) -> int:
        kind = ctypes.c_int32 if MPI._sizeof(thing) == 4 else ctypes.c_int64
        return int(kind.from_address(MPI._addressof(thing)).value)

    functions = ("MPI_Isend", "MPI_Irecv", "MPI_Waitall", "MPI_Allreduce", "MPI_Allgather")
    return (
        *(function.address for function in (exchange, reduce, gather)),
        *map(address, functions),
        *map(handle, (comm, MPI.DOUBLE, MPI.SUM)),
        MPI._sizeof(MPI.Request),
    )
