"""Forces of one piece: inertia with the exact acceleration (13), gravity, elasticity, damping; in the axes of its body.

With the field P (3 x 4) of positions in the body and D of displacements (see `element`), the acceleration of a point is

    A = a 1' + (alpha x + omega x omega x) P + 2 omega x D' + D''

``Q = A G`` are all inertial forces: those on the displacements are Q scattered to the nodes, those on the link
``sum_k Q_k 1_k`` and ``sum_k P_k x Q_k``. The paper's M, M_G1, M_C1 in (15), (17), (19) are the same integrals; M_G2,
M_C2, M_C3 are in the rates of ``u_hat = T u``.
"""

from closedchain.erls.kernels.sections import section_moments, turned
from closedchain.native.memory import fill, inner


@inner
def gather(one, two, length, P):
    """Coefficients of the field of displacements of the nodes (two is not read for a rigid body, length 0)."""
    flat = one.size == 3
    if length > 0.0:
        slope = (two[0] - one[0]) / length
        P[0, 0], P[0, 1], P[0, 2], P[0, 3] = one[0], slope, two[0], slope
        if flat:
            P[1, 0], P[1, 1], P[1, 2], P[1, 3] = one[1], one[2], two[1], two[2]
            P[2, 0] = P[2, 1] = P[2, 2] = P[2, 3] = 0.0
        else:
            P[1, 0], P[1, 1], P[1, 2], P[1, 3] = one[1], one[5], two[1], two[5]
            P[2, 0], P[2, 1], P[2, 2], P[2, 3] = one[2], -one[4], two[2], -two[4]
    else:
        x, y, z = (0.0, 0.0, one[2]) if flat else (one[3], one[4], one[5])
        P[0, 0], P[0, 1], P[0, 2], P[0, 3] = one[0], 0.0, -z, y
        P[1, 0], P[1, 1], P[1, 2], P[1, 3] = one[1], z, 0.0, -x
        P[2, 0], P[2, 1], P[2, 2], P[2, 3] = 0.0 if flat else one[2], -y, x, 0.0


@inner
def scatter(Q, length, one, two):
    """Add the forces on the coefficients of a field to those on the nodes: the transpose of `gather`."""
    flat = one.size == 3
    if length > 0.0:
        pull = (Q[0, 1] + Q[0, 3]) / length
        one[0] += Q[0, 0] - pull
        two[0] += Q[0, 2] + pull
        one[1] += Q[1, 0]
        two[1] += Q[1, 2]
        if flat:
            one[2] += Q[1, 1]
            two[2] += Q[1, 3]
        else:
            one[2] += Q[2, 0]
            two[2] += Q[2, 2]
            one[4] -= Q[2, 1]
            two[4] -= Q[2, 3]
            one[5] += Q[1, 1]
            two[5] += Q[1, 3]
    else:
        one[0] += Q[0, 0]
        one[1] += Q[1, 0]
        if flat:
            one[2] += Q[1, 1] - Q[0, 2]
        else:
            one[2] += Q[2, 0]
            one[3] += Q[2, 2] - Q[1, 3]
            one[4] += Q[0, 3] - Q[2, 1]
            one[5] += Q[1, 1] - Q[0, 2]


@inner
def turning(motion, W):
    """``alpha x + omega x omega x`` of a body whose motion is (omega, alpha, a)."""
    x, y, z = motion[0], motion[1], motion[2]
    W[0, 0], W[1, 1], W[2, 2] = -y * y - z * z, -x * x - z * z, -x * x - y * y
    W[0, 1], W[0, 2] = x * y - motion[5], x * z + motion[4]
    W[1, 0], W[1, 2] = x * y + motion[5], y * z - motion[3]
    W[2, 0], W[2, 1] = x * z - motion[4], y * z + motion[3]


@inner
def inertia(mesh, piece, motion, u, W, P, A, Q):
    """Positions P, accelerations A and inertial forces Q of a piece.

    Parameters
    ----------
    motion : (12,) omega, omega', acceleration of the origin less gravity, and its velocity, in the axes of the body.
    u : (3, nodes, n) displacements, rates and accelerations of the nodes.
    W : (3, 3) from `turning`.
    """
    one, two, length = mesh.ends[piece, 0], mesh.ends[piece, 1], mesh.length[piece]
    field = mesh.field
    x, y, z = motion[0], motion[1], motion[2]
    gather(u[2, one], u[2, two], length, A)
    gather(u[1, one], u[1, two], length, P)
    gather(u[0, one], u[0, two], length, Q)
    for k in range(4):
        e = field.one[piece, k]
        vx, vy, vz = P[0, k], P[1, k], P[2, k]
        px = field.P0[piece, 0, k] + Q[0, k]
        py = field.P0[piece, 1, k] + Q[1, k]
        pz = field.P0[piece, 2, k] + Q[2, k]
        A[0, k] += e * motion[6] + 2.0 * (y * vz - z * vy) + W[0, 0] * px + W[0, 1] * py + W[0, 2] * pz
        A[1, k] += e * motion[7] + 2.0 * (z * vx - x * vz) + W[1, 0] * px + W[1, 1] * py + W[1, 2] * pz
        A[2, k] += e * motion[8] + 2.0 * (x * vy - y * vx) + W[2, 0] * px + W[2, 1] * py + W[2, 2] * pz
        P[0, k], P[1, k], P[2, k] = px, py, pz
    for c in range(3):
        for k in range(4):
            Q[c, k] = (
                A[c, 0] * field.G[piece, 0, k]
                + A[c, 1] * field.G[piece, 1, k]
                + A[c, 2] * field.G[piece, 2, k]
                + A[c, 3] * field.G[piece, 3, k]
            )


@inner
def on_link(mesh, piece, P, Q, wrench):
    """Add the inertial forces of a piece to the wrench on its rigid link (moment, then force)."""
    for k in range(4):
        wrench[0] += P[1, k] * Q[2, k] - P[2, k] * Q[1, k]
        wrench[1] += P[2, k] * Q[0, k] - P[0, k] * Q[2, k]
        wrench[2] += P[0, k] * Q[1, k] - P[1, k] * Q[0, k]
        e = mesh.field.one[piece, k]
        wrench[3] += e * Q[0, k]
        wrench[4] += e * Q[1, k]
        wrench[5] += e * Q[2, k]


@inner
def spinning(mesh, piece, motion, u, Q, one, two, wrench):
    """Sections that turn: moments on the nodes, and on the link. Q is workspace."""
    sections = mesh.sections
    jx, jy, jz = sections.j[piece, 0], sections.j[piece, 1], sections.j[piece, 2]
    i1, i2, n, length = mesh.ends[piece, 0], mesh.ends[piece, 1], u.shape[2], mesh.length[piece]
    if n == 3:  # in a plane: jz (omega' + theta''), and no more
        moment, spin = length * motion[5], sections.spin
        for i in range(6):
            tz = sections.turned[piece, 2, i]
            moment += tz * (u[2, i1, i] if i < n else u[2, i2, i - n])
            force = jz * tz * motion[5]
            for j in range(n):
                force += spin[piece, i, j] * u[2, i1, j] + spin[piece, i, n + j] * u[2, i2, j]
            if i < n:
                one[i] += force
            else:
                two[i - n] += force
        wrench[2] += jz * moment
        return
    omega, omega_dot = (motion[0], motion[1], motion[2]), (motion[3], motion[4], motion[5])
    fill(Q, 0.0)
    for point in range(sections.at.shape[1]):
        section = sections.at[piece, point]
        theta = turned(section, u[0, i1], u[0, i2])
        theta_dot = turned(section, u[1, i1], u[1, i2])
        theta_ddot = turned(section, u[2, i1], u[2, i2])
        m, link = section_moments((jx, jy, jz), omega, omega_dot, theta, theta_dot, theta_ddot)
        weight, s = section[0], section[1]
        one[3] += weight * (1.0 - s) * m[0]
        two[3] += weight * s * m[0]
        for k in range(4):
            Q[1, k] += weight * section[2 + k] * m[2]
            Q[2, k] -= weight * section[2 + k] * m[1]
        for i in range(3):
            wrench[i] += weight * link[i]
    scatter(Q, length, one, two)


@inner
def bending_strain(mesh, piece, u):
    """``int v_x^2 + w_x^2 dx / 2``: what bending adds to the length of an element's axis."""
    one, two, n = mesh.ends[piece, 0], mesh.ends[piece, 1], u.shape[2]
    total = 0.0
    for i in range(2 * n):
        left = u[0, one, i] if i < n else u[0, two, i - n]
        for j in range(2 * n):
            total += left * mesh.elastic.slopes[piece, i, j] * (u[0, one, j] if j < n else u[0, two, j - n])
    return total / 2.0


@inner
def tension(mesh, piece, u):
    """Axial force by the mean strain ``(u_2 - u_1 + int v_x^2 + w_x^2 dx / 2) / length`` (von Karman)."""
    one, two = mesh.ends[piece, 0], mesh.ends[piece, 1]
    return mesh.elastic.EA[piece] / mesh.length[piece] * (u[0, two, 0] - u[0, one, 0] + bending_strain(mesh, piece, u))


@inner
def elastic(mesh, piece, u, one, two):
    """Add the elastic forces of an element to those on its nodes."""
    i1, i2, n = mesh.ends[piece, 0], mesh.ends[piece, 1], u.shape[2]
    for i in range(2 * n):
        force = 0.0
        for j in range(n):
            force += mesh.elastic.K[piece, i, j] * u[0, i1, j] + mesh.elastic.K[piece, i, n + j] * u[0, i2, j]
        if i < n:
            one[i] += force
        else:
            two[i - n] += force
    if mesh.elastic.stiffens[piece]:
        N, slopes = tension(mesh, piece, u), mesh.elastic.slopes
        more = mesh.elastic.EA[piece] / mesh.length[piece] * bending_strain(mesh, piece, u)
        one[0] -= more
        two[0] += more
        for i in range(2 * n):
            force = 0.0
            for j in range(n):
                force += slopes[piece, i, j] * u[0, i1, j] + slopes[piece, i, n + j] * u[0, i2, j]
            if i < n:
                one[i] += N * force
            else:
                two[i - n] += N * force


@inner
def arm(mesh, piece, i, n):
    """What a force along displacement i of an element does to its rigid link: rows of the wrench that it acts in, at
    once and by a lever, and that lever.
    """
    k = i if i < n else i - n
    x = mesh.field.P0[piece, 0, 0 if i < n else 2]  # of the node, on the axis
    if n == 3:
        row = 3 if k == 0 else 4 if k == 1 else 2
    else:
        row = 3 + k if k < 3 else k - 3
    return row, 2 if row == 4 else 1, x if row == 4 else -x if row == 5 else 0.0


@inner
def damping(plan, mesh, nodes, piece, motion, one, two, wrench):
    """Rayleigh's damping of an element, ``(alpha M + beta K) u_hat'``; returns the power that it takes.

    It is the derivative of ``u_hat' (alpha M + beta K) u_hat' / 2`` by the rates: whatever moves, it takes energy away,
    and no total momentum. The paper's has the rates ``T u'`` of (34), which lack the rate of T, and lets the part by
    mass act on the rigid link, too, ``alpha J' M u'`` in (35): that may give energy.

    Parameters
    ----------
    nodes : `problem.NodeMotion`, whose ``rates`` are ``u_hat'``, or ``T u'``.
    one, two, wrench : forces on the nodes and on the rigid link, which are added to.
    """
    B, spin, elastic = mesh.field.B, mesh.sections.spin, mesh.elastic
    u, rates = nodes.u, nodes.rates
    i1, i2, n = mesh.ends[piece, 0], mesh.ends[piece, 1], u.shape[2]
    alpha, beta = elastic.damping[piece, 0], elastic.damping[piece, 1]
    power = 0.0
    for i in range(2 * n):
        mass = 0.0
        force = 0.0
        for j in range(2 * n):
            rate = rates[i1, j] if j < n else rates[i2, j - n]
            inert = B[piece, 0, 0, i, j] + B[piece, 1, 1, i, j] + B[piece, 2, 2, i, j]
            mass += alpha * (inert + spin[piece, i, j]) * rate
            force += beta * elastic.K[piece, i, j] * rate
        force += mass
        k = i if i < n else i - n
        if i < n:
            one[k] += force
            power += force * u[1, i1, k]
        else:
            two[k] += force
            power += force * u[1, i2, k]
        if not plan.options.resists:
            continue
        row, turns, lever = arm(mesh, piece, i, n)
        wrench[row] += mass
        wrench[turns] += lever * mass
        power += mass * (motion[6 + row if row >= 3 else row] + lever * motion[turns])
    return power


@inner
def modal_damping(mesh, moving):
    """Modal damping of all beams, ``F F' u_hat'`` with factors F; returns the power that it takes.

    ``moving`` is a `problem.NodeMotion`, to whose forces f they are added; its swings are ``F' u_hat'`` of each beam.
    """
    u, rates, swings, f = moving.u, moving.rates, moving.swings, moving.f
    fill(swings, 0.0)
    nodes, n, m = mesh.nodes.modal.shape
    for node in range(nodes):
        for i in range(n):
            for j in range(m):
                swings[mesh.nodes.owner[node], j] += mesh.nodes.modal[node, i, j] * rates[node, i]
    power = 0.0
    for node in range(nodes):
        for i in range(n):
            force = 0.0
            for j in range(m):
                force += mesh.nodes.modal[node, i, j] * swings[mesh.nodes.owner[node], j]
            f[node, i] += force
            power += force * u[1, node, i]
    return power
