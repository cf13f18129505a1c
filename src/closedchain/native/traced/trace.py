"""From CasADi expressions to a :class:`~closedchain.native.traced.graph.Graph`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from closedchain.lock import locked
from closedchain.native.emit.operations import OPERATIONS, UNSUPPORTED, codes
from closedchain.native.traced.graph import Graph

if TYPE_CHECKING:
    import casadi


class UnsupportedOperation(NotImplementedError):
    """An expression contains an operation that has no native form."""


@locked
def trace(name: str, inputs: dict[str, casadi.SX], outputs: dict[str, casadi.SX]) -> Graph:
    """Read the instructions of an expression into a graph.

    Parameters
    ----------
    name : str
        Name of the function, for the messages.
    inputs, outputs : dict of str to casadi.SX
        Symbols and expressions. Positions are those of the dense, column-major arrays also if they are sparse.

    Returns
    -------
    Graph
        Inputs and outputs are numbered in the order of the dictionaries.

    Examples
    --------
    >>> import casadi
    >>> x = casadi.SX.sym("x", 2)
    >>> trace("f", {"x": x}, {"y": x[0] * x[1] + casadi.sin(x[1] * x[0])}).name
    ['input', 'input', 'mul', 'sin', 'add']
    """
    import casadi

    for input_name, symbol in inputs.items():
        if not isinstance(symbol, casadi.SX) or not symbol.is_valid_input():
            raise ValueError(f"{name}: input {input_name!r} has to be a purely symbolic casadi.SX, got {symbol!r}")
    expressions = [casadi.SX(expression) for expression in outputs.values()]
    function = casadi.Function("traced", list(inputs.values()), expressions, {"allow_free": True})
    if function.has_free():
        free = ", ".join(str(symbol) for symbol in function.free_sx())
        raise ValueError(f"{name}: the expression has free symbols, make them inputs: {free}")
    return _read(name, function)


def _read(name: str, function: casadi.Function) -> Graph:
    graph = Graph()
    input_positions = [function.sparsity_in(i).find() for i in range(function.n_in())]
    output_positions = [function.sparsity_out(i).find() for i in range(function.n_out())]
    operation_name = codes()
    # CasADi's work vector: the value that each element holds at this point of the program
    work = [0] * function.sz_w()
    read_id, read_input, read_output = (
        function.instruction_id,
        function.instruction_input,
        function.instruction_output,
    )
    for k in range(function.n_instructions()):
        operation = operation_name.get(read_id(k), str(read_id(k)))
        target = read_output(k)
        if operation == "const":
            work[target[0]] = graph.constant(function.instruction_constant(k))
        elif operation == "input":
            which, nonzero = read_input(k)
            work[target[0]] = graph.input(which, input_positions[which][nonzero])
        elif operation == "output":
            which, nonzero = target
            graph.outputs.append((which, output_positions[which][nonzero], work[read_input(k)[0]]))
        elif operation in OPERATIONS:
            operands = [work[i] for i in read_input(k)]
            work[target[0]] = graph.operate(operation, *operands)
        else:
            reason = UNSUPPORTED.get(operation, "it has no scalar native form")
            raise UnsupportedOperation(f"{name}: operation OP_{operation.upper()} cannot be compiled: {reason}")
    return graph
