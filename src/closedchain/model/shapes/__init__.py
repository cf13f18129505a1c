"""Shapes in which a beam deforms: families in closed form, static shapes and normal modes, or one's own.

Not known here: mechanisms. A shape belongs to one beam.

    link.flexible(E=70e9, section=cc.Section.tube(radius=0.02, wall=0.002), shapes=cc.shapes.craig_bampton(y=2))

========================  =============================================================================================
`pinned_pinned`           sines; nothing moves at the ends: links of linkages, with pins at both ends
`clamped_free`            the cantilever's own modes: an arm on a motor
`free_free`               elastic modes of a floating beam
`polynomials`             powers of xi, clamped at xi = 0
`static`                  displacement and slope of the far end: the least that holds a load there
`craig_bampton`           static shapes and normal modes of the held beam: any link, any joint at the far end
`from_functions`          functions of xi
`from_samples`            values at places: output of a finite-element program, a measurement
========================  =============================================================================================

Sets are added: ``pinned_pinned(y=2) + craig_bampton(z=1)``. Bending ``y`` moves points along the body's y axis, ``z``
along z; ``axial`` along x; ``torsion`` turns sections about x.

How to add your own family
--------------------------
1. Say what the displacement looks like along the beam: a `Wave` (sines, cosines, exponentials), `Pieces` (polynomials
   between breaks), or any object with the attributes and the method of `curves.Curve`. It must work on arrays and on
   CasADi's scalars; ``curves.traced(xi)`` tells them apart.
2. Make a `Shape` for each one, with its name and the curve for ``u``, ``v``, ``w`` or ``t``, and return a `ShapeSet`::

       def quarter_sines(y):
           return ShapeSet(tuple(Shape(f"y{k}", v=Wave((k - 0.5) * pi, sine=1.0)) for k in range(1, y + 1)))

3. That is all: integrals, damping, stiffening, stress and pictures follow from the curves. Shapes that can move without
   strain are refused when a body takes them: its frame moves that way already.
"""

from closedchain.model.shapes.craig_bampton import craig_bampton, static
from closedchain.model.shapes.curves import Curve, Pieces, Wave
from closedchain.model.shapes.families import clamped_free, free_free, pinned_pinned, polynomials
from closedchain.model.shapes.integrals import Integrals
from closedchain.model.shapes.own import from_functions, from_samples
from closedchain.model.shapes.shape_set import Shape, ShapeSet

__all__ = [
    "ShapeSet", "Shape", "Integrals", "Curve", "Wave", "Pieces",
    "pinned_pinned", "clamped_free", "free_free", "polynomials", "static", "craig_bampton",
    "from_functions", "from_samples",
]  # fmt: skip
