"""Sections of a beam turn as rigid bodies do: what their inertia does to the nodes, and to the link.

A section that has turned by the small rotation vector theta against its link, which turns with omega, has in its own
axes the angular velocity

    omega_s = omega + e - theta x e / 2,        e = theta' + omega x theta

but for third powers. With j its moments of inertia, the kinetic energy up to second powers of theta is

    T = omega' j omega / 2 + (j omega)' (e - theta x e / 2) + e' j e / 2

and Lagrange's equations give the moments on theta and on the link. Undeformed both are ``j omega' + omega x j omega``:
a beam that spins and is yawed bends at once. In first powers it is Euler's equation of the turned section; in a plane
all that is left is ``jz (omega' + theta'')``.
"""

from closedchain.native.memory import inner


@inner
def cross(a, b):
    """Vector product of tuples."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@inner
def plus(a, b, factor):
    """``a + factor b`` of tuples."""
    return a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]


@inner
def times(j, a):
    """Moments of inertia times a vector."""
    return j[0] * a[0], j[1] * a[1], j[2] * a[2]


@inner
def row(a, i):
    """A row of an array with three columns, as a tuple."""
    return a[i, 0], a[i, 1], a[i, 2]


@inner
def turned(section, one, two):
    """How a section turns by displacements of the nodes: (rx, -dw/dx, dv/dx).

    ``section`` (6,) has its weight, its place between 0 and 1, and the slopes of the four functions of the field there.
    """
    s, a, b, c, d = section[1], section[2], section[3], section[4], section[5]
    return (
        (1.0 - s) * one[3] + s * two[3],
        b * one[4] + d * two[4] - a * one[2] - c * two[2],
        a * one[1] + b * one[5] + c * two[1] + d * two[5],
    )


@inner
def section_moments(j, omega, omega_dot, theta, theta_dot, theta_ddot):
    """Moments by length on theta (linear in theta and its rates) and on the link (quadratic), two tuples."""
    e = plus(theta_dot, cross(omega, theta), 1.0)
    e_dot = plus(plus(theta_ddot, cross(omega_dot, theta), 1.0), cross(omega, theta_dot), 1.0)
    h, more = times(j, omega), times(j, e)
    gyroscopic = cross(e, h)

    # on theta: d/dt (dT/dtheta') - dT/dtheta
    rigid = plus(times(j, omega_dot), cross(omega, h), 1.0)
    m = plus(plus(rigid, cross(theta, rigid), 0.5), times(j, e_dot), 1.0)
    m = plus(plus(m, cross(omega, more), 1.0), gyroscopic, 1.0)

    # on the link: H' + omega x H with H = dT/domega = j omega_s + theta x p, and p = dT/dtheta'
    p = plus(plus(h, more, 1.0), cross(theta, h), 0.5)
    spin = plus(plus(omega, e, 1.0), cross(theta, e), -0.5)
    spin_dot = plus(plus(omega_dot, e_dot, 1.0), plus(cross(theta_dot, e), cross(theta, e_dot), 1.0), -0.5)
    link = plus(times(j, spin_dot), cross(omega, times(j, spin)), 1.0)
    link = plus(plus(link, cross(theta, plus(m, gyroscopic, -0.5)), 1.0), cross(e, p), 1.0)
    return m, link
