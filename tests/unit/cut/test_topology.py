"""Cutting mechanisms: which joints, which limbs, which numbers."""

import pytest

import closedchain as cc
from closedchain.cut.topology import cut
from closedchain.model.library import MECHANISMS


def chain(*kinds, name="loop", **options):
    """A closed loop of bodies b1, b2, ... and joints j1, j2, ... of the given kinds, from the ground and back to it."""
    m = cc.Mechanism(name, gravity=(0, 0, 0))
    last = m.ground
    for k, kind in enumerate(kinds, start=1):
        body = m.ground if k == len(kinds) else m.body(f"b{k}", cc.ball(0.1, 1.0))
        m.joint(kind, f"j{k}", last, body, **({"pitch": 0.1} if kind == "screw" else {}), **options.get(f"j{k}", {}))
        last = body
    return m


def cuts(m):
    return [joint.name for joint in cut(m).cuts]


# ---- which joints ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        (("revolute", "revolute", "spherical", "revolute"), "j3"),
        (("spherical", "revolute", "revolute", "revolute"), "j1"),
        (("revolute", "universal", "revolute", "revolute"), "j2"),
        (("universal", "spherical", "cylindrical", "revolute"), "j2"),
        (("revolute", "planar", "cylindrical", "revolute"), "j2"),
        (("weld", "prismatic", "weld"), "j2"),
        (("screw", "weld", "cylindrical"), "j3"),
    ],
    ids=lambda x: x if isinstance(x, str) else "-".join(k[0] for k in x),
)
def test_the_joint_with_the_fewest_equations_is_cut(kinds, expected):
    assert cuts(chain(*kinds)) == [expected]


@pytest.mark.parametrize("n", range(3, 9))
def test_equal_joints_are_cut_in_the_middle(n):
    topology = cut(chain(*["revolute"] * n))
    lengths = sorted(len(limb) for limb in topology.limbs)

    assert len(topology.cuts) == 1 and lengths[-1] - lengths[0] <= 1


@pytest.mark.parametrize(
    "use",
    [
        lambda m: m.motor("j3", torque=1.0, coordinate="wx"),
        lambda m: m.joint_damper("j3", 1.0, coordinate="wx"),
        lambda m: m.motor("j1", torque=lambda t, q, v: v["j3.wx"]),
        lambda m: m.force("push", m.bodies["b1"], (lambda t, q, v: q["j3.qx"], 0, 0)),
        lambda m: m.force("push", m.bodies["b1"], moment=(0, lambda t, q, v: v["j3.wz"], 0)),
    ],
    ids=["motor", "damper", "measured by a motor", "measured by a force", "measured by a moment"],
)
def test_a_joint_that_is_driven_or_measured_is_kept(use):
    m = chain("revolute", "revolute", "spherical", "revolute", "revolute")
    assert cuts(m) == ["j3"]
    use(m)

    assert cuts(m) == ["j2"] or cuts(m) == ["j4"] or cuts(m) == ["j5"]


def test_friction_and_springs_count_as_use():
    m = chain("revolute", "revolute", "cylindrical", "revolute", j3={"friction": (cc.Friction(0.1), None)})
    assert cuts(m) != ["j3"]


@pytest.mark.parametrize(
    "use",
    [
        lambda m: m.joint_spring("j3", 1.0, coordinate="slide"),
        lambda m: m.rotor("j3", 1.0, coordinate="angle"),
        lambda m: m.couple("gear", "j1", "j3.angle"),
        lambda m: m.drive("j3", cc.math.sin(cc.t), coordinate="slide"),
    ],
    ids=["spring", "rotor", "gear", "drive"],
)
def test_whatever_asks_for_a_coordinate_keeps_its_joint(use):
    m = chain("revolute", "revolute", "cylindrical", "revolute")
    assert cuts(m) == ["j3"]
    use(m)

    assert cuts(m) != ["j3"]


def test_if_all_are_driven_one_is_cut_all_the_same():
    m = chain(*["revolute"] * 4)
    for name in m.joints:
        m.motor(name, torque=1.0)

    assert len(cuts(m)) == 1


def test_the_user_may_choose():
    assert cuts(chain("spherical", "revolute", "revolute", "revolute", j4={"cut": True})) == ["j4"]
    assert cuts(chain("spherical", "revolute", "revolute", "universal", j1={"cut": False})) == ["j4"]


def test_a_user_choice_beats_a_motor():
    m = chain(*["revolute"] * 4, j1={"cut": True})
    m.motor("j1", torque=1.0)

    assert cuts(m) == ["j1"]


@pytest.mark.parametrize("kept", ["j1", "j2", "j3", "j4"])
def test_a_joint_that_must_not_be_cut_beats_motors(kept):
    """What the user says comes before what is driven."""
    m = chain(*["revolute"] * 4, **{kept: {"cut": False}})
    for name in m.joints:
        if name != kept:
            m.motor(name, torque=1.0)

    assert kept not in cuts(m)


def test_a_loop_that_must_not_be_cut_anywhere_is_a_contradiction():
    m = chain(*["revolute"] * 3, **{f"j{k}": {"cut": False} for k in (1, 2, 3)})

    with pytest.raises(cc.ModelError, match=r"j[123].*cut=False|cut=False.*j[123]"):
        cut(m)


def test_cutting_everything_sets_bodies_adrift():
    m = chain(*["revolute"] * 4, **{f"j{k}": {"cut": True} for k in (1, 2, 3, 4)})
    topology = cut(m)

    assert cuts(m) == ["j1", "j2", "j3", "j4"]
    assert [link.joint.name for link in topology.links] == ["b1.free", "b2.free", "b3.free"]
    assert all(link.parent == -1 for link in topology.links) and len(topology.limbs) == 3
    assert (topology.tree_nq, topology.nv) == (21, 18)
    assert (topology.nq, topology.q_labels[21:]) == (25, ("j1", "j2", "j3", "j4"))
    assert [j.name for j in topology.joints] == ["j1", "j2", "j3", "j4", "b1.free", "b2.free", "b3.free"]


def test_a_part_that_is_set_adrift_floats_as_one():
    m = chain("spherical", "revolute", "revolute", "spherical", j1={"cut": True}, j4={"cut": True})
    topology = cut(m)

    assert [link.joint.name for link in topology.links] == ["b1.free", "j2", "j3"]
    assert len(topology.limbs) == 1


def test_a_name_that_is_taken_does_not_clash_with_the_implied_joint():
    m = cc.Mechanism("clash")
    plate = m.body("plate", cc.ball(0.1, 1.0))
    m.spherical("plate.free", m.ground, plate, cut=True)
    m.spherical("other", m.ground.at(1, 0, 0), plate.at(1, 0, 0), cut=True)
    topology = cut(m)

    assert len({j.name for j in topology.joints}) == 3
    assert all(j.name not in topology.tree_joints for j in topology.cuts)


def test_welds_are_kept():
    m = cc.Mechanism("welded")
    a, b, c = (m.body(name, cc.ball(0.1, 1.0)) for name in "abc")
    m.revolute("hinge", m.ground, a)
    m.weld("ab", a, b)
    m.weld("bc", b, c)
    m.revolute("other", c, m.ground)
    topology = cut(m)

    assert len(cuts(m)) == 1 and cuts(m)[0] in ("hinge", "other")
    assert topology.nv == 1


def test_a_loop_of_welds_is_cut_somewhere():
    m = cc.Mechanism("frame")
    a, b, c = (m.body(name, cc.ball(0.1, 1.0)) for name in "abc")
    m.revolute("hinge", m.ground, a)
    m.weld("ab", a, b)
    m.weld("bc", b, c)
    m.weld("ca", c, a)

    assert len(cuts(m)) == 1 and cuts(m)[0] in ("ab", "bc", "ca")


def test_a_free_joint_is_never_cut():
    m = cc.Mechanism("stool")
    seat = m.body("seat", cc.box((1, 1, 0.1), 1.0))
    m.free("pose", m.ground, seat)
    for k in range(3):
        leg = m.body(f"leg{k}", cc.rod(1.0, 1.0, radius=0.01))
        m.universal(f"foot{k}", m.ground.at(k, 0, 0), leg)
        m.spherical(f"ankle{k}", leg.tip, seat.at(k, 0, 0))

    assert cuts(m) == ["ankle0", "ankle1", "ankle2"]


def test_two_free_joints_that_close_a_loop_are_refused():
    """Neither has anything to close: the drawing says the same thing twice."""
    m = cc.Mechanism("flyer")
    a = m.body("a", cc.ball(0.1, 1.0))
    m.free("f1", m.ground, a)
    m.free("f2", m.ground, a)

    with pytest.raises(cc.ModelError, match=r"f[12]"):
        m.assemble()


@pytest.mark.parametrize("loops", [1, 2, 3, 10, 40])
def test_a_chain_of_loops(loops):
    """Each loop shares a body with the one before; every loop has exactly one cut."""
    m = cc.Mechanism("pantograph")
    base = m.ground
    for k in range(loops):
        left, right, top = (m.body(f"{name}{k}", cc.rod(1.0, 1.0)) for name in ("left", "right", "top"))
        m.revolute(f"A{k}", base, left)
        m.revolute(f"B{k}", base.at(1, 0, 0), right)
        m.revolute(f"C{k}", left.tip, top)
        m.revolute(f"D{k}", right.tip, top.tip)
        base = top
    topology = cut(m)

    assert sorted({int(j.name[1:]) for j in topology.cuts}) == list(range(loops))
    assert len(topology.cuts) == loops and topology.nv == 3 * loops
    assert len(m.bodies) == len(topology.links)


def test_a_long_chain_is_numbered():
    """Deeper than Python's own stack."""
    m = cc.Mechanism("rope")
    last = m.ground
    for k in range(1100):
        body = m.body(f"b{k}", cc.rod(0.1, 0.1))
        m.revolute(f"j{k}", last, body)
        last = body
    topology = cut(m)

    assert [link.parent for link in topology.links] == list(range(-1, 1099))


def test_the_choice_is_stable():
    """The same drawing again, in this process or another, gives the same cuts."""
    for name, entry in MECHANISMS.items():
        first, second = cut(entry.build()), cut(entry.build())
        assert [j.name for j in first.cuts] == [j.name for j in second.cuts], name
        assert first.q_labels == second.q_labels, name


EXPECTED = {
    "pendulum": [],
    "double-pendulum": [],
    "four-bar": ["B"],
    "slider-crank": ["B"],
    "five-bar": ["tip"],
    "rrr3": ["wrist2", "wrist3"],
    "gough-stewart": [f"leg{k} ball" for k in range(1, 7)],
    "four-bar-chain": [f"right{k}" for k in range(1, 6)],
    "pacdrive": ["joint5", "joint7", "joint11"],
    "delta": [f"arm{k} {side} ball" for k in (1, 2, 3) for side in ("left", "right")],
    "hexaglide": [f"strut{k} ball" for k in range(1, 7)],
    "arms-with-box": [f"arm{k} tip" for k in (1, 2, 3)],
    "hexapod": [f"leg{k} foot" for k in range(1, 7)],
    "walker": [f"leg{k} foot" for k in range(1, 5)],
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_cuts_of_the_library(name):
    assert cuts(MECHANISMS[name].build()) == EXPECTED[name]


# ---- numbering -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MECHANISMS)
def test_numbers_follow_each_other(name):
    topology = cut(MECHANISMS[name].build())
    nq = nv = 0
    for k, link in enumerate(topology.links):
        assert link.index == k and link.parent < k
        assert (link.q.start, link.v.start) == (nq, nv)
        nq, nv = link.q.stop, link.v.stop
        assert (nq - link.q.start, nv - link.v.start) == (link.joint.type.nq, link.joint.type.nv)
    assert (topology.tree_nq, topology.nv) == (nq, nv)
    for counter in topology.counters:
        assert counter.joint in topology.cuts and counter.q == nq
        nq += 1
    assert topology.nq == nq
    assert (len(topology.q_labels), len(topology.v_labels)) == (nq, nv)
    assert len(set(topology.q_labels)) == nq and len(set(topology.v_labels)) == nv


@pytest.mark.parametrize("name", MECHANISMS)
def test_limbs_are_whole_and_contiguous(name):
    topology = cut(MECHANISMS[name].build())

    assert [link for limb in topology.limbs for link in limb] == list(topology.links)
    for k, limb in enumerate(topology.limbs):
        assert limb[0].parent == -1
        assert all(link.limb == k for link in limb)
        assert all(topology.links[link.parent].limb == k for link in limb[1:])


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_joint_is_in_the_tree_or_cut(name):
    m = MECHANISMS[name].build()
    topology = cut(m)
    kept = {link.joint.name for link in topology.links}

    assert kept.isdisjoint(cuts(m)) and kept | set(cuts(m)) == set(m.joints)
    assert set(topology.link_of) == {"ground", *m.bodies} and topology.link_of["ground"] == -1


def test_a_joint_drawn_towards_the_ground_is_reversed():
    m = cc.Mechanism("arm")
    upper, lower = m.body("upper", cc.rod(1.0, 1.0)), m.body("lower", cc.rod(1.0, 1.0))
    m.revolute("shoulder", upper, m.ground)
    m.revolute("elbow", upper.tip, lower)

    assert [link.reversed for link in cut(m).links] == [True, False]


def test_path_and_common_ancestor():
    m = cc.Mechanism("tree")
    trunk, left, right, twig = (m.body(name, cc.rod(1.0, 1.0)) for name in ("trunk", "left", "right", "twig"))
    other = m.body("other", cc.rod(1.0, 1.0))
    m.revolute("root", m.ground, trunk)
    m.revolute("l", trunk.tip, left)
    m.revolute("t", left.tip, twig)
    m.revolute("r", trunk.tip, right)
    m.revolute("o", m.ground, other)
    topology = cut(m)
    at = topology.link_of

    def common(a, b):
        k = topology.common_ancestor(at[a], at[b])
        return "ground" if k < 0 else topology.links[k].body.name

    assert [topology.links[k].body.name for k in topology.path(at["twig"])] == ["twig", "left", "trunk"]
    assert topology.path(-1) == []
    assert common("twig", "right") == common("right", "twig") == "trunk"
    assert common("twig", "left") == "left" and common("twig", "twig") == "twig"
    assert common("twig", "other") == common("ground", "twig") == common("twig", "ground") == "ground"


def test_labels():
    m = chain("planar", "spherical", "revolute", j3={"cut": True})
    topology = cut(m)

    # the last one counts the turns of the cut hinge
    assert topology.q_labels == ("j1.x", "j1.y", "j1.angle", "j2.qw", "j2.qx", "j2.qy", "j2.qz", "j3")
    assert topology.v_labels == ("j1.x", "j1.y", "j1.angle", "j2.wx", "j2.wy", "j2.wz")


@pytest.mark.parametrize(
    ("kind", "counted"),
    [
        ("revolute", ["j2"]),
        ("cylindrical", ["j2.angle"]),
        ("universal", ["j2.angle1", "j2.angle2"]),
        ("planar", ["j2.angle"]),
        ("prismatic", []),
        ("screw", []),  # its advance tells the turns
        ("spherical", []),
        ("weld", []),
    ],
)
def test_turns_of_cut_joints_are_counted(kind, counted):
    topology = cut(chain("revolute", kind, "revolute", j2={"cut": True}))
    counters = topology.counters

    assert [x.label for x in counters] == counted
    assert [x.joint.labels()[x.index] for x in counters] == counted
    assert [x.q for x in counters] == list(range(topology.tree_nq, topology.nq))
    assert topology.q_labels[topology.tree_nq :] == tuple(counted)
    assert not cut(chain("revolute", kind, "revolute", j1={"cut": True}, j2={"cut": False})).counters[1:]


@pytest.mark.parametrize(
    ("use", "middle"),
    [
        (lambda m: None, 0.0),
        (lambda m: m.joint_spring("j2", 1.0, rest=7.0), 7.0),
        (lambda m: m.motor("j2", torque=lambda t, q, v: -q["j2"]), 0.0),
        (lambda m: m.drive("j2", cc.t + 5.0), 0.0),
        (lambda m: m.couple("gear", "j1", "j2", offset=9.0), 0.0),
    ],
    ids=["nothing", "spring", "motor", "drive", "gear"],
)
def test_turns_are_counted_from_where_it_matters(use, middle):
    m = chain("revolute", "revolute", "revolute", j2={"cut": True})
    use(m)
    (counter,) = cut(m).counters

    assert m.values()(counter.middle) == middle


def test_turns_between_stops_are_counted_from_their_middle():
    m = chain("revolute", "revolute", "revolute", j2={"cut": True, "limits": cc.Stops(5.0, 8.0, stiffness=10.0)})
    (counter,) = cut(m).counters

    assert m.values()(counter.middle) == 6.5


# ---- when it is computed ---------------------------------------------------------------------------------------------


def test_a_topology_is_kept_until_the_drawing_changes():
    m = cc.library.four_bar()
    first = cut(m)
    m.parameters["crank.length"] = 1.1
    assert cut(m) is first
    m.motor("B", torque=1.0)

    assert cut(m) is not first
    assert cuts(m) != ["B"]


def test_an_incomplete_drawing_is_refused():
    m = cc.library.four_bar()
    m.body("lonely", cc.ball(0.1, 1.0))

    with pytest.raises(cc.ModelError, match="'lonely'"):
        cut(m)
