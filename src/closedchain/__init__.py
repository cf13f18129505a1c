"""closedchain: dynamics of robots and mechanisms with closed kinematic loops.

Names are imported when they are first used, so that ``import closedchain`` stays light.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from closedchain import processor, verbs
from closedchain._version import __version__

processor.tell_others()

_HOMES = {
    "closedchain.errors": (
        "ClosedChainError ModelError AssemblyError RunError FileError Interrupted AssemblyWarning RunWarning"
    ),
    "closedchain.model.expressions.expression": "Expression conditioning multiplier t",
    "closedchain.model.expressions.functions": "pi rate",
    "closedchain.model.forces.sampled": "Sampled",
    "closedchain.model.forces.control": "PD",
    "closedchain.model.actuators": "DCMotor ElectricCylinder HydraulicCylinder ForceLimit SeriesElastic",
    "closedchain.model.bodies.shapes": "rigid massless point_mass rod box cylinder plate disc ball",
    "closedchain.model.bodies.sections": "Section",
    "closedchain.model.parts": "Friction Stops Body Frame Joint",
    "closedchain.model.mechanism": "Mechanism",
    "closedchain.close.multipliers": "Multipliers Baumgarte",
    "closedchain.close.projection": "Projection",
    "closedchain.close.independent": "IndependentCoordinates",
    "closedchain.close.index3": "Index3",
    "closedchain.close.ggl": "GGL",
    "closedchain.close.operational_space": "OperationalSpace",
    "closedchain.close.denoc": "DeNOC",
    "closedchain.close.virtual_spring": "VirtualSpring",
    "closedchain.close.erls": "ERLS",
    "closedchain.close.modified_denoc": "ModifiedDeNOC",
    "closedchain.pose.state": "State",
    "closedchain.disk.save_to": "SaveTo",
    "closedchain.integrate.times": "Every",
    "closedchain.march.marks": "Event Switch SingularPoses Divergence",
    "closedchain.simulation": "simulate",
    "closedchain.results.beams.rigid_motion": "rigid_run",
    "closedchain.results.vibration.workspace": "frequencies_over",
    "closedchain.results.vibration.spectrum": "dominant spectrum",
    "closedchain.results.motion.follow": "follow",
    "closedchain.results.efforts.inverse_dynamics": "inverse_dynamics holding_efforts",
    "closedchain.results.efforts.computed_torque": "ComputedTorque",
    "closedchain.results.compare.compare": "compare",
    "closedchain.results.compare.recommend": "recommend",
    "closedchain.results.compare.stiffness": "choose_stiffness",
    "closedchain.studies.points": "Together Samples",
    "closedchain.studies.start": "Start",
    "closedchain.studies.sweep": "sweep",
    "closedchain.parallel.teams": "Ranks Threads",
}
_WHERE = {name: home for home, names in _HOMES.items() for name in names.split()}

_MODULES = {
    "library": "closedchain.model.library",
    "math": "closedchain.model.expressions.functions",
    "paths": "closedchain.model.paths",
    "plot": "closedchain.look.plots",
    "shapes": "closedchain.model.shapes",
    "solvers": "closedchain.integrate.solvers",
}

__all__ = ["__version__", *_MODULES, *_WHERE]

if TYPE_CHECKING:
    from closedchain.close.denoc import DeNOC
    from closedchain.close.erls import ERLS
    from closedchain.close.ggl import GGL
    from closedchain.close.independent import IndependentCoordinates
    from closedchain.close.index3 import Index3
    from closedchain.close.modified_denoc import ModifiedDeNOC
    from closedchain.close.multipliers import Baumgarte, Multipliers
    from closedchain.close.operational_space import OperationalSpace
    from closedchain.close.projection import Projection
    from closedchain.close.virtual_spring import VirtualSpring
    from closedchain.disk.save_to import SaveTo
    from closedchain.errors import (
        AssemblyError,
        AssemblyWarning,
        ClosedChainError,
        FileError,
        Interrupted,
        ModelError,
        RunError,
        RunWarning,
    )
    from closedchain.integrate import solvers
    from closedchain.integrate.times import Every
    from closedchain.look import plots as plot
    from closedchain.march.marks import Divergence, Event, SingularPoses, Switch
    from closedchain.model import library, paths, shapes
    from closedchain.model.actuators import DCMotor, ElectricCylinder, ForceLimit, HydraulicCylinder, SeriesElastic
    from closedchain.model.bodies.sections import Section
    from closedchain.model.bodies.shapes import ball, box, cylinder, disc, massless, plate, point_mass, rigid, rod
    from closedchain.model.expressions import functions as math
    from closedchain.model.expressions.expression import Expression, conditioning, multiplier, t
    from closedchain.model.expressions.functions import pi, rate
    from closedchain.model.forces.control import PD
    from closedchain.model.forces.sampled import Sampled
    from closedchain.model.mechanism import Mechanism
    from closedchain.model.parts import Body, Frame, Friction, Joint, Stops
    from closedchain.parallel.teams import Ranks, Threads
    from closedchain.pose.state import State
    from closedchain.results.beams.rigid_motion import rigid_run
    from closedchain.results.compare.compare import compare
    from closedchain.results.compare.recommend import recommend
    from closedchain.results.compare.stiffness import choose_stiffness
    from closedchain.results.efforts.computed_torque import ComputedTorque
    from closedchain.results.efforts.inverse_dynamics import holding_efforts, inverse_dynamics
    from closedchain.results.motion.follow import follow
    from closedchain.results.vibration.spectrum import dominant, spectrum
    from closedchain.results.vibration.workspace import frequencies_over
    from closedchain.simulation import simulate
    from closedchain.studies.points import Samples, Together
    from closedchain.studies.start import Start
    from closedchain.studies.sweep import sweep


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value: Any = importlib.import_module(_MODULES[name])
    elif name in _WHERE:
        value = getattr(importlib.import_module(_WHERE[name]), name)
    else:
        raise AttributeError(f"module 'closedchain' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
