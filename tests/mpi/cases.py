"""Mechanisms and methods that are run by ranks and by threads, and how far apart their answers may be."""

import warnings

import numpy as np

import closedchain as cc

# Rounding is all that differs. It is magnified by what is stiff or nearly singular: loops that are closed by formulas
# keep 1e-12; springs of 1e4 N/m on bodies of some kg magnify a rounding error of a force over some ten steps.
CLOSED, SPRINGS = 1e-11, 1e-10

# name: mechanism, method, options, tolerance
CASES = {
    "four-bar springs fixed": (
        "four_bar", cc.VirtualSpring(1e4, 10.0), {"solver": cc.solvers.RK4(step=1e-3), "until": 0.02}, SPRINGS,
    ),
    "four-bar projection adaptive": ("four_bar", cc.Projection(), {"until": 0.5}, CLOSED),
    "3-RRR modified-denoc adaptive": ("rrr3", cc.ModifiedDeNOC(1e4, 30.0), {"until": 0.02, "rtol": 1e-6}, SPRINGS),
    "3-RRR operational-space fixed": (
        "rrr3", cc.OperationalSpace(), {"solver": cc.solvers.RK4(step=1e-2), "until": 0.1}, CLOSED,
    ),
    "Gough-Stewart springs fixed": (
        "gough_stewart", cc.VirtualSpring(1e5, 1e2), {"solver": cc.solvers.RK4(step=1e-3), "until": 0.005}, SPRINGS,
    ),
    "Gough-Stewart operational-space adaptive": (
        "gough_stewart", cc.OperationalSpace(), {"until": 0.05, "rtol": 1e-5}, CLOSED,
    ),
    "Gough-Stewart projection adaptive": ("gough_stewart", cc.Projection(), {"until": 0.05, "rtol": 1e-5}, CLOSED),
}  # fmt: skip
LIMBS = {"four_bar": 2, "rrr3": 3, "gough_stewart": 7}
MASTERS = ("four-bar projection adaptive", "Gough-Stewart operational-space adaptive")  # with either way of closing

_drawn: dict[str, cc.Mechanism] = {}


def run(name, **options):
    """One case, as a run; mechanisms are drawn once."""
    mechanism, method, given, _ = CASES[name]
    m = _drawn.setdefault(mechanism, getattr(cc.library, mechanism)())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.RunWarning)  # springs give way, and short runs are no less loose
        return cc.simulate(m, method=method, **given, **options)


def motion(got):
    """All coordinates and velocities, sample by sample."""
    return np.array([got[label].values for label in (*got.topology.q_labels, *got.topology.v_labels)])


def team_sizes(name):
    """Numbers of members that a case is run with."""
    few = (2,) if name == "Gough-Stewart projection adaptive" else (1, 2, 3, 7)
    return [n for n in few if n <= LIMBS[CASES[name][0]]]


def closings(name, members):
    """Ways of closing that a case is run with."""
    return ("everyone", "master") if name in MASTERS and members == 2 else ("everyone",)


# what a controller of `job` meets with: in a module of its own, since what a controller finds in its own is its memory
trouble = {"kind": "", "at": float("inf")}
