"""Object code on disk, in the user's cache folder.

An entry is a file whose name is the digest of everything that the code depends on. Its head is a digest of its body:
a truncated or altered file is seen, and treated as absent. Files are written under a temporary name and moved into
place, so that a reader never sees half of one and several writers may race. A folder that cannot be written is not an
error: the code is compiled again in the next run.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

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
    shared = os.environ.get("XDG_CACHE_HOME")
    root = Path(shared) if shared else Path("~/.cache").expanduser()
    return root / "closedchain" / "native"


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
    """The object code of an entry, None if there is none or if it is damaged."""
    try:
        data = _path(entry).read_bytes()
    except OSError:
        return None
    head = len(_MAGIC) + _DIGEST_LENGTH
    body = data[head:]
    if data[:head] != _MAGIC + hashlib.sha256(body).digest():
        return None
    return body


def store(entry: str, body: bytes) -> bool:
    """Keep object code; False if the folder cannot be written."""
    path = _path(entry)
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
        with os.fdopen(handle, "wb") as file:
            file.write(_MAGIC + hashlib.sha256(body).digest() + body)
        os.replace(temporary, path)
    except OSError:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        return False
    return True


def _path(entry: str) -> Path:
    # two letters of the digest as a folder: no folder grows very long
    return cache_folder() / entry[:2] / f"{entry[2:]}.o"
