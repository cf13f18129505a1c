"""The decoupled natural orthogonal complement of the limbs: twists, wrenches, ``T = N_l N_d``, and ``I = U D U'``.

J. Angeles and S. K. Lee, Journal of Applied Mechanics 55 (1988) 243-244; S. K. Saha, IEEE Transactions on Robotics and
Automation 13 (1997) 301-304 and Multibody System Dynamics 9 (2003) 63-85. The numbers are those of A. Raoofian,
A. Taghvaeipour and A. Kamali Eigoli, Modares Mechanical Engineering 17(6) (2017) 377-384, whose letters are used here;
`M` is the mass matrix of the bodies (6 x 6 for each), and the inertia matrix of the joint rates, `M` elsewhere, is `I`.

    t_i = [omega_i; v_i],  w_i = [n_i; f_i]                   (1), where [f; tau] is printed: it does not pair with t
    t_i = B_ij t_j + p_i q_i'   for the link j that i hangs on    (23)
    t = N_l N_d q' = T q'                                         (4), (6)
    I = N_d' M~ N_d,  M~ = N_l' M N_l                             (17)

`N_l` has the blocks ``B_ij`` for all j on the way from i to the ground, and `N_d` the blocks ``p_i`` on its diagonal. A
joint of several freedoms has as many columns in ``p_i``: elementary motions one after the other, with ``B = 1`` between
them. Links may branch. Twists are given in the link's own axes at the link's own joint. The paper takes the centre of
mass; then the arm from the joint to it stands in ``p_i``, here it stands in ``M_i``, and ``I`` is the same.

Gaussian elimination that begins with the last row and column turns ``I`` into ``U D U'`` without forming it (Saha).
With the mass matrix ``M^_i`` of link i and all that hangs on it, the joints in between free to move:

    psi^_i = M^_i p_i,  m^_i = p_i' psi^_i,  psi_i = psi^_i / m^_i
    M^_j = M_j + sum_i B_ij' (M^_i - psi^_i psi_i') B_ij
    U_ik = p_i' B_ki' psi_k,  D = diag(m^_i)

and ``I a = phi`` is solved by one recursion towards the ground and one back, so that the work grows with the number of
links:

    phi^_i = phi_i - p_i' eta_i,   eta_j = sum_i B_ij' (psi_i phi^_i + eta_i)
    a_i = phi^_i / m^_i - psi_i' mu_i,   mu_i = B_ij (p_j a_j + mu_j)

The theory is in ``docs/theory/denoc.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise

import casadi as ca

from closedchain.derive.limbs import Limbs, TracedLink
from closedchain.derive.measure import JointMeasures
from closedchain.derive.rotors import rotor_inertia
from closedchain.derive.spatial import NULL, Inertia, Transform, Vector6, skew, symmetric

Column = dict[int, ca.SX]


class NaturalComplement:
    """The matrices of the natural orthogonal complement, written out; `ReverseElimination` needs none of them whole."""

    def __init__(self, limbs: Limbs) -> None:
        self.limbs = limbs
        self.parents = [traced.link.parent for traced in limbs.links]
        self.B = [propagation(limbs, traced) for traced in limbs.links]
        self.p = [traced.motion.Phi.stacked() for traced in limbs.links]
        self.M = [mass_matrix(traced.inertia) for traced in limbs.links]

    @property
    def N_l(self) -> ca.SX:
        """``B_ij``, lower block triangular, 6k x 6k for k links (26); more where shapes have rates."""
        k = len(self.B)
        ends = list(accumulate((M.shape[0] for M in self.M), initial=0))
        at = [slice(*pair) for pair in pairwise(ends)]
        N = ca.SX(ends[-1], ends[-1])
        for i in range(k):
            B, j = ca.SX.eye(self.M[i].shape[0]), i
            while j >= 0:
                N[at[i], at[j]] = B
                B = ca.sparsify(B @ self.B[j])
                j = self.parents[j]
        return ca.sparsify(N)

    @property
    def N_d(self) -> ca.SX:
        """``p_i``, block diagonal, 6k x n (26)."""
        return ca.sparsify(ca.diagcat(ca.SX(0, 0), *self.p))

    @property
    def mass(self) -> ca.SX:
        """``M_i``, block diagonal, 6k x 6k."""
        return ca.sparsify(ca.diagcat(ca.SX(0, 0), *self.M))

    def inertia(self) -> ca.SX:
        """``I = N_d' M~ N_d`` (17) by blocks ``p_i' M~_i B_ij p_j``, with the composite mass matrices ``M~_i``."""
        links = self.limbs.links
        composite = list(self.M)
        for i in reversed(range(len(links))):
            if self.parents[i] >= 0:
                composite[self.parents[i]] = composite[self.parents[i]] + carried(composite[i][:6, :6], links[i])

        n = self.limbs.topology.nv
        I = ca.SX(n, n)
        for i, traced in enumerate(links):
            rows, F, j = traced.link.freedoms, self.p[i].T @ composite[i], i
            while j >= 0:
                block = ca.sparsify(F @ self.p[j])
                I[rows, links[j].link.freedoms] = block
                I[links[j].link.freedoms, rows] = block.T
                F = ca.sparsify(F @ self.B[j])
                j = self.parents[j]
        return ca.sparsify(I)

    def twists(self, v: ca.SX) -> list[ca.SX]:
        """``t_i = B_ij t_j + p_i q_i'`` (23), from the ground outwards."""
        t: list[ca.SX] = []
        for traced, B, p, parent in zip(self.limbs.links, self.B, self.p, self.parents, strict=True):
            own = p @ v[traced.link.freedoms, :]
            t.append(ca.sparsify(own + B @ t[parent] if parent >= 0 else own))
        return t

    def joint_wrenches(self, w: Sequence[ca.SX]) -> list[ca.SX]:
        """``N_l' w``: the wrench that passes through the joint of each link, if each link needs ``w_i``.

        With Newton's and Euler's ``M t' + M' t`` less all known wrenches for w this is the whole wrench of each joint,
        the constraint wrench of (2) and what the motor gives; ``p_i'`` times it is (14).
        """
        out = list(w)
        for i in reversed(range(len(out))):
            if self.parents[i] >= 0:
                out[self.parents[i]] = ca.sparsify(out[self.parents[i]] + self.B[i].T @ out[i])
        return out


class ReverseElimination:
    """``I = U D U'`` limb by limb; see the module's docstring for the letters.

    A rotor on a joint of the tree adds its inertia to ``m^``. One on a cut joint turns with the rate ``r' q'``, which
    is no joint of a limb: the factors of ``I + J r r'`` follow from those of ``I`` in O(n) steps (P. E. Gill and
    others, Mathematics of Computation 28 (1974) 505-535, method C1, here from the last row to the first). With
    ``z = U^-1 r``, row k of ``D + J z z'`` is eliminated by ``m^_k + J z_k^2``, which leaves the same form with a
    smaller J for the rows above.
    """

    def __init__(self, limbs: Limbs, measures: JointMeasures) -> None:
        self.limbs = limbs
        self.n = limbs.topology.nv
        self.p: list[Vector6] = [
            Vector6(*(part[:, k] for part in Phi))
            for Phi in (x.motion.Phi for x in limbs.links)
            for k in range(Phi.ang.shape[1])
        ]
        self.psi: list[Vector6] = [NULL] * self.n
        self.m_hat: list[ca.SX] = [ca.SX(0)] * self.n
        self.updates: list[tuple[Column, Column]] = []

        rotors, across = ca.SX(self.n, 1), []
        cut = {joint.name for joint in limbs.topology.cuts}
        for rotor in limbs.topology.mechanism.rotors.values():
            row, _ = measures.velocity_row(rotor.joint, rotor.index)
            J = rotor_inertia(limbs, rotor)
            if rotor.joint in cut:
                across.append((row, J))
            else:
                rotors += row.T * J
        self._eliminate(rotors)
        self.d_inv = [1 / m for m in self.m_hat]  # infinite without inertia: simulate refuses that
        for row, J in across:
            self._update(row, J)

    def _eliminate(self, rotors: ca.SX) -> None:
        links = self.limbs.links
        hat = [mass_matrix(traced.inertia) for traced in links]
        for i in reversed(range(len(links))):
            M = hat[i]
            for k in reversed(_range(links[i].link.freedoms)):
                p = self.p[k].stacked()
                psi_hat = ca.sparsify(M @ p)
                self.m_hat[k] = ca.densify(p.T @ psi_hat + rotors[k])
                psi = ca.sparsify(psi_hat / self.m_hat[k])
                M = symmetric(M - psi_hat @ psi.T)
                if not rotors[k].nnz():
                    _free_of(M, p)
                M = ca.sparsify(M)
                self.psi[k] = Vector6.split(psi)
            if links[i].link.parent >= 0:
                j = links[i].link.parent
                hat[j] = ca.sparsify(hat[j] + carried(M[:6, :6], links[i]))

    def _update(self, row: ca.SX, J: ca.SX) -> None:
        """The factors of ``U D U' + J row' row``."""
        z = self.half({k: row[0, k] for k in range(self.n) if row[0, k].nnz()})
        beta: Column = {}
        for k in sorted(z, reverse=True):
            m = self.m_hat[k]
            self.m_hat[k] = m + J * z[k] ** 2
            self.d_inv[k] = 1 / self.m_hat[k]
            beta[k] = J * z[k] * self.d_inv[k]
            J = J * m * self.d_inv[k]
        self.updates.append((z, beta))

    def half(self, b: Column, w: Mapping[int, Vector6] | None = None) -> Column:
        """``phi^ = U^-1 (b + T' w)``: of generalised forces b, and of wrenches w on links, in their frames.

        A wrench needs no pass of its own: it is carried towards the ground together with ``-eta``.
        """
        out: Column = {}
        felt: dict[int, Vector6] = dict(w or {})
        for i in reversed(range(len(self.limbs.links))):
            traced = self.limbs.links[i]
            eta = felt.get(i)  # less what the joints beyond have taken
            for k in reversed(_range(traced.link.freedoms)):
                phi = b.get(k)
                if eta is not None:
                    push = self.p[k].dot(eta)
                    if push.nnz():
                        phi = push if phi is None else phi + push
                if phi is None:
                    continue
                out[k] = phi
                taken = -self.psi[k].times(phi)
                eta = taken if eta is None else eta + taken
            parent = traced.link.parent
            if eta is not None and parent >= 0:
                passed = traced.force_out(eta)
                felt[parent] = felt[parent] + passed if parent in felt else passed
        for z, beta in self.updates:
            _back(out, z, beta)
        return out

    def finish(self, y: Column) -> ca.SX:
        """``U'^-1 D^-1 y``."""
        tilde = {k: value * self.d_inv[k] for k, value in y.items()}
        for z, beta in reversed(self.updates):
            _forth(tilde, z, beta)
        a: list[ca.SX] = [ca.SX(0)] * self.n
        mu: dict[int, Vector6] = {}
        for i, traced in enumerate(self.limbs.links):
            parent = traced.link.parent
            moved = traced.motion_into(mu[parent]) if parent in mu else None
            for k in _range(traced.link.freedoms):
                value = tilde.get(k)
                if moved is not None:
                    follow = self.psi[k].dot(moved)
                    if follow.nnz():
                        value = -follow if value is None else value - follow
                if value is None:
                    continue
                a[k] = value
                own = self.p[k].times(value)
                moved = own if moved is None else moved + own
            if moved is not None:
                mu[i] = moved
        return ca.vertcat(ca.SX(0, 1), *a)

    def factors(self) -> tuple[ca.SX, ca.SX]:
        """``U`` (n x n, unit upper triangular) by its entries ``p_i' B_ki' psi_k``, and the diagonal of D."""
        links = self.limbs.links
        U = ca.SX.eye(self.n)
        for j, traced in enumerate(links):
            for k in _range(traced.link.freedoms):
                i, w, columns = j, self.psi[k], range(traced.link.freedoms.start, k)
                while True:
                    for above in columns:
                        U[above, k] = self.p[above].dot(w)
                    if links[i].link.parent < 0:
                        break
                    w, i = links[i].force_out(w), links[i].link.parent
                    columns = _range(links[i].link.freedoms)
        for z, beta in self.updates:
            update = ca.SX.eye(self.n)
            for k in beta:
                for i in (i for i in z if i < k):
                    update[i, k] = z[i] * beta[k]
            U = U @ update
        return ca.sparsify(U), ca.vertcat(ca.SX(0, 1), *self.m_hat)


def propagation(limbs: Limbs, traced: TracedLink) -> ca.SX:
    """``B``, 6 x 6: the twist of the link before, seen from this one: its axes, its point.

    It has more columns if the shape of the link before moves this one, and more rows if this one has a shape.
    """
    X, parent = traced.X, traced.link.parent
    R = X.R.T
    B = ca.blockcat([[R, ca.SX(3, 3)], [-R @ skew(X.r), R]])
    shapes = 0 if parent < 0 else limbs.links[parent].link.shapes
    if shapes:
        B = ca.horzcat(B, ca.SX(6, shapes) if traced.carried is None else traced.carried.stacked())
    return ca.sparsify(ca.vertcat(B, ca.SX(traced.link.shapes, B.shape[1])))


def mass_matrix(inertia: Inertia) -> ca.SX:
    """``M_i``, 6 x 6, about the origin of the link's frame; larger for a flexible link."""
    mc = skew(inertia.mc)
    M = ca.blockcat([[inertia.I, mc], [mc.T, inertia.m * ca.SX.eye(3)]])
    if inertia.shaping is not None:
        C = inertia.shaping.momentum.stacked()
        M = ca.blockcat([[M, C], [C.T, inertia.shaping.G]])
    return ca.sparsify(M)


def carried(M: ca.SX, traced: TracedLink) -> ca.SX:
    """``B' M B`` for the symmetric M (6 x 6) that is left of a link: as its parent feels it."""
    out = moved(M, traced.X)
    if traced.carried is None:
        return out
    C = traced.carried.stacked()
    push = Vector6.split(ca.sparsify(M @ C))
    momentum = traced.X.force_out(push).stacked()
    return ca.sparsify(ca.blockcat([[out, momentum], [momentum.T, symmetric(C.T @ push.stacked())]]))


def moved(M: ca.SX, X: Transform) -> ca.SX:
    """``B' M B`` for a symmetric M, by its 3 x 3 blocks: turned first, then moved."""
    turned, mixed, sliding = (ca.sparsify(X.R @ block @ X.R.T) for block in (M[:3, :3], M[:3, 3:], M[3:, 3:]))
    r = skew(X.r)
    sliding = symmetric(sliding)
    shifted = ca.sparsify(mixed + r @ sliding)
    turning = symmetric(turned - shifted @ r + r @ mixed.T)
    return ca.sparsify(ca.blockcat([[turning, shifted], [shifted.T, sliding]]))


def _free_of(M: ca.SX, p: ca.SX) -> None:
    """Nothing resists the motion p any more: where p is an axis, zeros that are known need not be computed."""
    rows, _ = p.sparsity().get_triplet()
    if len(rows) == 1 and p.is_constant():
        M[rows[0], :] = 0
        M[:, rows[0]] = 0


def _back(y: Column, z: Column, beta: Column) -> None:
    """Solve with the unit upper triangular matrix of entries ``z_i beta_k`` for i < k, in place."""
    total: ca.SX | None = None
    for k in sorted(z, reverse=True):
        if total is not None:
            y[k] = y[k] - z[k] * total if k in y else -z[k] * total
        if k in y:
            total = beta[k] * y[k] if total is None else total + beta[k] * y[k]


def _forth(x: Column, z: Column, beta: Column) -> None:
    """Solve with its transpose."""
    total: ca.SX | None = None
    for k in sorted(z):
        if total is not None:
            x[k] = x[k] - beta[k] * total if k in x else -beta[k] * total
        if k in x:
            total = z[k] * x[k] if total is None else total + z[k] * x[k]


def _range(part: slice) -> range:
    return range(part.start, part.stop)
