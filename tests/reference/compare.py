"""What the reference tests share: numbers with their provenance, errors, values at single states, columns of a run."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from closedchain.close.formulation import Choice
from closedchain.close.multipliers import Multipliers
from closedchain.derive.equations import derive
from closedchain.march.program.compiled import right_hand_side
from closedchain.pose.state import State, parameter_vector
from tests.turns import with_counters

HERE = Path(__file__).parent
INDEX_1 = Multipliers("none")  # nothing is added to the equations of motion where a state is not closed


def load(name):
    """The numbers in ``<source>/<case>.json``; none without saying where they come from."""
    numbers = json.loads((HERE / f"{name}.json").read_text())
    assert numbers["provenance"], f"{name} does not say where its numbers come from"
    return numbers


def off(got, want):
    """Largest difference."""
    got, want = np.asarray(got, float), np.asarray(want, float)
    assert got.shape == want.shape
    return np.abs(got - want).max()


def relative(got, want):
    """Largest difference, relative to the largest entry."""
    return off(got, want) / np.abs(np.asarray(want, float)).max()


def columns(run, *names):
    """Variables of a run side by side: (time, names)."""
    return np.stack([run[name].values for name in names], axis=1)


def pointwise(mechanism):
    """A function of ``(q, v, t, parameters)``: M, h, tau, c, A, gamma, a, lam at any state, closed or not."""
    e = derive(mechanism)
    closed = INDEX_1.close(e, Choice(tuple(range(len(e.closure)))))
    traced = {"M": e.M, "h": e.h, "tau": e.tau, "c": e.closure.c, "A": e.closure.A, "gamma": e.closure.gamma}
    f = e.function("pointwise", traced | {"a": closed.a, "lam": closed.lam})

    def at(q, v, t=0.0, parameters=None):
        values = map(np.array, f(t, with_counters(e.topology, q), v, parameter_vector(mechanism, parameters)))
        named = dict(zip(f.name_out(), values, strict=True))
        return SimpleNamespace(**{name: x if name in ("M", "A") else x.ravel() for name, x in named.items()})

    return at


def native_accelerations(mechanism, q, v, t=0.0, parameters=None):
    """The same accelerations from the machine code that a run uses."""
    e = derive(mechanism)
    state = State(mechanism, with_counters(e.topology, q), np.asarray(v, float), dict(parameters or {}))
    return right_hand_side(state, INDEX_1, t)[e.topology.nq : e.topology.nq + e.topology.nv]
