"""Names of what is varied, and what they mean."""

import closedchain as cc
from closedchain.studies.varied import Role, roles
from tests.unit.studies.drawings import FOUR_BAR


def test_names_and_what_they_mean():
    names = ["crank.length", "start.O", "start.O'", "k", "method.damping"]
    assert list(roles(names, FOUR_BAR, cc.VirtualSpring(1e6)).values()) == [
        Role("parameter", "crank.length"),
        Role("coordinate", "O"),
        Role("velocity", "O"),
        Role("method", "stiffness"),
        Role("method", "damping"),
    ]
