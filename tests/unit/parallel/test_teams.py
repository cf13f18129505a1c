"""Limbs over threads of this process, and what teams refuse."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import closedchain as cc
from closedchain.parallel.teams import Ranks, Threads
from closedchain.progress import reported
from tests.mpi import cases

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("name", [name for name in cases.CASES if "adaptive" in name or "four-bar" in name])
def test_threads_give_the_answer_of_one_process(name):
    one = cases.run(name)
    for n in cases.team_sizes(name):
        for closing in cases.closings(name, n):
            got = cases.run(name, partition=Threads(n, closing=closing))
            assert np.abs(cases.motion(got) - cases.motion(one)).max() <= cases.CASES[name][3], (n, closing)
            assert got.counts.steps == one.counts.steps and got.counts.rejections == one.counts.rejections
            assert len(got.partition.members) == n
            assert "thread 0: " in got.dataset.attrs["partition"]


@pytest.mark.parametrize(
    ("name", "pose", "until", "told"),
    [
        ("five_bar", {}, 0.05, 0),  # the reference member has two joints for three components of its acceleration
        ("rrr3", {"elbow3": 0.0}, 0.05, 1),  # a limb stands stretched
        ("rrr3", {"elbow3": 0.1}, 0.05, 1),  # or becomes so on its way
    ],
)
def test_chains_that_cannot_be_solved_for_their_forces_alone(name, pose, until, told):
    m = getattr(cc.library, name)()
    start = m.assemble(pose, velocity={"elbow3": -3.0} if pose else None)
    given = {"method": cc.OperationalSpace(), "solver": cc.solvers.RK4(step=1e-3), "until": until}
    one, team = cc.simulate(m, start, **given), cc.simulate(m, start, partition=Threads(2), **given)
    assert np.abs(cases.motion(team) - cases.motion(one)).max() <= cases.CLOSED
    assert [x.what for x in team.record] == ["singular pose"] * told and not one.record


def test_a_limb_that_is_welded_to_the_ground_needs_no_member():
    m = cc.Mechanism("arms and a post")
    for k, name in enumerate(("arm", "other")):
        m.revolute(f"hinge of {name}", m.ground.at(k, 0, 0), m.body(name, cc.rod(length=1.0, mass=1.0)))
    m.weld("foot", m.ground.at(2, 0, 0), m.body("post", cc.rod(length=1.0, mass=1.0)))
    run = cc.simulate(m, until=0.1, partition=Threads(2))
    assert sorted(limb for member in run.partition.members for limb in member.limbs) == ["arm", "other", "post"]
    with pytest.raises(cc.ModelError, match=r"has 2 limbs \(arm, other\) for 3 threads: take 2 or fewer"):
        cc.simulate(m, until=0.1, partition=Threads(3))
    with pytest.raises(cc.ModelError, match="member 1 has no limb that moves"):
        cc.simulate(m, until=0.1, partition=Threads(2, limbs=[["arm", "other"], ["post"]]))


def marching():
    """Threads of teams that are still there."""
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("closedchain member")]


def test_the_same_team_computes_the_same_bits_twice():
    runs = [cases.run("3-RRR modified-denoc adaptive", partition=Threads(3)) for _ in range(2)]
    assert np.array_equal(cases.motion(runs[0]), cases.motion(runs[1]))


def test_an_account_of_what_was_sent():
    """20 steps of four evaluations and one more; two messages each, of which lengths follow from the cut."""
    team = Threads(2, limbs=[["rocker"], ["crank"]])
    got = cases.run("four-bar springs fixed", partition=team).partition
    assert [member.limbs for member in got.members] == [("rocker",), ("crank",)]
    assert {member.evaluations for member in got.members} == {81}
    assert [member.messages for member in got.members] == [81, 81]
    for member in got.members:
        assert (
            member.reductions == 0 and member.agreements == 41
        )  # are stages and ends of steps numbers? And the start?
        numbers = member.bytes / 8 - 5 * member.agreements
        assert numbers % 81 == 0 and numbers > 0  # the same in each message
    assert got.seconds > 0 and "threads do not pay for limbs as small as these" in got.hint
    with pytest.raises(cc.ModelError, match="these threads have not run yet"):
        _ = team.account  # a run counts for itself


# ---- faults ----------------------------------------------------------------------------------------------------------


def controlled(law, **options):
    m = cc.library.four_bar()
    m.motor("O", torque=cc.Sampled(law, period=0.05), name="pusher")
    given = {"until": 1.0, "t_eval": cc.Every(0.01), "method": cc.Projection(), "partition": Threads(2)}
    return cc.simulate(m, **(given | options))


def push(t, now):
    return 0.5 * np.sin(3.0 * t) - 0.1 * now["O'"]


def test_controllers_see_the_whole_state():
    one = controlled(push, partition=None)
    team = controlled(push)
    assert np.abs(cases.motion(team) - cases.motion(one)).max() <= cases.CLOSED
    assert "native" not in vars(team.program.rhs.function)  # no member has compiled more than its part


def test_a_controller_that_fails_ends_all_threads():
    def worn_out(t, now):
        if t > 0.42:
            raise ArithmeticError("worn out")
        return 0.0

    with pytest.raises(cc.RunError, match="'worn_out' raised ArithmeticError: worn out") as failed:
        controlled(worn_out)
    assert failed.value.run.t[-1] == pytest.approx(0.45)
    assert not marching()


def test_a_member_that_raises_ends_all_with_its_error():
    def progress(t, steps):
        if t > 0.3:
            raise OSError("no room is left")

    with pytest.raises(OSError, match="no room is left"), reported(progress):
        controlled(push)
    assert not marching()  # nobody is left waiting


def test_an_interruption_from_a_callback_ends_all_members_like_ctrl_c():
    def progress(t, steps):
        if t > 0.3:
            raise KeyboardInterrupt

    with pytest.raises(cc.Interrupted) as caught, reported(progress):
        controlled(push)
    assert 0.3 <= caught.value.run.t[-1] < 1.0 and not marching()


@pytest.mark.parametrize("options", [{"solver": cc.solvers.RK4(step=0.01)}, {}])
def test_a_limb_that_is_no_number_ends_the_run_as_usual(options):
    m = cc.library.four_bar()
    m.motor("C", torque=cc.math.sqrt(0.5 - cc.t), name="worn out")
    for closing in ("everyone", "master"):
        with pytest.raises(cc.RunError, match=r"ended at t = 0.5 s: the derivative is not finite \(rate of .*worn out"):
            cc.simulate(m, until=1.0, method=cc.Projection(), partition=Threads(2, closing=closing), **options)


@pytest.mark.parametrize("first", ["a", "b", "c"])
def test_a_limb_that_touches_no_other_ends_all_for_the_same_reason(first):
    """Members that never see the number that is none would otherwise speak of a step that is too small."""
    m = cc.Mechanism("three pendulums")
    for k, name in enumerate("abc"):
        m.revolute(name.upper(), m.ground.at(3 * k, 0, 0), m.body(name, cc.rod(length=1.0, mass=1.0)))
    m.motor("B", torque=cc.math.sqrt(0.5 - cc.t), name="worn out")
    limbs = [[first], *([name] for name in "abc" if name != first)]
    with pytest.raises(
        cc.RunError, match=r"the derivative is not finite \(acceleration of B\).*'worn out' is nan there"
    ):
        cc.simulate(m, until=1.0, partition=Threads(3, limbs=limbs))


def push_or_die(t, now):
    if t > 0.7 and "closedchain_dies" in os.environ:
        os.kill(os.getpid(), signal.SIGKILL)
    return push(t, now)


def test_a_killed_run_of_threads_goes_on_to_the_same_bits(tmp_path):
    """In another process, with addresses of its own."""
    call = f"t.controlled(t.push_or_die, save=t.cc.SaveTo({str(tmp_path)!r}, every=0.0))"
    killed = subprocess.run(
        [sys.executable, "-c", f"from tests.unit.parallel import test_teams as t; {call}"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), "closedchain_dies": "yes"},
        cwd=ROOT,
    )
    assert killed.returncode == -signal.SIGKILL
    assert (tmp_path / "checkpoint.npz").exists()
    again = controlled(push_or_die, save=tmp_path)
    assert np.array_equal(cases.motion(again), cases.motion(controlled(push)))


def test_a_saved_run_belongs_to_its_team(tmp_path):
    controlled(push, save=tmp_path)
    for other, words in (
        (None, "2 threads, closing everyone there, none here"),
        (Threads(1), "2 threads, closing everyone there, 1 threads"),
        (Threads(2, closing="master"), "closing master here"),
        (Threads(2, limbs=[["rocker"], ["crank"]]), "limbs"),
    ):
        with pytest.raises(cc.ModelError, match=f"holds another run, with other partition: .*{words}"):
            controlled(push, save=tmp_path, partition=other)
    assert len(controlled(push, save=tmp_path).t) == 101  # a finished run, at once


# ---- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"solver": "radau5"}, "limbs on several threads are marched by dop853, dopri5, rk4, not by 'radau5'"),
        ({"solver": "auto"}, "marched by dop853, dopri5, rk4, not by 'auto'"),
        ({"method": cc.IndependentCoordinates()}, "IndependentCoordinates cannot be shared out by limbs: take cc.Virt"),
        ({"method": cc.GGL()}, "GGL cannot be shared out by limbs"),
        (
            {"method": cc.Index3(), "solver": cc.solvers.GeneralisedAlpha(step=1e-3)},
            "Index3 cannot be shared out by limbs",
        ),
        ({"method": cc.ERLS()}, "ERLS has no partition: leave that out"),
        ({"events": [cc.Event("noon", cc.t - 0.5)]}, "limbs on several threads have no events"),
        ({"solver": cc.solvers.DOP853(dense_output=True)}, "limbs on several threads have no dense_output"),
        ({"partition": "auto"}, r"partition must be cc.Ranks\(\) or cc.Threads\(2\), not 'auto'"),
        ({"partition": 2}, "partition must be .* not 2"),
        ({"partition": Threads(3)}, r"'four-bar' has 2 limbs \(crank, rocker\) for 3 threads: take 2 or fewer"),
        ({"partition": Threads(2, limbs=[["crank"], ["rockr"]])}, "no limb with a body 'rockr'; did you mean 'rocker'"),
    ],
)
def test_what_members_cannot_do_together_is_refused(options, message):
    given = {"until": 1.0, "partition": Threads(2)} | options
    with pytest.raises(cc.ModelError, match=message):
        cc.simulate(cc.library.four_bar(), **given)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Threads(0), "cc.Threads takes how many there shall be, 1 or more, not 0"),
        (lambda: Threads(2.5), "not 2.5"),
        (lambda: Threads(True), "not True"),
        (lambda: Threads(2, closing="me"), "closing is 'everyone' or 'master', not 'me'"),
        (lambda: Ranks(patience=0.0), "patience takes seconds, not 0.0"),
    ],
)
def test_wrong_arguments(make, message):
    with pytest.raises(cc.ModelError, match=message):
        make()


def test_what_fails_on_one_rank_is_told_on_all(monkeypatch):
    """A file that is not on all machines."""
    team = Ranks()
    monkeypatch.setattr(team, "everyone", lambda mine: [mine, "there is no file 'robot.py'", None])
    with pytest.raises(cc.ModelError, match=r"rank 1: there is no file 'robot\.py'"):
        team.agree(lambda: "found")


def test_without_mpi_ranks_say_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    with pytest.raises(cc.ModelError, match=r"limbs over ranks need MPI: pip install 'closedchain\[mpi\]'"):
        cc.simulate(cc.library.four_bar(), until=1.0, partition=Ranks())
