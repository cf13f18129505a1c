"""Numbers that hold for a while: what a drawing has of them, and what may be written."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.model.forces.sampled import LIVE, sampled_inputs


def law(t, now):
    return 0.0


def drawn(*torques):
    m = cc.Mechanism("rotor")
    m.revolute("O", m.ground, m.body("disc", cc.disc(radius=0.2, mass=2.0)))
    for torque in torques:
        m.motor("O", torque=torque)
    return m


# ---- what may be written ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: cc.Sampled(3.0, 0.1), "Sampled needs a function f\\(t, now\\), not 3.0"),
        (lambda: cc.Sampled(cc.t, 0.1), "Sampled needs a function"),
        (lambda: cc.Sampled(law, 0.0), "the period must be a positive number of seconds, not 0.0"),
        (lambda: cc.Sampled(law, -1), "not -1"),
        (lambda: cc.Sampled(law, np.inf), "not inf"),
        (lambda: cc.Sampled(law, np.nan), "not nan"),
        (lambda: cc.Sampled(law, "1 ms"), "not '1 ms'"),
        (lambda: cc.Sampled(law, True), "not True"),
        (lambda: cc.Sampled(law, np.complex128(1)), "the period must be a positive number"),
        (lambda: cc.Sampled(law, cc.t), "the period must be a positive number of seconds, not t"),
        (lambda: cc.Sampled(law, 0.1, outputs=0), "outputs must be a whole number of at least 1, not 0"),
        (lambda: cc.Sampled(law, 0.1, outputs=1.5), "not 1.5"),
        (lambda: cc.Sampled(law, 0.1, outputs=True), "not True"),
        (
            lambda: cc.Sampled(law, 0.1, outputs=2, initial=[1, 2, 3]),
            "a finite number, or 2 of them, not \\[1, 2, 3\\]",
        ),
        (lambda: cc.Sampled(law, 0.1, initial="x"), "initial takes a finite number, not 'x'"),
        (lambda: cc.Sampled(law, 0.1, initial=np.nan), "initial takes a finite number, not nan"),
        (lambda: cc.Sampled(law, 0.1, initial=cc.t), "initial takes a finite number, not t"),
        (lambda: cc.Sampled(law, 0.1, outputs=2)[2], "has outputs 0 to 1, not 2"),
        (lambda: cc.Sampled(law, 0.1, outputs=2)[-1], "has outputs 0 to 1, not -1"),
        (lambda: cc.Sampled(law, 0.1, outputs=2)["u"], "has outputs 0 to 1, not 'u'"),
        (lambda: drawn(cc.Sampled(law, 0.1, outputs=2)), "gives 2 numbers; take one of them, as u\\[0\\]"),
        (lambda: drawn().drive("O", cc.Sampled(law, 0.1)), "may depend on time only, not on Sampled\\(law\\)"),
        (lambda: drawn().body("x", cc.rod(length=1.0, mass=cc.Sampled(law, 0.1))), "may depend on parameters only"),
    ],
)
def test_what_cannot_be(call, words):
    with pytest.raises(cc.ModelError, match=words):
        call()


def test_outputs_one_by_one():
    u = cc.Sampled(law, 0.1, outputs=np.int64(3), initial=[1, 2, 3])
    assert [str(x) for x in u] == ["Sampled(law)[0]", "Sampled(law)[1]", "Sampled(law)[2]"]
    assert str(u[np.int64(1)]) == "Sampled(law)[1]"
    assert u.controller.initial == (1.0, 2.0, 3.0)
    a, b, _ = u
    assert str(2 * a + b) == "((Sampled(law)[0] * 2) + Sampled(law)[1])"
    assert cc.Sampled(law, 1, outputs=2, initial=7).controller.initial == (7.0, 7.0)


def test_a_name_for_messages():
    class Controller:
        def __call__(self, t, now):
            return 0.0

    assert str(cc.Sampled(Controller(), 0.1)) == "Sampled(Controller)"
    assert str(cc.Sampled(law, 0.1)) == "Sampled(law)"


# ---- what is found in a drawing --------------------------------------------------------------------------------------


def test_controllers_and_jumps_of_a_drawing():
    u = cc.Sampled(law, 0.1, outputs=2, initial=[3.0, 4.0])
    v = cc.Sampled(law, 0.2)
    wave = cc.math.where(cc.t % 0.5 < 0.25, 1.0, -1.0)
    m = drawn(u[1] + wave, v * wave)
    m.motor("O", torque=u[0] + cc.math.sign(m.joints["O"].v))
    m.force(
        "f", m.bodies["disc"].at(0, 0, 0), (cc.math.floor(cc.t), 0, 0), moment=(0, 0, cc.math.ceil(m.joints["O"].q))
    )
    found = sampled_inputs(m)
    assert found.controllers == (u.controller, v.controller)  # once each
    assert found.outputs == 3
    assert [jump.node.op for jump in found.jumps] == ["mod", "lt", "sign", "floor", "ceil"]
    assert [jump.timed for jump in found.jumps] == [True, True, False, True, False]
    assert found.jumps[1].inside == (0,)
    assert found.initial == [3.0, 4.0, 0.0] + [LIVE] * 5
    assert [found.place(x) for x in (u[0], u[1], v[0])] == [0, 1, 2]
    assert found.place(found.jumps[2].node) == 5
    assert sampled_inputs(m) is found  # until the drawing changes
    m.motor("O", torque=1.0)
    assert sampled_inputs(m) is not found


def test_jumps_of_drives_count_too():
    m = drawn()
    m.drive("O", cc.math.where(cc.t < 1.0, 0.0, (cc.t - 1.0) ** 3))
    assert [jump.timed for jump in sampled_inputs(m).jumps] == [True]


def test_a_deep_expression():
    """One that a recursion would not survive."""
    x = cc.t
    for _ in range(5000):
        x = x + 1.0
    assert len(sampled_inputs(drawn(cc.math.sign(x))).jumps) == 1


# ---- signals and values ----------------------------------------------------------------------------------------------


def jump(expression):
    (one,) = sampled_inputs(drawn(1.0 * expression if expression.op in ("lt", "le") else expression)).jumps
    return one


@pytest.mark.parametrize(
    ("expression", "args", "signal", "value"),
    [
        (cc.math.where(cc.t < 3, 1, 0), (2.0, 3.0), 1.0, 1.0),
        (cc.math.where(cc.t < 3, 1, 0), (3.0, 3.0), 0.0, 0.0),
        (cc.math.where(cc.t <= 3, 1, 0), (3.0, 3.0), 0.0, 1.0),
        (cc.math.where(cc.t > 3, 1, 0), (3.0, 4.0), 1.0, 1.0),
        (cc.math.where(cc.t >= 3, 1, 0), (3.0, 3.0), 0.0, 1.0),
        (cc.math.sign(cc.t), (-0.3,), -0.3, -1.0),
        (cc.math.floor(cc.t), (-0.3,), -0.3, -1.0),
        (cc.math.ceil(cc.t), (-0.3,), -0.3, 0.0),
        (cc.t % 0.5, (1.3, 0.5), 2.6, 2.0),
    ],
)
def test_what_passes_and_what_is_held(expression, args, signal, value):
    one = jump(expression)
    assert one.signal(*args) == pytest.approx(signal)
    assert one.value(one.signal(*args)) == value
    assert one.counts == (expression.op in ("floor", "ceil", "mod"))
    np.testing.assert_array_equal(one.value(np.array([signal, signal])), [value, value])
