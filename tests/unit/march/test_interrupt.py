"""Ctrl-C during a run: noted at once, acted on where nothing is half done."""

import os
import signal
import threading

import numpy as np
import pytest

import closedchain as cc
from closedchain.march.interrupt import check, interrupts


def press():
    os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture(autouse=True)
def python_handles_it():
    """As in a user's program; a test runner may have a handler of its own."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_it_is_noted_and_raised_when_asked_for():
    with interrupts():
        press()
        with pytest.raises(KeyboardInterrupt):
            check()
        check()  # once
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_second_one_does_not_wait():
    def twice():
        with interrupts():
            press()
            press()

    with pytest.raises(KeyboardInterrupt):
        twice()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    check()  # nothing is left of it


def test_the_handler_of_somebody_else_is_left_alone():
    heard = []
    signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    with interrupts():
        press()
        check()
    assert heard == [signal.SIGINT]


def test_other_threads_have_no_signals():
    done = []
    thread = threading.Thread(target=lambda: done.append(cc.simulate(cc.library.pendulum(), until=0.1).complete))
    thread.start()
    thread.join()
    assert done == [True]


@pytest.mark.parametrize("moment", [3.0, 9.0, 15.0])
def test_a_run_with_much_python_in_it_is_kept(moment, tmp_path):
    """Conditions on the state are watched by CasADi, where an exception would come out as something else."""
    m = cc.library.four_bar()
    m.motor("O", torque=lambda t, q, v: cc.where(cc.sin(q["O"]) > 0.3, -4.0, 4.0))
    options = {"until": 20.0, "rtol": 1e-9, "every": 0.05, "save_to": tmp_path / "run"}
    pressed = []

    def progress(t, steps):
        if t > moment and not pressed:
            pressed.append(t)
            press()

    with pytest.warns(cc.RunWarning, match="interrupted"):
        run = cc.simulate(m, progress=progress, **options)
    assert run.status.name == "interrupted" and moment - 0.1 < run.t[-1] < 20.0
    np.testing.assert_array_equal(cc.simulate(m, **options).x, cc.simulate(m, until=20.0, rtol=1e-9, every=0.05).x)
