"""J. Wang, C. M. Gosselin and L. Cheng (2002), Modeling and simulation of robotic systems with closed kinematic chains
using the virtual spring approach, Multibody System Dynamics 7, 145-170.
"""

from papers.wang2002.flexible_coupler import CLAIMS

__all__ = ["CLAIMS"]
