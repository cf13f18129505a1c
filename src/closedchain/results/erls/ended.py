"""Why a run by an equivalent rigid-link system ended early, and what to try: what `Run.explanation` says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from closedchain.erls import choice
from closedchain.erls.steps.stepper import SINGULAR
from closedchain.integrate.trajectory import SENTENCES, Failure, Status
from closedchain.pose.closing import Closing
from closedchain.pose.redundancy import closure_jacobian
from closedchain.results.vibration.locked import motor_coordinates

if TYPE_CHECKING:
    from closedchain.results.erls.solution import ErlsSolution

DEAD = 0.02  # of the motion of all joints: a coordinate that moves less is near a dead point
AS_GOOD = 0.2  # of the best choice: motors' joints that determine the motion so well are good coordinates
ALONE = 0.9  # of a motion that coordinates do not show: one that has so much of it is at a dead point by itself
STUCK = (Status.nan, Status.not_solved, Status.step_too_small)


def why_it_ended(solution: ErlsSolution) -> tuple[str, str]:
    """What happened, and what to try."""
    failure = solution.failure
    assert failure is not None
    said, advice = SENTENCES.get(solution.status, (solution.status.name, "try a smaller step"))
    if solution.status is Status.diverged and solution.record:
        return solution.record[0].text, advice
    if solution.status is Status.singular and solution.motion.closed >= SINGULAR:
        return _poorly_zeroed(solution, failure)
    if solution.status in (Status.singular, *STUCK):
        dead = _dead_point(solution, failure)
        if dead is not None:
            return dead
    if solution.status is Status.singular:
        said = _undetermined(solution)
        advice = "stop before, or take other coordinates, cc.ERLS(coordinates=(...))"
    elif solution.status is Status.nan:
        said = "its accelerations are not determined, or not finite"
        advice = "look for bodies without inertia, for laws that divide by zero, and at run.u"
    elif solution.status in STUCK:
        advice = (
            "the rigid-link system may be near a singular pose, where its loops do not close, or displacements "
            "have become too large; stop before, or look at run.u"
        )
    elif solution.status is Status.too_many_steps:
        advice = (
            "allow more with max_steps of the solver, for instance solver=cc.solvers.ESDIRK4(max_steps=...); if steps "
            "are very small, take a larger rtol, fewer elements, or damp the links"
        )
    return said, advice


def _poorly_zeroed(solution: ErlsSolution, failure: Failure) -> tuple[str, str]:
    """Which zeroed displacement no longer determines a coordinate, and a better choice there."""
    system, first = solution.system, solution.system.n_chain
    J = system.rigid(failure.t, failure.x)
    weakest = np.linalg.svd(J[list(system.compiled.zeroed)] / system.units)[0][:, -1]
    lost = system.labels[system.zeroed[int(np.argmax(np.abs(weakest)))]]
    others = tuple(system.labels[first + k] for k in choice.best(J, system.turning, range(system.n_u)))
    return (
        f"the zeroed displacements ({', '.join(solution.zeroed)}) no longer determine the coordinates q: {lost!r} does "
        f"not change with them there (determinant of the block of J {solution.motion.health:.1e} of that at the start)",
        f"zero others; regular there are for instance cc.ERLS(zero={others!r})",
    )


def _dead_point(solution: ErlsSolution, failure: Failure) -> tuple[str, str] | None:
    """The coordinate that is at a dead point where the run ended, and coordinates that are not; None if none is."""
    from scipy.linalg import qr

    system, e, end = solution.system, solution.system.e, failure.x
    if not system.n_q or not np.isfinite(end).all():
        return None
    # motions of all joints of the rigid-link system, without units
    A = closure_jacobian(Closing(e, system.p, time=failure.t), end)
    moves = np.linalg.svd(A)[2][-system.n_q :].T

    def determined(columns: list[int]) -> float:
        return float(np.linalg.svd(moves[columns], compute_uv=False)[-1])

    mine = list(system.independent)
    best = sorted(int(k) for k in qr(moves.T, mode="r", pivoting=True)[1][: system.n_q])
    labels = e.topology.v_labels
    motors = [labels.index(x) for x in motor_coordinates(system.twin) if x in labels]
    if len(motors) == system.n_q and determined(motors) > AS_GOOD * determined(best):
        best = motors
    if determined(mine) > DEAD * determined(best):
        return None
    weakest = np.abs(np.linalg.svd(moves[mine])[0][:, -1])
    lost = labels[mine[int(np.argmax(weakest))]]
    said = f"its coordinate {lost!r} comes to a dead point, where it stands still while the others move"
    others = tuple(labels[k] for k in best)
    return (
        said if weakest.max() > ALONE else _undetermined(solution),
        f"take other coordinates; these determine the motion there: cc.ERLS(coordinates={others!r})",
    )


def _undetermined(solution: ErlsSolution) -> str:
    names = ", ".join(solution.system.labels[-solution.system.n_q :])
    return (
        f"its rigid-link system comes to a pose where the coordinates q ({names}) no longer determine the "
        f"others (smallest relative pivot of its closures {solution.motion.closed:.1e})"
    )
