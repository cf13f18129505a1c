"""A recommendation has reasons, and the reasons have numbers that were measured."""

import re

import pytest

import closedchain as cc
from closedchain.results.compare.recommend import _least, _stiffness, _work_for_the_same_error


@pytest.fixture(scope="module")
def advice():
    return cc.recommend(cc.library.four_bar(), until=0.5, rtol=1e-7)


def test_it_can_be_followed(advice):
    m = cc.library.four_bar()
    run = cc.simulate(m, until=0.5, method=advice.method, solver=advice.solver, rtol=1e-7)
    assert run.good


def test_it_needs_about_the_least_operations(advice):
    work = _work_for_the_same_error(advice.comparison, 1e-7)
    mine = next(
        n for (name, by), n in work.items() if advice.comparison.methods[name] == advice.method and by == advice.solver
    )
    assert mine <= 1.1 * min(work.values())
    assert len(work) == 10  # five exact methods, two solvers


def test_reasons_are_measured(advice):
    said = "\n".join(advice.reasons)
    assert "1 loop, 2 independent closure equations, mobility 1; 3 equations repeat others" in said
    row = next(
        r
        for r in advice.comparison.rows()
        if advice.comparison.methods[r["method"]] == advice.method
        and r["solver"] == advice.solver
        and r["rtol"] == 1e-7
    )
    assert f"{row['evaluations']:.0f} evaluations for an error of {row['error']:.1e} rad or m" in said
    assert re.search(r"conditioning is at least 0\.\d", said)
    assert re.search(r"springs of k = 1e6 would leave a gap of \d\.\de-06 m or rad and take \d+", said)
    assert "not stiff" in said
    assert str(advice).startswith(f"four-bar: method=cc.{advice.method!r}, solver='{advice.solver}' at rtol 1e-07\n")
    assert max(map(len, str(advice).splitlines())) <= 100


def test_ties_go_to_the_first():
    assert _least({("a", "x"): 1.09, ("b", "x"): 1.0}) == ("a", "x")
    assert _least({("a", "x"): 1.2, ("b", "x"): 1.0}) == ("b", "x")


def test_without_loops_methods_do_not_differ():
    advice = cc.recommend(cc.library.pendulum(), until=0.5)
    assert advice.method == cc.Multipliers()
    assert "no loop" in advice.reasons[0] and not any("spring" in x for x in advice.reasons)


def test_a_singular_pose_on_the_way_leaves_only_methods_that_pass_it():
    # a parallelogram that swings through the pose in which all its bars lie on a line
    m = cc.Mechanism("parallelogram", gravity=(0, -9.81, 0))
    left = m.body("left", cc.rod(length=1.0, mass=1.0))
    top = m.body("top", cc.rod(length=2.0, mass=1.0))
    right = m.body("right", cc.rod(length=1.0, mass=1.0))
    m.revolute("O", m.ground, left)
    m.revolute("A", left.tip, top)
    m.revolute("C", m.ground.at(2, 0, 0), right)
    m.revolute("B", top.tip, right.tip)
    start = m.assemble(O=0.5, guess={"A": -0.5, "C": 0.5})
    advice = cc.recommend(m, start, until=0.5)
    assert advice.method.guards
    assert any("singular pose" in x and "only methods that pass" in x for x in advice.reasons)


def test_stiffness_is_seen_in_the_steps():
    m = cc.Mechanism("stiff damper", gravity=(0, -9.81, 0))
    arm = m.body("arm", cc.rod(length=1.0, mass=1.0))
    m.revolute("O", m.ground, arm)
    m.joint_damper("O", 3e3)  # 1e4 times the inertia of the arm: decays in 0.1 ms, the arm sinks for minutes
    got = cc.compare(m, until=0.5, methods=["multipliers"], solvers=["dop853"], tolerances=[1e-4, 1e-6, 1e-8])
    stiff, words = _stiffness(got, "Multipliers", "dop853")
    assert stiff and "are stiff" in words
    advice = cc.recommend(m, until=0.5, rtol=1e-6)
    assert any("are stiff" in x for x in advice.reasons)
    # implicit solvers were tried, and say how they did
    assert any(x.startswith("dop853 takes") and "radau5" in x and "rodas5p" in x for x in advice.reasons)
    assert cc.simulate(m, until=0.5, method=advice.method, solver=advice.solver, rtol=1e-6).good


def test_what_cannot_be_recommended():
    with pytest.raises(cc.ModelError, match="between 1e-12 and 1e-3"):
        cc.recommend(cc.library.pendulum(), rtol=1.0)
    m = cc.Mechanism("bad torque")
    arm = m.body("arm", cc.rod(length=1.0, mass=1.0))
    m.revolute("O", m.ground, arm)
    m.motor("O", torque=lambda t, q, v: cc.math.log(0.1 - t))
    with pytest.raises(cc.RunError, match="no exact method runs 'bad torque' until 1 s"):
        cc.recommend(m, until=1.0)
