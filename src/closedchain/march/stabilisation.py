"""Gains of a stabilisation, as a run needs them: they depend on the direction of time and on the length of the steps.

The numbers of a formulation are inputs of its compiled equations (`Formulation.numbers`). It says which of them are
rates of decay (`Formulation.decays`), and whether they follow the steps (`Formulation.follows_steps`). From that a run
decides their values, and nothing is compiled anew:

* Gains that follow the steps are ``GAIN / h``. They are zero until a step is known, and renewed when h has changed by
  more than a factor of `TOLERATED`.
* Back in time whatever decays would grow: rates of decay change their signs.

The theory is in ``docs/theory/multipliers.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from closedchain.close.formulation import Choice, Formulation
from closedchain.derive.equations import Equations
from closedchain.march.program.compiled import Compiled

# gain times step, and by what factor the step may change before gains are renewed
GAIN, TOLERATED = 0.05, 3.0


@dataclass(frozen=True)
class Stabilisation:
    """What the gains of a run depend on.

    Attributes
    ----------
    backward
        Whether the run goes back in time.
    step
        The length of the steps, s; None if it is not known yet.

    Examples
    --------
    >>> import closedchain as cc
    >>> from closedchain.march.program.compiled import compiled
    >>> program = compiled(cc.library.four_bar().assemble(), cc.Multipliers(cc.Baumgarte()))
    >>> Stabilisation(backward=True, step=0.01).applied(program).numbers
    array([-5.,  5.])
    """

    backward: bool = False
    step: float | None = None

    def numbers(self, method: Formulation, equations: Equations, choice: Choice) -> np.ndarray:
        """Numbers of a method in such a run."""
        numbers = np.array(method.numbers(equations, choice), float)
        if method.follows_steps and self.step is not None:
            numbers[:] = GAIN / self.step
        if self.backward:
            decays = list(method.decays)
            numbers[decays] = -numbers[decays]
        return numbers

    def applied(self, program: Compiled) -> Compiled:
        """The same equations with the gains of such a run; nothing is compiled."""
        own = self.numbers(program.method, program.equations, program.choice)
        return program.with_numbers(np.concatenate([own, program.numbers[len(own) :]]))  # aims stay

    def suits(self, method: Formulation, step: float) -> bool:
        """Whether the gains suit steps of another length."""
        if not method.follows_steps:
            return True
        wanted, used = GAIN / step, 0.0 if self.step is None else GAIN / self.step
        return wanted / TOLERATED <= used <= wanted * TOLERATED
