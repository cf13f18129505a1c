"""Modal analysis of mechanisms with flexible links: which bodies deform in a mode, and in which shape.

A `Linearisation` has frequencies and modes of a closed mechanism about a pose. Of each mode with eigenvalue ``lambda``
and motion s of all velocities (complex where parts do not move in step), and with M, K_b for the inertia of the
mechanism and the stiffness of the body b,

    elastic share of b = s_b^* K_b s_b / (|lambda|^2 s^* M s)        kinetic share of b = s^* M_b s / s^* M s

The kinetic shares add up to one. So do the elastic ones, if nothing but elasticity stores energy: gravity and springs
take the rest, gravity also the other way. Modes that do not swing have no elastic share.

With its motors locked (`closedchain.results.vibration.locked`), a mechanism moves elastically only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

import casadi as ca
import numpy as np

from closedchain.cut.describe import table
from closedchain.derive.equations import Equations, derive
from closedchain.errors import ModelError
from closedchain.model.derived import cached
from closedchain.pose.size import drawn_length, velocity_sizes
from closedchain.pose.state import parameter_vector
from closedchain.results.points import Points, Posed
from closedchain.results.samples import Samples
from closedchain.results.vibration.linearisation import COLUMNS, Linearisation, displacements

if TYPE_CHECKING:
    import xarray

DEFORMS = "deforms (share of the energy)"
STEP = 1e-6  # rad, or of the length: for the displacements of points by differences, which cancel to 1e-10
SHOWN = 3  # bodies in a line of the table
LEAST = 0.005  # share of energy: smaller ones are not told


class Modes(Protocol):
    """Modes of any method that can be drawn: a `Linearisation` has them, and so have `ErlsModes`."""

    @property
    def frequencies(self) -> np.ndarray:
        """Hz (modes,)."""

    def deforms(self) -> list[str]:
        """Which bodies deform in each mode, with their share of its energy."""

    def swing(self, k: int) -> Points:
        """Points of bodies in mode number k (from 1), to first order, at the phases 0 and a quarter of its swing."""


# ---- energies --------------------------------------------------------------------------------------------------------


def shares(about: Linearisation) -> xarray.Dataset:
    """Share of each body in the elastic and kinetic energy of each mode: ``elastic``, ``kinetic`` (mode, body).

    Examples
    --------
    A flexible coupler: the first mode is the linkage that swings under gravity, the second one bends the coupler.

    >>> import closedchain as cc
    >>> m = cc.library.four_bar(flexible=True)
    >>> about = cc.linearise(m, cc.equilibrium(m))
    >>> [f"{x:.1%}" for x in shares(about)["elastic"].sel(body="coupler").values]
    ['0.0%', '100.0%', '100.0%']
    """
    import xarray

    e = derive(about.state.mechanism)
    s = motions(about)
    point = (about.state.t, about.state.q)
    p = parameter_vector(about.state.mechanism, about.state.parameters)
    energies = _kinetic(e)
    real, imaginary = (
        np.array([np.array(energies(*point, np.ascontiguousarray(y), p)).ravel() for y in part]).reshape(len(s), -1)
        for part in (s.real, s.imag)
    )
    kinetic = real + imaginary
    total = kinetic.sum(axis=1, keepdims=True)
    elastic = np.zeros_like(kinetic)
    stiffness = _stiffness(e)(p)
    for link, K in zip([x for x in e.topology.links if x.shape is not None], stiffness, strict=True):
        own = s[:, link.shape_v]
        elastic[:, link.index] = np.einsum("mi,ij,mj->m", own.conj(), np.array(K), own).real / 2
    values = about.modes["eigenvalue"].values
    swings = (values.imag != 0)[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(swings, elastic / (np.abs(values)[:, None] ** 2 * total), np.nan)
    coords = {"mode": about.modes["mode"].values, "body": [link.body.name for link in e.topology.links]}
    about_kinetic = {"units": "1", "about": "of the kinetic energy"}
    return xarray.Dataset(
        {
            "elastic": (("mode", "body"), share, {"units": "1", "about": "of the energy of the mode, in this body"}),
            "kinetic": (("mode", "body"), kinetic / total, about_kinetic),
        },
        coords,
    )


@cached
def _kinetic(e: Equations) -> ca.Function:
    """Kinetic energies of all links as a function of (t, q, v, p)."""
    twist = e.motion.twist
    each = [ca.densify(twist[i].dot(x.inertia.times(twist[i]))) / 2 for i, x in enumerate(e.limbs.links)]
    return e.function("kinetic_energies", {"T": ca.vertcat(*each)})


@cached
def _stiffness(e: Equations) -> Callable[[np.ndarray], list[ca.DM]]:
    """Stiffness matrices of all flexible links as a function of p."""
    beams = [x.beam for x in e.limbs.links if x.beam is not None]
    f = ca.Function("stiffness", [e.limbs.p], [ca.densify(beam.K) for beam in beams])
    return lambda p: f.call([p])


def motions(about: Linearisation) -> np.ndarray:
    """(modes, velocities) motion of the cut mechanism in each mode, numbered as in `State`."""
    links = derive(about.state.mechanism).topology.links
    own = [part for link in links for part in (link.joint, link.shape) if part is not None]
    names = [str(x) for x in about.modes["joint"].values]
    return about.modes["shape"].values[:, [names.index(x) for part in own for x in displacements(part)]].astype(complex)


def deforms(about: Linearisation) -> list[str]:
    """Which bodies deform in each mode, with their share of its energy: ``"coupler 99 %, crank 1 %"``, or ``"-"``."""
    if not about.state.mechanism.flexible:
        return ["-"] * len(about.frequencies)
    found = shares(about)["elastic"]
    return told_shares([str(x) for x in found["body"].values], found.values)


def told_shares(bodies: Sequence[str], shares: np.ndarray) -> list[str]:
    """Shares (modes, bodies) in words: the largest ones of each mode."""
    out = []
    for row in shares:
        order = [k for k in np.argsort(-np.nan_to_num(row), kind="stable")[:SHOWN] if row[k] >= LEAST]
        out.append(", ".join(f"{bodies[k]} {100 * row[k]:.0f} %" for k in order) or "-")
    return out


def cells(about: Linearisation) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Headings and rows of the table of modes, with the bodies that deform where there are flexible ones."""
    if not about.state.mechanism.flexible:
        return COLUMNS, list(about.rows())
    rows: list[tuple[str, ...]] = [
        (*row[:4], body, row[4]) for row, body in zip(about.rows(), deforms(about), strict=True)
    ]
    return (*COLUMNS[:4], DEFORMS, COLUMNS[4]), rows


def describe(about: Linearisation) -> str:
    """The table of modes in words, with what is to be said about the state."""
    what = "an equilibrium" if about.in_equilibrium else "a pose at rest" if about.at_rest else "a moving state"
    names = ", ".join(about.independent) or "none"
    lines = [f"{about.state.mechanism.name} about {what}; independent coordinates: {names}", ""]
    lines += table(*cells(about))
    lines += ["", "stable" if about.stable else "unstable: a small deviation grows"]
    return "\n".join(lines + ([f"note: {about.note}"] if about.note else []))


# ---- shapes ----------------------------------------------------------------------------------------------------------


def mode_number(about: Modes, k: int) -> int:
    """The place of mode number k (from 1, as in the table) in arrays."""
    count = len(about.frequencies)
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= count:
        raise ModelError(f"modes are numbered 1 to {count}, not {k!r}")
    return int(k) - 1


def swing(about: Linearisation, k: int) -> Swing:
    """Points of bodies at the ends of a small swing in mode number k (from 1), for pictures."""
    return Swing(about, k)


class Swing:
    """Points of bodies at the ends of a small swing in mode number k (from 1): at the phases 0 and a quarter."""

    def __init__(self, about: Linearisation, k: int) -> None:
        state, s = about.state, motions(about)[mode_number(about, k)]
        self.mechanism, self.t = state.mechanism, np.array([0.0, np.pi / 2])
        e, p = derive(state.mechanism), parameter_vector(state.mechanism, state.parameters)
        rates = e.function("rates", {"q_dot": e.qdot})
        ways = [s.real, -s.imag]
        ways = [0 * s.real, *ways, *(-x for x in ways)]
        far = np.abs(np.array(ways) / velocity_sizes(e, drawn_length(e, p))).max(initial=0.0)
        self._step = STEP / (far or 1.0)
        q = [state.q + self._step * np.array(rates(state.t, state.q, v, p)).ravel() for v in ways]
        zero = np.zeros((len(q), e.topology.nv))
        self._posed = Posed(Samples(e, np.full(len(q), state.t), np.array(q), zero, zero, p))
        self.parameters = self._posed.parameters

    def rigid_points(self, body: str, drawn: np.ndarray) -> np.ndarray:
        """At rest."""
        return np.repeat(self._posed.points(body, drawn)[:1], 2, axis=0)

    def points(self, body: str, drawn: np.ndarray) -> np.ndarray:
        """As they swing."""
        found = self._posed.points(body, drawn)
        return found[:1] + (found[1:3] - found[3:]) / (2 * self._step)
