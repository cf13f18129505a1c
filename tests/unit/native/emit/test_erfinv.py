"""The inverse error function, against SciPy."""

from __future__ import annotations

import casadi
import numpy as np
import scipy.special

from closedchain.native import compile_function


def test_erfinv_is_accurate_on_both_sides() -> None:
    x = casadi.SX.sym("x")
    native = compile_function("erfinv", {"x": x}, {"y": casadi.erfinv(x)}, cache=False)
    small = 10.0 ** np.linspace(-300, -1, 500)
    near_one = 1 - 10.0 ** np.linspace(-15.9, -0.2, 500)
    points = np.concatenate([small, -small, near_one, -near_one, np.linspace(-0.99, 0.99, 999)])
    # three units in the last place: Halley's step ends at the accuracy of erf and erfc themselves
    np.testing.assert_allclose(native.batch(points)[:, 0], scipy.special.erfinv(points), rtol=2e-15)
