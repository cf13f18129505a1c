"""Work shared out among threads: all of it once, an error that is not lost, a stop that is heard."""

import threading
import time

import numpy as np
import pytest

from closedchain.integrate.batch.threads import MOST, cores, share_out


@pytest.mark.parametrize(("number", "threads", "multiple"), [(0, 2, 1), (1, 4, 8), (103, 3, 8), (1000, 2, 1)])
def test_everything_is_done_once_in_whole_pieces(number, threads, multiple):
    done, pieces = np.zeros(number, int), []

    def work(piece):
        done[piece.first : piece.last] += 1
        pieces.append(piece)

    share_out(work, number, threads, multiple=multiple)
    assert (done == 1).all()
    assert all(x.first % multiple == 0 and x.last - x.first <= max(MOST, multiple) for x in pieces)


def test_an_error_is_raised_and_the_others_end():
    def work(piece):
        if piece.first == 0:
            raise ZeroDivisionError("piece 0")
        while not piece.flag[0]:
            time.sleep(1e-3)

    with pytest.raises(ZeroDivisionError, match="piece 0"):
        share_out(work, 100, 2)


def test_stop_raises_the_flag():
    begun = threading.Event()

    def work(piece):
        begun.set()
        while not piece.flag[0]:
            time.sleep(1e-3)

    share_out(work, 100, 2, stop=begun.is_set)


def test_there_is_a_core():
    assert cores() >= 1
