"""Wang, Gosselin and Cheng (2002): virtual springs."""

from papers.paper import Exhibit, Paper
from papers.wang2002 import equations, flexible_coupler, platform, processors, rigid, sketches, stiffness

PAPER = Paper(
    "wang2002",
    "J. Wang, C. M. Gosselin and L. Cheng (2002), Modeling and simulation of robotic systems with closed kinematic "
    "chains using the virtual spring approach, Multibody System Dynamics 7, 145-170",
    "Loops are cut open, and stiff virtual springs and dampers hold the cut joints together. That leaves ordinary "
    "differential equations with an inertia matrix that falls into blocks, so that each part of a machine can be "
    "computed by a processor of its own. The examples are a four-bar with rigid links, the same with a flexible "
    "coupler, and a Gough-Stewart platform.",
    (
        "Equations (3), (4) and (47): the vectors along a link are [r 0] and [l 0], as (5) and what follows has them.",
        "Equation (8) lacks the mass m3.",
        "Where the text calls j and k the direction of gravity, weight acts against them: along -y, and along -z.",
        "Equation (20): the last term is + l1 cos(theta) f_By, and the numerator of f_Bx lacks + m3 g r3 l2 "
        "cos(alpha) cos(phi).",
        "Equations (24) and (26): the third angle of the platform is psi, not phi once more.",
        "Equations (28) and (29): the fifth term has the rates of rho and beta.",
        "Equation (40) is a column with an entry for each of the 24 coordinates, so the product is transposed, and "
        "its rows do not end with the sixth.",
        "Equation (44) means the gap of (13), not of (15); its logarithms are to base 10.",
        "Equation (45): the first shape is sin(pi x / l2). With l1, as printed, it would be the fourth sine of the "
        "coupler, of 167 instead of 10.4 Hz.",
        "Equation (49): the curvature is squared.",
        "Figures 8 and 12 have rates in rad/s, not rad/2.",
        "The area moment 1.333417 m^4 of the coupler cannot belong to an area of 0.02 m^2 (it is near the 4/3 kg m^2 "
        "of its moment of inertia); only the product with E counts, 2831.59 N m^2.",
        "The printed start angles of the four-bar leave it open by 5 um; we start from the closed loop at theta = "
        "pi/2.",
        "The start of the flexible coupler is not given: undeformed and at rest. Nor is the stiffness of its spring: "
        "10^6 N/m without a damper, as for rigid links.",
        "What the converted ordinary differential equations are is not said: we close loops exactly, by multipliers "
        "with projection.",
        "The angles alpha and beta of the legs belong to another pose than the one that is stated: lengths and angles "
        "of the legs are computed from the closed loops at the stated pose, with the points as printed (rounded to "
        "millimetres).",
        "For the platform g = 9.8 m/s^2 is taken from the four-bar, the missing inertia of the lower links is that of "
        "the upper ones (small about the leg), the centre of mass of a lower link is 0.5 m from its foot and that of "
        "an upper link 0.5 m back from its ball joint, and a positive actuator force (tau, in N, though called a "
        "torque) makes a leg longer.",
        "The paper counts eight blocks of the inertia matrix and eight processors in section 2.2, and seven submodels "
        "and processors in section 3.2.3: translations and rotations of the platform are two blocks, but one submodel.",
        "Tolerances are MAPLE's defaults, which are not given: 10^-6 and 10^-7 where it matters, and much smaller "
        "ones in the figures, so that they show the springs and not the solver.",
    ),
    (
        Exhibit("fig1", "the four-bar", sketches.show_four_bar),
        Exhibit("fig2", "the four-bar with a spring for a joint", sketches.show_cut, rigid.CUT),
        Exhibit("eq15", "equations of motion of the four-bar", equations.show_dynamics, equations.DYNAMICS),
        Exhibit("section2.1", "forces of the virtual spring", equations.show_forces, equations.FORCES),
        Exhibit("eq20", "inverse dynamics of the four-bar", equations.show_inverse_dynamics, equations.INVERSE),
        Exhibit("fig3", "the Gough-Stewart platform", sketches.show_platform),
        Exhibit("fig4", "a leg in spherical coordinates", sketches.show_leg, sketches.COORDINATES),
        Exhibit("fig5", "a virtual spring between leg and platform", sketches.show_spring, sketches.CUTS),
        Exhibit("eq39", "the inertia matrix of the platform", processors.show_blocks, processors.BLOCKS),
        Exhibit("eq40", "dampers", platform.show_damping, platform.DAMPERS),
        Exhibit("section2.2", "inverse dynamics of the platform", None, platform.INVERSE),
        Exhibit("section3", "springs against other approaches", rigid.show_work, processors.SMALL + rigid.WORK),
        Exhibit("section3.1", "data of the four-bar", None, stiffness.START),
        Exhibit("fig6", "error of the position against the stiffness", stiffness.show, stiffness.CURVE),
        Exhibit("section3.1.1", "what a large stiffness costs", stiffness.show_cost, stiffness.COST),
        Exhibit("fig7", "motion of the rigid four-bar", rigid.show_motion, rigid.MOTION),
        Exhibit("fig8", "difference from other approaches", rigid.show_differences, rigid.OTHERS),
        Exhibit(
            "fig9", "the four-bar with a flexible coupler", flexible_coupler.show_mechanism, flexible_coupler.SHAPES
        ),
        Exhibit("fig10", "motion with a flexible coupler", flexible_coupler.show_motion, flexible_coupler.COORDINATES),
        Exhibit("fig11", "deflection of the coupler", flexible_coupler.show_deflection, flexible_coupler.VIBRATION),
        Exhibit(
            "fig12", "difference from exact closure", flexible_coupler.show_differences, flexible_coupler.AGREEMENT
        ),
        Exhibit("fig13", "error of the deflection", flexible_coupler.show_relative_error, flexible_coupler.ERROR),
        Exhibit("section3.2.3", "start of the platform", platform.show_start, platform.START),
        Exhibit("fig14", "motion of the platform", platform.show_motion, platform.MOTION),
        Exhibit("gaps", "gaps of the platform's ball joints", platform.show_gaps),
        Exhibit("processors", "limbs on several processors", processors.show_members, processors.THREE),
        Exhibit("multipliers", "limbs with multipliers", None, processors.COUPLED),
        Exhibit("conclusion", "real time", None, processors.REAL_TIME),
    ),
)
