"""The seam: the loop drives a stepper that is nothing but a few lines of Python."""

import numpy as np

from closedchain.integrate.hooks import Hooks
from closedchain.integrate.loop import Loop
from closedchain.integrate.problem import Samples
from closedchain.integrate.stepper import Accepted, Stepper
from closedchain.integrate.trajectory import Counts, Status

H = 0.125


class Line(Stepper):
    """x' = w by Euler's method: exact, also between steps; the state is a matrix."""

    max_steps = 1000

    def __init__(self):
        self.x, self.w, self.place = np.zeros((1, 2)), np.ones(2), np.zeros(2)  # time, steps
        self._status, self.end, self.pause = Status.running, 0.0, -1

    t = property(lambda self: float(self.place[0]))
    steps = property(lambda self: int(self.place[1]))
    rejections, next_step = 0, H
    status = property(lambda self: self._status, lambda self, status: setattr(self, "_status", status))

    def counts(self, dropped=0):
        return Counts(self.steps - dropped, 0, 0, 0, H, H)

    def settle(self):
        if len(self.times) and self.times[0] == self.t:
            self.found.append(self.x.copy())

    def begin(self, end, inputs):
        self.end = end
        if inputs is not None:
            self.w = inputs["w"]

    go_on = begin

    def advance(self):
        """One step."""
        h = min(H, self.end - self.t)
        while len(self.found) < len(self.times) and self.times[len(self.found)] <= self.t + h:
            self.found.append(self.x + (self.times[len(self.found)] - self.t) * self.w)
        rows = np.stack([self.x, h * self.w[None]])
        self.x += h * self.w
        self.place += h, 1
        self.last = Accepted(np.array([self.t]), self.x[None].copy(), rows[None])
        if self.t >= self.end:
            self._status = Status.finished
        elif self.steps == self.pause:
            self._status = Status.paused

    def pause_after(self, steps):
        self.pause = steps

    def accepted(self, booked):
        return self.last if self.steps > booked else Accepted(np.empty(0), self.x[:0], self.x[:0])

    def open_window(self, times, more):
        self.times, self.found = times, []

    def taken(self):
        return self.times[: len(self.found)], np.reshape(self.found, (-1, 1, 2))

    def arrays(self):
        return {"x": self.x, "clock": self.place}

    def restored(self):
        pass


class Doubled(Hooks):
    """The rate doubles at t = 0.5."""

    def inputs(self, t, x):
        return (0.5, {"w": np.ones(2)}) if t < 0.5 else (None, {"w": 2 * np.ones(2)})


def march(hooks, until=1.0, times=(0.0, 0.25, 0.7, 1.0), resume=None, dense=False):
    samples = Samples(np.array(times))
    return Loop(Line(), (0.0, until), samples, samples.t_eval, hooks, dense).run(resume)


def test_samples_and_inputs():
    run = march(Doubled(), dense=True)
    assert run.success and run.counts.steps == 8 and run.x.shape == (4, 1, 2)
    np.testing.assert_allclose(run.x[:, 0, 0], [0.0, 0.25, 0.9, 1.5], atol=1e-14)
    np.testing.assert_array_equal(run.steps_t, H * np.arange(1, 9))


def test_an_event_ends_the_run():
    class Half(Doubled):
        finds_events = True

        def event(self, steps):
            t = np.linspace(steps.t[0], steps.t[-1], 5)
            above = steps(t)[:, 0, 0] >= 0.75 - 1e-12
            return float(t[above.argmax()]) if above.any() else None

    run = march(Half())
    assert run.status is Status.event and run.failure.t == 0.625
    np.testing.assert_allclose(run.failure.x, 0.75)


def test_a_monitor_looks_when_it_wants_to():
    class Looks:
        memory = np.zeros(1)

        def __init__(self):
            self.seen = []

        def next_look(self, steps):
            return steps + 3

        def __call__(self, t, x):
            self.seen.append(t)
            return (Status.diverged, "far away") if t > 0.6 else None

        def pace(self, t, until, steps, left):
            assert left == 1000 - steps

    hooks = Doubled()
    hooks.monitor = Looks()
    run = march(hooks)
    # every third step, and at the discontinuity
    assert run.status is Status.diverged and hooks.monitor.seen == [0.375, 0.5, 0.75]
    assert "far away" in run.message


def test_a_copy_resumes():
    class Saves(Doubled):
        saved = None

        def checkpoint(self, snapshot, final=False):
            if self.saved is None:
                self.saved = snapshot()

    hooks = Saves()
    whole = march(hooks, times=(0.9, 1.0))

    class Again(Doubled):
        pass

    again = Loop(Line(), (0.0, 1.0), Samples(np.array([0.9, 1.0])), np.array([0.9, 1.0]), Again(), False)
    again.stepper.end = 0.5
    resumed = again.run(hooks.saved)
    np.testing.assert_array_equal(resumed.x, whole.x)
    assert resumed.counts == whole.counts
