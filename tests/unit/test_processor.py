"""The setting CLOSEDCHAIN_CPU: which targets there are, who follows it, and the words where it cannot be followed."""

import os
import subprocess
import sys

import casadi as ca
import pytest
from llvmlite.binding.targets import FeatureMap

import closedchain as cc
from closedchain import processor
from closedchain.native import engine
from closedchain.native.emit.ir import Writing
from closedchain.native.engine import _llvm
from closedchain.native.function import Parts

EVERYTHING = dict.fromkeys(("sse2", *processor.TARGETS["x86-64-v4"].needs), True)
HERE = dict(_llvm().get_host_cpu_features())
RUNS_HERE = [t.name for t in processor.TARGETS.values() if HERE.get("sse2") and all(map(HERE.get, t.needs))]


@pytest.fixture
def chosen(monkeypatch):
    """Change the setting within this process, for what is compiled from here on."""

    def choose(name, features=None):
        monkeypatch.setenv(processor.VARIABLE, name)
        if features is not None:
            found = FeatureMap(features)
            monkeypatch.setattr(_llvm(), "get_host_cpu_features", lambda: found)
        for cached in (engine.target, engine.vector_width):
            cached.cache_clear()

    yield choose
    monkeypatch.undo()
    for cached in (engine.target, engine.vector_width):
        cached.cache_clear()


@pytest.mark.parametrize("name", ["", "native", " Native "])
def test_the_machine_at_hand(name, chosen):
    chosen(name)
    assert processor.setting() == "native" and processor.target(EVERYTHING) is None
    assert engine.target()[1] == _llvm().get_host_cpu_name()


def test_a_target_that_does_not_exist(chosen):
    chosen("x86-64-v9")
    with pytest.raises(
        cc.ClosedChainError, match=r"CLOSEDCHAIN_CPU='x86-64-v9' is no processor: take native, x86-64, "
    ):
        cc.simulate(cc.library.pendulum(), until=0.1)


@pytest.mark.parametrize(
    ("lacks", "said"),
    [
        ("fma", r"x86-64-v4: this processor has no fma; take native, x86-64, x86-64-v2$"),
        ("avx512dq", r"no avx512dq; take native, x86-64, x86-64-v2, x86-64-v3$"),
        ("sse2", r"no sse2; take native$"),  # another family of processors
    ],
)
def test_a_target_that_this_processor_cannot_run(lacks, said, chosen):
    chosen("x86-64-v4")
    with pytest.raises(cc.ClosedChainError, match=said):
        processor.target(EVERYTHING | {lacks: False})


def code(chosen, name, features):
    """The object code of a function with sines and products, for a target, on a machine with some features."""
    chosen(name, features)
    x = ca.SX.sym("x", 6)
    parts = Parts.of("f", {"x": x}, {"y": ca.sin(x) * x + ca.exp(x[0]) * x[1] + x[2]}, ())
    text = parts.text(Writing(vector_width=engine.vector_width(), chunk_length=None))
    return engine.target(), engine.vector_width(), engine._compile(text, engine.THOROUGH)


@pytest.mark.skipif("x86-64-v2" not in RUNS_HERE, reason="targets are levels of x86-64")
def test_code_for_a_target_does_not_depend_on_the_machine(chosen):
    few = {name: name in ("sse2", *processor.TARGETS["x86-64-v2"].needs) for name in HERE}
    assert code(chosen, "x86-64-v2", few) == code(chosen, "x86-64-v2", HERE)
    if "x86-64-v3" in RUNS_HERE:  # and it is not what the machine would have by itself
        assert code(chosen, "x86-64-v2", HERE)[2] != code(chosen, "x86-64-v3", HERE)[2]


SCRIPT = """
import closedchain as cc
from closedchain.native.jit import numba
m = cc.library.four_bar()
run = cc.simulate(m, until=1.0, rtol=1e-10)
told = {k: run.dataset.attrs[k] for k in ("cpu", "processor", "linear_algebra")}
from numba.core.registry import cpu_target
kernels = cpu_target.target_context.codegen().magic_tuple()[1:]
print(told, kernels, run.x[-1].tobytes().hex())
"""


def told(name, script=SCRIPT, **environment):
    """What a process of its own says under a setting."""
    theirs = ("OPENBLAS_CORETYPE", "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES")
    keep = {k: v for k, v in os.environ.items() if k not in theirs}
    found = subprocess.run(
        [sys.executable, "-c", script], env=keep | {processor.VARIABLE: name} | environment, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    return found.stdout, found.stderr


@pytest.mark.skipif("x86-64-v2" not in RUNS_HERE, reason="targets are levels of x86-64")
def test_equations_kernels_and_linear_algebra_follow():
    said, trouble = told("x86-64-v2")
    assert "'cpu': 'x86-64-v2', 'processor': 'x86-64-v2', 'linear_algebra': 'Nehalem'" in said
    assert "('x86-64-v2', '')" in said and not trouble
    assert told("x86-64-v2") == (said, trouble)  # to the last bit


@pytest.mark.skipif("x86-64-v2" not in RUNS_HERE, reason="targets are levels of x86-64")
def test_what_came_too_early_is_told():
    _, trouble = told("x86-64-v2", "import numpy\n" + SCRIPT)
    assert "import closedchain before NumPy, or set OPENBLAS_CORETYPE=Nehalem" in trouble
    early = "import numba\nnumba.njit('f8(f8)')(lambda x: x)\n"
    _, trouble = told("x86-64-v2", early + SCRIPT)
    assert "Numba has compiled functions for this processor already" in trouble
