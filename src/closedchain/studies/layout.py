"""How the points of a study are divided into blocks: what is computed and written together."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Layout:
    """Blocks of a grid of points. A block is a run of consecutive points, and a box of the grid.

    Attributes
    ----------
    shape
        Of the grid.
    box
        Of a block; those at the end of an axis may be shorter.

    Examples
    --------
    >>> layout = divided((4, 10), 8)
    >>> layout.box, len(layout)
    ((1, 5), 8)
    >>> layout.points(3), layout.place(3)
    (range(15, 20), (slice(1, 2, None), slice(5, 10, None)))
    """

    shape: tuple[int, ...]
    box: tuple[int, ...]

    @property
    def counts(self) -> tuple[int, ...]:
        """Blocks along each axis."""
        return tuple(-(-n // b) for n, b in zip(self.shape, self.box, strict=True))

    def __len__(self) -> int:
        return math.prod(self.counts)

    def number(self, block: int) -> tuple[int, ...]:
        """Its number along each axis."""
        out = []
        for count in reversed(self.counts):
            block, k = divmod(block, count)
            out.append(k)
        return tuple(reversed(out))

    def place(self, block: int) -> tuple[slice, ...]:
        """Where a block is in the grid."""
        number = self.number(block)
        return tuple(slice(k * b, min((k + 1) * b, n)) for n, b, k in zip(self.shape, self.box, number, strict=True))

    def points(self, block: int) -> range:
        """The numbers of its points."""
        place = self.place(block)
        first = 0
        for n, part in zip(self.shape, place, strict=True):
            first = first * n + part.start
        return range(first, first + math.prod(part.stop - part.start for part in place))


def divided(shape: tuple[int, ...], most: int) -> Layout:
    """Blocks of at most so many points: whole inner axes, a part of one axis, one of each outer axis."""
    box = [1] * len(shape)
    inner = 1
    for axis in reversed(range(len(shape))):
        parts = -(-shape[axis] // max(most // inner, 1))
        box[axis] = -(-shape[axis] // parts)  # as equal as possible
        inner *= box[axis]
        if parts > 1:
            break
    return Layout(shape, tuple(box))
