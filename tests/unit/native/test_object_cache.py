"""The object cache: cold and warm, damaged entries, racing writers, folders that cannot be written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import casadi
import numpy as np
import pytest

from closedchain.native import cache_folder, compile_function, engine, object_cache
from closedchain.native.function import NativeFunction


def make(cache: bool = True, name: str = "f") -> NativeFunction:
    x = casadi.SX.sym("x", 3)
    return compile_function(name, {"x": x}, {"y": casadi.sin(x) * casadi.sumsqr(x)}, cache=cache)


def entry(folder: Path) -> Path:
    (path,) = folder.rglob("*.o")
    return path


def check(native: NativeFunction) -> None:
    x = np.array([0.1, 0.2, 0.3])
    np.testing.assert_allclose(native(x), np.sin(x) * (x @ x), rtol=1e-15)


def test_cold_then_warm_under_any_name(cache_dir: Path) -> None:
    cold, warm = make(), make(name="another")
    assert (cold.timings.cached, warm.timings.cached) == (False, True)
    assert cold.counts == warm.counts
    check(cold)
    check(warm)


def test_cache_can_be_refused(cache_dir: Path) -> None:
    assert not make(cache=False).timings.cached
    assert not cache_dir.exists()


@pytest.mark.parametrize("damage", ["empty", "truncated", "flipped head", "flipped body", "longer", "text"])
def test_damaged_entry_is_recompiled_and_rewritten(cache_dir: Path, damage: str) -> None:
    make()
    path = entry(cache_dir)
    good = path.read_bytes()
    flip = {"flipped head": 30, "flipped body": len(good) // 2}
    bad = {"empty": b"", "truncated": good[:-100], "longer": good + b"x", "text": b"not an object"}.get(damage)
    if bad is None:
        at = flip[damage]
        bad = good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :]
    path.write_bytes(bad)
    native = make()
    assert not native.timings.cached
    check(native)
    assert path.read_bytes() == good
    assert make().timings.cached


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What LLVM was asked to compile."""
    done: list[str] = []
    real = engine._compile

    def counted(text: str, effort: engine.Effort) -> bytes:
        done.append(text)
        return real(text, effort)

    monkeypatch.setattr(engine, "_compile", counted)
    return done


def no_space(*_: object, **__: object) -> None:
    raise OSError(28, "No space left on device")


def test_unwritable_folder_is_not_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[str]
) -> None:
    # a file where the folder should be: this fails for every user, also for one who may write anywhere
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("CLOSEDCHAIN_CACHE_DIR", str(tmp_path / "file"))
    with pytest.warns(RuntimeWarning, match=r"file/native' is not used: it cannot be made .*CLOSEDCHAIN_CACHE_DIR"):
        native = make()
    assert not native.timings.cached and len(compilations) == 1
    check(native)
    assert not object_cache.store("00aa", b"code")  # and nothing more is said


def test_a_full_disk_is_not_an_error(cache_dir: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[str]) -> None:
    monkeypatch.setattr(object_cache.os, "replace", no_space)
    with pytest.warns(RuntimeWarning, match=r"it cannot be written \(No space left on device\)"):
        check(make())
    assert len(compilations) == 1  # no slower than the first time on any disk
    check(make())
    assert not [x for x in cache_dir.rglob("*") if x.is_file()]


def test_no_home_is_not_an_error(monkeypatch: pytest.MonkeyPatch, compilations: list[str]) -> None:
    for name in ("CLOSEDCHAIN_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", lambda number: {}[number])
    with pytest.warns(RuntimeWarning, match="no cache folder: HOME is not set, and the user has no folder"):
        check(make())
    assert len(compilations) == 1


@pytest.mark.parametrize("home", [None, ""])
def test_without_home_the_folder_of_the_user_is_found(monkeypatch: pytest.MonkeyPatch, home: str | None) -> None:
    import pwd

    for name in ("CLOSEDCHAIN_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    if home is not None:
        monkeypatch.setenv("HOME", home)
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # to be ignored, says its standard
    assert cache_folder() == Path(pwd.getpwuid(os.getuid()).pw_dir) / ".cache" / "closedchain" / "native"


# ---- planted entries are never executed ------------------------------------------------------------------------------


def planted(folder: Path) -> Path:
    """An entry with a good digest and other code: what it computes is not what the function says."""
    make()
    path = entry(folder)
    x = casadi.SX.sym("x", 3)
    other = compile_function("f", {"x": x}, {"y": casadi.cos(x)})
    assert not other.timings.cached
    path.write_bytes(next(p for p in folder.rglob("*.o") if p != path).read_bytes())
    object_cache._checked.clear()
    return path


def test_a_planted_entry_would_be_executed(cache_dir: Path) -> None:
    """The attack works where the owner himself plants the code: what follows shows something."""
    planted(cache_dir)
    x = np.array([0.1, 0.2, 0.3])
    assert make().timings.cached
    np.testing.assert_allclose(make()(x), np.cos(x))


@pytest.mark.parametrize("place", ["", "native"])
def test_a_folder_of_everybody_is_not_used(cache_dir: Path, place: str) -> None:
    planted(cache_dir)
    (cache_dir / place).chmod(0o777)
    with pytest.warns(RuntimeWarning, match=r"can be written by others \(mode 777\), and code that they plant"):
        native = make()
    assert not native.timings.cached
    check(native)
    assert not object_cache.store("00aa", b"code") and not list(cache_dir.rglob("aa.o"))


def test_nothing_is_made_in_a_folder_of_everybody(cache_dir: Path) -> None:
    cache_dir.mkdir()
    cache_dir.chmod(0o777)
    with pytest.warns(RuntimeWarning, match="can be written by others"):
        check(make())
    assert not list(cache_dir.iterdir())


@pytest.mark.parametrize("mode", [0o700, 0o755])
def test_a_folder_of_ones_own_is_used(cache_dir: Path, mode: int) -> None:
    cache_dir.mkdir()
    cache_dir.chmod(mode)
    make()
    assert make().timings.cached


@pytest.mark.parametrize("how", ["mode", "owner", "link"])
def test_an_entry_of_somebody_else_is_not_used(cache_dir: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    path = planted(cache_dir)
    if how == "mode":
        path.chmod(0o666)
    elif how == "link":
        path.rename(cache_dir / "elsewhere")
        path.symlink_to(cache_dir / "elsewhere")
    elif os.geteuid() == 0:
        os.chown(path, 12345, -1)
    else:
        pytest.skip("only the administrator can give a file away")
    native = make()
    assert not native.timings.cached
    check(native)
    assert make().timings.cached  # replaced by a good one
    check(make())


def test_folders_are_closed_whatever_the_habits(cache_dir: Path) -> None:
    before = os.umask(0)
    try:
        make()
    finally:
        os.umask(before)
    assert {x.stat().st_mode & 0o777 for x in (cache_dir, *cache_dir.rglob("*")) if x.is_dir()} == {0o700}
    assert make().timings.cached


def test_where_the_folder_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert cache_folder() == tmp_path / "cache" / "native"
    monkeypatch.delenv("CLOSEDCHAIN_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "closedchain" / "native"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "closedchain" / "native"


def test_key_depends_on_every_part() -> None:
    assert len({object_cache.key(*parts) for parts in (("a", "b"), ("ab",), ("a", "c"), ("b", "a"))}) == 4


WRITER = """
import sys
from closedchain.native import object_cache
entry, size = "ab" + "0" * 62, 300_000
for i in range(60):
    object_cache.store(entry, bytes([i]) * size)
    body = object_cache.load(entry)
    if body is None or len(body) != size or len(set(body)) != 1:
        sys.exit("a reader saw a broken entry")
"""


def test_racing_writers_never_show_half_an_entry(cache_dir: Path) -> None:
    writers = [subprocess.Popen([sys.executable, "-c", WRITER], stderr=subprocess.PIPE) for _ in range(3)]
    for writer in writers:
        _, message = writer.communicate(timeout=120)
        assert writer.returncode == 0, message.decode()
    assert [path.suffix for path in cache_dir.rglob("*") if path.is_file()] == [".o"]


COMPILER = """
import casadi
from closedchain.native import compile_function
x = casadi.SX.sym("x", 3)
f = compile_function("f", {"x": x}, {"y": casadi.sin(x) * casadi.sumsqr(x)})
assert abs(f([0, 0, 1])[2] - 0.8414709848078965) < 1e-15
"""


def test_several_processes_compile_the_same_function(cache_dir: Path) -> None:
    processes = [subprocess.Popen([sys.executable, "-c", COMPILER], stderr=subprocess.PIPE) for _ in range(3)]
    for process in processes:
        _, message = process.communicate(timeout=120)
        assert process.returncode == 0, message.decode()
    assert make().timings.cached
