"""What the tests of linearised equations compare with: differences of the equations that are simulated.

Nothing here uses `pose.tangent`: closed neighbours are found by Newton steps for the dependent coordinates, their
accelerations are those of `Multipliers`, and derivatives are central differences of sixth order.
"""

from dataclasses import replace

import numpy as np

import closedchain as cc
from closedchain.derive.equations import derive
from closedchain.march.program.compiled import compiled
from closedchain.pose.closing import functions
from closedchain.pose.redundancy import independent_rows
from closedchain.pose.state import State, parameter_vector

STEP = 2e-3  # rounding of 1e-14 over it, and its sixth power, are both below 1e-10
WEIGHTS = {-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12}


def derivative(f, step=STEP):
    """f'(0) by central differences of sixth order: Richardson's extrapolation of the fourth-order ones."""

    def fourth(h):
        return sum(w * np.asarray(f(k * h)) for k, w in WEIGHTS.items()) / h

    return (16 * fourth(step / 2) - fourth(step)) / 15


def _velocity(displacement):
    """The velocity that belongs to a displacement by name: rotations and shifts have names of their own."""
    for word, letter in (("turn ", "w"), ("shift ", "v")):
        displacement = displacement.replace(f".{word}", f".{letter}")
    return displacement


class Dynamics:
    """Closed states near a given one, and their accelerations, by independent displacements and velocities."""

    def __init__(self, state: State, independent):
        self.state, self.e = state, derive(state.mechanism)
        self.rows = list(independent_rows(self.e, state).kept)
        self.I = [self.e.topology.v_labels.index(_velocity(x)) for x in independent]
        self.D = [k for k in range(self.e.topology.nv) if k not in self.I]
        self.f = functions(self.e)
        self.program = compiled(state, cc.Multipliers())

    def terms(self, q, p, t):
        _, A, c_t, _ = (np.array(x) for x in self.f["residual"](t, q, np.zeros(len(self.state.v)), p))
        return A[self.rows], c_t[self.rows, 0]

    def neighbour(self, y, nu, p=None, t=None) -> State:
        """The state displaced by y along the independent velocities, which become nu."""
        p = parameter_vector(self.state.mechanism, self.state.parameters) if p is None else p
        t = self.state.t if t is None else t
        q = self.state.q
        A, _ = self.terms(q, p, t)
        d = np.zeros(len(self.state.v))
        d[self.I] = y
        d[self.D] = -np.linalg.solve(A[:, self.D], A[:, self.I] @ y)
        zero = np.zeros_like(d)
        q = np.array(self.f["retract"](t, q, d, p)).ravel()
        for _ in range(8):
            c, A = (np.array(x)[self.rows] for x in self.f["residual"](t, q, zero, p)[:2])
            d = zero.copy()
            d[self.D] = -np.linalg.solve(A[:, self.D], c[:, 0])
            q = np.array(self.f["retract"](t, q, d, p)).ravel()
        A, c_t = self.terms(q, p, t)
        v = zero.copy()
        v[self.I] = nu
        v[self.D] = -np.linalg.solve(A[:, self.D], A[:, self.I] @ nu + c_t)
        return replace(self.state, q=q, v=v)

    def accelerations(self, state, p=None):
        p = parameter_vector(state.mechanism, state.parameters) if p is None else p
        x = self.program.pack(state.q, state.v)
        return self.program.rhs(state.t, x, p)[len(state.q) : -1][self.I]

    def jacobian(self, of):
        """Derivatives of a function of a state by displacements and velocities."""
        n, nu = len(self.I), self.state.v[self.I]
        columns = [derivative(lambda h, k=k: of(self.neighbour(h * np.eye(n)[k], nu))) for k in range(n)]
        columns += [derivative(lambda h, k=k: of(self.neighbour(np.zeros(n), nu + h * np.eye(n)[k]))) for k in range(n)]
        return np.column_stack(columns)


def in_mode(about, k, size):
    """The nonlinear state next to an equilibrium that moves in mode number k (from 0)."""
    mode = about.mode_table.isel(mode=k)
    shape = mode["shape"].sel(coordinate=list(about.independent)).values
    rate = complex(mode["eigenvalue"]) * shape
    return Dynamics(about.state, about.independent).neighbour(size * shape.real, size * rate.real)


def peaks(t, z, count):
    """The frequencies (Hz) of the largest peaks of a spectrum, rising.

    The spectrum of a Gaussian window is a parabola in logarithms, so that three points give its top; at the ends of the
    record the window has fallen to 3e-9.
    """
    window = np.exp(-0.5 * ((t - t.mean()) / (0.08 * np.ptp(t))) ** 2)
    size = np.log(np.abs(np.fft.rfft((z - z.mean()) * window)) + 1e-300)
    tops = [k for k in range(1, len(size) - 1) if size[k - 1] < size[k] >= size[k + 1]]
    found = []
    for k in sorted(tops, key=lambda k: -size[k])[:count]:
        left, top, right = size[k - 1 : k + 2]
        found.append((k + 0.5 * (left - right) / (left - 2 * top + right)) / (len(t) * (t[1] - t[0])))
    return np.sort(found)


def decay(t, z):
    """The eigenvalue (1/s, upper half plane) of one damped oscillation: a linear recursion fitted to its samples."""
    a, b = np.linalg.lstsq(np.column_stack([z[1:-1], z[:-2]]), z[2:], rcond=None)[0]
    root = max(np.roots([1, -a, -b]).astype(complex), key=lambda x: x.imag)
    return np.log(root) / (t[1] - t[0])
