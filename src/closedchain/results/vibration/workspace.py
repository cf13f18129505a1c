"""How natural frequencies change over the workspace: along one coordinate, over a grid of some, or along poses.

At each pose the coordinates that lead there are locked, as by brakes, and what is left swings
(`results.vibration.locked`). Frequencies are those without damping, ``K s = w^2 M s``. Modes are followed from pose to
pose by the likeness of their shapes (modal assurance criterion, with the inertia as weight)

    MAC(s, r) = |s' M r|^2 / (s' M s  r' M r)

so that the curves of two modes cross where the modes pass each other, instead of changing places. Where the shapes of
two neighbouring poses are too different to tell, poses are put in between. By ERLS shapes are displacements of nodes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.arguments import known, needs, numeric, whole
from closedchain.close.erls import ERLS
from closedchain.derive.equations import derive
from closedchain.errors import AssemblyError, ModelError
from closedchain.model.mechanism import Mechanism
from closedchain.pose.assemble import assemble
from closedchain.pose.state import State, parameter_vector
from closedchain.pose.tangent import functions
from closedchain.results.vibration.erls_modes import erls_modes
from closedchain.results.vibration.linearisation import Linearisation, displacements
from closedchain.results.vibration.locked import drives_of, linearise_locked, locked_names, motor_coordinates

if TYPE_CHECKING:
    import xarray

ALIKE = 0.75  # MAC: less of two neighbouring poses, and a pose is put in between
DEPTH = 6  # so many times
TWINS = 1e-6  # relative: frequencies so near to each other have no shapes of their own


@dataclass(frozen=True, eq=False)
class _Modes:
    """Modes at a pose: angular frequencies squared, and motions of all velocities (modes, n) with ``s' M s = 1``."""

    state: State
    squares: np.ndarray
    shapes: np.ndarray
    M: np.ndarray

    @property
    def frequencies(self) -> np.ndarray:
        """Hz; negative where a mode does not swing but grows."""
        return np.sign(self.squares) * np.sqrt(np.abs(self.squares)) / (2 * np.pi)

    def sorted(self, order: np.ndarray) -> _Modes:
        return _Modes(self.state, self.squares[order], self.shapes[order], self.M)


def frequencies_over(
    mechanism: Mechanism,
    over: Mapping[str, Any] | Sequence[State],
    *,
    together: bool = False,
    locked: Sequence[str] | str | None = None,
    count: int | None = None,
    here: bool = False,
    method: ERLS | None = None,
) -> xarray.Dataset:
    """Natural frequencies over the workspace, each curve one mode.

    Parameters
    ----------
    mechanism
        With flexible bodies, or other springs.
    over
        Values of coordinates by name, ``{"O": np.linspace(0, 3, 31)}``: of several the whole grid, or with
        ``together=True`` a path on which they go together. Drives of these coordinates are left out. Or a sequence of
        states.
    together
        See ``over``.
    locked
        Coordinates that are held at each pose; ``"motors"``: all that motors act on. Default: those of ``over``; of
        states, ``"motors"``. Drives hold theirs in any case.
    count
        How many modes, the lowest at the first pose. Default: all.
    here
        Take each pose as it is. By default the mechanism is in balance there, sunk under its weight; see `modes`.
    method
        ``cc.ERLS(...)`` for finite elements, without weight, and without modes that are rigid; see `modes`.
        Default: shapes on floating frames.

    Returns
    -------
    Dataset with ``frequency`` (coordinates..., mode) in Hz, ``likeness`` (the MAC by which a mode was found again, 1
    at the first pose), and the values of the coordinates. Frequencies are NaN where there is no pose, and negative
    where a mode grows instead of swinging.

    Examples
    --------
    >>> import closedchain as cc
    >>> m = cc.library.rrr3(flexible=True)
    >>> found = cc.frequencies_over(m, {"base1": [0.9, 1.0]}, locked="motors", count=2)
    >>> found["frequency"].sizes
    Frozen({'base1': 2, 'mode': 2})
    """
    import xarray

    needs("frequencies_over", mechanism, Mechanism, "a cc.Mechanism")
    if count is not None:
        whole("frequencies_over: count", count, 1)
    if isinstance(over, Mapping):
        names, values, shape, dims = _grid(mechanism, over, together)
        held = list(names) if locked is None else locked_names(mechanism, locked)
        driven = [x for x in names if drives_of(mechanism, [x])]  # led elsewhere, and held there
        held += [x for x in driven if x not in held]
        poses = _Poses(mechanism, held, here, method, count, names)
    else:
        states = list(over) if isinstance(over, Iterable) else []
        if not states or not all(isinstance(x, State) for x in states):
            raise ModelError("frequencies_over takes values of coordinates by name, or states of this mechanism")
        states = [x.of(mechanism) for x in states]
        held = motor_coordinates(mechanism) if locked is None else locked_names(mechanism, locked)
        names, shape, dims = (), (len(states),), ("pose",)
        values = np.arange(len(states), dtype=float)[:, None]
        poses = _Poses(mechanism, held, here, method, count, states=states)
    found: dict[tuple[int, ...], _Modes | None] = {}
    likeness = {}
    for index in np.ndindex(shape):
        point = values[np.ravel_multi_index(index, shape)]
        before, beside = _neighbour(index, found, values, shape)
        found[index], likeness[index] = _followed(poses, before, beside, point)
    reached = [x for x in found.values() if x is not None]
    if not reached:
        raise ModelError(f"{mechanism.name!r} can be put together at none of the poses that were asked for")
    n = len(reached[0].squares) if count is None else min(count, len(reached[0].squares))
    table, alike = np.full((*shape, n), np.nan), np.full((*shape, n), np.nan)
    for index, one in found.items():
        if one is not None:
            table[index], alike[index] = one.frequencies[:n], likeness[index][:n]
    coords: dict[str, Any] = {"mode": np.arange(1, n + 1)}
    units = {x: u for j in mechanism.joints.values() for x, u in zip(j.labels(), j.type.coordinate_units, strict=True)}
    if together or not names:
        coords |= {name: (dims[0], values[:, k], {"units": units.get(name, "")}) for k, name in enumerate(names)}
        coords |= {} if dims[0] in names else {dims[0]: np.arange(shape[0])}
    else:
        grid = values.reshape(*shape, len(names))
        for k, name in enumerate(names):
            along = grid[tuple(slice(None) if i == k else 0 for i in range(len(names)))][:, k]
            coords[name] = (name, along, {"units": units.get(name, "")})
    return xarray.Dataset(
        {
            "frequency": ((*dims, "mode"), table, {"units": "Hz"}),
            "likeness": ((*dims, "mode"), alike, {"units": "1", "about": "MAC with the pose before"}),
        },
        coords,
        {"mechanism": mechanism.name, "locked": ", ".join(held)},
    )


def _grid(
    mechanism: Mechanism, over: Mapping[str, Any], together: bool
) -> tuple[tuple[str, ...], np.ndarray, tuple[int, ...], tuple[str, ...]]:
    """Names, points (n, names), shape and dimensions."""
    coordinates = [x for j in mechanism.joints.values() for x in j.labels()]
    lists = {}
    for name, values in over.items():
        known("frequencies_over: no coordinate is named", name, coordinates)
        array = numeric(values)
        if array is None or array.ndim > 1 or not array.size or not np.isfinite(array).all():
            raise ModelError(f"frequencies_over: {name!r} takes numbers, for instance np.linspace(0, 1, 11)")
        lists[name] = np.atleast_1d(array)
    if not lists:
        raise ModelError("frequencies_over needs a coordinate to go over")
    names = tuple(lists)
    if together:
        if len({len(x) for x in lists.values()}) > 1:
            raise ModelError("frequencies_over: coordinates that go together take equally many values")
        points = np.stack(list(lists.values()), axis=1)
        return names, points, (len(points),), (names[0] if len(names) == 1 else "pose",)
    points = np.array(list(itertools.product(*lists.values())))
    return names, points, tuple(len(x) for x in lists.values()), names


def _neighbour(
    index: tuple[int, ...], found: Mapping[tuple[int, ...], _Modes | None], values: np.ndarray, shape: tuple[int, ...]
) -> tuple[_Modes | None, np.ndarray | None]:
    """A pose that is known already, next to the one asked for: along the last direction that has one."""
    for axis in reversed(range(len(index))):
        if index[axis] > 0:
            before = (*index[:axis], index[axis] - 1, *index[axis + 1 :])
            if found[before] is not None:
                return found[before], values[np.ravel_multi_index(before, shape)]
    return None, None


class _Poses:
    """Modes at poses."""

    def __init__(
        self,
        mechanism: Mechanism,
        locked: Sequence[str],
        here: bool,
        method: ERLS | None,
        wanted: int | None,
        names: Sequence[str] = (),
        states: Sequence[State] = (),
    ) -> None:
        self.mechanism, self.locked, self.here, self.names, self.states = mechanism, locked, here, names, states
        self.method, self.wanted = method, wanted

    def at(self, point: np.ndarray, near: State | None) -> _Modes | None:
        """Modes at a point of the workspace, or None where there is no pose; ``near`` is one not far away."""
        if self.states:
            if point[0] != round(point[0]):
                return None  # nothing is known between states
            state = self.states[round(point[0])]
        else:
            wanted = dict(zip(self.names, map(float, point), strict=True))
            try:
                left_out = drives_of(self.mechanism, self.names)
                state = assemble(self.mechanism, wanted, guess=self._rigid_guess(near), open_joints=left_out)
            except AssemblyError:
                return None
        if self.method is None:
            return _modes(linearise_locked(self.mechanism, state, self.locked, sag=not self.here))
        found = erls_modes(self.mechanism, state, self.method, self.locked)
        return _Modes(state, found.squares, found.motions, found.inertia)

    def _rigid_guess(self, near: State | None) -> dict[str, Any]:
        """Coordinates of a pose nearby, without its shapes: these are found anew."""
        if near is None:
            return {k: x for k, x in self.mechanism.start.items() if k not in self.names}
        shapes = {x for flexible in self.mechanism.flexible.values() for x in flexible.labels}
        return {k: x for k, x in zip(near.labels, near.q.tolist(), strict=True) if k not in shapes}


def _modes(about: Linearisation) -> _Modes:
    from scipy.linalg import eigh

    state, K = about.state, about.stiffness
    e = derive(state.mechanism)
    p = parameter_vector(state.mechanism, state.parameters)
    M = np.array(functions(e)[0](state.t, state.q, np.zeros(e.topology.nv), p)[0])
    squares, y = eigh((K + K.T) / 2, (about.inertia + about.inertia.T) / 2)
    names = [str(x) for x in about.motions["joint"].values]
    own = [part for link in e.topology.links for part in (link.joint, link.shape) if part is not None]
    rows = [names.index(x) for part in own for x in displacements(part)]
    return _Modes(state, squares, (about.motions.values[rows] @ y).T, M)


def _followed(
    poses: _Poses, before: _Modes | None, beside: np.ndarray | None, point: np.ndarray, depth: int = 0
) -> tuple[_Modes | None, np.ndarray]:
    """Modes at a point in the order of those before it, and how alike they are."""
    here = poses.at(point, None if before is None else before.state)
    if here is None or before is None or beside is None:
        return here, np.ones(0 if here is None else len(here.squares))
    order, alike = _matched(before, here)
    if alike[: poses.wanted].min(initial=1.0) < ALIKE and depth < DEPTH:
        middle, _ = _followed(poses, before, beside, (point + beside) / 2, depth + 1)
        if middle is not None:
            return _followed(poses, middle, (point + beside) / 2, point, depth + 1)
    return here.sorted(order), alike


def _matched(before: _Modes, here: _Modes) -> tuple[np.ndarray, np.ndarray]:
    """Which of the modes of now each of those before has become, and how alike they are."""
    from scipy.optimize import linear_sum_assignment

    M = (before.M + here.M) / 2
    product = before.shapes @ M @ here.shapes.T
    size = [np.einsum("ki,ij,kj->k", x, M, x) for x in (before.shapes, here.shapes)]
    mac = product**2 / np.outer(*size)
    order = linear_sum_assignment(-mac)[1]
    return order, _grouped(mac, before.squares, here.squares)[np.arange(len(order)), order]


def _grouped(mac: np.ndarray, before: np.ndarray, here: np.ndarray) -> np.ndarray:
    """Likeness with modes of equal frequency taken together: any mix of these is a mode."""
    out = mac.copy()
    for squares, axis in ((before, 0), (here, 1)):
        size = np.abs(squares).max(initial=0.0)
        near = np.abs(squares[:, None] - squares) <= TWINS * (np.abs(squares[:, None]) + np.abs(squares) + 1e-9 * size)
        summed = near @ mac if axis == 0 else mac @ near
        out = np.maximum(out, np.minimum(summed, 1.0))
    return out
