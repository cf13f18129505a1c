"""How far loops may be open; for drawings with rounded numbers: which rows are not solved, velocities that fit.

The theory is in ``docs/theory/closures.md``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import casadi as ca
import numpy as np

from closedchain.close.formulation import Formulation
from closedchain.derive.closure import FixedRow
from closedchain.lock import locked
from closedchain.march.marks import Happening
from closedchain.march.program.compiled import Compiled
from closedchain.pose.rank import APART, EXACT, row_tolerances
from closedchain.pose.size import drawn_length, row_sizes, velocity_sizes
from closedchain.pose.state import State, parameter_vector

# How many times rtol closures may be open at any time of a run, singular poses excepted. Without stabilisation errors
# add up: runs of some thousand steps are within this.
STABILISED, UNSTABILISED = 1e2, 1e3


def allowed_gap(method: Formulation) -> float:
    """How many times rtol closures may be open during a run."""
    return UNSTABILISED if method.unstabilised else STABILISED


def fixed_rows(program: Compiled) -> list[FixedRow]:
    """Rows that no motion changes, of joints that are closed."""
    closure = program.equations.closure
    closed = {closure.joints[row] for row in program.active}
    return [row for row in closure.fixed if row.joint in closed or row.joint not in closure.joints]


def dropped_rows(program: Compiled) -> str:
    """Closure rows that are not solved, in words: those that no motion changes, and those that follow from others."""
    closure = program.equations.closure
    dropped = [(closure.joints[row], closure.labels[row]) for row in program.active if row not in program.rows]
    return listed([*((row.joint, row.label) for row in fixed_rows(program)), *dropped])


def listed(rows: Iterable[tuple[str, str]]) -> str:
    """Rows by joint: ``B: z, tilt x; C: y``."""
    by_joint: dict[str, list[str]] = {}
    for joint, label in rows:
        by_joint.setdefault(joint, []).append(label)
    return "; ".join(f"{joint}: {', '.join(labels)}" for joint, labels in by_joint.items())


@locked
def told(program: Compiled, state: State) -> Happening:
    """What a drawing with a tolerance leaves open at a state, for the record."""
    e, p = program.equations, parameter_vector(state.mechanism, state.parameters)
    fixed = fixed_rows(program)
    active = list(program.active)
    values = ca.vertcat(e.closure.c[active, :], *(row.value for row in fixed))
    gaps = np.abs(np.array(e.function("gaps", {"c": values})(state.t, state.q, state.v, p)).ravel())
    names = [f"{e.closure.joints[row]} {e.closure.labels[row]}" for row in active]
    names += [f"{row.joint} {row.label}" for row in fixed]
    units = [e.closure.units[row] for row in active] + [row.unit for row in fixed]
    length = drawn_length(e, p)
    angle = row_tolerances(["rad"], state.mechanism.tolerance, length)[0]
    text = (
        f"the numbers of {state.mechanism.name!r} are exact to {state.mechanism.tolerance:g} m, and to {angle:.2g} rad"
    )
    numbers = {"gaps": dict(zip(names, gaps.tolist(), strict=True)), "dropped": dropped_rows(program)}
    if numbers["dropped"]:
        count = len(names) - len(program.rows)
        text += (
            f": {count} of {len(names)} closure rows say nothing new as far as that goes and are not solved "
            f"({numbers['dropped']})"
        )
    if len(gaps):
        worst = int(np.argmax(gaps / np.where([unit == "m" for unit in units], length, 1.0)))
        up_to = f"{gaps[worst]:.2g} {units[worst]} ({names[worst]})"
        text += f"; at t = {state.t:.6g} s the loops are open by up to {up_to}"
        kept = "the springs rest" if program.method.all_rows else "the rows that are solved stay"
        text += f", and {kept} as they are there" if program.choice.aimed else ""
    return Happening(state.t, "rounded numbers", text, numbers)


def opened(
    program: Compiled, t: float, x: np.ndarray, p: np.ndarray, rtol: float, fixed_step: bool = False
) -> str | None:
    """Which loop is open by far more than the drawing's numbers and rtol explain, in words; None if none is.

    Only the rows that are solved are kept closed. At a singular pose of a rounded drawing they may turn to another
    assembly than those that are left out. A fixed step lets solved rows drift as far as its length makes them, and rows
    left out with them: that is no fault of the drawing, and `checks` complains of it, as it does if numbers are exact.
    """
    e, m = program.equations, program.equations.topology.mechanism
    active, closure = list(program.active), e.closure
    if not program.choice.aimed or not active or program.method.all_rows:  # loads stretch springs
        return None
    key = "gaps of all rows"
    c = program.evaluate(key, lambda: {"c": closure.c[active, :]}, np.array([t]), x[None], p)["c"].ravel()
    length, units = drawn_length(e, p), [closure.units[row] for row in active]
    size, solved = row_sizes(e, active, length), [active.index(row) for row in program.rows]
    off = float(np.abs((c[solved] - program.aims) / size[solved]).max(initial=0.0))
    promised = allowed_gap(program.method) * rtol
    explained = max(promised, off) if fixed_step else promised
    c, most = np.abs(c), APART * (row_tolerances(units, m.tolerance, length) + explained * size)
    worst = int(np.argmax(c / most))
    if not c[worst] > most[worst]:
        return None
    drift = f"; solved rows are off by {off:.2g} (rad, or of its length)" if off > promised else ""
    return (
        f"the loop at joint {closure.joints[active[worst]]!r} has opened by {c[worst]:.2g} {units[worst]} "
        f"({closure.labels[active[worst]]}), where the tolerance = {m.tolerance:g} of the drawing allows "
        f"{most[worst] / APART:.2g}{drift}"
    )


def fitted(program: Compiled, state: State) -> State:
    """The state with velocities that keep the solved rows as they are, where these are aimed at residuals.

    All rows together determine velocities by least squares, up to the tolerance. The nearest ones that suit the solved
    rows exactly differ from them by as much, and in kinetic energy by its square.
    """
    if not program.choice.aimed or program.guarded or program.method.all_rows:
        return state
    v, _ = impulse(program, state, program.rows)
    return replace(state, v=v)


@locked
def impulse(program: Compiled, state: State, rows: Iterable[int]) -> tuple[np.ndarray, np.ndarray]:
    """Velocities after the impulse P that makes some closure rows consistent, and P.

    ``M (v+ - v-) + A' P = 0`` and ``A v+ + c_t = 0``: no work-less impulse changes the velocities less.
    """
    e, p = program.equations, parameter_vector(state.mechanism, state.parameters)
    rows = list(rows)
    terms = e.function("impulse", {"M": e.M, "A": e.closure.A[rows, :], "c_t": e.closure.c_t[rows, :]})
    M, A, c_t = (np.array(x) for x in terms(state.t, state.q, state.v, p))
    # without units: velocities and rows by their sizes, inertia by the largest
    length = drawn_length(e, p)
    size, row = velocity_sizes(e, length), row_sizes(e, rows, length)
    slip = (A @ state.v + c_t.ravel()) / row
    M, A = M * np.outer(size, size), A * size / row[:, None]
    heavy = np.diag(M).max(initial=0.0) or 1.0
    K = np.block([[M / heavy, A.T], [A, np.zeros((len(rows), len(rows)))]])
    solution = np.linalg.lstsq(K, np.concatenate([np.zeros(len(M)), -slip]), rcond=EXACT)[0]
    return state.v + size * solution[: len(M)], heavy * solution[len(M) :] / row
