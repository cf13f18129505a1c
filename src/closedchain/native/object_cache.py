"""Object code on disk, in the user's cache folder.

An entry is a file whose name is the digest of everything that the code depends on. Its head is a digest of its body:
a truncated or altered file is seen, and treated as absent. Files are written under a temporary name and moved into
place, so that a reader never sees half of one and several writers may race.

An entry is executed, so it must be ours: the folder, and all folders above it, can be written by nobody else
(`closedchain.disk.trusted`), and the entry is a plain file of this user. A folder that others can write to, that cannot
be written, or that does not exist for want of a home is not used. That is no error but a warning, once: the code is
compiled in memory, as in a first run.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
import warnings
from pathlib import Path

from closedchain.disk.trusted import distrust, distrust_file

# raised whenever the same key may mean other object code
FORMAT = "closedchain-native-1"
_MAGIC = b"closedchain object 1\n"
_DIGEST_LENGTH = 32


def cache_folder() -> Path:
    """Where object code is kept.

    ``CLOSEDCHAIN_CACHE_DIR`` if it is set, else ``closedchain`` in ``XDG_CACHE_HOME``, else in ``~/.cache``; in it
    the folder ``native``.
    """
    own = os.environ.get("CLOSEDCHAIN_CACHE_DIR")
    if own:
        return Path(own) / "native"
    shared = os.environ.get("XDG_CACHE_HOME", "")
    root = Path(shared) if os.path.isabs(shared) else _home() / ".cache"  # a relative one is to be ignored
    return root / "closedchain" / "native"


def _home() -> Path:
    """The user's folder; RuntimeError if there is none."""
    if os.name == "posix" and not os.environ.get("HOME"):
        import pwd

        try:
            return Path(pwd.getpwuid(os.getuid()).pw_dir)
        except KeyError:
            raise RuntimeError("HOME is not set, and the user has no folder") from None
    return Path.home()


# ---- may it be used? -------------------------------------------------------------------------------------------------

_checked: dict[Path, str] = {}  # folders, and why they are not used; empty if they are
_said: set[str] = set()


def usable(folder: Path, make: bool) -> bool:
    """Whether a folder is there and only this user can write to it; it is made if wanted. If not, a word is said once.

    OSError if it cannot be made.
    """
    if folder not in _checked:
        why = distrust(folder)
        if not why and make:
            _make(folder)
        if not why and folder.is_dir():
            why = distrust(folder)  # somebody may have been faster
        elif not why:
            return False
        _checked[folder] = why
        if why:
            say(folder, f"{why}, and code that they plant would be executed")
    return not _checked[folder]


def _make(folder: Path) -> None:
    """A folder and those above it, closed to all others whatever the habits of the process."""
    for place in (*reversed(folder.parents), folder):
        if not place.is_dir():
            with contextlib.suppress(FileExistsError):
                place.mkdir(mode=0o700)


def say(folder: Path | None, why: str) -> None:
    """Warn that a cache folder is not used, once for a reason."""
    where = "no cache folder" if folder is None else f"the cache folder '{folder}' is not used"
    told = f"{where}: {why}"
    if told not in _said:
        _said.add(told)
        warnings.warn(
            f"{told}. Each process compiles anew, in memory. Set CLOSEDCHAIN_CACHE_DIR to a folder that you, and only "
            "you, can write to",
            RuntimeWarning,
            stacklevel=2,
        )


# ---- entries ---------------------------------------------------------------------------------------------------------


def key(*parts: str) -> str:
    """Digest of what the object code depends on.

    Examples
    --------
    >>> key("ir", "cpu") == key("i", "rcpu")
    False
    """
    digest = hashlib.sha256()
    for part in (FORMAT, *parts):
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


def load(entry: str) -> bytes | None:
    """The object code of an entry, None if there is none, if it is damaged or if it may be somebody else's."""
    folder = _folder(make=False)
    if folder is None:
        return None
    try:
        handle = os.open(_path(folder, entry), os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(handle, "rb") as file:
            about = os.fstat(handle)
            if not stat.S_ISREG(about.st_mode) or distrust_file(about):
                return None
            data = file.read()
    except OSError:
        return None
    head = len(_MAGIC) + _DIGEST_LENGTH
    body = data[head:]
    if data[:head] != _MAGIC + hashlib.sha256(body).digest():
        return None
    return body


def store(entry: str, body: bytes) -> bool:
    """Keep object code; False if the folder cannot be used."""
    folder = _folder(make=True)
    if folder is None:
        return False
    path = _path(folder, entry)
    temporary = None
    try:
        _make(path.parent)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".writing-")  # which nobody else can read
        with os.fdopen(handle, "wb") as file:
            file.write(_MAGIC + hashlib.sha256(body).digest() + body)
        os.replace(temporary, path)
    except OSError as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        say(folder, f"it cannot be written ({error.strerror or error})")
        return False
    return True


def _folder(make: bool) -> Path | None:
    """The folder of the entries, None if it is not there or must not be used."""
    folder = None
    try:
        folder = cache_folder()
        return folder if usable(folder, make) else None
    except (OSError, RuntimeError) as error:
        say(folder, f"it cannot be made ({error})" if folder is not None else str(error))
        return None


def _path(folder: Path, entry: str) -> Path:
    # two letters of the digest as a folder: no folder grows very long
    return folder / entry[:2] / f"{entry[2:]}.o"
