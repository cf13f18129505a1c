"""The vocabulary of checks: what a user hands in is returned as it is meant, or refused with a sentence.

Every check takes the name of the argument first, so that the sentence can name it: ``positive("rtol", rtol)`` returns a
float or raises ``ModelError: rtol must be a positive number, not -1.0``. All verbs and the command line use these; a
sentence of its own is written only where the reader needs more than the name, the value, and what it may be.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Set
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from closedchain.errors import ModelError

LONGEST = 60  # characters of a value in a message

T = TypeVar("T")


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
    near = get_close_matches(str(name), [str(x) for x in known], n=3, cutoff=0.5)
    if near:
        return f"; did you mean {' or '.join(map(repr, near))}?"
    return f"; known: {', '.join(map(repr, known[:12]))}{', ...' if len(known) > 12 else ''}" if known else ""


# ---- checks ----------------------------------------------------------------------------------------------------------


def finite(name: str, value: Any, most: float = math.inf) -> float:
    """A finite number, of a size below ``most``.

    Examples
    --------
    >>> finite("until", 2)
    2.0
    """
    found = real(value)
    if found is None or not math.isfinite(found):
        raise ModelError(f"{name} must be a finite number, not {shown(value)}")
    if abs(found) >= most:
        raise ModelError(f"{name} is {found:g}, too large to compute with: give a number below {most:g}")
    return found


def positive(name: str, value: Any, unit: str = "", *, infinite: bool = False) -> float:
    """A number above zero; ``unit`` in words, as "of seconds"."""
    found = real(value)
    if found is None or not found > 0 or (math.isinf(found) and not infinite):
        raise ModelError(f"{name} must be a positive number{f' {unit}' if unit else ''}, not {shown(value)}")
    return found


def not_negative(name: str, value: Any, unit: str = "") -> float:
    """A finite number of at least zero."""
    found = real(value)
    if found is None or not 0 <= found < math.inf:
        raise ModelError(f"{name} must be zero or a positive number{f' {unit}' if unit else ''}, not {shown(value)}")
    return found


def whole(name: str, value: Any, least: int | None = None) -> int:
    """A whole number, of at least ``least``; True and False are none."""
    number = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not number or (least is not None and value < least):
        raise ModelError(
            f"{name} must be a whole number{'' if least is None else f' of at least {least}'}, not {shown(value)}"
        )
    return int(value)


def boolean(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ModelError(f"{name} is True or False, not {shown(value)}")
    return bool(value)


def one_of(name: str, value: Any, allowed: Collection[T]) -> T:
    """One of a few values.

    Examples
    --------
    >>> one_of("closing", "all", ("everyone", "master"))
    Traceback (most recent call last):
    closedchain.errors.ModelError: closing must be 'everyone' or 'master', not 'all'
    """
    for x in allowed:
        if type(x) is type(value) and x == value:
            return x
    words = [repr(x) for x in allowed]
    raise ModelError(
        f"{name} must be {' or '.join(filter(None, [', '.join(words[:-1]), words[-1]]))}, not {shown(value)}"
    )


def named(what: str, name: Any, known: Mapping[str, T], where: str = "") -> T:
    """The entry of a table that has this name; ``where`` says in the message where all names are listed."""
    if isinstance(name, str) and name in known:
        return known[name]
    raise ModelError(f"there is no {what} {shown(name)}{suggest(str(name), known)}{f' ({where})' if where else ''}")


def instance(name: str, value: Any, kind: type[T] | tuple[type[T], ...], meant: str) -> T:
    """An object of a class; ``meant`` is what the argument must be, with an example."""
    if not isinstance(value, kind):
        raise ModelError(f"{name} must be {meant}, not {shown(value)}")
    return value


def mapping(name: str, value: Any, by: str = "name") -> dict[Any, Any]:
    """A mapping as a dictionary of its own; none for None. ``by`` says what its keys are, with an example."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ModelError(f"{name} takes a mapping by {by}, not {shown(value)}")
    return dict(value)


def function(name: str, value: Any, of: str) -> Callable[..., Any]:
    """Something that can be called; ``of`` says with what."""
    if not callable(value):
        raise ModelError(f"{name} takes a function of {of}, not {shown(value)}")
    checked: Callable[..., Any] = value
    return checked


def folder(name: str, value: Any) -> Path:
    """The name of a folder."""
    if not isinstance(value, str | Path) or not str(value):
        raise ModelError(f"{name} takes the name of a folder, not {shown(value)}")
    return Path(value)


def vector(name: str, value: Any, size: int | None = None) -> np.ndarray:
    """A vector of finite numbers; a single number is repeated if ``size`` is given."""
    found = numeric(value)
    if found is not None and found.ndim == 0 and size is not None:
        found = np.full(size, found)
    if found is None or found.ndim != 1 or not np.isfinite(found).all():
        raise ModelError(f"{name} must be a vector of finite numbers, not {shown(value)}")
    if size is not None and found.size != size:
        raise ModelError(f"{name} must have {size} entries, not {found.size}")
    return np.ascontiguousarray(found)


def between(name: str, value: Any, low: float, high: float, *, below: bool = False, unit: str = "") -> float:
    """A number from ``low`` to ``high``, both included; with ``below``, ``high`` itself is not.

    Examples
    --------
    >>> between("rho_inf", 1.5, 0, 1)
    Traceback (most recent call last):
    closedchain.errors.ModelError: rho_inf must be a number from 0 to 1, not 1.5
    """
    found = real(value)
    if found is None or isinstance(value, bool) or not (low <= found < high or (found == high and not below)):
        end = f"below {high:g}" if below else f"to {high:g}"
        raise ModelError(f"{name} must be a number from {low:g} {end}{f' {unit}' if unit else ''}, not {shown(value)}")
    return found


def needs(verb: str, value: Any, kind: type[T] | tuple[type[T], ...], meant: str) -> T:
    """What a verb works on: ``needs("follow", mechanism, Mechanism, "a cc.Mechanism")``."""
    if not isinstance(value, kind):
        raise ModelError(f"{verb} needs {meant}, not {shown(value)}")
    return value


def text(name: str, value: Any) -> str:
    """A text with at least one character."""
    if not isinstance(value, str) or not value:
        raise ModelError(f"{name} must be a non-empty text, not {shown(value)}")
    return value


def known(sentence: str, name: Any, names: Collection[Any], hint: str = "") -> Any:
    """A name that is among others. ``sentence`` begins the refusal, as "weights: no actuator is named".

    Examples
    --------
    >>> known("weights: no actuator is named", "bass1", ["base1", "base2"])
    Traceback (most recent call last):
    closedchain.errors.ModelError: weights: no actuator is named 'bass1'; did you mean 'base1' or 'base2'?
    """
    if not isinstance(name, str) or name not in names:
        raise ModelError(f"{sentence} {shown(name)}{suggest(str(name), names)}{hint}")
    return name


def names(name: str, value: Any, of: str = "names") -> tuple[str, ...]:
    """Names in a list, tuple or set; ``of`` says what they name, with an example. A single text is no list."""
    found = tuple(value) if isinstance(value, set | frozenset) else listed(value)
    if found is None or not all(isinstance(x, str) for x in found):
        raise ModelError(f"{name} takes a list of {of}, not {shown(value)}")
    return found


def unique(name: str, names: Iterable[Any]) -> None:
    """Names that occur once each."""
    twice = [x for x, count in Counter(names).items() if count > 1]
    if twice:
        raise ModelError(f"{name}: {shown(twice[0])} is named twice")


def increasing(name: str, value: Any, least: int = 1, meant: str = "increasing finite numbers") -> np.ndarray:
    """Finite numbers, at least ``least`` of them, each above the one before; ``meant`` is what they are."""
    found = numeric(value)
    if (
        found is None
        or found.ndim != 1
        or len(found) < least
        or not np.isfinite(found).all()
        or not (np.diff(found) > 0).all()
    ):
        raise ModelError(f"{name} takes {meant}{f', at least {least}' if least > 1 else ''}, not {shown(value)}")
    return found


def not_both(name: str, **values: Any) -> None:
    """At most one of some options.

    Examples
    --------
    >>> not_both("a rod", mass=1.0, density=7800.0)
    Traceback (most recent call last):
    closedchain.errors.ModelError: a rod: give either mass or density, not both
    """
    found = [option for option, value in values.items() if value is not None]
    if len(found) > 1:
        more = "both" if len(values) == 2 else f"{' and '.join(found)} together"
        raise ModelError(f"{name}: give either {' or '.join(values)}, not {more}")


def exactly_one(name: str, **values: Any) -> None:
    """One of some options, and no more."""
    not_both(name, **values)
    if all(value is None for value in values.values()):
        raise ModelError(f"{name}: give either {' or '.join(values)}")
