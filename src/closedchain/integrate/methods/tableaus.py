"""The numbers of the methods, and nothing else.

A method with `s` stages computes

    k_i = f(t + c_i h, x + h sum_j a_ij k_j),      x_1 = x + h sum_i b_i k_i,

an error estimate `h sum_i e_i k_i`, and a polynomial in `theta = (time - t) / h` over the step. All
polynomials here are kept in one nested form (Hairer, Norsett, Wanner 1993, II.6), which begins with the four
rows of a cubic Hermite polynomial and continues with rows `h sum_i d_ri k_i`:

    x(theta) = r_0 + theta (r_1 + (1 - theta) (r_2 + theta (r_3 + (1 - theta) (r_4 + ...)))).

References
----------
- Kutta (1901), Zeitschrift fuer Mathematik und Physik 46, 435-453: the classic method of order 4.
- Dormand, Prince (1980), Journal of Computational and Applied Mathematics 6(1), 19-26: the pair 5(4).
- Hairer, Norsett, Wanner (1993), Solving Ordinary Differential Equations I, 2nd ed., II.5, II.6 and II.10:
  the dense output of the pair 5(4); the method of order 8 with its estimates of orders 5 and 3, and its
  dense output of order 7. The decimals of the latter are those published with the code DOP853.
- Ehle (1969), Research Report CSRR 2010, University of Waterloo; Axelsson (1969), BIT 9(3), 185-199: Radau IIA.
  Transformation and error estimate: Hairer, Wanner (1996), Solving Ordinary Differential Equations II, 2nd ed., IV.8.
- Steinebach (2023), BIT Numerical Mathematics 63, 27: Rodas5P, with the decimals that its author published for the
  transformed stages.
- Verwer, Spee, Blom, Hundsdorfer (1999), SIAM J. Sci. Comput. 20(4), 1456-1480: the family of Rosenbrock methods with
  two stages; the member with our numbers is derived in docs/theory/fixed_step.md.
"""

from typing import NamedTuple

import numpy as np


class Tableau(NamedTuple):
    """Coefficients of an explicit Runge-Kutta method.

    Attributes
    ----------
    A : (s, s) strictly lower triangular; stages after those of the step itself serve the dense output alone.
    b : (s,) weights of the step.
    c : (s,) nodes.
    E : (m, s) error estimates, one in each row.
    D : (r, s) rows of the dense output beyond the cubic Hermite polynomial.
    """

    A: np.ndarray
    b: np.ndarray
    c: np.ndarray
    E: np.ndarray
    D: np.ndarray


def _matrix(rows, shape):
    """Dense read-only matrix from `{row: {column: value}}`."""
    matrix = np.zeros(shape)
    for i, row in rows.items():
        for j, value in row.items():
            matrix[i, j] = value
    matrix.flags.writeable = False
    return matrix


RK4 = Tableau(
    A=_matrix({1: {0: 1 / 2}, 2: {1: 1 / 2}, 3: {2: 1}}, (4, 4)),
    b=np.array([1 / 6, 1 / 3, 1 / 3, 1 / 6]),
    c=np.array([0, 1 / 2, 1 / 2, 1]),
    E=np.zeros((0, 4)),
    D=np.zeros((0, 4)),
)

# the last stage is the derivative at the end of the step: the first one of the next step ("FSAL")
_DOPRI5_A = {
    1: {0: 1 / 5},
    2: {0: 3 / 40, 1: 9 / 40},
    3: {0: 44 / 45, 1: -56 / 15, 2: 32 / 9},
    4: {0: 19372 / 6561, 1: -25360 / 2187, 2: 64448 / 6561, 3: -212 / 729},
    5: {0: 9017 / 3168, 1: -355 / 33, 2: 46732 / 5247, 3: 49 / 176, 4: -5103 / 18656},
    6: {0: 35 / 384, 2: 500 / 1113, 3: 125 / 192, 4: -2187 / 6784, 5: 11 / 84},
}
# weights of order 5 minus weights of order 4
_DOPRI5_E = {0: {0: 71 / 57600, 2: -71 / 16695, 3: 71 / 1920, 4: -17253 / 339200, 5: 22 / 525, 6: -1 / 40}}
_DOPRI5_D = {
    0: {
        0: -12715105075 / 11282082432,
        2: 87487479700 / 32700410799,
        3: -10690763975 / 1880347072,
        4: 701980252875 / 199316789632,
        5: -1453857185 / 822651844,
        6: 69997945 / 29380423,
    }
}

DOPRI5 = Tableau(
    A=_matrix(_DOPRI5_A, (7, 7)),
    b=_matrix(_DOPRI5_A, (7, 7))[6],
    c=np.array([0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1]),
    E=_matrix(_DOPRI5_E, (1, 7)),
    D=_matrix(_DOPRI5_D, (1, 7)),
)

# rows 1 to 11: the stages; row 12: the weights, the stage at the end; rows 13 to 15: dense output
_DOP853_A = {
    1: {0: 5.26001519587677318785587544488e-2},
    2: {0: 1.97250569845378994544595329183e-2, 1: 5.91751709536136983633785987549e-2},
    3: {0: 2.95875854768068491816892993775e-2, 2: 8.87627564304205475450678981324e-2},
    4: {
        0: 2.41365134159266685502369798665e-1,
        2: -8.84549479328286085344864962717e-1,
        3: 9.24834003261792003115737966543e-1,
    },
    5: {
        0: 3.7037037037037037037037037037e-2,
        3: 1.70828608729473871279604482173e-1,
        4: 1.25467687566822425016691814123e-1,
    },
    6: {
        0: 3.7109375e-2,
        3: 1.70252211019544039314978060272e-1,
        4: 6.02165389804559606850219397283e-2,
        5: -1.7578125e-2,
    },
    7: {
        0: 3.70920001185047927108779319836e-2,
        3: 1.70383925712239993810214054705e-1,
        4: 1.07262030446373284651809199168e-1,
        5: -1.53194377486244017527936158236e-2,
        6: 8.27378916381402288758473766002e-3,
    },
    8: {
        0: 6.24110958716075717114429577812e-1,
        3: -3.36089262944694129406857109825,
        4: -8.68219346841726006818189891453e-1,
        5: 2.75920996994467083049415600797e1,
        6: 2.01540675504778934086186788979e1,
        7: -4.34898841810699588477366255144e1,
    },
    9: {
        0: 4.77662536438264365890433908527e-1,
        3: -2.48811461997166764192642586468,
        4: -5.90290826836842996371446475743e-1,
        5: 2.12300514481811942347288949897e1,
        6: 1.52792336328824235832596922938e1,
        7: -3.32882109689848629194453265587e1,
        8: -2.03312017085086261358222928593e-2,
    },
    10: {
        0: -9.3714243008598732571704021658e-1,
        3: 5.18637242884406370830023853209,
        4: 1.09143734899672957818500254654,
        5: -8.14978701074692612513997267357,
        6: -1.85200656599969598641566180701e1,
        7: 2.27394870993505042818970056734e1,
        8: 2.49360555267965238987089396762,
        9: -3.0467644718982195003823669022,
    },
    11: {
        0: 2.27331014751653820792359768449,
        3: -1.05344954667372501984066689879e1,
        4: -2.00087205822486249909675718444,
        5: -1.79589318631187989172765950534e1,
        6: 2.79488845294199600508499808837e1,
        7: -2.85899827713502369474065508674,
        8: -8.87285693353062954433549289258,
        9: 1.23605671757943030647266201528e1,
        10: 6.43392746015763530355970484046e-1,
    },
    12: {
        0: 5.42937341165687622380535766363e-2,
        5: 4.45031289275240888144113950566,
        6: 1.89151789931450038304281599044,
        7: -5.8012039600105847814672114227,
        8: 3.1116436695781989440891606237e-1,
        9: -1.52160949662516078556178806805e-1,
        10: 2.01365400804030348374776537501e-1,
        11: 4.47106157277725905176885569043e-2,
    },
    13: {
        0: 5.61675022830479523392909219681e-2,
        6: 2.53500210216624811088794765333e-1,
        7: -2.46239037470802489917441475441e-1,
        8: -1.24191423263816360469010140626e-1,
        9: 1.5329179827876569731206322685e-1,
        10: 8.20105229563468988491666602057e-3,
        11: 7.56789766054569976138603589584e-3,
        12: -8.298e-3,
    },
    14: {
        0: 3.18346481635021405060768473261e-2,
        5: 2.83009096723667755288322961402e-2,
        6: 5.35419883074385676223797384372e-2,
        7: -5.49237485713909884646569340306e-2,
        10: -1.08347328697249322858509316994e-4,
        11: 3.82571090835658412954920192323e-4,
        12: -3.40465008687404560802977114492e-4,
        13: 1.41312443674632500278074618366e-1,
    },
    15: {
        0: -4.28896301583791923408573538692e-1,
        5: -4.69762141536116384314449447206,
        6: 7.68342119606259904184240953878,
        7: 4.06898981839711007970213554331,
        8: 3.56727187455281109270669543021e-1,
        12: -1.39902416515901462129418009734e-3,
        13: 2.9475147891527723389556272149,
        14: -9.15095847217987001081870187138,
    },
}
# the weights of the embedded formula of order 3; the estimate is b minus these
_DOP853_B3 = {0: 0.244094488188976377952755905512, 8: 0.733846688281611857341361741547, 11: 3 / 136}
# row 0: the estimate of order 5
_DOP853_E5 = {
    0: 0.1312004499419488073250102996e-1,
    5: -0.1225156446376204440720569753e1,
    6: -0.4957589496572501915214079952,
    7: 0.1664377182454986536961530415e1,
    8: -0.3503288487499736816886487290,
    9: 0.3341791187130174790297318841,
    10: 0.8192320648511571246570742613e-1,
    11: -0.2235530786388629525884427845e-1,
}
_DOP853_D = {
    0: {
        0: -0.84289382761090128651353491142e1,
        5: 0.56671495351937776962531783590,
        6: -0.30689499459498916912797304727e1,
        7: 0.23846676565120698287728149680e1,
        8: 0.21170345824450282767155149946e1,
        9: -0.87139158377797299206789907490,
        10: 0.22404374302607882758541771650e1,
        11: 0.63157877876946881815570249290,
        12: -0.88990336451333310820698117400e-1,
        13: 0.18148505520854727256656404962e2,
        14: -0.91946323924783554000451984436e1,
        15: -0.44360363875948939664310572000e1,
    },
    1: {
        0: 0.10427508642579134603413151009e2,
        5: 0.24228349177525818288430175319e3,
        6: 0.16520045171727028198505394887e3,
        7: -0.37454675472269020279518312152e3,
        8: -0.22113666853125306036270938578e2,
        9: 0.77334326684722638389603898808e1,
        10: -0.30674084731089398182061213626e2,
        11: -0.93321305264302278729567221706e1,
        12: 0.15697238121770843886131091075e2,
        13: -0.31139403219565177677282850411e2,
        14: -0.93529243588444783865713862664e1,
        15: 0.35816841486394083752465898540e2,
    },
    2: {
        0: 0.19985053242002433820987653617e2,
        5: -0.38703730874935176555105901742e3,
        6: -0.18917813819516756882830838328e3,
        7: 0.52780815920542364900561016686e3,
        8: -0.11573902539959630126141871134e2,
        9: 0.68812326946963000169666922661e1,
        10: -0.10006050966910838403183860980e1,
        11: 0.77771377980534432092869265740,
        12: -0.27782057523535084065932004339e1,
        13: -0.60196695231264120758267380846e2,
        14: 0.84320405506677161018159903784e2,
        15: 0.11992291136182789328035130030e2,
    },
    3: {
        0: -0.25693933462703749003312586129e2,
        5: -0.15418974869023643374053993627e3,
        6: -0.23152937917604549567536039109e3,
        7: 0.35763911791061412378285349910e3,
        8: 0.93405324183624310003907691704e2,
        9: -0.37458323136451633156875139351e2,
        10: 0.10409964950896230045147246184e3,
        11: 0.29840293426660503123344363579e2,
        12: -0.43533456590011143754432175058e2,
        13: 0.96324553959188282948394950600e2,
        14: -0.39177261675615439165231486172e2,
        15: -0.14972683625798562581422125276e3,
    },
}
_SQRT6 = np.sqrt(6.0)

DOP853 = Tableau(
    A=_matrix(_DOP853_A, (16, 16)),
    b=_matrix(_DOP853_A, (16, 16))[12],
    c=np.array(
        [
            0,
            (12 - 2 * _SQRT6) / 135,
            (6 - _SQRT6) / 45,
            (6 - _SQRT6) / 30,
            (6 + _SQRT6) / 30,
            1 / 3,
            1 / 4,
            4 / 13,
        ]
        + [127 / 195, 3 / 5, 6 / 7, 1, 1, 1 / 10, 1 / 5, 7 / 9]
    ),
    E=np.array(
        [
            _matrix({0: _DOP853_E5}, (1, 16))[0],
            _matrix(_DOP853_A, (16, 16))[12] - _matrix({0: _DOP853_B3}, (1, 16))[0],
        ]
    ),
    D=_matrix(_DOP853_D, (4, 16)),
)


class Implicit(NamedTuple):
    """Coefficients of a fully implicit Runge-Kutta method of three stages, in the form that a program needs.

    With ``Z`` the stages minus the start, the method is ``Z = h A F``. In ``W = T_inv Z`` its Newton steps fall apart
    into a real system with ``gamma / h`` and a complex one with ``(alpha + i beta) / h``, for ``W_1 - i W_2``.

    Attributes
    ----------
    A, b, c : the tableau.
    gamma, alpha, beta : eigenvalues of the inverse of A.
    T, T_inv : (3, 3) its real eigenvector, the real and the imaginary part of the complex one; and the inverse.
    E : (3,) of the error estimate ``(gamma / h - J)^-1 (f + E Z / h)``.
    """

    A: np.ndarray
    b: np.ndarray
    c: np.ndarray
    gamma: float
    alpha: float
    beta: float
    T: np.ndarray
    T_inv: np.ndarray
    E: np.ndarray


def _radau5():
    r = _SQRT6
    A = np.array(
        [
            [(88 - 7 * r) / 360, (296 - 169 * r) / 1800, (-2 + 3 * r) / 225],
            [(296 + 169 * r) / 1800, (88 + 7 * r) / 360, (-2 - 3 * r) / 225],
            [(16 - r) / 36, (16 + r) / 36, 1 / 9],
        ]
    )
    # roots of z^3 - 9 z^2 + 36 z - 60, the denominator of the stability function turned round
    u, v = np.cbrt(3.0), np.cbrt(9.0)
    gamma = 3 + v - u
    alpha, beta = 3 - (v - u) / 2, (u + v) * np.sqrt(3) / 2

    def eigenvector(root):
        """Orthogonal to two rows of A - 1 / root."""
        shifted = A - np.eye(3) / root
        vector = np.cross(shifted[0], shifted[1])
        return vector / vector[2]

    pair = eigenvector(alpha + 1j * beta)
    T = np.column_stack([eigenvector(gamma), pair.real, pair.imag])
    rows = np.array([np.cross(T[:, 1], T[:, 2]), np.cross(T[:, 2], T[:, 0]), np.cross(T[:, 0], T[:, 1])])
    T_inv = rows / (rows[0] @ T[:, 0])
    E = np.array([-(13 + 7 * r) / 3, (-13 + 7 * r) / 3, -1 / 3])
    return Implicit(A, A[2], np.array([(4 - r) / 10, (4 + r) / 10, 1]), gamma, alpha, beta, T, T_inv, E)


RADAU5 = _radau5()


class Rosenbrock(NamedTuple):
    """Coefficients of a Rosenbrock method in transformed stages,

        (1 / (gamma h) - J) u_i = f(t + c_i h, x + sum_j A_ij u_j) + sum_j C_ij u_j / h + d_i h df/dt,
        x_1 = x + sum_i b_i u_i,    error estimate u_s.

    Attributes
    ----------
    gamma : the one diagonal entry.
    A, C : (s, s) strictly lower triangular.
    c, d : (s,) nodes, and weights of df/dt.
    b : (s,) weights of the step.
    D : (3, s) the polynomial is ``x + theta (x_1 - x + (1 - theta) (D_0 u + theta (D_1 u + theta D_2 u)))``.
    """

    gamma: float
    A: np.ndarray
    C: np.ndarray
    c: np.ndarray
    d: np.ndarray
    b: np.ndarray
    D: np.ndarray


_RODAS_END = [-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946]
_RODAS_A = {
    1: [3.0],
    2: [2.849394379747939, 0.45842242204463923],
    3: [-6.954028509809101, 2.489845061869568, -10.358996098473584],
    4: [2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641],
    5: _RODAS_END,
    6: [*_RODAS_END, 1.0],
    7: [*_RODAS_END, 1.0, 1.0],
}
_RODAS_C = {
    1: [-14.155112264123755],
    2: [-17.97296035885952, -2.859693295451294],
    3: [147.12150275711716, -1.41221402718213, 71.68940251302358],
    4: [165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306],
    5: [24.854864614690072, -3.0009227002832186, 47.4931110020768, 5.5814197821558125, -0.6610691825249471],
    6: [
        30.91273214028599, -3.1208243349937974, 77.79954646070892, 34.28646028294783,
        -19.097331116725623, -28.087943162872662,
    ],
    7: [
        37.80277123390563, -3.2571969029072276, 112.26918849496327, 66.9347231244047,
        -40.06618937091002, -54.66780262877968, -9.48861652309627,
    ],
}  # fmt: skip
_RODAS_GAMMA = 0.21193756319429014

RODAS5P = Rosenbrock(
    gamma=_RODAS_GAMMA,
    A=_matrix({i: dict(enumerate(row)) for i, row in _RODAS_A.items()}, (8, 8)),
    C=_matrix({i: dict(enumerate(row)) for i, row in _RODAS_C.items()}, (8, 8)),
    c=np.array([0, 0.6358126895828704, 0.4095798393397535, 0.9769306725060716, 0.4288403609558664, 1, 1, 1]),
    d=np.array(
        [_RODAS_GAMMA, -0.42387512638858027, -0.3384627126235924, 1.8046452872882734, 2.325825639765069, 0, 0, 0]
    ),
    b=np.array([*_RODAS_END, 1, 1, 1]),
    D=np.array(
        [
            [
                25.948786856663858, -2.5579724845846235, 10.433815404888879, -2.3679251022685204,
                0.524948541321073, 1.1241088310450404, 0.4272876194431874, -0.17202221070155493,
            ],
            [
                -9.91568850695171, -0.9689944594115154, 3.0438037242978453, -24.495224566215796,
                20.176138334709044, 15.98066361424651, -6.789040303419874, -6.710236069923372,
            ],
            [
                11.419903575922262, 2.8879645146136994, 72.92137995996029, 80.12511834622643,
                -52.072871366152654, -59.78993625266729, -0.15582684282751913, 4.883087185713722,
            ],
        ]
    ),
)  # fmt: skip


def _rosenbrock2():
    """The L-stable member of the family with two stages that does best with stiff springs.

    In the letters of Hairer, Wanner (1996), IV.7, with ``b_2 (alpha_21 + gamma_21) = 1/2 - gamma`` for order 2 and
    gamma = 1 - 1/sqrt(2) for L-stability, alpha_21 and b_2 are free. Every step but the first leaves a stiff potential
    ``k c(q)^2 / 2``, with k h^2 large, with

        c = h^2 c_qq(v, v) (1 - b_2 alpha_21^2 / gamma) / 2
        c' = h c_qq(v, v) (1 - b_2 alpha_21^2 (1 - gamma) / (2 gamma^2)) / gamma

    and with a wrong acceleration along the soft directions, proportional to k h^3 and

        (1 - b_2 alpha_21^2 / gamma) (1/2 - b_2 alpha_21^2 / gamma) + b_2 alpha_21^3

    The last two vanish for the numbers below. The derivation is in docs/theory/fixed_step.md.
    """
    root = np.sqrt(2.0)
    gamma, alpha = 1 - 1 / root, 2 - 5 * root / 4
    b_2 = (3 * root - 4) / alpha**2
    beta = (1 / 2 - gamma) / b_2

    # transformed: u = h Gamma k
    inverse = np.linalg.inv(np.array([[gamma, 0], [beta - alpha, gamma]]))
    C = np.eye(2) / gamma - inverse
    return Rosenbrock(
        gamma=gamma,
        A=_matrix({1: {0: alpha / gamma}}, (2, 2)),
        C=_matrix({1: {0: C[1, 0]}}, (2, 2)),
        c=np.array([0, alpha]),
        d=np.array([gamma, gamma + beta - alpha]),
        b=np.array([1 - b_2, b_2]) @ inverse,
        D=np.array([[1, -1] @ inverse]) / (2 * beta),  # minus h^2 x'' / 2
    )


ROSENBROCK2 = _rosenbrock2()
