"""`batch_assemble`: starts of many points, each closed at its own parameters on the branch of a reference.

The coordinates to hold, and the velocities of their joints, have the values that are asked for; the others follow from
the loops. `assemble` searches; here a start is followed from a reference that is closed, with compiled code
(`march.batch.closing`), so that thousands of points are put together in a second.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from closedchain.arguments import suggest
from closedchain.derive.equations import derive
from closedchain.derive.size import traced_length, traced_sizes, traced_time
from closedchain.errors import ModelError
from closedchain.integrate.batch.threads import cores, share_out
from closedchain.lock import LOCK
from closedchain.model.derived import cached_by
from closedchain.native import NativeFunction, compile_function
from closedchain.pose.closing import NEARLY, TOLERANCE, Closing, active_rows, functions
from closedchain.pose.rank import ARM, COARSEST, SOLVED
from closedchain.pose.state import State, parameter_vector


class Reason(enum.IntEnum):
    """Why a point has no start; `SENTENCES` says it in words."""

    closed = 0
    open = 1
    contradicted = 2
    never = 3
    interrupted = 4


SENTENCES = {
    Reason.open: "the loops do not close with these parameters, on the branch of the reference",
    Reason.contradicted: "the velocities that are held contradict the loops",
    Reason.never: "a joint can never close: a residual that no motion changes is not zero",
    Reason.interrupted: "the search was interrupted",
}


class BatchStart(NamedTuple):
    """Starts of many points.

    Attributes
    ----------
    q, v
        Coordinates (m, nq) and velocities (m, nv); not a number where there is none.
    ok
        (m,) whether the point has a start.
    reason
        (m,) of `Reason`.
    """

    q: np.ndarray
    v: np.ndarray
    ok: np.ndarray
    reason: np.ndarray


@dataclass(frozen=True, eq=False)
class _Search:
    """The equations of a search with coordinates and velocities to hold, compiled.

    Attributes
    ----------
    closing
        The same search with numbers.
    places
        Entries of q that are held as they are.
    position, retract, rates, counted, fixed
        Native functions; see `closing.CLOSING`.
    unit
        The unit in which velocities come, by the parameters.
    """

    closing: Closing
    places: np.ndarray
    position: NativeFunction
    retract: NativeFunction
    rates: NativeFunction
    counted: NativeFunction | None
    fixed: NativeFunction | None
    unit: ca.Function

    def record(self, t: float) -> np.ndarray:
        """What the compiled search has to know."""
        from closedchain.march.batch.closing import CLOSING

        c = np.zeros(1, CLOSING)
        for name in ("position", "retract", "rates", "counted", "fixed"):
            function = getattr(self, name)
            c[0][name] = function.address if function is not None else 0
        c[0]["t"], c[0]["tolerance"], c[0]["rank"] = t, TOLERANCE, SOLVED
        c[0]["fixed_tolerance"] = NEARLY * TOLERANCE
        c[0]["rows"], c[0]["columns"] = self.position.output_shapes["J"]
        c[0]["rate_rows"] = self.rates.output_shapes["right"][0]
        c[0]["fixed_rows"] = self.fixed.output_shapes["c"][0] if self.fixed is not None else 0
        c[0]["counters"] = len(self.closing.topology.counters)
        return c


def batch_assemble(
    start: State,
    p: np.ndarray,
    hold: Sequence[str] | Mapping[str, Any],
    velocity: Mapping[str, Any] | None = None,
    *,
    threads: int | None = None,
) -> BatchStart:
    """Starts of many points, on the branch of a reference.

    Parameters
    ----------
    start
        The reference: closed, at its own parameters.
    p
        Parameter values (m, np), each as from `parameter_vector`.
    hold
        Joints or coordinates that keep the values of the reference; or a mapping from them to values: one for all
        points, or (m,) of them (for a joint with n coordinates (n,) or (m, n)).
    velocity
        The same for velocities; default: those of the joints whose coordinates are held keep the values of the
        reference.
    threads
        How many; default: one for each core.

    Returns
    -------
    BatchStart
        A point that does not close says so in ``ok`` and ``reason``.

    Examples
    --------
    >>> import closedchain as cc
    >>> m = cc.library.four_bar()
    >>> p = np.tile(parameter_vector(m), (3, 1))
    >>> p[:, list(m.parameters.merged(None)).index("rocker.length")] = 2.4, 2.5, 9.0
    >>> batch_assemble(m.assemble(O=cc.pi / 2), p, ["O"]).ok
    array([ True,  True, False])
    """
    from closedchain.march.batch.closing import Found, Target, Targets, close_points

    start.check()
    p = np.array(p, float, ndmin=2)
    m, topology = len(p), start.topology
    labels = {j.name: j.labels() for j in topology.measured}
    rates = {j.name: j.velocity_labels() for j in topology.measured}
    p_from = parameter_vector(start.mechanism, start.parameters)
    if p.shape[1] != len(p_from):
        raise ModelError(f"p must have {len(p_from)} columns like the parameters of {start.mechanism.name!r}")
    held = _values(labels, hold, start.coordinates, m, "hold")
    shapes = [x for link in topology.links if link.shape is not None for x in link.shape.labels()]
    held = {x: np.full(m, start.coordinates[x]) for x in shapes} | held  # flexible bodies keep their deformation
    kept = [x for name in labels if any(label in held for label in labels[name]) for x in rates[name]]
    wanted = _values(rates, kept if velocity is None else velocity, start.velocities, m, "velocity")

    search = _search(start, tuple(held), tuple(wanted))
    closing, q_labels = search.closing, list(topology.q_labels)
    rows = [closing.labels[i] for i in closing.rows]
    q, v = np.full((m, topology.nq), np.nan), np.full((m, topology.nv), np.nan)
    code = np.full(m, int(Reason.interrupted))
    record, q_from, found = search.record(start.t), np.ascontiguousarray(start.q), Found(q, v, code)
    reference = Target(p_from, q_from[search.places], np.array([start.coordinates[x] for x in rows], float))
    targets = Targets(
        p=p,
        values=_columns(m, [held[q_labels[i]] for i in search.places]),
        held=_columns(m, [held[x] for x in rows]),
        velocities=_columns(m, list(wanted.values())),
    )
    share_out(
        lambda piece: close_points(record, search.places, reference, q_from, targets, found, piece),
        m,
        cores() if threads is None else threads,
    )
    if m:
        with LOCK:
            units = search.unit.map(m)
        v *= np.array(units(p.T)).T
    ok = code == Reason.closed
    q[~ok], v[~ok] = np.nan, np.nan
    return BatchStart(q, v, ok, code)


def _columns(m: int, columns: list[np.ndarray]) -> np.ndarray:
    return np.ascontiguousarray(np.array(columns).T) if columns else np.empty((m, 0))


def _values(
    labels: Mapping[str, Sequence[str]],
    hold: Sequence[str] | Mapping[str, Any],
    current: Mapping[str, float],
    m: int,
    what: str,
) -> dict[str, np.ndarray]:
    """Values (m,) by label, from names of joints or labels and perhaps values."""
    out: dict[str, np.ndarray] = {}
    for name in hold:
        mine = tuple(labels.get(name, (name,)))
        unknown = [x for x in mine if x not in current]
        if unknown:
            raise ModelError(f"{what}: no joint or coordinate is named {name!r}{suggest(name, [*labels, *current])}")
        if not isinstance(hold, Mapping):
            out |= {x: np.full(m, current[x]) for x in mine}
            continue
        values = np.asarray(hold[name], float)
        shape = (m, len(mine))
        try:
            values = np.broadcast_to(values[:, None] if values.shape == (m,) and len(mine) == 1 else values, shape)
        except ValueError:
            raise ModelError(
                f"{what}: {name!r} takes {len(mine)} value(s), or so many for each of {m} points, not the shape "
                f"{values.shape}"
            ) from None
        out |= {x: values[:, i].copy() for i, x in enumerate(mine)}
    return out


@cached_by(lambda start, held, wanted: (start.mechanism, held, wanted, start.open_joints))
def _search(start: State, held: tuple[str, ...], wanted: tuple[str, ...]) -> _Search:
    """The search with coordinates to hold, traced and compiled once for each drawing."""
    e = derive(start.mechanism)
    closing = Closing(
        e,
        parameter_vector(start.mechanism, start.parameters),
        time=start.t,
        held={x: start.coordinates[x] for x in held},
        rows=active_rows(e, start.open_joints),
        open_joints=start.open_joints,
    )
    places = [i for i, x in enumerate(e.topology.q_labels) if x in held and i < e.topology.tree_nq]
    return _Search(closing, np.array(places, np.int64), **_natives(closing, wanted))


def _natives(closing: Closing, wanted: Sequence[str]) -> dict[str, Any]:
    """Native functions of the search: all but q, held values and velocities is relative, as in `Closing.relative`."""
    e, limbs, name = closing.e, closing.e.limbs, closing.topology.mechanism.name
    f = functions(e)
    t, q, p, rest = limbs.t, limbs.q, limbs.p, ca.DM.zeros(closing.topology.nv)
    at = {"t": t, "q": q}

    # positions: closures, and held values that are functions of q
    c, A, c_t, _ = f["residual"](t, q, rest, p)
    q_all, J_q, J_v, _ = f["measure"](t, q, rest, p)
    held = ca.SX.sym("held", len(closing.rows))
    off = _off(closing, q_all, held)
    columns = closing.columns.tolist()
    sizes = traced_sizes(e, e.topology.v_units)
    closures = [e.closure.units[i] for i in closing.active]
    row = _allowed(closing, [*closures, *closing.held_units])
    r = ca.vertcat(c[closing.active, :], off) / row
    J = _by_sizes(ca.vertcat(A[closing.active, :], J_q[closing.rows, :])[:, columns], row, sizes[columns, 0])
    inputs = {**at, "held": held, "p": p}
    position = compile_function(f"{name} closing", inputs, {"r": ca.densify(r), "J": ca.densify(J)})

    # a move along the free velocities
    d, full = ca.SX.sym("d", len(columns)), ca.SX.zeros(closing.topology.nv)
    full[columns] = d * sizes[columns, 0]
    moved = {"q_moved": ca.densify(f["retract"](t, q, full, p))}
    retract = compile_function(f"{name} move", {**at, "d": d, "p": p}, moved)

    # velocities
    rate = ca.SX.sym("rate", len(wanted))
    picked = [closing.velocity_labels.index(x) for x in wanted]
    units = [unit for j in closing.topology.measured for unit in j.type.velocity_units]
    row = traced_sizes(e, [*closures, *(units[i] for i in picked)])
    matrix = _by_sizes(ca.densify(ca.vertcat(A[closing.active, :], J_v[picked, :])), row, sizes)
    time = traced_time(e)
    time = ca.if_else(time > 0, time, 1)
    right = ca.densify(ca.vertcat(-c_t[closing.active, :], rate)) / row * time
    rates = compile_function(f"{name} closing rates", {**at, "rate": rate, "p": p}, {"matrix": matrix, "right": right})

    # angles of cut joints, and what no motion changes
    counted = fixed = None
    if closing.topology.counters:
        angle = {"angle": ca.densify(f["counted"](t, q, rest, p))}
        counted = compile_function(f"{name} turns", {**at, "p": p}, angle)
    values = [(row.unit, row.value) for row in e.closure.fixed if row.joint not in closing.open_joints]
    if values:
        c = ca.vertcat(*(x for _, x in values)) / _allowed(closing, [unit for unit, _ in values], NEARLY)
        fixed = compile_function(f"{name} fixed", {**at, "p": p}, {"c": ca.densify(c)})
    unit = ca.Function("unit", [p], [ca.densify(sizes / time)])
    return {
        "position": position, "retract": retract, "rates": rates, "counted": counted, "fixed": fixed, "unit": unit,
    }  # fmt: skip


def _allowed(closing: Closing, units: Sequence[str], slack: float = 1.0) -> ca.SX:
    """What a residual is divided by to be compared with the tolerance; where the drawing is rounded it may be more."""
    e, tolerance = closing.e, closing.topology.mechanism.tolerance
    angle = ca.fmin(tolerance / (ARM * traced_length(e)), COARSEST)
    rounded = ca.vertcat(ca.SX(0, 1), *(ca.SX(tolerance) if unit == "m" else angle for unit in units))
    return ca.fmax(traced_sizes(e, units), rounded / (slack * TOLERANCE))


def _by_sizes(matrix: ca.SX, row: ca.SX, column: ca.SX) -> ca.SX:
    """A matrix by the sizes of its rows and columns."""
    return ca.densify(ca.diag(1 / row) @ matrix @ ca.diag(column))


def _off(closing: Closing, q_all: ca.SX, held: ca.SX) -> ca.SX:
    """How far held values are off: angles up to whole turns, quaternions up to their sign."""
    names = [closing.labels[i] for i in closing.rows]
    nearest = ca.SX(held)
    for four in closing._quaternions():
        at = [names.index(label) for label in four if label in names]
        if len(at) == 4:
            same = ca.dot(held[at], q_all[[closing.rows[i] for i in at]])
            nearest[at] = ca.if_else(same < 0, -1, 1) * held[at]
    off = ca.SX(q_all[closing.rows, :] - nearest)
    for i, turns in enumerate(closing._turns):
        if turns:
            off[i] -= 2 * ca.pi * ca.floor((off[i] + ca.pi) / (2 * ca.pi))
    return off
