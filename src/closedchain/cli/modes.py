"""``closedchain modes``: how a mechanism swings about its equilibrium, or with its motors locked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from closedchain.cli.parts import options, output, save, source, values
from closedchain.cli.parts.exits import GOOD, WrongUsage, as_typed
from closedchain.cli.parts.grouped import Group, grouped

if TYPE_CHECKING:
    import xarray

    from closedchain.close.erls import ERLS
    from closedchain.results.vibration.erls_modes import ErlsModes
    from closedchain.results.vibration.linear_modes import LinearModes

MOTORS = "motors"
MOVING = (".html", ".gif")
NO = "no: a small deviation grows"
SHOWN = 8  # modes by elements in tables: there are as many as displacements
DEFORMS = "deforms (share of the elastic energy)"


@dataclass(frozen=True, kw_only=True)
class About(Group):
    """About which poses it swings."""

    panel = "Poses"

    here: Annotated[
        bool, typer.Option("--here", help="About the start itself, without a search for an equilibrium.")
    ] = False
    locks: Annotated[
        list[str] | None,
        typer.Option(
            "--lock",
            metavar="COORDINATE",
            help="Lock this coordinate, as by a brake; 'motors' locks all that motors act on. What is left sinks into "
            "balance, and swings. Repeatable.",
        ),
    ] = None
    overs: Annotated[
        list[str] | None,
        typer.Option(
            "--over",
            metavar="COORDINATE=A:B:N",
            help="Frequencies at N values of a coordinate from A to B, which is locked at each of them. Repeatable, "
            "for a grid.",
        ),
    ] = None

    def locked(self, found: source.Source) -> list[str] | None:
        """Coordinates to lock; None: none were named."""
        from closedchain.results.vibration.locked import motor_coordinates

        if not self.locks:
            return None
        out: list[str] = []
        for name in self.locks:
            out += motor_coordinates(found.mechanism) if name == MOTORS else [name]
        return list(dict.fromkeys(out))


@dataclass(frozen=True, kw_only=True)
class Results(options.Answer):
    """What is written."""

    outs: Annotated[
        list[str] | None,
        options.out_option(
            "mode shapes, or what --over finds (.png, .svg, .pdf), an animation of a mode (.html, .gif)"
        ),
    ] = None
    mode: Annotated[int, typer.Option(metavar="K", help="Which mode the animation shows, from 1.")] = 1

    def files(self, name: str, over: bool) -> list[Path]:
        """The files to write, of a mechanism of this name."""
        if over and any(out.endswith(MOVING) for out in self.outs or []):
            raise WrongUsage("--over finds frequencies at many poses: an animation shows one (use --hold and --lock)")
        endings = save.PICTURES if over else (*save.PICTURES, *MOVING)
        return save.targets(self.outs or [], f"{save.file_name(name)}-modes", endings)


@grouped
def modes(drawing: options.Drawing, about: About, closing: options.Closing, results: Results) -> int:
    """Show frequencies, damping and mode shapes of small motions about an equilibrium.

    The equilibrium is searched for from the start of the mechanism, under gravity, springs, and the motors as they are
    at t = 0; with control in their laws it is part of the modes. Of flexible bodies the table tells which of them
    deform, by their share of the energy of a mode. With --method erls modes are those of finite elements, about the
    start as it is, without weight; all other methods have the same modes.

    \b
    Examples:
      closedchain modes pendulum --hold hinge=-60*deg
      closedchain modes gough-stewart --set kd=10
      closedchain modes my_robot.py --lock motors --out mode.html --mode 2
      closedchain modes my_robot.py --over O=0:2*pi:25 --out frequencies.png
      closedchain modes flexible-pacdrive --lock motors --method erls --elements 4 --out modes.png
      closedchain modes my_robot.py --here --json
    """  # noqa: D301
    from closedchain.results.vibration.erls_modes import ErlsModes

    with output.only_json(results.as_json):
        over = _ranges(about.overs or [])
        found = drawing.find()
        files = results.files(found.mechanism.name, bool(over))
        locked, method = about.locked(found), _method(closing, found)
        if over:
            frequencies = _over(found, over, locked, method)
            _plot_over(frequencies, files)
        else:
            swinging = _about(drawing, found, locked, about.here, method)
            _draw(swinging, results.mode, files)
    wrote = [str(path) for path in files]
    if over:
        return _tell_over(frequencies, over, wrote, results.as_json)
    if isinstance(swinging, ErlsModes):
        return _tell_elements(swinging, wrote, results.as_json)
    if results.as_json:
        output.print_json(_content(swinging, locked or []) | ({"wrote": wrote} if wrote else {}))
        return GOOD
    _show(swinging, found.mechanism.name, locked)
    output.show(*(f"wrote {path}" for path in wrote))
    return GOOD


def _method(closing: options.Closing, found: source.Source) -> ERLS | None:
    """Finite elements, if they were asked for; modes of all other methods are the same."""
    from closedchain.close.erls import ERLS

    method = closing.formulation(found.mechanism)
    return method if isinstance(method, ERLS) else None


def _about(
    drawing: options.Drawing, found: source.Source, locked: list[str] | None, here: bool, method: ERLS | None
) -> Any:
    from closedchain.results.vibration.locked import drives_of

    held = [name for name in drawing.pose if name in (locked or [])]
    start = drawing.start(found, open_joints=drives_of(found.mechanism, held))  # a lock takes a drive's place
    find = partial(found.mechanism.modes, start, locked=locked, here=here, method=method)
    return find() if locked is None and method is None else as_typed(find)


def _draw(swinging: Any, mode: int, files: Sequence[Path]) -> None:
    for path in files:
        if path.suffix in MOVING:
            as_typed(partial(swinging.animate, mode, path))
        else:
            swinging.plot(path=path)


def _show(about: LinearModes, name: str, locked: list[str] | None) -> None:
    from closedchain.results.vibration.linear_modes import COLUMNS

    drives, joints = about.state.mechanism.drives.values(), about.state.mechanism.joints
    driven = [joints[x.joint].labels()[x.index] for x in drives]
    driven = [name for name in driven if locked is None or name not in locked]
    facts = [
        ("about", "an equilibrium" if about.in_equilibrium else "a state that is no equilibrium"),
        *([("locked", ", ".join(locked) or "nothing")] if locked is not None else []),
        *([("held by drives", ", ".join(driven))] if driven else []),
        ("independent coordinates", ", ".join(about.about.independent) or "none"),
        ("stable", _stability(about)),
    ]
    output.show(output.facts(name, facts))
    headings, rows = about.cells()
    output.show(output.table(headings, rows, right=COLUMNS[:3]))
    pose = [(name, f"{x:.6g}") for name, x in about.state.coordinates.items()]
    output.show(output.table(("coordinate", "value"), pose, right=("value",)))
    if about.note:
        output.say("note", about.note)


def _tell_elements(about: ErlsModes, wrote: list[str], as_json: bool) -> int:
    name, bodies = about.system.mechanism.name, about.deforms()
    if as_json:
        shares = [dict(zip(about.system.mechanism.flexible, row.tolist(), strict=True)) for row in about.elastic_shares]
        each = [
            {"frequency": float(f), "elastic_share": share} for f, share in zip(about.frequencies, shares, strict=True)
        ]
        content = {"name": name, "locked": [*about.locked], "rigid": about.rigid, "modes": each}
        output.print_json(content | ({"wrote": wrote} if wrote else {}))
        return GOOD
    facts = [("locked", ", ".join(about.locked) or "nothing"), ("rigid modes", str(about.rigid))]
    output.show(output.facts(name, [*facts, ("stable", "yes" if about.stable else NO)]))
    rows = [
        (str(k + 1), f"{f:.6g}" if f > 0 else "-", bodies[k]) for k, f in enumerate(about.frequencies.tolist()[:SHOWN])
    ]
    output.show(output.table(("mode", "frequency [Hz]", DEFORMS), rows, right=("mode", "frequency [Hz]")))
    if len(bodies) > SHOWN:
        output.show(f"and {len(bodies) - SHOWN} faster ones")
    output.show(*(f"wrote {path}" for path in wrote))
    return GOOD


# ---- over the workspace ----------------------------------------------------------------------------------------------


def _over(found: source.Source, over: dict[str, list[float]], locked: list[str] | None, method: Any) -> xarray.Dataset:
    from closedchain.results.vibration.workspace import frequencies_over

    count = None if method is None else SHOWN
    return as_typed(lambda: frequencies_over(found.mechanism, over, locked=locked, method=method, count=count))


def _plot_over(frequencies: xarray.Dataset, files: Sequence[Path]) -> None:
    from closedchain.look.plots.flexible import plot_frequencies

    for path in files:
        as_typed(partial(plot_frequencies, frequencies, path=path))


def _tell_over(data: xarray.Dataset, over: dict[str, list[float]], wrote: list[str], as_json: bool) -> int:
    name, locked, names = data.attrs["mechanism"], data.attrs["locked"], list(over)
    if as_json:
        content = {
            "name": name,
            "locked": locked.split(", ") if locked else [],
            "over": over,
            "frequencies": data["frequency"].transpose(*names, "mode").values.tolist(),
        }
        output.print_json(content | ({"wrote": wrote} if wrote else {}))
        return GOOD
    output.show(output.facts(name, [("locked", locked or "nothing")]))
    headings, rows = _poses(data, names)
    output.show(output.table(headings, rows, right=headings))
    output.show(*(f"wrote {path}" for path in wrote))
    return GOOD


def _poses(data: xarray.Dataset, names: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    """A row for each pose: coordinates, and the frequency of each mode."""
    table = data["frequency"].stack(pose=list(names)).transpose("pose", "mode")
    modes_ = [f"mode {k} [Hz]" for k in table["mode"].values]
    rows = []
    for k in range(table.sizes["pose"]):
        one = table.isel(pose=k)
        place = [f"{float(one[name]):.5g}" for name in names]
        rows.append([*place, *("-" if not x > 0 else f"{x:.6g}" for x in one.values)])
    return [*names, *modes_], rows


def _ranges(texts: Sequence[str]) -> dict[str, list[float]]:
    """``["O=0:pi:5"]`` as values by coordinate."""
    import numpy as np

    out: dict[str, list[float]] = {}
    for text in texts:
        name, equals, given = text.rpartition("=")
        parts = given.split(":")
        if not equals or not name.strip() or len(parts) != 3:
            raise WrongUsage(f"--over takes COORDINATE=A:B:N, for instance --over O=0:2*pi:25, not {text!r}")
        low, high, count = (values.number(f"--over {text}", part) for part in parts)
        if count != int(count) or count < 1:
            raise WrongUsage(f"--over {text}: the number of values is a whole one, 1 at least, not {parts[2]}")
        out[name.strip()] = np.linspace(low, high, values.count(f"--over {text}", count)).tolist()
    return out


# ---- what is told ----------------------------------------------------------------------------------------------------


def _stability(about: LinearModes) -> str:
    if not about.stable:
        return NO
    sizes = abs(about.about.eigenvalues)
    drifting = bool((sizes <= 1e-9 * sizes.max(initial=0.0)).any())
    return "yes, but some motions are free to drift" if drifting else "yes"


def _content(about: LinearModes, locked: list[str]) -> dict[str, Any]:
    shapes = about.shapes
    joints = [str(x) for x in shapes["coordinate"].values]
    return {
        "name": about.state.mechanism.name,
        "in_equilibrium": about.in_equilibrium,
        "stable": about.stable,
        "locked": locked,
        "independent": [*about.about.independent],
        "residual": about.about.residual,
        "state": about.state.coordinates,
        "modes": [
            {
                "frequency": float(one["frequency"]),
                "damping_ratio": float(one["damping_ratio"]),
                "eigenvalue": _pair(one["eigenvalue"]),
                "shape": dict(zip(joints, map(_pair, s), strict=True)),
                **energy,
            }
            for one, s, energy in (
                (about.mode_table.isel(mode=k), shapes.values[k], energy) for k, energy in enumerate(_energies(about))
            )
        ],
    }


def _energies(about: LinearModes) -> list[dict[str, Any]]:
    """Shares of bodies in the energies of each mode."""
    found = about.energies
    bodies = [str(x) for x in found["body"].values]
    flexible = about.state.mechanism.flexible
    out = []
    for k in range(found.sizes["mode"]):
        elastic, kinetic = (dict(zip(bodies, found[x].values[k].tolist(), strict=True)) for x in ("elastic", "kinetic"))
        own = {"elastic_share": {name: x for name, x in elastic.items() if name in flexible}} if flexible else {}
        out.append(own | {"kinetic_share": kinetic})
    return out


def _pair(x: Any) -> list[float]:
    """Real and imaginary part: JSON knows no complex numbers."""
    return [complex(x).real, complex(x).imag]
