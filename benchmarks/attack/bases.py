"""Mechanisms to begin with, as data: random ones of the tests and some of the library, with motors, springs, forces."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.attack.data import Data, as_data
from closedchain.model.joints.types import JOINT_TYPES
from closedchain.model.library import MECHANISMS
from closedchain.studies import sweep as studies
from tests.random_mechanisms import Drawing, draw, draw_platform

SMALL = ("pendulum", "double-pendulum", "four-bar", "slider-crank", "five-bar", "rrr3", "pacdrive", "delta")


def pick(rng: np.random.Generator, choices: Any) -> Any:
    """One of them, as it is: NumPy would make a NumPy object of it."""
    choices = list(choices)
    return choices[int(rng.integers(len(choices)))]


def mechanism(rng: np.random.Generator, bodies: int = 6, acting: float | None = None) -> Drawing:
    """A random drawing: a tree, loops, or a platform with several limbs.

    ``acting`` is a time, s: one of everything acts, and sometimes a gear and a drive hold freedoms that agree with the
    drawing at that time.
    """
    seed = int(rng.integers(2**31))
    kind = rng.random()
    acts = acting is not None
    if kind < 0.1:
        return draw_platform(seed, limbs=int(rng.integers(2, 5)), planar=bool(rng.integers(2)), acting=acts)
    many = int(rng.integers(1, bodies + 1))
    options: dict[str, Any] = {"branching": float(rng.choice([0.0, 0.5, 1.0])), "acting": acts}
    if kind < 0.4 or many < 2:
        wishes: list[dict[str, Any]] = []
    elif acts and kind < 0.7:
        wishes = [{"loops": int(rng.integers(1, 3)), "cut": None, "mobility": 4, "geared": acting}]
    else:
        wishes = [{"loops": int(rng.integers(1, 3)), "cut": None}]
    for wish in [*wishes, {}]:
        try:
            return draw(seed, bodies=many, **options, **wish)
        except (ValueError, IndexError):  # no loops, gears or drives fit into so few bodies
            if not wish:
                options["acting"] = False  # nothing moves
    return draw(seed, bodies=many, **options)


def random_data(rng: np.random.Generator, bodies: int = 6, library: float = 0.3) -> Data:
    """A mechanism as data, without anything acting on it; with this probability one of the library."""
    if rng.random() < library:
        return as_data(MECHANISMS[pick(rng, SMALL)].build())
    drawing = mechanism(rng, bodies)
    data = as_data(drawing.mechanism)
    hold = {j["name"]: list(map(float, drawing.at[j["name"]])) for j in data["joints"] if len(drawing.at[j["name"]])}
    kept = {name: value for name, value in hold.items() if rng.random() < 0.5}
    data["assemble"]["hold"] = kept
    return data


def act(rng: np.random.Generator, data: Data) -> None:
    """Add motors, springs, dampers, rotors, forces; numbers only, so that the data stay data."""
    moving = [j for j in data["joints"] if JOINT_TYPES[j["kind"]].nv]
    for _ in range(int(rng.integers(0, 4)) if moving else 0):
        joint = pick(rng, moving)
        kind = JOINT_TYPES[joint["kind"]]
        index = int(rng.integers(kind.nv))
        options: dict[str, Any] = {"coordinate": index}
        what = pick(rng, ["motor", "joint_spring", "joint_damper", "rotor", "force"])
        number = float(rng.uniform(0.01, 3))
        if what == "motor":
            options["torque" if kind.velocity_units[index] == "rad/s" else "force"] = float(rng.normal(0, 3))
            data["calls"].append([what, [joint["name"]], options])
        elif what == "force":
            at = {"body": pick(rng, data["bodies"])["name"], "at": rng.normal(0, 0.3, 3).tolist(), "R": None}
            data["calls"].append([what, [f"push{len(data['calls'])}", at, rng.normal(0, 3, 3).tolist()], {}])
        elif what != "joint_spring" or not kind.has_quaternion:
            data["calls"].append([what, [joint["name"], number], options])


@contextlib.contextmanager
def in_small_pieces() -> Iterator[None]:
    """Studies that save often, so that there is much to interrupt."""
    before = studies.BLOCK, studies.IN_A_JOB
    studies.BLOCK, studies.IN_A_JOB = 8, {"simulate": 2, "batch": 4}
    try:
        yield
    finally:
        studies.BLOCK, studies.IN_A_JOB = before
