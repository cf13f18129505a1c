"""The bar appears late, in terminals only, and leaves nothing behind."""

import io
import threading
import time

import pytest
from rich.console import Console

import closedchain as cc
from closedchain import progress


@pytest.fixture
def screen(monkeypatch):
    terminal = io.StringIO()
    monkeypatch.setattr(progress, "in_terminal", lambda: True)
    monkeypatch.setattr(progress, "console", lambda: Console(file=terminal, force_terminal=True, width=120))
    return terminal


def wait_for(condition):
    end = time.monotonic() + 20  # for a busy machine; a quiet one needs some milliseconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_it_shows_what_is_done_and_how_far(screen, monkeypatch):
    monkeypatch.setattr(progress, "DELAY", 0.0)
    with progress.Progress(5.0) as bar:
        wait_for(lambda: "deriving and compiling" in screen.getvalue())
        wait_for(lambda: bar._bar is not None)
        bar(2.5, 1234)
        wait_for(lambda: "t = 2.5 of 5 s, 1234 steps" in screen.getvalue())
        assert "marching" in screen.getvalue()
    assert screen.getvalue().endswith("\x1b[2K")  # the line is wiped


def test_what_is_quick_shows_nothing(screen):
    with progress.Progress(5.0) as bar:
        bar(5.0, 10)
    assert screen.getvalue() == ""


def test_quiet_means_quiet(screen, monkeypatch):
    monkeypatch.setattr(progress, "DELAY", 0.0)
    with progress.Progress(5.0, quiet=True) as bar:
        bar(2.5, 1234)
        time.sleep(0.05)
    assert screen.getvalue() == ""


def test_it_goes_away_when_the_work_fails(screen, monkeypatch):
    monkeypatch.setattr(progress, "DELAY", 0.0)

    def work():
        with progress.Progress(5.0):
            wait_for(screen.getvalue)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    size = len(screen.getvalue())
    time.sleep(0.2)  # two refreshes
    assert len(screen.getvalue()) == size


def test_a_run_that_takes_long_shows_itself(screen, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    m = cc.library.pendulum()

    def waits(t, now):
        if t > 0.3:
            wait_for(lambda: "of 1 s" in screen.getvalue())
        return 0.0

    m.motor("hinge", torque=cc.Sampled(waits, period=0.25))
    cc.simulate(m, until=1.0)
    assert "marching" in screen.getvalue() and screen.getvalue().endswith("\x1b[2K")


def test_a_run_inside_of_another_bar_or_in_a_thread_shows_nothing(screen, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    m = cc.library.pendulum()
    m.motor("hinge", torque=cc.Sampled(lambda t, now: time.sleep(0.05) or 0.0, period=0.5))
    with progress.Progress(1.0, delay=60.0):
        cc.simulate(m, until=1.0)
    worker = threading.Thread(target=cc.simulate, args=(m,))
    worker.start()
    worker.join()
    assert screen.getvalue() == "" and progress.Progress.active is None


def test_pipes_get_nothing(monkeypatch, capsys):
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    m = cc.library.pendulum()
    m.motor("hinge", torque=cc.Sampled(lambda t, now: time.sleep(0.05) or 0.0, period=0.5))
    cc.simulate(m, until=1.0)
    assert capsys.readouterr().err == ""


def seen(screen, words, monkeypatch):
    """A function that waits until a bar has shown some words, once."""
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    told = []

    def wait(*args):
        if not told:
            wait_for(lambda: words in screen.getvalue())
            told.append(words)

    return wait


def test_a_study_that_takes_long_shows_itself(screen, monkeypatch):
    from closedchain.studies import sweep

    wait, original = seen(screen, "0 of 2", monkeypatch), sweep.carry_out
    monkeypatch.setattr(sweep, "carry_out", lambda *args: wait() or original(*args))
    cc.sweep(cc.library.pendulum(), {"arm.mass": [1.0, 2.0]}, until=0.1, keep=(), measure={"angle": "last hinge"})
    assert screen.getvalue().endswith("\x1b[2K")


def test_a_comparison_shows_itself_unless_it_is_told_to_somebody(screen, monkeypatch):
    wait = seen(screen, "0 of 1: reference", monkeypatch)
    import closedchain.results.compare.compare as compare

    monkeypatch.setattr(compare, "_reference", lambda *args: wait() or (None, "not asked for"))
    m, told = cc.library.pendulum(), []
    options = {"methods": [cc.Multipliers()], "solvers": ["dop853"], "tolerances": [1e-6], "repeats": 1}
    cc.compare(m, m.assemble(), 0.01, **options)
    size = len(screen.getvalue())
    monkeypatch.setattr(progress, "PATIENCE", 60.0)
    start = m.assemble()
    with progress.reported(lambda *x: told.append(x)):
        cc.compare(m, start, 0.01, **options)
    assert len(screen.getvalue()) == size and told[-1] == (1, 1, "done")


def test_searches_and_paths_that_take_long_show_themselves(screen, monkeypatch):
    from closedchain.pose.closing import Closing
    from closedchain.pose.follow import Follower

    m = cc.library.four_bar()
    start = m.assemble()
    for words, owner, method, verb in (
        ("searching a closed pose", Closing, "reach", m.assemble),
        ("searching closed poses", Closing, "search", lambda: m.assemblies(O=1.0, starts=3)),
        ("following the path", Follower, "reach", lambda: cc.inverse_dynamics(m, {"O": 1.0 + cc.t}, 0.1, guess=start)),
    ):
        wait, original = seen(screen, words, monkeypatch), getattr(owner, method)

        def slow(self, *args, wait=wait, original=original, **options):
            wait()
            return original(self, *args, **options)

        with monkeypatch.context() as patched:
            patched.setattr(owner, method, slow)
            verb()
        assert progress.Progress.active is None and screen.getvalue().endswith("\x1b[2K")


def test_only_a_function_can_be_reported_to():
    with (
        pytest.raises(cc.ModelError, match="progress takes a function of what is done, not 5"),
        progress.reported(5),
    ):
        pass


def test_the_outermost_verb_reports_and_others_are_silent():
    told = []
    m = cc.library.pendulum()
    with progress.reported(lambda *x: told.append(x)):
        cc.simulate(m, until=0.1)  # the start is searched for within
        assert {len(x) for x in told} == {2} and told[-1][0] == 0.1
        told.clear()
        m.assemble()
        assert told == [(0, len(told) and told[0][1], "searching a closed pose")]
        told.clear()
        cc.recommend(m, until=0.1)
        assert {len(x) for x in told} == {3} and told[0][2] == "reference" and told[-1][2] == "done"
    told.clear()
    cc.simulate(m, until=0.1)
    assert told == []


def test_nobody_hears_of_what_another_thread_does():
    told = []
    with progress.reported(lambda *x: told.append(x)):
        worker = threading.Thread(target=cc.simulate, args=(cc.library.pendulum(),))
        worker.start()
        worker.join()
        assert told == []


def test_a_function_that_fails_leaves_nothing_behind():
    def broken(t, steps):
        raise RuntimeError("a mistake")

    m = cc.library.pendulum()
    with pytest.raises(RuntimeError, match="a mistake"), progress.reported(broken):
        cc.simulate(m, until=0.1)
    assert progress._callback.get() is None
    told = []
    with progress.reported(lambda *x: told.append(x)):
        cc.simulate(m, until=0.1)
    assert told


def test_a_bar_of_a_command_hears_of_runs_and_of_searches():
    bar = progress.Progress(1.0, quiet=True)
    with bar, progress.reported(bar):
        m = cc.library.pendulum()
        m.assemble()
        assert bar._latest["state"].endswith("searching a closed pose")
        cc.simulate(m, until=0.1)
        assert bar._latest["state"].startswith("t = 0.1 of 1 s")
