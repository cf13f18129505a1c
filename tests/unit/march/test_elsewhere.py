"""Options that a verb does not have: the sentence says where they belong."""

import inspect

import pytest

import closedchain as cc


@pytest.mark.parametrize("verb", [cc.simulate, cc.sweep, cc.compare, cc.choose_stiffness])
@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("step", r"it belongs to the solver, for instance solver=cc\.solvers\.RK4\(step=\.\.\.\)"),
        ("max_step", r"it belongs to the solver, for instance solver=cc\.solvers\.DOP853\(max_step=\.\.\.\)"),
        ("every", r"say t_eval=cc\.Every\(\.\.\.\)"),
        ("progress", "say it around the call, with closedchain.progress.reported"),
        ("until_time", "did you mean 'until'"),
    ],
)
def test_an_option_of_something_else(verb, option, sentence):
    arguments = [cc.library.pendulum(), {"rod.mass": [1.0]}] if verb is cc.sweep else [cc.library.pendulum()]
    if verb is cc.sweep and option == "until_time":
        sentence = "has no option 'until_time'"
    with pytest.raises(cc.ModelError, match=f"{verb.__name__} has no option '{option}'.*{sentence}|{sentence}"):
        verb(*arguments, **{option: 1})


def test_help_and_signature_are_those_of_the_verb():
    assert list(inspect.signature(cc.simulate).parameters)[:3] == ["mechanism", "start", "until"]
    assert cc.simulate.__doc__.startswith("Simulate the motion of a mechanism.")
