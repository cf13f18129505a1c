"""Inverse dynamics of every library mechanism on random paths: three roads, forward dynamics, and the way back."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.derive.equations import derive
from closedchain.model.library import MECHANISMS
from closedchain.results.efforts.actuators import actuated, label
from closedchain.results.efforts.along import METHODS
from tests.motions import gentle

# the same mechanisms with nothing that drives them
BARE = {
    "four-bar": lambda: cc.library.four_bar(torque=0.0),
    "slider-crank": lambda: cc.library.slider_crank(torque=0.0, g=9.81),
    "five-bar": lambda: cc.library.five_bar(torques=(0.0, 0.0)),
    "gough-stewart": lambda: cc.library.gough_stewart(drive="none"),
    "pacdrive": lambda: cc.library.pacdrive(drive="none"),
    "delta": lambda: cc.library.delta(drive="none"),
    "hexaglide": lambda: cc.library.hexaglide(drive="none"),
    "arms-with-box": lambda: cc.library.arms_with_box(drive="none"),
    "hexapod": lambda: cc.library.hexapod(drive="none"),
    "walker": lambda: cc.library.walker(drive="none"),
}


def motors(name):
    """The coordinates that have motors in the library; all independent ones where there are none."""
    m = MECHANISMS[name].build()
    return [label(m, x) for x in actuated(m)] if m.motors else None


def bare(name):
    return BARE.get(name, MECHANISMS[name].build)()


@pytest.fixture(scope="module", params=list(MECHANISMS))
def case(request):
    """A mechanism, a motion of it on a random path, its actuators, and as many of them as it has freedoms."""
    m = bare(request.param)
    rng = np.random.default_rng(list(MECHANISMS).index(request.param))
    start = m.assemble()
    actuators = motors(request.param)
    # a singular pose of its rails is 3 cm away from the start of the hexaglide
    along = gentle(m, start, rng, 0.01 if request.param == "hexaglide" else 0.05, among=actuators)
    motion = cc.follow(m, along, until=1.0, samples=26, guess=start)
    return m, motion, actuators or list(along), list(along)


def test_three_roads_lead_to_the_same_efforts(case):
    m, motion, _, independent = case
    found = [cc.inverse_dynamics(m, motion, actuators=independent, method=method).tau for method in METHODS]
    size = np.abs(found[0]).max()
    # rounding; the actuators of the walking machines are far from holding it well
    assert all(np.abs(other - found[0]).max() < 1e-11 * size for other in found[1:])


def test_forward_dynamics_has_the_accelerations_of_the_path(case):
    m, motion, actuators, _ = case
    need = cc.inverse_dynamics(m, motion, actuators=actuators)
    e = derive(m)
    rows = [e.measures.velocity_row(joint, index)[0] for joint, index in need.freedoms]
    traced = {"M": e.M, "h": e.h, "tau": e.tau, "A": e.closure.A, "gamma": e.closure.gamma}
    f = e.function("dense", traced | {f"B{k}": row for k, row in enumerate(rows)})
    for k in range(0, len(motion.t), 5):
        M, h, tau, A, gamma, *B = (np.array(x) for x in f(motion.t[k], motion.q[k], motion.v[k], motion.samples.p))
        push = (tau - h).ravel() + np.vstack(B).T @ need.tau[k]
        K = np.block([[M, A.T], [A, np.zeros((len(A), len(A)))]])
        a = np.linalg.lstsq(K, np.concatenate([push, -gamma.ravel()]), rcond=1e-12)[0][: len(M)]
        assert np.abs(a - motion.a[k]).max() < 1e-9 * max(1.0, np.abs(motion.a[k]).max())


def test_power_of_the_actuators_is_the_rate_of_energy(case):
    """Nothing else drives or resists: what goes in is the change of the energy, to the accuracy of the integral."""
    m, motion, actuators, _ = case
    if m.joint_dampers or any(x.friction for x in m.joints.values()):
        pytest.fail("the library has a mechanism with friction now: leave its losses out of this balance")
    fine = cc.follow(m, {x: motion.reference(x) for x in case[3]}, until=1.0, samples=201, guess=motion.start)
    need = cc.inverse_dynamics(m, fine, actuators=actuators)
    e = derive(m)
    f = e.function("energy", {"E": e.energies.kinetic + e.energies.potential})
    energy = np.array([float(f(t, q, v, fine.samples.p)) for t, q, v in zip(fine.t, fine.q, fine.v, strict=True)])
    power = need["power"].values
    h = fine.t[1] - fine.t[0]
    # Simpson's rule over pairs of steps: errors of h^4 / 180 times the fourth derivative, which is below 1e4 here
    work = np.cumsum((power[:-2:2] + 4 * power[1:-1:2] + power[2::2]) * h / 3)
    assert np.abs(energy[2::2] - energy[0] - work).max() < 1e-6 * max(np.abs(power).max(), 1e-3)
