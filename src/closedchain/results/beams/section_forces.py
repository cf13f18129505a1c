"""Section forces of a flexible body by equilibrium: all that acts on the part of the beam beyond a place.

At the place x of a beam with the floating frame B (all in the axes of B, positions r from its origin, with the
displacements in them),

    F(x) = sum F_k + int_x^L f ds                            over the joints, forces and springs k beyond x
    M(x) = sum (M_k + r_k x F_k) + int_x^L (r x f + c) ds - r(x) x F(x)

    f = -(m/L) (a_B - g + w' x r + w x (w x r) + 2 w x s' + s''),       s = U eta,       r = (x, 0, 0) + s

where c is the couple of rotary inertia by length. What joints exert follows from the balance of all bodies and shapes
(`closedchain.results.reactions.newton_euler`). The sum over the whole beam must vanish: what is left of it is the
rotary inertia of sections, gyroscopic terms, and what stiffening neglects, and is spread evenly.

Nothing is differentiated along x. The forces are as accurate as the motion; shapes that cannot show a moment (sines at
an end with a motor, say) or an axial force do not spoil it. Arms are those of the bent beam: the moments differ from
``E I v''`` by those of axial forces on deflections, which belong to the equilibrium, but which the equations of motion
have with ``stiffening`` only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np

from closedchain.cut.topology import Link
from closedchain.derive.equations import Equations
from closedchain.derive.spatial import Vector6, cross
from closedchain.model.bodies.flexible import Flexibility
from closedchain.model.parts import Frame, Joint
from closedchain.results.beams.fields import FORCES
from closedchain.results.beams.numbers import BeamNumbers
from closedchain.results.reactions.reactions import Moved, reactions
from closedchain.results.reactions.wrenches import Reactions
from closedchain.results.samples import Samples

GAUSS = 5  # points between two places: exact for powers up to nine
FINEST = 1 / 24  # of the length: the longest piece that these points are used for
BLOCK = 500  # samples at a time


class Loads(NamedTuple):
    """What acts on a beam at one place: where (0 to 1), and wrench about the beam's origin, (time, 6), in its axes."""

    xi: float
    wrench: np.ndarray


class Riding(NamedTuple):
    """Of the floating frame, in its axes: turning rate, its rate, acceleration less gravity (time, 3); and shapes."""

    w: np.ndarray
    w_dot: np.ndarray
    a: np.ndarray
    eta: np.ndarray
    rate: np.ndarray
    acceleration: np.ndarray


def section_forces(
    source: Moved, data: Flexibility, beam: BeamNumbers, x: np.ndarray
) -> tuple[dict[str, np.ndarray], tuple[str, ...]]:
    """Section forces of a flexible body along a motion, (time, places), by name; and those that are not determined.

    Just inside the beam at its ends, and just before a joint or force that is in between.

    Parameters
    ----------
    source
        The motion.
    data, beam
        The flexible body, and its numbers.
    x
        Places, m.
    """
    found = reactions(source)
    pieces, first = [], 0
    for samples, _ in found.pieces:
        part = slice(first, first + len(samples))
        first += len(samples)
        if not len(samples):
            continue
        loads, motion = _acting(samples, found, part, data, beam)
        pieces.append(_sum(beam, data, loads, motion, x))
    total = np.concatenate(pieces) if pieces else np.zeros((0, len(x), 6))
    return {name: total[:, :, k] for k, name in enumerate(FORCES)}, _undetermined(found, data)


# ---- summing up -----------------------------------------------------------------------------------------------------


def _sum(beam: BeamNumbers, data: Flexibility, loads: Sequence[Loads], motion: Riding, x: np.ndarray) -> np.ndarray:
    """(time, places, 6): N, Vy, Vz, T, My, Mz."""
    L, basis = beam.length, data.shapes
    knots = np.unique([*np.linspace(0, 1, round(1 / FINEST) + 1), *basis.breaks, *(x / L), *(one.xi for one in loads)])
    points, weights = np.polynomial.legendre.leggauss(GAUSS)
    h = np.diff(knots)
    xi = (knots[:-1, None] + h[:, None] * (points + 1) / 2).ravel()
    by = (h[:, None] * weights / 2).ravel() * L
    shapes, at_x = basis.fields(xi), basis.fields(x / L)
    after = np.searchsorted(knots, x / L)  # the piece that begins at each place
    out = []
    for begin in range(0, len(motion.w), BLOCK):
        part = slice(begin, begin + BLOCK)
        riding = Riding(*(y[part] for y in motion))
        r = _placed(xi * L, shapes, riding.eta)
        f = _inertia_forces(beam, shapes, riding, r)
        couple = np.zeros_like(f)
        if basis.using("t"):
            couple[..., 0] = -beam.polar / L * (riding.acceleration @ shapes["t"][0].T)
        load = np.concatenate([f, np.cross(r, f) + couple], axis=2) * by[:, None]
        acting = [Loads(one.xi, one.wrench[part]) for one in loads]
        # what is left over is spread evenly
        rest = sum((one.wrench for one in acting), load.sum(axis=1))
        even = np.concatenate([np.broadcast_to(-rest[:, None, :3] / L, f.shape), np.zeros_like(f)], axis=2)
        even[..., 3:] = np.cross(r, even[..., :3])
        even[..., 3:] -= (rest[:, 3:] + (even[..., 3:] * by[:, None]).sum(axis=1))[:, None] / L
        load += even * by[:, None]
        beyond = np.zeros((len(load), len(knots), 6))
        beyond[:, :-1] = load.reshape(len(load), len(h), GAUSS, 6).sum(axis=2)[:, ::-1].cumsum(axis=1)[:, ::-1]
        total = beyond[:, after]
        for one in acting:
            counts = (one.xi >= x / L) & ((x > 0) | (one.xi > 0))
            total[:, counts] += one.wrench[:, None]
        total[..., 3:] -= np.cross(_placed(x, at_x, riding.eta), total[..., :3])
        out.append(total)
    return np.concatenate(out)


def _placed(x: np.ndarray, shapes: Mapping[str, tuple[np.ndarray, ...]], eta: np.ndarray) -> np.ndarray:
    """(time, places, 3): where points of the axis are."""
    r = np.stack([eta @ shapes[field][0].T for field in "uvw"], axis=2)
    r[..., 0] += x
    return r


def _inertia_forces(
    beam: BeamNumbers, shapes: Mapping[str, tuple[np.ndarray, ...]], riding: Riding, r: np.ndarray
) -> np.ndarray:
    """(time, places, 3): forces of inertia and gravity by length."""
    w, w_dot = riding.w[:, None], riding.w_dot[:, None]
    rate, faster = (np.stack([y @ shapes[f][0].T for f in "uvw"], axis=2) for y in (riding.rate, riding.acceleration))
    a = riding.a[:, None] + np.cross(w_dot, r) + np.cross(w, np.cross(w, r)) + 2 * np.cross(w, rate) + faster
    return -beam.mass / beam.length * a


# ---- what acts ------------------------------------------------------------------------------------------------------


def _joints(e: Equations, body: str) -> list[tuple[Joint, Frame, float]]:
    """Joints on a body, their frames on it, and the sign of the first body's wrench on the second there."""
    sides = ((j, f, sign) for j in e.topology.joints for f, sign in ((j.b, 1.0), (j.a, -1.0)))
    return [x for x in sides if x[1].body.name == body]


def _acting(
    samples: Samples, found: Reactions, part: slice, data: Flexibility, beam: BeamNumbers
) -> tuple[list[Loads], Riding]:
    """Loads on a body and its motion at some samples."""
    e, name = samples.equations, data.body.name
    link = e.topology.links[e.topology.link_of[name]]
    acting = [x for x in e.applied.on_frames if x[0].body.name == name]

    def trace(a: ca.SX, lam: dict[int, ca.SX]) -> dict[str, ca.SX]:
        columns = _frame_motion(e, link, a)
        for k, (frame, f, n) in enumerate(acting):
            columns[f"acting {k}"] = ca.horzcat(e.motion.frame(frame).X.r, ca.densify(f), ca.densify(n))
        return columns

    got = samples.evaluate(("section forces", name), trace)
    R, r = got["R"], got["r"][:, :, 0]
    value = e.topology.mechanism.values(dict(zip(e.topology.mechanism.parameters, samples.parameters, strict=False)))

    def xi(frame: Frame) -> float:
        return min(max(value(frame.position[0]) / beam.length, 0.0), 1.0)

    def seen_here(moment: np.ndarray, force: np.ndarray, point: np.ndarray) -> np.ndarray:
        """Force and moment about the origin of the beam, in its axes, of a wrench in world axes about a point."""
        whole = np.stack([force, moment + np.cross(point - r, force)], axis=1)
        return (whole @ R).reshape(len(whole), 6)

    loads = []
    for joint, frame, sign in _joints(e, name):
        if joint.name in found.joints:
            k = found.joints.index(joint.name)
            wrench = sign * found.wrench[part, k]
            loads.append(Loads(xi(frame), seen_here(wrench[:, :3], wrench[:, 3:], found.r_second[part, k])))
    for i, (frame, _, _) in enumerate(acting):
        point, force, moment = (got[f"acting {i}"][:, :, k] for k in range(3))
        loads.append(Loads(xi(frame), seen_here(moment, force, point)))
    eta, rate, acceleration = samples.q[:, link.shape_q], samples.v[:, link.shape_v], samples.a[:, link.shape_v]
    w, w_dot, a = (got[key][:, :, 0] for key in ("w", "w_dot", "a"))
    return loads, Riding(w, w_dot, a, eta, rate, acceleration)


def _frame_motion(e: Equations, link: Link, a: ca.SX) -> dict[str, ca.SX]:
    """Pose of the floating frame of a body in the world, and in its axes its turning, and its acceleration less g."""
    traced, X = e.limbs.links[link.index], e.motion.X[link.index]
    pose = X @ traced.X_LB
    moving = e.motion.link_jacobian(link.index)[:6, :] @ a
    change = Vector6(X.R.T @ moving[:3], X.R.T @ moving[3:])
    into = traced.X_LB.motion_into
    twist, acceleration = into(e.motion.twist[link.index].rigid), into(e.motion.bias[link.index].rigid + change)
    return {
        "R": pose.R,
        "r": pose.r,
        "w": twist.ang,
        "w_dot": acceleration.ang,
        # the classical acceleration of the origin: the spatial one, plus w x v
        "a": acceleration.lin + cross(twist.ang, twist.lin),
    }


# ---- what is determined ---------------------------------------------------------------------------------------------


def _undetermined(found: Reactions, data: Flexibility) -> tuple[str, ...]:
    """Names of the section forces that the equations do not determine."""
    part = found.part([x.name for x, _, _ in _joints(found.pieces[0][0].equations, data.body.name)])
    R = np.broadcast_to(found.pose(data.body["origin"])[0][:, None], part.R_first.shape)
    fixed: list[bool] = np.all(part.determined(R, part.r_second), axis=0).tolist()  # moments, then forces
    names = {"T": fixed[0], "My": fixed[1] and fixed[5], "Mz": fixed[2] and fixed[4]}
    names |= {"N": fixed[3], "Vy": fixed[4], "Vz": fixed[5]}
    return tuple(name for name in FORCES if not names[name])
