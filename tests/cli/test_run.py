"""``closedchain run``: options, exit codes, sentences."""

import math

import numpy as np
import pytest
import xarray

import closedchain as cc
from closedchain.close.methods import METHODS
from closedchain.integrate.solvers import SOLVERS, marching

BREAKS = """
import closedchain as cc
mechanism = cc.Mechanism("breaks", gravity=(0, -9.81, 0))
arm = mechanism.body("arm", cc.rod(length=1.0, mass=1.0))
mechanism.revolute("hinge", mechanism.ground, arm)
mechanism.motor("hinge", torque=lambda t: cc.math.sqrt(0.5 - t))
"""


def run(cli, *arguments, code=0):
    answer = cli("run", *arguments, "--json")
    assert answer.code == code, answer.out
    assert answer.err == ""
    return answer.json


# ---- what comes out -------------------------------------------------------------------------------------------------


def test_the_numbers_are_those_of_simulate(cli):
    told = run(cli, "four-bar", "--until", "1", "--rtol", "1e-10", "--solver", "dopri5")
    m = cc.library.four_bar()
    wanted = cc.simulate(m, until=1.0, rtol=1e-10, solver="dopri5")
    # the same machine code on the same numbers
    assert told["coordinates"] == wanted.state().coordinates
    assert told["velocities"] == wanted.state().velocities
    counts = wanted.counts
    assert (told["steps"], told["evaluations"]) == (counts.steps, counts.evaluations)
    assert told["closure_error"] == float(wanted.closure_error.max())
    assert told["energy_error"] == float(np.abs(wanted.energy_error).max())
    assert told["operations"]["total"] == wanted.metadata["operations"]
    assert (told["complete"], told["complaints"], told["begin"], told["end"]) == (True, [], 0.0, 1.0)
    assert (told["samples"], told["wrote"]) == (201, [])


def test_the_table_tells_the_same(cli):
    told = run(cli, "four-bar")
    answer = cli("run", "four-bar")
    assert (answer.code, answer.err) == (0, "")
    shown = dict(line.split("  ", 1) for line in answer.out.splitlines() if "  " in line)
    shown = {key: value.strip() for key, value in shown.items()}
    assert answer.out.splitlines()[0] == "four-bar"
    assert shown["simulated"] == "0 to 2 s, 201 samples"
    assert shown["steps"] == f"{told['steps']} accepted, {told['rejections']} rejected"
    assert shown["closure error"] == f"{told['closure_error']:.2e} m or rad"
    assert shown["operations"].startswith(f"{told['operations']['total']} in one evaluation")


def test_until_defaults_to_the_usual_run(cli, file):
    assert run(cli, "slider-crank")["end"] == cc.library.MECHANISMS["slider-crank"].until
    assert run(cli, file("import closedchain as cc\nmechanism = cc.library.pendulum"))["end"] == 1.0


def test_backwards_in_time(cli):
    assert run(cli, "pendulum", "--until", "-0.5")["end"] == -0.5


# ---- options --------------------------------------------------------------------------------------------------------


def test_set_changes_parameters(cli):
    told = run(cli, "four-bar", "--set", "O.motor=-2", "--set", "crank.mass=3/2", "--until", "0.5")
    wanted = cc.simulate(cc.library.four_bar(), until=0.5, parameters={"O.motor": -2.0, "crank.mass": 1.5})
    assert told["parameters"]["O.motor"] == -2.0
    assert told["coordinates"] == wanted.state().coordinates


def test_set_reaches_the_start(cli, file):
    text = "import closedchain as cc\nmechanism = cc.library.four_bar\ndef start(m): return m.assemble(O=1.0)"
    told = run(cli, file(text), "--set", "coupler.length=3.5", "--until", "0.5")
    parameters = {"coupler.length": 3.5}
    m = cc.library.four_bar()
    wanted = cc.simulate(m, m.assemble(O=1.0, parameters=parameters), until=0.5)
    # the start is found with other rounding if the number is the mechanism's own; Newton ends at 1e-15
    assert told["coordinates"] == pytest.approx(wanted.state().coordinates, rel=1e-9)


def test_a_start_that_was_made_before_set_is_refused(cli, file):
    text = "import closedchain as cc\nmechanism = cc.library.four_bar()\nstart = mechanism.assemble(O=1.0)"
    assert run(cli, file(text), "--until", "0.1")["complete"]
    answer = cli("run", "model.py", "--set", "coupler.length=3.5")
    assert answer.code == 1
    assert "the start is not consistent" in answer.err


def test_hold_and_velocity_fix_the_start(cli):
    run(cli, "four-bar", "--hold", "O=60*deg", "--velocity", "O=-1.5", "--until", "0.1", "--out", "a.nc")
    with xarray.open_dataset("a.nc") as data:
        assert float(data["O"][0]) == pytest.approx(math.pi / 3, abs=1e-15)  # one rounding
        # the velocity comes out of a least-squares solution
        assert float(data["O'"][0]) == pytest.approx(-1.5, abs=1e-12)
        assert float(data["closure_error"][0]) < 1e-12


def test_hold_takes_several_values_for_one_joint(cli):
    names = [f"leg1 base.angle{i}" for i in (1, 2)]
    start = cc.library.gough_stewart().assemble()
    text = ",".join(repr(start[name]) for name in names)
    told = cli("run", "gough-stewart", "--hold", f"leg1 base={text},0", "--json")
    assert told.code == 2
    assert "'leg1 base' takes 2 finite values" in told.json["error"]
    assert run(cli, "gough-stewart", "--hold", f"leg1 base={text}", "--until", "0.01")["complete"]


def test_velocity_alone_keeps_the_own_start(cli):
    told = run(cli, "pendulum", "--velocity", "hinge=1", "--until", "1e-3")
    # one millisecond from level at 1 rad/s, with an acceleration of -3/2 g
    assert told["coordinates"]["hinge"] == pytest.approx(1e-3 - 0.75 * 9.81 * 1e-6, abs=1e-9)


def test_samples(cli):
    assert run(cli, "pendulum", "--samples", "11")["samples"] == 11


@pytest.mark.parametrize("method", METHODS)
def test_methods_by_name(cli, method):
    step = () if SOLVERS[marching(METHODS[method].kind)[0]].adaptive else ("--step", "1e-3")
    told = run(cli, "four-bar", "--method", method, "--until", "0.2", *step)
    assert told["method"] == repr(METHODS[method])


def test_rk4_with_a_step(cli):
    told = run(cli, "pendulum", "--solver", "rk4", "--step", "1e-3", "--until", "1")
    assert (told["solver"], told["steps"]) == ("rk4", 1000)


@pytest.mark.parametrize("more", [[], ["--terms", "paper", "--zero", "base"], ["--rho-inf", "0.8", "--rtol", "1e-4"]])
def test_finite_elements(cli, more):
    told = run(cli, "flexible-arm", "--method", "erls", "--until", "0.02", *more)
    assert told["complete"] and told["end"] == 0.02
    assert told["displacements"] > 6 and len(told["zeroed"]) == 1
    assert told["steps"] > 0 and told["evaluations"] > 0 and told["energy_error"] < 1e-2


def test_the_number_of_elements(cli):
    counts = [
        run(cli, "flexible-arm", "--method", "erls", "--until", "0.01", "--rtol", "1e-4", *more)["displacements"]
        for more in ([], ["--elements", "2"], ["--elements", "beam=3"], ["--elements", "5", "--elements", "beam=3"])
    ]
    assert counts[0] == counts[1] < counts[2] == counts[3]


def test_tables_and_files_of_finite_elements(cli, tmp_path):
    files = ("--plot", "deflection", "--out", "bent.png", "--out", "all.csv")
    got = cli("run", "flexible-arm", "--method", "erls", "--until", "0.02", *files, "--reactions", "all")
    assert got.code == 0 and "kept at zero" in got.out and "energy error" in got.out
    assert (tmp_path / "bent.png").stat().st_size > 1000
    table = (tmp_path / "all.csv").read_text()
    assert table.startswith("time") and "hinge fx,hinge fy" in table.splitlines()[0]
    assert "moment [N m]" in got.out


def test_reactions(cli, tmp_path):
    told = run(cli, "four-bar", "--until", "0.2", "--reactions", "A", "--out", "a.csv", "--out", "a.nc")
    wanted = cc.simulate(cc.library.four_bar(), until=0.2).reaction("A")["force"]
    assert told["reactions"]["A"]["force"] == pytest.approx(float(np.linalg.norm(wanted, axis=1).max()), rel=1e-6)
    with xarray.open_dataset("a.nc") as data:
        np.testing.assert_allclose(data["A fx"], wanted[:, 0], rtol=1e-9)
    assert "A fx" in (tmp_path / "a.csv").read_text().splitlines()[0]


def test_deflection_of_shapes(cli, tmp_path):
    run(cli, "flexible-four-bar", "--until", "0.02", "--plot", "deflection")
    assert (tmp_path / "out" / "flexible-four-bar.png").stat().st_size > 1000


def test_options_of_a_solver_reach_it(cli):
    steps = [run(cli, "pendulum", "--until", "1", *more)["steps"] for more in ([], ["--max-step", "0.01"])]
    assert steps[1] >= 100 > steps[0]


def test_every_field_of_a_solver_is_an_option():
    from dataclasses import fields

    from closedchain.cli.parts.options import IN_PYTHON, SOLVER_OPTIONS, SOLVER_WORDS

    known = {x.name for solver in SOLVERS.values() for x in fields(solver)}
    assert known - set(IN_PYTHON) == set(SOLVER_OPTIONS) == set(SOLVER_WORDS)


def test_threads(cli):
    told = run(cli, "four-bar", "--method", "projection", "--partition", "threads:2", "--until", "0.05")
    assert told["partition"]["kind"] == "thread" and len(told["partition"]["members"]) == 2


# ---- exit codes -----------------------------------------------------------------------------------------------------


def test_a_run_that_is_not_as_good_as_promised(cli):
    arguments = ("four-bar", "--solver", "rk4", "--step", "0.05")
    answer = cli("run", *arguments)
    assert answer.code == 3
    assert answer.err.startswith("warning: energy of 'four-bar' is off by")
    assert len(answer.err.splitlines()) == 1
    told = run(cli, *arguments, code=3)
    assert told["complete"] and "error" not in told
    assert told["complaints"] == [answer.err.removeprefix("warning: ").rstrip("\n")]


def test_a_run_that_fails_keeps_what_it_has(cli, file):
    answer = cli("run", file(BREAKS), "--out", "a.csv")
    assert answer.code == 1
    assert "INCOMPLETE" in answer.out and "wrote a.csv" in answer.out
    assert answer.err.startswith("error: the run of 'breaks' with dop853 ended at t = 0.5")
    assert "'hinge.motor' is nan there" in answer.err
    told = run(cli, "model.py", code=1)
    assert "'hinge.motor' is nan there" in told["error"]
    assert not told["complete"]
    assert 0.4 < told["end"] <= 0.5 and told["samples"] == round(told["end"] / 0.005) + 1


def test_a_mechanism_that_does_not_close(cli):
    answer = cli("run", "four-bar", "--set", "coupler.length=0.1")
    assert answer.code == 1
    assert "mechanism 'four-bar' does not close" in answer.err
    assert "loop closed by 'B'" in answer.err
    assert list(cli("run", "four-bar", "--set", "coupler.length=0.1", "--json").json) == ["error"]


def test_too_many_steps(cli):
    answer = cli("run", "four-bar", "--max-steps", "10")
    assert answer.code == 1
    assert "the limit of steps was reached" in answer.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["four-baar"], "did you mean 'four-bar'"),
        (["four-bar", "--set", "O.motr=1"], "has no parameter 'O.motr'; did you mean 'O.motor'?"),
        (["four-bar", "--set", "O.motor"], "--set takes NAME=VALUE, for instance --set 'A=0.5', not 'O.motor'"),
        (["four-bar", "--set", "O.motor=much"], "--set O.motor=much: 'much' is not a finite number"),
        (["four-bar", "--hold", "Q=1"], "hold: no joint or coordinate is named 'Q'"),
        (["four-bar", "--hold", "O"], "--hold takes NAME=VALUE"),
        (["four-bar", "--velocity", "Q=1"], "velocity: no joint velocity is named 'Q'"),
        (["four-bar", "--method", "multiplier"], "there is no method 'multiplier'; did you mean 'multipliers'"),
        (["four-bar", "--solver", "dop835"], "there is no solver 'dop835'; did you mean 'dop853'"),
        (["four-bar", "--solver", "rk4"], "'rk4' has a fixed step: say how long it is, for instance --step 1e-3"),
        (["four-bar", "--step", "1e-3"], "'dop853' chooses its own steps: leave --step out, or take --solver rk4"),
        (["four-bar", "--solver", "dopri5", "--step", "1e-3"], "'dopri5' chooses its own steps"),
        (["four-bar", "--solver", "cvodes", "--max-step", "1"], "'cvodes' takes no --max-step; it takes --max-steps"),
        (["four-bar", "--first-step", "0"], "DOP853: first_step must be a positive number of seconds, not 0.0"),
        (["four-bar", "--solver", "rk4", "--step", "1e-3", "--first-step", "1"], "'rk4' takes no --first-step"),
        (["four-bar", "--closing", "master"], "--closing says who computes what several need: add --partition"),
        (["four-bar", "--limbs", "crank"], "--limbs says who has which limb: add --partition threads:N"),
        (["four-bar", "--partition", "thread:2"], "--partition takes threads:N, for instance threads:2, or ranks, not"),
        (["four-bar", "--partition", "threads"], "--partition takes threads:N"),
        (["four-bar", "--partition", "threads:0"], "1 or more, not 0"),
        (["four-bar", "--solver", "rk4", "--step", "0"], "RK4: step must be a positive number of seconds, not 0.0"),
        (["four-bar", "--solver", "rk4", "--step", "1e-12"], "--step 1e-12 makes 2e+12 steps until 2 s"),
        (["four-bar", "--until", "0"], "--until 0: a run needs a length"),
        (["four-bar", "--until", "inf"], "give finite times"),
        (["four-bar", "--until", "soon"], "Invalid value for '--until'"),
        (["four-bar", "--rtol", "-1"], "rtol must be a positive number, not -1"),
        (["four-bar", "--atol", "nan"], "atol must be a positive number, not nan"),
        (["four-bar", "--samples", "1"], "Invalid value for '--samples'"),
        (["four-bar", "--samples", "1000000000000"], "--samples: 1e+12 are too many, 1e+07 are the most"),
        (["four-bar", "--plot", "O,P"], "--plot: the run will have no variable 'P'"),
        (["four-bar", "--out", "a.xlsx"], "a file ends in .nc, .csv, .png, .svg or .pdf; for a folder write 'a.xlsx/'"),
        (["four-bar", "--plot", "O", "--out", "a.csv"], "--plot needs a picture: add --out four-bar.png, or a folder"),
        (["four-bar", "--plot", "deflection"], "--plot deflection: 'four-bar' has no flexible body"),
        (["four-bar", "--reactions", "nix"], "no joint 'nix'"),
        (["four-bar", "--elements", "4"], "--elements is for finite elements: add --method erls"),
        (["four-bar", "--rho-inf", "0"], "--rho-inf is for finite elements: add --method erls"),
        (["four-bar", "--method", "erls"], "'four-bar' has no flexible body"),
        (["flexible-arm", "--method", "erls", "--elements", "many"], "--elements many: give a whole number, or BODY=N"),
        (["flexible-arm", "--method", "erls", "--elements", "nobody=3"], "nobody"),
        (["flexible-arm", "--method", "erls", "--terms", "some"], "'consistent' or 'paper'"),
        (["flexible-arm", "--method", "erls", "--zero", "nothing"], "nothing"),
        (["flexible-arm", "--method", "erls", "--reactions", "nix"], "no joint 'nix'"),
        (["flexible-arm", "--method", "erls", "--plot", "P"], "--plot: the run will have no variable 'P'"),
        (["four-bar", "--colour"], "--colour"),
        ([], "Missing argument 'NAME|FILE.py'. See 'closedchain run --help'"),
        (["four-bar", "five-bar"], "five-bar"),
    ],
)  # fmt: skip
def test_wrong_usage(cli, arguments, sentence):
    answer = cli("run", *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("error: ")
    assert sentence in answer.err
    told = cli("run", *arguments, "--json")
    assert (told.code, told.err) == (2, "")
    assert list(told.json) == ["error"]
    assert sentence in told.json["error"]


def test_unknown_verb(cli):
    answer = cli("rnu", "four-bar")
    assert answer.code == 2
    assert "'rnu'" in answer.err and "'run'" in answer.err


def test_velocities_that_contradict_each_other(cli):
    answer = cli("run", "four-bar", "--velocity", "O=1", "--velocity", "C=-1")
    assert answer.code == 1
    assert "contradict the loops or each other" in answer.err


def test_what_nobody_foresaw_is_a_sentence_too(cli, monkeypatch):
    def broken(*_, **__):
        raise TypeError("so it goes")

    monkeypatch.setattr("closedchain.simulation.simulate", broken)
    answer = cli("run", "pendulum")
    assert answer.code == 1
    assert answer.err.startswith("error: TypeError: so it goes. This was not foreseen")


def test_other_warnings_are_notes(cli, monkeypatch):
    import warnings

    from closedchain.simulation import simulate

    def grumbling(*arguments, **options):
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.warn("it is late", UserWarning, stacklevel=1)
        return simulate(*arguments, **options)

    monkeypatch.setattr("closedchain.simulation.simulate", grumbling)
    answer = cli("run", "pendulum")
    assert (answer.code, answer.err) == (0, "note: UserWarning: it is late\n")
