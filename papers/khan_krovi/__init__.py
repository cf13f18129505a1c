"""Khan and Krovi: compliance-based and projection-based simulation of a four-bar on two processors."""

from papers.khan_krovi import adaptive, convergence, cost, discussion, distributed, equations, fixed_steps, step_counts
from papers.paper import Paper

PAPER = Paper(
    "khan_krovi",
    "W. A. Khan and V. Krovi, Comparison of two alternate methods for distributed forward dynamic simulation of a "
    "four-bar linkage, McGill University and State University of New York at Buffalo",
    "A four-bar is divided at a joint into a chain of two links and one of a single link, each for a processor of its "
    "own. Method A closes the cut by virtual springs, after Wang and others, so that the chains only have to know the "
    "gap between them; method B projects the equations on the feasible motions, with closure errors that decay at a "
    "rate sigma, after Yun and Sarkar. Both are simulated with adaptive and with fixed steps: the projection costs "
    "more by the evaluation, keeps the loop closed far better, and needs fewer steps.",
    (
        "Table 1 prints l2 = 2.5 m and l3 = 3 m and no ground: the loop would be open by a metre; we take the lengths "
        "of Wang and others, 1, 4, 2.5 m and a ground of 3 m, which fit the printed angles.",
        "The printed angles leave a gap of 8.2e-6 m; we start from the exact closure at theta = pi/2.",
        "Gravity and velocities at the start are not given: 9.8 m/s^2 along -y, and rest.",
        "No values of sigma are given: we take 0, 1, 10, 100 and 1000 /s.",
        "Absolute tolerances are not given: 1e-6, that of MATLAB's ode45; its pair of Dormand and Prince is our "
        "`dopri5`.",
        "The method with fixed steps is not named: we take the classic one of order 4, and Dormand and Prince's of "
        "order 5 beside it.",
        "Which velocity is independent is not said: the library picks one by the size of pivots, the relative angle "
        "at A; in the typed equations it is the crank's.",
        "How long the runs of Figures 4, 5 and 7 are is not said: we take the 10 s of Figure 6, and give the first 2 s "
        "beside them, before the undamped springs become chaotic.",
        "In (7) the multipliers have a dot, which they should not have.",
        "In (13) eta is a particular solution of (12), not of (11).",
        "In (16) the last term must be - S'f; (17) is right.",
        "In (18) M22 must have m2 for m1; with the paper's equal masses this changes nothing.",
        "In (18) E = 1 is right for torques that act from the ground; a motor in the joint between links 1 and 2 has "
        "the column (-1, 1, 0).",
        "In (20) K is called a compliance matrix: it is a stiffness.",
        "In (21) the left side is [q'; nu'].",
        "In (25) each line gives a chain's contribution: the rate of nu is the sum of both.",
        "Section 3 counts n - m states of the smaller system: they are 2 (n - m), or 2 n - m as in (17).",
    ),
    (
        *convergence.EXHIBITS,
        *distributed.EXHIBITS,
        *equations.EXHIBITS,
        *adaptive.EXHIBITS,
        *step_counts.EXHIBITS,
        *fixed_steps.EXHIBITS,
        *discussion.EXHIBITS,
        *cost.EXHIBITS,
    ),
)
