"""Work that is killed at a random moment, for tests of what is left on disk."""

import os
import signal
from collections.abc import Callable


def killed(work: Callable[[], object], wait: Callable[[int], None]) -> bool:
    """Begin the work in a child process, wait, and kill it with SIGKILL; False if it had finished by itself."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    wait(child)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)
