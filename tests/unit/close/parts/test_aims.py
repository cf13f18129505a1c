"""Rows that are held at small residuals instead of at zero."""

import casadi as ca
import numpy as np

import closedchain as cc
from closedchain.close.formulation import Choice
from closedchain.close.parts.aims import close, everywhere
from closedchain.derive.equations import derive


def test_a_column_for_all_rows():
    aims = ca.SX.sym("aims", 2)
    column = everywhere(aims, (3, 1), 5)
    assert [str(column[i]) for i in (1, 3)] == [str(aims[1]), str(aims[0])] and column.nnz() == 2


def test_the_correction_leads_to_the_aims():
    """Newton's steps end where the residuals are the aims; rates do not know of them."""
    m = cc.library.four_bar()
    start, e = m.assemble(O=1.0), derive(m)
    aims = np.array([2e-3, -1e-3])
    plain, aimed = (close(cc.Multipliers(), e, Choice((0, 1), aimed=x)) for x in (False, True))
    assert plain.parameters.numel() == 0 and aimed.parameters.numel() == 2
    inputs = [e.limbs.t, aimed.x, e.limbs.p, aimed.parameters]
    step = ca.Function("step", inputs, [aimed.correction.x_plus, aimed.dx, e.closure.c])
    x, p = np.concatenate([start.q, start.v, [0.0]]), np.array(list(m.parameters.merged({}).values()))
    for _ in range(6):
        x = np.array(step(0.0, x, p, aims)[0]).ravel()
    _, rate, c = (np.array(y).ravel() for y in step(0.0, x, p, aims))
    np.testing.assert_allclose(c, aims, atol=1e-14)
    other = ca.Function("rates", [e.limbs.t, plain.x, e.limbs.p], [plain.dx])
    np.testing.assert_array_equal(rate, np.array(other(0.0, x, p)).ravel())
