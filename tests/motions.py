"""Motions for tests: smooth random paths of independent coordinates, for any mechanism."""

import numpy as np
from scipy.linalg import qr

import closedchain as cc
from closedchain.derive.equations import derive
from closedchain.pose.inverse import terms
from closedchain.pose.state import parameter_vector


def independent_coordinates(m, state, among=None):
    """As many coordinates as the mechanism has freedoms, well chosen: none of quaternions, or some of those named."""
    e = derive(m)
    rest = np.zeros((1, e.topology.nv))
    one = terms(e, (), np.array([state.t]), state.q[None], rest, rest, parameter_vector(m, state.parameters), state)
    N, freedoms = one.motions, one.freedoms
    rows = {
        label: link.v.start + k
        for link in e.topology.links
        if not link.joint.type.has_quaternion
        for k, label in enumerate(link.joint.velocity_labels())
        if among is None or label in among
    }
    order = qr(N[0][list(rows.values())].T, pivoting=True, mode="r")[1][:freedoms]
    return [list(rows)[i] for i in order]


def gentle(m, state, rng, size=0.05, among=None):
    """Coordinates that swing about where they are at the state: through it at time zero, but not at rest."""
    out = {}
    for label in independent_coordinates(m, state, among):
        amplitude, speed, phase = size * rng.uniform(0.5, 1.0), rng.uniform(2, 5), rng.uniform(0, 2 * np.pi)
        out[label] = state[label] + amplitude * (cc.math.sin(speed * cc.t + phase) - np.sin(phase))
    return out


def moving_erls(made, rng, size=1e-3, rates=0.1, speeds=2.0):
    """A state of an ERLS system that moves and is deformed, with zeroed displacements zero: y, v, a."""
    y, _ = made.at_rest()
    y[: -made.n_q] += size * rng.normal(size=made.n - made.n_q)
    v, a = rng.normal(size=(2, made.n)) * np.r_[np.full(made.n - made.n_q, rates), np.full(made.n_q, speeds)]
    for x in (v, a, y):
        x[made.zeroed] = 0.0
    return y, v, a
