"""Control laws: which coordinates they drive, where these are to be, and the efforts of PD control."""

import math

import pytest

import closedchain as cc
from closedchain.derive.equations import derive
from closedchain.model.expressions.expression import Expression
from closedchain.model.forces.control import PD, TracedLaw, traced_laws

T, Q, V = 0.4, 0.7, -0.3


def value(m, effort):
    """An effort at time T, with coordinates Q and velocities V."""

    def leaf(node):
        if node.op == "parameter":
            return m.parameters[node.args[0]]
        return {"time": T, "coordinate": Q, "velocity": V}[node.op]

    return float(effort.evaluate(leaf))


def hinge_and_table():
    m = cc.Mechanism("hinge and table")
    arm, table = m.body("arm", cc.rod(length=1.0, mass=1.0, radius=0.1)), m.body("table", cc.box((1, 1, 0.1), mass=2.0))
    m.revolute("hinge", m.ground, arm)
    m.planar("slide", m.ground, table)
    m.spherical("ball", arm.tip, m.body("bob", cc.ball(radius=0.1, mass=1.0)))
    return m


class Motion:
    """As `cc.follow` gives one."""

    def __init__(self, **references):
        self.references = references

    def reference(self, label):
        return self.references[label]


class Efforts:
    """As `cc.inverse_dynamics` gives them."""

    def signal(self, name):
        return 3.0 * cc.t if name == "hinge" else -cc.t


def test_pd_is_its_formula():
    m = hinge_and_table()
    law = PD({"hinge": cc.math.sin(2 * cc.t), "slide.x": lambda t: t**2}, kp=50.0, kd=4.0)
    efforts = law.efforts(m)
    r = math.sin(2 * T), T**2
    r_rate = 2 * math.cos(2 * T), 2 * T
    for label, reference, rate in zip(("hinge", "slide.x"), r, r_rate, strict=True):
        assert value(m, efforts[label]) == pytest.approx(50.0 * (reference - Q) + 4.0 * (rate - V), rel=1e-14)
    leaves = {str(leaf) for leaf in efforts["slide.x"].leaves()}
    assert leaves == {"t", "control.kp", "control.kd", "q[slide.x]", "v[slide.x]"}


def test_motors_are_drawn_where_the_law_acts():
    m = hinge_and_table()
    motors = m.control(PD({"hinge": 0.5, "slide.y": 1.0}, kp=50.0, kd=4.0))
    assert {label: (x.name, x.joint, x.index) for label, x in motors.items()} == {
        "hinge": ("hinge.control", "hinge", 0),
        "slide.y": ("slide.y.control", "slide", 1),
    }
    assert traced_laws(m) == []


def test_a_path_is_a_reference():
    m = hinge_and_table()
    path = cc.paths.line(0.0, 1.0, duration=2.0)
    effort = PD({"hinge": path}, kp=1.0, kd=0.0).efforts(m)["hinge"]
    assert value(m, effort) == pytest.approx(float(path.at(T).value) - Q, rel=1e-14)


# ---- numbers ---------------------------------------------------------------------------------------------------------


def test_gains_are_parameters():
    m = hinge_and_table()
    m.control(PD({"hinge": 0.5, "slide.x": 0.1}, kp={"hinge": 50.0, "slide.x": 70.0}, kd=4.0, limit={"hinge": 9.0}))
    assert {k: x for k, x in m.parameters.items() if "control" in k} == {
        "hinge.control.kp": 50.0,
        "slide.x.control.kp": 70.0,
        "control.kd": 4.0,
        "hinge.control.limit": 9.0,
    }
    before = value(m, m.motors["slide.x.control"].effort)
    m.parameters["slide.x.control.kp"] = 170.0
    assert value(m, m.motors["slide.x.control"].effort) - before == pytest.approx(100.0 * (0.1 - Q))


def test_a_second_law_has_parameters_of_its_own():
    m = hinge_and_table()
    m.control(PD({"hinge": 0.5}, kp=50.0, kd=4.0))
    m.control(PD({"slide.x": 0.5}, kp={"slide.x": 60.0}, kd=0.0))
    m.control(PD({"slide.y": 0.5}, kp=70.0, kd=0.0, name="servo"))
    names = [name for name in m.parameters if name.endswith(".kp")]
    assert names == ["control.kp", "slide.x.control2.kp", "servo.kp"]


def test_gains_that_are_parameters_already():
    m = hinge_and_table()
    kp = m.parameter("stiffness", 30.0)
    effort = PD({"hinge": 0.5}, kp=2 * kp, kd={"hinge": 0.0}).efforts(m)["hinge"]
    assert value(m, effort) == pytest.approx(60.0 * (0.5 - Q))
    assert "control.kp" not in m.parameters and not any("kd" in name for name in m.parameters)  # zero is structure


def test_a_formula_for_a_gain_is_not_negative_either():
    m = hinge_and_table()
    stiffness = m.parameter("stiffness", 30.0)
    with pytest.raises(cc.ModelError, match=r"control\.kp is -60, but must be at least 0"):
        m.control(PD({"hinge": 1.0}, kp=-2 * stiffness, kd=0.0))


@pytest.mark.parametrize(("limit", "expected"), [(4.0, -4.0), ({"hinge": 6.0}, -6.0), ({}, -20.0), (0.0, 0.0)])
def test_limits(limit, expected):
    m = hinge_and_table()
    effort = PD({"hinge": 0.5}, kp=100.0, kd=0.0, limit=limit).efforts(m)["hinge"]
    assert value(m, effort) == pytest.approx(expected)  # 100 (0.5 - 0.7) without


# ---- feedforward -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("feedforward", "expected"),
    [
        ({"hinge": 5.0}, (5.0, 0.0)),
        ({"hinge": lambda t: 2 * t, "slide.x": cc.t}, (2 * T, T)),
        (Efforts(), (3 * T, -T)),
        (None, (0.0, 0.0)),
    ],
)
def test_feedforward(feedforward, expected):
    m = hinge_and_table()
    m.control(PD({"hinge": Q, "slide.x": Q}, kp=10.0, kd=0.0, feedforward=feedforward))
    found = [value(m, m.motors[f"{label}.control"].effort) for label in ("hinge", "slide.x")]
    assert found == pytest.approx(expected, abs=1e-14)


# ---- which coordinates -----------------------------------------------------------------------------------------------


def test_along_a_motion_those_that_have_motors():
    m = hinge_and_table()
    m.motor("slide", force=1.0, coordinate="y")
    m.motor("hinge", torque=1.0)
    m.motor("hinge", torque=2.0)
    motion = Motion(**{"hinge": cc.t, "slide.x": cc.t, "slide.y": cc.t})
    assert list(PD(motion, 1.0, 0.0).efforts(m)) == ["slide.y", "hinge"]
    assert list(PD(motion, 1.0, 0.0, joints=["slide.x"]).efforts(m)) == ["slide.x"]
    assert list(PD(motion.references, 1.0, 0.0, joints=["slide.y", "hinge"]).efforts(m)) == ["slide.y", "hinge"]


def driven():
    m = hinge_and_table()
    m.drive("hinge", cc.t)
    return m


WRONG = {
    "no motor tells": (hinge_and_table, lambda: PD(Motion(hinge=cc.t), 1.0, 0.0), "has no motor that would tell"),
    "no motion": (hinge_and_table, lambda: PD(5.0, 1.0, 0.0, joints=["hinge"]), "needs a motion of cc.follow"),
    "a frame": (
        hinge_and_table,
        lambda: PD({"table": (0, 0, 0)}, 1.0, 0.0),
        "'table.origin' is a frame: find the motion",
    ),
    "nothing": (hinge_and_table, lambda: PD({}, 1.0, 0.0), "needs a reference for one coordinate at least"),
    "unknown": (hinge_and_table, lambda: PD({"hing": 1.0}, 1.0, 0.0), "did you mean 'hinge'"),
    "unknown joint": (hinge_and_table, lambda: PD(Motion(), 1.0, 0.0, joints=["hing"]), "did you mean 'hinge'"),
    "twice": (hinge_and_table, lambda: PD(Motion(), 1.0, 0.0, joints=["hinge"] * 2), "different names of coordinates"),
    "no joints": (hinge_and_table, lambda: PD(Motion(), 1.0, 0.0, joints=[]), "different names of coordinates"),
    "no reference": (
        hinge_and_table,
        lambda: PD({"hinge": 1.0}, 1.0, 0.0, joints=["slide.x"]),
        "there is no reference for 'slide.x'",
    ),
    "a quaternion": (hinge_and_table, lambda: PD(Motion(), 1.0, 0.0, joints=["ball.qw"]), "cannot be"),
    "driven": (driven, lambda: PD({"hinge": 1.0}, 1.0, 0.0), "is moved by the drive 'hinge.drive'"),
    "a gain": (hinge_and_table, lambda: PD({"hinge": 1.0}, "high", 0.0), "control.kp must be a number"),
    "a gain too many": (
        hinge_and_table,
        lambda: PD({"hinge": 1.0}, {"hinge": 1.0, "slide.x": 2.0}, 0.0),
        "kp of 'slide.x', which it does not drive",
    ),
    "a gain too few": (
        hinge_and_table,
        lambda: PD({"hinge": 1.0, "slide.x": 1.0, "slide.y": 1.0}, {"hinge": 1.0}, 0.0),
        "kp of 'slide.x', 'slide.y' is missing: give one number for all coordinates",
    ),
    "a negative gain": (hinge_and_table, lambda: PD({"hinge": 1.0}, -5.0, 0.0), "control.kp is -5, but must be at"),
    "a negative damping": (
        hinge_and_table,
        lambda: PD({"hinge": 1.0}, 5.0, {"hinge": -0.1}),
        "hinge.control.kd is -0.1, but must be at least 0",
    ),
    "a gain of time": (hinge_and_table, lambda: PD({"hinge": 1.0}, cc.t, 0.0), "may depend on parameters only"),
    "a negative limit": (hinge_and_table, lambda: PD({"hinge": 1.0}, 1.0, 0.0, limit=-1.0), "must be at least 0"),
    "a name": (hinge_and_table, lambda: PD({"hinge": 1.0}, 1.0, 0.0, name=""), "name is a non-empty text"),
    "a feedforward": (hinge_and_table, lambda: PD({"hinge": 1.0}, 1.0, 0.0, feedforward=5), "cc.inverse_dynamics"),
    "another feedforward": (
        hinge_and_table,
        lambda: PD({"hinge": 1.0}, 1.0, 0.0, feedforward={"slide.x": 5}),
        "feedforward of 'slide.x', which it does not drive",
    ),
    "a feedforward of more": (
        hinge_and_table,
        lambda: PD({"hinge": 1.0}, 1.0, 0.0, feedforward={"hinge": lambda t, q: q}),
        "function of time alone",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_is_refused_and_leaves_no_trace(name):
    draw, law, sentence = WRONG[name]
    m = draw()
    before = dict(m.parameters), dict(m.motors), m.revision
    with pytest.raises(cc.ModelError, match=sentence):
        m.control(law())
    assert (dict(m.parameters), dict(m.motors), m.revision) == before


# ---- laws that know the equations ------------------------------------------------------------------------------------


class Weight(TracedLaw):
    """Carries a share of the generalised forces of gravity on a joint, as its command says."""

    def __init__(self, joint, share):
        import casadi as ca

        self.joint, self.commands, self.unknown = joint, (share,), ca.SX.sym("u", 1)

    def trace(self, equations, commands):
        link = equations.topology.tree_joints[self.joint]
        return commands[self] * equations.h[link.v, :]

    def efforts(self, mechanism):
        return {self.joint: self.effort(0)}

    def __repr__(self):
        return f"weight on {self.joint}"


def test_a_law_of_your_own_may_ask_for_the_equations():
    """Carrying all of its weight, a pendulum at rest stays where it is; what jumps in the command is known."""
    from closedchain.model.forces.sampled import sampled_inputs

    m = cc.library.pendulum()
    law = Weight("hinge", cc.math.where(cc.t < 0.5, 1.0, 0.0))
    m.control(law)
    assert traced_laws(m) == [law]
    assert len(sampled_inputs(m).jumps) == 1 and sampled_inputs(m).jumps[0].timed
    run = cc.simulate(m, m.assemble(hinge=0.4), until=1.0, rtol=1e-9)
    carried = run.t <= 0.5
    assert abs(run["hinge"][carried] - 0.4).max() < 1e-12 and abs(run["hinge"][~carried] - 0.4).max() > 0.1
    assert abs(run.energy_error).max() < 1e-8


def test_efforts_of_such_laws_in_other_expressions():
    """In an event, in a force, and behind a limit they are what they are in the motor."""
    m = cc.library.pendulum()
    effort = m.control(Weight("hinge", 1.0))["hinge"].effort
    e = derive(m)
    both = e.function("both", {"one": 2 * e.applied.efforts["hinge.control"], "two": e.expression(2 * effort)})
    start = m.assemble(hinge=0.4)
    one, two = both(0.0, start.q, start.v, list(m.parameters.values()))
    assert float(one) == float(two) != 0.0

    m.force("copy", m.bodies[next(iter(m.bodies))], moment=(0, 0, cc.math.minimum(effort, 1.0)))
    e = derive(m)
    f = e.function("efforts", {"motor": e.applied.efforts["hinge.control"], "force": e.applied.efforts["copy"]})
    motor, force = f(0.0, start.q, start.v, list(m.parameters.values()))
    assert float(motor) == float(one) / 2
    assert float(force[5]) == min(float(motor), 1.0)


def test_such_an_effort_is_no_plain_number():
    with pytest.raises(cc.ModelError, match="effort of a weight on hinge is known in the equations"):
        Expression("add", Weight("hinge", 1.0).effort(0), 1.0).evaluate(lambda leaf: 0.0)
