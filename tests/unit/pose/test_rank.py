"""The one place where singular values are judged."""

import re
from pathlib import Path

import numpy as np
import pytest

import closedchain as cc
from closedchain.derive.equations import derive
from closedchain.pose.rank import (
    LOOSE,
    REPEATED,
    SOLVED,
    cut_off,
    independent,
    needed_tolerance,
    null_space,
    rank,
    relative_tolerance,
    row_tolerances,
    significant,
    without_units,
)
from closedchain.pose.state import parameter_vector


def matrix(values, rows=5, columns=4, seed=0):
    """A matrix with given singular values."""
    rng = np.random.default_rng(seed)
    u, v = (np.linalg.qr(rng.normal(size=(n, len(values))))[0] for n in (rows, columns))
    return u @ np.diag(values) @ v.T


def test_exact_data_have_a_threshold():
    assert significant(np.array([2.0, 1.0, 2.1e-8, 1.9e-8])) == 3
    assert rank(matrix([1.0, 0.5, 1e-12])) == 2 and rank(np.zeros((3, 0))) == 0 and rank(np.zeros((2, 2))) == 0


@pytest.mark.parametrize("tolerance", [1e-9, 1e-6, 1e-4, 1e-3])
def test_rounded_data_are_told_by_the_gap(tolerance):
    """Values of the size of the tolerance are zero, up to many tolerances if nothing lies between them and the rest."""
    for noise in ([0.01, 0.01], [1.0, 0.3], [3.0, 0.5], [8.0, 2.0]):
        small = [x * tolerance for x in noise]
        assert significant(np.array([1.0, 0.5, *small]), tolerance) == 2
        assert significant(np.array([1.0, *small]), tolerance) == 1
    # beyond the range in which rounding may be, everything counts
    assert significant(np.array([1.0, 1.1 * LOOSE * tolerance, 0.1 * tolerance]), max(tolerance, REPEATED)) >= 1


def test_a_weak_row_is_no_rounding():
    """Within the range of rounding, the wider gap decides: towards the strong ones, or towards the tolerance."""
    assert significant(np.array([1.0, 0.3, 0.02]), 1e-3) == 3  # 0.3 / 0.02 < 0.02 / 1e-3
    assert significant(np.array([1.0, 0.3, 0.005]), 1e-3) == 2


def test_without_a_tolerance_nothing_is_loose():
    s = np.array([1.0, 1e-3, 1e-6, 1e-7, 2e-8])
    assert significant(s) == 5 and significant(s, 1e-12) == 5


def test_many_at_once():
    s = np.array([[1.0, 0.1, 1e-7], [1.0, 2e-6, 1e-6], [1.0, 0.5, 0.4], [0.0, 0.0, 0.0]])
    assert significant(s, 1e-6).tolist() == [2, 1, 3, 0]


def test_null_space_and_rows():
    A = matrix([1.0, 0.4, 3e-6, 1e-7])
    N = null_space(A, 1e-5)
    assert N.shape == (4, 2) and np.abs(A @ N).max() < 1e-5
    np.testing.assert_allclose(N.T @ N, np.eye(2), atol=1e-14)
    kept = independent(A, 2)
    assert len(kept) == 2 and np.linalg.svd(A[list(kept)], compute_uv=False)[-1] > 1e-2
    assert null_space(np.zeros((0, 3))).shape == (3, 3)


def test_a_cut_keeps_what_counts():
    """Least squares with the cut: what rounding says of a motion is not listened to."""
    A = matrix([1.0, 0.4, 3e-6])
    b = np.ones(5)
    cut = cut_off(A, A, 1e-6)
    assert 3e-6 < cut < 0.4
    x, _, kept, _ = np.linalg.lstsq(A, b, rcond=cut)
    assert kept == 2 and np.abs(x).max() < 10
    assert cut_off(A, A, 0.0) == SOLVED
    full = matrix([1.0, 0.4, 0.3], columns=3)
    assert np.linalg.lstsq(full, b, rcond=cut_off(full, full, 1e-6))[2] == 3


@pytest.mark.parametrize("length", [1e-3, 1.0, 1e3])
def test_the_unit_of_length_does_not_matter(length):
    """The tolerance is a length, and counts over the drawing's length."""

    def drawn(tolerance):
        m = cc.Mechanism("sized", gravity=(0, -9.81, 0), tolerance=tolerance)
        a, b = (m.body(name, cc.rod(x * length, mass=1.0, radius=0.01 * length)) for name, x in (("a", 1), ("b", 3)))
        s = m.body("s", cc.box((0.1 * length,) * 3, mass=1.0))
        m.revolute("O", m.ground, a)
        m.revolute("A", a.tip, b)
        m.prismatic("P", m.ground, s, axis=(1, 0, 0), guess=3.0 * length)
        m.revolute("B", b.tip, s)
        return m

    m = drawn(1e-6 * length)
    e, p = derive(m), parameter_vector(m)
    assert relative_tolerance(e, p) == pytest.approx(1e-6 / 3)
    assert row_tolerances(["m", "rad"], m.tolerance, 3 * length) == pytest.approx([1e-6 * length, 1e-5 / 3])
    assert row_tolerances(["rad"], 0.01 * length, length) == 0.01  # a tenth would be no rounding
    needed = needed_tolerance(["m", "rad"], np.array([2e-7 * length, 1e-5]), 3 * length)
    assert needed == pytest.approx(3e-6 * length)
    assert relative_tolerance(derive(drawn(0.0)), p) == 0.0
    state = drawn(0.0).assemble(O=1.0)
    A = np.array(e.function("A", {"A": e.closure.A})(0.0, state.q, state.v, p))
    s = np.linalg.svd(without_units(e, p, range(len(e.closure)), A), compute_uv=False)
    assert 0.1 < s[-1] < s[0] < 3.0


def test_no_threshold_stands_elsewhere():
    """Ranks and least squares are judged by the numbers of `pose.rank`: no other file has one of its own.

    `closedchain.testing` has, since it judges what the others compute.
    """
    package = Path(cc.__file__).parent
    strays = [
        f"{path.relative_to(package)}: {line.strip()}"
        for path in package.rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"rcond=[\d.]|matrix_rank", line) and path.name != "rank.py" and path.parent.name != "testing"
    ]
    assert not strays
