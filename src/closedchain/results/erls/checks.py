"""Is a run by ERLS as good as its tolerance, and the assumption of small displacements, promise?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from closedchain.erls import choice
from closedchain.erls.beams import node_displacements
from closedchain.integrate.solvers import ESDIRK4, GeneralisedAlpha
from closedchain.pose.size import drawn_scale
from closedchain.results.beams.numbers import BeamNumbers
from closedchain.results.checks import incomplete, runaways

if TYPE_CHECKING:
    from closedchain.results.erls.solution import ErlsSolution
    from closedchain.results.run import Run

# What may come from nowhere, as a share of the energy exchanged. A step of ESDIRK may be wrong by a tenth of rtol, and
# what is too fast for it dies out: of the library's mechanisms up to 24 rtol together (rtol 1e-4 to 1e-8, the most for
# arms that ring). Generalised-alpha is of second order: up to 3 rtol^(2/3). Ten times that is an alarm. Fixed steps
# promise nothing, but a run without some thousandths of its energy is of little use. A tolerance is a length: where
# beams swing by little, it is a larger share of the swing, and so of their elastic energy.
ENERGY = {ESDIRK4.name: (250.0, 1.0), GeneralisedAlpha.name: (30.0, 2 / 3)}  # factor and power of rtol
ENERGY_OF_FIXED_STEPS = 1e-3
SMALL_STRAIN = 0.02  # stretch of a beam over its length up to which it counts as small
SMALL_TURN = 0.2  # rad: rotations of sections up to which displacements count as small


def complaints(run: Run) -> list[str]:
    """Sentences about what is not as promised."""
    said = incomplete(run)
    if not len(run.t):
        return said
    said += runaways(run)
    said += _energy(run)
    said += _poorly_zeroed(run.solution.erls)
    stretched = _stretched(run.solution.erls)
    said += stretched
    said += _turned(run.solution.erls, bool(stretched))
    return said


def _energy(run: Run) -> list[str]:
    """What to say about energy that came from nowhere."""
    solution, name, fixed = run.solution.erls, run.mechanism.name, run.task.solver.lengths.fixed is not None
    # generalised-alpha that damps takes energy away, and only that
    damps = solution.method.rho_inf not in (None, 1.0)
    error = run.energy_error.values if damps else np.abs(run.energy_error.values)
    bound = _energy_bound(run)
    if not error.max() > bound:
        return []
    i = int(np.argmax(error))
    assert run.atol is not None
    relative = run.atol / solution.system.longest
    steps = "steps of this length keep" if fixed else f"rtol = {relative:g} promises"
    advice = f"use a smaller {'step' if fixed else 'rtol'}"
    if solution.method.terms == "paper":
        advice = (
            "the terms that terms='paper' drops, of first order in the displacements, explain it: take "
            "cc.ERLS(terms='consistent'), which keeps them and conserves energy"
        )
    return [
        f"energy of {name!r} is off by {error[i]:.2g} J at t = {run.t[i]:.4g} s, more than the {bound:.2g} J "
        f"that {steps}: {advice}"
    ]


def _energy_bound(run: Run) -> float:
    """Energy that may come from nowhere, J."""
    solution, atol = run.solution.erls, run.atol
    assert atol is not None
    s, system, (factor, power) = solution.samples, solution.system, ENERGY[run.solver]
    scale = drawn_scale(system.e, system.p, float(run.t[-1] - run.t[0]))
    least = 1e-12 * scale.energy
    exchanged = max(float(x) for x in (np.ptp(s.energy - s.kinetic), s.kinetic.max(), s.elastic.max(), least))
    lengths = [k for k, x in enumerate(system.mesh.names) if not x.startswith("r")]
    swing = max(float(np.ptp(s.u[:, :, lengths], axis=0).max(initial=0.0)), atol)
    value = run.mechanism.values(run.parameters)
    weight = system.mesh.masses.sum() * float(np.linalg.norm([value(x) for x in run.mechanism.gravity]))
    of_motion = (atol / system.longest) ** power * exchanged
    of_swings = (atol / swing) ** power * float(s.elastic.max())
    fixed = run.task.solver.lengths.fixed is not None
    share = ENERGY_OF_FIXED_STEPS * exchanged if fixed else factor * max(of_motion, of_swings)
    return max(share, weight * atol)  # the weight works on an error of the position


def _poorly_zeroed(solution: ErlsSolution) -> list[str]:
    """What to say about zeroed displacements that determine the coordinates poorly, and a better choice."""
    system = solution.system
    if not system.health < choice.POOR:
        return []
    J = system.rigid(system.start.t, system.start.q)
    better = tuple(system.labels[system.n_chain + k] for k in choice.best(J, system.turning, range(system.n_u)))
    return [
        f"the zeroed displacements of {solution.mechanism.name!r} ({', '.join(solution.zeroed)}) determine its "
        f"coordinates q poorly (health {system.health:.1g} of 1): displacements are large then; take other ones, "
        f"cc.ERLS(zero={better!r}), or other coordinates, cc.ERLS(coordinates=(...))"
    ]


def _stretched(solution: ErlsSolution) -> list[str]:
    """What to say about the beam that stretches most, if that is much."""
    mechanism = solution.mechanism
    value = mechanism.values(solution.parameters)
    strain = {}
    for name in mechanism.flexible:
        places, moved = node_displacements(solution.system, solution.samples, name)
        strain[name] = float(np.abs(moved[:, -1, 0] - moved[:, 0, 0]).max()) / (places[-1] - places[0])
    worst = max(strain, key=lambda name: strain[name])
    if not strain[worst] > SMALL_STRAIN:
        return []
    numbers = BeamNumbers.of(mechanism.flexible[worst], value)
    EA = numbers.E * numbers.section.A
    what = f"{worst!r} stretches by {100 * strain[worst]:.2g} % of its length (E A = {EA:.3g} N)"
    return [
        f"{what}: the displacements of ERLS are small ones, and its elements always stretch, whatever the modes; "
        "give the section a larger A, or use a floating frame without axial modes (cc.Multipliers())"
    ]


def _turned(solution: ErlsSolution, stretched: bool) -> list[str]:
    """What to say about the body that turns most against the rigid-link system, if that is much."""
    mesh, flexible = solution.system.mesh, solution.mechanism.flexible
    turns = [k for k, x in enumerate(mesh.names) if x.startswith("r")]
    size = np.abs(solution.samples.u[:, :, turns]).max(axis=(0, 2))
    worst = int(np.argmax(size))
    body = mesh.bodies[worst]
    # rigid bodies turn where those that carry them stretch: that has been said already
    if not size[worst] > SMALL_TURN or (body not in flexible and stretched):
        return []
    if body in flexible:
        what = f"sections of {body!r} turn by {size[worst]:.2g} rad against the rigid link"
        advice = "stiffen the link, or divide it into several, welded together"
    else:
        what = f"{body!r}, which is rigid, turns by {size[worst]:.2g} rad against the rigid-link system"
        advice = "stiffen the links that carry it, or zero its own displacement, cc.ERLS(zero=(...))"
    return [f"{what}: the displacements of ERLS are small ones; {advice}"]
