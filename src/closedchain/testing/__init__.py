"""Checks for authors of formulations, joints, forces and solvers: one call for each.

Not known here: test frameworks. A check returns what it measured, and raises an `AssertionError` that says what is off.

=========================  ============================================================================
`check_formulation`        accelerations, multipliers, reactions and work against `Multipliers`; energy
`check_joint`              motion space, closure rows, measured coordinates and energy; cut and not cut
`check_force`              power, gradient of the potential, action and reaction
`check_solver`             order of steps and samples; backward and chunked runs; failures
=========================  ============================================================================

The essays on how to write each of them stand beside the code: `closedchain.close.formulation`,
`closedchain.model.joints.types`, `closedchain.model.forces.force`, `closedchain.integrate.solvers`.
"""

from closedchain.testing.forces import check_force
from closedchain.testing.formulations import check_formulation
from closedchain.testing.joints import check_joint
from closedchain.testing.measured import Measured
from closedchain.testing.solvers import check_solver

__all__ = ["Measured", "check_force", "check_formulation", "check_joint", "check_solver"]
