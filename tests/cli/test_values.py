import math

import pytest

from closedchain.cli.parts.exits import WrongUsage
from closedchain.cli.parts.values import assignments, pose


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1.0),
        ("-2.5e-3", -2.5e-3),
        ("+1", 1.0),
        ("pi/2", math.pi / 2),
        ("-pi", -math.pi),
        ("90*deg", math.pi / 2),
        ("(1 + 2) * 3 - 2**2", 5.0),
        (" 7 ", 7.0),
    ],
)
def test_numbers(text, value):
    assert assignments("--set", [f"A={text}"]) == {"A": pytest.approx(value, rel=1e-15)}  # one rounding


@pytest.mark.parametrize(
    "text",
    [
        "one", "1,5", "1 2", "nan", "inf", "1e999", "1/0", "(-1)**0.5", "9**9**9", "__import__('os')", "True", "1j",
        "'1'", "deg(90)", "[1]", "-" * 5000 + "1",
    ],
)  # fmt: skip
def test_what_is_not_a_number(text):
    with pytest.raises(WrongUsage, match="is not a finite number") as told:
        assignments("--set", [f"crank.mass={text}"])
    assert "--set crank.mass=" in str(told.value)


@pytest.mark.parametrize("text", ["crank.mass", "=1", "crank.mass=", " =1", ""])
def test_what_is_not_an_assignment(text):
    with pytest.raises(WrongUsage, match=r"--set takes NAME=VALUE, for instance"):
        assignments("--set", [text])


def test_names_may_contain_nearly_everything():
    assert assignments("--set", ["leg1 start=1", "a=b=2"]) == {"leg1 start": 1.0, "a=b": 2.0}


def test_the_same_name_twice():
    with pytest.raises(WrongUsage, match="gives 'A' twice, as 1 and as 2"):
        assignments("--set", ["A=1", "A=2"])


def test_several_coordinates_of_one_joint():
    assert pose("--hold", ["base=0.1,pi/2", "slide=2"]) == {"base": [0.1, math.pi / 2], "slide": [2.0]}
    with pytest.raises(WrongUsage, match="'x' is not a finite number"):
        pose("--hold", ["base=0.1,x"])
