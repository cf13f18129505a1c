"""The object cache: cold and warm, damaged entries, racing writers, folders that cannot be written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import casadi
import numpy as np
import pytest

from closedchain.native import cache_folder, compile_function, object_cache
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


def test_unwritable_folder_is_not_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # a file where the folder should be: this fails for every user, also for one who may write anywhere
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("CLOSEDCHAIN_CACHE_DIR", str(tmp_path / "file"))
    native = make()
    assert not native.timings.cached
    check(native)
    assert not object_cache.store("00aa", b"code")


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
