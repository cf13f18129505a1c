"""Families of shapes in closed form: sines, the modes of uniform beams, powers of xi."""

from __future__ import annotations

import math

from closedchain.arguments import whole
from closedchain.errors import ModelError
from closedchain.model.shapes.curves import Curve, Wave, power
from closedchain.model.shapes.shape_set import Shape, ShapeSet

FIELD_OF = {"y": "v", "z": "w", "axial": "u", "torsion": "t"}


def pinned_pinned(*, y: int = 0, z: int = 0, axial: int = 0, torsion: int = 0) -> ShapeSet:
    """Sines ``sin(k pi xi)``: modes of a beam with pins at both ends; of one held there, for axial and torsion.

    Nothing moves at the two ends: the frames of a linkage's pins stay where they are on the rigid body.

    Parameters
    ----------
    y, z, axial, torsion
        How many shapes of bending along y and z, stretching, and twisting.
    """
    return _family("pinned_pinned", _half_waves, _half_waves, y, z, axial, torsion)


def clamped_free(*, y: int = 0, z: int = 0, axial: int = 0, torsion: int = 0) -> ShapeSet:
    """Modes of a cantilever clamped at xi = 0; a coordinate is the displacement (or the angle) of the tip.

    Bending has ``cosh b cos b = -1``; axial and torsion ``sin((k - 1/2) pi xi)``. See `pinned_pinned` for the
    arguments.
    """
    return _family("clamped_free", _cantilever, _quarter_waves, y, z, axial, torsion)


def free_free(*, y: int = 0, z: int = 0, axial: int = 0, torsion: int = 0) -> ShapeSet:
    """Elastic modes of a beam that floats; a coordinate is the displacement (or the angle) of the end xi = 0.

    Bending has ``cosh b cos b = 1``; axial and torsion ``cos(k pi xi)``. The frame of the body floats with the beam:
    both its ends move against it. See `pinned_pinned` for the arguments.
    """
    return _family("free_free", _floating, _cosines, y, z, axial, torsion)


def polynomials(*, y: int = 0, z: int = 0, axial: int = 0, torsion: int = 0) -> ShapeSet:
    """Powers ``xi^2, xi^3, ...`` for bending and ``xi, xi^2, ...`` for axial and torsion.

    They meet the conditions of a clamp at xi = 0 (no displacement, no slope, no twist) and none at the other end; two
    of bending hold the statics of any load at the tip. Powers become alike: beyond some eight of a kind, digits are
    lost. See `pinned_pinned` for the arguments.
    """
    return _family("polynomials", lambda k: power(k + 1), power, y, z, axial, torsion)


def _family(name: str, bending: object, along: object, y: int, z: int, axial: int, torsion: int) -> ShapeSet:
    found = []
    for kind, count in {"y": y, "z": z, "axial": axial, "torsion": torsion}.items():
        curve = bending if kind in "yz" else along
        for k in range(1, check_count(count, f"{name}: {kind}") + 1):
            found.append(Shape(f"{kind}{k}", **{FIELD_OF[kind]: curve(k)}))  # type: ignore[operator]
    if not found:
        raise ModelError(f"{name} needs a shape at least: say how many, for instance {name}(y=2)")
    return ShapeSet(tuple(found))


def check_count(count: object, what: str) -> int:
    """A whole number of shapes, from 0 up."""
    return whole(what, count, 0)


def _half_waves(k: int) -> Curve:
    return Wave(k * math.pi, sine=1.0)


def _quarter_waves(k: int) -> Curve:
    return Wave((k - 0.5) * math.pi, sine=(-1.0) ** (k + 1))


def _cosines(k: int) -> Curve:
    return Wave(k * math.pi, cosine=1.0)


def _cantilever(k: int) -> Curve:
    """``cosh - cos - sigma (sinh - sin)`` of b xi, scaled to 1 at the tip."""
    b = _root((k - 0.5) * math.pi, +1.0)
    rising, falling, sigma = _hyperbolic(b, math.cos(b), math.sin(b))
    wave = Wave(b, sine=sigma, cosine=-1.0, rising=rising, falling=falling)
    return wave.scaled(1.0 / float(wave.derivative(1.0)))


def _floating(k: int) -> Curve:
    """``cosh + cos - sigma (sinh + sin)`` of b xi, scaled to 1 at xi = 0."""
    b = _root((k + 0.5) * math.pi, -1.0)
    rising, falling, sigma = _hyperbolic(b, -math.cos(b), -math.sin(b))
    wave = Wave(b, sine=-sigma, cosine=1.0, rising=rising, falling=falling)
    return wave.scaled(1.0 / float(wave.derivative(0.0)))


def _root(b: float, sign: float) -> float:
    """The root of ``cos b + sign / cosh b`` near b, by Newton's method."""
    for _ in range(50):
        sech = 2 * math.exp(-b) / (1 + math.exp(-2 * b))
        step = (math.cos(b) + sign * sech) / (-math.sin(b) - sign * sech * math.tanh(b))
        b -= step
        if abs(step) < 1e-15 * b:
            break
    return b


def _hyperbolic(b: float, cosine: float, sine: float) -> tuple[float, float, float]:
    """``cosh(b xi) - sigma sinh(b xi) = rising exp(b (xi - 1)) + falling exp(-b xi)``, without cancellation.

    ``sigma = (cosh b + cosine) / (sinh b + sine)``; numerator and denominator are multiplied with ``2 exp(-b)``.
    """
    e = math.exp(-b)
    below = 1 - e * e + 2 * e * sine
    sigma = (1 + e * e + 2 * e * cosine) / below
    return (sine - cosine - e) / below, (1 + sigma) / 2, sigma
