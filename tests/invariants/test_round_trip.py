"""Efforts from inverse dynamics, fed to forward dynamics without any feedback, return the path.

Open loop, for a time that is short enough that no unstable motion grows by more than some ten times; where it grows
faster (a platform on legs that are pushed from below is an inverted pendulum) the bound says so. Computed torques along
longer paths, with a stabilising loop, are in `test_path_following`.
"""

import numpy as np
import pytest

import closedchain as cc
from closedchain.model.library import MECHANISMS
from tests.agreement.test_inverse_dynamics import bare, motors
from tests.motions import gentle

UNTIL = 0.4


@pytest.mark.parametrize("name", list(MECHANISMS))
def test_torques_return_the_path(name):
    m = bare(name)
    rng = np.random.default_rng(100 + list(MECHANISMS).index(name))
    start = m.assemble()
    actuators = motors(name)
    along = gentle(m, start, rng, 0.01 if name == "hexaglide" else 0.05, among=actuators)
    motion = cc.follow(m, along, until=UNTIL, samples=41, guess=start)
    need = cc.inverse_dynamics(m, motion, actuators=actuators or list(along))

    # the same mechanism, driven by functions of time
    driven = bare(name)
    for label, unit in need.units.items():
        joint, index = need.freedoms[need.actuators.index(label)]
        effort = {"torque" if unit == "N m" else "force": need.signal(label)}
        driven.motor(joint, **effort, coordinate=index, name=f"{label} given")
    state = cc.State(driven, motion.q[0], motion.v[0])
    run = cc.simulate(driven, state, UNTIL, rtol=1e-10, t_eval=motion.t)
    off = max(float(np.abs(run[x].values - motion[x].values).max()) for x in motion.scalars)
    # the splines of the efforts are off by 1e-9 of their size, the run by as much; growth in 0.4 s is below 100
    assert off < 1e-7
