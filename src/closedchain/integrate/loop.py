"""The loop around a `Stepper`: collects samples, checks events, updates inputs, writes checkpoints.

All that a run remembers between two calls of `advance` lies in arrays. Saved and loaded, they let it resume in another
process with the same bits.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from closedchain.errors import ModelError
from closedchain.integrate.hooks import Hooks, InputsError
from closedchain.integrate.interrupt import postpone
from closedchain.integrate.problem import Samples
from closedchain.integrate.stepper import Inputs, Stepper
from closedchain.integrate.trajectory import LONGER, SENTENCES, DenseOutput, Failure, Status, Trajectory


class Windows:
    """Samples: all of them at once, or in windows that are stored on the way."""

    def __init__(self, stepper: Stepper, samples: Samples, times: Any) -> None:
        self.stepper, self.samples, self.times = stepper, samples, times
        self.handed_over = 0

    @property
    def stored(self) -> bool:
        """Whether samples are handed over on the way."""
        return self.samples.store is not None

    def open(self) -> None:
        """Room for the samples that come next."""
        first = self.handed_over
        last = min(first + self.samples.window, len(self.times)) if self.stored else len(self.times)
        self.stepper.open_window(np.ascontiguousarray(self.times[first:last], dtype=float), last < len(self.times))

    def hand_over(self) -> None:
        """Store the samples taken so far."""
        assert self.samples.store is not None
        t, x = self.stepper.taken()
        self.samples.store(t, x)
        self.handed_over += len(t)
        self.open()

    def turn_over(self) -> None:
        """Store full windows, and fill the next ones."""
        while self.stepper.full:
            self.hand_over()
            self.stepper.fill_window()

    def begun(self) -> None:
        """The sample at the start may fill a window by itself."""
        taken = self.handed_over + len(self.stepper.taken()[0])
        if self.stored and self.samples.window == 1 and 0 < taken < len(self.times):
            self.hand_over()


class Steps:
    """The accepted steps: their ends, and where they are wanted their states and polynomials."""

    def __init__(self, t0: float, x0: np.ndarray, dense_output: bool, kept: bool) -> None:
        self.t0, self.start = t0, x0.copy()
        self.dense_output, self.kept = dense_output, kept
        self.booked = 0
        self.last_end = t0
        self.chunks: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def book(self, stepper: Stepper) -> DenseOutput | None:
        """Keep the latest steps; returns the solution along them, None if there are none."""
        # also right when a Ctrl-C fell between a call and its booking
        ends, states, dense = stepper.accepted(self.booked)
        self.booked = stepper.steps
        latest = DenseOutput(np.concatenate([[self.last_end], ends]), dense) if len(ends) else None
        if len(ends):
            self.last_end = ends[-1]
        if self.kept:
            self.chunks.append((ends, states, dense if self.dense_output else dense[:0]))
        return latest

    @property
    def ends(self) -> np.ndarray:
        """The times at which steps ended (k,)."""
        return np.concatenate([np.empty(0), *(chunk[0] for chunk in self.chunks)])

    @property
    def states(self) -> np.ndarray:
        """The start, and the states at the ends of the steps."""
        return np.concatenate([self.start[None], *(chunk[1] for chunk in self.chunks)])

    @property
    def sol(self) -> DenseOutput | None:
        """The solution as a function of time, if it is wanted and there is a step."""
        ends = self.ends
        if not self.dense_output or not len(ends):
            return None
        return DenseOutput(np.concatenate([[self.t0], ends]), np.concatenate([chunk[2] for chunk in self.chunks]))


class Loop:
    """One run of a stepper from ``t_span[0]`` to ``t_span[1]``."""

    def __init__(
        self, stepper: Stepper, t_span: tuple[float, float], samples: Samples, times: Any, hooks: Hooks, dense: bool
    ) -> None:
        self.stepper, self.hooks = stepper, hooks
        self.t0, self.t1 = t_span
        self.every_step = samples.t_eval is None  # the samples are the ends of the steps
        self.windows = Windows(stepper, samples, times)
        self.past = Steps(self.t0, stepper.x, dense, samples.store is None)
        self.next_change = np.inf * (1.0 if self.t1 >= self.t0 else -1.0)  # of the inputs
        self.look_at = -1  # the number of steps at which the monitor or `handover` looks next
        self.seconds = 0.0
        self.trouble = ""  # of a controller, or of a motion that runs away

    def run(self, resume: dict[str, np.ndarray] | None = None) -> Trajectory:
        """From the start, or from where an earlier run was left, to the end."""
        stepper, hooks = self.stepper, self.hooks
        consistent = False  # whether everything that a checkpoint holds fits together
        try:
            if resume is None:
                self._begin()
            else:
                self._restore(resume)
            consistent = True
            while self._is(Status.running):
                clock = time.perf_counter()
                stepper.advance()
                self.seconds += time.perf_counter() - clock
                latest = self.past.book(stepper)
                if latest is not None and hooks.finds_events:
                    stop = hooks.event(latest)
                    if stop is not None:
                        return self._cut_short(stop, latest)
                self.windows.turn_over()
                if self._is(Status.paused):
                    stepper.status = Status.running
                if self._is(Status.finished) and stepper.t != self.t1:
                    consistent = False
                    self._go_on()
                    self._ask_monitor()
                    consistent = True
                if self._is(Status.finished):
                    self._ask_monitor()
                elif self._is(Status.running) and stepper.at_pause(self.look_at):
                    self._look()
                hooks.progress(stepper.t, stepper.steps)
                if self._is(Status.running):
                    hooks.checkpoint(self._snapshot)
                hooks.interrupted()
        except KeyboardInterrupt:
            self.past.book(stepper)
            # in the middle of a controller's call its memory is half of the call before, half of this one: the
            # checkpoint before stays
            if self._is(Status.running) and consistent:
                hooks.checkpoint(self._snapshot, final=True)
            if self._is(Status.running):
                stepper.status = Status.interrupted
            else:
                postpone()
        return self._trajectory()

    def _is(self, status: Status) -> bool:
        return self.stepper.status is status

    def _begin(self) -> None:
        stepper = self.stepper
        self._plan_look()
        self.windows.open()
        stepper.settle()
        self.past.start = stepper.x.copy()
        self.windows.begun()
        if self.t0 == self.t1:
            stepper.status = Status.finished
            return
        end, inputs = self._inputs()
        if self._is(Status.running):
            stepper.begin(end, inputs)

    # ---- inputs ------------------------------------------------------------------------------------------------------

    def _inputs(self) -> tuple[float, Inputs | None]:
        """Where steps end next, and inputs that are new from here on."""
        forward = 1.0 if self.t1 >= self.t0 else -1.0
        try:
            change, inputs = self.hooks.inputs(self.stepper.t, self.stepper.x)
        except InputsError as error:
            self.stepper.status = Status.controller
            self.trouble = str(error)
            return self.t1, None
        self.next_change = forward * np.inf if change is None else change
        return (self.next_change if forward * (self.t1 - self.next_change) > 0 else self.t1), inputs

    def _go_on(self) -> None:
        """Steps have ended at a discontinuity of the inputs: go on with the new ones."""
        self.stepper.status = Status.running
        end, inputs = self._inputs()
        if self._is(Status.running):
            self.stepper.go_on(end, inputs)

    # ---- whether it goes on as it should -----------------------------------------------------------------------------

    def _plan_look(self) -> None:
        """Pause where somebody looks next; that must not depend on how a run is divided into calls."""
        steps, every, monitor = self.stepper.steps, self.hooks.handover_every, self.hooks.monitor
        looks = [(steps // every + 1) * every] if every else []
        if monitor is not None:
            looks.append(monitor.next_look(steps))
        self.look_at = min(looks, default=-1)
        self.stepper.pause_after(self.look_at)

    def _look(self) -> None:
        stepper, hooks = self.stepper, self.hooks
        if hooks.handover_every and stepper.steps % hooks.handover_every == 0:
            stepper.status = hooks.handover(stepper.t, stepper.x, stepper.next_step) or Status.running
        if hooks.monitor is not None and self._is(Status.running):
            left = stepper.max_steps - stepper.steps - stepper.rejections
            hooks.monitor.pace(stepper.t, self.t1, stepper.steps, left)
            self._ask_monitor()
        self._plan_look()

    def _ask_monitor(self) -> None:
        if self.hooks.monitor is None or self.stepper.status not in (Status.running, Status.finished):
            return
        found = self.hooks.monitor(self.stepper.t, self.stepper.x)
        if found:
            self.stepper.status, self.trouble = found

    # ---- checkpoints -------------------------------------------------------------------------------------------------

    def _arrays(self) -> dict[str, np.ndarray]:
        found = self.stepper.arrays() | {"start": self.past.start}
        if self.hooks.monitor is not None:
            found["monitor"] = self.hooks.monitor.memory
        return found

    def _snapshot(self) -> dict[str, np.ndarray]:
        """A copy of everything; samples so far are handed over first."""
        if self.windows.stored and len(self.stepper.taken()[0]):
            self.windows.hand_over()
        place = np.array([self.windows.handed_over, self.next_change, self.past.last_end, self.look_at])
        return {name: array.copy() for name, array in self._arrays().items()} | {"place": place}

    def _restore(self, saved: dict[str, np.ndarray]) -> None:
        arrays, times = self._arrays(), self.windows.times
        # machine code trusts shapes and indices: nothing is taken over that does not fit
        _check_same({*arrays, "place"} == set(saved), "other arrays")
        for name, array in arrays.items():
            _check_same((array.shape, array.dtype) == (saved[name].shape, saved[name].dtype), name)
            if array.dtype.kind in "iu":  # sizes, which never change, and rows of matrices
                inside = (saved[name] >= 0) & (saved[name] < array.shape[-1])
                _check_same(bool((inside | (saved[name] == array)).all()), name)
        for name, array in arrays.items():
            np.copyto(array, saved[name])
        self.stepper.restored()
        _check_same(self._is(Status.running), "status")
        place = saved["place"]
        _check_same(place.shape == (4,) and 0 <= place[0] <= len(times), "place")
        _check_same(bool(np.isfinite(place[3])), "place")
        self.windows.handed_over, self.look_at = int(place[0]), int(place[3])
        self.next_change, self.past.last_end = float(place[1]), float(place[2])
        self.past.booked = self.stepper.steps
        self.stepper.pause_after(self.look_at)
        self.windows.open()

    # ---- the result --------------------------------------------------------------------------------------------------

    def _samples(self) -> tuple[np.ndarray, np.ndarray]:
        if self.every_step:
            return np.concatenate([[self.t0], self.past.ends]), self.past.states
        t, x = self.stepper.taken()
        return t.copy(), x.copy()

    def _trajectory(self) -> Trajectory:
        """Put the pieces together."""
        stepper = self.stepper
        (t, x), ends, sol = self._samples(), self.past.ends, self.past.sol
        counts, status = stepper.counts(), stepper.status
        if status is Status.finished:
            message = f"reached t = {float(self.t1)}"
            return Trajectory(t, x, ends, counts, status, message, None, sol, seconds=self.seconds)
        index = stepper.bad_index if status is Status.nan else None
        what, advice = SENTENCES[status]
        if status is Status.too_many_steps and not stepper.next_step:
            advice = LONGER
        entry = "" if index is None else f" (entry {index})"
        message = f"at t = {stepper.t} {self.trouble or what}{entry}: {advice}"
        failure = Failure(stepper.t, stepper.x.copy(), index, advice)
        next_step = stepper.next_step or None
        return Trajectory(t, x, ends, counts, status, message, failure, sol, stepper.pivot, next_step, self.seconds)

    def _cut_short(self, stop: float, latest: DenseOutput) -> Trajectory:
        """The trajectory up to the time of an event."""
        (t, x), ends = self._samples(), self.past.ends
        end = latest(stop)
        forward = 1.0 if stop >= self.t0 else -1.0
        kept = forward * t < forward * stop
        what, advice = SENTENCES[Status.event]
        return Trajectory(
            np.append(t[kept], stop),  # the event itself is a sample
            np.concatenate([x[kept], end[None]]),
            np.append(ends[forward * ends < forward * stop], stop),
            # steps beyond the event are dropped, but were paid for
            self.stepper.counts(int((forward * latest.t[:-1] >= forward * stop).sum())),
            Status.event,
            f"at t = {float(stop)} {what}: {advice}",
            Failure(float(stop), end, None, advice),
            self.past.sol,
            next_step=self.stepper.next_step or None,
            seconds=self.seconds,
        )


def _check_same(fits: bool, what: str) -> None:
    if not fits:
        raise ModelError(f"the checkpoint does not fit the run ({what}): it was damaged; give another folder")
