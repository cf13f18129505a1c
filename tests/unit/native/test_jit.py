"""Machine code is kept on disk, found again, and never stale."""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import numba
import pytest
from numba.core.event import install_recorder

import closedchain.native.jit as jit_module
from closedchain.native.jit import cache_directory, jit, jitted_sources, source_digest

PROGRAM = textwrap.dedent(
    """
    from closedchain.integrate import project, step_control
    from closedchain.integrate.methods import explicit_runge_kutta
    from closedchain.integrate.solvers import RK4
    functions = [RK4.load()[0], explicit_runge_kutta.stages, project.put_back, step_control.begin]
    print(sum(sum(f.stats.cache_hits.values()) for f in functions),
          sum(sum(f.stats.cache_misses.values()) for f in functions))
    """
)


def hits_and_misses(cache):
    source = Path(jit_module.__file__).parents[2]
    environment = os.environ | {"CLOSEDCHAIN_CACHE_DIR": str(cache), "PYTHONPATH": str(source)}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    return tuple(map(int, done.stdout.split()))


def test_second_process_compiles_nothing(tmp_path):
    assert hits_and_misses(tmp_path) == (0, 4)
    assert hits_and_misses(tmp_path) == (4, 0)
    assert [folder.name for folder in (tmp_path / "numba").iterdir()] == [source_digest()]


def test_digest_follows_the_sources(tmp_path):
    for folder in ("integrate/methods", "native/emit", "erls/kernels"):
        (tmp_path / folder).mkdir(parents=True)
    names = (
        "integrate/methods/explicit_runge_kutta.py",
        "native/call.py",
        "erls/kernels/forces.py",
        "native/emit/ir.py",
    )
    solver, call, kernel, other = (tmp_path / name for name in names)
    solver.write_text("from closedchain.native.jit import jit\na = 1\n")
    call.write_text("import numba\na = 1\n")
    kernel.write_text("from closedchain.native.memory import inner\na = 1\n")
    other.write_text("a = 1\n")
    digests = [source_digest(tmp_path)]
    other.write_text("a = 2\n")
    (tmp_path / "assemble.py").write_text("nothing jitted here")
    assert source_digest(tmp_path) == digests[0]
    for path in (solver, call, kernel):
        path.write_text(path.read_text().replace("a = 1", "a = 2"))
        digests.append(source_digest(tmp_path))
    solver.rename(solver.with_name("other.py"))
    digests.append(source_digest(tmp_path))
    assert len(set(digests)) == 5


def test_every_module_with_jitted_functions_is_in_the_digest():
    """Wherever it stands: what it compiles may change with any file that it calls."""
    known = {name for name, _ in jitted_sources()}
    assert {"native/call.py", "native/jit.py", "native/memory.py"} <= known
    assert {"integrate/methods/tableaus.py", "integrate/trajectory.py"} <= known  # numbers of kernels
    package = Path(jit_module.__file__).parents[1]
    decorated = re.compile(r"^\s*@(jit|cfunc|inner|outer|intrinsic|numba\.\w+)\b", re.MULTILINE)
    found = {x.relative_to(package).as_posix() for x in package.rglob("*.py") if decorated.search(x.read_text())}
    assert len(found) > 25 and found <= known


def test_folder_that_cannot_be_written_is_not_an_error(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("a file where a folder should be")
    monkeypatch.setenv("CLOSEDCHAIN_CACHE_DIR", str(blocked))
    with pytest.warns(RuntimeWarning, match="CLOSEDCHAIN_CACHE_DIR"):
        assert cache_directory.__wrapped__() is None
    monkeypatch.setattr(jit_module, "cache_directory", lambda: None)
    assert jit("int64(int64)")(_next)(1) == 2


def test_folder_that_goes_away_is_not_an_error(tmp_path, monkeypatch):
    """Numba meets the trouble only when it saves."""

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(jit_module, "cache_directory", lambda: tmp_path)
    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile.save", full)
    with install_recorder("numba:compile") as recorder, pytest.warns(RuntimeWarning, match="No space left on device"):
        made = jit("int64(int64)")(_next)
    assert made(1) == 2
    assert sum(event.is_start for _, event in recorder.buffer) == 1  # not compiled a second time


def test_a_folder_of_everybody_is_not_used(tmp_path, monkeypatch):
    """Numba's files are pickles: planted ones would be executed."""
    folder = tmp_path / "x"
    folder.mkdir()
    folder.chmod(0o777)
    monkeypatch.setenv("CLOSEDCHAIN_CACHE_DIR", str(folder))
    with pytest.warns(RuntimeWarning, match=r"can be written by others \(mode 777\)"):
        assert cache_directory.__wrapped__() is None
    assert not list(folder.iterdir())


def test_a_planted_file_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setenv("CLOSEDCHAIN_CACHE_DIR", str(tmp_path))
    folder = cache_directory.__wrapped__()
    assert folder == tmp_path / "numba" / source_digest()
    folder.chmod(0o755)
    (folder / "planted.nbi").write_bytes(b"")
    (folder / "planted.nbi").chmod(0o666)
    with pytest.warns(RuntimeWarning, match=r"planted.nbi' can be written by others"):
        assert cache_directory.__wrapped__() is None


def test_setting_of_the_user_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", "somewhere else")
    monkeypatch.setattr(jit_module, "cache_directory", lambda: tmp_path)
    jit("int64(int64)")(_next)
    assert numba.config.CACHE_DIR == "somewhere else"
    assert list(tmp_path.rglob("*.nbi"))


def _next(i):
    return i + 1
