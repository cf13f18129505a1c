"""The points of a study: all combinations of lists, points one by one, or samples of distributions.

Points are numbered in the order of their axes, the last one fastest, as arrays are.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from closedchain.arguments import one_of, shown, whole
from closedchain.errors import ModelError

POINT = "point"  # the axis of points one by one
SAMPLE = "sample"  # the axis of samples
SAMPLINGS = ("latin-hypercube", "monte-carlo")
MOST = 10_000_000  # points: more are a mistake of typing


@dataclass(frozen=True, eq=False)
class Points:
    """Values of what is varied.

    Attributes
    ----------
    names
        What is varied.
    values
        (points, names).
    axes
        Values along each axis by its name, (length,); the order is that of the points.
    """

    names: tuple[str, ...]
    values: np.ndarray
    axes: dict[str, np.ndarray]

    @property
    def dims(self) -> tuple[str, ...]:
        """Names of the axes."""
        return tuple(self.axes)

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        return tuple(len(x) for x in self.axes.values())

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, number: int) -> dict[str, float]:
        """One point: values by name."""
        return dict(zip(self.names, self.values[number].tolist(), strict=True))

    def coords(self) -> dict[str, tuple[str, np.ndarray]]:
        """Axis and values of each name, and of the axes that are no names."""
        out = {}
        for axis, along in self.axes.items():
            out[axis] = (axis, along)
            if axis in (POINT, SAMPLE):  # what it stands for: the values at the first of the other axes
                first = np.arange(len(along)) if axis == SAMPLE else slice(None)
                for k, name in enumerate(self.names):
                    if name not in self.axes:
                        out[name] = (axis, self.values[first, k])
        return out


@dataclass(frozen=True)
class Together:
    """Lists of a study that go together, value by value: ``cc.sweep(m, cc.Together({"a": [1, 2], "b": [3, 4]}))``.

    Attributes
    ----------
    lists
        Values by name, as many for each; the dataset has an axis ``point``.
    """

    lists: Mapping[str, Any]

    def __post_init__(self) -> None:
        _by_name("Together", self.lists)
        random = [name for name, x in self.lists.items() if _is_distribution(x)]
        if random:
            told, are = " and ".join(map(repr, random)), "is" if len(random) == 1 else "are"
            raise ModelError(f"Together is for lists, but {told} {are} drawn at random: use cc.Samples(...)")


@dataclass(frozen=True)
class Samples:
    """Samples of distributions: ``cc.sweep(m, cc.Samples({"crank.mass": scipy.stats.norm(1.0, 0.05)}, count=1000))``.

    Attributes
    ----------
    parameters
        Distributions of `scipy.stats` by name, with an axis ``sample`` of the dataset; lists beside them are combined
        with the same samples.
    count
        How many samples.
    sampling
        ``"latin-hypercube"`` or ``"monte-carlo"``.
    seed
        Of the random numbers.
    """

    parameters: Mapping[str, Any]
    count: int = field(kw_only=True)
    sampling: str = field(default=SAMPLINGS[0], kw_only=True)
    seed: int = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        _by_name("Samples", self.parameters)
        object.__setattr__(self, "count", whole("Samples: count", self.count, 1))
        one_of("Samples: sampling", self.sampling, SAMPLINGS)
        object.__setattr__(self, "seed", whole("Samples: seed", self.seed, 0))
        if not any(map(_is_distribution, self.parameters.values())):
            lists = [_name(name) for name in self.parameters]
            raise ModelError(
                f"{self.count} samples are to be drawn, but {', '.join(map(repr, lists))} "
                f"{'is a list' if len(lists) == 1 else 'are lists'}: give a distribution, for instance "
                "scipy.stats.uniform(0.8, 0.4) for 0.8 to 1.2, or leave cc.Samples out"
            )


def points(parameters: Any) -> Points:
    """The points of a study from what a user gave; see `closedchain.studies.sweep.sweep`."""
    if isinstance(parameters, Together):
        return _together(_lists(parameters.lists))
    if isinstance(parameters, Samples):
        random = {name: x for name, x in parameters.parameters.items() if _is_distribution(x)}
        return _sampled(_lists({k: x for k, x in parameters.parameters.items() if k not in random}), random, parameters)
    if isinstance(parameters, Mapping):
        _by_name("parameters", parameters)
        random = {name: x for name, x in parameters.items() if _is_distribution(x)}
        if random:
            told = " and ".join(map(repr, random))
            raise ModelError(f"how many samples of {told}? Say for instance cc.Samples({{...}}, count=1000)")
        return _combined(_lists(parameters))
    return _one_by_one(parameters)


def _by_name(what: str, parameters: Any) -> None:
    if not isinstance(parameters, Mapping):
        raise ModelError(f"{what} takes values by name, {{'crank.length': [0.9, 1.0]}}, not {shown(parameters)}")
    if not parameters:
        raise ModelError("there is nothing to vary: give names with values, for instance {'crank.length': [1, 2]}")


def _lists(parameters: Mapping[str, Any]) -> dict[str, np.ndarray]:
    return {_name(name): _numbers(name, x) for name, x in parameters.items()}


# ---- lists -----------------------------------------------------------------------------------------------------------


def _combined(lists: dict[str, np.ndarray]) -> Points:
    _limit(math.prod(len(x) for x in lists.values()))
    grid = np.meshgrid(*lists.values(), indexing="ij")
    return Points(tuple(lists), np.stack([x.ravel() for x in grid], axis=1), dict(lists))


def _together(lists: dict[str, np.ndarray]) -> Points:
    lengths = {name: len(x) for name, x in lists.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name!r} has {n}" for name, n in lengths.items())
        raise ModelError(f"lists that go together need as many values each, but {told}")
    values = np.stack(list(lists.values()), axis=1)
    return Points(tuple(lists), values, {POINT: np.arange(len(values))})


def _one_by_one(parameters: Any) -> Points:
    """Mappings in a sequence, or a table with a column for each name."""
    if callable(getattr(parameters, "to_dict", None)) and hasattr(parameters, "columns"):  # a data frame
        return _together({_name(name): _numbers(name, parameters[name]) for name in parameters.columns})
    if (
        isinstance(parameters, str)
        or not isinstance(parameters, Sequence)
        or not all(isinstance(x, Mapping) for x in parameters)
    ):
        raise ModelError(
            "what to vary is a mapping of names to values, {'crank.length': [0.9, 1.0]}, a list of points, "
            f"[{{'crank.length': 0.9}}, ...], or a data frame, not {parameters!r}"
        )
    if not parameters or not parameters[0]:
        raise ModelError("there is nothing to vary: the list of points is empty")
    names = tuple(parameters[0])
    for k, point in enumerate(parameters):
        if set(point) != set(names):
            odd = sorted(map(str, set(point) ^ set(names)))
            raise ModelError(f"point {k} has other names than the first: {', '.join(map(repr, odd))}")
    return _together({_name(name): _numbers(name, [point[name] for point in parameters]) for name in names})


def _name(name: Any) -> str:
    if not isinstance(name, str) or not name:
        raise ModelError(f"what is varied has a name, for instance 'crank.length', not {name!r}")
    return name


def _numbers(name: Any, entries: Any) -> np.ndarray:
    with contextlib.suppress(TypeError):  # a single number, or what is refused below
        _limit(len(entries))  # before the numbers of a long range are made
    try:
        values = np.atleast_1d(np.asarray(entries, float))
    except (TypeError, ValueError):
        raise ModelError(f"{name!r} takes numbers, for instance [0.9, 1.0, 1.1], not {entries!r}") from None
    if values.ndim != 1:
        raise ModelError(f"{name!r} takes a list of numbers, not an array of shape {values.shape}")
    if not len(values):
        raise ModelError(f"{name!r} has no value: its list is empty")
    if not np.isfinite(values).all():
        i = int(np.argmin(np.isfinite(values)))
        raise ModelError(f"{name!r} takes finite numbers, but value {i} is {values[i]}")
    return values.copy()


def _limit(count: int) -> None:
    if count > MOST:
        raise ModelError(
            f"these are {count:.3g} points, and {MOST:.0g} are the most: take shorter lists, or fewer samples"
        )


# ---- samples ---------------------------------------------------------------------------------------------------------


def _is_distribution(x: Any) -> bool:
    return callable(getattr(x, "ppf", None)) or callable(getattr(x, "icdf", None))


def _sampled(lists: dict[str, np.ndarray], random: Mapping[str, Any], how: Samples) -> Points:
    """Every combination of the lists with the same samples of the distributions."""
    _limit(math.prod(len(x) for x in lists.values()) * how.count)
    shares = _shares(how.count, len(random), how.sampling, np.random.default_rng(how.seed))
    columns = []
    for k, (name, distribution) in enumerate(random.items()):
        values = np.asarray(_quantiles(distribution)(shares[:, k]), float)
        if values.shape != (how.count,) or not np.isfinite(values).all():
            raise ModelError(f"the distribution of {_name(name)!r} does not give finite numbers: look at its bounds")
        columns.append(values)
    drawn = np.stack(columns, axis=1)
    if not lists:
        return Points(tuple(random), drawn, {SAMPLE: np.arange(how.count)})
    outer = _combined(lists)
    values = np.hstack([np.repeat(outer.values, how.count, axis=0), np.tile(drawn, (len(outer), 1))])
    return Points((*outer.names, *random), values, {**outer.axes, SAMPLE: np.arange(how.count)})


def _quantiles(distribution: Any) -> Callable[[np.ndarray], Any]:
    """The inverse of the distribution function, in either interface of scipy.stats."""
    return distribution.ppf if callable(getattr(distribution, "ppf", None)) else distribution.icdf


def _shares(n: int, d: int, sampling: str, rng: np.random.Generator) -> np.ndarray:
    """Random numbers between 0 and 1, (n, d).

    In a Latin hypercube (McKay, Beckman and Conover 1979) each of n equal intervals has one of them, in each column.
    """
    inside = rng.random((n, d))
    if sampling == "monte-carlo":
        return inside
    intervals = rng.permuted(np.tile(np.arange(n), (d, 1)), axis=1).T
    return (intervals + inside) / n
