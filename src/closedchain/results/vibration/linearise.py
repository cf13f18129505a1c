"""`linearise`: the equations of motion about a closed state, as a linear system in independent coordinates.

    x = (y, y'),      x' = x'_0 + A x + B u,      z = z_0 + C x + D u

for small deviations x, u, z from a state at which all loops are closed. The derivatives are exact (see
`pose.tangent`). Displacements y belong to independent velocities; those of ball joints and free bodies are small
rotations, and shifts, along the axes of the moving body.

A motor is an input by its effort, which is added to what its law gives: feedback in the law is part of A. A drive is an
input by its acceleration; the deviations of its position and velocity from the prescribed motion then join the state,
because a position alone would make velocities depend on its derivative.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from closedchain.arguments import known, mapping, needs, suggest, unique
from closedchain.derive.equations import Equations, derive
from closedchain.errors import AssemblyError, ModelError
from closedchain.lock import locked
from closedchain.model.derived import cached
from closedchain.model.expressions.expression import Expression
from closedchain.model.mechanism import Mechanism
from closedchain.model.parts import Body, Frame
from closedchain.pose.assemble import assemble
from closedchain.pose.closing import TOLERANCE, Closing, active_rows
from closedchain.pose.independent import choose_pivots
from closedchain.pose.inertia import weightless
from closedchain.pose.loads import load_sizes
from closedchain.pose.rank import ALIKE, apart, rank
from closedchain.pose.redundancy import Rows, independent_rows
from closedchain.pose.size import drawn_length, row_sizes, velocity_sizes
from closedchain.pose.state import State, parameter_vector
from closedchain.pose.tangent import Tangent
from closedchain.results.vibration.linearisation import Linearisation, displacements

HELD_FAST = 1e-7  # relative: what other rows may miss of the motion of a drive


def linearise(
    mechanism: Mechanism,
    state: State | None = None,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[Any] | None = None,
    parameters: Mapping[str, float] | None = None,
    *,
    independent: Sequence[str] | None = None,
) -> Linearisation:
    """Linearise a mechanism about a closed state: state-space matrices and their eigenvalues; `modes` has frequencies.

    Parameters
    ----------
    mechanism
        What moves.
    state
        About which state, at rest or moving, in equilibrium (see `equilibrium`) or not. None: ``mechanism.assemble()``.
    inputs
        Motors (an effort added to their own) and drives (an acceleration added to their own) by name. Default: all
        motors.
    outputs
        Coordinates (``"B"``), velocities (``"B'"``) and accelerations (``"B''"``) of any joint, cut or not; frames
        (``"coupler.tip"``, a `Frame` or a `Body`: their three position components); expressions of the drawing.
        Default: the coordinates of all joints.
    parameters
        Parameter values for this call only.
    independent
        Velocities by name to be the independent ones; by default a well-conditioned set is chosen. Eigenvalues at an
        equilibrium do not depend on it.

    Returns
    -------
    Linearisation

    Raises
    ------
    ModelError
        At a singular pose, where no coordinates are independent, or for a name that is not there.

    Examples
    --------
    >>> import closedchain as cc
    >>> m = cc.library.pendulum()
    >>> about = m.linearise(m.equilibrium({"hinge": -1.0}))
    >>> print(about.A.values.round(4))
    [[  0.      1.   ]
     [-14.715   0.   ]]
    """
    state = _checked(mechanism, state, parameters)
    e = derive(mechanism)
    rows = _rows(e, state)
    dependent = _dependent(e, state, rows, independent)
    motors, drives = _inputs(mechanism, inputs)
    moved = [e.closure.joints.index(name) for name in drives]
    fixed = [name for name, row in zip(drives, moved, strict=True) if row not in rows.kept]
    if fixed:
        raise ModelError(_held_fast(fixed[0]))
    at = Tangent(e, state, rows.kept, dependent, moved)
    sizes = row_sizes(e, range(len(e.closure)), drawn_length(e, _p(state)))
    off = (at.A @ at.S[:, at.free :] + at.units) * sizes[moved] / sizes[:, None]
    for name, gap in zip(drives, np.abs(off[list(rows.active)]).max(axis=0, initial=0.0), strict=True):
        if gap > HELD_FAST:
            raise ModelError(_held_fast(name))

    names, traced = _outputs(e, outputs)
    J, place, z = _numbers(e, at, motors, traced)
    z_q, z_v, z_a = place
    a_u = np.hstack([at.accelerate(J.T, np.zeros((len(e.closure), len(motors)))), _drive_accelerations(at)])
    y_labels, v_labels = _labels(e, at.independent)
    y_labels, v_labels = [*y_labels, *drives], [*v_labels, *(f"{name}'" for name in drives)]

    f, k, d = at.free, len(motors), len(drives)
    n = f + d
    A, B = np.zeros((2 * n, 2 * n)), np.zeros((2 * n, k + d))
    A[:f, :n] = at.drift
    A[:n, n:] = np.eye(n)
    A[n : n + f] = np.hstack([at.a_y, at.a_nu])[at.independent]
    B[n : n + f] = a_u[at.independent]
    B[n + f :, k:] = np.eye(d)
    C = np.hstack([z_q @ at.T + z_v @ at.v_y + z_a @ at.a_y, z_v @ at.S + z_a @ at.a_nu])
    motion = _drive_motion(e, at, moved)
    joints = e.topology.measured
    shape_labels = [x for j in joints for x in displacements(j)]
    return Linearisation.of(
        state,
        A=A,
        B=B,
        C=C,
        D=z_a @ a_u,
        states=[*y_labels, *v_labels],
        inputs=[*motors, *drives],
        outputs=names,
        rates=np.concatenate([state.v[at.independent], motion[0], at.a[at.independent], motion[1]]),
        values=z,
        inertia=at.inertia,
        loads=np.abs(at.S[:, :f].T) @ load_sizes(e, *at.point),
        joints=shape_labels,
        motions=_joint_jacobian(e, at) @ at.S[:, :f],
        at_rest=not state.v.any(),
    )


# ---- what is given --------------------------------------------------------------------------------------------------


def _checked(mechanism: Mechanism, state: State | None, parameters: Any) -> State:
    needs("linearise", mechanism, Mechanism, "a cc.Mechanism")
    mapping("parameters", parameters)
    if state is None:
        state = assemble(mechanism, parameters=parameters)
    needs("linearise", state, State, "a state of this mechanism, from m.assemble(...)")
    state = state.of(mechanism, "linearise needs a state of this mechanism; the given one")
    state = replace(state, parameters={**state.parameters, **(parameters or {})})
    mechanism.validate(state.parameters)
    return state


def _rows(e: Equations, state: State) -> Rows:
    """Independent closure rows at a state that is closed, regular and has inertia in all its motions."""
    m = state.mechanism
    active = active_rows(e, state.open_joints)
    p = parameter_vector(m, state.parameters)
    closing = Closing(e, p, time=state.t, rows=active, open_joints=state.open_joints)
    closing.check_fixed()
    if active:
        _check_closed(closing, state)
    rows = independent_rows(e, state)
    if rows.singular:
        raise ModelError(
            f"{m.name!r} cannot be linearised at a singular pose, where no coordinates are independent: take one nearby"
        )
    missing = weightless(e, state, rows.active)
    if missing:
        raise ModelError(f"mechanism {m.name!r} cannot be linearised. {missing}")
    return rows


def _check_closed(closing: Closing, state: State) -> None:
    """Refuse a state with open loops, as `simulate` refuses it for a start."""
    closure, rows, length = closing.e.closure, closing.active, closing.scale.length
    closed = 1e3 * TOLERANCE
    gaps = np.abs(closing.residual(state.q)[0])
    most = apart([closure.units[i] for i in rows], closed, state.mechanism.tolerance, length)
    A, wanted = closing.relative_jacobian(state.q), closing.velocities(state.q, {})
    slips = np.abs(A @ ((state.v - wanted) / closing.velocity_size))
    fast = float(np.abs(np.array([state.v, wanted]) / closing.velocity_size).max(initial=0.0))
    slow = max(closed * max(closing.pace(state.q), fast), 2 * closing.loose(A, state.v))
    for off, bound, unit in ((gaps, most, "m or rad"), (slips, np.full(len(rows), slow), "1/s")):
        i = int(np.argmax(off / np.maximum(bound, 1e-300)))
        if not off[i] <= bound[i]:
            raise AssemblyError(
                f"the loops of {state.mechanism.name!r} are open by {off[i]:.3g} {unit} at this state (joint "
                f"{closure.joints[rows[i]]!r}, {closure.labels[rows[i]]}): take it from m.assemble(...) with the same "
                "parameters"
            )


def _dependent(e: Equations, state: State, rows: Rows, wanted: Sequence[str] | None) -> list[int]:
    """Velocities that the closures determine."""
    if wanted is None:
        return [column for _, column in choose_pivots(e, state, rows.kept, "coordinates")]
    labels = e.topology.v_labels
    joints = {x.name: x for x in e.topology.measured if x.name in e.topology.own}
    chosen: list[str] = []
    for name in [wanted] if isinstance(wanted, str) else wanted:
        named = joints[name].velocity_labels() if name in joints else (name,)
        if name in {j.name for j in e.topology.cuts}:
            raise ModelError(f"independent: joint {name!r} is cut, and follows from the others; draw it with cut=False")
        known("independent: no joint or velocity is named", name, list(dict.fromkeys([*joints, *labels])))
        chosen += named
    freedoms = e.topology.nv - len(rows.kept)
    if len(set(chosen)) != freedoms:
        count = "1 freedom" if freedoms == 1 else f"{freedoms} freedoms"
        raise ModelError(f"independent: {state.mechanism.name!r} has {count}, but {len(set(chosen))} names were given")
    columns = [k for k, label in enumerate(labels) if label not in chosen]
    A = np.array(e.function("A", {"A": e.closure.A})(state.t, state.q, state.v, _p(state)))[np.ix_(rows.kept, columns)]
    A = A * velocity_sizes(e, drawn_length(e, _p(state)))[columns]
    A = A / np.maximum(np.abs(A).max(axis=1, initial=0.0, keepdims=True), 1e-300)
    if rank(A, least=ALIKE) < len(A):
        raise ModelError(
            f"independent: {', '.join(chosen)} do not determine the motion of {state.mechanism.name!r} at this pose; "
            "m.mobility(state).independent is a choice that does"
        )
    return columns


def _p(state: State) -> np.ndarray:
    return parameter_vector(state.mechanism, state.parameters)


def _inputs(m: Mechanism, inputs: Sequence[str] | None) -> tuple[list[str], list[str]]:
    names = list(m.motors) if inputs is None else [inputs] if isinstance(inputs, str) else list(inputs)
    for name in names:
        known("inputs: no motor or drive is named", name, [*m.motors, *m.drives])
    unique("inputs", names)
    return [x for x in names if x in m.motors], [x for x in names if x in m.drives]


def _held_fast(name: str) -> str:
    return f"inputs: drive {name!r} cannot be moved on its own, because the loops or other drives hold the same motion"


# ---- outputs --------------------------------------------------------------------------------------------------------


def _outputs(e: Equations, outputs: Sequence[Any] | None) -> tuple[list[str], ca.SX]:
    """Names and traced values; accelerations are functions of the symbol `_a(e)`."""
    joints = e.topology.measured
    known: dict[str, ca.SX] = {}
    for j in joints:
        if not j.type.nv:
            continue
        a = ca.densify(e.measures.jacobian(j) @ _a(e)) + e.measures.bias(j)
        rates = [f"{x}'" if x in j.labels() else x for x in j.velocity_labels()]
        known |= dict(zip(j.labels(), ca.vertsplit(ca.densify(e.measures.coordinates(j))), strict=True))
        known |= dict(zip(rates, ca.vertsplit(e.measures.velocities(j)), strict=True))
        known |= dict(zip([f"{x}'" for x in rates], ca.vertsplit(a), strict=True))
    if outputs is None:
        outputs = [x for j in joints for x in j.labels()]
    names: list[str] = []
    values: list[ca.SX] = []
    for wanted in [outputs] if isinstance(outputs, str | Expression | Frame | Body) else outputs:
        if isinstance(wanted, Expression):
            names.append(repr(wanted))
            values.append(e.expression(wanted))
        elif isinstance(wanted, str) and wanted in known:
            names.append(wanted)
            values.append(known[wanted])
        else:
            frame = _frame(e, wanted, known)
            names += [f"{frame.body.name}.{frame.name} {axis}" for axis in "xyz"]
            values += ca.vertsplit(ca.densify(e.motion.frame(frame).X.r))
    return names, ca.vertcat(ca.SX(0, 1), *values)


def _frame(e: Equations, wanted: Any, known: Mapping[str, Any]) -> Frame:
    m = e.topology.mechanism
    if isinstance(wanted, Body):
        wanted = wanted["origin"]
    if not isinstance(wanted, Frame):
        try:
            wanted = m.find_frame(wanted)
        except ModelError:
            near = suggest(str(wanted), known)
            raise ModelError(
                f"outputs: no coordinate, velocity, acceleration or frame is named {wanted!r}{near}"
            ) from None
    if wanted.body.mechanism is not m:
        raise ModelError(f"outputs: frame {wanted.body.name}.{wanted.name} belongs to another mechanism")
    return wanted


@cached
def _a(e: Equations) -> ca.SX:
    return ca.SX.sym("a", e.topology.nv)


@locked
def _numbers(
    e: Equations, at: Tangent, motors: Sequence[str], z: ca.SX
) -> tuple[np.ndarray, tuple[np.ndarray, ...], np.ndarray]:
    """Jacobian rows of the motors' joints; partial derivatives of the outputs by q, v and a; their values."""
    m, limbs, a = e.topology.mechanism, e.limbs, _a(e)
    J = [e.measures.velocity_row(m.motors[x].joint, m.motors[x].index)[0] for x in motors]
    parts = [ca.vertcat(ca.SX(0, e.topology.nv), *J), *(ca.jacobian(z, x) for x in (limbs.q, limbs.v, a)), z]
    f = ca.Function("outputs", [*e.symbols.values(), a], [ca.densify(x) for x in parts])
    rows, z_q, z_v, z_a, value = (np.array(x) for x in f(*at.point, at.a))
    return rows, (z_q, z_v, z_a), value[:, 0]


# ---- drives ---------------------------------------------------------------------------------------------------------


def _drive_accelerations(at: Tangent) -> np.ndarray:
    """Accelerations of all joints for a unit acceleration of each drive that is an input."""
    return at.accelerate(np.zeros((at.e.topology.nv, at.units.shape[1])), at.units)


@locked
def _drive_motion(e: Equations, at: Tangent, moved: Sequence[int]) -> np.ndarray:
    """Prescribed velocities and accelerations of drives: what their deviations are added to."""
    m = e.topology.mechanism
    traced = [ca.SX(0, 2)]
    for row in moved:
        f = e.expression(m.drives[e.closure.joints[row]].position)
        rate = ca.jtimes(f, e.limbs.t, ca.SX(1))
        traced.append(ca.horzcat(rate, ca.jtimes(rate, e.limbs.t, ca.SX(1))))
    return np.array(e.function("drives", {"rates": ca.vertcat(*traced)})(*at.point)).T


# ---- names ----------------------------------------------------------------------------------------------------------


def _labels(e: Equations, columns: Sequence[int]) -> tuple[list[str], list[str]]:
    y: list[str] = []
    v: list[str] = []
    for link in e.topology.links:
        for mine in (link.joint, link.shape) if link.shape is not None else (link.joint,):
            y += displacements(mine)
            plain = not mine.type.has_quaternion
            v += [f"{x}'" if plain else x for x in mine.velocity_labels()]
    return [y[k] for k in columns], [v[k] for k in columns]


def _joint_jacobian(e: Equations, at: Tangent) -> np.ndarray:
    """Velocities of all joints, cut ones too, by v."""
    rows = [e.measures.jacobian(j) for j in e.topology.measured]
    return np.array(e.function("joints", {"J": ca.vertcat(ca.SX(0, e.topology.nv), *rows)})(*at.point))
