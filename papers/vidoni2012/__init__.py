"""Vidoni, Gasparetto, Giovagnoni and others (2012): ERLS for parallel robots."""

from papers.paper import Exhibit, Paper
from papers.vidoni2012 import pacdrive

PAPER = Paper(
    "vidoni2012",
    "R. Vidoni, P. Boscariol, A. Gasparetto and M. Giovagnoni (2012), Kinematic and dynamic analysis of flexible-link "
    "parallel robots by means of an ERLS approach, ASME IDETC, DETC2012-70939",
    "",
    (),
    (Exhibit("pacdrive", "PacDrive", None, pacdrive.CLAIMS),),
)
