"""Long runs on disk: samples are written as they come, and what is needed to go on is saved now and then.

A folder holds, for each piece of the run, its samples in two plain files of 8-byte floating-point numbers
(``piece0.t``, ``piece0.x``), and ``checkpoint.npz`` with everything else: the arrays of the integrator, what is held,
and where the run is. A checkpoint replaces the one before in one operation of the file system, so that there is always
a whole one. Samples written after it are computed again when the run goes on, and overwritten with the same bits.
"""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.errors import ModelError
from closedchain.march.state import State
from closedchain.march.trajectory import Status, Trajectory

if TYPE_CHECKING:
    from closedchain.march.events import Watch
    from closedchain.march.segments import March, Segment

FORMAT = 1
LOCK = "lock"  # a file


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
    folder
        It is made if it is not there.
    about
        What the run is, in words by name: a run goes on only where all of them are the same.
    every
        Time between two checkpoints, s.
    writes
        Whether this process writes; of several that compute one run together one does, and all read.
    """

    def __init__(self, folder: str | Path, about: dict[str, str], every: float = 5.0, writes: bool = True) -> None:
        self.folder, self.about, self.every, self.writes = Path(folder), about, every, writes
        if self.folder.exists() and not self.folder.is_dir():
            raise ModelError(f"save_to={str(folder)!r} is a file: give the name of a folder")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ModelError(f"save_to={str(folder)!r} cannot be made: {error}") from None
        self._lock: Any = None
        self.rows: list[int] = []  # samples of each piece
        self.columns: list[int] = []
        self._last = time.monotonic()

    # ---- samples -----------------------------------------------------------------------------------------------------

    def begin(self, piece: int, columns: int) -> None:
        """The samples that come now belong to this piece, which may have some already."""
        if piece == len(self.rows):
            self.rows.append(0)
            self.columns.append(columns)

    def keep(self, t: np.ndarray, x: np.ndarray) -> None:
        """Append samples to the last piece."""
        # never cut off: somebody may still look at samples of an earlier attempt, which are the same
        for path, values in zip(self._files(len(self.rows) - 1), (t, x), strict=True) if self.writes else ():
            path.touch()
            with path.open("r+b") as file:
                file.seek(8 * self.rows[-1] * (values.shape[1] if values.ndim == 2 else 1))
                file.write(np.ascontiguousarray(values, float).tobytes())
        self.rows[-1] += len(t)

    def put_away(self, trajectory: Trajectory) -> Trajectory:
        """The last samples of a piece; the trajectory keeps none."""
        self.keep(trajectory.t, trajectory.x)
        return replace(trajectory, t=trajectory.t[:0], x=trajectory.x[:0])

    def _files(self, piece: int) -> tuple[Path, Path]:
        return self.folder / f"piece{piece}.t", self.folder / f"piece{piece}.x"

    def _on_disk(self, piece: int) -> tuple[np.ndarray, np.ndarray]:
        """Samples as arrays that are read from the disk where they are looked at."""
        rows, columns = self.rows[piece], self.columns[piece]
        if not rows:
            return np.empty(0), np.empty((0, columns))
        t, x = self._files(piece)
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
                for path, width in zip(self._files(piece), (1, self.columns[piece]), strict=True):
                    path.touch()
                    os.truncate(path, 8 * rows * width)
            self._write(march, None, {}, finished=True, refusal=refusal)

    def let_go(self, march: March) -> None:
        """Nothing more is written: samples are read from the disk where they are looked at."""
        self._read_samples(march)
        if self._lock is not None:
            self._lock.close()

    def _write(
        self, march: March, watch: Any, arrays: dict[str, np.ndarray], finished: bool = False, refusal: str = ""
    ) -> None:
        if not self.writes:
            return
        place = march.place
        told = {
            "format": FORMAT,
            "about": self.about,
            "finished": finished,
            "refusal": refusal,
            "rows": self.rows,
            "columns": self.columns,
            "record": march.record,
            "place": {**vars(place), "state": _plain(place.state)},
            "chosen": _plain_choice(march.chosen),
            "stiffness": march.stiffness,
            "segments": [_plain_segment(s) for s in march.segments],
            "watch": watch,
        }
        parts = {f"integrator.{name}": array for name, array in arrays.items()}
        parts |= {f"held.{name}": array for name, array in march.holding.saved().items()}
        parts["told"] = np.frombuffer(pickle.dumps(told), np.uint8)
        buffer = io.BytesIO()
        np.savez(buffer, **parts)  # type: ignore[arg-type]
        # on the disk in this order: samples, the checkpoint that counts them, and its name
        for path in self._files(len(self.rows) - 1) if self.rows else ():
            if path.exists():
                with path.open("rb") as samples:
                    os.fsync(samples.fileno())
        fresh = self.folder / "checkpoint.new"
        with fresh.open("wb") as file:
            file.write(buffer.getvalue())
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, self.folder / "checkpoint.npz")
        with contextlib.suppress(OSError):  # folders cannot be opened on every system
            handle = os.open(self.folder, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)

    def load(self, march: March) -> Left | None:
        """Put a march where it was left; None if the run is new."""
        if self.writes:
            self._lock = _locked(self.folder)
        path = self.folder / "checkpoint.npz"
        if not path.exists():
            return None
        try:
            with np.load(path) as saved:
                parts = dict(saved)
            told = pickle.loads(parts["told"].tobytes())
            if told["format"] != FORMAT:
                raise ValueError(f"it has format {told['format']}")
        except Exception:
            raise ModelError(
                f"{path} cannot be read, it is damaged: delete the folder to begin anew, or give another one"
            ) from None
        for name, value in self.about.items():
            saved = told["about"].get(name)
            if saved != value:
                raise ModelError(
                    f"{str(self.folder)!r} holds another run, with other {name}: {saved or 'none'} there, "
                    f"{value or 'none'} here. Give another folder, or delete this one"
                )
        self.rows, self.columns = told["rows"], told["columns"]
        for piece, (rows, columns) in enumerate(zip(self.rows, self.columns, strict=True)):
            for file, width in zip(self._files(piece), (1, columns), strict=True):
                there = file.stat().st_size if file.exists() else 0
                if there < 8 * rows * width:
                    raise ModelError(
                        f"{file} holds {there} bytes instead of {8 * rows * width}: it was damaged. Delete the folder "
                        "to begin anew, or give another one"
                    )
        march.record[:] = told["record"]
        march.stiffness = told["stiffness"]
        march.holding.restore({k.removeprefix("held."): v for k, v in parts.items() if k.startswith("held.")})
        for plain in told["segments"]:
            self._restore_segment(march, plain)
        vars(march.place).update(told["place"])
        march.place.state = _state(march, told["place"]["state"])
        march.chosen = _choice(march, told["chosen"])
        march.program = march.choose(march.chosen, march.place.method)
        arrays = {k.removeprefix("integrator."): v for k, v in parts.items() if k.startswith("integrator.")}
        return Left(told["finished"], told["refusal"], arrays, told["watch"])

    def check_shared(self) -> None:
        """All processes of a team read what one of them writes."""
        if not (self.folder / LOCK).exists():
            raise ModelError(
                f"save_to={str(self.folder)!r} is not the folder that the first rank writes to: give one on a disk "
                "that all ranks share"
            )

    def _restore_segment(self, march: March, plain: dict[str, Any]) -> None:
        from closedchain.march.segments import Segment

        chosen = _choice(march, plain["chosen"])
        program = march.choose(chosen, plain["method"])
        state = _state(march, plain["start"])
        march.segments.append(Segment(state, program, plain["trajectory"], plain["solver"], march.holding, chosen))

    def _read_samples(self, march: March) -> None:
        for piece, segment in enumerate(march.segments):
            t, x = self._on_disk(piece)
            march.segments[piece] = replace(segment, trajectory=replace(segment.trajectory, t=t, x=x))


def _locked(folder: Path) -> Any:
    """A file that only one run at a time can hold; it is let go with the run, however that ends."""
    file = (folder / LOCK).open("w")
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:  # not on every system
        pass
    except OSError:
        file.close()
        raise ModelError(
            f"another run is writing to {str(folder)!r} just now: wait for it, or give another folder"
        ) from None
    return file


# A choice of equations is made anew from where it was made: the state, whether closures are watched one by one, and how
# many pieces there were before.
Choice = tuple[State, bool, int]


def _plain(state: State) -> dict[str, Any]:
    return {"q": state.q, "v": state.v, "t": state.t, "open_joints": state.open_joints}


def _state(march: March, plain: dict[str, Any]) -> State:
    return replace(march.start, **plain)


def _plain_choice(chosen: Choice) -> tuple[Any, ...]:
    return _plain(chosen[0]), *chosen[1:]


def _choice(march: March, plain: tuple[Any, ...]) -> Choice:
    return _state(march, plain[0]), plain[1], plain[2]


def _plain_segment(segment: Segment) -> dict[str, Any]:
    none = segment.trajectory
    return {
        "start": _plain(segment.start),
        "solver": segment.solver,
        "method": segment.program.method,
        "chosen": _plain_choice(segment.chosen),
        "trajectory": replace(none, t=np.empty(0), x=np.empty((0, none.x.shape[1])), steps_t=np.empty(0), sol=None),
    }
