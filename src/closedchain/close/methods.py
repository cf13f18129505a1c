"""The formulations by name, for the command line and for tests that go through all of them."""

from __future__ import annotations

from closedchain.close.denoc import DeNOC
from closedchain.close.formulation import Formulation
from closedchain.close.ggl import GGL
from closedchain.close.independent import IndependentCoordinates
from closedchain.close.index3 import Index3
from closedchain.close.modified_denoc import ModifiedDeNOC
from closedchain.close.multipliers import Baumgarte, Multipliers
from closedchain.close.operational_space import OperationalSpace
from closedchain.close.projection import Projection
from closedchain.close.virtual_spring import VirtualSpring
from closedchain.errors import ModelError
from closedchain.lock import locked

METHODS: dict[str, Formulation] = {
    "multipliers": Multipliers(),
    "multipliers-baumgarte": Multipliers(Baumgarte()),
    "multipliers-none": Multipliers("none"),
    "projection": Projection(),
    "independent-coordinates": IndependentCoordinates(),
    "operational-space": OperationalSpace(),
    "denoc": DeNOC(),
    "virtual-spring": VirtualSpring(1e6, 1e3),
    "modified-denoc": ModifiedDeNOC(1e6, 1e3),
    "index3": Index3(),
    "ggl": GGL(),
}


@locked
def register(name: str, method: Formulation) -> Formulation:
    """List a formulation, so that the command line and `compare` find it by its name; returns it."""
    known = METHODS.setdefault(name, method)
    if known != method:
        raise ModelError(f"a formulation is named {name!r} already: choose another name")
    return known
