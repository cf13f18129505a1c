"""Files that are whole: written beside their place, then renamed.

A disk that is full, a crash or a Ctrl-C leaves the file that was there before, or none, never half of one. Every writer
of this package goes through here.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from closedchain.disk.names import named
from closedchain.errors import FileError


@contextlib.contextmanager
def written(path: Any) -> Iterator[Path]:
    """A file beside ``path`` to write to; it takes the place of ``path`` when the block has ended well.

    It has the same ending, by which many libraries choose a format. What fails is told as a `FileError` with the path.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "table.csv"
    >>> with written(target) as fresh:
    ...     _ = fresh.write_text("t,x")
    >>> target.read_text(), len(list(target.parent.iterdir()))
    ('t,x', 1)
    """
    path = named("path", path)
    fresh = path.with_name(f".{path.stem[:100]}-{secrets.token_hex(4)}{path.suffix}")
    try:
        # with the permissions that any new file has, or those of the file that is replaced
        os.close(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        if path.is_file():
            shutil.copymode(path, fresh)
        yield fresh
        with fresh.open("rb+") as file:
            os.fsync(file.fileno())
        os.replace(fresh, path)
    except FileError:
        raise
    except (OSError, RuntimeError) as error:  # the second is how NetCDF tells of a full disk
        raise unwritten(path, error) from error
    finally:
        with contextlib.suppress(OSError):
            fresh.unlink()


def write(path: Any, content: bytes | str) -> None:
    """Write a whole file; text in UTF-8."""
    with written(path) as fresh:
        fresh.write_bytes(content.encode() if isinstance(content, str) else content)


def unwritten(path: Path, error: Exception, then: str = "") -> FileError:
    """The sentence about a file that could not be written, and what to do ``then``."""
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    if isinstance(error, RuntimeError):
        reason = f"{reason} (is the disk full?)"
    if isinstance(error, FileNotFoundError) and not path.parent.is_dir():
        reason = f"there is no folder '{path.parent}'"
    return FileError(f"cannot write '{path}': {reason}{then}", getattr(error, "errno", None), str(path))
