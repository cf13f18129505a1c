"""J. Wang, C. M. Gosselin and L. Cheng (2002)."""

from papers.paper import CORRECTED, HOLDS
from tests.papers.computed import computed

VERDICTS = {
    "dominant frequency": HOLDS,
    "two percent": HOLDS,
    "any functions": CORRECTED,
}


def test_wang2002():
    computed("wang2002", VERDICTS)
