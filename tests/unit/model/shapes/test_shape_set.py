"""Shapes of beams: their integrals against closed forms, and the frequencies that follow from them."""

import itertools

import casadi as ca
import numpy as np
import pytest

import closedchain as cc
from closedchain.model.shapes.integrals import eigenpairs
from tests.reference.compare import load

BEAMS = load("beams/elementary")
PRINTED = 1e-12  # all are printed to 12 decimals
k = np.arange(1, 4)

FAMILIES = {
    "pinned": cc.shapes.pinned_pinned(y=3, z=1, axial=2, torsion=1),
    "cantilever": cc.shapes.clamped_free(y=3, z=1, axial=2, torsion=2),
    "floating": cc.shapes.free_free(y=2, z=2, axial=1, torsion=1),
    "powers": cc.shapes.polynomials(y=3, z=1, axial=2, torsion=1),
    "craig-bampton": cc.shapes.craig_bampton(y=2, z=0, axial=1, torsion=1, elements=6),
    "functions": cc.shapes.from_functions({"v": [lambda xi: np.sin(3 * xi), lambda xi: xi**2], "w": np.exp}),
    "mixed": cc.shapes.from_functions({"bow": {"v": lambda xi: xi**2, "w": lambda xi: xi**3}, "t": lambda xi: xi}),
    "samples": cc.shapes.from_samples(np.linspace(0, 1, 6), v=np.linspace(0, 1, 6) ** 4, u=np.linspace(0, 1, 6) ** 2),
}
families = pytest.mark.parametrize("shapes", FAMILIES.values(), ids=FAMILIES)


def wave_numbers(shapes, field="v"):
    """Fourth (second) roots of the eigenvalues of a field's own shapes."""
    on, own = shapes.integrals, np.array(shapes.using(field))
    stiffness = {"u": on.ku, "v": on.kv, "w": on.kw, "t": on.kt}[field][np.ix_(own, own)]
    inertia = {"u": on.G[0, 0], "v": on.G[1, 1], "w": on.G[2, 2], "t": on.t2}[field][np.ix_(own, own)]
    return eigenpairs(stiffness, inertia)[0] ** (0.25 if field in "vw" else 0.5)


# ---- integrals against closed forms ----------------------------------------------------------------------------------


def test_integrals_of_sines():
    """In closed form; 1e-14 of their size is rounding."""
    on = cc.shapes.pinned_pinned(y=3, z=3).integrals
    y, z = slice(0, 3), slice(3, 6)
    b = k * np.pi

    np.testing.assert_allclose(on.N0[1, y], (1 - (-1.0) ** k) / b, rtol=0, atol=1e-14)
    np.testing.assert_allclose(on.N1[1, y], -((-1.0) ** k) / b, rtol=0, atol=1e-14)
    np.testing.assert_allclose(on.G[1, 1, y, y], np.eye(3) / 2, rtol=0, atol=1e-14)
    np.testing.assert_allclose(on.G[1, 2, y, z], np.eye(3) / 2, rtol=0, atol=1e-14)
    np.testing.assert_allclose(on.kv[y, y] / b**2 / b[:, None] ** 2, np.eye(3) / 2, rtol=0, atol=1e-14)
    np.testing.assert_allclose(np.diag(on.H0)[y], b**2 / 4, rtol=1e-14)
    np.testing.assert_allclose(np.diag(on.H1)[z], b**2 / 6 - 1 / 8, rtol=1e-14)
    np.testing.assert_allclose(np.diag(on.H(1.0))[y], b**2 / 2, rtol=1e-14)
    np.testing.assert_allclose(on.H(0.5)[0, 1], 2 * np.pi / 3, rtol=1e-14)  # of 2 pi^2 cos(pi s) cos(2 pi s)
    assert not on.N0[[0, 2]][:, y].any() and not on.kw[y, y].any() and not on.t2.any()


def test_integrals_of_axial_and_torsional_sines():
    on = cc.shapes.pinned_pinned(axial=3, torsion=3).integrals
    along, about = slice(0, 3), slice(3, 6)
    b = k * np.pi

    np.testing.assert_allclose(on.ku[along, along] / b / b[:, None], np.eye(3) / 2, rtol=0, atol=1e-14)
    np.testing.assert_allclose(on.kt[about, about] / b / b[:, None], np.eye(3) / 2, rtol=0, atol=1e-14)
    np.testing.assert_allclose(on.t2[about, about], np.eye(3) / 2, rtol=0, atol=1e-14)
    np.testing.assert_allclose(on.t0[about], (1 - (-1.0) ** k) / b, rtol=0, atol=1e-14)
    assert not on.H0.any() and not on.H1.any()


def test_many_short_waves_are_integrated_too():
    """Twenty half waves: the points follow the shapes."""
    on = cc.shapes.pinned_pinned(y=20).integrals
    b = np.arange(1, 21) * np.pi

    np.testing.assert_allclose(on.G[1, 1], np.eye(20) / 2, rtol=0, atol=1e-14)
    np.testing.assert_allclose(np.diag(on.kv), b**4 / 2, rtol=1e-13)


def test_integrals_of_powers():
    on = cc.shapes.polynomials(y=3, axial=2).integrals  # xi^2, xi^3, xi^4; xi, xi^2
    p = k + 1

    np.testing.assert_allclose(on.G[1, 1, :3, :3], 1 / (p + p[:, None] + 1), rtol=1e-14)
    np.testing.assert_allclose(on.kv[:3, :3], np.outer(p * (p - 1), p * (p - 1)) / (p + p[:, None] - 3), rtol=1e-14)
    np.testing.assert_allclose(on.G[0, 1, 3:, :3], 1 / (np.array([[2], [3]]) + p), rtol=1e-14)
    np.testing.assert_allclose(on.H(0.3)[:3, :3], np.outer(p, p) / (p + p[:, None] - 1) * 0.3 ** (p + p[:, None] - 1))
    np.testing.assert_allclose(on.H0[0, 0], 4 / 3 - 4 / 4, rtol=1e-13)  # int (1 - s) 4 s^2 ds


@families
def test_integrals_by_sums(shapes):
    """By the midpoints of 4800 spans (of every piece alike), whose error is of order 1e-7."""
    xi = (np.arange(4800) + 0.5) / 4800
    found, on = shapes.fields(xi), shapes.integrals
    U = np.array([found[field][0] for field in "uvw"])
    slopes = np.array([found[field][1] for field in "vw"])

    def near(got, want):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5 * max(1.0, np.abs(want).max()))

    near(on.N0, U.mean(1))
    near(on.N1, (xi[:, None] * U).mean(1))
    near(on.G, np.einsum("aki,bkj->abij", U, U) / 4800)
    near(on.t2, found["t"][0].T @ found["t"][0] / 4800)
    for field, order, matrix in (("u", 1, on.ku), ("v", 2, on.kv), ("w", 2, on.kw), ("t", 1, on.kt)):
        near(matrix, found[field][order].T @ found[field][order] / 4800)
    bending = np.einsum("fki,fkj->kij", slopes, slopes) / 4800
    H = np.cumsum(bending, axis=0)
    near(on.H0, (H - bending / 2).mean(0))
    near(on.H1, (xi[:, None, None] * (H - bending / 2)).mean(0))
    near(on.H(0.5), H[2399])


# ---- frequencies -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("family", "case"),
    [
        (cc.shapes.pinned_pinned, "pinned_pinned"),
        (cc.shapes.clamped_free, "cantilever"),
        (cc.shapes.free_free, "free_free"),
    ],
)
def test_families_have_the_frequencies_of_their_beams(family, case):
    shapes = family(y=3, z=2)

    np.testing.assert_allclose(wave_numbers(shapes), BEAMS[case]["betaL"], atol=PRINTED)
    np.testing.assert_allclose(wave_numbers(shapes, "w"), BEAMS[case]["betaL"][:2], atol=PRINTED)
    on = shapes.integrals
    np.testing.assert_allclose(
        on.kv, np.diag(np.diag(on.kv)), rtol=0, atol=1e-10
    )  # modes do not couple; k is up to 1e4


def test_axial_and_torsional_modes():
    np.testing.assert_allclose(wave_numbers(cc.shapes.clamped_free(axial=3), "u"), (k - 0.5) * np.pi, rtol=1e-13)
    np.testing.assert_allclose(wave_numbers(cc.shapes.free_free(torsion=3), "t"), k * np.pi, rtol=1e-13)
    beam = BEAMS["beam"]
    speed = np.sqrt(beam["EA"] / beam["mass_per_length"]) / beam["L"]
    want = BEAMS["axial_clamped_free_omega1"]
    assert wave_numbers(cc.shapes.clamped_free(axial=1), "u")[0] * speed == pytest.approx(want, rel=PRINTED)


def test_floating_modes_move_nothing_as_a_whole():
    on = cc.shapes.free_free(y=4, axial=2).integrals

    np.testing.assert_allclose(on.N0, 0.0, atol=1e-13)  # no momentum
    np.testing.assert_allclose(on.N1[1], 0.0, atol=1e-13)  # no angular momentum


def test_high_modes_do_not_overflow():
    """Mode 300 has cosh(941): in exponentials of one sign it is as good as the first."""
    for shapes, end in ((cc.shapes.clamped_free(y=300), 1.0), (cc.shapes.free_free(y=300), 0.0)):
        curve = shapes.shapes[-1].v
        assert np.abs(curve.derivative(np.linspace(0, 1, 5001))).max() <= 1.0 + 1e-9
        assert curve.derivative(end) == pytest.approx(1.0)
        scale = curve.wave_number**2
        assert abs(curve.derivative(1.0, 2)) < 1e-9 * scale  # a free end; the wave number is known to 1e-16 of 941


def test_ends_of_the_cantilever():
    U, T = cc.shapes.clamped_free(y=3, axial=2, torsion=2).at(0.0)
    assert not U.any() and not T.any()  # exactly: what is clamped is structure
    U, T = cc.shapes.clamped_free(y=3, axial=2, torsion=2).at(1.0)
    np.testing.assert_allclose(U[1, :3], 1.0, rtol=1e-14)
    np.testing.assert_allclose(U[0, 3:5], 1.0, rtol=1e-14)
    np.testing.assert_allclose(T[0, 5:], 1.0, rtol=1e-14)


def test_pins_stay_where_they_are():
    for end in (0.0, 1.0):
        U, T = cc.shapes.pinned_pinned(y=5, z=2, axial=3, torsion=3).at(end)
        assert not U.any() and not T[0].any()
        assert T[2, :5].all() and T[1, 5:7].all()


def test_powers_converge_to_the_cantilever():
    """From above, and fast: six powers have the first frequency to 1e-9."""
    errors = [wave_numbers(cc.shapes.polynomials(y=n))[0] / BEAMS["cantilever"]["betaL"][0] - 1 for n in range(1, 7)]

    assert all(better < worse / 5 for worse, better in itertools.pairwise(errors))
    assert 0 < errors[-1] < 1e-9


# ---- static shapes and normal modes ----------------------------------------------------------------------------------


def omega(shapes):
    beam = BEAMS["beam"]
    return wave_numbers(shapes) ** 2 * np.sqrt(beam["EI"] / beam["mass_per_length"]) / beam["L"] ** 2


@pytest.mark.parametrize("elements", [1, 2, 4])
def test_all_freedoms_of_a_mesh_are_the_mesh(elements):
    """With every normal mode, Craig and Bampton's shapes span all that the elements can do: the same frequencies."""
    shapes = cc.shapes.craig_bampton(y=2 * (elements - 1), elements=elements)
    want = BEAMS["cantilever"]["fe_omega_by_elements"][str(elements)]

    np.testing.assert_allclose(omega(shapes)[: len(want)], want, rtol=1e-11)


def test_normal_modes_converge():
    """Twice the normal modes have a sixteenth of the error: they bring a moment to the free end, which has none."""
    want = BEAMS["cantilever"]["betaL"][0]
    errors = [wave_numbers(cc.shapes.craig_bampton(y=n, elements=40))[0] / want - 1 for n in (0, 2, 4, 8)]

    one_element = BEAMS["cantilever"]["fe_omega_by_elements"]["1"][0] / BEAMS["cantilever"]["omega_rad_s"][0]
    assert errors[0] == pytest.approx(np.sqrt(one_element) - 1, rel=1e-9)
    assert errors[1] / errors[2] > 10 and errors[2] / errors[3] > 15
    assert 0 < errors[-1] < 2e-7


def test_static_shapes_hold_loads_at_the_tip():
    """A force and a moment at the end of a cantilever give F L^3/3EI + M L^2/2EI and F L^2/2EI + M L/EI."""
    shapes = cc.shapes.static(y=True)
    U, T = shapes.at(1.0)
    force, moment = 2.0, 3.0  # L = EI = 1
    eta = np.linalg.solve(shapes.integrals.kv, force * U[1] + moment * T[2])

    assert U[1] @ eta == pytest.approx(force / 3 + moment / 2, rel=1e-13)
    assert T[2] @ eta == pytest.approx(force / 2 + moment, rel=1e-13)


def test_normal_modes_are_held_at_both_ends():
    shapes = cc.shapes.craig_bampton(y=3, axial=2, elements=7)
    for end in (0.0, 1.0):
        U, T = shapes.at(end)
        assert not U[:, 2:5].any() and not T[:, 2:5].any() and not U[:, 6:].any()
    at = np.linspace(0, 1, 8)
    np.testing.assert_allclose(np.abs(shapes.fields(at)["v"][0][:, 2:5]).max(0), 1.0, rtol=1e-12)
    # clamped-clamped beams have the wave numbers of floating ones: cosh b cos b = 1; seven elements have 1e-3
    held = cc.shapes.ShapeSet(shapes.shapes[2:5])
    np.testing.assert_allclose(wave_numbers(held), BEAMS["free_free"]["betaL"], rtol=5e-3)


# ---- values ----------------------------------------------------------------------------------------------------------


@families
@pytest.mark.parametrize("order", [0, 1])
def test_derivatives_by_differences(shapes, order):
    """Central differences of 1e-5 have an error of 1e-10 times the third derivative, some 1e3; and rounding."""
    xi, h = np.array([0.07, 0.31, 0.52, 0.9]), 1e-5
    before, here, after = (shapes.fields(x) for x in (xi - h, xi, xi + h))
    for field in "uvwt":
        slope = (after[field][order] - before[field][order]) / (2 * h)
        np.testing.assert_allclose(here[field][order + 1], slope, atol=1e-5)


@families
def test_sections_move_and_turn_with_the_fields(shapes):
    for xi in (0.0, 0.23, 0.5, 1.0):
        U, T = shapes.at(xi)
        found = shapes.fields(xi)
        # what is zero but for rounding is cut off
        np.testing.assert_allclose(U, [found[field][0] for field in "uvw"], rtol=1e-15, atol=1e-12)
        np.testing.assert_allclose(T, [found["t"][0], -found["w"][1], found["v"][1]], rtol=1e-15, atol=1e-12)


@families
def test_traced_values_are_the_plain_ones(shapes):
    """The same formulas on CasADi's scalars, which the model does not import; rounding differs."""
    xi = ca.SX.sym("xi")
    U, T = shapes.at(xi)
    traced = ca.Function("at", [xi], [U, T, ca.jacobian(ca.vec(U), xi), shapes.integrals.H(xi)])

    assert isinstance(U, ca.SX) and U.nnz() == sum(len(shapes.using(field)) for field in "uvw")
    for at in (0.0, 0.13, 0.5, 0.61, 1.0):
        got = [np.array(x) for x in traced(at)]
        want_U, want_T = shapes.at(at)
        slope = np.array([shapes.fields(at)[field][1] for field in "uvw"])
        np.testing.assert_allclose(got[0], want_U, atol=1e-13)
        np.testing.assert_allclose(got[1], want_T, atol=1e-12)
        np.testing.assert_allclose(got[2].reshape(-1, 3).T, slope, atol=1e-12)
        np.testing.assert_allclose(got[3], shapes.integrals.H(at), atol=1e-11)


def test_sets_are_added():
    both = cc.shapes.pinned_pinned(y=2) + cc.shapes.craig_bampton(y=0, torsion=0)

    assert both.names == ("y1", "y2", "y3", "y4", "torsion1")
    assert both.n == 5 and both.using("v") == (0, 1, 2, 3) and both.using("t") == (4,)
    np.testing.assert_allclose(both.integrals.kv[2:4, 2:4], cc.shapes.static(y=True).integrals.kv, rtol=1e-13)
    assert (
        cc.shapes.craig_bampton(y=1, elements=2) + cc.shapes.craig_bampton(z=1, elements=3)
    ).breaks == pytest.approx((0, 1 / 3, 1 / 2, 2 / 3, 1))
    assert repr(both) == "ShapeSet(y1, y2, y3, y4, torsion1)"
    with pytest.raises(TypeError):
        both + 1


def test_equal_sets_are_equal():
    assert cc.shapes.craig_bampton(y=2) == cc.shapes.craig_bampton(y=2)
    assert len({cc.shapes.clamped_free(y=2), cc.shapes.clamped_free(y=2), cc.shapes.clamped_free(y=3)}) == 2


# ---- damping ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["pinned", "cantilever", "floating", "powers", "craig-bampton"])
def test_modal_damping_gives_every_mode_its_ratio(name):
    """``-zeta +- i sqrt(1 - zeta^2)`` times the undamped frequency, for each field on its own."""
    shapes, zeta = FAMILIES[name], 0.03
    on = shapes.integrals
    for field, stiffness, inertia, damping in (
        ("u", on.ku, on.G[0, 0], on.cu),
        ("v", on.kv, on.G[1, 1], on.cv),
        ("w", on.kw, on.G[2, 2], on.cw),
        ("t", on.kt, on.t2, on.ct),
    ):
        own = np.array(shapes.using(field))
        block = np.ix_(own, own)
        K, M, D = 7.0 * stiffness[block], 5.0 * inertia[block], 2 * zeta * np.sqrt(7.0 * 5.0) * damping[block]
        zero, one = np.zeros_like(K), np.eye(len(K))
        roots = np.linalg.eigvals(np.block([[zero, one], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]]))

        np.testing.assert_allclose(-roots.real / np.abs(roots), zeta, rtol=1e-6)  # powers lose some six digits
        others = np.setdiff1d(np.arange(shapes.n), own)
        assert not damping[others].any() and not damping[:, others].any()


def test_modal_damping_of_mixed_shapes_is_refused():
    with pytest.raises(cc.ModelError, match=r"the shape 'bow' moves in several directions .* use rayleigh="):
        FAMILIES["mixed"].integrals.damping  # noqa: B018


# ---- shapes of one's own ---------------------------------------------------------------------------------------------


def test_functions_are_met_to_rounding():
    """A sine given as a function is the family's, in its value to 1e-13 and in its stiffness to 1e-9."""
    own = cc.shapes.from_functions({"v": [lambda xi: np.sin(np.pi * xi), lambda xi: np.sin(2 * np.pi * xi)]})
    family = cc.shapes.pinned_pinned(y=2)
    xi = np.linspace(0, 1, 501)

    assert own.names == family.names
    np.testing.assert_allclose(own.fields(xi)["v"][0], family.fields(xi)["v"][0], atol=1e-13)
    np.testing.assert_allclose(own.integrals.kv, family.integrals.kv, rtol=1e-9, atol=1e-6)
    np.testing.assert_allclose(own.integrals.G, family.integrals.G, atol=1e-13)


def test_a_kink_is_met_where_it_is_said():
    hat = lambda xi: np.minimum(xi, 0.3)  # noqa: E731
    shapes = cc.shapes.from_functions({"u": hat}, breaks=(0, 0.3, 1))

    np.testing.assert_allclose(shapes.integrals.ku, 0.3, rtol=1e-12)
    with pytest.raises(cc.ModelError, match=r"from_functions: axial1 is not smooth: .*breaks="):
        cc.shapes.from_functions({"u": hat})


def test_samples():
    """A not-a-knot spline has cubics exactly; Hermite's cubics are a mesh's."""
    at = np.array([0.0, 0.1, 0.35, 0.7, 1.0])
    spline = cc.shapes.from_samples(at, v=[at**2, at**3])
    np.testing.assert_allclose(spline.integrals.kv, cc.shapes.polynomials(y=2).integrals.kv, rtol=1e-11)

    mesh = cc.shapes.from_samples(at, v=3 * at**2 - 2 * at**3, slopes={"v": 6 * at - 6 * at**2})
    np.testing.assert_allclose(mesh.integrals.kv[0, 0], cc.shapes.static(y=True).integrals.kv[0, 0], rtol=1e-12)
    ends = cc.shapes.from_samples([0, 1], w=[0, 1], slopes={"w": [0, 0]})
    np.testing.assert_allclose(ends.integrals.kw, 12.0, rtol=1e-13)


# ---- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (cc.shapes.pinned_pinned, r"pinned_pinned needs a shape at least: .* pinned_pinned\(y=2\)"),
        (
            lambda: cc.shapes.clamped_free(y=-1),
            r"clamped_free: y must be a whole number of at least 0, not -1",
        ),
        (
            lambda: cc.shapes.free_free(z=True),
            "free_free: z must be a whole number of at least 0, not True",
        ),
        (
            lambda: cc.shapes.polynomials(axial=1.5),
            r"polynomials: axial must be a whole number of at least 0, not 1\.5",
        ),
        (cc.shapes.craig_bampton, r"craig_bampton needs a direction at least: .* craig_bampton\(y=2\)"),
        (
            lambda: cc.shapes.craig_bampton(y=1, elements=0),
            r"elements must be a whole number of at least 1, not 0",
        ),
        (lambda: cc.shapes.craig_bampton(y=5, elements=3), r"y=5 normal modes, but a mesh of 3 elements .* has 4"),
        (lambda: cc.shapes.static(y=2), "static: y is True or False, not 2"),
        (lambda: cc.shapes.from_functions({}), "from_functions takes functions by field"),
        (
            lambda: cc.shapes.from_functions({"q": np.sin}),
            "from_functions: unknown field 'q'; known: 'u', 'v', 'w', 't'",
        ),
        (lambda: cc.shapes.from_functions({"bow": {"q": np.sin}}), "the shape 'bow': unknown field 'q'"),
        (lambda: cc.shapes.from_functions({"v": 3}), "y1 takes a function of xi, not 3"),
        (lambda: cc.shapes.from_functions({"v": lambda xi: xi[:2]}), "y1 must take an array of xi"),
        (
            lambda: cc.shapes.from_functions({"v": lambda xi: xi * np.inf}),
            "y1 must return a finite number for every xi",
        ),
        (
            lambda: cc.shapes.from_functions({"v": np.sin}, breaks=(0, 2)),
            r"breaks must rise from 0 to 1, .*not \(0, 2\)",
        ),
        (lambda: cc.shapes.from_samples([0, 0.5, 1], v=[0, 1, 0]), "a spline needs four places at least, not 3"),
        (lambda: cc.shapes.from_samples([0, 1], v=[0, 1, 2]), "from_samples: v has 3 values in a row for 2 places"),
        (lambda: cc.shapes.from_samples([0, 1], v="ab"), "from_samples: v: values must be numbers, not 'ab'"),
        (lambda: cc.shapes.from_samples([0, 1], v=[0, np.nan]), "from_samples: v has a value that is not finite"),
        (
            lambda: cc.shapes.from_samples([0, 1], v=[0, 1], slopes={"w": [0, 1]}),
            "slopes of 'w', of which there are no",
        ),
        (
            lambda: cc.shapes.from_samples([0, 1], v=[0, 1], slopes={"v": [[0, 1]] * 2}),
            "1 shapes of v, but slopes of 2",
        ),
        (lambda: cc.shapes.from_samples([0, 1], v=[0, 1], slopes=2), "slopes takes a mapping by field, .*not 2"),
        (lambda: cc.shapes.from_functions({"a.b": {"v": np.sin}}), "a shape is named by letters, .* not 'a.b'"),
        (lambda: cc.shapes.from_functions({5: {"v": np.sin}}), "a shape is named by letters, .* not 5"),
        (lambda: cc.shapes.from_samples([0, 1]), "a set of shapes needs a shape at least"),
        (
            lambda: cc.shapes.ShapeSet((cc.shapes.Shape("still"),)),
            "the shape 'still' moves nothing: give it one of u, v, w, t",
        ),
        (lambda: FAMILIES["mixed"] + FAMILIES["mixed"], "two shapes are named 'bow': names must be unique"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")  # what a user's function provokes
def test_what_is_refused(make, says):
    with pytest.raises(cc.ModelError, match=says):
        make()
