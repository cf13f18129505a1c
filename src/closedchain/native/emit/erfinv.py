"""The inverse error function, which the C library does not have, in LLVM IR.

A rational start and three steps of Halley's method, on the side of erf or of erfc that has no
cancellation. It carries no fast-math flags: exactness matters, and nobody calls it in a hot loop.
"""

from __future__ import annotations

from closedchain.native.emit.literals import literal

NAME = "closedchain_erfinv"

# what the definition calls, with the number of operands
REQUIRES = {
    "erf": 1,
    "erfc": 1,
    "llvm.exp.f64": 1,
    "llvm.log.f64": 1,
    "llvm.sqrt.f64": 1,
    "llvm.fabs.f64": 1,
    "llvm.copysign.f64": 2,
}


def _horner(result: str, z: str, coefficients: tuple[float, ...]) -> str:
    """IR of a polynomial, highest power first."""
    lines, last = [], literal(coefficients[0])
    for i, c in enumerate(coefficients[1:]):
        this = result if i == len(coefficients) - 2 else f"{result}.{i}"
        lines.append(f"  {this}.m = fmul contract double {last}, {z}")
        lines.append(f"  {this} = fadd contract double {this}.m, {literal(c)}")
        last = this
    return "\n".join(lines)


def _halley(step: int, residual: str) -> str:
    """One step of Halley's method for erf(y) = a; erf''/erf' = -2 y, erf' = 2/sqrt(pi) exp(-y^2)."""
    y, n = f"%y{step}", f"%y{step + 1}"
    call = {
        "erf": f"  {y}.e = call double @erf(double {y})\n  {y}.r = fsub double {y}.e, %a",
        "erfc": f"  {y}.e = call double @erfc(double {y})\n  {y}.r = fsub double %t, {y}.e",
    }[residual]
    return f"""{call}
  {y}.yy = fmul double {y}, {y}
  {y}.x = call double @llvm.exp.f64(double {y}.yy)
  {y}.h = fmul double {y}.x, {literal(0.886226925452758)}
  {y}.u = fmul double {y}.r, {y}.h
  {y}.v = fmul double {y}, {y}.u
  {y}.w = fadd double 1.0, {y}.v
  {y}.d = fdiv double {y}.u, {y}.w
  {n} = fsub double {y}, {y}.d"""


DEFINITION = f"""
define internal double @closedchain_erfinv(double %x) noinline nounwind willreturn memory(none) {{
entry:
  %a = call double @llvm.fabs.f64(double %x)
  %inside = fcmp olt double %a, 1.0
  br i1 %inside, label %finite, label %edge
edge:
  %is_one = fcmp oeq double %a, 1.0
  %e = select i1 %is_one, double 0x7FF0000000000000, double 0x7FF8000000000000
  br label %done
finite:
  %central = fcmp olt double %a, 0.7
  br i1 %central, label %middle, label %tail
middle:
  %z = fmul double %a, %a
{_horner("%p", "%z", (-0.140543331, 0.914624893, -1.645349621, 0.886226899))}
{_horner("%q", "%z", (-0.329097515, 0.012229801, 1.442710462, -2.118377725, 1.0))}
  %pq = fdiv double %p, %q
  %y0 = fmul double %a, %pq
{_halley(0, "erf")}
{_halley(1, "erf")}
{_halley(2, "erf")}
  br label %done
tail:
  %t = fsub double 1.0, %a
  %t2 = fmul double %t, 0.5
  %l = call double @llvm.log.f64(double %t2)
  %ln = fneg double %l
  %s = call double @llvm.sqrt.f64(double %ln)
{_horner("%f", "%s", (1.641345311, 3.429567803, -1.624906493, -1.970840454))}
{_horner("%g", "%s", (1.637067800, 3.543889200, 1.0))}
  %y5 = fdiv double %f, %g
{_halley(5, "erfc")}
{_halley(6, "erfc")}
{_halley(7, "erfc")}
  br label %done
done:
  %y = phi double [ %e, %edge ], [ %y3, %middle ], [ %y8, %tail ]
  %r = call double @llvm.copysign.f64(double %y, double %x)
  ret double %r
}}"""
