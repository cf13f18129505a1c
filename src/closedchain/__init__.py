"""closedchain: dynamics of robots and mechanisms with closed kinematic loops.

Names are imported when they are first used, so that ``import closedchain`` stays light.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from closedchain import processor
from closedchain._version import __version__

processor.tell_others()

_HOMES = {
    "closedchain.errors": (
        "ClosedChainError ModelError AssemblyError RunError FileError Interrupted AssemblyWarning RunWarning"
    ),
    "closedchain.model.expression": "Expression conditioning multiplier t",
    "closedchain.model.functions": (
        "pi sin cos tan asin acos atan atan2 sinh cosh tanh exp log sqrt sign floor ceil minimum maximum where interp "
        "piecewise rate"
    ),
    "closedchain.model.held": "Sampled",
    "closedchain.model.control": "PD",
    "closedchain.model.actuators": "DCMotor ElectricCylinder HydraulicCylinder ForceLimit SeriesElastic",
    "closedchain.model.shapes": "rigid massless point_mass rod box cylinder plate disc ball",
    "closedchain.model.sections": "Section",
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
    "closedchain.march.state": "State",
    "closedchain.march.events": "Event Switch",
    "closedchain.march.mobility": "Mobility mobility",
    "closedchain.march.assemble": "assemble assembly_modes Mode",
    "closedchain.march.equilibrium": "equilibrium",
    "closedchain.results.simulate": "simulate",
    "closedchain.results.run": "Run",
    "closedchain.results.beam_fields": "BeamFields",
    "closedchain.results.rigid_motion": "rigid_run",
    "closedchain.results.locked": "locked_modes",
    "closedchain.results.workspace": "frequencies_over",
    "closedchain.results.spectrum": "dominant spectrum",
    "closedchain.results.animation": "animate animate_mode",
    "closedchain.results.sketch": "plot_deformed plot_modes",
    "closedchain.results.flexible_plot": "plot_beam plot_deflection plot_frequencies plot_spectrum",
    "closedchain.results.erls_run": "ErlsRun",
    "closedchain.results.erls_modes": "erls_modes",
    "closedchain.results.follow": "follow",
    "closedchain.results.motion": "Motion",
    "closedchain.results.limits": "Violation",
    "closedchain.results.inverse_dynamics": "inverse_dynamics holding_efforts",
    "closedchain.results.efforts": "Efforts",
    "closedchain.results.sizing": "Sizing",
    "closedchain.results.controllers": "ComputedTorque",
    "closedchain.results.linearise": "linearise",
    "closedchain.results.linearisation": "Linearisation",
    "closedchain.results.compare": "compare",
    "closedchain.results.comparison": "Comparison",
    "closedchain.results.recommend": "Recommendation recommend",
    "closedchain.results.stiffness": "StiffnessChoice choose_stiffness",
    "closedchain.distribute.sweep": "sweep",
    "closedchain.distribute.teams": "Ranks Threads",
}
_WHERE = {name: home for home, names in _HOMES.items() for name in names.split()}

_MODULES = {
    "library": "closedchain.model.library",
    "modes": "closedchain.model.modes",
    "paths": "closedchain.model.paths",
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
    from closedchain.distribute.sweep import sweep
    from closedchain.distribute.teams import Ranks, Threads
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
    from closedchain.march.assemble import Mode, assemble, assembly_modes
    from closedchain.march.equilibrium import equilibrium
    from closedchain.march.events import Event, Switch
    from closedchain.march.mobility import Mobility, mobility
    from closedchain.march.state import State
    from closedchain.model import library, modes, paths
    from closedchain.model.actuators import DCMotor, ElectricCylinder, ForceLimit, HydraulicCylinder, SeriesElastic
    from closedchain.model.control import PD
    from closedchain.model.expression import Expression, conditioning, multiplier, t
    from closedchain.model.functions import (
        acos,
        asin,
        atan,
        atan2,
        ceil,
        cos,
        cosh,
        exp,
        floor,
        interp,
        log,
        maximum,
        minimum,
        pi,
        piecewise,
        rate,
        sign,
        sin,
        sinh,
        sqrt,
        tan,
        tanh,
        where,
    )
    from closedchain.model.held import Sampled
    from closedchain.model.mechanism import Mechanism
    from closedchain.model.parts import Body, Frame, Friction, Joint, Stops
    from closedchain.model.sections import Section
    from closedchain.model.shapes import ball, box, cylinder, disc, massless, plate, point_mass, rigid, rod
    from closedchain.results.animation import animate, animate_mode
    from closedchain.results.beam_fields import BeamFields
    from closedchain.results.compare import compare
    from closedchain.results.comparison import Comparison
    from closedchain.results.controllers import ComputedTorque
    from closedchain.results.efforts import Efforts
    from closedchain.results.erls_modes import erls_modes
    from closedchain.results.erls_run import ErlsRun
    from closedchain.results.flexible_plot import plot_beam, plot_deflection, plot_frequencies, plot_spectrum
    from closedchain.results.follow import follow
    from closedchain.results.inverse_dynamics import holding_efforts, inverse_dynamics
    from closedchain.results.limits import Violation
    from closedchain.results.linearisation import Linearisation
    from closedchain.results.linearise import linearise
    from closedchain.results.locked import locked_modes
    from closedchain.results.motion import Motion
    from closedchain.results.recommend import Recommendation, recommend
    from closedchain.results.rigid_motion import rigid_run
    from closedchain.results.run import Run
    from closedchain.results.simulate import simulate
    from closedchain.results.sizing import Sizing
    from closedchain.results.sketch import plot_deformed, plot_modes
    from closedchain.results.spectrum import dominant, spectrum
    from closedchain.results.stiffness import StiffnessChoice, choose_stiffness
    from closedchain.results.workspace import frequencies_over


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
