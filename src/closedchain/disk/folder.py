"""A folder that belongs to one run or one study.

It is empty, or it carries our mark: a file with a kind and a format number. In any other folder nothing is touched.
The folder itself may be a link (people keep their results on another disk that way), and is resolved once; nothing in
it may be one, nor a pipe or a device: what is written stays in the folder. While somebody writes, a lock keeps others
out; it ends with the process, however that ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
from pathlib import Path
from typing import Any

from closedchain.disk.names import named
from closedchain.disk.whole import unwritten
from closedchain.errors import ModelError

MARK = "closedchain.json"
LOCK = "lock"
FORMAT = 2  # of all that is in a folder: 1 had no mark
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)

_in_use: dict[Path, int] = {}  # folders that a process writes to: its own locks do not stop it


class Folder:
    """A folder of ours.

    Parameters
    ----------
    given, argument
        The name as given, and the argument that it was given by (for messages).
    kind
        ``"run"`` or ``"study"``.
    own
        A regular expression: names of what it holds.
    """

    def __init__(self, given: Any, argument: str, kind: str, own: str) -> None:
        path = named(argument, given).expanduser()
        self.argument, self.kind, self._own = (
            argument,
            kind,
            re.compile(rf"(?:{re.escape(MARK)}|{LOCK}|{own})(?:\.new)?"),
        )
        try:
            if path.exists() and not path.is_dir():
                raise ModelError(f"{argument}={os.fspath(given)!r} is a file: give the name of a folder")
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ModelError(f"{argument}={os.fspath(given)!r} cannot be made: {error}") from None
        self.shown, self.path = path, path.resolve()
        self._lock: int | None = None

    # ---- whose it is -------------------------------------------------------------------------------------------------

    def claim(self) -> None:
        """Mark and lock the folder, or refuse it with a sentence; nothing foreign is touched."""
        self._check_ours()
        self._check_plain()
        if not (self.path / MARK).exists():
            self.write(MARK, json.dumps({"closedchain": self.kind, "format": FORMAT}).encode())
        self._hold()

    def _check_ours(self) -> None:
        there = sorted(x.name for x in self.path.iterdir())
        mark = self.path / MARK
        if mark.is_symlink() or (mark.exists() and not mark.is_file()):
            raise ModelError(f"{self} holds {MARK!r} that is no plain file: give an empty or a new folder")
        if not mark.exists():
            others = [name for name in there if name != f"{MARK}.new"]  # killed while it was marked
            if others:
                more = " and more" * (len(others) > 1)
                raise ModelError(
                    f"{self} holds {others[0]!r}{more}, but no {self.kind} (no file {MARK}; folders of earlier "
                    "versions have none, and cannot be resumed): give an empty or a new folder"
                )
            return
        try:
            told = json.loads(mark.read_text(encoding="utf-8"))
            kind, version = str(told["closedchain"]), told["format"]
        except (OSError, ValueError, KeyError, TypeError):
            raise ModelError(f"{mark} cannot be read, it is damaged: {self.advice()}") from None
        if kind != self.kind:
            raise ModelError(f"{self} holds a {kind}, not a {self.kind}: give another folder")
        if version != FORMAT:
            raise ModelError(
                f"{self} has format {version!r}, this version of closedchain writes {FORMAT}: give another folder"
            )

    def _check_plain(self) -> None:
        """No links, pipes or devices of the names that are ours, at any depth."""
        for name in self.mine():
            self.refuse_links(name)

    def refuse_links(self, name: str) -> None:
        """Refuse an entry that is, or holds, anything but plain files and folders."""
        with contextlib.suppress(FileNotFoundError):
            mode = os.lstat(self.path / name).st_mode
            if stat.S_ISDIR(mode):
                for entry in os.listdir(self.path / name):
                    self.refuse_links(f"{name}/{entry}")
            elif not stat.S_ISREG(mode):
                what = "a link" if stat.S_ISLNK(mode) else "no plain file"
                raise ModelError(
                    f"{str(self.shown / name)!r} is {what}, and nothing is written through it: {self.advice()}"
                )

    def mine(self) -> list[str]:
        """Names of what is there and is ours."""
        return sorted(x.name for x in self.path.iterdir() if self._own.fullmatch(x.name))

    def advice(self) -> str:
        """How to begin anew without losing anything foreign."""
        mine = self.mine()
        foreign = sorted(x.name for x in self.path.iterdir() if x.name not in mine)
        if not foreign:
            return "give another folder, or delete this one to begin anew"
        kept = f"{foreign[0]!r}{' and more' * (len(foreign) > 1)}"
        return f"give another folder, or delete {', '.join(mine)} in it to begin anew, but not {kept}"

    def __str__(self) -> str:
        return f"the folder {str(self.shown)!r}"

    # ---- one at a time -----------------------------------------------------------------------------------------------

    def _hold(self) -> None:
        refusal = ModelError(
            f"another {self.kind} is writing to {str(self.shown)!r} just now: wait for it, or give another folder"
        )
        if _in_use.get(self.path) == os.getpid():
            raise refusal
        self._lock = self.open(LOCK)
        try:
            import fcntl

            # not `flock`: workers that are forked would hold it, too, and survive for a moment
            fcntl.lockf(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:  # not on every system
            pass
        except OSError:
            os.close(self._lock)
            self._lock = None
            raise refusal from None
        _in_use[self.path] = os.getpid()

    def release(self) -> None:
        """Let others in."""
        if self._lock is not None:
            _in_use.pop(self.path, None)
            os.close(self._lock)
            self._lock = None

    # ---- files -------------------------------------------------------------------------------------------------------

    def open(self, name: str, append: bool = False) -> int:
        """Open a file for reading and writing, made if it is not there, never emptied, never through a link."""
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
        fresh = self.path / f"{name}.new"
        try:
            with contextlib.suppress(FileNotFoundError):
                fresh.unlink()  # of a writer that was killed
            handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINKS, 0o666)
            with os.fdopen(handle, "wb") as file:
                file.write(content)
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
        then = f". What the {self.kind} had saved before is whole: make room, and the same call goes on from there"
        return unwritten(self.shown / name, error, then)
