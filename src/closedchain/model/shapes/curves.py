"""Curves on the unit interval: what one displacement of a beam looks like along it.

A curve gives its value and its derivatives by ``xi = x / length``. It is a `Wave` (sines, cosines and exponentials: the
modes of uniform beams) or made of `Pieces` (polynomials between nodes: meshes, samples, powers of xi). Both are
computed with plain numbers or arrays, and with CasADi's traced scalars, which are known here by what they can do only:
the model imports no CasADi.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from closedchain.model.expressions.operations import horner


class Curve(Protocol):
    """A function on [0, 1].

    Attributes
    ----------
    breaks
        Where it is only piecewise smooth, the ends included.
    wave_number, degree
        How fast it varies within a piece, so that integrals know how many points they need.
    """

    @property
    def breaks(self) -> tuple[float, ...]:  # noqa: D102
        ...

    @property
    def wave_number(self) -> float:  # noqa: D102
        ...

    @property
    def degree(self) -> int:  # noqa: D102
        ...

    def derivative(self, xi: Any, order: int = 0, *, near: float | None = None) -> Any:
        """Derivative number ``order`` by xi (0: the curve itself); like xi an array or a traced scalar.

        ``near``: a number in the piece that a traced xi is known to be in.
        """


@dataclass(frozen=True)
class Wave:
    """``rising exp(b (xi - 1)) + falling exp(-b xi) + cosine cos(b xi) + sine sin(b xi)`` with ``b = wave_number``.

    No term exceeds its factor on [0, 1], whatever the wave number: hyperbolic functions would overflow.
    """

    wave_number: float
    sine: float = 0.0
    cosine: float = 0.0
    rising: float = 0.0
    falling: float = 0.0

    @property
    def breaks(self) -> tuple[float, ...]:
        """It is smooth."""
        return (0.0, 1.0)

    @property
    def degree(self) -> int:
        """No polynomial."""
        return 0

    def derivative(self, xi: Any, order: int = 0, *, near: float | None = None) -> Any:
        """Derivative number ``order`` by xi."""
        b = self.wave_number
        cosine, sine = self.cosine, self.sine
        for _ in range(order):
            cosine, sine = sine, -cosine
        value = 0.0
        for factor, function, argument in (
            (cosine, "cos", b * xi),
            (sine, "sin", b * xi),
            (self.rising, "exp", b * (xi - 1.0)),
            (self.falling * (-1) ** order, "exp", -b * xi),
        ):
            if factor:
                value = value + factor * (
                    getattr(argument, function)() if traced(xi) else getattr(np, function)(argument)
                )
        return b**order * value + 0.0 * xi

    def scaled(self, factor: float) -> Wave:
        """The curve times a number."""
        return Wave(self.wave_number, *(factor * x for x in (self.sine, self.cosine, self.rising, self.falling)))


@dataclass(frozen=True)
class Pieces:
    """Polynomials between breaks: ``sum over j of coefficients[i][j] (xi - breaks[i])^j`` in piece i."""

    breaks: tuple[float, ...]
    coefficients: tuple[tuple[float, ...], ...]

    @property
    def wave_number(self) -> float:
        """No wave."""
        return 0.0

    @property
    def degree(self) -> int:
        """The highest one of the pieces."""
        return max(map(len, self.coefficients)) - 1

    def derivative(self, xi: Any, order: int = 0, *, near: float | None = None) -> Any:
        """Derivative number ``order`` by xi; at an inner break that of the piece to the right."""
        if traced(xi):
            return self._traced(xi, order, near)
        xi = np.asarray(xi, float)
        rows = np.array(list(itertools.zip_longest(*self.coefficients, fillvalue=0.0)))
        piece = self._piece(xi)
        return horner(rows[:, piece], xi - np.array(self.breaks)[piece], order) + 0.0 * xi

    def _piece(self, xi: Any) -> np.ndarray:
        return np.clip(np.searchsorted(self.breaks, xi, side="right") - 1, 0, len(self.coefficients) - 1)

    def _traced(self, xi: Any, order: int, near: float | None) -> Any:
        """Horner's rule with the coefficients of the piece that xi is in."""
        if near is not None or len(self.coefficients) == 1:
            piece = int(self._piece(near or 0.0))
            return horner(self.coefficients[piece], xi - self.breaks[piece], order) + 0.0 * xi
        after = [xi >= b for b in self.breaks[1:-1]]
        inside = [1 - after[0], *(a * (1 - b) for a, b in itertools.pairwise(after)), after[-1]]

        def select(numbers: Any) -> Any:
            return sum((here * number for here, number in zip(inside, numbers, strict=True) if number), 0.0 * xi)

        chosen = [select(numbers) for numbers in itertools.zip_longest(*self.coefficients, fillvalue=0.0)]
        return horner(chosen, xi - select(self.breaks[:-1]), order) + 0.0 * xi


def power(exponent: int) -> Pieces:
    """The curve ``xi^exponent``."""
    return Pieces((0.0, 1.0), ((*(0.0,) * exponent, 1.0),))


def traced(xi: Any) -> bool:
    """Whether xi is one of CasADi's scalars rather than numbers."""
    return not isinstance(xi, float | int | np.generic | np.ndarray | list | tuple)
