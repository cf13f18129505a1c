"""Section 3.2: the four-bar with a flexible coupler; Figures 10 to 13.

The coupler has the shapes sin(pi x / l) and sin(2 pi x / l); where (45) divides by l_1 it must be l_2. The start, which
the paper does not give, is undeformed and at rest; see ``closedchain.library.four_bar`` for all numbers.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

import closedchain as cc
from papers.paper import CORRECTED, FAILS, Claim, Finding, judged

UNTIL, STIFFNESS = 2.0, 1e6
TIMES = np.linspace(0.0, UNTIL, 2001)


def mechanism(modes=None, stiffening=False):
    """The four-bar with its flexible coupler, with the paper's shapes or others."""
    m = cc.library.four_bar(flexible=True)
    if modes is not None:
        section = cc.Section(A=0.02, Iz=1.333417)
        m.bodies["coupler"].flexible(E=2123.56, section=section, modes=modes, stiffening=stiffening)
    return m


def deflection(run) -> np.ndarray:
    """Of the middle of the coupler from the line between its ends, across it, m (Figure 11)."""
    one, middle, other = (run.frame(x).position.values[:, :2] for x in ("coupler", "coupler.com", "coupler.tip"))
    along = (other - one) / np.linalg.norm(other - one, axis=1)[:, None]
    return along[:, 0] * (middle - one)[:, 1] - along[:, 1] * (middle - one)[:, 0]


@cache
def exact() -> cc.Run:
    """Loops closed exactly: the paper's "converted ordinary differential equations"."""
    return cc.simulate(mechanism(), until=UNTIL, rtol=1e-10, t_eval=TIMES)


@cache
def springs(stiffness: float = STIFFNESS) -> cc.Run:
    """Loops closed by a virtual spring without damping."""
    return cc.simulate(mechanism(), until=UNTIL, method=cc.VirtualSpring(stiffness), rtol=1e-9, t_eval=TIMES)


def dominant_frequency() -> Finding:
    """The strongest line in the spectrum of the deflection, against the pinned-pinned beam's first frequency."""
    d = deflection(exact())
    n = 16 * len(d)  # finer than 1 / 2 s by zeros behind
    strength = np.abs(np.fft.rfft((d - d.mean()) * np.hanning(len(d)), n))
    f = np.fft.rfftfreq(n, TIMES[1])
    vibration = f > 4.0  # below lies the sag under gravity, which turns with the coupler
    found = float(f[vibration][np.argmax(strength[vibration])])
    pinned = np.pi**2 * np.sqrt(2831.5910045200003 / 0.25) / 4.0**2 / (2 * np.pi)
    off = found / pinned - 1
    low, high = own_frequencies()
    # close is what its own mode is, whose frequency changes with the pose
    return judged(
        low <= found <= high and abs(low / pinned - 1) < 0.02,
        {"dominant [Hz]": found, "pinned-pinned [Hz]": pinned, "off": off, "lowest [Hz]": low, "highest [Hz]": high},
        f"the middle of the coupler vibrates at {found:.2f} Hz, {100 * off:+.1f} % from the {pinned:.2f} Hz of the "
        f"pinned-pinned beam: its ends are not held by the ground, and its first mode in the mechanism is at {low:.2f} "
        f"to {high:.2f} Hz in the poses of the run",
    )


def own_frequencies() -> tuple[float, float]:
    """Lowest and highest frequency of the first elastic mode, Hz, of the mechanism at rest in ten poses of the run."""
    run, found = exact(), []
    for k in range(0, len(TIMES), 200):
        state = run.state(k)
        about = cc.linearise(run.mechanism, replace(state, v=0 * state.v, a=None), outputs=[])
        found.append(min(f for f in about.frequencies if f > 5.0))  # slower ones swing under gravity
    return min(found), max(found)


def two_percent() -> Finding:
    """Largest error of the deflection with a spring, relative to the largest deflection, over two seconds."""
    d, d_k = deflection(exact()), deflection(springs())
    size = float(np.abs(d).max())
    errors = np.abs(d_k - d) / size
    worst, early = float(errors.max()), float(errors[TIMES <= 1.0].max())
    return judged(
        worst <= 0.025,
        {"largest error": worst, "until 1 s": early, "largest deflection [m]": size},
        f"with k = {STIFFNESS:.0e} N/m the deflection is off by at most {100 * worst:.1f} % of its largest value "
        f"({1e3 * size:.2f} mm) over {UNTIL:g} s, and by {100 * early:.1f} % in the first second; point by point it "
        "has no bound, since the deflection passes zero",
        otherwise=CORRECTED if worst <= 0.25 else FAILS,
    )


def any_functions() -> Finding:
    """Polynomials that satisfy no condition of the far joint, closed by a spring, against sines closed exactly.

    Sines leave the ends where they are, polynomials are clamped to the near one: the beam is seen from another frame.
    Two linear fields in different frames differ by how much longer they make the axis, unless it keeps its length.
    """
    many, counts = 0.5, (2, 3, 5)
    times = TIMES[many >= TIMES]
    off: dict[tuple[bool, int], float] = {}
    for stiffening in (False, True):
        sines = mechanism(cc.modes.pinned_pinned(y=6), stiffening)
        wanted = deflection(cc.simulate(sines, until=many, rtol=1e-9, t_eval=times))
        for count in counts:
            m = mechanism(cc.modes.polynomials(y=count), stiffening)
            run = cc.simulate(m, until=many, method=cc.VirtualSpring(1e7, 2e3), rtol=1e-8, t_eval=times)
            off[stiffening, count] = float(np.abs(deflection(run) - wanted).max() / np.abs(wanted).max())
    loose, kept = (", ".join(f"{100 * off[x, n]:.1f} %" for n in counts) for x in (False, True))
    return judged(
        off[False, 5] < 0.02,
        {f"{n} powers{', axis keeps its length' if x else ''}": error for (x, n), error in off.items()},
        f"with {', '.join(map(str, counts))} powers of x, clamped at one end and closed by a spring at the other, the "
        f"deflection differs from that with six sines by {kept} if the axis keeps its length when it bends; with the "
        f"paper's linear field by {loose}, since another frame then means another length of the beam",
        otherwise=CORRECTED if off[True, 5] < 0.01 and off[True, 5] < off[True, 2] else FAILS,
    )


CLAIMS = (
    Claim(
        "dominant frequency",
        "section 3.2.1, Figure 11",
        "the coupler vibrates at a frequency close to the first of the pinned-pinned beam",
        dominant_frequency,
    ),
    Claim(
        "two percent",
        "section 3.2.2, Figure 13",
        "the deflection with virtual springs is off by about 2 % at most",
        two_percent,
    ),
    Claim(
        "any functions",
        "section 3.2.1",
        "with virtual springs shape functions need not fit the neighbouring links: polynomials converge as well",
        any_functions,
    ),
)
