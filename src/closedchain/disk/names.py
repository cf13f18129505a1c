"""Names of files and folders, and small text files, checked before anything is computed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from closedchain.errors import ModelError

# A drawing or a table of a path has some kilobytes, a path sampled at 1 kHz for an hour some 200 MB. What is larger is
# a mistake, and would fill the memory before it is found out.
LARGEST = 512 * 2**20  # bytes


def named(what: str, name: Any) -> Path:
    """The path that was given as ``what``: a text or a path, not empty, without null bytes.

    Examples
    --------
    >>> named("save_to", "")
    Traceback (most recent call last):
        ...
    closedchain.errors.ModelError: save_to is empty: give a name, or "." for the current folder
    """
    if not isinstance(name, str | os.PathLike) or not isinstance(os.fspath(name), str):
        raise ModelError(f"{what} takes the name of a file or a folder, not {name!r}")
    text = os.fspath(name)
    if not text.strip():
        raise ModelError(f'{what} is empty: give a name, or "." for the current folder')
    if "\0" in text:
        raise ModelError(f"{what} = {text!r} has a null byte in it, which no file name can have")
    return Path(text)


def text_of(path: Path, what: str) -> str:
    """The text of a small file; ``what`` it is, for messages."""
    try:
        size = path.stat().st_size
        if size > LARGEST:
            raise ModelError(
                f"{path}: {what} of {size / 2**20:.0f} MB is not read, the limit is {LARGEST / 2**20:.0f} MB: is it the "
                "right file?"
            )
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)  # some files do not know how long they are
    except OSError as error:
        raise ModelError(f"{path}: {what} cannot be read ({error.strerror or error})") from None
    if len(data) > LARGEST:
        raise ModelError(f"{path}: {what} has no end, the limit is {LARGEST / 2**20:.0f} MB: is it the right file?")
    null = data.find(b"\0")
    if null >= 0:
        line = data.count(b"\n", 0, null) + 1
        raise ModelError(f"{path}, line {line}: {what} has a null byte: it is damaged, or no text (UTF-8) at all")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ModelError(f"{path}, line {line}: {what} cannot be read ({error})") from None
