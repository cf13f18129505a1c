"""Vidoni, Gasparetto, Boscariol and Giovagnoni (2012): ERLS for parallel robots."""

from papers.paper import Paper
from papers.vidoni2012 import beams, definitions, elements, motions, others, placing, redundancy, robot, stages, terms

_OF_EQUATIONS = {x.name: x for x in (*elements.EXHIBITS, *beams.EXHIBITS, *terms.EXHIBITS, *redundancy.EXHIBITS)}

PAPER = Paper(
    "vidoni2012",
    "R. Vidoni, A. Gasparetto, P. Boscariol and M. Giovagnoni (2012), Kinematic and dynamic analysis of flexible-link "
    "parallel robots by means of an ERLS approach, ASME IDETC, DETC2012-70939",
    "A method for parallel robots with flexible links: beams as finite elements whose displacements u are measured "
    "from an equivalent rigid-link system (ERLS), a mechanism with rigid links and free coordinates q. The paper "
    "extends it from serial robots by rules for the frames of joints and for the numbers of displacements, tells how "
    "a simulator is built, and shows the PacDrive, a planar packaging robot with two motors and eleven links: with "
    "rigid links, with flexible ones, and picking and placing. Its curves are compared with those of Adams; here "
    "Exudyn, whose beams may deflect as far as they like, is in its place.",
    (
        "Places of the ground pivots are not given: 1 at (-0.05, 0), 2 at (0.05, 0) and 6 at (0.05, 0.07) m; joints 9 "
        "and 11 lie at 150 degrees from 4 and 5, the tool points down.",
        "Joint k is where link k starts; links 8 and 10 start at joints 4 and 9, there is no joint 8 or 10.",
        "Links 5 and 11 are welded at joint 5, and the corners of the triangle 4-7-9 too: pinned at joint 5, the robot "
        "would have three freedoms.",
        "b_y is the depth in the plane of motion; gravity is 9.81 m/s^2 along -y; links are thin rods, undeformed at "
        "the start, without damping.",
        "Signs of torques: (-20, +20) N m on (q1, q2) raise the links between 0.1 and 0.2 s; picking takes (-15, +15) "
        "in the first half of each 0.2 s and (+5, -5) in the second.",
        "At a pin links share displacements, and each keeps its own rotation; only welded ends share it.",
        "(3): the external work has the other sign; (14): its last term is the product of the variation of u and f.",
        "(11): r'' is the inertial acceleration of nodes in the axes of the joint, not the second rate of components; "
        "in space a link that spins has slopes that it lacks.",
        "(17) to (21) lack the factor T' N' R' on the left; (19) and (21) hold R'' and T'', so the unknown q'', which "
        "belongs to the left of (36).",
        "(30) and (31): K1 is half of the derivative of K by each coordinate q.",
        "(35): the damping is alpha J' M u'.",
        "(36): the second row has J' M times the rate of J, and u is missing from the vector; the matrix is square.",
        'The terms that (28) and (31) drop are kept, unless said otherwise; `cc.ERLS(terms="paper")` has the rows of '
        "the paper.",
        "Displacements that are zeroed are not named: those of the far ends of links 1 and 2 across them, so that q "
        "are the directions of their chords.",
        "The times that the figures cover are not given in words: 0.3 s of the drop, and of picking two periods with "
        "flexible and three with stiff links.",
    ),
    (
        *definitions.EXHIBITS,
        *(_OF_EQUATIONS[name] for name in ("eq11", "eq19", "eq28", "eq31", "eq34", "damping", "eq36")),
        *stages.EXHIBITS,
        *others.EXHIBITS,
        *robot.EXHIBITS,
        *motions.EXHIBITS,
        *placing.EXHIBITS,
        *others.CONCLUSION,
    ),
)
