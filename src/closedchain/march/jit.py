"""The decorator of every jitted function of the integrators, and where their machine code is kept.

Numba can keep machine code on disk, but it decides whether an entry is fresh by looking at the file of the
function alone: when a *called* function in another file changes, the caller's old machine code is used
silently. Here the folder of the cache carries a digest of all sources that can be called, so that changed
sources mean another folder.

The folder is `CLOSEDCHAIN_CACHE_DIR`, else `closedchain` in `XDG_CACHE_HOME` or `~/.cache`; in it
`numba/<digest>`. If it cannot be written, functions are compiled anew in every process, which is slower and
not an error.
"""

import functools
import hashlib
import tempfile
import threading
import warnings
from pathlib import Path

import numba

from closedchain.native.object_cache import cache_folder

_one_at_a_time = threading.RLock()
_PACKAGE = Path(__file__).resolve().parent.parent


def source_digest(package=_PACKAGE):
    """Digest of Numba's version and of all sources whose functions the integrators may call.

    Parameters
    ----------
    package : the folder of the package; the files in it that mention this decorator, and `native/call.py`, are read.

    Returns
    -------
    16 hexadecimal digits.
    """
    package = Path(package)
    march = package / "march"
    digest = hashlib.sha256(numba.__version__.encode())
    folders = (march.glob("*.py"), march.glob("*/*.py"), (package / "distribute").glob("*.py"))
    for path in [*(x for found in folders for x in sorted(found)), package / "native" / "call.py"]:
        if path.is_file():
            text = path.read_bytes()
            # files without jitted functions or numbers for them may change without a new compilation
            named = path.name in ("call.py", "tableaus.py", "jit.py", "memory.py")
            if named or b"march.jit import" in text or b".memory import" in text:
                digest.update(path.name.encode() + b"\0" + text + b"\0")
    return digest.hexdigest()[:16]


@functools.cache
def cache_directory():
    """The folder for machine code, created and known to be writable; None if that is not possible."""
    try:
        folder = cache_folder().parent / "numba" / source_digest()
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except (OSError, RuntimeError) as reason:  # RuntimeError: there is no home folder
        warnings.warn(
            f"the cache folder cannot be written ({reason}); each process compiles the integrators anew. "
            "Set CLOSEDCHAIN_CACHE_DIR to a folder that can be written.",
            RuntimeWarning,
            stacklevel=2,
        )
        return None


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


def cfunc(signature):
    """The same for a function that others call by its address."""
    return _kept(numba.cfunc, signature, {"error_model": "numpy"})


def _kept(decorator, signature, options):
    def decorate(function):
        folder = cache_directory()
        if folder is None:
            return decorator(signature, cache=False, **options)(function)

        # the setting belongs to the user: it is ours only while this function is decorated
        with _one_at_a_time:
            users = numba.config.CACHE_DIR
            numba.config.CACHE_DIR = str(folder)
            try:
                return decorator(signature, cache=True, **options)(function)
            except OSError:
                # a full disk, or a folder that went away: the machine code is good, only keeping it failed
                return decorator(signature, cache=False, **options)(function)
            finally:
                numba.config.CACHE_DIR = users

    return decorate
