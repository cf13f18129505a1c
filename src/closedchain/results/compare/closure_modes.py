"""How springs in the closures would vibrate: frequencies and damping from the effective masses of the cuts.

With springs ``lam = k c + b c'`` in all rows, the closures of a mechanism near a pose follow

    c'' + S (b c' + k c) = what the rest of the motion asks for,    S = A M^-1 A'

``S`` is the inverse of the effective mass that the springs feel. With its eigenvalues s the frequencies are sqrt(k s),
the damping ratios b/2 sqrt(s/k). Damping is *critical for the stiffest mode* if

    b = 2 sqrt(k / s_max)

Then no mode is over-damped: every root of the closures lies within the circle of radius sqrt(k s_max), on which the
stiffest mode would lie without damping as well, so that an explicit solver may take steps as long as without. The
stiffest mode does not swing, the others decay. With more damping a root grows as ``b s_max`` and the steps must shrink,
with less the springs ring on.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from closedchain.derive.equations import Equations, derive
from closedchain.errors import ModelError
from closedchain.lock import locked
from closedchain.model.derived import cached
from closedchain.pose.closing import active_rows
from closedchain.pose.state import State, parameter_vector
from closedchain.results.run import Run

POSES = 20  # of a run that are looked at


@locked
def inverse_masses(state: State) -> np.ndarray:
    """Eigenvalues of ``A M^-1 A'`` at a state, ascending; closures that repeat others give zeros."""
    m = state.mechanism
    e = derive(m)
    terms = _terms(e)(state.t, state.q, state.v, parameter_vector(m, state.parameters))
    M, A = (np.array(x) for x in terms)
    A = A[active_rows(e, state.open_joints)]
    try:
        S = A @ np.linalg.solve(M, A.T)
    except np.linalg.LinAlgError:
        raise ModelError(
            f"a limb of {m.name!r} has no inertia of its own, so no spring can close it: give its bodies a mass"
        ) from None
    return np.linalg.eigvalsh((S + S.T) / 2)


@cached
def _terms(e: Equations) -> ca.Function:
    return e.function("closure_modes", {"M": e.M, "A": e.closure.A})


def stiffest(run: Run) -> float:
    """Largest eigenvalue of ``A M^-1 A'`` along a run; 0 without closures."""
    every = max(1, len(run.t) // POSES)
    return max(float(inverse_masses(run.state(i)).max(initial=0.0)) for i in range(0, len(run.t), every))


def critical_damping(stiffness: float, s_max: float) -> float:
    """``2 sqrt(k / s_max)``, to two digits; 0 without closures."""
    return float(f"{2 * np.sqrt(stiffness / s_max):.1e}") if s_max > 0 else 0.0
