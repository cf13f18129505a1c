"""Raoofian, Taghvaeipour and Kamali Eigoli (2017): DeNOC with virtual springs, on a 3-RRR."""

from papers.paper import Exhibit, Paper
from papers.raoofian2017 import derivation, drawing, equations, errors, path, reactions, times, twists

PAPER = Paper(
    "raoofian2017",
    "A. Raoofian, A. Taghvaeipour and A. Kamali Eigoli (2017), A modification in the decoupled natural orthogonal "
    "complement method, using virtual spring concepts, Modares Mechanical Engineering 17(6), 377-384 (in Persian)",
    "DeNOC writes Newton's and Euler's equations limb by limb and removes the constraint wrenches of the joints with "
    "the natural orthogonal complement; loops are closed by multipliers. The paper puts undamped virtual springs in "
    "the place of the multipliers, as Wang and others did in Lagrange's equations. A planar 3-RRR on a rose path "
    "shows what that costs and how accurate it is, for stiffnesses from 1e1 to 1e8 N/m.",
    (
        "(13) and (20) have the other sign: with c the stretch of the springs and A its derivative the wrenches are "
        "-K^T K_s c, and the torques -A^T K_s c.",
        "(1) the wrench is [n; f], to pair with [omega; v]; (2) the first term on the right is -dM/dt t; (4) holds "
        "joint rates; (6) is T = N_l N_d; (15) and (17) end with dM/dt N_l N_d; (27) is in another order than (1).",
        "(32) is read as the logarithm of the distance between the platform's centre and its place on the path.",
        "The base of the logarithms in (31) and (32) is not told: the natural one fits the figures' thresholds, the "
        "decimal one their meaning in millimetres, see fig5.",
        "From (18) on the text counts equations one lower than their labels; the labels are used here.",
        "r_0 is missing in Table 1: we take 0.05 m, and 0.1 m for comparison (the reach asks for less than 0.26 m); "
        "what the text reads off Figures 5 and 6 fits the first, and not the second.",
        "How fast the rose is run through is told by its period, 2 s: we take theta = pi t, and the platform does "
        "not turn.",
        "Directions of the base joints are not told: 210, 330 and 90 degrees, the platform's corners likewise; all "
        "elbows bend the same way; the plane is horizontal.",
        "I_P = 0.0817 kg m^2 is that of a uniform triangle of 8 kg with a side of 0.35 m; with the printed S_P = 0.4 "
        "m it would be 0.1067. Both are kept as printed.",
        "The solver is taken to be MATLAB's ode45 with rtol = 1e-3 and its own atol = 1e-6: dopri5 is the same pair "
        "of formulas. It holds the root mean square of a step's 19 errors where ode45 holds their largest, so its "
        "tolerances are divided by the root of 19. The times of Table 2 fit its evaluations.",
    ),
    (
        Exhibit(
            "fig1",
            "opened loops with springs",
            lambda: [*drawing.figure_1(), equations.figure_gaps()],
            (equations.LOOPS, equations.WORK),
        ),
        Exhibit("eq13", "the sign of the springs", equations.figure_eq13, (equations.SIGN,)),
        Exhibit("eq17", "inertia and centrifugal terms of a leg", twists.table_17, (twists.COMPLEMENT,)),
        Exhibit(
            "eq20",
            "multipliers replaced by springs, and in what form",
            equations.table_forms,
            (equations.REPLACED, equations.ELONGATIONS),
        ),
        Exhibit(
            "section2",
            "what has to be derived",
            derivation.table_stages,
            (derivation.KINEMATICS, derivation.JACOBIAN, derivation.DERIVING),
        ),
        Exhibit("fig2", "the 3-RRR", drawing.figure_2),
        Exhibit("fig3", "its legs and platform, joined by springs", drawing.figure_3, (drawing.FREEDOMS,)),
        Exhibit("fig4", "the rose", path.figure_4, (path.PATH,)),
        Exhibit("table1", "dimensions and inertias", path.table_1),
        Exhibit("torques", "torques along the rose", path.figure_torques, (path.TORQUES,)),
        Exhibit(
            "table2",
            "cost against stiffness",
            times.table_2,
            (times.GROWS_WITH_STIFFNESS, times.STIFFNESS, times.FASTER, times.REAL_TIME),
        ),
        Exhibit("fig5", "closure error over time", errors.figure_5, (errors.FALLS, errors.CLOSURE, errors.HUNDREDTHS)),
        Exhibit(
            "fig6", "position error over time", errors.figure_6, (errors.POSITION, errors.OPTIMUM, errors.TOO_STIFF)
        ),
        Exhibit(
            "reactions",
            "constraint reactions",
            reactions.figure_reactions,
            (reactions.ESTIMATE, reactions.ALL, reactions.ENERGY, reactions.ACCURACY),
        ),
    ),
)
