"""Folders from which machine code is loaded: only this user, and the administrator, may be able to write to them.

Whoever can put a file into such a folder, or rename a folder above it, could have it executed. So all folders from
the root down to this one, links followed, belong to the user or to the administrator and are closed to writers among
the others. Above the folder itself the sticky bit will do, as in ``/tmp``: there nobody can rename what belongs to
somebody else. A group counts as the others, unless it is the user's private one. Windows has no such owners and
modes; its folders of users are closed by default.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

OTHERS = stat.S_IWGRP | stat.S_IWOTH


def distrust(folder: Path) -> str:
    """Why nothing in a folder may be executed; empty if it may. The folder need not be there yet."""
    if os.name != "posix":
        return ""
    path = Path(os.path.realpath(folder))
    while not path.exists():
        path = path.parent
    there = path == Path(os.path.realpath(folder))
    for place in (path, *path.parents):
        about = place.stat()
        sticky = about.st_mode & stat.S_ISVTX and not (there and place == path)
        why = _open_to_others(about, sticky=bool(sticky))
        if why:
            return f"'{place}' {why}"
    return ""


def distrust_file(about: os.stat_result) -> str:
    """Why a file in a trusted folder may not be executed; empty if it may."""
    return _open_to_others(about, sticky=False) if os.name == "posix" else ""


def distrust_all(folder: Path) -> str:
    """The same for a folder and everything in it, at any depth."""
    why = distrust(folder)
    if why or os.name != "posix" or not folder.is_dir():
        return why
    for place, folders, files in os.walk(folder):
        closed = not os.stat(place).st_mode & (stat.S_IXGRP | stat.S_IXOTH)  # nobody else can get in
        for name in (*folders, *files):
            about = os.lstat(os.path.join(place, name))
            if stat.S_ISLNK(about.st_mode):
                return f"'{os.path.join(place, name)}' is a link"
            why = _owner(about) if closed else _open_to_others(about, sticky=False)
            if why:
                return f"'{os.path.join(place, name)}' {why}"
    return ""


def _open_to_others(about: os.stat_result, sticky: bool) -> str:
    writers = about.st_mode & OTHERS
    if writers == stat.S_IWGRP and _private(about.st_gid):
        writers = 0
    if writers and not sticky:
        return f"can be written by others (mode {stat.S_IMODE(about.st_mode):o})"
    return _owner(about)


def _owner(about: os.stat_result) -> str:
    return "" if about.st_uid in (0, os.geteuid()) else f"belongs to another user (number {about.st_uid})"


def _private(group: int) -> bool:
    """Whether a group has the user as its only member: many systems give everybody such a group."""
    import grp
    import pwd

    try:
        user, entry = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
    except KeyError:
        return False
    return user.pw_gid == group and entry.gr_name == user.pw_name and not set(entry.gr_mem) - {user.pw_name}
