"""Newton and Euler for all bodies at once: the wrenches of all joints at many samples of a motion.

At each sample the joints of a body must together exert the wrench that its motion takes, and each joint's wrench along
its own freedoms is what its motors, springs and dampers give, unless a drive or a gear holds it there. From the tips of
the limbs to the ground the balance of the bodies gives the wrench of every tree joint,

    w_i = sum_l need_l - sum_j P_ij w_j         l: links outboard, j: cut joints, P_ij = 1, -1 or 0            (1)

so that only the wrenches ``w_j`` of the cut joints are unknown. The freedoms of all joints are their equations:

    Phi_i' w_i = tau_i                                                                                        (2)

Those of a cut joint are solved first, ``w_j = w_j0 + Psi_j y_j`` with ``Phi_j' Psi_j = 0``. Where drives and gears
hold freedoms, their efforts are unknown too: what is left of (2) are combinations without them. In all,

    w = w_0 + B y,    C y = d                                                                                 (3)

with one solution where the mechanism is not over-constrained. Where it is, flexible bodies tell more: what the joints
do to the shape of a body, ``sum_j Psi_j' w_j``, must be what its motion takes. B times the null space of C is what all
this leaves open, and of all distributions that of least weighted norm is taken. Moments count over a length in that
norm and in the rank of C, so that neither depends on the unit of length.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from closedchain.errors import ModelError
from closedchain.model.expressions.expression import Number
from closedchain.pose.rank import ALIKE, EXACT, relative_tolerance, significant
from closedchain.pose.size import drawn_scale
from closedchain.results.reactions.at_joints import AtJoints, holders
from closedchain.results.samples import Freedom, Samples

BALANCED = 1e-6  # of the largest force: what may be missing at a sample that has an answer
BLOCK = 2_000_000  # numbers in the largest array of what is solved at once


class NewtonEuler:
    """The equations of all samples of a motion; joints are numbered as in the topology."""

    def __init__(self, samples: Samples, at: AtJoints, length: float) -> None:
        self.samples, self.at = samples, at
        self.allowed = np.full(len(samples), BALANCED)  # of the largest force: what may be missing at each sample
        self.trust = np.ones(len(samples))  # in equations of shapes, over that in those of freedoms
        topology = samples.equations.topology
        self.joints = topology.joints
        self.scale = np.repeat([length, 1.0], 3)
        # a force that hardly moves anything, N: without any load accelerations are rounding
        span = float(np.ptp(samples.t)) if len(samples) else 0.0
        scale = drawn_scale(samples.equations, samples.parameters, span)
        self.least = 1e-12 * scale.energy / scale.length + 1e-300
        number = {joint.name: k for k, joint in enumerate(self.joints)}
        self.tree = np.array([number[link.joint.name] for link in topology.links], int)
        # links feel their parents, while wrenches are those of first bodies on second ones
        self.sign = np.array([-1.0 if link.reversed else 1.0 for link in topology.links])
        self.outboard = np.zeros((len(self.tree), len(self.tree)))
        acts = np.zeros((len(self.tree), len(self.joints)))
        for link in topology.links:
            self.outboard[topology.path(link.index), link.index] = 1.0
        for joint in topology.cuts:
            for frame, sign in ((joint.b, 1.0), (joint.a, -1.0)):
                if topology.link_of[frame.body.name] >= 0:
                    acts[topology.link_of[frame.body.name], number[joint.name]] += sign
        self.P = self.outboard @ acts

        known = {samples.equations.closure.joints[row] for row in samples.closing} | set(samples.open_joints)
        held = {k: x for k, x in holders(samples.equations, frozenset(samples.efforts)).items() if k not in known}
        touched = {name for acting in held.values() for (name, _), _ in acting}
        for name in sorted(touched & samples.slack):
            raise ModelError(f"a drive or gear acts on joint {name!r}, which is open: its force there has to be given")
        self.slack = [number[name] for name in sorted(samples.slack)]
        self.cuts = [number[joint.name] for joint in topology.cuts if joint.name not in samples.slack]
        self.touched = [k for k in self.cuts if self.joints[k].name in touched]
        # freedoms that are equations: those of cut joints are solved first, unless something holds them
        self.rows = [(self.joints[k].name, i) for k in self.equated for i in range(self.joints[k].type.nv)]
        self.hold = self._hold(held)

    @property
    def equated(self) -> list[int]:
        """Joints whose freedoms are among the equations (3)."""
        return [*self.tree, *self.touched]

    def _hold(self, held: Mapping[str, list[tuple[Freedom, Number]]]) -> np.ndarray:
        """Combinations of the freedoms, as rows, on which no drive and no gear acts."""
        columns = np.zeros((len(self.rows), len(held)))
        for k, (name, acting) in enumerate(held.items()):
            for (freedom, _), share in zip(acting, self.at.shares[name], strict=True):
                columns[self.rows.index(freedom), k] = share
        if not columns.any():
            return np.eye(len(self.rows))
        u, s, _ = np.linalg.svd(columns)
        return u[:, int(significant(s, least=EXACT)) :].T

    def blocks(self) -> Iterator[slice]:
        """Samples that are solved together, so many that memory is bounded."""
        many = max(1, BLOCK // (36 * len(self.joints) * max(1, len(self.cuts)) + len(self.rows) ** 2))
        return (slice(i, i + many) for i in range(0, len(self.samples), many))

    def solve(self, block: slice, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Wrenches (n, joints, 6), NaN where there are none that balance all bodies; and what may be added to them.

        The latter is (n, joints, 6, k), with moments over the length: k columns that are orthonormal over all joints,
        or six that span the same in each joint. ``weight`` is that of each joint in the norm, (joints).
        """
        equations = Block(self, block)
        found = self.solve_block(equations, weight)
        if found[1].shape[3] and self.at.shapes.need:  # rigid bodies leave something open: do flexible ones tell?
            told = self.solve_block(Block(self, block, shapes=True), weight)
            better = np.isfinite(told[0]).all(axis=(1, 2))
            wrench = np.where(better[:, None, None], told[0], found[0])
            open_ = max(told[1].shape[3], 0 if better.all() else found[1].shape[3])
            loose = np.zeros((*wrench.shape, open_))
            loose[better, :, :, : told[1].shape[3]] = told[1][better]
            loose[~better, :, :, : found[1].shape[3]] = found[1][~better][..., :open_]
            return wrench, loose
        return found

    def solve_block(self, equations: Block, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same of equations that are put together already."""
        wrench = np.full(equations.known.shape, np.nan)
        good = np.flatnonzero(equations.finite)
        u, s, vt = np.linalg.svd(equations.C[good], full_matrices=equations.C.shape[1] < equations.C.shape[2])
        ranks = significant(s, relative_tolerance(self.samples.equations, self.samples.parameters), ALIKE)
        loose = np.zeros((*wrench.shape, min(6, equations.C.shape[2] - ranks.min(initial=equations.C.shape[2]))))
        for rank in np.unique(ranks):
            of = np.flatnonzero(ranks == rank)
            i = good[of]
            y = _T(vt[of, :rank]) @ ((_T(u[of, :, :rank]) @ equations.d[i, :, None]) / s[of, :rank, None])
            found = equations.known[i] + (equations.B[i] @ y[:, None])[..., 0]
            open_ = equations.B[i] @ _T(vt[of, None, rank:]) / self.scale[:, None]
            wrench[i] = self._least(found, open_, weight)
            settled = equations.missing(i, wrench[i]) <= self.allowed[equations.block][i]
            wrench[i[~settled]] = np.nan
            spanned = _six(_orthonormal(open_))
            loose[i[settled], :, :, : spanned.shape[3]] = spanned[settled]
        return wrench, loose

    def _least(self, wrench: np.ndarray, open_: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Take off what is open, so that ``sum (|moment / length|^2 + |force|^2) / weight`` is least."""
        root = np.sqrt(weight)[:, None]
        q = _orthonormal(open_ / root[..., None])
        x = np.einsum("njck,njc->nk", q, wrench / (root * self.scale))
        return wrench - np.einsum("njck,nk->njc", q, x) * root * self.scale


class Block:
    """Equations (1) to (3) of some samples.

    Attributes
    ----------
    known
        (n, joints, 6): wrenches of all joints if y is zero.
    B, C, d
        (n, joints, 6, y), (n, rows, y) and (n, rows): as in (3); rows are scaled to forces, and y with the length.
    finite
        Samples whose numbers are.
    """

    def __init__(self, system: NewtonEuler, block: slice, shapes: bool = False) -> None:
        self.system, self.block, self.shapes = system, block, shapes
        at, joints = system.at, system.joints
        self.r = at.second.r[block]
        self.centre = self.r.mean(axis=1, keepdims=True)
        n, given = len(self.r), self._given()
        need = moved((at.need - at.apart)[block][..., None], at.origin[block] - self.centre)
        columns = self._columns(given)
        known = self._spread(given, need)
        self.B = self._spread(columns)
        self.known = known[..., 0]

        self._free = [k for k in system.equated if joints[k].type.nv]
        self._Phi = [_T(at.Phi[joints[k].name][block]) for k in self._free]
        none = np.zeros((n, 0))
        self.tau = np.concatenate([none, *(at.tau[joints[k].name][block] for k in self._free)], axis=1)
        size = np.concatenate([none, *(np.linalg.norm(Phi * system.scale, axis=2) for Phi in self._Phi)], axis=1)
        self.hold = system.hold
        if shapes:
            from scipy.linalg import block_diag

            self._shaping = self._on_shapes()
            self.tau = np.concatenate([self.tau, *(x[block] for x in at.shapes.need.values())], axis=1)
            squares = [sum(np.sum((x * system.scale) ** 2, axis=2) for _, x in rows) for rows in self._shaping]
            # shapes that no joint touches are equations without unknowns
            size = np.concatenate([size, *(np.where(x > 0, np.sqrt(x), 1.0) for x in squares)], axis=1)
            self.hold = block_diag(system.hold, np.eye(size.shape[1] - len(system.rows)))
            size[:, len(system.rows) :] /= system.trust[block, None]
        self._row_size = np.sqrt(size**2 @ _T(self.hold) ** 2)
        self.C = self.hold @ self._along_freedoms(self.B) / self._row_size[..., None]
        self.d = (self.tau - self._along_freedoms(known)[..., 0]) @ _T(self.hold) / self._row_size
        self.finite = np.isfinite(self.d).all(axis=1) & np.isfinite(self.C).all(axis=(1, 2))
        self.finite &= np.isfinite(self.known).all(axis=(1, 2))
        needed = np.abs(at.need[block] / system.scale).max(axis=(1, 2), initial=0.0)
        self.largest = np.maximum(needed, np.abs(self.d).max(axis=1, initial=0.0))

    def _on_shapes(self) -> list[list[tuple[int, np.ndarray]]]:
        """For each flexible body, the joints on it by number, with what their wrenches do to its shape."""
        number = {joint.name: k for k, joint in enumerate(self.system.joints)}
        at = self.system.at
        return [
            [(number[joint], x[self.block]) for (of, joint), x in at.shapes.by_joint.items() if of == body]
            for body in at.shapes.need
        ]

    def _given(self) -> np.ndarray:
        """(n, joints, 6, 1): the known wrenches of cut joints that are open, or springs."""
        system, at, block = self.system, self.system.at, self.block
        out = np.zeros((len(self.r), len(system.joints), 6, 1))
        for k in system.slack:
            name = system.joints[k].name
            if name in at.along:
                out[:, k] += at.along[name][block] @ at.tau[name][block, :, None]
            if name in at.told:
                out[:, k] += at.told[name][block, :, None]
        return out

    def _columns(self, given: np.ndarray) -> np.ndarray:
        """(n, joints, 6, y): ``Psi`` of all other cut joints; what acts along their freedoms is added to ``given``."""
        system, at, block = self.system, self.system.at, self.block
        parts = [np.zeros((*given.shape[:3], 0))]
        for k in system.cuts:
            joint, part = system.joints[k], np.zeros((*given.shape[:3], 6))
            part[:, k] = np.diag(system.scale)
            if joint.type.nv and k not in system.touched:
                nv = joint.type.nv
                q, r = np.linalg.qr(system.scale[:, None] * at.Phi[joint.name][block], mode="complete")
                tau = at.tau[joint.name][block, :, None]
                given[:, k] += system.scale[:, None] * (q[..., :nv] @ np.linalg.solve(_T(r[:, :nv]), tau))
                part = part[..., nv:]
                part[:, k] = system.scale[:, None] * q[..., nv:]
            parts.append(part)
        return np.concatenate(parts, axis=3)

    def _spread(self, cut: np.ndarray, need: np.ndarray | None = None) -> np.ndarray:
        """Equation (1): the wrenches of all joints from those of cut joints, and what links need about the centre."""
        system, out = self.system, cut.copy()
        at_centre = moved(cut, self.r - self.centre)
        through = -np.tensordot(system.P, at_centre, (1, 1))
        if need is not None:
            through += np.tensordot(system.outboard, need, (1, 1))
        at_centre = system.sign[:, None, None] * through.transpose(1, 0, 2, 3)
        out[:, system.tree] = moved(at_centre, self.centre - self.r[:, system.tree])
        return out

    def _along_freedoms(self, wrench: np.ndarray, i: Any = slice(None)) -> np.ndarray:
        """``Phi' w`` of the joints whose freedoms are equations, and forces on shapes, at samples i: (n, rows, k)."""
        rows = [Phi[i] @ wrench[:, k] for k, Phi in zip(self._free, self._Phi, strict=True)]
        if self.shapes:
            rows += [sum(x[i] @ wrench[:, k] for k, x in on_body) for on_body in self._shaping]
        return np.concatenate([np.zeros((len(wrench), 0, wrench.shape[3])), *rows], axis=1)

    def missing(self, i: np.ndarray, wrench: np.ndarray) -> np.ndarray:
        """By how much the wrenches of samples i miss the equations, over the largest force."""
        rows = (self._along_freedoms(wrench[..., None], i)[..., 0] - self.tau[i]) @ _T(self.hold)
        off = np.abs(rows / self._row_size[i]).max(axis=1, initial=0.0)
        return off / np.maximum(self.largest[i], self.system.least)


def moved(wrench: np.ndarray, arm: np.ndarray) -> np.ndarray:
    """Wrenches (n, k, 6, columns) about other points: where they were taken, seen from there, is ``arm`` (n, k, 3)."""
    out = wrench.copy()
    x, y, z = (arm[..., i, None] for i in range(3))
    fx, fy, fz = (wrench[..., 3 + i, :] for i in range(3))
    out[..., 0, :] += y * fz - z * fy
    out[..., 1, :] += z * fx - x * fz
    out[..., 2, :] += x * fy - y * fx
    return out


def _orthonormal(columns: np.ndarray) -> np.ndarray:
    """An orthonormal basis of what columns (n, joints, 6, k) span together."""
    n, joints, six, k = columns.shape
    return np.linalg.qr(columns.reshape(n, joints * six, k))[0].reshape(columns.shape)


def _six(columns: np.ndarray) -> np.ndarray:
    """At most six columns for each joint that have the same products ``x x'``."""
    if columns.shape[3] <= 6:
        return columns
    return _T(np.asarray(np.linalg.qr(_T(columns), mode="r")))


def _T(x: np.ndarray) -> np.ndarray:
    """Transpose the matrices of a stack."""
    return np.swapaxes(x, -1, -2)
