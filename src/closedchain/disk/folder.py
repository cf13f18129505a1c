"""A folder that belongs to one run or one study.

It is empty, or it carries our mark: a file with a kind, a format number, and the version that wrote it. In any other
folder nothing is touched, and in a marked one nothing but files of the names that are ours. The folder itself may be a
link (people keep their results on another disk that way), and is resolved once; none of our files may be one, nor a
pipe or a device: what is written stays in the folder. A file with a second name elsewhere (a hard link) is copied
before it is changed. While somebody writes, a lock keeps other threads and processes out; it ends with the process,
however that ends.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from closedchain._version import __version__
from closedchain.disk.names import named
from closedchain.disk.whole import unwritten
from closedchain.errors import FileError, ModelError

MARK = "closedchain.json"
LOCK = "lock"
KINDS = ("run", "study")
FORMAT = 4  # of all that is in a folder: 1 had no mark
# Who reads earlier formats, whose marks do not name a version: they were written before the first release.
READERS = {
    2: "closedchain 0.1.0 before its release, until commit 7850684",
    3: "closedchain 0.1.0 before its release, until commit 81883ee",
}
_FRESH_MARK = rf"{re.escape(MARK)}(?:\.[0-9a-f]{{16}})?\.new"  # as it is written, before it has its name
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)

# Folders that this process writes to, by process, device and number: its own locks do not stop it.
_in_use: dict[tuple[int, int, int], Folder] = {}


def mark_of(kind: str) -> dict[str, Any]:
    """What the mark says: the kind, the format, and the version that wrote it."""
    return {"closedchain": kind, "format": FORMAT, "version": __version__}


class Folder:
    """A folder of ours.

    Parameters
    ----------
    given, argument
        The name as given, and the argument that it was given by (for messages).
    kind
        ``"run"`` or ``"study"``.
    own
        A regular expression: names of the files that it holds, those in a room as ``room/name``.
    rooms
        Names of the folders in it that hold files of ours.
    """

    def __init__(self, given: Any, argument: str, kind: str, own: str, rooms: tuple[str, ...] = ()) -> None:
        path = named(argument, given).expanduser()
        self.argument, self.kind, self._rooms = argument, kind, rooms
        self._own = re.compile(rf"(?:{re.escape(MARK)}|{LOCK}|{own})(?:\.new)?|{_FRESH_MARK}")
        try:
            if path.exists() and not path.is_dir():
                raise ModelError(f"{argument}={os.fspath(given)!r} is a file: give the name of a folder")
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ModelError(f"{argument}={os.fspath(given)!r} cannot be made: {error}") from None
        self.shown, self.path = path, path.resolve()
        self._lock: tuple[tuple[int, int, int], int] | None = None

    # ---- whose it is -------------------------------------------------------------------------------------------------

    def claim(self) -> None:
        """Mark and lock the folder, or refuse it with a sentence; nothing foreign is touched."""
        if self._marked():
            self._check_plain()
        else:
            self._mark()
        self._hold()
        try:
            if not self._marked():  # of two that were here at once, one has marked it
                raise ModelError(f"{self} was emptied by somebody else just now: give another folder")
        except BaseException:
            self.release()
            raise
        for name in os.listdir(self.path):  # of those who were killed while they marked it
            if re.fullmatch(_FRESH_MARK, name):
                with contextlib.suppress(OSError):
                    (self.path / name).unlink()

    def _marked(self) -> bool:
        """Whether the folder is marked as one of this kind; False if it is empty; any other one is refused."""
        there = sorted(x.name for x in self.path.iterdir())
        mark = self.path / MARK
        if mark.is_symlink() or (mark.exists() and not mark.is_file()):
            raise ModelError(f"{self} holds {MARK!r} that is no plain file: give an empty or a new folder")
        if not mark.exists():
            others = [name for name in there if not re.fullmatch(_FRESH_MARK, name)]  # killed while it was marked
            if others:
                more = " and more" * (len(others) > 1)
                raise ModelError(
                    f"{self} holds {others[0]!r}{more}, but no {self.kind} (no file {MARK}; folders of earlier "
                    "versions have none, and cannot be resumed): give an empty or a new folder"
                )
            return False
        try:
            told = json.loads(mark.read_text(encoding="utf-8"))
            kind, form, version = str(told["closedchain"]), told["format"], told.get("version")
        except (OSError, ValueError, KeyError, TypeError):
            raise ModelError(f"{mark} cannot be read, it is damaged: {self.advice()}") from None
        if kind not in KINDS and form == FORMAT:
            raise ModelError(f"{mark} is damaged, it names a {kind[:60]!r}: {self.advice()}")
        if kind != self.kind:
            raise ModelError(f"{self} holds a {kind}, not a {self.kind}: give another folder")
        if form != FORMAT:
            reader = READERS.get(form) if isinstance(form, int) else None
            reader = f"closedchain {version[:40]}" if isinstance(version, str) else reader
            advice = f"read it with {reader}, which wrote it" if reader else "it comes from another version"
            raise ModelError(
                f"{self} has format {form!r}, closedchain {__version__} writes {FORMAT}: {advice}; or give another "
                "folder"
            )
        return True

    def _mark(self) -> None:
        """Put the mark there, unless somebody else was faster."""
        fresh, mark = self.path / f"{MARK}.{secrets.token_hex(8)}.new", self.path / MARK
        try:
            with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINKS, 0o666), "wb") as file:
                file.write(json.dumps(mark_of(self.kind)).encode())
                file.flush()
                os.fsync(file.fileno())
            with contextlib.suppress(FileNotFoundError, FileExistsError):  # the fastest has cleared ours away
                try:
                    os.link(fresh, mark)  # which never replaces anything
                except FileExistsError:
                    raise
                except (OSError, AttributeError):  # a disk or a system without links
                    os.replace(fresh, mark)
        except OSError as error:
            raise unwritten(self.shown / MARK, error) from error
        finally:
            with contextlib.suppress(OSError):
                fresh.unlink()

    def _check_plain(self) -> None:
        """No links, pipes or devices of the names that are ours, nor in our rooms."""
        for name in self._files():
            if self._own.fullmatch(name) or name.partition("/")[0] in self._rooms:
                self.refuse_links(name)

    def refuse_links(self, name: str) -> None:
        """Refuse what should be a file and is something else."""
        with contextlib.suppress(FileNotFoundError):
            mode = os.lstat(self.path / name).st_mode
            if not stat.S_ISREG(mode):
                what = "a link" if stat.S_ISLNK(mode) else "no plain file"
                raise ModelError(
                    f"{str(self.shown / name)!r} is {what}, and nothing is written through it: {self.advice()}"
                )

    def _files(self) -> Iterator[str]:
        """Names of all that is in the folder and in its rooms, which are gone through at any depth."""
        waiting = [""]
        while waiting:
            within = waiting.pop()
            for entry in sorted(os.scandir(self.path / within), key=lambda x: x.name):
                name = f"{within}{entry.name}"
                if entry.is_dir(follow_symlinks=False) and name.partition("/")[0] in self._rooms:
                    waiting.append(f"{name}/")
                else:
                    yield name

    def strangers(self) -> list[str]:
        """Names of what is there and is not ours."""
        return [name for name in self._files() if not self._own.fullmatch(name)]

    def advice(self) -> str:
        """How to begin anew without losing anything foreign."""
        foreign = self.strangers()
        if not foreign:
            return "give another folder, or delete this one to begin anew"
        kept = f"{foreign[0]!r}{' and more' * (len(foreign) > 1)}"
        if any("/" in name for name in foreign):
            return f"give another folder, this one holds {kept}, which is no part of a {self.kind}"
        mine = sorted({name.partition("/")[0] for name in self._files()} - set(foreign))
        return f"give another folder, or delete {', '.join(mine)} in it to begin anew, but not {kept}"

    def __str__(self) -> str:
        return f"the folder {str(self.shown)!r}"

    # ---- one at a time -----------------------------------------------------------------------------------------------

    def _hold(self) -> None:
        refusal = ModelError(
            f"another {self.kind} is writing to {str(self.shown)!r} just now: wait for it, or give another folder"
        )
        about = os.stat(self.path)
        key = os.getpid(), about.st_dev, about.st_ino
        if _in_use.setdefault(key, self) is not self:  # one operation: of two threads one is the first
            raise refusal
        try:
            self._lock = key, self._open(LOCK)
        except BaseException:
            del _in_use[key]
            raise
        try:
            import fcntl

            # not `flock`: workers that are forked would hold it, too, and survive for a moment
            fcntl.lockf(self._lock[1], fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:  # not on every system
            pass
        except OSError as error:
            self.release()
            if error.errno in (errno.EACCES, errno.EAGAIN):
                raise refusal from None
            raise ModelError(f"{self} cannot be locked ({error.strerror}): give one on another disk") from None

    def release(self) -> None:
        """Let others in."""
        if self._lock is not None:
            key, handle = self._lock
            self._lock = None
            os.close(handle)
            _in_use.pop(key, None)

    # ---- files -------------------------------------------------------------------------------------------------------

    def open(self, name: str, append: bool = False) -> int:
        """Open a file for reading and writing, made if it is not there, never emptied, never through a link.

        Of a file that has a second name elsewhere, a copy takes the place: what is there is not ours to change.
        """
        handle = self._open(name, append)
        if os.fstat(handle).st_nlink > 1:
            with os.fdopen(handle, "rb") as shared:
                self._replace(name, lambda file: shutil.copyfileobj(shared, file))
            handle = self._open(name, append)
        return handle

    def _open(self, name: str, append: bool = False) -> int:
        flags = os.O_RDWR | os.O_CREAT | _NO_LINKS | (os.O_APPEND if append else 0)
        try:
            return os.open(self.path / name, flags, 0o666)
        except OSError as error:
            raise unwritten(self.shown / name, error) from error

    def append(self, name: str, content: bytes) -> None:
        """Add to the end of a file."""
        self.put(name, content, None)

    def put(self, name: str, content: bytes, place: int | None) -> None:
        """Write into a file from a place on; None: at its end."""
        try:
            with os.fdopen(self.open(name, append=place is None), "wb" if place is None else "r+b") as file:
                if place is not None:
                    file.seek(place)
                file.write(content)
        except OSError as error:
            raise self._unwritten(name, error) from error

    def cut(self, name: str, length: int) -> None:
        """Give a file a length."""
        handle = self.open(name)
        try:
            os.ftruncate(handle, length)
        finally:
            os.close(handle)

    def sync(self, name: str) -> None:
        """Have a file on the disk, whatever happens to the power."""
        handle = self.open(name)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    def read(self, name: str) -> bytes:
        """A whole file."""
        return (self.path / name).read_bytes()

    def write(self, name: str, content: bytes) -> None:
        """Replace a file in one operation of the file system."""
        self._replace(name, lambda file: file.write(content))

    def _replace(self, name: str, fill: Callable[[BinaryIO], object]) -> None:
        fresh = self.path / f"{name}.new"
        try:
            with contextlib.suppress(FileNotFoundError):
                fresh.unlink()  # of a writer that was killed
            handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINKS, 0o666)
            with os.fdopen(handle, "wb") as file:
                fill(file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(fresh, self.path / name)
            with contextlib.suppress(OSError):  # folders cannot be opened on every system
                handle = os.open(self.path, os.O_RDONLY)
                try:
                    os.fsync(handle)
                finally:
                    os.close(handle)
        except OSError as error:
            with contextlib.suppress(OSError):
                fresh.unlink()
            raise self._unwritten(name, error) from error

    def _unwritten(self, name: str, error: OSError) -> Exception:
        cause = error.__cause__ if isinstance(error, FileError) else error  # said without advice, when it was opened
        then = f". What the {self.kind} had saved before is whole: make room, and the same call goes on from there"
        if not self.path.is_dir():
            then = f", it was removed during the {self.kind}, with all that was saved: the same call begins anew"
        return unwritten(self.shown / name, cause if isinstance(cause, OSError) else error, then)
