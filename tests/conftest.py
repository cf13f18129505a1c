"""What all tests share: a headless plot backend, seeded random numbers, and no silent skips in CI."""

import os

# before anything imports matplotlib or a BLAS: no windows, and no threads that fight with the other test processes
os.environ["MPLBACKEND"] = "Agg"
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import importlib
import signal
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

# a background job of a shell begins with Ctrl-C ignored, and so do all processes that it starts
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

SEED = 20021  # any fixed number will do


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers that are the same in every run and in every order of the tests."""
    return np.random.default_rng(SEED)


def pytest_configure(config: pytest.Config) -> None:
    np.set_printoptions(precision=12, linewidth=110)


# With an empty cache the solvers' kernels take one and a half minutes to compile. Test processes that start together
# would all compile the same ones: in CI they share them out first, and wait for each other.

KERNELS = (
    ("erls.kernels.compiled", "erls.steps.alpha", "erls.steps.esdirk"),
    (
        *(f"integrate.methods.{name}" for name in (
            "dop853", "explicit_runge_kutta", "radau5", "rodas", "rosenbrock2", "generalised_alpha",
            "semi_implicit_euler",
        )),
        "integrate.solved_first", "integrate.batch.lanes", "march.batch.closing", "parallel.ranks", "parallel.threads",
    ),
)  # fmt: skip
LONGEST = 300.0  # s: what one waits for the others


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile one share of the kernels, and wait until the other shares are there."""
    inputs = getattr(session.config, "workerinput", None)
    if not IN_CI or inputs is None:
        return
    me, workers = int(inputs["workerid"].removeprefix("gw")), int(inputs["workercount"])
    for modules in KERNELS[me::workers]:
        for module in modules:
            importlib.import_module(f"closedchain.{module}")
    folder = Path(tempfile.gettempdir()) / f"closedchain-kernels-{inputs['testrunuid']}"
    folder.mkdir(exist_ok=True)
    (folder / str(me)).touch()
    ends = time.monotonic() + LONGEST
    while len(list(folder.iterdir())) < workers and time.monotonic() < ends:
        time.sleep(0.2)


# In CI a test that does not run has failed. A missing tool is a mistake in the set-up, and an expected failure is
# accepted only if it is strict: then the day it starts to pass is noticed.

IN_CI = os.environ.get("CI", "").lower() in ("1", "true", "yes")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if IN_CI and report.skipped and not _is_strict_xfail(item, call, report):
        _fail(report, _reason(report))
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report(collector):
    """Whole files that skip themselves, as `pytest.importorskip` at the top of a file does."""
    report = yield
    if IN_CI and report.skipped:
        _fail(report, _reason(report))
    return report


def _is_strict_xfail(item, call, report) -> bool:
    if not hasattr(report, "wasxfail") or call.excinfo is None:
        return False
    if call.excinfo.errisinstance(pytest.xfail.Exception):  # pytest.xfail() inside a test cannot be strict
        return False
    default = item.config.getini("xfail_strict")
    marks = list(item.iter_markers("xfail"))
    return bool(marks) and all(mark.kwargs.get("strict", default) for mark in marks)


def _reason(report) -> str:
    if hasattr(report, "wasxfail"):
        return f"xfail without strict: {report.wasxfail or 'no reason given'}"
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return reason.removeprefix("Skipped: ")


def _fail(report, reason: str) -> None:
    report.outcome = "failed"
    report.longrepr = f"not allowed in CI, every test must run: {reason}"
    if hasattr(report, "wasxfail"):
        del report.wasxfail
