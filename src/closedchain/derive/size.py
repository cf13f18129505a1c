"""How large a mechanism is, from its drawing alone: the length by which angles and lengths are compared."""

from __future__ import annotations

from itertools import combinations

import casadi as ca

from closedchain.derive.equations import Equations


def traced_length(e: Equations) -> ca.SX:
    """The largest distance between two joint frames, or a joint frame and the centre of mass, on one moving body, m.

    Without any such distance it is 1 m. It is a function of the parameters.
    """
    square = ca.SX(0)
    for link in e.topology.links:
        frames = [side for joint in e.topology.joints for side in (joint.a, joint.b) if side.body is link.body]
        for one, other in combinations([e.limbs.in_body(frame).r for frame in (*frames, link.body["com"])], 2):
            square = ca.fmax(square, ca.sumsqr(one - other))
    return ca.sqrt(ca.if_else(square > 1e-18, square, 1))
