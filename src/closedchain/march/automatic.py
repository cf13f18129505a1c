"""``solver="auto"``: an explicit solver as long as it pays, an implicit one where the equations are stiff.

The explicit solver (`dop853`) notices by itself that stability limits its steps (Hairer, Wanner 1996, vol. II, IV.2).
Where many such steps lie ahead the implicit one (`radau5`) takes over. It is left again if its steps are hardly longer,
or when the largest eigenvalue of the Jacobian would let the explicit one take the same steps.
"""

from __future__ import annotations

import numpy as np

from closedchain.integrate.trajectory import Status
from closedchain.march.program.compiled import Compiled

EXPLICIT, IMPLICIT = "dop853", "radau5"
WORTH = 1000  # explicit steps to come: with fewer, a Jacobian is not worth its compilation
LONGER = 5.0  # by how much implicit steps must be longer
STABLE = 2.0  # h times the largest eigenvalue up to which an explicit step is as good; the border lies near 6
CALM_LOOKS = 2  # in a row


class Stiffness:
    """Decides which solver marches on.

    Attributes
    ----------
    solver
        The one that marches now.
    tired
        Whether the implicit one has been tried without success.
    """

    def __init__(self, until: float) -> None:
        self.until = until
        self.solver = EXPLICIT
        self.tired = False
        self._explicit_step = 0.0
        self._calm = 0
        self._looks = 0

    @property
    def detects(self) -> bool:
        """Whether to look out for stiffness."""
        return self.solver == EXPLICIT and not self.tired

    def look(self, program: Compiled, p: np.ndarray, t: float, x: np.ndarray, h: float) -> Status | None:
        """A look at the implicit solver now and then: is it still worth its cost?"""
        if self.solver == EXPLICIT:
            return None
        self._looks += 1
        if self._looks == 1 and h < LONGER * self._explicit_step:
            self.tired = True
            return Status.calm
        from closedchain.march.program.jacobian import jacobian

        fastest = float(np.abs(np.linalg.eigvals(jacobian(program).matrix(t, x, p))).max())
        self._calm = self._calm + 1 if h * fastest < STABLE else 0
        return Status.calm if self._calm >= CALM_LOOKS else None

    def change(self, status: Status, t: float, h: float) -> str | None:
        """Go over to the other solver where a piece ended with ``status``; what to say, None if nothing changes."""
        if status is Status.stiff:
            if abs(self.until - t) < WORTH * h:
                self.tired = True
                return None
            self.solver, self._explicit_step, self._calm, self._looks = IMPLICIT, h, 0, 0
            return f"stiff at t = {t:.6g} s: stability holds the steps of {EXPLICIT} at {h:.2g} s; {IMPLICIT} goes on"
        self.solver = EXPLICIT
        why = "its steps are hardly longer" if self.tired else "the equations are no longer stiff"
        return f"back to {EXPLICIT} at t = {t:.6g} s from {IMPLICIT}: {why}"
