"""Names of what is varied, and what they mean."""

import pytest

import closedchain as cc
from closedchain.studies.varied import Role, roles

FOUR_BAR = cc.library.four_bar()


def test_names_and_what_they_mean():
    names = ["crank.length", "start.O", "start.O'", "k", "method.damping"]
    assert list(roles(names, FOUR_BAR, cc.VirtualSpring(1e6)).values()) == [
        Role("parameter", "crank.length"),
        Role("coordinate", "O"),
        Role("velocity", "O"),
        Role("method", "stiffness"),
        Role("method", "damping"),
    ]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["krank.length"], "nothing named 'krank.length' to vary in 'four-bar'; did you mean 'crank.length'"),
        (["gravity.x"], "did you mean 'gravity.y'"),
        (["xyz"], "drawn as exactly zero is structure"),
        (["O"], "'O' is a coordinate: to vary where it starts, say 'start.O'"),
        (["start.Q"], "no coordinate or velocity 'Q'"),
        (["k"], r"'k' is no number of Multipliers, it has none that can be varied; cc.VirtualSpring"),
    ],
    ids=lambda x: x[0] if isinstance(x, list) else "",
)
def test_unknown_names_are_said(names, message):
    with pytest.raises(cc.ModelError, match=message):
        roles(names, FOUR_BAR, cc.Multipliers())


def test_the_same_number_twice():
    with pytest.raises(cc.ModelError, match=r"'k' and 'method.stiffness' are the same number"):
        roles(["k", "method.stiffness"], FOUR_BAR, cc.VirtualSpring(1e6))
