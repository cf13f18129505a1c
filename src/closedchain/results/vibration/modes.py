"""`modes`: natural frequencies, damping and mode shapes of a mechanism, motors free or locked."""

from __future__ import annotations

from collections.abc import Sequence

from closedchain.arguments import instance, needs, whole
from closedchain.close.erls import ERLS
from closedchain.model.mechanism import Mechanism
from closedchain.pose.assemble import assemble
from closedchain.pose.equilibrium import equilibrium
from closedchain.pose.state import State
from closedchain.results.vibration.erls_modes import erls_modes
from closedchain.results.vibration.linear_modes import LinearModes
from closedchain.results.vibration.linearisation import Linearisation
from closedchain.results.vibration.linearise import linearise
from closedchain.results.vibration.locked import linearise_locked, locked_names
from closedchain.results.vibration.modal import Modes


def modes(
    mechanism: Mechanism,
    state: State | None = None,
    *,
    locked: Sequence[str] | str | None = None,
    here: bool = False,
    method: ERLS | None = None,
    count: int | None = None,
) -> Modes:
    """Find natural frequencies, damping and mode shapes of small motions about an equilibrium.

    Parameters
    ----------
    mechanism
        What swings.
    state
        Where the search for an equilibrium begins. None: ``mechanism.assemble()``.
    locked
        Coordinates by name that are locked, as by brakes; ``"motors"`` locks all that motors act on. What drives
        prescribe is held in any case. Default: nothing is locked, and control in the laws of motors is part of the
        modes.
    here
        Take the state itself, without a search for an equilibrium.
    method
        ``cc.ERLS(...)`` for finite elements, about the undeformed pose itself, without weight and damping, and without
        rigid modes. Default: the shape functions of flexible bodies.
    count
        How many of the lowest. Default: all.

    Returns
    -------
    Modes

    Raises
    ------
    ModelError
        At a singular pose, for a name that is not there, or where nothing is left to move.
    AssemblyError
        If no equilibrium is found from this state.

    Examples
    --------
    >>> import closedchain as cc
    >>> arm = cc.library.flexible_arm()
    >>> arm.modes(locked="motors").frequencies.round(4)[0]
    np.float64(10.3204)
    >>> arm.modes(locked="motors", method=cc.ERLS(elements=4)).frequencies.round(2)[0]
    np.float64(10.32)
    """
    needs("modes", mechanism, Mechanism, "a cc.Mechanism")
    if method is not None:
        instance("modes: method", method, ERLS, "cc.ERLS(...), or None for shape functions")
    state = assemble(mechanism) if state is None else state
    needs("modes", state, State, "a state of this mechanism, from m.assemble(...)")
    state = state.of(mechanism, "modes needs a state of this mechanism; the given one")
    if count is not None:
        whole("modes: count", count, 1)
    names = None if locked is None else locked_names(mechanism, locked)
    if method is not None:
        return erls_modes(mechanism, state, method, names or (), count)
    if names is not None:
        return LinearModes(linearise_locked(mechanism, state, names, sag=not here), tuple(names), count)
    return LinearModes(linearise(mechanism, state if here else equilibrium(mechanism, state), outputs=[]), count=count)


def modes_of(about: Linearisation) -> Modes:
    """Modes of a linear system: frequencies, damping and mode shapes from its eigenvalues."""
    return LinearModes(about)
