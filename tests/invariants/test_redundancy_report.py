"""Over-constrained mechanisms: which equations repeat others, which reactions are unique, how the rest is shared."""

import functools

import numpy as np
import pytest

import closedchain as cc
from tests.invariants import drawings
from tests.invariants.balance import all_reactions, imbalance, self_stress
from tests.invariants.drawings import TILT


def short_run(m, until=0.4, samples=5):
    return cc.simulate(m, m.assemble(), until=until, rtol=1e-9, t_eval=np.linspace(0, until, samples))


def flags(run, joint):
    """Force and moment components that are unique, by their axes in the joint's first frame."""
    got = run.reaction(joint, axes="joint")
    return tuple(
        "".join(a for a, ok in zip("xyz", got[f"{x}_unique"].values, strict=True) if ok) for x in ("force", "moment")
    )


@functools.cache
def known(name):
    """A mechanism that some tests share, and a short run of it."""
    m = drawings.storeys(1, 3) if name == "storeys" else getattr(drawings, name)()
    return m, short_run(m)


class Norm:
    """What the distribution of reactions minimises at a sample: forces, and moments by the size of the largest body."""

    def __init__(self, run, i, stiffness=None):
        joints = run.mechanism.joints
        drawn = {name: [body["com"].position] for name, body in run.mechanism.bodies.items()}
        for frame in (frame for joint in joints.values() for frame in (joint.a, joint.b)):
            if frame.body.name in drawn:
                drawn[frame.body.name].append(frame.position)
        value = run.mechanism.values()
        places = [np.array([[value(x) for x in place] for place in each]) for each in drawn.values()]
        size = max(np.linalg.norm(x[:, None] - x, axis=2).max() for x in places)
        got = all_reactions(run, stiffness=stiffness)
        self.f = np.concatenate([x[part].values[i] for x in got.values() for part in ("moment", "force")])
        each = [np.repeat([1 / size**2, 1.0], 3) / (stiffness or {}).get(name, 1.0) for name in joints]
        self.weight = np.concatenate(each)

    def __call__(self, change=0.0):
        return self.weight @ (self.f + change) ** 2


# ---- which equations -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", "OABC")
def test_a_planar_loop_in_space_has_three_equations_too_many_at_its_cut(cut):
    mobility = drawings.four_bar(cut=cut).mobility()
    assert mobility.redundant == ((cut, "z"), (cut, "tilt x"), (cut, "tilt y"))
    assert f"3 of 5 closure equations repeat others, so the count is 3 too small ({cut}: z, tilt x, tilt y)" in str(
        mobility
    )


def test_an_exactly_constrained_drawing_has_nothing_to_report():
    mobility = drawings.four_bar("RRUS").mobility()
    assert mobility.redundant == ()
    assert "repeat" not in str(mobility)


def test_tilted_rows_are_mixed_but_as_many():
    mobility = drawings.four_bar(cut="B", R=TILT).mobility()
    assert [joint for joint, _ in mobility.redundant] == ["B"] * 3
    assert {"tilt x", "tilt y"} < {row for _, row in mobility.redundant}


def test_a_third_rocker():
    """Three equations out of the plane for each loop, and one in it: the floor cannot turn already."""
    mobility = drawings.storeys(1, 3).mobility()
    out_of_plane = [(j, row) for j, row in mobility.redundant if row in ("z", "tilt x", "tilt y")]
    in_plane = [(j, row) for j, row in mobility.redundant if row in ("x", "y")]
    assert (len(out_of_plane), len(in_plane)) == (6, 1)
    assert {j for j, _ in mobility.redundant} == {"head1.1", "head1.2"}


@pytest.mark.parametrize("cut", ["hip0", "knee0", "ankle1"])
def test_sarrus_says_twice_that_the_table_does_not_turn(cut):
    ((joint, row),) = drawings.sarrus(cut=cut).mobility().redundant
    assert joint == cut and row in ("tilt x", "tilt y")


# ---- which reactions -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("drawing", [{}, {"R": TILT}, {"cut": "O"}])
def test_in_a_planar_loop_the_plane_is_unique(drawing):
    run = short_run(drawings.four_bar(**drawing))
    for joint in "OABC":
        assert flags(run, joint) == ("xy", "z")
    exact = short_run(drawings.four_bar("RRUS"))
    for joint in "OABC":
        assert flags(exact, joint) == ("xyz", "xyz")


def test_with_a_third_rocker_only_forces_across_the_rockers_are_unique():
    _, run = known("storeys")
    for k in range(3):
        # a rocker turns by what acts across its head; along it, any force may be exchanged with its neighbours
        assert flags(run, f"head1.{k}") == ("y", "z")
        assert flags(run, f"foot1.{k}") == ("", "z")


def test_sarrus_leaves_open_one_moment_about_the_vertical():
    m, run = known("sarrus")
    for joint in m.joints:
        force, moment = flags(run, joint)
        assert force == "xyz"
        if joint.startswith("hip"):  # one axis of a hip is vertical, those of the other hinges lean
            assert len(moment) == 2 and "z" in moment
        else:
            assert moment == "z"
    stress = self_stress(run, 2)
    assert stress.shape[1] == 1
    wrench = stress.reshape(6, 6)
    assert np.abs(wrench[:, [0, 1, 3, 4, 5]]).max() < 1e-12  # a couple about the vertical, through all hinges
    assert np.allclose(np.abs(wrench[:, 2]), np.abs(wrench[0, 2]))


@pytest.mark.parametrize("name", ["four_bar", "storeys", "sarrus", "bennett"])
def test_as_many_open_wrenches_as_equations_too_many(name):
    m, run = known(name)
    assert self_stress(run, 3).shape[1] == len(m.mobility().redundant)


# ---- what they are -------------------------------------------------------------------------------------------------

BALANCED = {
    "four-bar": lambda: drawings.four_bar(),
    "four-bar, tilted and adrift": lambda: drawings.four_bar(cut="OABC", R=TILT),
    "four-bar, universal and ball": lambda: drawings.four_bar("RRUS", R=TILT),
    "four-bar, planar joints": lambda: drawings.four_bar(planar=("coupler",), R=TILT),
    "two storeys on three rockers": lambda: drawings.storeys(2, 3),
    "sarrus": lambda: drawings.sarrus(),
    "bennett": lambda: drawings.bennett(),
    "bricard": lambda: drawings.bricard_line(),
    "slider-crank with a motor": lambda: cc.library.slider_crank(),
    "3-RRR with motors": lambda: cc.library.rrr3(torques=(1.0, -2.0, 0.5)),
    "gough-stewart with drives": lambda: drawings.driven_hexapod(),
}


@pytest.mark.parametrize("name", BALANCED)
def test_every_body_is_in_balance(name):
    m = BALANCED[name]()
    run = short_run(m)
    assert imbalance(run, [0, 2, 4]) < 1e-10
    if m.mobility().redundant:
        stiffness = {joint: 10.0**k for k, joint in enumerate(list(m.joints)[:3])}
        assert imbalance(run, [3], stiffness=stiffness) < 1e-10


CUT = {"revolute": {}, "prismatic": {}, "cylindrical": {}, "screw": {"pitch": 0.3}, "universal": {}, "planar": {},
       "weld": {}, "spherical": {}}  # fmt: skip


@pytest.mark.parametrize("kind", CUT)
def test_the_multiplier_of_a_cut_joint_is_its_reaction(kind):
    """Force and moment of the first body on the second, component by component and with its sign."""
    m = cc.Mechanism("held")
    body = m.body("body", cc.rigid(2.0, com=(0.1, 0.2, 0.3), inertia=(0.2, 0.3, 0.25)))
    m.joint(kind, "held", m.ground, body, cut=True, **CUT[kind])
    m.revolute("other", m.ground.at(5, 0, 0), m.body("arm", cc.rod(1.0, mass=1.0)))  # something must move
    m.force("push", body, (3, -2, 7), moment=(1.0, 2.0, 3.0))
    run = cc.simulate(m, m.assemble(), until=0.0)
    got = run.reaction("held")
    force, moment = got.force.values[0], got.moment.values[0]
    lam = run["lam"]
    for label, value in zip(lam.closure.values, lam.values[0], strict=True):
        row = str(label).removeprefix("held ")
        part = force if row in ("x", "y", "z", "advance") else moment
        axis = {"advance": 2, "square": 2}.get(row, "xyz".find(row[-1]))
        assert value == pytest.approx(part[axis], abs=1e-10)


@pytest.mark.parametrize("name", ["four_bar", "storeys", "sarrus", "bennett"])
@pytest.mark.parametrize("weighted", [False, True])
def test_no_other_distribution_is_smaller(name, weighted, rng):
    m, run = known(name)
    stiffness = dict(zip(m.joints, rng.uniform(0.1, 10, len(m.joints)), strict=True)) if weighted else None
    norm, stress = Norm(run, 3, stiffness), self_stress(run, 3)
    for _ in range(20):
        change = stress @ rng.normal(size=stress.shape[1])
        for size in (1e-3, 1.0, 30.0):
            # the norm grows with the square of the change: there is no first-order term
            assert norm(size * change) > norm() and norm(-size * change) > norm()


@pytest.mark.parametrize("name", ["four_bar", "storeys", "sarrus", "bennett"])
def test_what_is_unique_does_not_depend_on_weights(name, rng):
    m, run = known(name)
    stiffness = dict(zip(m.joints, rng.uniform(0.01, 100, len(m.joints)), strict=True))
    moved = 0.0
    for joint in m.joints:
        plain, stiff = run.reaction(joint, axes="joint"), run.reaction(joint, axes="joint", stiffness=stiffness)
        for part in ("force", "moment"):
            unique = plain[f"{part}_unique"].values
            difference = np.abs(plain[part].values - stiff[part].values)
            assert difference[:, unique].max(initial=0.0) < 1e-9  # of some 10 N, weights differ by 1e4
            moved = max(moved, difference[:, ~unique].max(initial=0.0))
    # a planar loop under forces in its plane has nothing to share: zero is the smallest for all weights
    assert moved > 0.1 or name == "four_bar"


def door(hinges):
    """A door on several hinges, some of them at the same place, opened by a motor."""
    m = cc.Mechanism("door")
    leaf = m.body("leaf", cc.rigid(mass=20.0, com=(0.4, 0, 1.0), inertia=(6.8, 7.9, 1.1)))
    for name, height in hinges.items():
        m.revolute(name, m.ground.at(0, 0, height), leaf.at(0, 0, height))
    m.motor(next(iter(hinges)), torque=5.0)
    m.start = {next(iter(hinges)): 0.0}
    return m


def test_two_hinges_at_one_place_share_as_their_stiffness():
    run = short_run(door({"a": 1.0, "b": 1.0}))
    whole = short_run(door({"a": 1.0})).reaction("a")
    assert np.allclose(whole.moment.values[0], [0, -20 * 9.81 * 0.4, 5.0])  # the weight of the leaf, 0.4 m away
    for ratio in (1.0, 3.0, 100.0):
        a, b = (run.reaction(name, stiffness={"a": ratio}) for name in "ab")
        # about the hinge itself the motor is on a
        across = {"force": slice(0, 3), "moment": slice(0, 2)}
        for part, axes in across.items():
            want = whole[part].values[:, axes]
            assert np.abs(a[part].values[:, axes] - ratio / (1 + ratio) * want).max() < 1e-10
            assert np.abs(b[part].values[:, axes] - 1 / (1 + ratio) * want).max() < 1e-10
    assert not a.force_unique.any() and list(a.moment_unique.values) == [False, False, True]
    assert np.abs(a.moment.values[:, 2] - 5.0).max() < 1e-12 and np.abs(b.moment.values[:, 2]).max() < 1e-12


def test_a_stiffer_hinge_carries_more():
    run = short_run(door({"low": 0.2, "high": 1.8}))
    shares = [
        np.abs(run.reaction("high", stiffness={"high": k}).force.values[-1, 2]) / (20 * 9.81) for k in (0.1, 1, 10, 1e4)
    ]
    assert np.all(np.diff(shares) > 0) and shares[1] == pytest.approx(0.5, abs=1e-12) and shares[-1] > 0.99


def test_a_leg_drawn_twice_shares_the_drive():
    """The force of two drives on one length is not unique: half each, or by stiffness."""
    m = drawings.driven_hexapod(doubled=1)
    run = short_run(m, until=0.2, samples=2)
    one, seven = (run.reaction(f"{leg} slide", axes="joint") for leg in ("leg1", "leg7"))
    assert not one.force_unique.values[2] and not seven.force_unique.values[2]
    assert np.abs(one.force.values[:, 2] - seven.force.values[:, 2]).max() < 1e-9
    other = run.reaction("leg2 slide", axes="joint")
    assert other.force_unique.values[2]
    assert np.abs(other.force.values[:, 2] - run["leg2 slide.drive"].values).max() < 1e-9


def test_asking_for_what_is_not_there():
    run = short_run(cc.library.gough_stewart(), until=0.1, samples=2)
    with pytest.raises(cc.ModelError, match="'pose' is free: it carries nothing"):
        run.reaction("pose")
    with pytest.raises(cc.ModelError, match="did you mean 'leg1 base'"):
        run.reaction("leg1 bse")
    with pytest.raises(cc.ModelError, match="stiffness of 'leg1 base' must be a positive number, not 0"):
        run.reaction("leg1 base", stiffness={"leg1 base": 0.0})
