"""The scalar operations of a CasADi SX graph: name, number of operands, kind, and the LLVM IR that computes them.

The table is keyed by the *name* of the operation (CasADi's ``OP_ADD`` is ``"add"``), since the integer codes belong
to a version of CasADi. :func:`codes` gives the map from the codes of the installed version to the names.

Flags. Arithmetic carries ``reassoc nsz arcp contract afn``: sums may be reordered, products and sums fused, and
divisions turned into multiplications. It never carries ``nnan`` or ``ninf``, so the compiler may not assume that a NaN
cannot occur. Comparisons, selections, minima and calls carry no flag at all.

How to add an operation (say CasADi gets ``OP_CBRT``): add one line to ``OPERATIONS``; ``r`` is the result, ``a`` and
``b`` the operands, and further temporaries are spelled ``{r}.x``. If the line calls a function of the C library, name
it in the ``calls`` column, and it is declared and linked. The test that goes through all of CasADi's codes finds it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

FLAGS = "reassoc nsz arcp contract afn"


@dataclass(frozen=True, slots=True)
class Operation:
    """One scalar operation.

    Attributes
    ----------
    name : str
        CasADi's name in lower case, without ``OP_``.
    arity : int
        Number of operands, 1 or 2.
    kind : str
        The field of :class:`~closedchain.native.traced.counts.OperationCounts` that counts it.
    template : str
        IR text with the fields ``{r}``, ``{a}``, ``{b}``; empty if the result is the first operand itself.
    calls : str
        The function that has to be declared: an LLVM intrinsic, a function of the C library or one of ours.
    commutative : bool
        Whether the operands may be exchanged.
    """

    name: str
    arity: int
    kind: str
    template: str
    calls: str = ""
    commutative: bool = False


def _arithmetic(name: str, kind: str, instruction: str, commutative: bool = False) -> Operation:
    return Operation(name, 2, kind, f"{{r}} = {instruction} {FLAGS} double {{a}}, {{b}}", commutative=commutative)


def _call(name: str, kind: str, function: str, arity: int = 1, commutative: bool = False) -> Operation:
    operands = ", ".join(("double {a}", "double {b}")[:arity])
    return Operation(name, arity, kind, f"{{r}} = call double @{function}({operands})", function, commutative)


def _compare(name: str, predicate: str, commutative: bool = False) -> Operation:
    text = f"{{r}}.c = fcmp {predicate} double {{a}}, {{b}}\n  {{r}} = select i1 {{r}}.c, double 1.0, double 0.0"
    return Operation(name, 2, "other", text, commutative=commutative)


def _logic(name: str, instruction: str) -> Operation:
    # "une" with zero: a NaN counts as true, as it does in C
    text = (
        "{r}.a = fcmp une double {a}, 0.0\n  {r}.b = fcmp une double {b}, 0.0\n"
        f"  {{r}}.c = {instruction} i1 {{r}}.a, {{r}}.b\n  {{r}} = select i1 {{r}}.c, double 1.0, double 0.0"
    )
    return Operation(name, 2, "other", text, commutative=True)


# x < 0 gives -1, x > 0 gives 1, and everything else (both zeros, NaN) is returned unchanged
_SIGN = (
    "{r}.n = fcmp olt double {a}, 0.0\n  {r}.p = fcmp ogt double {a}, 0.0\n"
    "  {r}.s = select i1 {r}.p, double 1.0, double {a}\n  {r} = select i1 {r}.n, double -1.0, double {r}.s"
)
_NOT = "{r}.c = fcmp oeq double {a}, 0.0\n  {r} = select i1 {r}.c, double 1.0, double 0.0"
# a selection and not a product: 0 is the result when the condition is false, whatever the operand is
_IF_ELSE_ZERO = "{r}.c = fcmp une double {a}, 0.0\n  {r} = select i1 {r}.c, double {b}, double 0.0"

OPERATIONS: dict[str, Operation] = {
    operation.name: operation
    for operation in (
        Operation("assign", 1, "", ""),
        # lift marks a variable for structured optimisation, printme prints: both evaluate to the first operand.
        # Native code does not print.
        Operation("lift", 2, "", ""),
        Operation("printme", 2, "", ""),
        _arithmetic("add", "add", "fadd", commutative=True),
        _arithmetic("sub", "add", "fsub"),
        _arithmetic("mul", "mul", "fmul", commutative=True),
        _arithmetic("div", "div", "fdiv"),
        Operation("neg", 1, "neg", f"{{r}} = fneg {FLAGS} double {{a}}"),
        Operation("twice", 1, "add", f"{{r}} = fadd {FLAGS} double {{a}}, {{a}}"),
        Operation("sq", 1, "mul", f"{{r}} = fmul {FLAGS} double {{a}}, {{a}}"),
        Operation("inv", 1, "div", f"{{r}} = fdiv {FLAGS} double 1.0, {{a}}"),
        Operation("sqrt", 1, "sqrt", f"{{r}} = call {FLAGS} double @llvm.sqrt.f64(double {{a}})", "llvm.sqrt.f64"),
        _call("sin", "trig", "llvm.sin.f64"),
        _call("cos", "trig", "llvm.cos.f64"),
        _call("tan", "trig", "tan"),
        _call("asin", "trig", "asin"),
        _call("acos", "trig", "acos"),
        _call("atan", "trig", "atan"),
        _call("atan2", "trig", "atan2", 2),
        _call("exp", "call", "llvm.exp.f64"),
        _call("log", "call", "llvm.log.f64"),
        _call("pow", "call", "llvm.pow.f64", 2),
        _call("constpow", "call", "llvm.pow.f64", 2),
        _call("sinh", "call", "sinh"),
        _call("cosh", "call", "cosh"),
        _call("tanh", "call", "tanh"),
        _call("asinh", "call", "asinh"),
        _call("acosh", "call", "acosh"),
        _call("atanh", "call", "atanh"),
        _call("erf", "call", "erf"),
        _call("log1p", "call", "log1p"),
        _call("expm1", "call", "expm1"),
        _call("hypot", "call", "hypot", 2, commutative=True),
        _call("fmod", "call", "fmod", 2),
        _call("remainder", "call", "remainder", 2),
        _call("floor", "other", "llvm.floor.f64"),
        _call("ceil", "other", "llvm.ceil.f64"),
        _call("fabs", "other", "llvm.fabs.f64"),
        _call("copysign", "other", "llvm.copysign.f64", 2),
        _call("fmin", "other", "llvm.minnum.f64", 2),
        _call("fmax", "other", "llvm.maxnum.f64", 2),
        _compare("lt", "olt"),
        _compare("le", "ole"),
        _compare("eq", "oeq", commutative=True),
        _compare("ne", "une", commutative=True),
        _logic("and", "and"),
        _logic("or", "or"),
        Operation("not", 1, "other", _NOT),
        Operation("sign", 1, "other", _SIGN),
        Operation("if_else_zero", 2, "other", _IF_ELSE_ZERO),
    )
}

# operations that CasADi does not have, and `native.emit.tables` makes; the second operand is the number of a list
SEARCHES: dict[str, Operation] = {
    "place": Operation("place", 2, "other", "{r} = call double @closedchain_place{b}(double {a})"),
    "pick": Operation(
        "pick",
        2,
        "other",
        "{r}.i = fptosi double {a} to i64\n  {r}.p = getelementptr double, ptr @closedchain_list{b}, i64 {r}.i\n"
        "  {r} = load double, ptr {r}.p, align 8",
    ),
}

# instructions that carry no arithmetic; the tracer handles them itself
STRUCTURAL = ("const", "input", "output")

# what may look like a scalar operation but has no native form, with the sentence that the user gets
UNSUPPORTED = {
    "call": "a CasADi Function is called inside the expression; inline it (never_inline=False) before compiling",
    "erfinv": "the C library has no inverse error function; write an approximation of it",
    "parameter": "the expression has a free symbol; make it an input",
}


@cache
def codes() -> dict[int, str]:
    """Map from the operation codes of the installed CasADi to operation names.

    Examples
    --------
    >>> import casadi
    >>> codes()[casadi.OP_ADD]
    'add'
    """
    import casadi

    return {getattr(casadi, name): name[3:].lower() for name in dir(casadi) if name.startswith("OP_")}
