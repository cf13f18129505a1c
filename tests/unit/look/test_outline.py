"""Lines of mechanisms: where points of bodies are, with and without elastic displacement."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.look.outline import outline, run_outline
from closedchain.results.beams.numbers import BeamNumbers
from closedchain.results.motion.motion import Motion
from closedchain.results.points import StatePoints, bent_points
from tests.unit.results.beams.flexible_motions import clamped, four_bar_run, tripod


def test_points_are_where_frames_are():
    """Off the axis too: frames hang on their section by a rigid arm."""
    m = clamped(cc.shapes.clamped_free(y=2, z=1, torsion=1), stiffening=True)
    arm = m.bodies["arm"]
    arm.frame("ear", at=(0.3, 0.02, -0.05))
    bent = m.assemble({"clamp": 0.0, "arm.y1": 0.02, "arm.z1": -0.01, "arm.torsion1": 0.3})
    drawn = np.array([[0.3, 0.02, -0.05], [0.5, 0.0, 0.0], [0.6, 0.0, 0.0]])
    found = StatePoints([bent]).points("arm", drawn)[0]
    motion = Motion.instant(bent)
    for p, frame in zip(found, (arm.ear, arm.tip, arm.at(0.6, 0, 0)), strict=True):
        np.testing.assert_allclose(p, motion.frame(frame)["position"].values[0], atol=1e-15)
    np.testing.assert_allclose(StatePoints([bent]).rigid_points("arm", drawn)[0], drawn, atol=1e-15)
    beam_ = BeamNumbers.of(m.flexible["arm"], m.values())
    np.testing.assert_array_equal(bent_points(m.flexible["arm"], beam_, np.zeros((1, 4)), drawn)[0], drawn)


def test_outline_of_a_run():
    run = four_bar_run()
    shape = run_outline(run, [0, 100, 200])
    assert [line.body for line in shape.lines] == ["crank", "coupler", "rocker"]
    assert [line.flexible for line in shape.lines] == [False, True, False]
    np.testing.assert_array_equal(shape.t, run.t[[0, 100, 200]])
    middle = np.linalg.norm(shape.bent[1] - shape.rigid[1], axis=2)[:, 12]
    np.testing.assert_allclose(middle, np.abs(run["coupler.y1"].values[[0, 100, 200]]), atol=1e-12)
    np.testing.assert_array_equal(shape.plane(), np.eye(3)[:2])
    assert shape.grounded.tolist() == [True, False, True, False]  # O, A, C, B
    lines, pins = shape.magnified(10.0)
    np.testing.assert_allclose(lines[1] - shape.rigid[1], 10 * (shape.bent[1] - shape.rigid[1]), atol=1e-14)
    np.testing.assert_allclose(pins[:, 1], lines[1][:, 0], atol=1e-12)  # bodies stay joined at A
    assert shape.magnification in (20.0, 50.0, 100.0)
    assert shape.some([1]).t.tolist() == [run.t[100]]


def test_platforms_are_rings_and_space_is_space():
    m = cc.library.rrr3(flexible=True)
    lines = {line.body: line for line in outline(StatePoints([m.assemble()]), m.values()).lines}
    assert lines["platform"].ring and len(lines["platform"].drawn) == 3
    in_space = tripod().assemble({"foot.angle1": 0.4, "foot.angle2": -0.5, "boom.y1": 0.03})
    shape = outline(StatePoints([in_space]), tripod().values())
    assert shape.plane() is not None  # a single straight beam, bent in one plane: any line has one
    assert shape.displacement == pytest.approx(0.03, rel=1e-3)
