"""States in `q`: coordinates of the tree, followed by the counters of the turns of cut joints."""

import numpy as np


def with_counters(topology, q, **near):
    """Coordinates of the tree with the counters behind them: each at the value given by its name, or at zero.

    A counter chooses the turn in which an angle is measured, so that zero gives the angle between -pi and pi.
    """
    assert len(q) == topology.tree_nq
    at = {counter.label: 0.0 for counter in topology.counters}
    assert set(near) <= set(at)
    return np.concatenate([np.asarray(q, float), list((at | near).values())])
