"""The formulations by name, for the command line and for tests that go through all of them."""

from __future__ import annotations

from closedchain.close.formulation import Formulation
from closedchain.close.multipliers import Baumgarte, Multipliers

METHODS: dict[str, Formulation] = {
    "multipliers": Multipliers(),
    "multipliers-baumgarte": Multipliers(Baumgarte()),
    "multipliers-none": Multipliers("none"),
}
