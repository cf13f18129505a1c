"""Frequencies and mode shapes of a mechanism with flexible links about a pose, by an equivalent rigid-link system.

With M and K of all displacements u and coordinates q at the undeformed pose, less the zeroed displacements,

    K phi = omega^2 M phi

Beams resist displacements u only, springs at joints q, too. So K has as many frequencies that are zero, and as many
squares that are negative, as what is left of it on q once u has given way,

    S = K_qq - K_qu K_uu^-1 K_uq

The mechanism moves rigidly in the former, which are left out. With joints locked, as by brakes, their coordinates are
no longer free, and neither are the elastic rotations there. Gravity is not counted, since a pose need not be one of
rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from closedchain.arguments import suggest
from closedchain.close.erls import ERLS
from closedchain.errors import ModelError
from closedchain.lock import locked
from closedchain.model.derived import cached_by
from closedchain.model.forces.actions import Drive
from closedchain.model.mechanism import Mechanism
from closedchain.pose.state import State
from closedchain.results.erls.frames import carried_points
from closedchain.results.vibration.linear_modes import STEP
from closedchain.results.vibration.modal import Modes

if TYPE_CHECKING:
    import xarray

    from closedchain.erls.energy import Samples
    from closedchain.erls.system import System

RIGID = 1e-8  # of the stiffest motion against springs: stiffness that is smaller is rounding of their differences


@dataclass(frozen=True, eq=False, repr=False)
class ErlsModes(Modes):
    """Modes of a flexible mechanism about a pose, slowest first.

    Attributes
    ----------
    squares : (modes,) of angular frequencies; negative where a mode grows, as beyond the dead point of a spring.
    vectors : (modes, n) displacements and coordinates y of each mode, with unit modal mass.
    rigid : how many modes move the mechanism rigidly; they are left out.
    locked : names of coordinates that are locked.
    mass : (n, n) mass matrix of y.
    """

    state: State
    system: System
    squares: np.ndarray
    vectors: np.ndarray
    rigid: int
    locked: tuple[str, ...]
    mass: np.ndarray

    @cached_property
    def mode_table(self) -> xarray.Dataset:
        """Frequencies, eigenvalues, and shapes: displacements in the paper's order, then the coordinates q."""
        import xarray

        from closedchain.erls.numbering import paper_order

        n, n_q, labels = self.system.n, self.system.n_q, self.system.labels
        order = [*paper_order(self.system), *range(n - n_q, n)]
        return xarray.Dataset(
            {
                "shape": (("mode", "coordinate"), self.vectors[:, order], {"units": "m or rad, with unit modal mass"}),
                "eigenvalue": ("mode", np.sqrt(-self.squares.astype(complex)), {"units": "1/s"}),
                "frequency": ("mode", np.sqrt(np.maximum(self.squares, 0.0)) / (2 * np.pi), {"units": "Hz"}),
                "damping_ratio": ("mode", np.full(len(self.squares), np.nan), {"units": "1", "about": "left out"}),
            },
            coords={"mode": np.arange(1, len(self.squares) + 1), "coordinate": [labels[k] for k in order]},
        )

    @cached_property
    def elastic_shares(self) -> np.ndarray:
        """Share of each flexible body in the elastic energy of each mode (modes, bodies)."""
        from closedchain.erls.matrices import element_stiffness

        moved = self._nodes.reshape(len(self.vectors), -1)
        bodies = self.system.mechanism.flexible
        energy = [np.einsum("mi,ij,mj->m", moved, element_stiffness(self.system, body), moved) for body in bodies]
        total = np.maximum(np.sum(energy, axis=0), 1e-300)
        return np.array([x / total for x in energy]).T

    @cached_property
    def _nodes(self) -> np.ndarray:
        """Displacements of all nodes in each mode (modes, nodes, k)."""
        from closedchain.erls.matrices import nodal_map
        from closedchain.erls.workspace import Workspace

        ws = Workspace(self.system)
        y, v = self.system.at_rest()
        ws.residual(self.system.start.t, y, np.zeros_like(v), np.zeros_like(y))
        return (self.vectors @ nodal_map(ws).T).reshape(len(self.vectors), -1, len(self.system.mesh.names))

    @cached_property
    def motions(self) -> np.ndarray:
        """What each mode displaces (modes, displacements), whatever is zeroed: with rigid motions by q in u."""
        n_q = self.system.n_q
        return self.vectors[:, : self.system.n - n_q] + self.vectors[:, self.system.n - n_q :] @ self._rigid.T

    @cached_property
    def inertia(self) -> np.ndarray:
        """Mass on such motions (displacements, displacements): shapes have ``s' M s = 1``."""
        first = self.system.n - self.system.n_q
        kept = np.setdiff1d(np.arange(self.system.n), self.system.zeroed)
        back = np.linalg.inv(np.hstack([np.eye(first), self._rigid])[:, kept])
        return back.T @ self.mass[np.ix_(kept, kept)] @ back

    @cached_property
    def _rigid(self) -> np.ndarray:
        """Displacements that a unit of each coordinate q makes rigidly (displacements, n_q)."""
        from closedchain.erls.matrices import nodal_jacobian

        return nodal_jacobian(self.system)[: self.system.n - self.system.n_q]

    def swing(self, k: int) -> ErlsSwing:
        """Points of bodies at the ends of a small swing in mode number k (from 1), for pictures."""
        return ErlsSwing(self, self.number(k))

    def deformed(self, mode: int, scale: float = 1.0) -> dict[str, np.ndarray]:
        """World positions (nodes, 3) of the nodes of each body in a mode (1 is the slowest), its shape times
        ``scale``.
        """
        system, mesh = self.system, self.system.mesh
        at, out = _moved(system, [scale * self.vectors[self.number(mode)]]), {}
        for body in system.e.topology.links:
            name = body.body.name
            nodes = list(mesh.nodes_of(name))
            local = mesh.places[nodes].copy()
            for i, axis in enumerate(mesh.names):
                if axis in ("x", "y", "z"):
                    local[:, "xyz".index(axis)] += at.u[0, nodes, i]
            out[name] = at.r[0, body.index] + local @ at.R[0, body.index].T
        return out

    def __str__(self) -> str:
        lines = ["mode  frequency [Hz]  deforms (share of the elastic energy)"]
        for k, (f, told) in enumerate(zip(self.frequencies, self.deforms(), strict=True)):
            lines.append(f"{k + 1:4d}  {f'{f:.6g}' if f > 0 else '-':>14}  {told}")
        return "\n".join(lines)


class ErlsSwing:
    """Points of bodies at the ends of a small swing in mode k (from 0), to first order: there, and at rest."""

    def __init__(self, modes: ErlsModes, k: int) -> None:
        shape = modes.vectors[k]
        self._step = STEP / np.abs(shape).max()
        self.system, self.mechanism, self.t = modes.system, modes.system.mechanism, np.array([0.0, np.pi / 2])
        known = modes.system.start.parameters
        self.parameters = {name: known.get(name, x) for name, x in self.mechanism.parameters.items()}
        self.samples = _moved(modes.system, [0 * shape, self._step * shape, -self._step * shape])

    def rigid_points(self, body: str, drawn: np.ndarray) -> np.ndarray:
        """At rest."""
        return np.repeat(carried_points(self, body, drawn, rigid=True)[:1], 2, axis=0)

    def points(self, body: str, drawn: np.ndarray) -> np.ndarray:
        """As they swing."""
        rest, there, back = carried_points(self, body, drawn)
        return np.stack([rest + (there - back) / (2 * self._step), rest])


def _moved(system: System, shapes: Sequence[np.ndarray]) -> Samples:
    """The mechanism displaced by each of some shapes (n,) from its start."""
    from closedchain.erls.energy import closed_coordinates, look

    x = np.zeros((len(shapes), 3, system.n))
    x[:, 0] = system.at_rest()[0] + np.array(shapes)
    t = np.full(len(shapes), system.start.t)
    return look(system, t, x, closed_coordinates(system, t, x[:, 0]))


def erls_modes(
    mechanism: Mechanism, pose: State, method: ERLS, locked: Sequence[str] = (), count: int | None = None
) -> ErlsModes:
    """Modes about a pose, whose velocities do not matter, with some coordinates locked; the lowest, or all of them."""
    from scipy.linalg import eigh

    from closedchain.erls.matrices import matrices
    from closedchain.erls.system import rigid_twin, start_of_twin, system

    twin = rigid_twin(mechanism)
    held = _locked(mechanism, locked)
    still = start_of_twin(mechanism, twin, pose, mechanism.parameters.merged(pose.parameters))
    if held:
        twin = _braked(mechanism, twin, still, held)
    made = system(mechanism, pose, method, twin=twin)
    M, K, _ = matrices(made)
    kept = [k for k in range(made.n) if k not in set(made.zeroed.tolist())]
    mass = 0.5 * (M + M.T)
    M, K = (0.5 * (A + A.T)[np.ix_(kept, kept)] for A in (M, K))
    growing, rigid = _without_stiffness(M, K, made.n_q)
    n_modes = None if count is None else [0, min(count + rigid, len(kept)) - 1]
    values, vectors = eigh(K, M, subset_by_index=n_modes)
    elastic = [k for k in range(len(values)) if not growing <= k < growing + rigid]
    squares = values[elastic]
    shapes = np.zeros((len(squares), made.n))
    shapes[:, kept] = vectors[:, elastic].T
    return ErlsModes(pose, made, squares, shapes, rigid, tuple(held), mass)


def _without_stiffness(M: np.ndarray, K: np.ndarray, n_q: int) -> tuple[int, int]:
    """How many modes grow, and how many move the mechanism rigidly; coordinates q are the last ones."""
    from scipy.linalg import eigh

    if not n_q:
        return 0, 0
    if not K[-n_q:].any():
        return 0, n_q
    given_way = np.vstack([-np.linalg.solve(K[:-n_q, :-n_q], K[:-n_q, -n_q:]), np.eye(n_q)])
    squares = eigh(given_way.T @ K @ given_way, given_way.T @ M @ given_way, eigvals_only=True)
    felt = eigh(K[-n_q:, -n_q:], M[-n_q:, -n_q:], eigvals_only=True)
    small = RIGID * np.abs(felt).max()
    return int((squares < -small).sum()), int((np.abs(squares) <= small).sum())


def _locked(m: Mechanism, locked: Sequence[str]) -> dict[str, tuple[str, int]]:
    """Joint and number of each locked coordinate, by its name."""
    known = {label: (j.name, i) for j in m.joints.values() for i, label in enumerate(j.velocity_labels())}
    for label in locked:
        if label not in known:
            raise ModelError(f"mechanism {m.name!r} has no coordinate {label!r} to lock{suggest(str(label), known)}")
    return {label: known[label] for label in locked}


@locked
def _braked(m: Mechanism, twin: Mechanism, pose: State, held: dict[str, tuple[str, int]]) -> Mechanism:
    """The rigid twin with coordinates held where they are, and without motors."""
    braked = _with_brakes(m, twin, held)
    for label, (joint, index) in held.items():
        if f"{label} locked" in braked.parameters:
            value = pose.coordinates[braked.joints[joint].labels()[index]]
            braked.parameters[f"{label} locked"] = float(value)
    return braked


@cached_by(lambda m, twin, held: (m, tuple(held)))
def _with_brakes(m: Mechanism, twin: Mechanism, held: dict[str, tuple[str, int]]) -> Mechanism:
    braked = twin.rigid_twin()
    braked.motors = {}
    for label, (joint, index) in held.items():
        if any((x.joint, x.index) == (joint, index) for x in braked.drives.values()):
            continue
        name = f"{label} locked"
        braked.drives[name] = Drive(name, joint, index, braked.parameter(name, 0.0))
    braked.revision += 1
    return braked
