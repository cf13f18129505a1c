"""Which body is the reference member, which closure row belongs to which chain, and what is refused."""

import pytest

import closedchain as cc
from closedchain.close.parts.chains import closure_rows, find_chains
from closedchain.derive.equations import derive
from closedchain.pose.redundancy import independent_rows


def chains(m, reference=None):
    """Name of the reference member, and the closures of the chains by name: of the one that carries it, of others."""
    e = derive(m)
    rows = closure_rows(e, independent_rows(e, m.assemble()).kept)
    found = find_chains(e, rows, reference)
    names = [sorted({rows[r].name for r in group}) for group in (found.carrier, *found.others)]
    return e.topology.links[found.reference].body.name, found.limbs, names[0], sorted(names[1:])


@pytest.mark.parametrize(
    ("name", "reference", "limbs"),
    [
        ("four-bar", "coupler", 2),
        ("slider-crank", "rod", 2),
        ("five-bar", "left distal", 2),
        ("rrr3", "platform", 3),
        ("gough-stewart", "platform", 6),
        ("arms-with-box", "box", 3),
        ("hexapod", "body", 6),
        ("delta", "platform", 3),
    ],
)
def test_the_reference_member_is_where_most_chains_meet(name, reference, limbs):
    assert chains(cc.library.get(name).build())[:2] == (reference, limbs)


def test_nothing_to_close():
    m = cc.library.double_pendulum()
    assert find_chains(derive(m), [], None).reference == -1


def test_every_leg_of_a_platform_is_a_chain():
    _, _, carrier, others = chains(cc.library.gough_stewart())
    assert carrier == []
    assert others == [[f"leg{k} ball"] for k in range(1, 7)]


def test_a_platform_may_hang_on_a_leg():
    """One leg of the 3-RRR carries the platform in the tree; the other two are cut somewhere."""
    _, _, carrier, others = chains(cc.library.rrr3())
    assert carrier == []
    assert len(others) == 2


def test_another_reference_member():
    """The crank as the reference member leaves one chain of coupler and rocker."""
    name, limbs, carrier, others = chains(cc.library.four_bar(), "crank")
    assert (name, limbs, carrier, others) == ("crank", 1, [], [["B"]])


def parallelograms():
    """Two four-bars side by side, which only the ground connects."""
    m = cc.Mechanism("two four-bars", gravity=(0, -9.81, 0))
    for k, x in enumerate((0.0, 5.0)):
        left, right, top = (m.body(f"{n} {k}", cc.rod(length=1.0, mass=1.0)) for n in ("left", "right", "top"))
        m.revolute(f"A{k}", m.ground.at(x, 0, 0), left, guess=1.0)
        m.revolute(f"B{k}", m.ground.at(x + 1, 0, 0), right, guess=1.0)
        m.revolute(f"C{k}", left.tip, top, guess=-1.0)
        m.revolute(f"D{k}", top.tip, right.tip, cut=True)
        m.start[f"A{k}"] = 1.0
    return m


def test_loops_that_share_no_body_are_refused():
    with pytest.raises(cc.ModelError, match=r"loop at 'D\d' does not meet .* use cc\.Multipliers\(\)"):
        chains(parallelograms())


def test_a_gear_between_chains_is_refused():
    m = cc.library.rrr3()
    m.couple("gear", "base1", "base2", offset=m.start["base1"] - m.start["base2"])
    del m.start["base2"]
    with pytest.raises(cc.ModelError, match=r"'gear' ties two chains .* 'platform' only; use cc\.Multipliers\(\)"):
        chains(m, "platform")


def test_a_gear_within_a_chain_is_a_row_of_it():
    m = cc.library.rrr3()
    q = m.assemble()["elbow2"]
    m.couple("gear", "elbow2", "base2", offset=q - m.start["base2"])
    _, _, _, others = chains(m, "platform")
    assert ["gear", "wrist2"] in others


def test_a_drive_belongs_to_the_chain_of_its_joint():
    m = cc.library.rrr3()
    m.drive("base2", m.start["base2"] + 0.1 * cc.t)
    assert ["base2.drive", "wrist2"] in chains(m)[3]


def test_a_drive_elsewhere_is_no_loop():
    m = cc.library.four_bar()
    m.revolute("axle", m.ground.at(0, 5, 0), m.body("fan", cc.disc(radius=0.2, thickness=0.01, mass=1.0)))
    m.drive("axle", 3.0 * cc.t)
    assert chains(m) == ("coupler", 2, [], [["B"], ["axle.drive"]])


def test_a_drive_of_the_reference_members_own_joint():
    m = cc.library.four_bar()
    m.drive("A", m.assemble()["A"] + 0.1 * cc.t)
    assert chains(m) == ("coupler", 2, ["A.drive"], [["B"]])


def test_an_unknown_reference_member():
    with pytest.raises(cc.ModelError, match=r"no body 'platforn'.*platform"):
        chains(cc.library.rrr3(), "platforn")
