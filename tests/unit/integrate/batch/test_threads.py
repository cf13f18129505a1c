"""Work shared out among threads: all of it once, an error that is not lost, a stop that is heard."""

import threading
import time

import numpy as np
import pytest

from closedchain.integrate.batch.threads import MOST, cores, share_out


@pytest.mark.parametrize(("number", "threads", "multiple"), [(0, 2, 1), (1, 4, 8), (103, 3, 8), (1000, 2, 1)])
def test_everything_is_done_once_in_whole_pieces(number, threads, multiple):
    done, pieces = np.zeros(number, int), []

    def work(first, last, flag):
        done[first:last] += 1
        pieces.append((first, last))

    share_out(work, number, threads, multiple=multiple)
    assert (done == 1).all()
    assert all(first % multiple == 0 and last - first <= max(MOST, multiple) for first, last in pieces)


def test_an_error_is_raised_and_the_others_end():
    def work(first, last, flag):
        if first == 0:
            raise ZeroDivisionError("piece 0")
        while not flag[0]:
            time.sleep(1e-3)

    with pytest.raises(ZeroDivisionError, match="piece 0"):
        share_out(work, 100, 2)


def test_stop_raises_the_flag():
    begun = threading.Event()

    def work(first, last, flag):
        begun.set()
        while not flag[0]:
            time.sleep(1e-3)

    share_out(work, 100, 2, stop=begun.is_set)


def test_there_is_a_core():
    assert cores() >= 1
