"""Names of files and folders, and small text files, checked before anything is computed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from closedchain.errors import ModelError

# A path sampled at 1 kHz for an hour has some 200 MB, a program that a person has written not one. What is larger is a
# mistake, and would fill the memory before it is found out.
LARGEST_TABLE = 512 * 2**20  # bytes
LARGEST_PROGRAM = 16 * 2**20


def named(what: str, name: Any) -> Path:
    """The path that was given as ``what``: a text or a path, not empty, without null bytes.

    Examples
    --------
    >>> named("save", "")
    Traceback (most recent call last):
        ...
    closedchain.errors.ModelError: save is empty: give a name, or "." for the current folder
    """
    if not isinstance(name, str | os.PathLike) or not isinstance(os.fspath(name), str):
        raise ModelError(f"{what} takes the name of a file or a folder, not {name!r}")
    text = os.fspath(name)
    if not text.strip():
        raise ModelError(f'{what} is empty: give a name, or "." for the current folder')
    if "\0" in text:
        raise ModelError(f"{what} = {text!r} has a null byte in it, which no file name can have")
    return Path(text)


def data_of(path: Path, what: str, most: int) -> bytes:
    """The content of a text file of at most so many bytes; ``what`` it is, for messages."""
    limit = f"the limit is {most / 2**20:.3g} MB: is it the right file?"
    try:
        size = path.stat().st_size
        if size > most:
            raise ModelError(f"{path}: {what} of {size / 2**20:.3g} MB is not read, {limit}")
        with path.open("rb") as file:
            data = file.read(most + 1)  # some files do not know how long they are
    except (OSError, ValueError) as error:  # the second: a null byte in its name
        raise ModelError(f"{path}: {what} cannot be read ({getattr(error, 'strerror', None) or error})") from None
    if len(data) > most:
        raise ModelError(f"{path}: {what} has no end, {limit}")
    null = data.find(b"\0")
    if null >= 0:
        raise ModelError(f"{path}, line {_line(data, null)}: {what} has a null byte: it is damaged, or no text at all")
    return data


def text_of(path: Path, what: str, most: int = LARGEST_TABLE) -> str:
    """The text of a file in UTF-8."""
    data = data_of(path, what, most)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ModelError(f"{path}, line {_line(data, error.start)}: {what} cannot be read ({error})") from None


def _line(data: bytes, place: int) -> int:
    return data.count(b"\n", 0, place) + 1
