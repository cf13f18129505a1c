"""Numbers that hold for a while and then change at once: outputs of sampled controllers, and values of conditions.

A run steps onto the instants at which they change, and marches between them with the numbers held: a square wave is
then as smooth as any other torque. In the compiled functions they are further parameters, after those of the drawing.
A condition that is not held (its parameter is `LIVE`) is evaluated as it comes.
"""

from __future__ import annotations

import copy
import importlib
import math
import pickle
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.errors import ModelError
from closedchain.model.derived import cached
from closedchain.model.expressions.expression import Expression
from closedchain.model.forces.force import efforts

if TYPE_CHECKING:
    from closedchain.model.mechanism import Mechanism

LIVE = 1e300  # the value of a condition that is not held
JUMPS = ("lt", "le", "sign", "floor", "ceil", "mod")  # operations whose value jumps


@dataclass(frozen=True, eq=False)
class Controller:
    """A Python function that is called now and then, and what it gives is held until the next time.

    Attributes
    ----------
    function
        ``f(t, now)``: one number, or several.
    period
        Between two calls, s.
    outputs
        How many numbers it gives.
    initial
        Their values where there is no run, as in `equilibrium`.
    """

    function: Callable[..., Any]
    period: float
    outputs: int
    initial: tuple[float, ...]

    @property
    def _called(self) -> Any:
        """What is called in the end, without arguments that are given beforehand."""
        function: Any = self.function
        while isinstance(function, partial):
            function = function.func
        return function

    @property
    def owner(self) -> Any:
        """The object that is called, or that of a bound method; None for a function."""
        owner = getattr(self._called, "__self__", self._called)
        return None if isinstance(owner, FunctionType | BuiltinFunctionType | ModuleType) else owner

    @property
    def name(self) -> str:
        """For messages."""
        return getattr(self._called, "__name__", type(self._called).__name__)

    def __deepcopy__(self, memo: dict[int, Any]) -> Controller:
        return replace(self, function=copy.deepcopy(self.function, memo))  # functions stay the same, objects do not

    def __reduce__(self) -> tuple[Any, ...]:
        return _controller, (self._sent(), self.period, self.outputs, self.initial)

    def _sent(self) -> Any:
        """The function as it can be pickled: itself, or what cloudpickle makes of it where that is installed."""
        if getattr(_trying, "now", False):  # a function that knows its mechanism, which has the function
            return self.function
        _trying.now = True
        try:
            pickle.dumps(self.function)
            return self.function
        except Exception as error:
            try:
                return _Packed(importlib.import_module("cloudpickle").dumps(self.function))
            except Exception:
                raise ModelError(
                    f"the controller {self.name!r} cannot be pickled ({error}): define it at the top level of a "
                    "module, with def or as an object of a class, or install cloudpickle"
                ) from None
        finally:
            _trying.now = False


@dataclass(frozen=True)
class _Packed:
    """A function in the form that cloudpickle gives it."""

    content: bytes


def _controller(function: Any, period: float, outputs: int, initial: tuple[float, ...]) -> Controller:
    if isinstance(function, _Packed):
        function = pickle.loads(function.content)
    return Controller(function, period, outputs, initial)


_trying = threading.local()  # whether a function is being pickled, only to know that it can be


class Sampled(Expression):
    """A sampled controller in Python, as an effort: ``m.motor("O", torque=cc.Sampled(f, period=1e-3))``.

    At times 0, period, 2 period, ... after the beginning of a run ``f(t, now)`` is called; what it returns is held
    until the next call. ``now["O"]`` and ``now["O'"]`` are the coordinate and velocity of a joint (cut or not),
    ``now.place("body.frame")`` and ``now.speed("body.frame")`` those of a frame. A controller for several motors
    returns several numbers: with ``u = cc.Sampled(f, period, outputs=2)`` they are ``u[0]`` and ``u[1]``.

    A controller with a memory is an object with ``__call__(t, now)``; if it has a method ``reset()``, that is called
    when a run begins.

    Parameters
    ----------
    function
        ``f(t, now)``.
    period
        Time between two calls, s.
    outputs
        How many numbers it returns.
    initial
        What holds where nothing is simulated, as in ``m.equilibrium()``; one number, or one for each output.

    Examples
    --------
    >>> import closedchain as cc
    >>> m = cc.library.pendulum()
    >>> def hold(t, now):
    ...     return -20 * (now["hinge"] - 1) - 4 * now["hinge'"]
    >>> motor = m.motor("hinge", torque=cc.Sampled(hold, period=1e-2))
    >>> run = cc.simulate(m, until=8.0)
    >>> bool(abs(run["hinge'"][-1]) < 1e-3)
    True
    """

    def __init__(self, function: Callable[..., Any], period: float, outputs: int = 1, initial: Any = 0.0) -> None:
        if not callable(function):
            raise ModelError(f"Sampled needs a function f(t, now), not {function!r}")
        number = isinstance(period, int | float | np.number) and not isinstance(period, bool | np.complexfloating)
        if not (number and 0 < period < math.inf):
            raise ModelError(f"Sampled: the period must be a positive number of seconds, not {period!r}")
        if not (isinstance(outputs, int | np.integer) and not isinstance(outputs, bool) and outputs >= 1):
            raise ModelError(f"Sampled: outputs must be a whole number of at least 1, not {outputs!r}")
        try:
            values = np.broadcast_to(np.asarray(initial, float), outputs)
        except (TypeError, ValueError, ModelError):
            values = np.full(outputs, np.nan)
        if not np.isfinite(values).all():
            several = f", or {outputs} of them" if outputs > 1 else ""
            raise ModelError(f"Sampled: initial takes a finite number{several}, not {initial!r}")
        self.controller = Controller(function, float(period), int(outputs), tuple(values.tolist()))
        super().__init__("sampled", self.controller, 0 if outputs == 1 else None)

    def __getitem__(self, index: int) -> Expression:
        if not isinstance(index, int | np.integer) or not 0 <= index < self.controller.outputs:
            raise ModelError(f"{self} has outputs 0 to {self.controller.outputs - 1}, not {index!r}")
        return Expression("sampled", self.controller, int(index))

    def __iter__(self) -> Iterator[Expression]:
        return (self[i] for i in range(self.controller.outputs))


@dataclass(frozen=True, eq=False)
class Jump:
    """An operation whose value jumps: where, and between which values.

    Attributes
    ----------
    node
        ``a < b``, ``sign(a)``, ``floor(a)``, ``ceil(a)``, or ``a mod b``, whose jumping part is ``floor(a / b)``.
    timed
        Whether it depends on time and parameters alone.
    inside
        Numbers of other jumps that it depends on.
    """

    node: Expression
    timed: bool
    inside: tuple[int, ...] = ()

    def signal(self, *args: Any) -> Any:
        """What passes zero (conditions, signs) or an integer (the others) when the value jumps."""
        if self.node.op in ("lt", "le"):
            return args[1] - args[0]
        return args[0] / args[1] if self.node.op == "mod" else args[0]

    @property
    def counts(self) -> bool:
        """Whether it jumps at every integer, and not at zero alone."""
        return self.node.op in ("floor", "ceil", "mod")

    def value(self, signal: Any) -> Any:
        """The number that is held."""
        if self.node.op in ("lt", "le"):  # they differ where both sides are equal for good, as two parameters may be
            return (np.asarray(signal) > 0 if self.node.op == "lt" else np.asarray(signal) >= 0) * 1.0
        return {"sign": np.sign, "ceil": np.ceil}.get(self.node.op, np.floor)(signal)


@dataclass(frozen=True, eq=False)
class SampledInputs:
    """All numbers of a drawing that hold for a while, in the order of their parameters: outputs, then jumps."""

    controllers: tuple[Controller, ...]
    jumps: tuple[Jump, ...]

    @property
    def initial(self) -> list[float]:
        """Their values where nothing is simulated."""
        return [x for c in self.controllers for x in c.initial] + [LIVE] * len(self.jumps)

    def place(self, node: Expression) -> int:
        """The number of an output or a jump among them."""
        if node.op == "sampled":
            at = next(i for i, c in enumerate(self.controllers) if c is node.args[0])
            return sum(c.outputs for c in self.controllers[:at]) + node.args[1]
        return self.outputs + next(i for i, jump in enumerate(self.jumps) if jump.node is node)

    @property
    def outputs(self) -> int:
        """How many outputs the controllers have together."""
        return sum(c.outputs for c in self.controllers)


@cached
def sampled_inputs(drawing: Mechanism) -> SampledInputs:
    """What a drawing holds."""
    controllers: list[Controller] = []
    jumps: list[Jump] = []
    for node in nodes(*efforts(drawing), *(drive.position for drive in drawing.drives.values())):
        if node.op == "sampled" and not any(c is node.args[0] for c in controllers):
            controllers.append(node.args[0])
        if node.op in JUMPS:
            inner = {id(x) for x in nodes(*node.args)}
            inside = tuple(i for i, jump in enumerate(jumps) if id(jump.node) in inner)
            timed = all(leaf.op in ("time", "parameter") for leaf in node.leaves())
            jumps.append(Jump(node, timed, inside))
    return SampledInputs(tuple(controllers), tuple(jumps))


def nodes(*expressions: Any) -> Iterator[Expression]:
    """All nodes of expressions once, arguments before what depends on them."""
    seen: set[int] = set()
    stack = [(x, False) for x in reversed(expressions)]
    while stack:
        node, ready = stack.pop()
        if not isinstance(node, Expression) or (id(node) in seen and not ready):
            continue
        if ready:
            yield node
            continue
        seen.add(id(node))
        stack.append((node, True))
        if node.op != "sampled":
            stack.extend((a, False) for a in node.args)
