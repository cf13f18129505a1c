"""Hostile folders for runs, studies and files that are saved: foreign files, links, planted files, a full disk, races.

Nothing foreign changes, nothing planted is executed, and the outcome is the result or a sentence that names the path.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import resource
import shutil
import signal
import tempfile
import threading
import warnings
import zipfile
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from typer.testing import CliRunner

import closedchain as cc
from benchmarks.attack.bases import in_small_pieces, pick
from benchmarks.attack.outcome import FOREIGN, Outcome, found, unforeseen
from closedchain.cli import app
from closedchain.progress import reported
from closedchain.results.run import Run

BUDGET = 240.0
VARIED = {"O.motor": np.linspace(5.0, 7.0, 12)}


def measure(run: Run) -> float:
    """Makes a study compute its points one by one."""
    return float(run["O"].max())


def controller(t: float, now: Any) -> float:
    """Sampled, so that a checkpoint has something to remember."""
    return 6.0 - 0.1 * now["O'"]


def save_run(folder: Path, progress: Callable[[float, int], object] | None = None) -> bytes:
    """A saved run."""
    m = cc.library.four_bar(torque=0.0)
    m.motor("O", torque=cc.Sampled(controller, period=0.01))
    run = cc.simulate(m, until=2.0, save_to=folder, save_every=0.0, every=0.01, progress=progress)
    return run.x.tobytes()


def half_a_run(folder: Path) -> None:
    """The same, killed on its way."""
    child = os.fork()
    if child == 0:
        try:
            save_run(folder, lambda t, steps: os._exit(0) if t > 1.0 else None)
        finally:
            os._exit(0)
    os.waitpid(child, 0)


def save_study(folder: Path, progress: Callable[[int, int, str], object] | None = None) -> bytes:
    """A study on disk."""
    with in_small_pieces(), nullcontext() if progress is None else reported(progress):
        study = cc.sweep(cc.library.four_bar(), VARIED, until=0.02, measure={"reach": measure}, save=folder, executor=1)
    return np.asarray(study["reach"].values).tobytes()


def half_a_study(folder: Path) -> None:
    """The same, killed on its way."""
    child = os.fork()
    if child == 0:
        try:
            save_study(folder, lambda done, total, words: os._exit(0) if done >= 10 else None)
        finally:
            os._exit(0)
    os.waitpid(child, 0)


def by_command(folder: Path) -> bytes:
    """A run of the command line that writes into a folder."""
    words = ["run", "four-bar", "--until", "0.05", "--out", str(folder)]
    got = CliRunner().invoke(app, words, prog_name="closedchain", catch_exceptions=False)
    if got.exit_code not in (0, 3):
        raise cc.ModelError(got.stderr)
    return b"done"


def write_netcdf(folder: Path) -> bytes:
    """A run as one file."""
    folder.mkdir(exist_ok=True)
    cc.simulate(cc.library.four_bar(), until=0.2).to_netcdf(folder / "run.nc")
    return b"done"


def write_csv(folder: Path) -> bytes:
    """The same as text."""
    words = ["run", "four-bar", "--until", "0.2", "--out", str(folder / "run.csv")]
    folder.mkdir(exist_ok=True)
    got = CliRunner().invoke(app, words, prog_name="closedchain", catch_exceptions=False)
    if got.exit_code not in (0, 3):
        raise cc.ModelError(got.stderr)
    return b"done"


FOLDERS: tuple[Callable[[Path], bytes], ...] = (save_run, save_study, by_command)
FILES: tuple[Callable[[Path], bytes], ...] = (save_run, save_study, write_netcdf, write_csv)
HALVES: dict[Callable[[Path], bytes], Callable[[Path], None]] = {save_run: half_a_run, save_study: half_a_study}


class Bomb:
    """Executes code when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return (Path.touch, (self.mark,))


def bombs(mark: Path, victim: bytes) -> list[bytes]:
    """Files that execute code if they are read carelessly, and files that are just broken."""
    plain = pickle.dumps(Bomb(mark))
    try:
        names = list(np.load(io.BytesIO(victim), allow_pickle=False))
    except (ValueError, OSError, EOFError, zipfile.BadZipFile):
        names = ["memory", "state"]
    objects, texts, array = io.BytesIO(), io.BytesIO(), io.BytesIO()
    np.savez(objects, **{name: np.array([Bomb(mark)], dtype=object) for name in names})
    np.savez(texts, **{name: np.frombuffer(plain, np.uint8) for name in names})
    np.save(array, np.array([Bomb(mark)], dtype=object), allow_pickle=True)
    executing = [plain, objects.getvalue(), texts.getvalue(), array.getvalue()]
    return executing + [b"", b"\0" * 1000, b"[" * 100_000, victim[: len(victim) // 2], victim + b"more"]


def fingerprints(folder: Path) -> dict[str, str]:
    """All files of a folder with their contents, links as links."""
    out = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            out[str(path)] = f"link to {os.readlink(path)}"
        elif path.is_file():
            out[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return out


def attempt(work: Callable[[Path], bytes], folder: Path) -> bytes | Exception:
    """The result, or what was raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.RunWarning)
        try:
            return work(folder)
        except Exception as error:
            return error


def sentence(error: Exception, folder: Path, reproduce: str) -> Outcome | None:
    """A finding, if what was raised is no refusal that names a path."""
    if not isinstance(error, cc.ClosedChainError | OSError):
        return unforeseen(error, reproduce)
    message = str(error)
    if FOREIGN.search(message.replace(str(folder), "")):
        return found("in words of others", message[:400], reproduce)
    if folder.name not in message and not getattr(error, "filename", None):
        return found("names no path", f"{type(error).__name__}: {message[:300]}", reproduce)
    return None


# ---- the hostile places ----------------------------------------------------------------------------------------------


def foreign(rng: np.random.Generator, home: Path) -> Outcome:
    """A folder that belongs to somebody else."""
    work, folder = pick(rng, FOLDERS), home / "theirs"
    folder.mkdir()
    names = [
        "lock",
        "piece0.t",
        "piece0.x",
        "checkpoint.npz",
        "notes.txt",
        "done.txt",
        "about.json",
        ".zgroup",
        "zarr.json",
    ]
    for name in names:
        if rng.random() < 0.5:
            (folder / name).write_bytes(b"theirs: " + name.encode())
    (folder / "notes.txt").write_text("precious")
    before = fingerprints(folder)
    got = attempt(work, folder)
    return kept(
        before, folder, folder, got, work, f"{work.__name__} into a folder with {[Path(p).name for p in before]}"
    )


def linked(rng: np.random.Generator, home: Path) -> Outcome:
    """A folder whose files are links to somebody else's."""
    work, folder, theirs = pick(rng, FOLDERS), home / "mine", home / "theirs"
    theirs.mkdir()
    (theirs / "precious").write_text("precious")
    if rng.random() < 0.5:
        folder.symlink_to(theirs, target_is_directory=True)
    else:
        folder.mkdir()
        for name in ("lock", "piece0.t", "piece0.x", "checkpoint.npz", "done.txt", "about.json"):
            (folder / name).symlink_to(theirs / "precious")
    before = fingerprints(theirs)
    got = attempt(work, folder)
    how = f"{work.__name__} into {'a link' if folder.is_symlink() else 'links'}"
    return kept(before, theirs, folder, got, work, how)


def kept(before: dict[str, str], where: Path, folder: Path, got: Any, work: Any, how: str) -> Outcome:
    """What was there must be there still, and a refusal names the folder that was given."""
    after = fingerprints(where)
    changed = [Path(path).name for path, what in before.items() if after.get(path) != what]
    if changed:
        return found(
            "foreign files changed", f"{how}: {changed} changed", how, f"{work.__name__} changes foreign files"
        )
    if work is not by_command and set(after) - set(before):  # files of a command may lie beside others
        new = sorted(Path(path).name for path in set(after) - set(before))[:5]
        return found("wrote into a foreign folder", f"{how}: {new}", how, f"{work.__name__} into a foreign folder")
    if isinstance(got, Exception):
        return sentence(got, folder, how) or Outcome("refused")
    return Outcome("kept")


def saved(rng: np.random.Generator, folder: Path) -> tuple[Callable[[Path], bytes], str]:
    """A folder with a run or a study, whole or killed on its way; returns who makes it, and what it is."""
    work = pick(rng, HALVES)
    half = rng.random() < 0.7
    if half:
        HALVES[work](folder)
    else:
        work(folder)
    return work, f"{'half' if half else 'whole'} {work.__name__}"


def shared(rng: np.random.Generator, home: Path) -> Outcome:
    """A file of a saved run or study, or a folder in it, that is somebody else's as well: a link, hard or symbolic."""
    folder, theirs = home / "mine", home / "theirs"
    theirs.mkdir()
    work, what = saved(rng, folder)
    right = work(home / "right")
    hard = bool(rng.integers(2))
    victim = pick(rng, sorted(p for p in folder.rglob("*") if p.is_file() or (p.is_dir() and not hard)))
    other = theirs / victim.name
    shutil.move(victim, other)
    if hard:
        os.link(other, victim)
    else:
        victim.symlink_to(other, target_is_directory=other.is_dir())
    before = fingerprints(theirs)
    got = attempt(work, folder)
    how = f"{what} with {victim.relative_to(folder)} {'hard-linked' if hard else 'linked'} from elsewhere"
    outcome = kept(before, theirs, folder, got, work, how)
    return outcome if outcome.finding else other_result(got, right, how) or outcome


def guests(rng: np.random.Generator, home: Path) -> Outcome:
    """A foreign file inside a folder that is ours: in the dataset, among the partial results, at the top."""
    folder = home / "mine"
    work, what = saved(rng, folder)
    right = work(home / "right")
    room = pick(rng, [folder, *(p for p in sorted(folder.rglob("*")) if p.is_dir())])
    guest = room / pick(rng, ["notes.txt", "0.0.bak", "piece9.t", "thesis/notes.txt", ".hidden", "000099"])
    guest.parent.mkdir(exist_ok=True)
    guest.write_text("precious")
    got = attempt(work, folder)
    how = f"{what} with a foreign {guest.relative_to(folder)}"
    if not guest.exists() or guest.read_text() != "precious":
        return found("foreign files changed", how, how, f"{work.__name__} changes a foreign file among its own")
    if isinstance(got, Exception):
        return sentence(got, folder, how) or Outcome("refused")
    return other_result(got, right, how) or Outcome("kept")


def other_result(got: Any, right: bytes, how: str) -> Outcome | None:
    """A finding, if there is a result and it is not the right one."""
    if isinstance(got, bytes) and got != right:
        return found("another result", how, how)
    return None


def race(rng: np.random.Generator, home: Path) -> Outcome:
    """Two threads that save into one new folder at once: each has the result, or a refusal."""
    work, folder = pick(rng, HALVES), home / "mine"
    right = work(home / "right")
    gate, results = threading.Barrier(2), []

    def one() -> None:
        gate.wait()
        results.append(attempt(work, folder))

    crowd = [threading.Thread(target=one) for _ in range(2)]
    for thread in crowd:
        thread.start()
    for thread in crowd:
        thread.join()
    results.append(attempt(work, folder))
    how = f"two threads with {work.__name__} into one new folder, then the same again"
    for got in results:
        wrong = sentence(got, folder, how) if isinstance(got, Exception) else other_result(got, right, how)
        if wrong:
            return wrong
    if not isinstance(results[2], bytes):
        return found("cannot be resumed", f"{how}: {results[2]}", how)
    return Outcome(f"{sum(isinstance(x, bytes) for x in results)} of 3 results")


def nowhere(rng: np.random.Generator, home: Path) -> Outcome:
    """A place where no folder can be: below a file, a name that is too long, or has a null byte."""
    work = pick(rng, FILES)
    (home / "file").write_text("a file")
    folder = pick(rng, [home / "file" / "x", home / ("long" * 100), home / "null\0byte", Path("/proc/closedchain")])
    got = attempt(work, folder)
    how = f"{work.__name__} into {str(folder)[:80]!r}"
    if isinstance(got, bytes):
        return found("wrote where nothing can be", how, how)
    wrong = isinstance(got, ValueError) and "null" in str(got) and not isinstance(got, cc.ClosedChainError)
    return unforeseen(got, how) if wrong else sentence(got, folder, how) or Outcome("refused")


def planted(rng: np.random.Generator, home: Path) -> Outcome:
    """A file of a saved run or study is replaced by another; the call is made again."""
    work, folder, mark = pick(rng, HALVES), home / "mine", home / "executed"
    right = work(folder)
    if rng.random() < 0.7:  # a checkpoint is read only where there is something to resume
        folder = home / "half"
        HALVES[work](folder)
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    victim = pick(rng, files)
    choice = bombs(mark, victim.read_bytes())
    what = int(rng.integers(len(choice)))
    victim.write_bytes(choice[what])
    got = attempt(work, folder)
    how = f"{work.__name__} with {victim.relative_to(folder)} replaced by bombs()[{what}]"
    if mark.exists():
        return found("executed a planted file", how, how, f"executes {victim.name}")
    if isinstance(got, Exception):
        return sentence(got, folder, how) or Outcome("refused")
    if got != right:
        return found("another result", how, how, f"another result with a damaged {victim.name}")
    return Outcome("the same result")


def full(rng: np.random.Generator, home: Path) -> Outcome:
    """A disk that is full: no file may grow beyond a few bytes."""
    work, folder, most = pick(rng, FILES), home / "mine", int(10 ** rng.uniform(0, 4))
    work(home / "before")  # everything is compiled and cached now
    wanted = fingerprints(home / "before")
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        got = attempt(work, folder)
        kind = "result" if isinstance(got, bytes) else type(got).__mro__[1].__name__ + "/" + type(got).__name__
        path = getattr(got, "filename", None) or ""
        os.write(write, f"{kind}|{path}|{'' if isinstance(got, bytes) else got}".encode()[:4000])
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        kind, _, rest = answer.read().partition("|")
    os.waitpid(child, 0)
    path, _, message = rest.partition("|")
    how = f"{work.__name__} with files of at most {most} bytes"
    short = [
        p.name
        for p in (folder.rglob("*.csv") if folder.exists() else ())
        if hashlib.sha256(p.read_bytes()).hexdigest() != wanted.get(str(home / "before" / p.name))
    ]
    if short:
        return found("a truncated file", f"{how}: {short}", how, f"{work.__name__} leaves a truncated file")
    if not kind:
        return found("crash", f"{how}: the process died", how)
    if kind == "result":
        return Outcome("small enough")
    if not any(name in kind for name in ("ClosedChainError", "OSError", "ValueError/ModelError", "Exception/OSError")):
        return found("raised " + kind, f"{how}: {message[:300]}", how, f"{work.__name__}: {kind}")
    if folder.name not in message and not path:
        return found("names no path", f"{how}: {kind}: {message[:300]}", how, f"{work.__name__} names no path")
    return Outcome("refused")


PLACES = (foreign, foreign, linked, nowhere, planted, planted, planted, full, shared, shared, guests, guests, race)


def attack(rng: np.random.Generator) -> Outcome:
    """One hostile place."""
    place = pick(rng, PLACES)
    with tempfile.TemporaryDirectory(prefix="attack-") as home:
        outcome = place(rng, Path(home))
    label = outcome.label if outcome.finding else f"{place.__name__}: {outcome.label}"
    return Outcome(label, outcome.finding, outcome.signature, outcome.reproduce, outcome.figures)
