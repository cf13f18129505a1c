"""Models of actuators: what a motor or cylinder can do, what it needs, and what it draws on a joint.

Not known here: how loops are closed and motions integrated.

A model is data: a frozen set of numbers. ``m.actuator(joint, model, command=...)`` draws it; its formulas are written
once, for expressions in the drawing and for arrays afterwards, so that a run and the sizing of a motor agree.

How to add your own
-------------------
1. Derive a frozen dataclass from `ActuatorModel`; ``rules`` says which of its fields are numbers, and what they obey.
2. Say in ``turns`` on which joints it may stand, and in ``drives`` what a command can mean.
3. Write ``exerted(command, speed)`` with ordinary arithmetic and the functions of
   `closedchain.model.expressions.functions`: it is called once with expressions, when the actuator is drawn.
4. Write ``envelope``, ``demand`` and ``limits`` for arrays, from the same formulas.
5. If it has inertia or friction, say so in ``rotor`` and ``friction``. Nothing else needs to know.

`ForceLimit` is the smallest one.
"""

from closedchain.model.actuators.base import ActuatorModel, Exceeded, Quantity
from closedchain.model.actuators.electric import DCMotor, ElectricCylinder
from closedchain.model.actuators.force_limit import ForceLimit
from closedchain.model.actuators.hydraulic import HydraulicCylinder
from closedchain.model.actuators.series_elastic import SeriesElastic

__all__ = [
    "ActuatorModel",
    "DCMotor",
    "ElectricCylinder",
    "Exceeded",
    "ForceLimit",
    "HydraulicCylinder",
    "Quantity",
    "SeriesElastic",
]
