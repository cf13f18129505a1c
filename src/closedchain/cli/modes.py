"""``closedchain modes``: how a mechanism swings about its equilibrium."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from closedchain.cli import output, source, values
from closedchain.cli.compare import as_typed
from closedchain.cli.exits import GOOD

if TYPE_CHECKING:
    from closedchain.march.state import State
    from closedchain.results.linearisation import Linearisation


def modes(
    where: source.Where,
    here: Annotated[
        bool, typer.Option("--here", help="About the start itself, without a search for an equilibrium.")
    ] = False,
    sets: source.Sets = None,
    holds: Annotated[
        list[str] | None,
        typer.Option(
            "--hold",
            metavar="JOINT=VALUE",
            help="Search from this coordinate, rad or m; pi/2 and 90*deg work. Replaces the mechanism's own start. "
            "Repeatable.",
        ),
    ] = None,
    as_json: output.Json = False,
) -> int:
    """Show frequencies, damping and mode shapes of small motions about an equilibrium.

    The equilibrium is searched for from the start of the mechanism, under gravity, springs, and the motors as they are
    at t = 0; with control in their laws it is part of the modes.

    \b
    Examples:
      closedchain modes pendulum --hold hinge=-60*deg
      closedchain modes gough-stewart --set kd=10
      closedchain modes my_robot.py --here --json
    """  # noqa: D301
    with output.only_json(as_json):
        found = source.find(where)
        for name, value in values.assignments("--set", sets or []).items():
            as_typed(partial(found.mechanism.parameters.__setitem__, name, value))
        hold = values.pose("--hold", holds or [])
        from closedchain.march.equilibrium import equilibrium
        from closedchain.results.linearisation import COLUMNS
        from closedchain.results.linearise import linearise

        start = _start(found, hold)
        about = linearise(found.mechanism, start if here else equilibrium(found.mechanism, start), outputs=[])
    if as_json:
        output.print_json(_content(about))
        return GOOD
    facts = [
        ("about", "an equilibrium" if about.in_equilibrium else "a state that is no equilibrium"),
        ("independent coordinates", ", ".join(about.independent) or "none"),
        ("stable", _stability(about)),
    ]
    output.show(output.facts(found.mechanism.name, facts))
    output.show(output.table(COLUMNS, about.rows(), right=COLUMNS[:3]))
    pose = [(name, f"{x:.6g}") for name, x in about.state.coordinates.items()]
    output.show(output.table(("coordinate", "value"), pose, right=("value",)))
    if about.note:
        output.say("note", about.note)
    return GOOD


def _start(found: source.Source, hold: dict[str, list[float]]) -> State:
    if hold:
        return as_typed(lambda: found.mechanism.assemble(hold))
    return found.start() if found.start is not None else found.mechanism.assemble()


def _stability(about: Linearisation) -> str:
    if not about.stable:
        return "no: a small deviation grows"
    sizes = abs(about.eigenvalues)
    drifting = bool((sizes < 1e-9 * max(1.0, sizes.max(initial=0.0))).any())
    return "yes, but some motions are free to drift" if drifting else "yes"


def _content(about: Linearisation) -> dict[str, Any]:
    shapes = about.modes["shape"]
    joints = [str(x) for x in shapes["joint"].values]
    return {
        "name": about.state.mechanism.name,
        "in_equilibrium": about.in_equilibrium,
        "stable": about.stable,
        "independent": [*about.independent],
        "residual": about.residual,
        "state": about.state.coordinates,
        "modes": [
            {
                "frequency": float(one["frequency"]),
                "damping_ratio": float(one["damping_ratio"]),
                "eigenvalue": _pair(one["eigenvalue"]),
                "shape": dict(zip(joints, map(_pair, s), strict=True)),
            }
            for one, s in ((about.modes.isel(mode=k), shapes.values[k]) for k in range(len(shapes)))
        ],
    }


def _pair(x: Any) -> list[float]:
    """Real and imaginary part: JSON knows no complex numbers."""
    return [complex(x).real, complex(x).imag]
