"""What a user hands in where several values are wanted: taken apart, or refused with a sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Set
from difflib import get_close_matches
from typing import Any

import numpy as np

from closedchain.errors import ModelError

LONGEST = 60  # characters of a value in a message


def listed(values: Any) -> tuple[Any, ...] | None:
    """The entries of a list, tuple or array; None for one value, and for what has no order or is a text."""
    if isinstance(values, str | bytes | Mapping | Set):
        return None
    try:
        return tuple(values)
    except TypeError:  # a single number, an array without dimensions, None, a function, ...
        return None


def real(x: Any) -> float | None:
    """The value of a plain real number, infinite for an integer beyond floating-point numbers; None for all else."""
    if isinstance(x, complex | np.complexfloating) or not isinstance(x, int | float | np.number):
        return None
    try:
        return float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf


def numeric(values: Any) -> np.ndarray | None:
    """A number, or a list of numbers of any depth, as an array; None for all else, also for numbers in texts."""
    try:
        if any(x is None or isinstance(x, str | bytes) for x in np.asarray(values).ravel().tolist()):
            return None
        return np.asarray(values, float)
    except (TypeError, ValueError, OverflowError):
        return None


def shown(x: Any) -> str:
    """A value as a message tells it: on one line at most.

    Examples
    --------
    >>> shown(0.5), len(shown(10**400))
    ('0.5', 63)
    """
    try:
        text = repr(x)
    except ValueError:  # Python does not write integers of thousands of digits
        return f"a {type(x).__name__} with an integer of thousands of digits"
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}..."


def entries(values: Any, count: int, sentence: str, example: str) -> tuple[Any, ...]:
    """Exactly so many entries; ``sentence`` says what they are, ``example`` how they are written."""
    found = listed(values)
    if found is None:
        raise ModelError(f"{sentence}, for instance {example}, not {values!r}")
    if len(found) != count:
        raise ModelError(f"{sentence}, not {len(found)}")
    return found


def suggest(name: str, known: Any) -> str:
    """A tail for 'unknown name' errors: the nearest known names."""
    known = list(known)
    near = get_close_matches(str(name), known, n=3, cutoff=0.5)
    if near:
        return f"; did you mean {' or '.join(map(repr, near))}?"
    return f"; known: {', '.join(map(repr, known[:12]))}{', ...' if len(known) > 12 else ''}" if known else ""
