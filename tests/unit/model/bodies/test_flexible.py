"""Flexible bodies as data: parameters, names, what is refused and undone; and the rigid twin of a drawing."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.model.bodies.flexible import default_shapes
from closedchain.model.bodies.sections import Section

BAR = Section.rectangle(y=0.02, z=0.03)
SINES = cc.shapes.pinned_pinned(y=2)


@pytest.fixture
def link(m):
    return m.body("link", cc.rod(length=0.5, mass=2.352))


def drawing(m):
    """All that a drawing is, as far as flexibility may change it."""
    return dict(m.parameters), set(m._taken), dict(m.flexible), m.revision


# ---- what is drawn ---------------------------------------------------------------------------------------------------


def test_numbers_become_parameters(m, link):
    before = m.revision
    assert link.flexible(5e9, BAR, shapes=SINES, nu=0.33, damping=0.01, rayleigh=(0.5, 1e-4)) is link
    value, drawn = m.values(), m.flexible["link"]

    assert {key: x for key, x in m.parameters.items() if key.startswith("link.")} == {
        "link.length": 0.5, "link.mass": 2.352, "link.E": 5e9, "link.nu": 0.33, "link.section.y": 0.02,
        "link.section.z": 0.03, "link.damping": 0.01, "link.rayleigh.alpha": 0.5, "link.rayleigh.beta": 1e-4,
    }  # fmt: skip
    assert drawn.body is link and drawn.shapes is SINES and not drawn.stiffening
    assert (value(drawn.length), value(drawn.E), value(drawn.damping)) == (0.5, 5e9, 0.01)
    assert value(drawn.G) == pytest.approx(5e9 / 2.66)
    assert value(drawn.section.Iz) == pytest.approx(2e-8)
    assert tuple(map(value, drawn.rayleigh)) == (0.5, 1e-4)
    assert m.revision > before


def test_parameters_change_what_is_drawn(m, link):
    link.flexible(5e9, BAR, shapes=SINES)
    m.parameters.update({"link.section.y": 0.04, "link.length": 0.25, "link.E": 1e9})
    value, drawn = m.values(), m.flexible["link"]

    assert value(drawn.section.Iz) == pytest.approx(16e-8)
    assert (value(drawn.length), value(drawn.E), value(drawn.G)) == (0.25, 1e9, pytest.approx(1e9 / 2.6))
    m.parameters["link.length"] = 0.5
    assert value(drawn.length) == 0.25  # the values of a moment


def test_expressions_stay(m, link):
    E = m.parameter("steel", 210e9)
    link.flexible(E, Section(A=6e-4, Iz=2e-8), shapes=SINES, G=E / 2.5)

    assert m.flexible["link"].E is E and "link.E" not in m.parameters and "link.nu" not in m.parameters
    assert {key for key in m.parameters if ".section." in key} == {"link.section.A", "link.section.Iz"}


def test_zeros_are_structure(m, link):
    link.flexible(5e9, BAR, shapes=SINES, nu=0)

    assert m.flexible["link"].damping == 0.0 and m.flexible["link"].rayleigh == (0.0, 0.0)
    assert not {"link.damping", "link.nu", "link.rayleigh.alpha"} & set(m.parameters)


def test_coordinates_have_names(m, link):
    link.flexible(5e9, BAR, shapes=SINES)

    assert m.flexible["link"].labels == ("link.y1", "link.y2")
    with pytest.raises(cc.ModelError, match=r"already has something named 'link\.y1'"):
        m.revolute("link.y1", m.ground, link)
    with pytest.raises(cc.ModelError, match="body 'link' already has a shape 'y2': choose another name for the frame"):
        link.frame("y2")


def test_a_length_may_be_said(m):
    bar = m.body("bar", cc.rigid(mass=3.0, com=(1.0, 0, 0), inertia=(0, 1.0, 1.0)))
    bar.flexible(5e9, BAR, shapes=SINES, length=2.0)

    assert m.parameters["bar.beam.length"] == 2.0


def test_default_modes_go_where_the_section_has_a_stiffness(m, link):
    link.flexible(5e9, BAR)
    assert m.flexible["link"].shapes == cc.shapes.craig_bampton(y=2, z=2, axial=1, torsion=1)
    assert default_shapes(Section(A=0.02, Iz=1.3)) == cc.shapes.craig_bampton(y=2, axial=1)


def test_a_second_call_replaces_the_first(m, link):
    link.flexible(5e9, BAR, shapes=SINES, damping=0.01)
    link.flexible(7e9, Section(A=6e-4, Iz=2e-8), shapes=cc.shapes.clamped_free(y=1))

    assert m.flexible["link"].labels == ("link.y1",)
    assert m.parameters["link.E"] == 7e9
    assert not {"link.damping", "link.section.y"} & set(m.parameters)
    m.revolute("link.y2", m.ground, link)  # the name is free again


# ---- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"E": 0.0}, r"flexible body 'link': its E is 0 Pa, but it must be above 0"),
        ({"E": "steel"}, r"link\.E must be a number, a parameter or an expression, not 'steel'"),
        ({"section": 0.02}, r"link': section must be a section, .* cc\.Section\.rectangle\(.*not 0\.02"),
        ({"shapes": 2}, r"link': shapes must be a set of shapes, .* cc\.shapes\.craig_bampton\(y=2\), not 2"),
        ({"nu": 0.3, "G": 1e9}, "give either Poisson's ratio nu or the shear modulus G"),
        ({"nu": 0.6}, r"Poisson's ratio nu is 0\.6, but it is above -1 and at most 0\.5"),
        ({"G": -1.0}, "its G is -1 Pa, but it must be above 0"),
        ({"length": 0.0}, "its length is 0 m, but it must be above 0"),
        ({"length": 0.6}, r"centre of mass is at \(0\.25, 0, 0\) m, but a beam of length 0\.6 m .* at \(0\.3, 0, 0\)"),
        ({"damping": -0.1}, r"its damping is -0\.1, but damping takes energy away: give 0 or more"),
        ({"rayleigh": (1, -1)}, "its rayleigh beta is -1, but"),
        ({"rayleigh": 1}, r"rayleigh damping is alpha and beta, for instance rayleigh=\(0\.5, 1e-4\), not 1"),
        ({"stiffening": "yes"}, "stiffening is True or False, not 'yes'"),
        ({"shapes": cc.shapes.pinned_pinned(z=1), "section": Section(A=1, Iz=1)},
         "may bend along z, but its section has Iy = 0: give the section its Iy, or leave the z shapes out"),
        (
            {"shapes": cc.shapes.pinned_pinned(torsion=1), "section": Section(A=1, Iz=1)},
            "may twist, but its section has J",
        ),
        ({"shapes": cc.shapes.pinned_pinned(torsion=1), "section": Section(A=1, J=1)}, "no inertia about its axis"),
        ({"shapes": cc.shapes.pinned_pinned(y=1) + cc.shapes.pinned_pinned(y=1)}, "not independent .*'y1' and 'y2'"),
        (
            {"shapes": cc.shapes.from_functions({"v": lambda xi: 0 * xi})},
            "the shape 'y1' is zero everywhere: leave it out",
        ),
        (
            {"shapes": cc.shapes.from_functions({"v": [np.sin, lambda xi: xi]})},
            "the shape 'y2' moves it without strain",
        ),
        ({"shapes": cc.shapes.from_functions({"bow": {"v": np.sin, "w": np.sin}}), "damping": 0.1}, "use rayleigh="),
        (
            {"shapes": cc.shapes.from_functions({"tip": {"v": np.sin}})},
            r"would be found as 'link\.tip', which is a frame",
        ),
    ],
)  # fmt: skip
def test_what_is_refused_leaves_no_trace(m, link, options, says):
    before = drawing(m)
    with pytest.raises(cc.ModelError, match=says):
        link.flexible(**({"E": 5e9, "section": BAR, "shapes": SINES} | options))

    assert drawing(m) == before


def test_a_refused_replacement_keeps_the_first(m, link):
    link.flexible(5e9, BAR, shapes=SINES)
    before = drawing(m)
    with pytest.raises(cc.ModelError, match="above 0"):
        link.flexible(-1.0, BAR)

    assert drawing(m) == before


@pytest.mark.parametrize(
    ("shape", "says"),
    [
        (cc.massless(), r"flexible body 'it' has no frame 'tip' at its end: say its length="),
        (cc.rod(length=1.0, mass=0.0), "flexible body 'it' has no mass"),
        (
            cc.rod(length=1.0, mass=12.0, radius=0.5),
            r"its inertia about y is 1\.75 kg m\^2, but a beam .* has about 1;",
        ),
    ],
)
def test_bodies_that_are_no_beams(m, shape, says):
    with pytest.raises(cc.ModelError, match=says):
        m.body("it", shape).flexible(5e9, BAR)


@pytest.mark.parametrize(
    ("inertia", "says"),
    [
        ((0.02, 0.99, 1.0), r"inertia about y is 0\.99 kg m\^2, but 12 kg .* along 1 m have 1 at least"),
        ((1e-4, 1.0, 1.0 - 1e-8), r"inertia about z is 0\.99999999 kg m\^2"),
        ((1e-4, 1.0, 1.0, 0.0, 1e-6, 0.0), r"product of inertia xz is 1e-06 kg m\^2, but a beam .* has none"),
    ],
)
def test_beams_with_impossible_inertia(m, inertia, says):
    it = m.body("it", cc.rigid(12.0, com=(0.5, 0, 0), inertia=inertia))
    with pytest.raises(cc.ModelError, match=says):
        it.flexible(5e9, BAR, length=1.0)


def test_the_inertia_of_a_thin_rod_is_enough(m):
    it = m.body("it", cc.rigid(12.0, com=(0.5, 0, 0), inertia=(0.0, 1.0 - 1e-12, 1.0)))
    assert it.flexible(5e9, BAR, length=1.0) is it


def test_the_rigid_twin_of_a_thin_rod_turns_with_its_section(m):
    """About its axis, as elements do: m (Iy + Iz) / A; what has a radius, or no J, has what is drawn."""
    for name, radius, section in (
        ("thin", None, cc.Section.circle(0.02)),
        ("drawn", 0.03, cc.Section.circle(0.02)),
        ("in the plane", None, cc.Section(A=1e-4, Iz=1e-9)),
    ):
        m.body(name, cc.rod(1.0, 2.0, radius=radius) if radius else cc.rod(1.0, 2.0)).flexible(5e9, section)
    twin = m.rigid_twin()
    about_x = [twin.values()(twin.bodies[name].properties.inertia[0]) for name in ("thin", "drawn", "in the plane")]
    assert about_x == pytest.approx([2.0 * 0.02**2 / 2, 2.0 * 0.03**2 / 2, 0.0], rel=1e-14)
    assert m.bodies["thin"].properties.inertia[0] == 0.0


def test_the_ground_is_rigid(m):
    with pytest.raises(cc.ModelError, match="the ground cannot be flexible: weld a body to it"):
        m.ground.flexible(5e9, BAR, length=1.0)


def test_a_name_that_is_taken(m, link):
    m.weld("link.y1", m.ground, link)
    with pytest.raises(cc.ModelError, match=r"already has something named 'link\.y1'"):
        link.flexible(5e9, BAR, shapes=SINES)


def test_validation_sees_later_values(m, link):
    link.flexible(5e9, BAR, shapes=SINES)
    m.revolute("hinge", m.ground, link)
    m.validate()
    with pytest.raises(cc.ModelError, match=r"flexible body 'link': its E is -1 Pa"):
        m.validate({"link.E": -1.0})


# ---- the rigid twin --------------------------------------------------------------------------------------------------


def flexible_rig(m):
    a, b = (m.body(name, cc.rod(length=1.0, mass=1.0)) for name in "ab")
    a.flexible(5e9, BAR, shapes=SINES)
    m.revolute("hinge", m.ground, a)
    m.revolute("elbow", a.tip, b)
    m.motor("hinge", torque=lambda t, q, v: -v["elbow"])
    m.spring("spring", m.ground.at(1, 0, 0), b.tip, 100.0)
    m.force("pull", b.tip, (1.0, 0.0, 0.0))
    m.output = b.tip
    m.start = {"hinge": 0.1, "a.y1": 0.01}
    return m


def test_the_twin_is_the_same_without_shapes(m):
    twin = flexible_rig(m).rigid_twin()

    assert twin.flexible == {} and list(m.flexible) == ["a"]
    assert type(twin) is cc.Mechanism and twin.name == m.name
    assert dict(twin.parameters) == dict(m.parameters)
    for table in ("bodies", "joints", "motors", "springs", "forces"):
        assert list(getattr(twin, table)) == list(getattr(m, table))
    assert twin.start == {"hinge": 0.1}
    assert twin.output.name == "tip" and twin.output is twin.bodies["b"].frames["tip"]


def test_the_twin_refers_to_its_own_parts(m):
    twin = flexible_rig(m).rigid_twin()
    own = {frame for body in (twin.ground, *twin.bodies.values()) for frame in body.frames.values()}

    assert all(body.mechanism is twin for body in (twin.ground, *twin.bodies.values()))
    assert all(frame.body.mechanism is twin for frame in own)
    assert {joint.a for joint in twin.joints.values()} | {joint.b for joint in twin.joints.values()} <= own
    assert {twin.springs["spring"].a, twin.springs["spring"].b, twin.forces["pull"].frame} <= own


def test_the_twin_goes_its_own_way(m):
    twin = flexible_rig(m).rigid_twin()
    before = drawing(m)
    twin.parameters["a.E"] = 1.0
    twin.weld("more", twin.bodies["b"].tip, twin.body("load", cc.ball(0.1, 1.0)))  # it can be drawn on
    twin.bodies["b"].flexible(5e9, BAR, shapes=SINES)

    assert drawing(m) == before
    assert "load" not in m.bodies and "more" not in m.bodies["b"].frames
    m.revolute("a.more", m.ground, m.body("c", cc.ball(0.1, 1.0)))  # and so can the original
    assert "a.more" not in twin.joints


def test_the_twin_moves_as_a_rigid_drawing():
    flexible = cc.library.four_bar(flexible=True).rigid_twin()
    rigid = cc.library.four_bar()
    got, want = (cc.simulate(each, until=0.2, t_eval=[0.1, 0.2])["O"].values for each in (flexible, rigid))

    np.testing.assert_array_equal(got, want)
