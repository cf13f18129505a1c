"""Blocks of a grid: every point is in one of them, in order, and a block is a box."""

import numpy as np
import pytest

from closedchain.studies.layout import divided


@pytest.mark.parametrize("shape", [(1,), (7,), (256,), (257,), (3, 5), (40, 257), (2, 3, 4, 5), (300, 1, 2)])
@pytest.mark.parametrize("most", [1, 8, 256])
def test_blocks_divide_the_points(shape, most):
    layout = divided(shape, most)
    numbers = np.arange(np.prod(shape)).reshape(shape)
    seen = []
    for block in range(len(layout)):
        points = layout.points(block)
        assert 1 <= len(points) <= most
        assert numbers[layout.place(block)].ravel().tolist() == list(points)
        # the box at this number is the chunk of that number in a file
        starts = [part.start for part in layout.place(block)]
        assert tuple(s // b for s, b in zip(starts, layout.box, strict=True)) == layout.number(block)
        seen += points
    assert seen == list(range(numbers.size))


def test_blocks_are_about_equal():
    assert divided((10, 257), 256).box == (1, 129)
