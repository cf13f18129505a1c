"""`import closedchain` is light: the heavy libraries wait until something needs them."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import closedchain

HEAVY = ("casadi", "numba", "llvmlite", "matplotlib", "xarray", "pandas", "scipy", "netCDF4")


def heavy_after(program: str) -> list[str]:
    """The heavy libraries that a fresh interpreter has imported at the end of a program."""
    source = Path(closedchain.__file__).parents[1]
    ending = f"\nimport sys, json; print(json.dumps([name for name in {HEAVY} if name in sys.modules]))"
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program) + ending],
        env=os.environ | {"PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_import_is_light():
    assert heavy_after("import closedchain") == []


def test_drawing_and_printing_are_light():
    program = """
    import closedchain as cc
    from closedchain.model.library import MECHANISMS

    m = cc.Mechanism("arm", gravity=(0, -9.81, 0))
    upper = m.body("upper", cc.rod(length=m.parameter("length", 1.0), mass=1.0))
    lower = m.body("lower", cc.rod(length=1.0, density=2700, radius=0.02))
    m.revolute("shoulder", m.ground, upper, limits=(-1, 1), friction=cc.Friction(viscous=0.1))
    m.revolute("elbow", upper.tip, lower)
    m.motor("shoulder", torque=lambda t, q, v: cc.math.where(t < 1, cc.math.sin(q["elbow"]), -v["elbow"]))
    m.spring("spring", m.ground.at(1, 0, 0), lower.tip, 100.0)
    m.validate()
    str(m)
    for entry in MECHANISMS.values():
        str(entry.build())
    """
    assert heavy_after(program) == []


def test_errors_of_the_drawing_are_light():
    program = """
    import closedchain as cc

    m = cc.Mechanism("arm")
    try:
        m.revolute("hinge", m.ground, m.ground)
    except cc.ModelError:
        pass
    """
    assert heavy_after(program) == []


@pytest.mark.parametrize("name", closedchain.__all__)
def test_every_public_name_exists(name):
    assert getattr(closedchain, name) is not None
    assert name in dir(closedchain)


def test_names_for_type_checkers_are_those_of_run_time():
    """The block under TYPE_CHECKING and the table of homes say the same thing twice."""
    source = Path(closedchain.__file__).read_text(encoding="utf-8")
    block = source.split("if TYPE_CHECKING:")[1].split("def __getattr__")[0]
    words = set(block.replace(",", " ").replace("(", " ").replace(")", " ").split())

    assert set(closedchain._WHERE) <= words


def test_an_unknown_name_is_said():
    with pytest.raises(AttributeError, match="no attribute 'simulator'"):
        closedchain.simulator  # noqa: B018
