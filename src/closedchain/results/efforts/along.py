"""Efforts of actuators at all samples of a motion, by one of the methods."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from closedchain.derive.equations import Freedom
from closedchain.pose.inverse import (
    Terms,
    by_natural_complement,
    by_projection,
    by_spring_elimination,
    terms,
)
from closedchain.results.motion.motion import Motion

METHODS = ("projection", "virtual-spring", "denoc")


@dataclass(frozen=True, eq=False)
class Question:
    """Which efforts are asked for.

    Attributes
    ----------
    freedoms
        The actuated ones, and those that springs and shapes move.
    method
        One of `METHODS`.
    weight
        Cost weight of each of their efforts.
    wanted
        (n, freedoms): the efforts that the result is to be near to.
    """

    freedoms: tuple[Freedom, ...]
    method: str
    weight: np.ndarray
    wanted: np.ndarray


def solved(motion: Motion, question: Question) -> tuple[Terms, np.ndarray, np.ndarray]:
    """The terms at all samples, the samples where they tell something, and the efforts there."""
    at = motion.samples
    x = terms(at.equations, question.freedoms, at.t, at.q, at.v, at.a, at.p, motion.start, motion.idle)
    regular = _regular(x)
    some = x.only(regular)
    if question.method == "projection":
        return x, regular, by_projection(some, question.weight, question.wanted[regular])
    return x, regular, by_natural_complement(some) if question.method == "denoc" else by_spring_elimination(some)


def _regular(x: Terms) -> np.ndarray:
    """Numbers of the samples at which the closures tell what moves; all of them if there are too few."""
    found = np.flatnonzero(x.regular)
    return found if len(found) > 1 else np.arange(len(x.r))


def continued(t: np.ndarray, regular: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Values at all samples from those at some: others lie on the polynomial through the six nearest of these."""
    out = np.empty((len(t), values.shape[1]))
    out[regular] = values
    for k in np.setdiff1d(np.arange(len(t)), regular):
        near = np.argsort(np.abs(t[regular] - t[k]))[:6]
        at = (t[regular][near] - t[k]) / np.ptp(t[regular][near])
        out[k] = np.polynomial.polynomial.polyfit(at, values[near], len(near) - 1)[0]
    return out
