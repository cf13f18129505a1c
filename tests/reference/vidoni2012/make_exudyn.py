"""Makes the rows of the rigid link simulation (E = 5e12 Pa) by Exudyn.

``python -m tests.reference.vidoni2012.make_exudyn`` writes ``exudyn_stiff.json``, in some minutes. The rows are
those of the drop of ``tests.oracle.make`` with links a thousand times as stiff, which need fewer elements.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import exudyn

from tests.oracle import make

CASE = replace(
    make.CASES["flexible_pacdrive_drop"],
    parameters=make.CASES["flexible_pacdrive_drop"].parameters | {"E": 5e12},
    draw=lambda p, n: make.draw_pacdrive(p, n, mesh=4),
)


def numbers() -> dict[str, object]:
    """The finest of four runs, with where it comes from."""
    found, columns = make.refined(CASE, {})
    return {
        "provenance": {
            "case": "PacDrive with very stiff links, E = 5e12 N/m^2 (the rigid link simulation of Vidoni et al. 2012), "
            "torque steps (-20, 20) N m for 0.1 <= t < 0.2 s from q = (-170, -10) degrees at rest",
            "obtained_by": f"Exudyn {exudyn.__version__}, elements ANCFCable2D (full integration), generalised-alpha "
            f"with rho_inf = {CASE.rho_inf:g} and a fixed step, index 3; tests/oracle/mechanisms.py draws it",
            "made_by": "python -m tests.reference.vidoni2012.make_exudyn",
            "elements": "8 in links of 0.2 and 0.5 m, 2 in the others",
            "step": CASE.step / 2,
            "change_when_halved": found["change_when_halved"],
        },
        "columns": columns,
        "rows": found["rows"],
    }


if __name__ == "__main__":
    text = json.dumps(numbers(), indent=1)
    (Path(__file__).parent / "exudyn_stiff.json").write_text(make._rows_on_lines(text) + "\n")
