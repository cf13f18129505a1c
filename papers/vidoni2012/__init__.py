"""R. Vidoni, A. Gasparetto, P. Boscariol and M. Giovagnoni (2012), Kinematic and dynamic analysis of flexible-link
parallel robots by means of an ERLS approach, ASME DETC2012-70939.
"""

from papers.vidoni2012.pacdrive import CLAIMS

__all__ = ["CLAIMS"]
