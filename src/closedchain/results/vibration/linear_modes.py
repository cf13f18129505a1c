"""Modes of a `Linearisation`: frequencies, shapes, and which bodies deform.

Of each mode with eigenvalue ``lambda``
and motion s of all velocities (complex where parts do not move in step), and with M, K_b for the inertia of the
mechanism and the stiffness of the body b,

    elastic share of b = s_b^* K_b s_b / (|lambda|^2 s^* M s)        kinetic share of b = s^* M_b s / s^* M s

The kinetic shares add up to one. So do the elastic ones, if nothing but elasticity stores energy: gravity and springs
take the rest, gravity also the other way. Modes that do not swing have no elastic share.

With its motors locked (`closedchain.results.vibration.locked`), a mechanism moves elastically only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from closedchain.cut.describe import table
from closedchain.derive.equations import Equations, derive
from closedchain.model.derived import cached
from closedchain.pose.size import drawn_length, velocity_sizes
from closedchain.pose.state import State, parameter_vector
from closedchain.results.points import Posed
from closedchain.results.samples import Samples
from closedchain.results.vibration.linearisation import Linearisation, displacements
from closedchain.results.vibration.modal import Modes

if TYPE_CHECKING:
    import xarray

DEFORMS = "deforms (share of the energy)"
STEP = 1e-6  # rad, or of the length: for the displacements of points by differences, which cancel to 1e-10
SHOWN = 3  # joints in a line of the table
COLUMNS = ("mode", "frequency [Hz]", "damping", "eigenvalue [1/s]", "moves most")


@dataclass(frozen=True, eq=False, repr=False)
class LinearModes(Modes):
    """Modes of a `Linearisation`."""

    about: Linearisation
    locked: tuple[str, ...] = ()
    count: int | None = None
    rigid: int = 0

    @property
    def state(self) -> State:  # type: ignore[override]
        """About which."""
        return self.about.state

    @property
    def mode_table(self) -> xarray.Dataset:
        """Frequencies, damping ratios, eigenvalues and shapes."""
        return self.about.mode_table.isel(mode=slice(self.count))

    @cached_property
    def energies(self) -> xarray.Dataset:
        """Share of each body in the elastic and kinetic energy of each mode: ``elastic``, ``kinetic`` (mode, body)."""
        return shares(self.about).isel(mode=slice(self.count))

    @cached_property
    def elastic_shares(self) -> np.ndarray:
        """Share of each flexible body in the energy of each mode (modes, bodies)."""
        bodies = list(self.state.mechanism.flexible)
        if not bodies:
            return np.zeros((len(self.frequencies), 0))
        return self.energies["elastic"].sel(body=bodies).values

    @property
    def in_equilibrium(self) -> bool:
        """Whether the state is at rest and stays there."""
        return self.about.in_equilibrium

    @property
    def note(self) -> str | None:
        """Whether the state is no equilibrium, or which flexible bodies are clamped."""
        return self.about.note

    def swing(self, k: int) -> Swing:
        """Points of bodies at the ends of a small swing in mode number k (from 1), for pictures."""
        return Swing(self.about, self.number(k))

    def rows(self) -> list[tuple[str, str, str, str, str]]:
        """The table of modes: number, frequency, damping ratio, eigenvalue, and the joints that move most."""
        out = []
        for k, mode in enumerate(self.mode_table["mode"].values):
            one = self.mode_table.isel(mode=k)
            x = complex(one["eigenvalue"])
            value = f"{x.real + 0.0:.5g}" + (f" +- {abs(x.imag):.5g}i" if x.imag else "")
            ratio = float(one["damping_ratio"])
            frequency = f"{float(one['frequency']):.6g}" if x.imag else "-"
            shown = "-" if np.isnan(ratio) else f"{ratio:.4g}"
            out.append((str(mode), frequency, shown, value, self._moves_most(k)))
        return out

    def _moves_most(self, k: int) -> str:
        """The coordinates that move most in mode k (from 0), with their share and, if not in step, their phase."""
        shape, names = self.shapes.values[k], self.shapes["coordinate"].values
        order = sorted(range(len(shape)), key=lambda i: -round(abs(shape[i]), 9))[:SHOWN]
        return ", ".join(f"{names[i]} {_share(shape[i])}" for i in order if abs(shape[i]) > 1e-6)

    def cells(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Headings and rows of the table of modes, with the bodies that deform where there are flexible ones."""
        if not self.state.mechanism.flexible:
            return COLUMNS, list(self.rows())
        rows: list[tuple[str, ...]] = [
            (*row[:4], body, row[4]) for row, body in zip(self.rows(), self.deforms(), strict=True)
        ]
        return (*COLUMNS[:4], DEFORMS, COLUMNS[4]), rows

    def __str__(self) -> str:
        about = self.about
        what = "an equilibrium" if about.in_equilibrium else "a pose at rest" if about.at_rest else "a moving state"
        names = ", ".join(about.independent) or "none"
        lines = [f"{about.state.mechanism.name} about {what}; independent coordinates: {names}", ""]
        lines += table(*self.cells())
        lines += ["", "stable" if self.stable else "unstable: a small deviation grows"]
        return "\n".join(lines + ([f"note: {self.note}"] if self.note else []))


def describe(about: Linearisation) -> str:
    """A linear system in words: the table of its modes, with what is to be said about the state."""
    return str(LinearModes(about))


def _share(x: complex) -> str:
    """Size with its sign, and the phase where it is neither in step nor opposite."""
    phase = round(float(np.degrees(np.angle(x))))
    if phase in (0, 180, -180):
        return f"{-abs(x) if phase else abs(x):.3g}"
    return f"{abs(x):.3g} at {phase} deg"


# ---- energies --------------------------------------------------------------------------------------------------------


def shares(about: Linearisation) -> xarray.Dataset:
    """Share of each body in the elastic and kinetic energy of each mode: ``elastic``, ``kinetic`` (mode, body).

    Examples
    --------
    A flexible coupler: the first mode is the linkage that swings under gravity, the second one bends the coupler.

    >>> import closedchain as cc
    >>> m = cc.library.four_bar(flexible=True)
    >>> [f"{x:.1%}" for x in shares(m.linearise(m.equilibrium()))["elastic"].sel(body="coupler").values]
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
    values = about.mode_table["eigenvalue"].values
    swings = (values.imag != 0)[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(swings, elastic / (np.abs(values)[:, None] ** 2 * total), np.nan)
    coords = {"mode": about.mode_table["mode"].values, "body": [link.body.name for link in e.topology.links]}
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
    names = [str(x) for x in about.mode_table["coordinate"].values]
    return (
        about.mode_table["shape"]
        .values[:, [names.index(x) for part in own for x in displacements(part)]]
        .astype(complex)
    )


# ---- shapes ----------------------------------------------------------------------------------------------------------


class Swing:
    """Points of bodies at the ends of a small swing in mode k (from 0): at the phases 0 and a quarter."""

    def __init__(self, about: Linearisation, k: int) -> None:
        state, s = about.state, motions(about)[k]
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
