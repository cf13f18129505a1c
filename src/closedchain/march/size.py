"""How large a mechanism is, from its drawing alone: the length by which angles and lengths are compared."""

from __future__ import annotations

from functools import lru_cache

import casadi as ca
import numpy as np

from closedchain.derive.equations import Equations


def drawn_length(e: Equations, p: np.ndarray) -> float:
    """The largest distance between two joint frames, or a joint frame and the centre of mass, on one moving body, m.

    Without any such distance it is 1 m.
    """
    found = _places(e).call([0.0, np.zeros(e.topology.nq), np.zeros(e.topology.nv), p])
    columns = [np.array(x).T for x in found]
    largest = max((float(np.linalg.norm(x[:, None] - x, axis=2).max()) for x in columns), default=0.0)
    return largest if largest > 1e-9 else 1.0


@lru_cache(maxsize=32)
def _places(e: Equations) -> ca.Function:
    """Where joints and the centre of mass lie on each body."""
    places = {}
    for link in e.topology.links:
        frames = [side for joint in e.topology.joints for side in (joint.a, joint.b) if side.body is link.body]
        at = [e.limbs.place(frame).r for frame in [*frames, link.body["com"]]]
        places[f"b{link.index}"] = ca.densify(ca.horzcat(*at))
    return e.function("places", places)
