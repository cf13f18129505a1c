"""Efforts from inverse dynamics, fed to forward dynamics without any feedback, return the path.

Open loop, for 0.4 s. A deviation of the start grows in that time at most 2 times on most mechanisms of the library, 7
to 19 times on Gough-Stewart, hexapod and walker, and 290 times on the arms with their box; efforts are splines through
samples, and runs have rtol 1e-10. Computed torques along longer paths, with a stabilising loop, are in
`test_path_following`.
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
    assert off < 1e-8  # measured: 1e-11 to 2e-9


FRAMES = {
    "five-bar": (0.05, False),
    "rrr3": (0.05, True),
    "delta": (0.08, False),
    "gough-stewart": (0.05, True),
}


@pytest.mark.parametrize("name", list(FRAMES))
def test_torques_return_the_path_of_a_frame(name):
    """The output goes along a circle, from rest to rest; its orientation is kept where it is free."""
    size, kept = FRAMES[name]
    m = bare(name)
    at = cc.follow(m, gentle(m, m.assemble(), np.random.default_rng(0)), t_eval=[0.0]).frame(m.output)
    place = at["position"].values[0]
    path = cc.paths.circle(size, duration=UNTIL, centre=tuple(place - [size, 0, 0]))
    path = path.oriented(at["rotation"].values[0]) if kept else path
    motion = cc.follow(m, {m.output: path}, samples=81)
    need = cc.inverse_dynamics(m, motion, actuators=motors(name))
    driven = bare(name)
    for label, unit in need.units.items():
        effort = {"torque" if unit == "N m" else "force": need.signal(label)}
        driven.motor(need.freedoms[need.actuators.index(label)][0], **effort, name=f"{label} given")
    run = cc.simulate(driven, cc.State(driven, motion.q[0], motion.v[0]), UNTIL, rtol=1e-10, t_eval=motion.t)
    off = np.abs(run.frame(driven.output)["position"].values - path.at(motion.t).value).max()
    assert off < 1e-7  # thinned splines of the efforts, 1e-8 of their range, and what grows
