"""The equivalent rigid-link system, traced: how bodies move, and how displacements at joints follow from few of them.

Vidoni, Gasparetto, Boscariol and Giovagnoni (2012), Kinematic and dynamic analysis of flexible-link parallel robots by
means of an ERLS approach, DETC2012-70939. The letters are the paper's: u are nodal elastic displacements, r nodal
positions of the rigid-link system, q its coordinates, ``b = r + u`` (1), and J = dr/dq (26).

Each node at a joint has six displacements ``u_hat`` (three in a plane) in the axes of its own body. With u the few that
are free there (see `derive.erls.nodes`)

    u_hat = T(q) u                                                               the paper's T_k^i u^k
    u_s   = (1 - Phi L) X(q) u_m + Phi delta                                     over a joint, from master to slave

where X carries a small displacement over the joint, Phi is its motion space on the slave's side, ``L Phi = 1``, and
delta are the slave's own displacements along the freedoms. Rates and accelerations of ``u_hat`` come by automatic
differentiation, so that T', T'' of (12) and (13) are exact, with the part of T'' that has the unknown q'' in it (the
paper leaves it on the right side of (36), where it cannot be).

All of it is a function of the coordinates of the tree of the rigid twin: `close.erls` puts in the loops.

The theory is in ``docs/theory/erls.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import casadi as ca

from closedchain.derive.equations import Equations
from closedchain.derive.erls.joints import joint_pose, motion_space
from closedchain.derive.erls.nodes import GROUND, PLANAR, SPATIAL, Hold, Nodes
from closedchain.derive.lower import lower_all
from closedchain.derive.spatial import IDENTITY, NULL, Transform, Vector6, cross, tidy
from closedchain.lock import locked, once
from closedchain.model.expressions.expression import Expression, Number
from closedchain.model.forces.force import At, actions
from closedchain.model.parts import Frame, Joint


@dataclass(frozen=True)
class Displacement:
    """One of the displacements u: of which node, along or about which axis.

    ``freedom`` is the number of the joint's freedom along which a slave has it for itself; -1 for a root.
    """

    node: int
    name: str
    freedom: int = -1


@dataclass(frozen=True, eq=False)
class BodyMotion:
    """Motion of a body's frame, in its own axes about its origin; the acceleration is the classical one, less gravity.

    ``J`` (3 x n each) takes the velocities of the tree to the twist; ``acceleration = J a + bias``.
    """

    J: Vector6
    twist: Vector6
    bias: Vector6


class Displacements:
    """Displacements of all nodes at joints as functions of few of them, and of the coordinates of the rigid twin.

    Attributes
    ----------
    u, u_dot, u_ddot, a
        Symbols: displacements, their rates and accelerations, and accelerations of the tree.
    of
        What each of the displacements u is.
    planar
        Whether all motion is in one plane: nodes then have the displacements x, y and rz only.
    gaps
        What joints that close cycles of rigid bodies leave open (a column): it has to be zero, which makes some of the
        displacements dependent on others; see `solve_for`.
    """

    def __init__(self, equations: Equations, nodes: Nodes) -> None:
        self.e, self.nodes = equations, nodes
        bodies = range(len(equations.limbs.links))
        self.planar = all(_in_plane(self.bodies[k]) for k in bodies) and self._loaded_in_plane()
        self.names = PLANAR if self.planar else SPATIAL
        self.of = self._count()
        n = len(self.of)
        self.u, self.u_dot, self.u_ddot = (ca.SX.sym(name, n) for name in ("u", "u_dot", "u_ddot"))
        self.a = ca.SX.sym("a", equations.topology.nv)
        self._at: dict[int, Vector6] = {GROUND: NULL}
        self._own: dict[str, ca.SX] = {}  # delta of each joint, less what its master has along the same freedoms
        self.gaps = ca.SX(0, 1)
        self._trace()

    # ---- bodies --------------------------------------------------------------------------------------------------

    @once
    def bodies(self) -> dict[int, BodyMotion]:
        """Motion of each body by the number of its link."""
        limbs, motion, n = self.e.limbs, self.e.motion, self.e.topology.nv
        J: dict[int, Vector6] = {-1: Vector6(ca.SX(3, n), ca.SX(3, n))}
        out = {}
        for i, traced in enumerate(limbs.links):
            up = traced.X.motion_into(J[traced.link.parent])
            Phi = Vector6(ca.SX(3, n), ca.SX(3, n))
            Phi.ang[:, traced.link.v], Phi.lin[:, traced.link.v] = traced.motion.Phi.ang, traced.motion.Phi.lin
            J[i] = up + Phi
            into = traced.X_LB.motion_into
            twist, bias = into(motion.twist[i].rigid), into(motion.bias[i].rigid)
            # classical acceleration of the origin: the spatial one, plus w x v
            bias = Vector6(bias.ang, ca.sparsify(bias.lin + cross(twist.ang, twist.lin)))
            out[i] = BodyMotion(into(J[i]), twist, bias)
        return out

    # ---- displacements -------------------------------------------------------------------------------------------

    def at(self, node: int) -> Vector6:
        """Displacements of a node at a joint, in the axes of its body: rotation and displacement."""
        return self._at[node]

    def column(self, node: int) -> ca.SX:
        """The same as a column, in the order of `names`."""
        return self._column(self._at[node])

    def _column(self, x: Vector6) -> ca.SX:
        both = ca.densify(ca.vertcat(x.lin, x.ang))
        return ca.vertcat(*(both[SPATIAL.index(name)] for name in self.names))

    @once
    def columns(self) -> ca.SX:
        """``u_hat`` of all nodes, one after the other."""
        return ca.vertcat(ca.SX(0, 1), *(self.column(k) for k in range(len(self.nodes.nodes))))

    def relative(self, joint: Joint) -> ca.SX:
        """What elasticity adds to the coordinates of a joint: one number for each freedom."""
        if joint.name in self._own:
            return self._own[joint.name]
        return ca.SX.zeros(joint.type.nv, 1)

    @locked
    def rate(self, x: ca.SX) -> ca.SX:
        """Time derivative of a function of t, q and u."""
        limbs = self.e.limbs
        x = ca.densify(x)
        moving = ca.jtimes(x, limbs.q, self.e.qdot) + ca.jtimes(x, self.u, self.u_dot)
        return moving + ca.jtimes(x, limbs.t, ca.SX(1))

    @locked
    def second_rate(self, x_dot: ca.SX) -> ca.SX:
        """Time derivative of a rate: a function of t, q, v, a, u and their rates."""
        return self.rate(x_dot) + ca.jtimes(x_dot, self.e.limbs.v, self.a) + ca.jtimes(x_dot, self.u_dot, self.u_ddot)

    def place(self, frame: Frame) -> ca.SX:
        """World position of a frame, carried by its node on a rigid arm."""
        index = self.e.topology.link_of[frame.body.name]
        at = self.e.limbs.in_body(frame).r
        if index < 0:
            return ca.densify(at)
        node = self.nodes.of(frame)
        moved = self._at[node]
        local = at + moved.lin + cross(moved.ang, at - self.place_of(node))
        return ca.densify(self.body_pose(index).point(local))

    def body_pose(self, index: int) -> Transform:
        """Pose of a body of the rigid-link system in the world."""
        return IDENTITY if index < 0 else self.e.motion.X[index] @ self.e.limbs.links[index].X_LB

    def place_of(self, node: int) -> ca.SX:
        """Position of a node in its body."""
        body, xi = self.nodes.nodes[node].body, self.nodes.nodes[node].xi
        r = ca.SX(3, 1)
        if xi:
            r[0] = xi * self.length(body)
        return ca.sparsify(r)

    def length(self, body: str) -> ca.SX:
        """Length of a beam as a traced number."""
        return self.e.limbs.number(self.nodes.flexible[body])

    def solve_for(self, kept: Sequence[int], all_of_them: Callable[[ca.SX], ca.SX]) -> None:
        """Make some displacements functions of the others, so that cycles of rigid bodies stay closed.

        ``kept`` are the numbers of those that remain; ``all_of_them`` gives all displacements as a function of them.
        """
        old, n = self.u, len(kept)
        self.u, self.u_dot, self.u_ddot = (ca.SX.sym(name, n) for name in ("u", "u_dot", "u_ddot"))
        values = all_of_them(self.u)

        def put(x: ca.SX) -> ca.SX:
            return ca.sparsify(ca.substitute(ca.densify(x), old, values))

        self._at = {node: Vector6(put(x.ang), put(x.lin)) for node, x in self._at.items()}
        self._own = {name: ca.densify(put(x)) for name, x in self._own.items()}
        self.J = self.J[list(kept), :]
        self.of = tuple(self.of[k] for k in kept)

    # ---- the rigid motion as displacements -------------------------------------------------------------------------

    @once
    def J(self) -> ca.SX:  # `solve_for` leaves out rows
        """Displacements u (n x nv) that velocities of the tree would give if the rigid-link system moved (26)."""
        rows = [ca.SX(0, self.e.topology.nv)]
        holds = {hold.slave: hold for hold in self.nodes.holds}
        for x in self.of:
            moved = self.rigid(x.node)
            if x.freedom < 0:
                rows.append(ca.vertcat(moved.lin, moved.ang)[SPATIAL.index(x.name), :])
                continue
            hold = holds[x.node]
            _, L = self._freedoms(hold)
            at_joint = self._to_joint(hold.joint, x.node, hold.forward).motion_into(moved)
            rows.append(L[x.freedom, :] @ ca.vertcat(at_joint.ang, at_joint.lin))
        return ca.sparsify(ca.vertcat(*rows))

    def rigid(self, node: int) -> Vector6:
        """Twist Jacobian of the rigid-link system at a node, in the axes of its body."""
        body = self.e.topology.link_of[self.nodes.nodes[node].body]
        J = self.bodies[body].J
        return Vector6(J.ang, ca.sparsify(J.lin - cross(self.place_of(node), J.ang)))

    # ---- how ---------------------------------------------------------------------------------------------------

    def _loaded_in_plane(self) -> bool:
        """Whether forces act across the z axes of bodies that move in a plane, at their axes, and moments about z."""
        parts = [x for _, action in actions(self.e.topology.mechanism) for x in action.parts if isinstance(x, At)]
        for part in parts:
            link = self.e.topology.link_of[part.frame.body.name]
            if link < 0:
                continue
            force, moment = (self._pattern(x) for x in (part.force, part.moment))
            into = self.body_pose(link).R.T if part.world else self.e.limbs.in_body(part.frame).R
            off = self._beside(part.frame) and force.nnz()
            if off or _reaches(into @ force, 2) or _reaches(into @ moment, 0, 1):
                return False
        return True

    def _pattern(self, x: Sequence[Number]) -> ca.SX:
        """Components of a load as symbols, zero where they are in the rigid-link system at rest."""

        def leaf(node: Expression) -> ca.SX:
            if node.op != "place":
                return ca.SX.sym("x")
            body, name, axis = node.args
            frame = self.e.topology.mechanism.find_frame(f"{body}.{name}")
            pose = self.body_pose(self.e.topology.link_of[body])
            return ca.densify(pose.point(self.e.limbs.in_body(frame).r))[axis]

        return ca.sparsify(ca.vertcat(*lower_all(x, leaf)))

    def _beside(self, frame: Frame) -> bool:
        """Whether a frame is beside the plane of its body's axis, on an arm along z."""
        return _reaches(self.e.limbs.in_body(frame).r, 2)

    def _count(self) -> tuple[Displacement, ...]:
        out = [Displacement(root, name) for root in self.nodes.roots for name in self.names]
        for hold in self.nodes.holds:
            for i in hold.free:
                out.append(Displacement(hold.slave, self._name(hold, i), i))
        return tuple(out)

    def _name(self, hold: Hold, freedom: int) -> str:
        """Of a displacement along a freedom: the body's axis if it is one, else the joint and its freedom."""
        Phi, _ = self._freedoms(hold)
        X = self._to_joint(hold.joint, hold.slave, hold.forward)
        parts = {"r": X.R @ Phi.ang[:, freedom], "": X.R @ Phi.lin[:, freedom]}
        for prefix, direction in parts.items():
            direction = tidy(direction)
            other = parts["" if prefix else "r"]
            if direction.is_constant() and not tidy(other).nnz():
                values = ca.DM(direction).full().ravel().tolist()
                for axis, unit in zip("xyz", ([1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]), strict=True):
                    if values == unit:
                        return f"{prefix}{axis}"
        return f"{hold.joint.name}.{hold.joint.type.velocities[freedom]}"

    def _trace(self) -> None:
        k = 0
        size = len(self.names)
        for root in self.nodes.roots:
            self._at[root] = self._vector(self.u[k : k + size])
            k += size
        for hold in self.nodes.holds:
            delta = self.u[k : k + len(hold.free)]
            k += len(hold.free)
            self._follow(hold, delta)
        for hold in self.nodes.closing:
            self._close(hold)

    def _vector(self, column: ca.SX) -> Vector6:
        both = ca.SX(6, 1)
        for i, name in enumerate(self.names):
            both[SPATIAL.index(name)] = column[i]
        return Vector6(both[3:], both[:3])

    def _follow(self, hold: Hold, delta: ca.SX) -> None:
        """Displacements of the slave from those of its master and its own, and what the joint's coordinates gain."""
        Phi, L = self._freedoms(hold)
        near = self._to_joint(hold.joint, hold.master, not hold.forward)
        carried = self._across(hold).motion_into(near.motion_into(self._at[hold.master]))
        along = ca.densify(L @ ca.vertcat(carried.ang, carried.lin))
        gained = ca.SX.zeros(hold.joint.type.nv, 1)
        moved = carried
        for k, i in enumerate(hold.free):
            more = delta[k] - along[i]
            gained[i] = more if hold.forward else -more
            moved = moved + Vector6(Phi.ang[:, i] * more, Phi.lin[:, i] * more)
        self._own[hold.joint.name] = gained
        self._at[hold.slave] = self._to_joint(hold.joint, hold.slave, hold.forward).motion_out(moved)

    def _close(self, hold: Hold) -> None:
        """A joint between two nodes that are known: what its freedoms gain, and what it leaves open."""
        Phi, L = self._freedoms(hold)
        near = self._to_joint(hold.joint, hold.master, not hold.forward)
        carried = self._across(hold).motion_into(near.motion_into(self._at[hold.master]))
        off = self._to_joint(hold.joint, hold.slave, hold.forward).motion_into(self._at[hold.slave]) + -carried
        along = ca.densify(L @ ca.vertcat(off.ang, off.lin))
        gained = ca.SX.zeros(hold.joint.type.nv, 1)
        for i in hold.free:
            gained[i] = along[i] if hold.forward else -along[i]
            off = off + Vector6(-Phi.ang[:, i] * along[i], -Phi.lin[:, i] * along[i])
        self._own[hold.joint.name] = gained
        self.gaps = ca.vertcat(self.gaps, self._column(off))

    def _to_joint(self, joint: Joint, node: int, second: bool) -> Transform:
        """Pose of a joint's frame in the axes of the body, seen from a node of it."""
        X = self.e.limbs.joint_frame(joint, joint.b if second else joint.a)
        return X if node == GROUND else Transform(X.R, tidy(X.r - self.place_of(node)))

    def _across(self, hold: Hold) -> Transform:
        """Pose of the slave's joint frame in the master's."""
        X = joint_pose(self.e, hold.joint)
        return X if hold.forward else X.inverse()

    def _freedoms(self, hold: Hold) -> tuple[Vector6, ca.SX]:
        """Motion space on the slave's side, in the axes of its joint frame, and L with ``L Phi = 1`` (n x 6)."""
        return motion_space(self.e, hold.joint, hold.forward)


def _reaches(x: ca.SX, *axes: int) -> bool:
    """Whether some of the components of a vector are not zero by structure."""
    return bool(set(tidy(ca.sparsify(x)).sparsity().row()) & set(axes))


def _in_plane(body: BodyMotion) -> bool:
    """Whether a body turns about its z axis and moves across it only."""
    J = body.J
    turns, moves = J.ang.sparsity().row(), J.lin.sparsity().row()
    weight = ca.sparsify(body.bias.lin).sparsity().row()
    return set(turns) <= {2} and set(moves) <= {0, 1} and set(weight) <= {0, 1}
