"""Modelica.Mechanics.MultiBody.Examples.Loops.PlanarFourbar: a four-bar of steel under gravity, with a damper."""

import closedchain as cc
from tests.reference.compare import load
from tests.reference.modelica.reference_results import bar, check

NUMBERS = load("modelica/planar_fourbar")


def planar_fourbar():
    p = NUMBERS["parameters"]
    square = p["width"] ** 2 / 12  # width and height are equal
    m = cc.Mechanism("PlanarFourbar", gravity=[p["g"] * x for x in p["gravity_direction"]])
    r = {k: p[f"body{k}_r"] for k in (1, 2, 3, 4)}
    body = {
        k: m.body(f"body{k}", bar(r[k], p["density"], p["width"] * p["height"], 2 * square, square)) for k in (1, 2, 4)
    }
    m.revolute("revolute1", m.ground, body[1])
    m.revolute("revolute2", body[1].at(*r[1]), body[2])
    m.revolute("revolute3", m.ground.at(*r[3]), body[4])
    m.revolute("revolute4", body[4].at(*r[4]), body[2].at(*r[2]))
    m.joint_damper("revolute1", p["damper_d"])
    return m


def test_motion():
    m = planar_fourbar()
    check(m, m.assemble(revolute1=0.0), "revolute1", NUMBERS)
