"""`simulate`: from a mechanism and a start to a `Run`.

A module `closedchain.simulate` would hide the function of the package that has this name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from closedchain.arguments import instance, mapping
from closedchain.close.formulation import Formulation
from closedchain.close.multipliers import Multipliers
from closedchain.disk.save_to import SaveTo
from closedchain.errors import ModelError
from closedchain.integrate.solvers import Solver
from closedchain.integrate.times import Every
from closedchain.march.elsewhere import says_where
from closedchain.march.marks import Divergence, Event, SingularPoses
from closedchain.march.options import check_limits, task_of
from closedchain.march.team import Team, undisturbed
from closedchain.model.mechanism import Mechanism
from closedchain.pose.assemble import assemble
from closedchain.pose.state import State
from closedchain.progress import followed
from closedchain.results.compiled_march import CompiledMarch
from closedchain.results.erls.march import ErlsMarch
from closedchain.results.marching import Marching, finished
from closedchain.results.run import Run


@says_where
def simulate(
    mechanism: Mechanism,
    start: State | None = None,
    until: float = 1.0,
    *,
    method: Formulation | None = None,
    solver: Solver | str | None = None,
    rtol: float = 1e-8,
    atol: float | None = None,
    t_eval: Sequence[float] | Every | Any = None,
    events: Sequence[Event | SingularPoses | Divergence] = (),
    parameters: Mapping[str, float] | None = None,
    save: SaveTo | str | Path | None = None,
    partition: Team | None = None,
) -> Run:
    """Simulate the motion of a mechanism.

    Parameters
    ----------
    mechanism
        What moves.
    start
        From `assemble`; None: ``mechanism.assemble()``. The run begins at its time, usually 0; for another one take
        ``m.assemble(time=0.5)`` or ``start.at(0.5)``.
    until
        End of the run, s; before the start for a run back in time.
    method
        How loops are closed; default `Multipliers()`. With `ERLS()` flexible links are finite elements.
    solver
        A name from ``closedchain list solvers``, or an object with options, ``cc.solvers.DOP853(max_step=1e-3)``.
        ``"dop853"`` (default) or ``"dopri5"``; for stiff equations ``"radau5"`` or ``"rodas5p"``, with exact Jacobians;
        ``"auto"`` finds out itself, and says so in ``run.record``; with a fixed step ``cc.solvers.RK4(step=1e-3)``,
        ``SemiImplicitEuler``, ``Rosenbrock2``; ``"cvodes"`` and ``"idas"`` for a second opinion. Methods that are
        differential-algebraic, and `ERLS`, have solvers of their own. ``dense_output=True`` keeps the solution between
        steps, as ``run.sol(t)``.
    rtol, atol
        Tolerances of a step: entry i of the state may be off by about ``rtol |x_i| + atol``. The default of atol is
        rtol times the size of the entry: 1 for an angle, the mechanism's length for a slide, both over its time for
        their rates, so that units do not matter (``docs/theory/integrators.md``); a number is in the entry's own unit.
        With `ERLS` atol is a length, by default rtol times that of the longest beam. A fixed step has no error
        estimate: there they only bound the closure and energy errors of a good run. Halve the step to see how exact the
        motion is.
    t_eval
        Times at which the motion is kept, or ``cc.Every(0.01)`` for one every 10 ms; default: 201 equal ones.
    events
        `Event` objects: record, stop, or open and close joints when an expression passes zero. ``cc.SingularPoses()``
        stops at singular poses of the closures or of the actuators, or warns of them; by default a run passes them, and
        records the first. ``cc.Divergence("warn")`` or ``"pass"`` goes on where the motion diverges (its energy grows a
        millionfold at an even pace, comes from nowhere, or a beam bends by more than its length), or where a loop opens
        that is drawn with rounded numbers; by default the run stops there with a sentence.
    parameters
        Parameter values for this run only; nothing is recompiled.
    save
        A folder, or ``cc.SaveTo("folder", every=5)``: samples are written there as they come, so that a long run needs
        little memory, and every so many seconds a checkpoint. Repeat the same call to resume after Ctrl-C, a crash or a
        power cut, with the same bits; if the run is finished, the call reads the result.
    partition
        Limbs on several processors: ``cc.Ranks()`` over the ranks of an MPI job, ``cc.Threads(2)`` over threads of this
        process; the answer is the same, to rounding.

    Raises
    ------
    RunError
        If the run ends early; what was computed is in its ``run``.
    Interrupted
        After Ctrl-C, when what is there is saved: a ``KeyboardInterrupt`` with what was computed in its ``run``.

    Notes
    -----
    A run that takes more than some seconds shows a bar in a terminal; `closedchain.progress.reported` reports to a
    function instead.

    Examples
    --------
    >>> import closedchain as cc
    >>> run = cc.simulate(cc.library.four_bar(), until=1.0, rtol=1e-10)
    >>> f"{float(run['O'][-1]):.6f}"
    '2.829418'
    """
    method = _checked(mechanism, start, method, partition)
    kind = MARCHES[method.kind]
    with undisturbed(partition), followed(until, partition is not None and not partition.leads) as progress:
        values = mapping("parameters", parameters)
        start = kind.begin(mechanism, assemble(mechanism, parameters=values) if start is None else start, values)  # cut
        task = task_of(start, until, method, solver, rtol, atol, t_eval, events)
        team = None if partition is None else partition.fresh()
        task = replace(task, saving=SaveTo.of(save), team=team, progress=progress)
        check_limits(task, start, kind.limits)
        march = kind(mechanism, start, task)  # derive, close
        march.run()  # march
    return finished(march)  # look


def _checked(
    mechanism: Mechanism, start: State | None, method: Formulation | None, partition: Team | None
) -> Formulation:
    """Check that objects are what they must be; gives the method."""
    instance("the mechanism", mechanism, Mechanism, "a cc.Mechanism")
    if start is not None:
        instance("the start", start, State, "a state from m.assemble(...)")
    if partition is not None:
        instance("partition", partition, Team, "cc.Ranks() or cc.Threads(2)")
    if method is None:
        return Multipliers()
    method = instance("method", method, Formulation, "a formulation, for instance cc.Multipliers()")
    if method.kind not in MARCHES:
        known = ", ".join(map(repr, MARCHES))
        raise ModelError(f"{type(method).__name__}: kind is {method.kind!r}, which nothing marches; there are {known}")
    return method


# ---- who marches what ------------------------------------------------------------------------------------------------


MARCHES: dict[str, type[Marching]] = {
    "ode": CompiledMarch,
    "index 2": CompiledMarch,
    "index 3": CompiledMarch,
    "elements": ErlsMarch,
    "damped elements": ErlsMarch,
}
"""What marches equations of a kind (`Formulation.kind`)."""
