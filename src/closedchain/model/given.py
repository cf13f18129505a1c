"""What a user hands in where several values are wanted: taken apart, or refused with a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from closedchain.errors import ModelError


def listed(values: Any) -> tuple[Any, ...] | None:
    """The entries of a list, tuple or array; None for one value, and for what has no order or is a text."""
    if isinstance(values, str | bytes | Mapping | Set):
        return None
    try:
        return tuple(values)
    except TypeError:  # a single number, an array without dimensions, None, a function, ...
        return None


def entries(values: Any, count: int, sentence: str, example: str) -> tuple[Any, ...]:
    """Exactly so many entries; ``sentence`` says what they are, ``example`` how they are written."""
    found = listed(values)
    if found is None:
        raise ModelError(f"{sentence}, for instance {example}, not {values!r}")
    if len(found) != count:
        raise ModelError(f"{sentence}, not {len(found)}")
    return found
