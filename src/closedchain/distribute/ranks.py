"""How ranks of an MPI job reach each other from compiled code: messages to neighbours, a reduction, a gathering."""

from __future__ import annotations

from functools import cache

import numba
import numpy as np

from closedchain.distribute.kernels import (
    BYTES,
    GATHERED,
    LENGTH,
    LENGTH_OF_TABLE,
    MEMBERS,
    MESSAGES,
    NOW,
    PEER,
    PLACE,
    SENDS,
    STEP,
    unpack,
)


@cache
def talk() -> tuple[int, ...]:
    """Addresses of exchange, reduce and gather; compiled once in a process, since addresses of MPI are part of them."""
    import numba_mpi

    @numba.cfunc("void(voidptr, CPointer(float64))")
    def exchange(table, board):  # type: ignore[no-untyped-def]
        (share,) = unpack(numba.carray(table, LENGTH_OF_TABLE, np.int64))
        parcels, now = share.parcels, share.numbers[NOW]
        requests = np.empty(parcels.shape[0], numba_mpi.RequestType)
        open_ = 0
        for sends in range(2):  # first say what is expected
            for i in range(parcels.shape[0]):
                if parcels[i, STEP] != now or parcels[i, SENDS] != sends:
                    continue
                part = share.board[parcels[i, PLACE] : parcels[i, PLACE] + parcels[i, LENGTH]]
                if sends == 1:
                    _, request = numba_mpi.isend(part, parcels[i, PEER], now)
                    share.counts[BYTES] += 8.0 * parcels[i, LENGTH]
                    share.counts[MESSAGES] += 1.0
                else:
                    _, request = numba_mpi.irecv(part, parcels[i, PEER], now)
                requests[open_] = request[0]
                open_ += 1
        numba_mpi.waitall(requests[:open_])

    @numba.cfunc("void(voidptr, CPointer(float64))")
    def reduce(table, board):  # type: ignore[no-untyped-def]
        (share,) = unpack(numba.carray(table, LENGTH_OF_TABLE, np.int64))
        i = share.numbers[NOW]
        n = share.to_length[i]
        mine = share.board[share.begin[i] : share.begin[i] + n]
        numba_mpi.allreduce(mine, share.board[share.to[i] : share.to[i] + n], numba_mpi.Operator.SUM)

    @numba.cfunc("void(voidptr, CPointer(float64), CPointer(float64))")
    def gather(table, mine, everyone):  # type: ignore[no-untyped-def]
        (share,) = unpack(numba.carray(table, LENGTH_OF_TABLE, np.int64))
        n = share.numbers[MEMBERS]
        numba_mpi.allgather(numba.carray(mine, GATHERED), numba.carray(everyone, n * GATHERED), GATHERED)

    made = (exchange, reduce, gather)
    _kept.extend(made)
    return tuple(function.address or 0 for function in made)


_kept: list[object] = []
