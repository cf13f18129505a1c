"""Beams over time: displacements along them, section forces, stresses, and where the largest of them are.

The beam lies along x of its body. All components are along the body's axes, in the frame that the displacements are
measured in (rotations are small): displacements ``u, v, w`` of the axis along x, y, z and the angle ``turn`` about x;
sections turn by ``(turn, -w', v')``. Section forces and moments are those that the part of the beam beyond x exerts on
the part before it,

    N = E A u'       T  = G J turn'                       dN/dx  = -n_x     n: forces by length, those of inertia too
    Vy = -dMz/dx     Mz =  E Iz v''                       dVy/dx = -n_y
    Vz =  dMy/dx     My = -E Iy w''                       dVz/dx = -n_z

so that N is a tension. There are two ways to find them. *By shapes*: the equations above, from derivatives of the
displacements. Few shapes give good displacements, but each derivative takes away accuracy, and where no shape stretches
the beam N is zero, however hard it is pulled. *By equilibrium* (`closedchain.results.beams.section_forces`): all that
acts on the beam beyond x. Both are the same in the limit of many shapes; the second is what a run has by default.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from closedchain.arguments import increasing, known
from closedchain.attached import Attached
from closedchain.errors import ModelError, RunWarning, warn
from closedchain.model.shapes import ShapeSet
from closedchain.results.beams.numbers import BeamNumbers, places
from closedchain.results.beams.stress import STRESSES, stresses

if TYPE_CHECKING:
    import xarray

    from closedchain.look.plots.flexible import plot_beam

AXIAL = 0.1  # of Euler's load: an axial load that changes the stiffness against bending as much
FORCES = ("N", "Vy", "Vz", "T", "My", "Mz")
UNITS = {"N": "N", "Vy": "N", "Vz": "N", "T": "N m", "My": "N m", "Mz": "N m"}
ABOUT = {
    "N": "tension",
    "Vy": "shear force along y",
    "Vz": "shear force along z",
    "T": "torque about x",
    "My": "bending moment about y",
    "Mz": "bending moment about z",
}


class Along(NamedTuple):
    """A field along a beam over time, with its derivatives by x; (time, x) each."""

    value: np.ndarray
    slope: np.ndarray
    bend: np.ndarray


class Peak(NamedTuple):
    """The largest size of something: its value with the sign, where on the beam (m), and when (s)."""

    value: float
    x: float
    t: float


@dataclass(frozen=True, eq=False)
class BeamFields(Attached):
    """What a beam does over time; made by `from_shapes` or `from_nodes`.

    ``fields["v"]``, ``fields["Mz"]``, ``fields["von_mises"]`` are (time, x) arrays with units; ``fields.dataset`` has
    all of them, and ``fields.maximum("von_mises")`` tells the largest value, where and when.

    Attributes
    ----------
    beam
        Its numbers.
    t, x
        Times (s), and places on the beam (m).
    u, v, w, turn
        Displacements along the axes and the angle about x, with derivatives.
    shortening
        How far bending has drawn points along -x (time, x), where the beam keeps its length; otherwise zero.
    ends
        Displacements of the two ends (time, 2, 3).
    forces
        Section forces by name (time, x).
    way
        ``"equilibrium"`` or ``"shapes"``: how they were found.
    undetermined
        Section forces that the equations do not determine, as those across the plane of a planar linkage: they are
        given, but do not count in stresses.
    """

    if TYPE_CHECKING:  # attached by `closedchain.verbs`
        plot = plot_beam

    beam: BeamNumbers
    t: np.ndarray
    x: np.ndarray
    u: Along
    v: Along
    w: Along
    turn: Along
    shortening: np.ndarray
    ends: np.ndarray
    forces: Mapping[str, np.ndarray]
    way: str
    undetermined: tuple[str, ...] = ()

    @classmethod
    def from_shapes(
        cls,
        beam: BeamNumbers,
        basis: ShapeSet,
        t: Any,
        eta: Any,
        x: Any = None,
        *,
        stiffening: bool = False,
        forces: Mapping[str, np.ndarray] | None = None,
        undetermined: Sequence[str] = (),
    ) -> BeamFields:
        """Of a beam whose displacements are shapes times coordinates, as on a floating frame.

        Parameters
        ----------
        beam, basis
            Numbers and shapes.
        t, eta
            Times (n), and coordinates of the shapes (n, shapes).
        x
            Places, m. Default: 41 from end to end.
        stiffening
            Whether the bent beam keeps its length.
        forces
            Section forces (n, places), if they are known better than by shapes; see `FORCES` for the names.
        undetermined
            Those of them that are not determined.

        Examples
        --------
        A cantilever, bent so that its tip moves by 1 mm as under a force there:

        >>> import numpy as np
        >>> from closedchain.model import shapes
        >>> from closedchain.results.beams.numbers import SectionNumbers
        >>> section = SectionNumbers(A=6e-4, Iy=4.5e-8, Iz=2e-8, J=0, y=0.01)
        >>> beam = BeamNumbers("arm", 0.5, 2.352, 0.0, E=5e9, G=1.9e9, section=section)
        >>> held = BeamFields.from_shapes(beam, shapes.polynomials(y=2), [0.0], [[1.5e-3, -0.5e-3]])
        >>> print(f"{held.maximum('Mz').value:.3f} N m at x = {held.maximum('Mz').x:.1f} m")
        1.200 N m at x = 0.0 m
        >>> print(f"{held['Vy'].values.mean():.3f} N, {held.maximum('von_mises').value / 1e6:.3f} MPa")
        2.400 N, 0.600 MPa
        """
        t, eta, x, L = np.atleast_1d(np.asarray(t, float)), np.atleast_2d(eta), places(beam, x), beam.length
        shapes, at_ends = basis.fields(x / L), basis.fields(np.array([0.0, 1.0]))
        along = {f: Along(*(eta @ y.T / L**k for k, y in enumerate(shapes[f]))) for f in "uvwt"}
        ends = np.stack([eta @ at_ends[f][0].T for f in "uvw"], axis=2)
        shortening = np.zeros((len(t), len(x)))
        if stiffening:
            H = np.array([basis.integrals.H(float(xi)) for xi in (*(x / L), 1.0)])
            drawn = np.einsum("ti,xij,tj->tx", eta, H, eta) / (2 * L)
            shortening, ends[:, 1, 0] = drawn[:, :-1], ends[:, 1, 0] - drawn[:, -1]
        if forces is None:
            thirds = {f: np.zeros((len(t), len(x))) for f in "vw"}
            for i, shape in enumerate(basis.shapes):
                for f in thirds.keys() & shape.curves.keys():
                    thirds[f] += eta[:, i : i + 1] * shape.curves[f].derivative(x / L, 3) / L**3
            forces, way = _by_derivatives(beam, along["u"], along["v"], along["w"], along["t"], thirds), "shapes"
        else:
            forces, way = dict(forces), "equilibrium"
        return cls(
            beam,
            t,
            x,
            along["u"],
            along["v"],
            along["w"],
            along["t"],
            shortening,
            ends,
            forces,
            way,
            tuple(undetermined),
        )

    @classmethod
    def from_nodes(
        cls,
        beam: BeamNumbers,
        t: Any,
        nodes: Any,
        displacements: Any,
        x: Any = None,
        *,
        end_forces: Any = None,
        shortening: Any = None,
    ) -> BeamFields:
        """Of a beam of finite elements, from what its nodes do.

        Displacements are cubic (Hermite) in bending between nodes, and linear in u and the angle about x: the usual
        elements of Euler and Bernoulli.

        Parameters
        ----------
        beam
            Its numbers.
        t
            Times (n).
        nodes
            Places of the nodes, m, rising from 0 to the length.
        displacements
            (n, nodes, 6): displacements x, y, z and rotations about x, y, z of each node, in the frame that the beam
            is drawn in. Planar elements leave z and the rotations about x and y zero.
        x
            Places to look at, m. Default: 41 from end to end.
        end_forces
            (n, elements, 2, 6): section forces ``N, Vy, Vz, T, My, Mz`` just inside the two ends of each element. With
            ``f = K u + M u'' - ...`` for the forces and moments that the rest of the mechanism exerts on an element,
            they are ``-f`` at its first end and ``+f`` at its second. Moments between them follow the cubic with the
            slopes ``-Vy`` and ``Vz``: fourth order in the length of an element. Without end forces: from derivatives
            of the displacements, of which moments are of second order, and shear forces of first order.
        shortening
            (n, places): how far points have moved along -x by bending, if they have.
        """
        t, x, nodes = np.atleast_1d(np.asarray(t, float)), places(beam, x), np.asarray(nodes, float)
        d = np.asarray(displacements, float).reshape(len(t), len(nodes), 6)
        increasing("nodes", nodes, 2, "places that rise from one end of the beam to the other")
        i = np.clip(np.searchsorted(nodes, x, side="right") - 1, 0, len(nodes) - 2)
        h = np.diff(nodes)[i]
        s = (x - nodes[i]) / h
        straight = [_linear(d[:, :, k], i, h, s) for k in (0, 3)]
        bent = [_cubic(d[:, :, k], sign * d[:, :, turn], i, h, s) for k, turn, sign in ((1, 5, 1.0), (2, 4, -1.0))]
        (u, turn), (v, w) = straight, (Along(*x[:3]) for x in bent)
        if end_forces is None:
            forces = _by_derivatives(beam, u, v, w, turn, {"v": bent[0][3], "w": bent[1][3]})
        else:
            forces = _between(np.asarray(end_forces, float), i, h, s)
        drawn = np.zeros((len(t), len(x))) if shortening is None else np.asarray(shortening, float)
        way = "shapes" if end_forces is None else "equilibrium"
        return cls(beam, t, x, u, v, w, turn, drawn, d[:, [0, -1], :3], forces, way)

    # ---- what it is asked for --------------------------------------------------------------------------------------

    @property
    def displacement(self) -> np.ndarray:
        """(time, x, 3): of points of the axis, against the frame that the beam is drawn in."""
        return np.stack([self.u.value - self.shortening, self.v.value, self.w.value], axis=2)

    @property
    def from_chord(self) -> np.ndarray:
        """(time, x, 3): of points of the axis, against the straight line between the two displaced ends."""
        share = (self.x / self.beam.length)[:, None]
        line = (1 - share) * self.ends[:, :1] + share * self.ends[:, 1:]
        return self.displacement - line

    @property
    def rotation(self) -> np.ndarray:
        """(time, x, 3): small rotations of the sections about x, y, z, rad."""
        return np.stack([self.turn.value, -self.w.slope, self.v.slope], axis=2)

    @property
    def buckling(self) -> dict[str, np.ndarray]:
        """Tension over Euler's load for bending along y and z, by name, (time, x): ``N L^2 / (pi^2 E I)``.

        A beam between pins buckles at -1; it is softer against bending by that share under compression, and stiffer
        under tension, which without ``stiffening=True`` is not counted.
        """
        N, L = self.forces["N"], self.beam.length
        both = {"buckling_y": self.beam.section.Iz, "buckling_z": self.beam.section.Iy}
        return {name: N * L**2 / (np.pi**2 * self.beam.E * I) for name, I in both.items() if I > 0}

    @cached_property
    def stresses(self) -> dict[str, np.ndarray]:
        """Stresses by name, (time, x), Pa; those that the section has no numbers for are missing (see `missing`)."""
        return self._stresses[0]

    @property
    def missing(self) -> tuple[str, ...]:
        """What stresses leave out, and why, in words."""
        return self._stresses[1]

    @cached_property
    def _stresses(self) -> tuple[dict[str, np.ndarray], tuple[str, ...]]:
        return stresses(self.beam, self.forces, self.undetermined)

    @cached_property
    def dataset(self) -> xarray.Dataset:
        """Everything over time and along the beam, with units."""
        import xarray

        at, vector = ("time", "x"), ("time", "x", "axis")
        frame = "against the frame of the body"
        variables: dict[str, Any] = {
            "displacement": (vector, self.displacement, {"units": "m", "about": frame}),
            "from_chord": (vector, self.from_chord, {"units": "m", "about": "against the line between the two ends"}),
            "rotation": (vector, self.rotation, {"units": "rad", "about": frame}),
        }
        fields = {"u": self.u.value - self.shortening, "v": self.v.value, "w": self.w.value, "turn": self.turn.value}
        for name, value in fields.items():
            variables[name] = (at, value, {"units": "rad" if name == "turn" else "m", "about": frame})
        for name in FORCES:
            told = {"units": UNITS[name], "about": ABOUT[name]}
            variables[name] = (
                at,
                self.forces[name],
                told | ({"undetermined": "yes"} if name in self.undetermined else {}),
            )
        for name, share in self.buckling.items():
            told = {"units": "1", "about": f"tension over Euler's load, bending along {name[-1]} between pins"}
            variables[name] = (at, share, told | ({"undetermined": "yes"} if "N" in self.undetermined else {}))
        for name, stress in self.stresses.items():
            variables[name] = (at, stress, {"units": "Pa", "about": STRESSES[name]})
        coords = {"time": ("time", self.t, {"units": "s"}), "x": ("x", self.x, {"units": "m"}), "axis": list("xyz")}
        attrs = {"body": self.beam.name, "forces_by": self.way, "stresses_leave_out": "; ".join(self.missing)}
        return xarray.Dataset(variables, coords, attrs)

    def __getitem__(self, name: str) -> xarray.DataArray:
        if name in STRESSES and name not in self.stresses:
            raise ModelError(
                f"no {name.replace('_', ' ')} of {self.beam.name!r}: there is "
                f"{' and '.join(x for x in self.missing if 'section' in x)}. Give it Section(..., y=..., z=...), the "
                "distances of the outermost fibres, or draw it with Section.rectangle and the like"
            )
        known("a beam has no", name, [*self.dataset.data_vars, *self.dataset.coords])
        return self.dataset[name]

    def maximum(self, name: str = "von_mises") -> Peak:
        """The largest size of something, where and when it is reached, among the samples and places that there are."""
        values = self[name].values
        if np.isnan(values).all():
            raise ModelError(f"{name!r} of {self.beam.name!r} is not known at any sample")
        size = np.linalg.norm(values, axis=2) if values.ndim == 3 else np.abs(values)
        i, j = np.unravel_index(int(np.nanargmax(size)), size.shape)
        value = float(size[i, j] if values.ndim == 3 else values[i, j])
        return Peak(value, float(self.x[j]), float(self.t[i]))

    def __repr__(self) -> str:
        when = f"at t = {self.t[0]:g} s" if len(self.t) == 1 else f"from {self.t[0]:g} to {self.t[-1]:g} s"
        return f"BeamFields({self.beam.name!r}, {len(self.x)} places, {when}, section forces by {self.way})"


# ---- section forces from displacements -------------------------------------------------------------------------------


def _by_derivatives(
    beam: BeamNumbers, u: Along, v: Along, w: Along, turn: Along, thirds: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    E, section = beam.E, beam.section
    Iy, Iz = section.Iy, section.Iz
    return {
        "N": E * section.A * u.slope,
        "Vy": -E * Iz * thirds["v"],
        "Vz": -E * Iy * thirds["w"],
        "T": beam.G * section.J * turn.slope,
        "My": -E * Iy * w.bend,
        "Mz": E * Iz * v.bend,
    }


def _linear(value: np.ndarray, i: np.ndarray, h: np.ndarray, s: np.ndarray) -> Along:
    """Linear between nodes: value and derivatives at s in elements i of lengths h."""
    a, b = value[:, i], value[:, i + 1]
    return Along((1 - s) * a + s * b, (b - a) / h, np.zeros_like(a))


def _cubic(value: np.ndarray, slope: np.ndarray, i: np.ndarray, h: np.ndarray, s: np.ndarray) -> list[np.ndarray]:
    """Hermite's cubic between nodes: value and three derivatives."""
    a, b, p, q = value[:, i], value[:, i + 1], h * slope[:, i], h * slope[:, i + 1]
    c2, c3 = 3 * (b - a) - 2 * p - q, 2 * (a - b) + p + q
    return [
        a + s * (p + s * (c2 + s * c3)),
        (p + s * (2 * c2 + 3 * s * c3)) / h,
        (2 * c2 + 6 * s * c3) / h**2,
        6 * c3 / h**3 + 0 * s,
    ]


def _between(ends: np.ndarray, i: np.ndarray, h: np.ndarray, s: np.ndarray) -> dict[str, np.ndarray]:
    """Section forces inside elements from those at their ends, (time, elements, 2, 6)."""
    first, second = ends[:, i, 0], ends[:, i, 1]
    out = {}
    for name in ("N", "T"):
        k = FORCES.index(name)
        out[name] = (1 - s) * first[:, :, k] + s * second[:, :, k]
    for moment, shear, sign in (("Mz", "Vy", -1.0), ("My", "Vz", 1.0)):
        m, n = FORCES.index(moment), FORCES.index(shear)
        both = np.stack([first, second], axis=2)
        pairs = np.arange(len(i))
        curve = _cubic(
            both[:, :, :, m].reshape(len(ends), -1), sign * both[:, :, :, n].reshape(len(ends), -1), 2 * pairs, h, s
        )
        out[moment], out[shear] = curve[0], sign * curve[1]
    return {name: out[name] for name in FORCES}


def warn_of_axial_loads(fields: BeamFields, bends: Sequence[str]) -> None:
    """Warn where bending along some axes does not know of an axial load that would change it much."""
    if "N" in fields.undetermined:
        return
    shares = {name: x for name, x in fields.buckling.items() if name[-1] in bends and np.isfinite(x).any()}
    if not shares:
        return
    name = max(shares, key=lambda name: float(np.nanmax(np.abs(shares[name]))))
    peak = fields.maximum(name)
    if abs(peak.value) > AXIAL:
        warn(
            f"the axial load of {fields.beam.name!r} comes to {100 * abs(peak.value):.0f} % of its buckling load "
            f"between pins ({'tension' if peak.value > 0 else 'compression'}, t = {peak.t:.4g} s), which its stiffness "
            "against bending does not know: take flexible(..., stiffening=True)",
            RunWarning,
        )
