"""All that `cc.sweep` refuses, with its sentence."""

import numpy as np
import pytest
from scipy import stats

import closedchain as cc
from tests.unit.studies.drawings import FOUR_BAR, PENDULUM

NORMAL = stats.norm(0, 1)
MANY = "1e[+]12 points, and 1e[+]07 are the most"


def vary(parameters, **options):
    """A call whose points are refused."""
    return lambda: cc.sweep(FOUR_BAR, parameters() if callable(parameters) else parameters, 0.1, **options)


def sweep(until=0.1, **options):
    """A call whose options are refused."""
    return lambda: cc.sweep(FOUR_BAR, {"O.motor": [6.0]}, until, **options)


def start(made):
    """A call whose start is refused."""
    return lambda: cc.sweep(FOUR_BAR, {"O.motor": [6.0]}, 0.1, start=made())


POINTS = [
    (vary({}), "nothing to vary"),
    (vary([]), "the list of points is empty"),
    (vary("a"), "not 'a'"),
    (vary({"a": []}), "'a' has no value: its list is empty"),
    (vary({"a": [1, np.nan]}), "'a' takes finite numbers, but value 1 is nan"),
    (vary({"a": ["one"]}), "'a' takes numbers"),
    (vary({"a": [[1, 2]]}), r"not an array of shape \(1, 2\)"),
    (vary({3: [1, 2]}), "has a name"),
    (vary([{"a": 1}, {"b": 1}]), "point 1 has other names than the first: 'a', 'b'"),
    (vary({"a": range(5000), "b": range(5000)}), "2.5e[+]07 points, and 1e[+]07 are the most"),
    (vary({"a": range(10**12)}), MANY),
    (vary(lambda: cc.Together({"a": [1, 2], "b": [1]})), "'a' has 2, 'b' has 1"),
    (vary(lambda: cc.Together({})), "nothing to vary"),
    (vary(lambda: cc.Together([{"a": 1}])), "Together takes values by name"),
    (vary(lambda: cc.Together({"a": NORMAL, "b": [1, 2]})), "Together is for lists, but 'a' is drawn at random"),
    (vary(lambda: cc.Together({"a": range(10**12), "b": range(10**12)})), MANY),
    (vary({"a": NORMAL}), r"how many samples of 'a'\? Say for instance cc.Samples\("),
    (vary(lambda: cc.Samples({"a": NORMAL}, count=0)), "count must be a whole number of at least 1, not 0"),
    (vary(lambda: cc.Samples({"a": NORMAL}, count=2, sampling="sobol")), "not 'sobol'"),
    (vary(lambda: cc.Samples({"a": NORMAL}, count=2, seed=-1)), "seed must be"),
    (vary(lambda: cc.Samples({"a": stats.norm(0, -1)}, count=2)), "of 'a' does not give finite numbers"),
    (vary(lambda: cc.Samples({"a": [1, 2]}, count=5)), "'a' is a list: give a distribution"),
    (vary(lambda: cc.Samples({}, count=5)), "nothing to vary"),
    (vary(lambda: cc.Samples("a", count=5)), "Samples takes values by name"),
    (vary(lambda: cc.Samples({"a": NORMAL}, count=10**12)), MANY),
    (vary(lambda: cc.Samples({"a": NORMAL, "b": range(10**6)}, count=10**6)), MANY),
]
NAMES = [
    (vary({"O.motr": [1.0]}), "did you mean 'O.motor'"),
    (vary({"krank.length": [1.0]}), "named 'krank.length' to vary in 'four-bar'; did you mean 'crank.length'"),
    (vary({"gravity.x": [1.0]}), "did you mean 'gravity.y'"),
    (vary({"xyz": [1.0]}), "drawn as exactly zero is structure"),
    (vary({"O": [1.0]}), "'O' is a coordinate: to vary where it starts, say 'start.O'"),
    (vary({"start.Q": [1.0]}), "no coordinate or velocity 'Q'"),
    (vary({"k": [1.0]}), "'k' is no number of Multipliers, it has none that can be varied; cc.VirtualSpring"),
    (
        vary({"k": [1.0], "method.stiffness": [1.0]}, method=cc.VirtualSpring(1e6)),
        "'k' and 'method.stiffness' are the same number",
    ),
    (vary({"crank.mass": [-1.0, -2.0]}), "none of the 2 points .* can begin.* negative mass of -1 kg"),
]
STARTS = [
    (start(lambda: 1.0), "not 1.0"),
    (start(lambda: {"Q": 1.0}), "start: no joint or coordinate is named 'Q'"),
    (start(PENDULUM.assemble), "belongs to mechanism 'pendulum', not to 'four-bar'"),
    (start(lambda: cc.Start(FOUR_BAR.assemble(), velocity={"O": 1.0})), "Start: coordinates takes values by joint"),
    (start(lambda: cc.Start(guess=0.5)), "Start: guess takes values by joint"),
    (start(lambda: cc.Start(velocity=[1.0])), "Start: velocity takes values by joint"),
    (start(lambda: cc.Start(time="noon")), "Start: time must be a finite number, not 'noon'"),
]
OPTIONS = [
    (sweep(keep=["Q"]), "no variable or frame 'Q' to keep"),
    (sweep(keep=[1]), "keep takes names"),
    (sweep(keep=["O.motor"]), "would be named 'O.motor'"),
    (sweep(measure={"status": "max O"}), "would be named 'status'"),
    (sweep(measure={"x": "most O"}), "one of max, min"),
    (sweep(measure={"x": "max lam"}), "is not one number, 'lam' has the axes time, closure"),
    (sweep(measure={"x": 3}), "not 3"),
    (sweep(measure={3: "max O"}), "a measure has a name that can be used in files, not 3"),
    (sweep(measure="max O"), "not 'max O'"),
    (sweep(executor="pool"), "not 'pool'"),
    (sweep(executor=0), "positive number of processes"),
    (sweep(save=3), "save takes the name of a folder, not 3"),
    (sweep(together=True), "sweep has no option 'together'"),
    (sweep(event=()), "sweep has no option 'event'; did you mean 'events'"),
    (sweep(step=1e-3), r"'step': it belongs to the solver, for instance solver=cc.solvers.RK4\(step=...\)"),
    (sweep(solver="euler"), "there is no solver 'euler'"),
    (sweep(solver="rk4"), "'rk4' has a fixed step: say its length"),
    (sweep(method="springs"), "not 'springs'"),
    (sweep(rtol=-1.0), "rtol must be a positive number, not -1.0"),
    (sweep(t_eval=[0.0, 3.0]), "outside of the run"),
    (sweep(events=["O"]), r"an entry of events must be cc.Event\(...\)"),
    (sweep(until=np.inf), "until=inf: such a run has no end"),
    (
        vary({"O.motor": np.linspace(5, 6, 100_000)}, t_eval=cc.Every(1e-9)),
        r"1e[+]08 times of 1e[+]05 points would take 7.45e[+]04 GB, more than the .* GB of this machine: .* save=",
    ),
    (lambda: cc.sweep(cc.library.pendulum(), {"rod.mass": [1.0]}, keep=3), "keep takes names of variables, not 3"),
    (lambda: cc.sweep("four-bar", {"O.motor": [6.0]}), "the mechanism must be a cc.Mechanism, not 'four-bar'"),
]


@pytest.mark.parametrize(
    ("call", "message"), POINTS + NAMES + STARTS + OPTIONS, ids=lambda x: x if isinstance(x, str) else ""
)
def test_what_cannot_be_meant_is_said(call, message):
    with pytest.raises(cc.ModelError, match=message):
        call()
