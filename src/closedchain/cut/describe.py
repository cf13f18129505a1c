"""``print(mechanism)``: bodies, joints, limbs, cuts and counts as text.

The theory is in ``docs/theory/cut.md``.
"""

from __future__ import annotations

from collections.abc import Sequence

from closedchain.cut.topology import cut
from closedchain.errors import ModelError
from closedchain.model.mechanism import Mechanism


def describe(m: Mechanism) -> str:
    """Tables of bodies and joints, the limbs, the cuts, and the counts.

    A drawing that is not complete yet is still shown, with the reason why it cannot be cut.
    """
    value = m.values()
    lines = [f"{m.name}", ""]
    lines += table(
        ("body", "shape", "mass [kg]", "frames"),
        [(b.name, b.kind, f"{value(b.properties.mass):.6g}", ", ".join(b.frames)) for b in m.bodies.values()],
    )
    lines.append("")
    if m.flexible:
        stiff = [
            (x.body.name, *(f"{value(n):.6g}" for n in (x.length, x.E)), str(x.shapes.n)) for x in m.flexible.values()
        ]
        shapes = [", ".join(x.shapes.names) for x in m.flexible.values()]
        columns = ("flexible", "length [m]", "E [Pa]", "shapes", "names")
        lines += [*table(columns, [(*row, names) for row, names in zip(stiff, shapes, strict=True)]), ""]
    try:
        topology = cut(m)
    except ModelError as trouble:
        joints = [(j.name, j.type.name, j.a.body.name, j.b.body.name, str(j.type.nv)) for j in m.joints.values()]
        return "\n".join(
            [
                *lines,
                *table(("joint", "kind", "from", "to", "freedoms"), joints),
                "",
                f"not complete: {trouble}",
            ]
        )

    where = {link.joint.name: f"limb {link.limb + 1}" for link in topology.links}
    driven = {motor.joint for motor in m.motors.values()}
    rows = []
    for j in topology.joints:
        state = where.get(j.name, "cut")
        rows.append(
            (
                j.name,
                j.type.name,
                j.a.body.name,
                j.b.body.name,
                str(j.type.nv),
                "motor" if j.name in driven else "",
                state,
            )
        )
    lines += table(("joint", "kind", "from", "to", "freedoms", "driven", "where"), rows)
    lines.append("")
    for k, limb in enumerate(topology.limbs):
        lines.append(f"limb {k + 1}: " + ", ".join(f"{link.joint.name} > {link.body.name}" for link in limb))
    equations = sum(6 - j.type.nv for j in topology.cuts)
    lines.append("cuts: " + (", ".join(f"{j.name} ({6 - j.type.nv} equations)" for j in topology.cuts) or "none"))
    lines.append(
        f"{len(m.bodies)} bodies, {len(m.joints)} joints, {len(topology.cuts)} loop{'s' * (len(topology.cuts) != 1)}, "
        f"{topology.nv} velocities, {equations} closure equations drawn, {len(m.parameters)} parameters"
    )
    return "\n".join(lines)


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns padded to their widest entry."""
    widths = [max(len(r[i]) for r in [header, *rows]) for i in range(len(header))]
    line = "  ".join("-" * w for w in widths)
    return ["  ".join(x.ljust(w) for x, w in zip(r, widths, strict=True)).rstrip() for r in [header]] + [
        line,
        *("  ".join(x.ljust(w) for x, w in zip(r, widths, strict=True)).rstrip() for r in rows),
    ]
