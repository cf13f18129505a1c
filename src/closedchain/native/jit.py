"""The decorator of every jitted function of the integrators, and where their machine code is kept.

Numba can keep machine code on disk, but it decides whether an entry is fresh by looking at the file of the
function alone: when a *called* function in another file changes, the caller's old machine code is used
silently. Here the folder of the cache carries a digest of all sources that can be called, so that changed
sources mean another folder.

The folder is `CLOSEDCHAIN_CACHE_DIR`, else `closedchain` in `XDG_CACHE_HOME` or `~/.cache`; in it
`numba/<digest>`. Numba's files are pickles, and pickles are executed: a folder is used only if nobody but this user can
write to it and to what is in it. If it cannot be used or written, functions are compiled anew in every process, which
is slower and not an error.
"""

import contextlib
import functools
import hashlib
import tempfile
import threading
import warnings
from pathlib import Path

import numba
from numba.core.registry import cpu_target

from closedchain import processor
from closedchain.disk.trusted import distrust_all
from closedchain.native import engine
from closedchain.native.object_cache import cache_folder, say, usable

_one_at_a_time = threading.RLock()
_PACKAGE = Path(__file__).resolve().parent.parent


def jitted_sources(package=_PACKAGE):
    """Files of a package with jitted functions, or with numbers for them, in a fixed order.

    All other files may change without a new compilation.
    """
    marks = (b"import numba", b"from numba", b"native.jit import", b"native.memory import")
    for path in sorted(Path(package).rglob("*.py")):
        text = path.read_bytes()
        if path.name in ("tableaus.py", "trajectory.py") or any(mark in text for mark in marks):
            yield path.relative_to(package).as_posix(), text


def source_digest(package=_PACKAGE):
    """Digest of Numba's version and of all sources whose functions the integrators may call: 16 hexadecimal digits."""
    digest = hashlib.sha256(numba.__version__.encode())
    for name, text in jitted_sources(package):
        digest.update(name.encode() + b"\0" + text + b"\0")
    return digest.hexdigest()[:16]


@functools.cache
def cache_directory():
    """The folder for machine code, made and known to be writable by this user alone; None if that is not possible."""
    folder = None
    try:
        folder = cache_folder().parent / "numba" / source_digest()
        if not usable(folder, make=True):
            return None
        planted = distrust_all(folder)
        if planted:
            say(folder, f"{planted}, and code in it would be executed")
            return None
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except (OSError, RuntimeError) as error:  # RuntimeError: there is no home folder
        say(folder, str(error) if folder is None else f"it cannot be written ({error})")
        return None


@functools.cache
def follow_setting():
    """Let Numba compile for the processor of the setting, see `closedchain.processor`; for all of this process."""
    name = processor.setting()
    if name == processor.NATIVE:
        return
    if "_toplevel_target_context" in vars(cpu_target) and name != numba.config.CPU_NAME:
        warnings.warn(
            f"{processor.VARIABLE}={name}, but Numba has compiled functions for this processor already: import "
            "closedchain before Numba",
            RuntimeWarning,
            stacklevel=2,
        )
    _, numba.config.CPU_NAME, numba.config.CPU_FEATURES, _ = engine.target()


def jit(signature):
    """Compile a function for one signature, now, with its machine code kept on disk.

    Division by zero gives infinity as in NumPy (the step control deals with it), other threads may run
    meanwhile (`nogil`), and arithmetic is never reordered (no `fastmath`), so results do not depend on the
    machine's mood.

    Parameters
    ----------
    signature : a Numba signature or its text.
    """
    return _kept(numba.njit, signature, {"error_model": "numpy", "nogil": True})


def part(signature):
    """The same for a part of other jitted functions, which cannot be called from Python: it is compiled faster."""
    options = {"error_model": "numpy", "nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return _kept(numba.njit, signature, options)


def cfunc(signature):
    """The same for a function that others call by its address."""
    return _kept(numba.cfunc, signature, {"error_model": "numpy"})


def _kept(decorator, signature, options):
    follow_setting()

    def decorate(function):
        folder = cache_directory()
        if folder is None:
            return decorator(signature, cache=False, **options)(function)

        # the setting belongs to the user: it is ours only while this function is decorated
        with _one_at_a_time:
            users = numba.config.CACHE_DIR
            numba.config.CACHE_DIR = str(folder)
            try:
                with _forgiving(folder):
                    return decorator(signature, cache=True, **options)(function)
            except OSError:  # a folder that went away, before anything was compiled
                return decorator(signature, cache=False, **options)(function)
            finally:
                numba.config.CACHE_DIR = users

    return decorate


@contextlib.contextmanager
def _forgiving(folder):
    """On a full disk machine code is good, only keeping it fails: it is not compiled a second time."""
    from numba.core.caching import Cache

    def save(cache, signature, data):
        try:
            real(cache, signature, data)
        except OSError as error:
            say(folder, f"it cannot be written ({error.strerror or error})")

    real = Cache.save_overload
    Cache.save_overload = save
    try:
        yield
    finally:
        Cache.save_overload = real
