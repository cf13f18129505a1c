"""Modes by ERLS: against springs at joints, in pictures, and over the workspace."""

import json
import math
import re

import numpy as np
import pytest
from scipy.optimize import brentq

import closedchain as cc
from closedchain.look.outline import mode_outline
from closedchain.results.vibration.workspace import frequencies_over
from tests.unit.results.beams.flexible_motions import crossing

LENGTH, MASS, EI = 0.5, 2.0, 5e9 * 0.03 * 0.02**3 / 12


@pytest.fixture(scope="module")
def sprung():
    """A beam on a hinge with a spring."""
    m = cc.Mechanism("sprung", gravity=(0, 0, 0))
    beam = m.body("beam", cc.rod(LENGTH, MASS))
    beam.flexible(5e9, cc.Section.rectangle(y=0.02, z=0.03), shapes=cc.shapes.craig_bampton(y=1))
    m.revolute("O", m.ground, beam)
    m.joint_spring("O", stiffness=1.0)
    m.start = {"O": 0.0}
    return m


def hinged_on_a_spring(stiffness, bracket):
    """Hz: k L / EI (1 + cos x cosh x) = x (sin x cosh x - cos x sinh x), x = L (m w^2 / EI)^(1/4)."""
    kappa = stiffness * LENGTH / EI
    root = brentq(
        lambda x: (
            kappa * (1 + math.cos(x) * math.cosh(x)) - x * (math.sin(x) * math.cosh(x) - math.cos(x) * math.sinh(x))
        ),
        *bracket,
    )
    return root**2 / LENGTH**2 * math.sqrt(EI * LENGTH / MASS) / (2 * math.pi)


@pytest.mark.parametrize("stiffness", [1.0, 1e4])
def test_a_spring_at_a_joint_leaves_no_rigid_mode(sprung, stiffness):
    sprung.parameters["O.spring.stiffness"] = stiffness
    found = sprung.modes(method=cc.ERLS(elements=6), count=2)
    exact = [hinged_on_a_spring(stiffness, x) for x in ((0.1, 2.0), (3.0, 4.7))]
    # six cubic elements: (beta h)^4 / 720 of the square, 2.5e-4 of the second frequency
    assert found.rigid == 0 and found.frequencies == pytest.approx(exact, rel=3e-4)


def test_a_spring_that_pushes_away_grows(sprung):
    sprung.parameters["O.spring.stiffness"] = -1.0
    found = sprung.modes(method=cc.ERLS(elements=2), count=1)
    # nearly rigid: w^2 = k / (m L^2 / 3), less what the beam gives way, k L / EI = 5e-3
    assert found.eigenvalues[0] == pytest.approx(math.sqrt(3 / MASS) / LENGTH, rel=5e-3)
    assert found.frequencies[0] == 0.0 and not found.stable
    assert found.rigid == 0
    assert "does not swing" in found.plot().axes[0].get_title()


def test_motions_do_not_depend_on_what_is_zeroed(sprung):
    sprung.parameters["O.spring.stiffness"] = 1.0
    modes = [sprung.modes(method=cc.ERLS(elements=2, zero=zero)) for zero in ("chord", "base")]
    one, two = (x.motions * np.sign(x.motions[:, :1]) for x in modes)
    np.testing.assert_allclose(one, two, rtol=1e-6, atol=1e-6 * np.abs(one).max())  # eigenvectors: root of rounding
    for x in modes:
        np.testing.assert_allclose(x.motions @ x.inertia @ x.motions.T, np.eye(len(one)), atol=1e-9)


def test_pictures_show_the_displacements(sprung, tmp_path):
    sprung.parameters["O.spring.stiffness"] = 1.0
    modes = sprung.modes(method=cc.ERLS(elements=2), count=2)
    bent = mode_outline(modes, 2, [0.0, math.pi]).bent[0]
    rest, moved = (modes.deformed(2, scale)["beam"] for scale in (0.0, 1e-6))
    away = (moved - rest)[-1] * 1e6
    off = bent[:, -1] - rest[-1]
    np.testing.assert_allclose(off[0], -off[1], atol=1e-12)
    np.testing.assert_allclose(off[0] / np.linalg.norm(off[0]), away / np.linalg.norm(away), atol=1e-4)
    page = modes.animate(2, tmp_path / "mode.html", frames=4).read_text(encoding="utf-8")
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1].replace("<\\/", "</"))
    assert data["frames"] == 4 and f"mode 2: {modes.frequencies[1]:.4g} Hz" in page and "Deforms: beam 100 %" in page
    with pytest.raises(cc.ModelError, match="numbered 1 to 2"):
        modes.animate(3, tmp_path / "mode.html")


def test_curves_over_the_workspace_cross():
    """One of two beams has the same frequency everywhere, that of the other falls below it as its load slides out."""
    held, out = ["fixed hinge", "loaded hinge", "slide"], np.linspace(-0.4, 0.2, 4)
    found = frequencies_over(crossing(), {"slide": out}, locked=held, method=cc.ERLS(elements=2), count=2)
    curves = found["frequency"].values
    same = np.ptp(curves, axis=0) < 1e-6
    assert same.tolist().count(True) == 1
    gap = curves[:, ~same][:, 0] - curves[:, same][:, 0]
    assert gap[0] > 0 > gap[-1]
    usual = frequencies_over(crossing(), {"slide": out}, locked=held, here=True)["frequency"].values
    # the floating frame has the first shape of the bare beam only: 4 % too stiff for a load beyond its tip
    np.testing.assert_allclose(np.sort(curves), np.sort(usual), rtol=5e-2)
