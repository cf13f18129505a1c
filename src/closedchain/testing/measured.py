"""What a check measures: numbers by name, each with what is allowed."""

from __future__ import annotations

from typing import Any

import numpy as np


class Measured(dict[str, float]):
    """What a check has measured, by name: errors, orders, counts."""

    def error(self, what: str, actual: Any, wanted: Any, most: float, least_size: float = 1.0) -> None:
        """Note how far two arrays are apart, relative to the largest entry of the second; refuse more than ``most``."""
        self.at_most(what, relative(what, actual, wanted, least_size), most)

    def at_most(self, what: str, value: float, most: float) -> None:
        """Note a number, the largest of its name; refuse one above ``most``, or what is not a number."""
        self[what] = max(value, self.get(what, value))
        if not value <= most:
            raise AssertionError(f"{what}: {value:.3g}, but at most {most:.3g} is allowed")

    def at_least(self, what: str, value: float, least: float) -> None:
        """Note a number, the smallest of its name; refuse one below ``least``, or what is not a number."""
        self[what] = min(value, self.get(what, value))
        if not value >= least:
            raise AssertionError(f"{what}: {value:.3g}, but at least {least:.3g} is needed")


def relative(what: str, actual: Any, wanted: Any, least_size: float = 1.0) -> float:
    """How far two arrays are apart, relative to the largest entry of the second or to ``least_size``.

    Small entries are differences of large ones: they cannot be more exact.
    """
    actual, wanted = np.asarray(actual), np.asarray(wanted)
    if actual.shape != wanted.shape:
        raise AssertionError(f"{what}: the shape is {actual.shape}, but {wanted.shape} is needed")
    size = max(float(np.abs(wanted).max(initial=0.0)), least_size)
    return float(np.abs(actual - wanted).max(initial=0.0)) / size


def close_to(actual: Any, wanted: Any, rtol: float) -> None:
    """Refuse arrays that are further apart than this, relative to the largest entry of the second."""
    Measured().error("difference", actual, wanted, rtol)
