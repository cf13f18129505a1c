"""Methods of classes that are functions of later layers: one table for all of them.

Many methods of a drawing, a run or a motion are implemented in later layers: ``m.assemble()``, ``run.plot()``. Such a
method *is* the function: it takes the object as its first argument, and has the function's signature and help. The
package imports this table before it imports any class; functions are imported when they are first used.

How to add your own verb
------------------------
Write the function in its room, with the object as its first argument, and add a line here. For type checkers, name it
under ``if TYPE_CHECKING`` in the class as well; a test compares the two.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

from closedchain.attached import Attached

_REACTIONS, _BEAMS = "results.reactions", "results.beams.deflection"

# class, method, module:function
VERBS = (
    ("Body", "flexible", "model.bodies.flexible:make_flexible"),
    ("Path", "then", "model.paths.joining:then"),
    ("Path", "repeated", "model.paths.joining:repeated"),
    ("Path", "turned", "model.paths.orientation:turned"),
    ("Path", "oriented", "model.paths.orientation:oriented"),
    ("Mechanism", "__str__", "cut.describe:describe"),
    ("Mechanism", "rigid_twin", "model.bodies.flexible:rigid_twin"),
    ("Mechanism", "assemble", "pose.assemble:assemble"),
    ("Mechanism", "assemblies", "pose.assemble:assemblies"),
    ("Mechanism", "mobility", "pose.mobility:mobility"),
    ("Mechanism", "equilibrium", "pose.equilibrium:equilibrium"),
    ("Mechanism", "linearise", "results.vibration.linearise:linearise"),
    ("Mechanism", "modes", "results.vibration.modes:modes"),
    ("Mechanism", "draw_graph", "look.graph:draw_graph"),
    *(
        (kind, method, target)
        for kind in ("Run", "Efforts")
        for method, target in (
            ("reaction", f"{_REACTIONS}.reactions:reaction"),
            ("reactions", f"{_REACTIONS}.reactions:reaction_table"),
            ("deflection", f"{_BEAMS}:deflection"),
            ("balance", f"{_REACTIONS}.balance:balance"),
            ("beam", f"{_BEAMS}:beam"),
            ("plot_deflection", "look.plots.flexible:plot_deflection"),
            ("stress", f"{_BEAMS}:stress"),
        )
    ),
    *(
        (kind, method, target)
        for kind in ("Run", "Motion")
        for method, target in (
            ("plot_deformed", "look.sketch:plot_deformed"),
            ("animate", "look.animation:animate"),
        )
    ),
    ("Run", "plot", "look.plots.variables:plot"),
    ("Run", "tip_deflection", f"{_BEAMS}:tip_deflection"),
    ("Motion", "beam", f"{_BEAMS}:beam_of_motion"),
    ("Motion", "deflection", f"{_BEAMS}:deflection"),
    ("Motion", "plot_deflection", "look.plots.flexible:plot_deflection"),
    ("State", "plot_deformed", "look.sketch:plot_deformed"),
    ("BeamFields", "plot", "look.plots.flexible:plot_beam"),
    ("Efforts", "signal", "results.efforts.signal:signal"),
    ("Efforts", "sizing", "results.efforts.sizing:sizing"),
    ("Efforts", "plot", "look.plots.efforts:plot"),
    ("Efforts", "envelope", "look.plots.efforts:envelope"),
    ("Linearisation", "modes", "results.vibration.modes:modes_of"),
    ("Linearisation", "__str__", "results.vibration.linear_modes:describe"),
    ("Modes", "animate", "look.animation:animate_mode"),
    ("Modes", "plot", "look.sketch:plot_modes"),
    ("Comparison", "plot", "look.plots.comparison:plot"),
    ("Comparison", "to_html", "look.comparison_page:write_page"),
    ("StiffnessChoice", "plot", "look.plots.stiffness:plot"),
)


def function(target: str) -> Any:
    """The function that a line of the table names."""
    module, name = target.split(":")
    return getattr(import_module(f"closedchain.{module}"), name)


for _class, _method, _target in VERBS:
    Attached._later.setdefault(_class, {})[_method] = partial(function, _target)
