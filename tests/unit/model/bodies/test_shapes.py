"""Shapes: mass properties by their formulas, checked against sums over many small pieces; and what they refuse."""

import numpy as np
import pytest

import closedchain as cc

# midpoints of a fine grid: the sums below have an error of order 1 / N^2
N = 60
MIDPOINTS = (np.arange(N) + 0.5) / N


def properties(shape):
    """Mass, centre and inertia matrix of a body of this shape."""
    m = cc.Mechanism("one body")
    body = m.body("b", shape)
    value = m.values()
    p = body.properties
    xx, yy, zz, xy, xz, yz = (value(x) for x in p.inertia)
    return value(p.mass), np.array([value(x) for x in p.com]), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def by_pieces(points, weights):
    """The same of a cloud of points."""
    mass = weights.sum()
    com = weights @ points / mass
    r = points - com
    inertia = np.einsum("i,ijk->jk", weights, (r * r).sum(1)[:, None, None] * np.eye(3) - r[:, :, None] * r[:, None, :])
    return mass, com, inertia


def block(x, y, z):
    grid = np.array(np.meshgrid(x, y, z, indexing="ij")).reshape(3, -1).T
    return grid, np.ones(len(grid))


def cylinder_points(outer, inner, z):
    """Rings about z; a ring weighs as much as its radius is long."""
    radius = inner + (outer - inner) * MIDPOINTS
    angle = 2 * np.pi * MIDPOINTS
    r, a, h = (x.ravel() for x in np.meshgrid(radius, angle, z, indexing="ij"))
    return np.column_stack([r * np.cos(a), r * np.sin(a), h]), r


def ball_points(radius):
    r, cosine = radius * MIDPOINTS, 2 * MIDPOINTS - 1
    r, c, a = (x.ravel() for x in np.meshgrid(r, cosine, 2 * np.pi * MIDPOINTS, indexing="ij"))
    s = np.sqrt(1 - c * c)
    return r[:, None] * np.column_stack([s * np.cos(a), s * np.sin(a), c]), r * r


def rod_points(length, radius):
    points, weights = cylinder_points(radius, 0.0, length * MIDPOINTS)
    return points[:, [2, 0, 1]], weights  # along x


centred = MIDPOINTS - 0.5
flat = np.zeros(1)
CASES = {
    "thin rod": (cc.rod(length=2.0, mass=3.0), block(2.0 * MIDPOINTS, flat, flat)),
    "thick rod": (cc.rod(length=2.0, mass=3.0, radius=0.4), rod_points(2.0, 0.4)),
    "box": (cc.box((1.0, 2.0, 3.0), mass=3.0), block(1.0 * centred, 2.0 * centred, 3.0 * centred)),
    "cylinder": (cc.cylinder(radius=0.5, length=2.0, mass=3.0), cylinder_points(0.5, 0.0, 2.0 * centred)),
    "tube": (cc.cylinder(radius=0.5, length=2.0, mass=3.0, inner=0.3), cylinder_points(0.5, 0.3, 2.0 * centred)),
    "plate": (cc.plate(width=1.0, height=2.0, mass=3.0), block(1.0 * centred, 2.0 * centred, flat)),
    "thick plate": (
        cc.plate(width=1.0, height=2.0, mass=3.0, thickness=0.5),
        block(1.0 * centred, 2.0 * centred, 0.5 * centred),
    ),
    "disc": (cc.disc(radius=0.5, mass=3.0), cylinder_points(0.5, 0.0, flat)),
    "thick disc": (cc.disc(radius=0.5, mass=3.0, thickness=0.2), cylinder_points(0.5, 0.0, 0.2 * centred)),
    "ball": (cc.ball(radius=0.5, mass=3.0), ball_points(0.5)),
    "point mass": (cc.point_mass(3.0, at=(1.0, 2.0, 3.0)), (np.array([[1.0, 2.0, 3.0]]), np.ones(1))),
}


@pytest.mark.parametrize("name", CASES)
def test_formulas_against_pieces(name):
    shape, (points, weights) = CASES[name]
    mass, com, inertia = properties(shape)
    _, com_sum, inertia_sum = by_pieces(points, 3.0 * weights / weights.sum())

    assert mass == 3.0
    np.testing.assert_allclose(com, com_sum, atol=1e-12)
    # the grid's own error, relative to the largest entry
    np.testing.assert_allclose(inertia, inertia_sum, atol=2.0 / N**2 * max(np.abs(inertia).max(), 1e-9))


@pytest.mark.parametrize(
    ("shape", "volume"),
    [
        (cc.rod(length=2.0, density=1000.0, radius=0.1), np.pi * 0.1**2 * 2.0),
        (cc.box((1.0, 2.0, 3.0), density=1000.0), 6.0),
        (cc.cylinder(radius=0.5, length=2.0, density=1000.0, inner=0.3), np.pi * (0.25 - 0.09) * 2.0),
        (cc.plate(width=1.0, height=2.0, density=1000.0, thickness=0.01), 0.02),
        (cc.disc(radius=0.5, density=1000.0, thickness=0.01), np.pi * 0.25 * 0.01),
        (cc.ball(radius=0.5, density=1000.0), 4 / 3 * np.pi * 0.125),
    ],
    ids=["rod", "box", "cylinder", "plate", "disc", "ball"],
)
def test_density(shape, volume):
    assert properties(shape)[0] == pytest.approx(1000.0 * volume, rel=1e-14)  # rounding of a few products


def test_massless():
    mass, com, inertia = properties(cc.massless())

    assert mass == 0 and not com.any() and not inertia.any()


@pytest.mark.parametrize(
    ("inertia", "matrix"),
    [
        ((1.0, 2.0, 2.5), np.diag([1.0, 2.0, 2.5])),
        ((1.0, 2.0, 2.5, 0.1, 0.2, 0.3), [[1.0, 0.1, 0.2], [0.1, 2.0, 0.3], [0.2, 0.3, 2.5]]),
        ([[1.0, 0.1, 0.2], [0.1, 2.0, 0.3], [0.2, 0.3, 2.5]], [[1.0, 0.1, 0.2], [0.1, 2.0, 0.3], [0.2, 0.3, 2.5]]),
        (
            np.array([[1.0, 0.1, 0.2], [0.1, 2.0, 0.3], [0.2, 0.3, 2.5]]),
            [[1.0, 0.1, 0.2], [0.1, 2.0, 0.3], [0.2, 0.3, 2.5]],
        ),
    ],
    ids=["three", "six", "rows", "array"],
)
def test_rigid_takes_inertia_in_three_forms(inertia, matrix):
    mass, com, found = properties(cc.rigid(mass=2.0, com=(0.1, 0.2, 0.3), inertia=inertia))

    assert mass == 2.0
    np.testing.assert_array_equal(com, [0.1, 0.2, 0.3])
    np.testing.assert_array_equal(found, matrix)


def test_an_inertia_turned_by_a_rotation_is_symmetric_enough(rng):
    """``R I R'`` is computed with rounding: entries that should be equal differ in the last digit."""
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    inertia = R @ np.diag([1.0, 2.0, 2.5]) @ R.T
    inertia[0, 1] *= 1 + 4e-16  # whatever this machine's product rounds to

    found = properties(cc.rigid(mass=1.0, inertia=inertia))[2]

    np.testing.assert_allclose(found, inertia, rtol=1e-14)


def test_dimensions_become_parameters_that_move_everything_together():
    m = cc.Mechanism("one rod", gravity=(0, 0, 0))
    rod = m.body("crank", cc.rod(length=1.0, mass=2.0))
    value = m.values({"crank.length": 3.0})

    assert set(m.parameters) == {"crank.length", "crank.mass"}  # a radius of zero is structure
    assert value(rod.tip.position[0]) == 3.0
    assert value(rod.com.position[0]) == 1.5
    assert value(rod.properties.inertia[1]) == pytest.approx(2.0 * 9.0 / 12, rel=1e-15)


def test_a_shape_may_be_used_twice():
    m = cc.Mechanism("two rods")
    shape = cc.rod(length=1.0, mass=2.0)
    m.body("a", shape)
    m.body("b", shape)
    m.parameters["a.length"] = 5.0

    assert m.parameters["b.length"] == 1.0


# ---- what cannot be a shape ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: cc.rod(length=1.0), "a rod: give either mass or density"),
        (lambda: cc.rod(length=1.0, mass=1.0, density=1.0), "a rod: give either mass or density, not both"),
        (lambda: cc.box((1, 1, 1)), "a box: give either mass or density"),
        (lambda: cc.cylinder(1, 1), "a cylinder: give either mass or density"),
        (lambda: cc.ball(1), "a ball: give either mass or density"),
        (lambda: cc.box((1, 1), mass=1), "a box has three edges, not 2"),
        (lambda: cc.rigid(1.0, com=(0, 0)), "a centre of mass has three components, not 2"),
        (lambda: cc.rigid(1.0, inertia=(1, 2)), "an inertia has 3, 6 or 3x3 entries, not 2"),
        (lambda: cc.rigid(1.0, inertia=np.eye(4)), "an inertia has 3, 6 or 3x3 entries, not 4"),
        (
            lambda: cc.rigid(1.0, inertia=[[1, 0.5, 0], [0.25, 1, 0], [0, 0, 1]]),
            r"the inertia matrix is not symmetric: 0\.5 and 0\.25",
        ),
    ],
    ids=["no mass", "mass and density", "box", "cylinder", "ball", "edges", "com", "2 entries", "4x4", "asymmetric"],
)
def test_refused_shapes(make, message):
    with pytest.raises(cc.ModelError, match=message):
        make()


@pytest.mark.parametrize(
    ("make", "culprit"),
    [
        (lambda: cc.plate(1, 1), "plate"),
        (lambda: cc.disc(1), "disc"),
    ],
    ids=["plate", "disc"],
)
def test_a_flat_shape_is_called_by_its_own_name(make, culprit):
    with pytest.raises(cc.ModelError, match=f"a {culprit}: give either mass or density"):
        make()


@pytest.mark.parametrize(
    ("shape", "culprit"),
    [
        (lambda: cc.rod(length=1.0, density=7800.0), "radius"),
        (lambda: cc.plate(width=1.0, height=1.0, density=7800.0), "thickness"),
        (lambda: cc.disc(radius=1.0, density=7800.0), "thickness"),
    ],
    ids=["rod", "plate", "disc"],
)
def test_a_density_without_a_volume_is_refused(shape, culprit):
    """A rod of steel without a radius would silently weigh nothing."""
    with pytest.raises(cc.ModelError, match=culprit):
        cc.Mechanism("m").body("steel", shape())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: cc.box(size=1, mass=1), r"a box has three edges, for instance size=\(0\.3, 0\.2, 0\.1\), not 1"),
        (lambda: cc.box(size=None, mass=1), "a box has three edges, .* not None"),
        (lambda: cc.box(size=("1", 1, 1), mass=1), r"b\.size\.x must be a number, .* not '1'"),
        (lambda: cc.rod(length="1", mass=1), r"b\.length must be a number, .* not '1'"),
        (lambda: cc.rod(length=None, mass=1), r"b\.length must be a number, .* not None"),
        (lambda: cc.rod(length=[[1, 2], 3], density=1, radius=1), r"b\.length must be a number"),
        (lambda: cc.rod(length=1, density=1, radius=[[1, 2], 3]), r"b\.radius must be a number"),
        (lambda: cc.ball(radius="1", mass=1), r"b\.radius must be a number, .* not '1'"),
        (lambda: cc.disc(radius=1, mass="1"), r"b\.mass must be a number, .* not '1'"),
        (lambda: cc.plate(width=1, height=np.ones(2), mass=1), r"b\.height must be a number, .* array"),
        (lambda: cc.cylinder(radius="1", length=1, mass=1), "radius of a cylinder must be a number, .* not '1'"),
        (lambda: cc.cylinder(radius=1, length=1, mass=1, inner=2), "a radius of 1 m cannot have a bore .* inner=2 m"),
        (lambda: cc.rigid(1, com=5), r"a centre of mass has three components, for instance \(0\.1, 0, 0\), not 5"),
        (lambda: cc.rigid(1, inertia=5), "an inertia has 3, 6 or 3x3 entries, for instance .*, not 5"),
        (lambda: cc.rigid(1, inertia="123"), "an inertia has 3, 6 or 3x3 entries, for instance .*, not '123'"),
        (lambda: cc.rigid(1, inertia=[(1, 0), (0, 1), (0, 0)]), "a row of an inertia matrix has three entries, not 2"),
        (lambda: cc.rigid(1, inertia=np.full((3, 3), np.nan)), "an entry of an inertia matrix is nan"),
        (
            lambda: cc.rigid(1, inertia=[[1, "0", 0], ["1", 1, 0], [0, 0, 1]]),
            "an entry of an inertia matrix must be a number, .* not '0'",
        ),
        (lambda: cc.point_mass(1, at=2), "a centre of mass has three components"),
    ],
    ids=[
        "box a number", "box of nothing", "box of texts", "text", "none", "list", "list in a density", "ball", "disc",
        "plate", "cylinder", "bore", "com", "inertia a number", "inertia a text", "short rows", "nan",
        "matrix of texts", "point",
    ],
)  # fmt: skip
def test_refused_kinds_of_values(make, message):
    with pytest.raises(cc.ModelError, match=message):
        properties(make())


def test_an_inertia_matrix_of_parameters():
    m = cc.Mechanism("one body", gravity=(0, 0, 0))
    k = m.parameter("k", 1.0)
    body = m.body("b", cc.rigid(1.0, inertia=[[k, 0.1, 0], [0.1, k, 0], [0, 0, k]]))

    assert [m.values()(x) for x in body.properties.inertia] == [1.0, 1.0, 1.0, 0.1, 0.0, 0.0]
