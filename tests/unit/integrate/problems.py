"""Right-hand sides and corrections with known solutions, as native functions."""

import numba
import numpy as np
from scipy.special import ellipj, ellipk

_F = numba.types.CPointer(numba.float64)
rhs = numba.cfunc(numba.void(_F, _F, _F, _F))
jacobian = numba.cfunc(numba.void(_F, _F, _F, _F, _F))
correction = numba.cfunc(numba.void(_F, _F, _F, _F, _F))


@rhs
def oscillator(t, x, w, dx):
    """x'' = -w^2 x."""
    dx[0] = x[1]
    dx[1] = -(w[0] ** 2) * x[0]


def oscillator_exact(t, w=2.0):
    """From (1, 0)."""
    return np.stack([np.cos(w * t), -w * np.sin(w * t)], axis=-1)


@rhs
def driven(t, x, w, dx):
    """Nonlinear and dependent on time, so that wrong nodes show."""
    dx[0] = np.cos(t[0]) * x[0]
    dx[1] = -2.0 * t[0] * x[1] * x[1]


def driven_exact(t):
    """From (1, 1) at time 0."""
    return np.stack([np.exp(np.sin(t)), 1.0 / (1.0 + t * t)], axis=-1)


@rhs
def relaxing(t, x, w, dx):
    """Back to cos(t) at the rate w[0], after Prothero and Robinson."""
    dx[0] = -w[0] * (x[0] - np.cos(t[0])) - np.sin(t[0])


@rhs
def quaternion(t, x, w, dx):
    """q' = q * (0, omega) / 2 with omega in body axes, for a rotation about a fixed axis after a spin."""
    s, a, b, c = x[0], x[1], x[2], x[3]
    o1 = w[1]
    o2 = w[0] * np.sin(w[1] * t[0])
    o3 = w[0] * np.cos(w[1] * t[0])
    dx[0] = 0.5 * (-a * o1 - b * o2 - c * o3)
    dx[1] = 0.5 * (s * o1 + b * o3 - c * o2)
    dx[2] = 0.5 * (s * o2 + c * o1 - a * o3)
    dx[3] = 0.5 * (s * o3 + a * o2 - b * o1)


def quaternion_exact(t, w):
    """From (1, 0, 0, 0): exp(z w_0 t / 2) * exp(x w_1 t / 2)."""
    cz, sz, cx, sx = np.cos(w[0] * t / 2), np.sin(w[0] * t / 2), np.cos(w[1] * t / 2), np.sin(w[1] * t / 2)
    return np.stack([cz * cx, cz * sx, sz * sx, sz * cx], axis=-1)


@correction
def normalise(t, x, w, x_plus, residual):
    """Length one."""
    square = x[0] ** 2 + x[1] ** 2 + x[2] ** 2 + x[3] ** 2
    residual[0] = abs(square - 1.0)
    residual[1] = 0.0
    for i in range(4):
        x_plus[i] = x[i] / np.sqrt(square)


@rhs
def pendulum(t, x, w, dx):
    """A point on a circle of radius 1 in Cartesian coordinates, gravity w[0] along -y."""
    force = (x[2] ** 2 + x[3] ** 2 - w[0] * x[1]) / (x[0] ** 2 + x[1] ** 2)
    dx[0] = x[2]
    dx[1] = x[3]
    dx[2] = -force * x[0]
    dx[3] = -force * x[1] - w[0]


@correction
def on_circle(t, x, w, x_plus, residual):
    """One Newton step to |p| = 1, and the velocity made tangent."""
    square = x[0] ** 2 + x[1] ** 2
    c = 0.5 * (square - 1.0)
    rate = x[0] * x[2] + x[1] * x[3]
    residual[0] = abs(c)
    residual[1] = abs(rate)
    for i in range(2):
        x_plus[i] = x[i] - x[i] * c / square
        x_plus[2 + i] = x[2 + i] - x[i] * rate / square


def pendulum_exact(t, gravity, angle=2.0):
    """Released at rest at `angle` from the bottom, by elliptic functions."""
    k = np.sin(angle / 2)
    omega = np.sqrt(gravity)
    sn, cn, _, _ = ellipj(omega * t + ellipk(k * k), k * k)
    theta, rate = 2 * np.arcsin(k * sn), 2 * k * omega * cn
    position = np.stack([np.sin(theta), -np.cos(theta)], axis=-1)
    return np.concatenate([position, rate[..., None] * np.stack([np.cos(theta), np.sin(theta)], axis=-1)], axis=-1)


@rhs
def root(t, x, w, dx):
    """x_1' = -sqrt(x_1): zero at t = 2 from 1, and not a number beyond."""
    dx[0] = 1.0
    dx[1] = -np.sqrt(x[1])


@rhs
def blow_up(t, x, w, dx):
    """x' = x^2: infinite at t = 1 from 1."""
    dx[0] = x[0] ** 2


@correction
def never(t, x, w, x_plus, residual):
    """A correction that gets nowhere; w holds the size of the state and the residual, negative for nan."""
    for i in range(int(w[0])):
        x_plus[i] = x[i]
    residual[0] = w[1] if w[1] >= 0.0 else np.nan
    residual[1] = 0.0


@jacobian
def oscillator_jac(t, x, w, entries, rate):
    """All entries, column after column."""
    entries[0], entries[1], entries[2], entries[3] = 0.0, -(w[0] ** 2), 1.0, 0.0
    rate[0] = rate[1] = 0.0


@jacobian
def driven_jac(t, x, w, entries, rate):
    entries[0], entries[1], entries[2], entries[3] = np.cos(t[0]), 0.0, 0.0, -4.0 * t[0] * x[1]
    rate[0] = -np.sin(t[0]) * x[0]
    rate[1] = -2.0 * x[1] * x[1]


@jacobian
def quaternion_jac(t, x, w, entries, rate):
    s, a, b, c = x[0], x[1], x[2], x[3]
    o1 = w[1]
    o2 = w[0] * np.sin(w[1] * t[0])
    o3 = w[0] * np.cos(w[1] * t[0])
    p2, p3 = w[1] * o3, -w[1] * o2
    J = numba.carray(entries, (4, 4))  # J[j, i] is row i of column j
    J[:] = 0.0
    J[0, 1], J[0, 2], J[0, 3] = 0.5 * o1, 0.5 * o2, 0.5 * o3
    J[1, 0], J[1, 2], J[1, 3] = -0.5 * o1, -0.5 * o3, 0.5 * o2
    J[2, 0], J[2, 1], J[2, 3] = -0.5 * o2, 0.5 * o3, -0.5 * o1
    J[3, 0], J[3, 1], J[3, 2] = -0.5 * o3, -0.5 * o2, 0.5 * o1
    rate[0] = 0.5 * (-b * p2 - c * p3)
    rate[1] = 0.5 * (b * p3 - c * p2)
    rate[2] = 0.5 * (s * p2 - a * p3)
    rate[3] = 0.5 * (s * p3 + a * p2)


@jacobian
def pendulum_jac(t, x, w, entries, rate):
    r = x[0] ** 2 + x[1] ** 2
    force = (x[2] ** 2 + x[3] ** 2 - w[0] * x[1]) / r
    J = numba.carray(entries, (4, 4))  # J[j, i] is row i of column j
    J[:] = 0.0
    J[2, 0] = J[3, 1] = 1.0
    slope = (-2.0 * force * x[0] / r, (-w[0] - 2.0 * force * x[1]) / r, 2.0 * x[2] / r, 2.0 * x[3] / r)
    for j in range(4):
        J[j, 2] = -slope[j] * x[0]
        J[j, 3] = -slope[j] * x[1]
        rate[j] = 0.0
    J[0, 2] -= force
    J[1, 3] -= force


@jacobian
def root_jac(t, x, w, entries, rate):
    entries[0] = entries[1] = entries[2] = 0.0
    entries[3] = -0.5 / np.sqrt(x[1])
    rate[0] = rate[1] = 0.0


@jacobian
def blow_up_jac(t, x, w, entries, rate):
    entries[0] = 2.0 * x[0]
    rate[0] = 0.0


_JACOBIANS = {
    f.address: j
    for f, j in (
        (oscillator, oscillator_jac),
        (driven, driven_jac),
        (quaternion, quaternion_jac),
        (pendulum, pendulum_jac),
        (root, root_jac),
        (blow_up, blow_up_jac),
    )
}


def jac(solver, problem):
    """The option that an implicit solver needs."""
    return {"jac": _JACOBIANS[problem.address].address} if solver.implicit else {}


def step_options(solver, h):
    """Options that make any solver take steps of length `h`: loose tolerances, and a limit."""
    if solver.adaptive:
        exact = {"newton": 2e-20} if solver.implicit else {}  # the step alone is loose
        return {"rtol": 1e9, "atol": 1e9, "first_step": h, "max_step": h} | exact
    return {"step": h}


def tight(solver):
    """Options for an error near 1e-9 on the problems of this file."""
    return {"rtol": 1e-11, "atol": 1e-11} if solver.adaptive else {"step": 1e-3}
