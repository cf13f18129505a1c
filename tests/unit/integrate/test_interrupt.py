"""Ctrl-C during a run: noted at once, acted on where nothing is half done."""

import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import closedchain as cc
from closedchain.integrate.interrupt import check, interrupts
from closedchain.progress import reported


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


def test_a_note_that_nobody_looks_at_is_raised_at_the_end():
    def unasked():
        with interrupts():
            press()

    with pytest.raises(KeyboardInterrupt):
        unasked()
    check()  # once


def test_ctrl_c_at_the_very_end_of_a_run_is_not_lost():
    """A loop over many short runs must end, wherever Ctrl-C falls; the run is there."""
    seen = []

    def progress(t, steps):
        seen.append(t)
        if t == 0.1:  # the last look at the run
            press()

    with reported(progress), pytest.raises(cc.Interrupted, match="interrupted when it had reached its end") as caught:
        cc.simulate(cc.library.pendulum(), until=0.1)
    assert seen[-1] == 0.1 and caught.value.run.complete and caught.value.run.t[-1] == 0.1


SCRIPT = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
import closedchain as cc
from closedchain.progress import reported
pressed = []

def progress(t, steps):
    if not pressed:
        pressed.append(t)
        os.kill(os.getpid(), signal.SIGINT)

with reported(progress):
    cc.simulate(cc.library.pendulum(), until=50.0, t_eval=cc.Every(0.01), save=sys.argv[1])
print("the script went on")
"""


def test_a_script_ends(tmp_path):
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(tmp_path / "run")], capture_output=True, text=True)
    assert done.returncode != 0 and done.stdout == ""
    assert "Interrupted: the run was interrupted after t = " in done.stderr and "exception's .run" in done.stderr
    assert (tmp_path / "run" / "checkpoint.npz").exists()


def test_a_study_ends_and_has_its_points():
    pressed = []

    def stop(done, total, words):
        if done >= 3 and not pressed:
            pressed.append(done)
            press()

    with (
        ThreadPoolExecutor(1) as executor,
        reported(stop),
        pytest.raises(cc.Interrupted, match="points are done; with save=") as caught,
    ):
        cc.sweep(
            cc.library.pendulum(),
            {"start.hinge": np.linspace(0.1, 1.0, 40)},
            until=0.1,
            measure={"x": lambda run: float(run["hinge"].max())},
            executor=executor,
        )
    status = caught.value.dataset["status"].values.tolist()
    done = status.count("finished")
    assert 3 <= done < 40 and status == ["finished"] * done + [""] * (40 - done)
    np.testing.assert_allclose(caught.value.dataset["x"][:done], np.linspace(0.1, 1.0, 40)[:done])


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
    m.motor("O", torque=lambda t, q, v: cc.math.where(cc.math.sin(q["O"]) > 0.3, -4.0, 4.0))
    options = {"until": 20.0, "rtol": 1e-9, "t_eval": cc.Every(0.05)}
    folder = tmp_path / "run"
    pressed = []

    def progress(t, steps):
        if t > moment and not pressed:
            pressed.append(t)
            press()

    with (
        reported(progress),
        pytest.raises(cc.Interrupted, match=r"interrupted after t = .*run', the same call goes on") as caught,
    ):
        cc.simulate(m, save=folder, **options)
    run = caught.value.run
    assert run.status.name == "interrupted" and moment - 0.1 < run.t[-1] < 20.0
    np.testing.assert_array_equal(cc.simulate(m, save=folder, **options).x, cc.simulate(m, **options).x)
