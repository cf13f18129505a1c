"""Files of a run: ``--out FILE`` by its ending, ``--out FOLDER`` for all of them."""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from closedchain.cli.parts import output
from closedchain.cli.parts.exits import WrongUsage
from closedchain.disk.names import named
from closedchain.errors import FileError, ModelError

TABLES = (".nc", ".csv")
PICTURES = (".png", ".svg", ".pdf")
IN_FOLDERS = (*TABLES, ".png", ".html")  # one of each kind


def targets(outs: Sequence[str], name: str, endings: Sequence[str], also: Sequence[str] = ()) -> list[Path]:
    """The files to write, with their folders made, so that a long run does not end at a typing error.

    Parameters
    ----------
    outs
        As typed. What exists as a folder, ends in a slash or has no ending is a folder.
    name
        Of the mechanism: files in a folder are called after it.
    endings
        Of files that can be written. A folder gets one of each kind.
    also
        Endings of more files in a folder.
    """
    paths: list[Path] = []
    for out in outs:
        path = typed("--out", out)
        if path.is_dir() or out.endswith(("/", os.sep)) or not path.suffix:
            folder(out)
            kinds = [x for x in endings if x in IN_FOLDERS and (x != ".nc" or has_netcdf())]
            paths += [path / f"{file_name(name)}{ending}" for ending in (*kinds, *also)]
            if ".nc" in endings and not has_netcdf():
                output.say("note", "no .nc file: that needs netCDF4 (pip install 'closedchain[netcdf]')")
        elif path.suffix not in endings:
            known = " or ".join(filter(None, [", ".join(endings[:-1]), endings[-1]]))
            raise WrongUsage(f"--out {out}: a file ends in {known}; for a folder write '{out}/'")
        elif path.suffix == ".nc" and not has_netcdf():
            raise WrongUsage(f"--out {out}: a .nc file needs netCDF4 (pip install 'closedchain[netcdf]')")
        else:
            folder(str(path.parent))
            paths.append(path)
    return list(dict.fromkeys(paths))


def has_netcdf() -> bool:
    """Whether NetCDF files can be written."""
    return importlib.util.find_spec("netCDF4") is not None


def file_name(name: str) -> str:
    """The name of a mechanism as part of a file's name."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "run"


def each(paths: Sequence[Path], one: Callable[[Path], None]) -> tuple[list[str], list[str]]:
    """Write each file with ``one(path)``; returns those that were written, and a sentence for each that was not."""
    written, troubles = [], []
    for path in paths:
        try:
            one(path)
            written.append(str(path))
        except FileError as error:
            troubles.append(str(error))
        except Exception as error:  # of the many ways in which writing fails, none may cost the other files
            troubles.append(f"could not write '{path}': {error}")
    return written, troubles


def typed(option: str, name: str) -> Path:
    """The file or folder that was typed: not empty, without null bytes, ``~`` replaced."""
    try:
        return named(option, name).expanduser()
    except (ModelError, RuntimeError) as error:  # the second: nobody has this home
        raise WrongUsage(str(error)) from error


def folder(name: str | Path, option: str = "--out") -> Path:
    """A folder to write into, made if it is not there."""
    path = typed(option, str(name))
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WrongUsage(f"{option}: cannot make the folder '{path}': {error.strerror}") from error
    if not os.access(path, os.W_OK):
        raise WrongUsage(f"{option}: cannot write into the folder '{path}': permission denied")
    return path
