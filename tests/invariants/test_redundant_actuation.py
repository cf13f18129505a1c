"""A 4-RRR: four motors for three freedoms. Any preload moves it the same way; without one the efforts are smallest."""

import math

import numpy as np
import pytest

import closedchain as cc
from closedchain.derive.equations import derive

UNTIL = 1.0


def rrr4(efforts=None):
    """A square platform on four legs of two rods in a vertical plane, so that gravity has something to do."""
    m = cc.Mechanism("4-RRR", gravity=(0, -9.81, 0))
    platform = m.body("platform", cc.rigid(mass=5.0, inertia=(0.03, 0.03, 0.06)))
    for k in range(4):
        polar = math.pi / 4 + k * math.pi / 2
        out, turn = np.array([math.cos(polar), math.sin(polar), 0.0]), polar + 2.0
        upper = m.body(f"upper{k}", cc.rod(length=0.4, mass=2.0))
        lower = m.body(f"lower{k}", cc.rod(length=0.5, mass=1.5))
        m.revolute(f"motor{k}", m.ground.at(*(0.7 * out)), upper, guess=turn)
        m.revolute(f"elbow{k}", upper.tip, lower, guess=1.5)
        m.revolute(f"wrist{k}", lower.tip, platform.at(*(0.15 * out)), guess=-turn - 1.5)
        m.motor(f"motor{k}", torque=0.0 if efforts is None else efforts[k])
    return m


@pytest.fixture(scope="module")
def motion():
    m = rrr4()
    s = cc.math.sin(cc.pi * cc.t) ** 2
    pose = (0.06 * s, 0.04 * cc.math.sin(2 * cc.pi * cc.t) * s, 0.0)
    c, d = cc.math.cos(0.2 * s), cc.math.sin(0.2 * s)
    turned = cc.paths.Path(pose, ((c, -d, 0.0), (d, c, 0.0), (0.0, 0.0, 1.0)), UNTIL)
    return cc.follow(m, {"platform": turned}, samples=101)


PRELOADS = {
    "none": None,
    "a wrench on one motor": {"motor2": 30.0},
    "all alike": {f"motor{k}": 12.0 for k in range(4)},
    "growing": {"motor0": lambda t: 20 * t, "motor3": lambda t: -5 * cc.math.cos(t)},
}


@pytest.mark.parametrize("preload", PRELOADS.values(), ids=list(PRELOADS))
def test_any_preload_gives_the_same_motion(motion, preload):
    need = cc.inverse_dynamics(motion.mechanism, motion, preload=preload)
    assert need.redundancy == 1 and need.tau.shape == (101, 4)
    m = rrr4([need.signal(name) for name in need.actuators])
    start = cc.State(m, motion.q[0], motion.v[0])
    run = cc.simulate(m, start, UNTIL, rtol=1e-10, t_eval=motion.t)
    off = max(float(np.abs(run[x].values - motion[x].values).max()) for x in motion.scalars)
    # splines through 101 samples are off by 1e-9 of the torques; the motion is unstable and lets errors grow tenfold
    assert off < 1e-7


def test_without_preload_the_efforts_are_the_smallest(motion):
    m = motion.mechanism
    least = cc.inverse_dynamics(m, motion).tau
    rng = np.random.default_rng(4)
    for _ in range(20):
        wanted = {f"motor{k}": float(x) for k, x in enumerate(rng.normal(0, 10, 4))}
        other = cc.inverse_dynamics(m, motion, preload=wanted)
        assert (np.linalg.norm(least, axis=1) <= np.linalg.norm(other.tau, axis=1) * (1 + 1e-12)).all()
        # what was added are internal forces, and what is missing of the wish moves the platform
        added = other.tau - least
        internal = other.internal[:, :, 0] / np.linalg.norm(other.internal[:, :, 0], axis=1, keepdims=True)
        share = (added * internal).sum(axis=1)
        assert np.abs(added - share[:, None] * internal).max() < 1e-9
        assert share == pytest.approx(internal @ np.array(list(wanted.values())), abs=1e-9)


def test_internal_forces_do_nothing(motion):
    """``(B N)' internal = 0``: with a basis N of its own, from the velocities of three motors."""
    m = motion.mechanism
    need = cc.inverse_dynamics(m, motion)
    e = derive(m)
    traced = {"A": e.closure.A, "B": e.measures.jacobian(m.joints["motor0"])}
    traced |= {f"B{k}": e.measures.jacobian(m.joints[f"motor{k}"]) for k in range(1, 4)}
    f = e.function("rows", traced)
    for k in range(0, 101, 20):
        A, *B = (np.array(x) for x in f(motion.t[k], motion.q[k], motion.v[k], motion.samples.p))
        B = np.vstack(B)
        K = np.vstack([A, B[:3]])
        N = np.linalg.lstsq(K, np.vstack([np.zeros((len(A), 3)), np.eye(3)]), rcond=1e-12)[0]
        assert np.abs(need.internal[k, :, 0] @ B @ N).max() < 1e-10


def test_weights_shift_the_load(motion):
    m = motion.mechanism
    plain = cc.inverse_dynamics(m, motion)
    dear = cc.inverse_dynamics(m, motion, weights={"motor1": 100.0})
    rms = lambda need: float(np.sqrt((need["motor1"].values ** 2).mean()))  # noqa: E731
    assert rms(dear) < 0.5 * rms(plain)
    # least sum of weight times square: no internal force makes it smaller
    w = np.array([1.0, 100.0, 1.0, 1.0])
    gradient = (w * dear.tau * dear.internal[:, :, 0]).sum(axis=1)
    assert np.abs(gradient).max() < 1e-8 * (w * np.abs(dear.tau * dear.internal[:, :, 0])).sum(axis=1).max()


def test_cross_checks_need_as_many_motors_as_freedoms(motion):
    with pytest.raises(cc.ModelError, match=r"4 actuators move 3 freedoms"):
        cc.inverse_dynamics(motion.mechanism, motion, method="denoc")
    three = [f"motor{k}" for k in range(3)]
    a, b, c = (cc.inverse_dynamics(motion.mechanism, motion, actuators=three, method=x).tau
               for x in ("projection", "virtual-spring", "denoc"))  # fmt: skip
    assert max(np.abs(a - b).max(), np.abs(a - c).max()) < 1e-11 * np.abs(a).max()


def test_two_motors_cannot_move_three_freedoms(motion):
    with pytest.raises(cc.ModelError, match=r"N m? along '.*' are missing.* 2 actuators cannot choose 3 freedoms"):
        cc.inverse_dynamics(motion.mechanism, motion, actuators=["motor0", "motor1"])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"preload": {"motor9": 1.0}}, r"preload: no actuator is named 'motor9'.*did you mean"),
        ({"preload": 3.0}, r"preload takes a mapping by the name of the actuator, not 3\.0"),
        ({"preload": {"motor0": lambda t: 1 / 0}}, None),
        ({"weights": {"motor0": -1.0}}, r"weight of 'motor0' must be a positive number, not -1\.0"),
        ({"actuators": "motor0"}, r"actuators takes a list"),
        ({"actuators": ["motor0", "motor0"]}, r"'motor0' is named twice"),
        ({"actuators": ["motr0"]}, r"no joint or coordinate is named 'motr0'.*did you mean 'motor0'"),
        ({"method": "newton"}, r"method must be 'projection', 'virtual-spring' or 'denoc', not 'newton'"),
        ({"until": 2.0}, r"a motion has its times and parameters already: leave out until"),
        ({"samples": 11, "open_joints": ()}, r"a motion has its times .* already: leave out samples, open_joints"),
    ],
)
def test_wrong_words_are_refused(motion, options, sentence):
    if sentence is None:
        with pytest.raises(ZeroDivisionError):  # an error inside a user's own function is the user's own
            cc.inverse_dynamics(motion.mechanism, motion, **options)
        return
    with pytest.raises(cc.ModelError, match=sentence):
        cc.inverse_dynamics(motion.mechanism, motion, **options)
