"""Paths: where a frame or a coordinate is to be at each time.

Not known here: mechanisms. A path consists of expressions of time.

A `Path` is geometry and a time law: ``line(a, b, duration=1.0, law="trapezoidal")``. Its components are expressions of
``cc.t``, so velocities and accelerations are exact, wherever they are needed: in
`closedchain.results.motion.follow.follow`, as the motion of a drive (``m.drive("O", path.components[0])``), or as the
reference of a controller.

How to add your own curve
-------------------------
1. Write the place as a function of the progress s, from 0 to 1, with the functions of `cc.math`: ``cc.math.sin``, not
   ``math.sin``. One number for a coordinate, three for a point.
2. Hand it to `along`, which brings in the time law::

       def helix(radius, pitch, rounds, *, duration=None, law="minimum-jerk"):
           def curve(s):
               angle = 2 * cc.pi * rounds * s
               return radius * cc.math.cos(angle), radius * cc.math.sin(angle), pitch * rounds * s

           way = rounds * math.hypot(2 * cc.pi * radius, pitch)
           return cc.paths.along(curve, duration=duration, law=law, way=way, name="helix")

   With the length of the way, limits of speed and acceleration choose the duration; s must then be proportional to the
   length that is behind. All else, joining, turning, reversing, derivatives, works as for every path.
3. A motion that is no curve with a law, as a sine, is a `formula`, or a `Path` made directly.

How to add your own time law
----------------------------
1. Derive a frozen dataclass from `TimeLaw`, and give it a ``name``; `MinimumJerk` is a short example.
2. Write ``spread(duration)``: a `Schedule` with the progress from 0 to 1 as an expression of ``cc.t``, 0 before the
   beginning and 1 after the end. Where the acceleration jumps, write it with ``cc.math.where`` on the time, and list
   the times in ``breaks``: a run steps onto such conditions, and loses no accuracy.
3. If speed and acceleration can be limited write ``limited(way)``, too: the shortest such schedule. The peaks of the
   law for a way and a duration of 1 are all one needs.
4. Add it to `laws.LAWS`, and to the table in that file. The tests that go through the laws then include it.
"""

from closedchain.model.paths.curves import along, formula, line, points, rest
from closedchain.model.paths.joining import chain, pose
from closedchain.model.paths.laws import MinimumJerk, Schedule, TimeLaw, Trapezoidal, Uniform
from closedchain.model.paths.orientation import euler, rpy, turn, turns
from closedchain.model.paths.path import Path, PathValues
from closedchain.model.paths.round import arc, circle, rose, sine
from closedchain.model.paths.splines import spline, through
from closedchain.model.paths.table import joint_table, table

__all__ = [
    "Path", "PathValues",
    "line", "points", "arc", "circle", "rose", "spline", "rest", "sine", "formula", "along", "through",
    "table", "joint_table",
    "turn", "turns", "euler", "rpy", "pose", "chain",
    "Uniform", "MinimumJerk", "Trapezoidal", "TimeLaw", "Schedule",
]  # fmt: skip
