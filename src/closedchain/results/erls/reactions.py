"""Reactions in the joints of a run by ERLS: Newton and Euler for displaced links, and the balance of their nodes.

The wrench that each link needs is the exact one: inertia and weight of the displaced elements, where they are, and
joints act where they are displaced to. So bodies are in balance as in any other run (`results.reactions.newton_euler`),
and what joints carry across loops that rigid links would leave open, the nodes tell: what joints and loads exert on a
node is what the elements there take, ``f`` in ``B' f = loads``.

These equations are more than the unknowns, and not those that were solved: ERLS is linear in displacements. With e the
size of the displacements (rotations, or over the length of a beam), the freedoms ``Phi' w = tau`` hold but for e^2, and
a node is in balance but for e, since an axial force in a bent element has no moment there. (With the paper's terms both
are e.) Each counts with that weight, and what is missing then is a check: it has to go with e^2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import casadi as ca
import numpy as np

from closedchain.derive.beams import cayley
from closedchain.derive.erls.loads import TrueJoints
from closedchain.derive.spatial import cross
from closedchain.erls import energy
from closedchain.erls.on_nodes import forces_on_nodes
from closedchain.errors import ModelError
from closedchain.model.parts import Frame
from closedchain.pose.size import drawn_length
from closedchain.results.erls.frames import frame_motion
from closedchain.results.reactions.at_joints import AtJoints, AtShapes, JointFrames, freedoms, holders
from closedchain.results.reactions.newton_euler import BALANCED, Block, NewtonEuler
from closedchain.results.reactions.reactions import reactions
from closedchain.results.reactions.wrenches import Reactions, solved, wrenches
from closedchain.results.samples import Samples

if TYPE_CHECKING:
    from closedchain.erls.system import System
    from closedchain.results.erls.solution import ErlsSolution

MISSING = 3.0  # times e^2: what may be missing of the largest force
ROUNDING = 1e-5  # of e: below it nodes count no less


@dataclass(frozen=True, eq=False, kw_only=True)
class ErlsSamples(Samples):
    """The motion of a run by ERLS: that of the rigid-link system, and displacements beside it.

    Attributes
    ----------
    solution
        Of the run.
    look
        Poses and displacements, with forces in balance.
    """

    solution: ErlsSolution
    look: energy.Samples

    no_balance: ClassVar[str] = (
        "a run with cc.ERLS(...) has no balance: its reactions are what the nodes leave over. Compare them with "
        "those of a floating frame, cc.simulate(m, method=cc.Multipliers())"
    )

    def pose(self, frame: Frame) -> tuple[np.ndarray, np.ndarray]:
        """Axes (n, 3, 3) and origin (n, 3) of a frame in the world, with elasticity."""
        drawn = frame.body.mechanism
        if drawn not in (self.solution.mechanism, self.solution.system.twin):
            raise ModelError(
                f"frame {frame.body.name}.{frame.name or '?'} belongs to another mechanism, {drawn.name!r}"
            )
        r, R, _, _ = frame_motion(self.solution, frame, self.look)
        return R, r

    def batches(self, most: int) -> Iterator[Samples]:
        """All at once: what is looked at is known for the whole run."""
        yield self

    @property
    def size(self) -> np.ndarray:
        """(n,) e: the largest rotation, or displacement over the length of the longest beam."""
        system = self.solution.system
        turns = np.array([x.startswith("r") for x in system.mesh.names])
        return (np.abs(self.look.u) / np.where(turns, 1.0, system.longest)).max(axis=(1, 2), initial=0.0)


def samples_of_erls(solution: ErlsSolution) -> ErlsSamples:
    """The motion of a run, with forces in balance."""
    system, motion, t = solution.system, solution.balanced, solution.t
    traced = system.compiled.traced
    columns = dict(zip("va", traced.closed([traced.e.limbs.v, traced.d.a]), strict=True))
    got = energy.evaluate(system, "tree", columns, energy.inputs(system, t, motion.tree, motion.x))
    v, a = got["v"][:, :, 0], got["a"][:, :, 0]
    seen = energy.look(system, t, motion.x, motion.tree)
    return ErlsSamples(system.e, t, motion.tree, v, a, system.p, solution=solution, look=seen)


class WithNodes(NewtonEuler):
    """The equations of all samples, with those of nodes."""

    def __init__(self, samples: ErlsSamples, at: AtJoints, length: float) -> None:
        super().__init__(samples, at, length)
        e = np.maximum(samples.size, ROUNDING)
        paper = samples.solution.method.terms == "paper"
        self.trust = np.ones_like(e) if paper else e
        self.allowed = BALANCED + MISSING * (e if paper else e**2)

    def solve(self, block: slice, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """As `NewtonEuler.solve`, with all equations at once."""
        return self.solve_block(Block(self, block, shapes=True), weight)


@wrenches.register
def _(samples: ErlsSamples, stiffness: Mapping[str, float] | None = None) -> Reactions:
    length = drawn_length(samples.equations, samples.parameters)
    return solved(WithNodes(samples, at_joints(samples), length), length, stiffness)


def at_joints(samples: ErlsSamples) -> AtJoints:
    """Evaluate all that reactions depend on."""
    e, n = samples.equations, len(samples)
    system, motion = samples.solution.system, samples.solution.balanced
    joints, traced, m = e.topology.joints, system.compiled.traced, e.topology.mechanism
    columns = _columns(system) if "reactions" not in system.functions else {}
    columns = dict(zip(columns, traced.closed(list(columns.values())), strict=True))
    got = energy.evaluate(system, "reactions", columns, energy.inputs(system, samples.t, motion.tree, motion.x))

    def side_by_side(name: str, width: int) -> np.ndarray:
        return got[name].reshape(n, 3, len(joints), width).transpose(0, 2, 1, 3)

    f, wrench = forces_on_nodes(system, motion)
    R, r = samples.look.R, samples.look.r
    two = wrench.reshape(n, len(e.topology.links), 2, 3, 1)  # moment, force
    need = (R[:, :, None] @ two).reshape(wrench.shape) - got["loads"].transpose(0, 2, 1)
    shaping, shape_need = _nodes(samples, f, side_by_side("r second", 1)[..., 0], got["loads at nodes"])
    moving = [joint for joint in joints if joint.type.nv]
    acting = {name for name, _ in traced.loads.on_joints} | {x.joint for x in m.drives.values()}
    return AtJoints(
        first=JointFrames(side_by_side("R first", 3), side_by_side("r first", 1)[..., 0]),
        second=JointFrames(side_by_side("R second", 3), side_by_side("r second", 1)[..., 0]),
        Phi={joint.name: got[f"Phi {joint.name}"] for joint in moving},
        tau={joint.name: got[f"tau {joint.name}"][:, :, 0] for joint in moving},
        along={},
        told={},
        need=need,
        apart=np.zeros_like(need),
        origin=r,
        shares={name: np.ones(len(of)) for name, of in holders(e, frozenset()).items()},
        acted=frozenset(acting),
        shapes=AtShapes(shaping, shape_need),
    )


def _columns(system: System) -> dict[str, ca.SX]:
    """Joint frames, freedoms, what acts along them, and loads on links and nodes, as traced expressions."""
    d, loads = system.d, system.compiled.traced.loads
    e, true = d.e, TrueJoints(d)
    columns: dict[str, ca.SX] = {}
    for which, name in (("a", "first"), ("b", "second")):
        axes, places = [], []
        for joint in e.topology.joints:
            frame = getattr(joint, which)
            pose = d.body_pose(e.topology.link_of[frame.body.name])
            turned = cayley(ca.densify(d.at(d.nodes.of(frame)).ang))
            axes.append(ca.densify(pose.R @ turned @ e.limbs.joint_frame(joint, frame).R))
            places.append(d.place(frame))
            if name == "second" and joint.type.nv:
                columns[f"Phi {joint.name}"] = freedoms(e, joint, axes[-1], true.coordinates(joint))
                efforts = [loads.on_joints.get((joint.name, i), ca.SX(0)) for i in range(joint.type.nv)]
                columns[f"tau {joint.name}"] = ca.vertcat(*efforts)
        columns[f"R {name}"], columns[f"r {name}"] = ca.horzcat(*axes), ca.horzcat(*places)

    on_links, on_nodes = ca.SX.zeros(6, len(e.topology.links)), ca.SX.zeros(6, len(d.nodes.nodes))
    for frame, force, moment in loads.on_frames:
        node, link = d.nodes.of(frame), e.topology.link_of[frame.body.name]
        pose, place = d.body_pose(link), d.place(frame)
        at_node = pose.point(d.place_of(node) + d.at(node).lin)
        on_links[:, link] += ca.vertcat(moment + cross(place - pose.r, force), force)
        on_nodes[:, node] += ca.vertcat(moment + cross(place - at_node, force), force)
    return columns | {"loads": on_links, "loads at nodes": on_nodes}


def _nodes(
    samples: ErlsSamples, f: np.ndarray, r_second: np.ndarray, loads: np.ndarray
) -> tuple[dict[tuple[str, str], np.ndarray], dict[str, np.ndarray]]:
    """What joints' wrenches (at their second frames) do to the nodes of each beam, and what these need together.

    ``loads`` (n, 6, held nodes) act on the nodes, in world axes.
    """
    look, n, mesh = samples.look, len(samples), samples.solution.system.mesh
    topology, nodes, k = samples.equations.topology, samples.solution.system.d.nodes, len(mesh.names)
    sides = [
        (joint.name, j, frame.body.name, nodes.of(frame), sign)
        for j, joint in enumerate(topology.joints)
        for frame, sign in ((joint.b, 1.0), (joint.a, -1.0))
        if frame.body.name in samples.solution.mechanism.flexible
    ]
    number = {int(held): node for node, held in enumerate(mesh.arrays.held) if held >= 0}
    touched = {body: sorted({held for _, _, on, held, _ in sides if on == body}) for _, _, body, _, _ in sides}

    def on_node(body: str, wrench: np.ndarray) -> np.ndarray:
        """Forces (n, k, columns) on a node of wrenches (n, 6, columns) in world axes about it."""
        turned = look.R[:, topology.link_of[body]].transpose(0, 2, 1)
        return np.concatenate([turned @ wrench[:, 3:], turned @ wrench[:, :3]], axis=1)[:, mesh.axes]

    shaping: dict[tuple[str, str], np.ndarray] = {}
    for name, j, body, held, sign in sides:
        link, moved = topology.link_of[body], np.zeros((n, 6))
        moved[:, mesh.axes] = look.u[:, number[held]]
        local = mesh.places[number[held]] + moved[:, :3]
        arm = r_second[:, j] - look.r[:, link] - (look.R[:, link] @ local[..., None])[..., 0]
        unit = np.tile(np.eye(6), (n, 1, 1))
        unit[:, :3, 3:] = np.cross(arm[:, :, None], np.eye(3), axis=1)
        rows = shaping.setdefault((body, name), np.zeros((n, k * len(touched[body]), 6)))
        first = k * touched[body].index(held)
        rows[:, first : first + k] += sign * on_node(body, unit)
    shape_need = {
        body: np.concatenate([f[:, number[x]] - on_node(body, loads[:, :, x, None])[..., 0] for x in held], axis=1)
        for body, held in touched.items()
    }
    return shaping, shape_need


def efforts_of_drives(solution: ErlsSolution) -> dict[str, np.ndarray]:
    """What each drive exerts on its freedom over time: what the joint transmits along it, less all else that acts."""
    found = reactions(solution)
    at = found.pieces[0][1]
    out = {}
    for drive in solution.system.twin.drives.values():
        wrench = found.wrench[:, found.joints.index(drive.joint)]
        along = np.sum(at.Phi[drive.joint][:, :, drive.index] * wrench, axis=1)
        out[drive.name] = along - at.tau[drive.joint][:, drive.index]
    return out
