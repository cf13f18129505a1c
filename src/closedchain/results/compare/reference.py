"""A run to measure others against: an exact formulation at a tolerance much tighter than theirs.

What is compared are the coordinates of the tree (those of cut joints follow from them): angles in rad, lengths in m,
and for quaternions the angle between the two rotations. Forces are compared as ``A' lam``, the closing forces as they
act on the coordinates of the limbs: these are unique also where closures repeat each other, which the multipliers are
not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from closedchain.close.formulation import Formulation
from closedchain.close.methods import METHODS
from closedchain.derive.equations import Equations
from closedchain.errors import ClosedChainError, RunError
from closedchain.pose.state import State
from closedchain.results.compare.trial import Trial, attempt
from closedchain.results.run import Run

EXACT: dict[str, Formulation] = {
    name: METHODS[name]
    for name in ("multipliers", "operational-space", "denoc", "independent-coordinates", "projection")
}
NOTHING = 1e-12  # of the forces that move a mechanism of this size in its time
TIGHTER = 1e-3  # than the tightest tolerance that is compared
TIGHT = 1e-12  # and in any case
TIGHTEST = 1e-13  # rounding leaves nothing to gain below
CHECK = 30.0  # looser: what the reference is checked with


class Errors(NamedTuple):
    """Largest errors over a run: angles (rad), lengths (m), closing forces (relative); nan where there are none."""

    angle: float
    length: float
    reaction: float

    @property
    def motion(self) -> float:
        """The larger of the errors of angles and lengths, rad or m."""
        return float(np.fmax(self.angle, self.length))


@dataclass(frozen=True, eq=False)
class Reference:
    """The best run there is.

    Attributes
    ----------
    run
        It has the same samples as the runs it is compared with.
    uncertainty
        How far it is from a run with a tolerance 30 times looser, rad or m: smaller errors are not resolved.
    """

    run: Run
    uncertainty: float

    def errors(self, run: Run) -> Errors:
        """Largest errors of a run with the same samples."""
        return errors(run, self.run)

    def __str__(self) -> str:
        method = type(self.run.method).__name__
        return f"{method} with {self.run.solver} at rtol {self.run.rtol:.0e}, good to {self.uncertainty:.1e}"


def make_reference(start: State, until: float, tightest: float, samples: int = 201) -> Reference:
    """Run the first exact formulation that reaches the end.

    Parameters
    ----------
    start, until
        Where the run begins, and the time of its end, s.
    tightest
        The tightest tolerance that is going to be compared.
    samples
        How many equal times the others will have.

    Raises
    ------
    ClosedChainError
        If no exact formulation reaches the end: what the first one said.
    """
    rtol = max(min(TIGHTER * tightest, TIGHT), TIGHTEST)
    first: ClosedChainError | None = None
    for method in EXACT.values():
        best, check = (
            attempt(start, until, Trial(method, rtol=tolerance, samples=samples)) for tolerance in (rtol, CHECK * rtol)
        )
        if best.run is not None and check.run is not None and not best.failure and not check.failure:
            return Reference(best.run, errors(check.run, best.run).motion)
        first = first or RunError(best.failure or check.failure, best.run)
    assert first is not None
    raise first


def errors(run: Run, best: Run) -> Errors:
    """Largest differences of two runs with the same samples; those by ERLS have no closing forces."""
    e = best.solution.equations
    wanted = np.stack([*best.solution.coordinates().values()], axis=1)
    # coordinates of shapes are another model's than finite elements
    known = best.solution.coordinates() | run.solution.coordinates()
    got = np.stack([known[label] for label in best.solution.coordinates()], axis=1)
    off = np.abs(got - wanted)
    angles, lengths, quaternions = _columns(e)
    turned = [_rotation_angle(got[:, four], wanted[:, four]) for four in quaternions]
    angle = np.concatenate([off[:, angles].ravel(), *turned])
    length = off[:, lengths].ravel()
    return Errors(_largest(angle), _largest(length), _force_error(run, best))


def _largest(x: np.ndarray) -> float:
    return float(x.max()) if x.size else float("nan")


def _columns(e: Equations) -> tuple[list[int], list[int], list[list[int]]]:
    """Places of the tree's angles, lengths and quaternions among the coordinates of all joints."""
    angles: list[int] = []
    lengths: list[int] = []
    quaternions: list[list[int]] = []
    at = 0
    for joint in e.topology.measured:
        places = range(at, at + joint.type.nq)
        at += joint.type.nq
        if joint.name not in e.topology.own:
            continue
        if joint.type.has_quaternion:
            quaternions.append([*places[-4:]])
            places = places[:-4]
        for place, unit in zip(places, joint.type.coordinate_units, strict=False):
            (angles if unit == "rad" else lengths).append(place)
    return angles, lengths, quaternions


def _rotation_angle(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Between rotations given by unit quaternions, which mean the same with either sign."""
    apart = np.minimum(np.linalg.norm(a - b, axis=1), np.linalg.norm(a + b, axis=1))
    return 4 * np.arcsin(np.minimum(apart / 2, 1.0))


# ---- forces ----------------------------------------------------------------------------------------------------------


def _force_error(run: Run, best: Run) -> float:
    wanted, got = best.solution.closing_forces(), run.solution.closing_forces()
    if wanted is None or got is None:
        return float("nan")
    out = float("nan")
    units, energy = best.solution.equations.topology.v_units, best.scale.energy
    for unit in dict.fromkeys(units):
        least = NOTHING * (energy / best.scale.length if unit == "m/s" else energy)
        columns = [i for i, other in enumerate(units) if other == unit]
        size = np.abs(wanted[:, columns]).max(initial=0.0)
        if size > least:  # else nothing closes here, but rounding
            # a spring is not stretched yet at the start, so the comparison begins after it
            out = float(np.fmax(out, np.abs(got - wanted)[1:, columns].max(initial=0.0) / size))
    return out
