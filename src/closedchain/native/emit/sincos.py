"""Sine and cosine of several angles at once, in LLVM IR with vectors.

Argument reduction after Cody and Waite with fused multiply-adds: ``x = k pi/2 + (r + y)``, with pi/2 in three parts of
53 bits. The first difference is exact, and ``y`` carries what ``r`` rounds away. The polynomials are those of fdlibm's
``__kernel_sin`` and ``__kernel_cos``. Errors are below one unit in the last place. Angles beyond the limit, infinities
and NaNs go to the C library, one by one.
"""

from __future__ import annotations

from closedchain.native.emit.literals import literal

_PI_HALF = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33)
_LIMIT = 1e6
_SINE = (
    1.58969099521155010221e-10,
    -2.50507602534068634195e-08,
    2.75573137070700676789e-06,
    -1.98412698298579493134e-04,
    8.33333333332248946124e-03,
)
_SINE_FIRST = -1.66666666666666324348e-01
_COSINE = (
    -1.13596475577881948265e-11,
    2.08757232129817482790e-09,
    -2.75573143513906633035e-07,
    2.48015872894767294178e-05,
    -1.38888888888741095749e-03,
    4.16666666666666019037e-02,
)
# adding 1.5 * 2^52 rounds to an integer and leaves it in the low bits
_ROUND = 6755399441055744.0


class _Vector:
    """Writes IR for vectors of doubles, one instruction a line."""

    def __init__(self, width: int) -> None:
        self.width, self.type, self.bits = width, f"<{width} x double>", f"<{width} x i64>"
        self.lines: list[str] = []
        self._number = 0

    def emit(self, text: str) -> str:
        self._number += 1
        self.lines.append(f"  %n{self._number} = {text}")
        return f"%n{self._number}"

    def constant(self, value: float | int) -> str:
        item = f"i64 {value}" if isinstance(value, int) else f"double {literal(value)}"
        return f"<{', '.join([item] * self.width)}>"

    def operate(self, instruction: str, a: str, b: str) -> str:
        return self.emit(f"{instruction} {self.type} {a}, {b}")

    def integer(self, instruction: str, a: str, b: str) -> str:
        return self.emit(f"{instruction} {self.bits} {a}, {b}")

    def fma(self, a: str, b: str, c: str) -> str:
        t = self.type
        return self.emit(f"call {t} @llvm.fma.v{self.width}f64({t} {a}, {t} {b}, {t} {c})")

    def polynomial(self, z: str, coefficients: tuple[float, ...]) -> str:
        value = self.constant(coefficients[0])
        for c in coefficients[1:]:
            value = self.fma(value, z, self.constant(c))
        return value


def sincos_name(width: int) -> str:
    """The function for ``width`` angles."""
    return f"closedchain_sincos{width}"


def sincos_definition(width: int) -> str:
    """IR of a function that returns the sines and the cosines of ``width`` angles."""
    v = _Vector(width)
    pair = f"{{ {v.type}, {v.type} }}"
    # x = k pi/2 + (r + y)
    shifted = v.fma("%x", v.constant(0.6366197723675814), v.constant(_ROUND))
    quadrant = v.emit(f"bitcast {v.type} {shifted} to {v.bits}")
    k = v.operate("fsub", shifted, v.constant(_ROUND))
    minus_k = v.emit(f"fneg {v.type} {k}")
    t = v.fma(minus_k, v.constant(_PI_HALF[0]), "%x")
    # r = t + p with p = -k P2, and y = the rounding errors of the product and of the sum (Knuth), and the third part
    p = v.operate("fmul", minus_k, v.constant(_PI_HALF[1]))
    p_error = v.fma(minus_k, v.constant(_PI_HALF[1]), v.emit(f"fneg {v.type} {p}"))
    r = v.operate("fadd", t, p)
    p_seen = v.operate("fsub", r, t)
    t_error = v.operate("fsub", t, v.operate("fsub", r, p_seen))
    r_error = v.operate("fadd", t_error, v.operate("fsub", p, p_seen))
    y = v.fma(minus_k, v.constant(_PI_HALF[2]), v.operate("fadd", r_error, p_error))
    z = v.operate("fmul", r, r)
    # sine: r - ((z (y/2 - r^3 p) - y) - r^3 S1)
    cube = v.operate("fmul", z, r)
    p = v.polynomial(z, _SINE)
    half_y = v.operate("fmul", y, v.constant(0.5))
    inner = v.operate("fsub", half_y, v.operate("fmul", cube, p))
    inner = v.operate("fsub", v.operate("fmul", z, inner), y)
    inner = v.operate("fsub", inner, v.operate("fmul", cube, v.constant(_SINE_FIRST)))
    sine = v.operate("fsub", r, inner)
    # cosine: w + (((1 - w) - z/2) + (z q - r y)), with w = 1 - z/2
    q = v.operate("fmul", z, v.polynomial(z, _COSINE))
    half_z = v.operate("fmul", z, v.constant(0.5))
    w = v.operate("fsub", v.constant(1.0), half_z)
    rest = v.operate("fsub", v.operate("fsub", v.constant(1.0), w), half_z)
    tail = v.operate("fsub", v.operate("fmul", z, q), v.operate("fmul", r, y))
    cosine = v.operate("fadd", w, v.operate("fadd", rest, tail))
    # odd quadrants exchange the two; bit 1 of k and of k + 1 are their signs
    odd = v.emit(f"trunc {v.bits} {quadrant} to <{width} x i1>")
    results = []
    for one, other, offset in ((sine, cosine, 0), (cosine, sine, 1)):
        value = v.emit(f"select <{width} x i1> {odd}, {v.type} {other}, {v.type} {one}")
        bit = v.integer("and", v.integer("add", quadrant, v.constant(offset)), v.constant(2))
        sign = v.integer("shl", bit, v.constant(62))
        flipped = v.integer("xor", v.emit(f"bitcast {v.type} {value} to {v.bits}"), sign)
        results.append(v.emit(f"bitcast {v.bits} {flipped} to {v.type}"))
    fast = v.lines
    # beyond the limit: the library, angle by angle; the others keep their values, whatever their neighbours are
    v.lines = []
    for i in range(width):
        inside = v.emit(f"extractelement <{width} x i1> %inside, i32 {i}")
        x = v.emit(f"extractelement {v.type} %x, i32 {i}")
        for place, function in enumerate(("sin", "cos")):
            known = v.emit(f"extractelement {v.type} {results[place]}, i32 {i}")
            exact = v.emit(f"call double @llvm.{function}.f64(double {x})")
            value = v.emit(f"select i1 {inside}, double {known}, double {exact}")
            results.append(v.emit(f"insertelement {v.type} {results[-2]}, double {value}, i32 {i}"))
    sines, cosines = results[-2:]
    return "\n".join(
        [
            f"define internal {pair} @{sincos_name(width)}({v.type} %x) noinline nounwind willreturn memory(none) {{",
            f"  %size = call {v.type} @llvm.fabs.v{width}f64({v.type} %x)",
            # an ordered comparison: a NaN is not inside
            f"  %inside = fcmp ole {v.type} %size, {v.constant(_LIMIT)}",
            f"  %all = call i1 @llvm.vector.reduce.and.v{width}i1(<{width} x i1> %inside)",
            *fast,
            "  br i1 %all, label %fast, label %library\nfast:",
            f"  %f1 = insertvalue {pair} poison, {v.type} {results[0]}, 0",
            f"  %f2 = insertvalue {pair} %f1, {v.type} {results[1]}, 1",
            f"  ret {pair} %f2\nlibrary:",
            *v.lines,
            f"  %l1 = insertvalue {pair} poison, {v.type} {sines}, 0",
            f"  %l2 = insertvalue {pair} %l1, {v.type} {cosines}, 1",
            f"  ret {pair} %l2\n}}",
        ]
    )


def sincos_calls(width: int) -> list[str]:
    """Declarations of the vector functions that it calls."""
    kind = f"<{width} x double>"
    return [
        f"declare {kind} @llvm.fma.v{width}f64({kind}, {kind}, {kind})",
        f"declare {kind} @llvm.fabs.v{width}f64({kind})",
        f"declare i1 @llvm.vector.reduce.and.v{width}i1(<{width} x i1>)",
    ]
