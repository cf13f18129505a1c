"""Lilly and Orin (1989): chains that meet at a reference member, each known by its operational space inertia."""

from papers.lilly_orin import equations, motion, pictures, processors, singular, tables
from papers.paper import Exhibit, Paper

PAPER = Paper(
    "lilly_orin",
    "K. W. Lilly and D. E. Orin (1989), Efficient dynamic simulation for multiple chain robotic mechanisms; also "
    "(1994), Journal of Dynamic Systems, Measurement, and Control 116, 223-231",
    "Arms around a load, fingers around an object and legs under a body are chains that meet at one reference "
    "member. The paper opens them there, computes for each chain what it does alone and how its tip yields to a "
    "force (the inverse of its operational space inertia), and finds the acceleration of the reference member from "
    "a system of six equations; forces at the tips and accelerations of the joints follow chain by chain. The work "
    "is proportional to the number of chains and to their length, and most of it can be done for all chains at once.",
    (
        "The paper has no numbers for a machine. Our Type 0 machine is three PUMA 560 arms with a box of 12 kg, our "
        "Type 1 machine a hexapod with a body of 30 kg, and velocities are such that the reference member turns "
        "with about 2 rad/s.",
        "Accelerations are those of frame origins, as (2) has them; to them belong b_0 = [w x I w; w x (w x m s)] "
        "and zeta = [0; A (w x (w x b))], where (14) reads as if it were a spatial cross product.",
        "The paper gives no formula for alpha_c: it is zero for rigid grasps and hard points, Phi_c' [(w_t x n) "
        "theta'; 0] for a hinge with the axis n, and -(w_0 - w_t) . n' for a universal joint that locks the "
        "direction n, with w_t and w_0 of the tip and of the reference member.",
        "For Type 1 the point contact of a foot is the first joint of its chain, with three freedoms, and the "
        "driven hip is the joint at the tip; its torque on the leg enters as h with a minus sign.",
        "M_k of (37) does not exist for a chain with fewer freedoms than the joint at its tip locks, nor where a "
        "chain is stretched: a force component for which a chain cannot be solved stays unknown until a_0 is found.",
        "Tables 2 and 3 do not say what is not counted: sines, cosines and divisions.",
        "The paper leaves the integrator open: we take dop853, with a projection on the closures after each step.",
    ),
    (
        Exhibit("section1", "seconds of motion in milliseconds", motion.costs, motion.SECTION_1),
        Exhibit("fig1", "a Type 0 mechanism", pictures.figure_1, pictures.FIG_1),
        Exhibit("fig2", "a Type 1 mechanism", pictures.figure_2, pictures.FIG_2),
        Exhibit("section2", "spaces of a general joint", None, equations.SECTION_2),
        Exhibit("eq14", "velocity terms of the reference member", None, equations.EQ_14),
        Exhibit("section3", "open chains by recursion", tables.two_ways, tables.SECTION_3),
        Exhibit("eq21", "rigid grasps", None, equations.EQ_21),
        Exhibit("eq22", "relative accelerations", None, equations.EQ_22),
        Exhibit("eq38", "chains that cannot yield", singular.near_a_straight_wrist, singular.EQ_38),
        Exhibit("eq46", "inertia that the reference member feels", None, equations.EQ_46),
        Exhibit("table1", "the five steps", equations.table_1, equations.TABLE_1),
        Exhibit("step5", "drift", motion.drift, motion.STEP_5),
        Exhibit("table2", "operations of a chain", tables.table_2, tables.TABLE_2),
        Exhibit("table3", "operations for the reference member", tables.table_3, tables.TABLE_3),
        Exhibit("section5", "growth with chains and joints", tables.growth, tables.SECTION_5),
        Exhibit("parallel", "a processor for each chain", processors.on_teams, processors.PARALLEL),
        Exhibit("conclusion", "linear in the number of joints", None, tables.CONCLUSION),
    ),
)
