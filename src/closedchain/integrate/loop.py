"""The loop around a solver's `advance`: samples are taken over, events looked for, held numbers changed, states saved.

All that a run remembers between two calls of `advance` lies in arrays. Saved and loaded, they let it go on in another
process with the same bits.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from closedchain.errors import ModelError
from closedchain.integrate.arguments import fixed_steps
from closedchain.integrate.interrupt import check, postpone
from closedchain.integrate.solvers import Solver
from closedchain.integrate.trajectory import SENTENCES, Counts, DenseOutput, Failure, Status, Trajectory

LAYOUT = ("attempts", "keep_states", "keep_dense", "team", "corners")
Hold = Callable[[float, np.ndarray], tuple[float, dict[str, np.ndarray] | None]]


class HoldError(Exception):
    """What is to be held from now on cannot be found; the run ends here, and keeps what it has."""


class Judge(Protocol):
    """Looks at a run on its way: does it run away, and does it come to its end? See `march.judge.divergence`."""

    @property
    def memory(self) -> np.ndarray:
        """All that later findings depend on."""

    def next_look(self, steps: int) -> int:
        """The number of steps after which it looks next; it must not depend on how a run is divided into calls."""

    def __call__(self, t: float, x: np.ndarray) -> tuple[Status, str] | None:
        """Why the run ends here, with a clause; None to go on."""

    def pace(self, t: float, until: float, steps: int, left: int) -> None:
        """Told of the steps made, and of those that are left."""


class Integration:
    """One run: its records, its room, and what is called on the way (see the arguments of `integrate`)."""

    def __init__(
        self,
        method: type[Solver],
        addresses: tuple[int, int],
        parameters: dict[str, np.ndarray],
        extra: tuple[Any, ...],
        x: np.ndarray,
        t_span: tuple[float, float],
        atol: np.ndarray,
        times: Any,
        window: int,
        options: np.ndarray,
        state: np.ndarray,
        dense_output: bool,
    ) -> None:
        self.method, self.addresses, self.parameters, self.extra = method, addresses, parameters, extra
        self.x, self.start, self.atol, self.times, self.window = x, x.copy(), atol, times, window
        self.t0, self.t1 = t_span
        self.options, self.state, self.o, self.s = options, state, options[0], state[0]
        self.step = float(self.o["step"])  # as it was asked for; between two changes a whole number of them must fit
        self.dense_output = dense_output
        self.hold: Hold | None = None
        self.watch: Callable[[DenseOutput], float | None] | None = None
        self.look: Callable[[float, np.ndarray, float], Status | None] | None = None
        self.look_every = 0  # steps; looks must not depend on how a run is divided into calls
        self.judge: Judge | None = None
        self.keep: Callable[[np.ndarray, np.ndarray], object] | None = None
        self.checkpoint: Callable[..., object] | None = None
        self.progress: Callable[[float, int], object] | None = None
        self.check: Callable[[], object] = check

        # room for everything
        self.advance, home = method.load()
        n, attempts = x.size, int(self.o["attempts"])
        self.work = np.zeros((home.WORK_ROWS, n))
        self.rows = self.work[home.WORK_ROWS - home.DENSE_ROWS :]  # the polynomial of a step comes last
        self.step_t = np.empty(attempts)
        self.step_x = np.empty((attempts if self.o["keep_states"] else 0, n))
        self.dense = np.empty((attempts if self.o["keep_dense"] else 0, home.DENSE_ROWS, n))

        # where it is
        self.next_change = np.inf * (1.0 if self.t1 >= self.t0 else -1.0)
        self.handed_over = 0  # samples
        self.steps_booked = 0
        self.last_end = self.t0
        self.chunks: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self.seconds = 0.0
        self.trouble = ""  # of what should have been held, or of a motion that runs away

    # ---- the loop ----------------------------------------------------------------------------------------------------

    def march(self, resume: dict[str, np.ndarray] | None = None) -> Trajectory:
        """From the start, or from where an earlier run was left, to the end."""
        s = self.s
        whole = False  # whether all that a checkpoint holds fits together
        try:
            if resume is None:
                self._begin()
            else:
                self._restore(resume)
            whole = True
            while s["status"] == Status.running:
                clock = time.perf_counter()
                self.advance(
                    *self.addresses, self.parameters["w"], self.parameters["w_correct"], self.atol, self.t_eval,
                    self.samples, self.options, self.state, self.x, self.work, self.step_t, self.step_x, self.dense,
                    *self.extra,
                )  # fmt: skip
                self.seconds += time.perf_counter() - clock
                stop = self._book()
                if stop is not None:
                    return self._cut_short(stop)
                self._turn_over()
                if s["status"] == Status.finished and s["t"] != self.t1:
                    whole = False
                    self._change()
                    self._judge()
                    whole = True
                if s["status"] == Status.finished:
                    self._judge()
                elif s["status"] == Status.running and s["steps"] == self.o["look_at"]:
                    self._look()
                if self.progress is not None:
                    self.progress(float(s["t"]), int(s["steps"]))
                if self.checkpoint is not None and s["status"] == Status.running:
                    self.checkpoint(self._snapshot)
                self.check()
        except KeyboardInterrupt:
            self._book(interrupted=True)
            # in the middle of a controller's call its memory is half of the call before, half of this one: the
            # checkpoint before stays
            if self.checkpoint is not None and s["status"] == Status.running and whole:
                self.checkpoint(self._snapshot, now=True)
            if s["status"] == Status.running:
                s["status"] = Status.interrupted
            else:
                postpone()
        return self._trajectory()

    def _begin(self) -> None:
        from closedchain.integrate import project, step_control

        self.o["look_at"] = self._next_look()
        self._open_window()
        w, w_correct = self.parameters["w"], self.parameters["w_correct"]
        project.settle(self.addresses[1], w, w_correct, self.atol, self.options, self.state, self.x)
        self.start = self.x.copy()
        if len(self.t_eval) and self.t_eval[0] == self.t0:
            self.samples[0] = self.x
            self.s["next_sample"] = 1
            if self.o["more_samples"] and len(self.t_eval) == 1:
                self._hand_over()
        if self.t0 == self.t1:
            self.s["status"] = Status.finished
            return
        self._ask()
        if self.s["status"] == Status.running:
            order = float(self.method.error_order)
            step_control.begin(
                self.addresses[0], self.parameters["w"], self.atol, self.options, self.state, self.x, self.work, order
            )

    def _book(self, interrupted: bool = False) -> float | None:
        """Keep the latest steps, and show them to the watcher; the time at which it wants to stop, or None."""
        # also right when a Ctrl-C fell between a call and its booking
        done = int(self.s["steps"]) - self.steps_booked
        self.steps_booked += done
        ends, dense = self.step_t[:done].copy(), self.dense[:done].copy()
        stop = None
        if done and self.watch is not None and not interrupted:
            self.latest = DenseOutput(np.concatenate([[self.last_end], ends]), dense)
            stop = self.watch(self.latest)
        if done:
            self.last_end = ends[-1]
        if self.keep is None:
            self.chunks.append((ends, self.step_x[:done].copy(), dense if self.dense_output else dense[:0]))
        return stop

    # ---- whether it goes on as it should -----------------------------------------------------------------------------

    def _next_look(self) -> int:
        """The number of steps after which somebody looks; -1 for never."""
        steps = int(self.s["steps"])
        looks = [(steps // self.look_every + 1) * self.look_every] if self.look is not None else []
        if self.judge is not None:
            looks.append(self.judge.next_look(steps))
        return min(looks, default=-1)

    def _look(self) -> None:
        s = self.s
        if self.look is not None and s["steps"] % self.look_every == 0:
            s["status"] = self.look(float(s["t"]), self.x, float(s["h"])) or Status.running
        if self.judge is not None and s["status"] == Status.running:
            left = int(self.o["max_steps"] - s["steps"] - s["rejections"])
            self.judge.pace(float(s["t"]), self.t1, int(s["steps"]), left)
            self._judge()
        self.o["look_at"] = self._next_look()

    def _judge(self) -> None:
        if self.judge is None or self.s["status"] not in (Status.running, Status.finished):
            return
        found = self.judge(float(self.s["t"]), self.x)
        if found:
            self.s["status"], self.trouble = found

    # ---- what is held ------------------------------------------------------------------------------------------------

    def _ask(self) -> bool:
        """Ask what holds from here on, and until when; whether anything has changed."""
        renewed: dict[str, np.ndarray] | None = None
        if self.hold is not None:
            try:
                self.next_change, renewed = self.hold(float(self.s["t"]), self.x)
            except HoldError as error:
                self.s["status"] = Status.controller
                self.trouble = str(error)
                return False
        for name, values in (renewed or {}).items():
            np.copyto(self.parameters[name], values)
        begin, forward = float(self.s["t"]), 1.0 if self.t1 >= self.t0 else -1.0
        end = self.next_change if forward * (self.t1 - self.next_change) > 0 else self.t1
        self.o["t0"], self.o["t1"], self.o["direction"] = begin, end, forward
        if not self.method.adaptive:
            self.o["fixed_steps"], self.o["step"] = fixed_steps(self.step, abs(end - begin))
            self.o["steps_before"] = self.s["steps"]
        return bool(renewed)

    def _change(self) -> None:
        """Steps have ended where something that is held changes: go on with the new values."""
        from closedchain.integrate import implicit, step_control

        s = self.s
        s["status"] = Status.running
        changed = self._ask()
        s["h"] = max(s["h"], s["wanted"])  # the last step was shortened to end here
        if changed and s["status"] == Status.running:
            s["restarted"], s["err_old"] = 1, 1e-4
            for array in self.extra:
                if isinstance(array, np.ndarray) and array.dtype == implicit.MEMORY:
                    array["age"], array["h"], array["h_shape"] = implicit.STALE, 0.0, 0.0
            step_control.renew(self.addresses[0], self.parameters["w"], self.options, self.state, self.x, self.work)

    # ---- samples -----------------------------------------------------------------------------------------------------

    def _open_window(self) -> None:
        """Room for the samples that come next: all of them, unless they are handed over on the way."""
        first = self.handed_over
        last = len(self.times) if self.keep is None else min(first + self.window, len(self.times))
        self.t_eval = np.ascontiguousarray(self.times[first:last], dtype=float)
        self.samples = np.empty((last - first, self.x.size))
        self.o["more_samples"] = last < len(self.times)
        self.s["next_sample"], self.s["full"] = 0, 0

    def _turn_over(self) -> None:
        """Hand over full windows."""
        from closedchain.integrate.project import more_samples

        while self.s["full"]:
            self._hand_over()
            more_samples(
                self.addresses[1], self.parameters["w_correct"], self.t_eval, self.samples, self.options, self.state,
                self.rows, self.x,
            )  # fmt: skip
        if self.s["status"] == Status.paused:
            self.s["status"] = Status.running

    def _hand_over(self) -> None:
        assert self.keep is not None
        filled = int(self.s["next_sample"])
        self.keep(self.t_eval[:filled], self.samples[:filled])
        self.handed_over += filled
        self._open_window()

    # ---- to go on another day ----------------------------------------------------------------------------------------

    def _arrays(self) -> dict[str, np.ndarray]:
        """All that the numbers to come depend on, by name; parameters follow from what is held."""
        found = {"options": self.options, "state": self.state, "x": self.x, "work": self.work, "start": self.start}
        if self.judge is not None:
            found["judge"] = self.judge.memory
        for i, part in enumerate(self.extra):
            if isinstance(part, np.ndarray) and part is not self.parameters.get("w_extra"):
                found[f"extra{i}"] = part
            elif isinstance(part, tuple):
                found |= {f"extra{i}.{name}": x for name, x in part._asdict().items()}  # type: ignore[attr-defined]
        return found

    def _snapshot(self) -> dict[str, np.ndarray]:
        """A copy of everything; samples so far are handed over first."""
        if self.keep is not None and self.s["next_sample"]:
            self._hand_over()
        place = np.array([self.handed_over, self.next_change, self.last_end])
        return {name: array.copy() for name, array in self._arrays().items()} | {"place": place}

    def _restore(self, saved: dict[str, np.ndarray]) -> None:
        mine = self.options.copy()
        arrays = self._arrays()
        # machine code trusts shapes and indices: nothing is taken over that does not fit
        _check_same({*arrays, "place"} == set(saved), "other arrays")
        for name, array in arrays.items():
            _check_same((array.shape, array.dtype) == (saved[name].shape, saved[name].dtype), name)
            if array.dtype.kind in "iu":  # sizes, which never change, and rows of matrices
                inside = (saved[name] >= 0) & (saved[name] < array.shape[-1])
                _check_same(bool((inside | (saved[name] == array)).all()), name)
        for name, array in arrays.items():
            np.copyto(array, saved[name])
        for name in LAYOUT:  # arrays and addresses are those that are here, whatever they were there
            self.options[name] = mine[name]
        _check_same(int(self.s["status"]) == Status.running, "status")
        _check_same(saved["place"].shape == (3,) and 0 <= saved["place"][0] <= len(self.times), "place")
        handed_over, self.next_change, self.last_end = (float(x) for x in saved["place"])
        self.handed_over = int(handed_over)
        self.steps_booked = int(self.s["steps"])
        self._open_window()

    # ---- what comes of it --------------------------------------------------------------------------------------------

    def _taken(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Samples (times, states), and the ends of steps."""
        parts = list(zip(*self.chunks, strict=True)) if self.chunks else [(), ()]
        steps_t = np.concatenate([np.empty(0), *parts[0]])
        if self.o["keep_states"]:
            states = np.concatenate([self.start[None], *parts[1]])
            return np.concatenate([[self.t0], steps_t]), states, steps_t
        reached = int(self.s["next_sample"])
        return self.t_eval[:reached].copy(), self.samples[:reached].copy(), steps_t

    def _sol(self, steps_t: np.ndarray) -> DenseOutput | None:
        if not self.dense_output or not len(steps_t):
            return None
        return DenseOutput(np.concatenate([[self.t0], steps_t]), np.concatenate([c[2] for c in self.chunks]))

    def _counts(self, dropped: int = 0) -> Counts:
        """What it cost; steps beyond the end that a watcher wanted are dropped, but were paid for."""
        s = self.s
        memory = next((a[0] for a in self.extra if isinstance(a, np.ndarray) and a.dtype.names), None)
        return Counts(
            int(s["steps"]) - dropped,
            *(int(s[name]) for name in ("rejections", "evaluations", "corrections")),
            *(float(s[name]) if s["steps"] else np.nan for name in ("h_min", "h_max")),
            *(() if memory is None else (int(memory["jacobians"]), int(memory["factorisations"]))),
        )

    def _trajectory(self) -> Trajectory:
        """Put the pieces together."""
        s = self.s
        t, states, steps_t = self._taken()
        counts, sol = self._counts(), self._sol(steps_t)
        status = Status(int(s["status"]))
        if status is Status.finished:
            message = f"reached t = {float(self.t1)}"
            return Trajectory(t, states, steps_t, counts, status, message, None, sol, seconds=self.seconds)
        index = int(s["bad_index"]) if status is Status.nan and s["bad_index"] >= 0 else None
        what, advice = SENTENCES[status]
        entry = "" if index is None else f" (entry {index})"
        message = f"at t = {float(s['t'])} {self.trouble or what}{entry}: {advice}"
        failure = Failure(float(s["t"]), self.x.copy(), index, advice)
        pivot, h = float(s["pivot"]), float(s["h"]) or None
        return Trajectory(t, states, steps_t, counts, status, message, failure, sol, pivot, h, self.seconds)

    def _cut_short(self, stop: float) -> Trajectory:
        """The trajectory up to the time that the watcher gave."""
        t, states, steps_t = self._taken()
        end = self.latest(stop)
        forward = 1.0 if stop >= self.t0 else -1.0
        kept = forward * t < forward * stop
        ends = steps_t[forward * steps_t < forward * stop]
        what, advice = SENTENCES[Status.event]
        return Trajectory(
            np.append(t[kept], stop),  # the event itself is a sample
            np.concatenate([states[kept], end[None]]),
            np.append(ends, stop),
            self._counts(int((forward * self.latest.t[:-1] >= forward * stop).sum())),
            Status.event,
            f"at t = {float(stop)} {what}: {advice}",
            Failure(float(stop), end, None, advice),
            self._sol(steps_t),
            next_step=float(self.s["h"]) or None,
            seconds=self.seconds,
        )


def _check_same(fits: bool, what: str) -> None:
    if not fits:
        raise ModelError(f"the checkpoint does not fit the run ({what}): it was damaged; give another folder")
