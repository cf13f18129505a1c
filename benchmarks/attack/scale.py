"""The same mechanism in other units: lengths, masses and times by powers of two and of ten.

The motion is the same within 10 rtol times its growth (see `motion`); with powers of two, where not one rounding
differs, the steps are the same as well.
"""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np

import closedchain as cc
from benchmarks.attack.bases import act, random_data
from benchmarks.attack.data import Data, as_python, simulated
from benchmarks.attack.motion import distance, growth, poses
from benchmarks.attack.outcome import Outcome, found, plain, unforeseen
from closedchain.model.joints.types import JOINT_TYPES

BUDGET = 240.0  # s of processor time: three runs
UNTIL = 0.5
MOST_STEPS = 200_000
WITHIN = 10.0  # rtol times growth
LENGTHS, MASSES, TIMES = (-8, 6), (-18, 9), (-4, 4)  # powers of ten


def scaled(data: Data, length: float, mass: float, time: float) -> Data:
    """The drawing in units that are so much smaller."""
    data = copy.deepcopy(data)
    kinds = {j["name"]: JOINT_TYPES[j["kind"]] for j in data["joints"]}
    force = mass * length / time**2

    def times(values: Any, by: float) -> Any:
        return [times(x, by) for x in values] if isinstance(values, list) else values * by

    def coordinates(name: str, values: Any) -> Any:
        by = [length if unit == "m" else 1.0 for unit in kinds[name].coordinate_units]
        if not isinstance(values, list):
            return values * by[0]
        return [x * y for x, y in zip(values, by, strict=True)]

    data["gravity"] = times(data["gravity"], length / time**2)
    for body in data["bodies"]:
        body["mass"] *= mass
        body["com"] = times(body["com"], length)
        body["inertia"] = times(body["inertia"], mass * length**2)
    for joint in data["joints"]:
        for end in "ab":
            joint[end]["at"] = times(joint[end]["at"], length)
        if "pitch" in joint:
            joint["pitch"] *= length
        if "guess" in joint:
            joint["guess"] = coordinates(joint["name"], joint["guess"])
    for method, arguments, options in data["calls"]:
        if method == "force":
            arguments[1]["at"], arguments[2] = times(arguments[1]["at"], length), times(arguments[2], force)
            continue
        arm = length if kinds[arguments[0]].velocity_units[options["coordinate"]] == "rad/s" else 1.0
        if method == "motor":
            for name in {"torque", "force"} & set(options):
                options[name] *= force * arm
        else:
            rate = {"joint_spring": 2, "joint_damper": 1, "rotor": 0}[method]
            arguments[1] *= mass * arm**2 / time**rate
    data["assemble"]["hold"] = {name: coordinates(name, x) for name, x in data["assemble"]["hold"].items()}
    data["simulate"]["until"] *= time
    return data


def attack(rng: np.random.Generator) -> Outcome:
    """One mechanism in two units."""
    data = random_data(rng)
    act(rng, data)
    data["simulate"] = {"until": UNTIL, "rtol": float(10.0 ** rng.integers(-9, -5)), "max_steps": MOST_STEPS}
    two = bool(rng.integers(2))
    exponents = [float(rng.uniform(low, high)) * (rng.random() < 0.7) for low, high in (LENGTHS, MASSES, TIMES)]
    by = [2.0 ** round(e * np.log2(10)) if two else 10.0 ** round(e) for e in exponents]
    return compared(data, by, two, rng)


def compared(data: Data, by: list[float], two: bool, rng: np.random.Generator) -> Outcome:
    """Run both, and compare."""
    other = scaled(data, *by)
    units = f"lengths by {by[0]:g}, masses by {by[1]:g}, times by {by[2]:g}"
    reproduce = {"units": units, "python": as_python(other), "unscaled": as_python(data)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.RunWarning)
        try:
            here = simulated(data)
        except cc.ClosedChainError as error:
            return Outcome(f"unscaled: {type(error).__name__}")
        if not here.good:
            return Outcome("unscaled: not good")
        try:
            there = simulated(other)
        except cc.ClosedChainError as error:
            what = f"{units}: {type(error).__name__}: {str(error)[:300]}"
            return found("refused in other units", what, reproduce, f"refused: {plain(str(error))[:70]}")
        except Exception as error:
            return unforeseen(error, reproduce)
        spread = growth(here, rng)
        apart = distance(poses(there, by[0]), poses(here))
    ratio = apart / (here.rtol * spread)
    figures = {"distance by rtol and growth": ratio}
    if not ratio <= WITHIN:
        what = f"{units}: motions differ by {apart:.3g}, {ratio:.3g} times rtol and growth"
        return found("another motion", what, reproduce, "another motion", **figures)
    if not there.good:
        return found("good in one of the units", f"{units}: {there.complaints()[0][:300]}", reproduce, "not good")
    steps = here.counts.steps, there.counts.steps
    if two and steps[0] != steps[1]:
        what = f"{units}: {steps[0]} steps, and {steps[1]}"
        return found("other steps", what, reproduce, "other steps", **figures)
    return Outcome("same", figures=figures)
