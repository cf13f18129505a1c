"""Wang, Gosselin and Cheng (2002): virtual springs."""

from papers.paper import Exhibit, Paper
from papers.wang2002 import flexible_coupler

PAPER = Paper(
    "wang2002",
    "J. Wang, C. M. Gosselin and L. Cheng (2002), Modeling and simulation of robotic systems with closed kinematic "
    "chains using the virtual spring approach, Multibody System Dynamics 7, 145-170",
    "",
    (),
    (Exhibit("coupler", "flexible coupler", None, flexible_coupler.CLAIMS),),
)
