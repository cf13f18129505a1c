"""Drawings with numbers that are off a little, each one by another amount: what rounding does to data."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation


def perturbed(m, size, tolerance, seed=0):
    """The mechanism with the second frame of every joint off by up to ``size``, m and rad; nothing is derived yet."""
    rng = np.random.default_rng(seed)
    m.tolerance = tolerance
    for joint in m.joints.values():
        frame = joint.b
        move, turn = size * rng.uniform(-1, 1, (2, 3))
        R = np.array(frame.rotation, float) @ Rotation.from_rotvec(turn).as_matrix()
        place = tuple(x + float(d) for x, d in zip(frame.position, move, strict=True))
        other = type(frame)(frame.body, place, tuple(map(tuple, R.tolist())), f"{joint.name} rounded")
        frame.body.frames[other.name] = other
        object.__setattr__(joint, "b", other)
    m.revision += 1
    return m
