"""Long runs on disk: samples are written as they come, and what is needed to go on is saved now and then.

A folder (`closedchain.disk.folder`) holds, for each piece of the run, its samples in two plain files of 8-byte
floating-point numbers (``piece0.t``, ``piece0.x``), and ``checkpoint.npz`` with everything else: the arrays of the
integrator, what is held, and where the run is. A checkpoint replaces the one before in one operation of the file
system, so that there is always a whole one. It holds a digest of the samples it counts, which are read once and
compared before the run goes on or its result is given: a file that was replaced or damaged is refused. Samples written
after it are computed again when the run goes on, and overwritten with the same bits.

A checkpoint holds arrays and JSON (`closedchain.disk.plain`), which is compared with a schema before anything is taken
from it. No class and no function comes from the file: the method is the one of the call, with gains for the step that
the file tells.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.disk import plain
from closedchain.disk.folder import LOCK, Folder
from closedchain.disk.plain import Maybe
from closedchain.disk.save_to import SaveTo
from closedchain.errors import ModelError
from closedchain.integrate.solvers import SOLVERS
from closedchain.integrate.trajectory import Counts, Failure, Status, Trajectory
from closedchain.march.events import Watch
from closedchain.march.identity import difference
from closedchain.march.marks import Happening
from closedchain.march.segment import Choice, Segment
from closedchain.pose.state import State

if TYPE_CHECKING:
    from closedchain.march.run_loop import March

CHECKPOINT = "checkpoint.npz"
OWN = r"checkpoint\.npz|piece\d+\.[tx]"  # what a folder holds besides its mark and its lock

CHUNK = 2**20  # bytes that are read at once

_NUMBER = int | float
_OPTIONAL = int | float | None
_STATE = {"q": np.ndarray, "v": np.ndarray, "t": _NUMBER, "open_joints": [str]}
_CHOICE = (_STATE, bool, int, _OPTIONAL)
_COUNTS = {
    "steps": int, "rejections": int, "evaluations": int, "corrections": int, "smallest_step": float,
    "largest_step": float, "jacobians": int, "factorisations": int,
}  # fmt: skip
_FAILURE = {"t": _NUMBER, "x": np.ndarray, "index": int | None, "advice": str}
SCHEMA = {
    "about": {str: str},
    "finished": bool,
    "refusal": str,
    "rows": [int],
    "digests": [(str, str)],
    "columns": [int],
    "record": [{"t": _NUMBER, "what": str, "text": str, "numbers": dict, "event": bool}],
    "place": {
        "state": _STATE, "solver": str, "tuned": _OPTIONAL, "work": _NUMBER, "guarded": bool, "armed": _OPTIONAL,
        "next_step": _OPTIONAL, "clear": Maybe({str: bool}), "fresh": bool, "judged": Maybe(_STATE),
        "signs": {int: float},
    },
    "chosen": _CHOICE,
    "stiffness": Maybe(
        {"until": _NUMBER, "solver": str, "tired": bool, "_explicit_step": _NUMBER, "_calm": int, "_looks": int}
    ),
    "segments": [
        {
            "start": _STATE, "solver": str, "chosen": _CHOICE, "counts": _COUNTS, "status": int, "message": str,
            "failure": Maybe(_FAILURE), "pivot": _NUMBER, "next_step": _OPTIONAL, "seconds": _NUMBER,
        }
    ],
    "watch": Maybe(
        {"signs": [float], "found": [(_NUMBER, int)], "poses": [(str, str)], "clear": {str: bool}}
    ),
    "held": dict,
    "integrator": {str: np.ndarray},
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Left:
    """How a run was left.

    Attributes
    ----------
    finished, refusal
        Whether it had come to its end, and the sentence of a switch that could not be made.
    arrays, watch
        Of the integrator, and of what looks for events.
    """

    finished: bool
    refusal: str
    arrays: dict[str, np.ndarray]
    watch: Any


class Saving:
    """A folder that one run is saved in.

    Parameters
    ----------
    where
        The folder, which is made if it does not exist, and the time between two checkpoints.
    about
        The run as named strings: a saved run resumes only if every entry matches.
    writes
        Whether this process writes; of several that compute one run together one does, and all read.
    """

    def __init__(self, where: SaveTo, about: dict[str, str], writes: bool = True) -> None:
        self.folder = Folder(where.folder, "save", "run", OWN)
        self.about, self.every, self.writes = about, where.every, writes
        self.rows: list[int] = []  # samples of each piece
        self.columns: list[int] = []
        self._digests: list[tuple[Any, Any]] = []  # of what was written to the two files of each piece
        self._last = time.monotonic()

    # ---- samples -----------------------------------------------------------------------------------------------------

    def begin(self, piece: int, columns: int) -> None:
        """The samples that come now belong to this piece, which may have some already."""
        if piece == len(self.rows):
            self.rows.append(0)
            self.columns.append(columns)
            self._digests.append((_digest(), _digest()))

    def keep(self, t: np.ndarray, x: np.ndarray) -> None:
        """Append samples to the last piece."""
        # never cut off: somebody may still look at samples of an earlier attempt, which are the same
        parts = zip(_files(len(self.rows) - 1), (t, x), self._digests[-1], strict=True)
        for name, values, digest in parts if self.writes else ():
            width = values.shape[1] if values.ndim == 2 else 1
            content = np.ascontiguousarray(values, float).tobytes()
            self.folder.put(name, content, 8 * self.rows[-1] * width)
            digest.update(content)
        self.rows[-1] += len(t)

    def put_away(self, trajectory: Trajectory) -> Trajectory:
        """The last samples of a piece; the trajectory keeps none."""
        self.keep(trajectory.t, trajectory.x)
        return replace(trajectory, t=trajectory.t[:0], x=trajectory.x[:0])

    def _on_disk(self, piece: int) -> tuple[np.ndarray, np.ndarray]:
        """Samples as arrays that are read from the disk where they are looked at."""
        rows, columns = self.rows[piece], self.columns[piece]
        if not rows:
            return np.empty(0), np.empty((0, columns))
        t, x = (self.folder.path / name for name in _files(piece))
        return (
            np.memmap(t, float, "r", shape=(rows,)),
            np.memmap(x, float, "r", shape=(rows, columns)),
        )

    # ---- checkpoints -------------------------------------------------------------------------------------------------

    def checkpoint(
        self, march: March, watch: Watch, snapshot: Callable[[], dict[str, np.ndarray]], now: bool = False
    ) -> None:
        """Save where the run is, if it is time, or ``now``."""
        if now or self.due():
            self._write(march, watch.saved(), snapshot())
            self._last = time.monotonic()

    def due(self) -> bool:
        """Whether it is time for a checkpoint."""
        return time.monotonic() - self._last >= self.every

    def finish(self, march: March, refusal: str = "") -> None:
        """The run has come to its end, good or bad; not if somebody stopped it."""
        done = march.segments and march.segments[-1].trajectory.status is not Status.interrupted
        if done and self.writes:
            for piece, rows in enumerate(self.rows):
                for name, width in zip(_files(piece), (1, self.columns[piece]), strict=True):
                    self.folder.cut(name, 8 * rows * width)
            self._write(march, None, {}, finished=True, refusal=refusal)

    def let_go(self, march: March) -> None:
        """Nothing more is written: samples are read from the disk where they are looked at."""
        self._read_samples(march)
        self.folder.release()

    def _write(
        self, march: March, watch: Any, arrays: dict[str, np.ndarray], finished: bool = False, refusal: str = ""
    ) -> None:
        if not self.writes:
            return
        place, stiffness = march.place, march.stiffness
        told = {
            "about": self.about,
            "finished": finished,
            "refusal": refusal,
            "rows": self.rows,
            "digests": [(t.hexdigest(), x.hexdigest()) for t, x in self._digests],
            "columns": self.columns,
            "record": [vars(happening) for happening in march.record],
            "place": {
                **vars(place),
                "state": _plain(place.state),
                "judged": None if place.judged is None else _plain(place.judged),
                "guarded": bool(place.guarded),
                "clear": None if place.clear is None else {kind: bool(x) for kind, x in place.clear.items()},
            },
            "chosen": _plain_choice(march.chosen),
            "stiffness": None if stiffness is None else vars(stiffness),
            "segments": [_plain_segment(s) for s in march.segments],
            "watch": watch,
            "held": march.held_inputs.saved(),
            "integrator": arrays,
        }
        # on the disk in this order: samples, the checkpoint that counts them, and its name
        for name in _files(len(self.rows) - 1) if self.rows else ():
            self.folder.sync(name)
        self.folder.write(CHECKPOINT, plain.to_bytes(told, "the checkpoint"))

    def load(self, march: March) -> Left | None:
        """Put a march where it was left; None if the run is new."""
        if self.writes:
            self.folder.claim()
        path = self.folder.shown / CHECKPOINT
        self.folder.refuse_links(CHECKPOINT)
        if not (self.folder.path / CHECKPOINT).exists():
            return None
        try:
            told = plain.from_bytes(self.folder.read(CHECKPOINT))
            plain.check(told, SCHEMA, "the checkpoint")
        except (OSError, ValueError) as error:
            raise self._damaged(path, error) from None
        for name, value in self.about.items():
            saved = told["about"].get(name)
            if saved != value:
                there, here = difference(saved or "none", value or "none")
                raise ModelError(
                    f"{str(self.folder.shown)!r} holds another run, with other {name}: {there} there, {here} here: "
                    f"{self.folder.advice()}"
                )
        if not len(told["rows"]) == len(told["columns"]) == len(told["digests"]):
            raise self._damaged(path, ValueError("the numbers of its pieces differ"))
        self._digests = self._read_digests(told)
        try:
            return self._put_back(march, told)
        except ModelError:
            raise
        except Exception as error:  # numbers that do not belong together
            raise self._damaged(path, error) from error

    def _damaged(self, path: Path, error: Exception) -> ModelError:
        return ModelError(f"{path} cannot be read, it is damaged ({error}): {self.folder.advice()}")

    def _read_digests(self, told: dict[str, Any]) -> list[tuple[Any, Any]]:
        """Read all samples once, and refuse files that are not as they were written."""
        return [
            (
                self._read_digest(f"piece{piece}.t", rows, t, told["finished"]),
                self._read_digest(f"piece{piece}.x", rows * columns, x, told["finished"]),
            )
            for piece, (rows, columns, (t, x)) in enumerate(
                zip(told["rows"], told["columns"], told["digests"], strict=True)
            )
        ]

    def _read_digest(self, name: str, numbers: int, wanted: str, finished: bool) -> Any:
        file, length = self.folder.path / name, 8 * numbers
        there = file.stat().st_size if file.exists() else 0
        # the file of a run that goes on may be longer than the checkpoint says
        if there < length or numbers < 0 or (finished and there != length):
            raise ModelError(
                f"{self.folder.shown / name} holds {there} bytes instead of {length}, it was damaged: "
                f"{self.folder.advice()}"
            )
        digest = _digest()
        if length:
            with file.open("rb") as samples:
                while length:
                    part = samples.read(min(length, CHUNK))
                    if not part:  # it became shorter meanwhile
                        break
                    digest.update(part)
                    length -= len(part)
        if digest.hexdigest() != wanted:
            raise ModelError(
                f"{self.folder.shown / name} holds other numbers than the run wrote, it was damaged: "
                f"{self.folder.advice()}"
            )
        return digest

    def _put_back(self, march: March, told: dict[str, Any]) -> Left:
        """Everything is where it was; what the file says is in the shape of what is here."""
        self.rows, self.columns = told["rows"], told["columns"]
        march.record[:] = [Happening(**entry) for entry in told["record"]]
        if (march.stiffness is None) != (told["stiffness"] is None):
            raise ValueError("it is of another solver")
        if march.stiffness is not None:
            vars(march.stiffness).update(told["stiffness"])
            _known(march.stiffness.solver)
        march.held_inputs.restore(told["held"])
        for entry, columns in zip(told["segments"], self.columns, strict=False):
            self._restore_segment(march, entry, columns)
        place = told["place"]
        judged = None if place["judged"] is None else _state(march, place["judged"])
        states = {"state": _state(march, place["state"]), "judged": judged}
        vars(march.place).update(place | states)
        march.judge.start = judged or march.start
        _known(march.place.solver)
        march.chosen = _choice(march, told["chosen"])
        march.program = march.choose(march.chosen)
        return Left(told["finished"], told["refusal"], told["integrator"], told["watch"])

    def check_shared(self) -> None:
        """All processes of a team read what one of them writes."""
        if not (self.folder.path / LOCK).exists():
            raise ModelError(
                f"save={str(self.folder.shown)!r} is not the folder that the first rank writes to: give one on a "
                "disk that all ranks share"
            )

    def _restore_segment(self, march: March, entry: dict[str, Any], columns: int) -> None:
        chosen = _choice(march, entry["chosen"])
        program = march.choose(chosen)
        trajectory = Trajectory(
            np.empty(0),
            np.empty((0, columns)),
            np.empty(0),
            Counts(**entry["counts"]),
            Status(entry["status"]),
            entry["message"],
            None if entry["failure"] is None else Failure(**entry["failure"]),
            pivot=entry["pivot"],
            next_step=entry["next_step"],
            seconds=entry["seconds"],
        )
        state, solver = _state(march, entry["start"]), _known(entry["solver"])
        march.segments.append(Segment(state, program, trajectory, solver, march.held_inputs, chosen))

    def _read_samples(self, march: March) -> None:
        for piece, segment in enumerate(march.segments):
            t, x = self._on_disk(piece)
            march.segments[piece] = replace(segment, trajectory=replace(segment.trajectory, t=t, x=x))


def _digest() -> Any:
    return hashlib.blake2b(digest_size=16)


def _files(piece: int) -> tuple[str, str]:
    return f"piece{piece}.t", f"piece{piece}.x"


def _known(solver: str) -> str:
    if solver not in SOLVERS:
        raise ValueError(f"there is no solver {solver!r}")
    return solver


def _plain(state: State) -> dict[str, Any]:
    return {"q": state.q, "v": state.v, "t": state.t, "open_joints": list(state.open_joints)}


def _state(march: March, told: dict[str, Any]) -> State:
    start = march.start
    for name in ("q", "v"):
        here, there = getattr(start, name), told[name]
        if (here.shape, here.dtype) != (there.shape, there.dtype):
            raise ValueError(f"{name} has {there.shape} numbers instead of {here.shape}")
    return replace(start, **told | {"open_joints": tuple(told["open_joints"])})


def _plain_choice(chosen: Choice) -> tuple[Any, ...]:
    state, guarded, before, tuned = chosen
    return _plain(state), bool(guarded), before, tuned


def _choice(march: March, told: tuple[Any, ...]) -> Choice:
    state, guarded, before, tuned = told
    return _state(march, state), guarded, before, tuned


def _plain_segment(segment: Segment) -> dict[str, Any]:
    t = segment.trajectory
    return {
        "start": _plain(segment.start),
        "solver": segment.solver,
        "chosen": _plain_choice(segment.chosen),
        "counts": t.counts.known(),
        "status": int(t.status),
        "message": t.message,
        "failure": None if t.failure is None else vars(t.failure),
        "pivot": t.pivot,
        "next_step": t.next_step,
        "seconds": t.seconds,
    }
