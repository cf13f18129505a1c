"""``closedchain info``: what a mechanism consists of, how it is cut, and what its equations cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from closedchain.cli.parts import output, source
from closedchain.cli.parts.exits import FAILED, GOOD, fail
from closedchain.cli.run import Method, formulation
from closedchain.errors import ClosedChainError

if TYPE_CHECKING:
    from closedchain.close.formulation import Formulation
    from closedchain.march.program.compiled import Compiled
    from closedchain.model.mechanism import Mechanism


def info(
    where: source.Where,
    method: Method = "multipliers",
    members: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Share out its limbs to so many ranks or threads, and show who has what."
        ),
    ] = None,
    as_json: output.Json = False,
) -> int:
    """Show what a mechanism is made of and how it is cut.

    Bodies, joints, limbs, cuts, counts, the pose at the start, parameters with their values, and the number of
    operations in the right-hand side of the equations of motion. A drawing that cannot be cut or assembled is shown as
    far as it goes, with the reason. With --members, what each limb costs, and which rank or thread of 'run
    --distributed' or 'run --threads' gets it.
    """
    with output.only_json(as_json):
        found = source.find(where)
        how = formulation(method)
        content = _drawing(found.mechanism)
        error = None
        try:
            content |= _cut(found.mechanism)
            content |= _cost(found, how, members)
        except ClosedChainError as trouble:
            error = str(trouble)
    if as_json:
        output.print_json(({"error": error} if error else {}) | content)
        return FAILED if error else GOOD
    _print(content, method)
    return fail(error, FAILED, as_json) if error else GOOD


# ---- facts ----------------------------------------------------------------------------------------------------------


def _drawing(m: Mechanism) -> dict[str, Any]:
    value = m.values()
    driven = {motor.joint for motor in m.motors.values()}
    return {
        "name": m.name,
        "gravity": [value(x) for x in m.gravity],
        "bodies": [
            {"name": b.name, "shape": b.kind, "mass": value(b.properties.mass), "frames": [*b.frames]}
            for b in m.bodies.values()
        ],
        "joints": [
            {
                "name": j.name,
                "kind": j.type.name,
                "from": j.a.body.name,
                "to": j.b.body.name,
                "freedoms": j.type.nv,
                "driven": j.name in driven,
            }
            for j in m.joints.values()
        ],
        "parameters": dict(m.parameters),
    }


def _cut(m: Mechanism) -> dict[str, Any]:
    from closedchain.cut.topology import cut

    topology = cut(m)
    return {
        "limbs": [[{"joint": k.joint.name, "body": k.body.name} for k in limb] for limb in topology.limbs],
        "cuts": [{"joint": j.name, "equations": 6 - j.type.nv} for j in topology.cuts],
        "counts": {
            "bodies": len(m.bodies),
            "joints": len(m.joints),
            "loops": len(topology.cuts),
            "coordinates": topology.nq,
            "velocities": topology.nv,
            "closure_equations_drawn": sum(6 - j.type.nv for j in topology.cuts),
            "parameters": len(m.parameters),
        },
    }


def _cost(found: source.Source, how: Formulation, members: int | None) -> dict[str, Any]:
    """What needs a closed pose: which closure equations are independent, and the operations of the right-hand side."""
    from dataclasses import asdict

    from closedchain.march.program.compiled import compiled
    from closedchain.pose.mobility import mobility

    start = found.start() if found.start is not None else found.mechanism.assemble()
    program = compiled(start, how)
    counts = program.rhs.counts
    return {
        "start": start.coordinates,
        "independent_closure_equations": len(program.rows),
        "freedoms": program.equations.topology.nv - len(program.rows),
        "mobility": asdict(mobility(found.mechanism, start)),
        "operations": {**asdict(counts), "total": counts.total},
        **({} if members is None else {"partition": _partition(program, members)}),
    }


def _partition(program: Compiled, members: int) -> dict[str, Any]:
    """Which member gets which limbs by what they cost, and what members then compute and send."""
    from closedchain.parallel.kernels import REDUCE
    from closedchain.parallel.teams import Threads

    team = Threads(members)
    team.refuse(program.method, "dop853")
    team.refuse_options(program)
    parts = team.cut(program)
    limbs = zip(parts.names, parts.costs, parts.member_of, strict=True)
    work = []
    for member in parts.rhs.members:
        sent = [p.length for parcels in member.parcels for p in parcels if p.sender == member.number]
        reduced = sum(step.received[1] for step in member.steps if step.then == REDUCE)
        numbers = {"messages": len(sent), "sent_bytes": 8 * sum(sent), "reduced_bytes": 8 * reduced}
        work.append({"operations": member.operations, **numbers})
    return {
        "limbs": [{"name": name, "operations": cost, "member": member} for name, cost, member in limbs],
        "members": work,
    }


def _mobility(found: dict[str, Any]) -> str:
    """Counted and true mobility in a line, with the reason where they differ."""
    text = f"{found['true']} (count of Gruebler and Kutzbach: {found['counted']}"
    if found["redundant"]:
        rows: dict[str, list[str]] = {}
        for joint, row in found["redundant"]:
            rows.setdefault(joint, []).append(row)
        text += "; redundant: " + "; ".join(f"{joint}: {', '.join(names)}" for joint, names in rows.items())
    return f"{text}); independent: {', '.join(found['independent']) or 'none'}"


# ---- tables ---------------------------------------------------------------------------------------------------------


def _print(content: dict[str, Any], method: str) -> None:
    where = {link["joint"]: f"limb {k + 1}" for k, limb in enumerate(content.get("limbs", [])) for link in limb}
    where |= {cut["joint"]: "cut" for cut in content.get("cuts", [])}

    gravity = ", ".join(f"{x:g}" for x in content["gravity"])
    counts = content.get("counts", {})
    facts = [("gravity", f"({gravity}) m/s^2"), *((k.replace("_", " "), str(n)) for k, n in counts.items())]
    if "cuts" in content:
        cuts = ", ".join(f"{cut['joint']} ({cut['equations']} equations)" for cut in content["cuts"])
        facts.append(("cuts", cuts or "none"))
    if "operations" in content:
        kinds = ", ".join(f"{n} {kind}" for kind, n in content["operations"].items() if n and kind != "total")
        facts += [
            ("closure equations independent", str(content["independent_closure_equations"])),
            ("freedoms", str(content["freedoms"])),
            ("mobility", _mobility(content["mobility"])),
            ("operations", f"{content['operations']['total']} in the right-hand side under {method} ({kinds})"),
        ]
    output.show(output.facts(content["name"], facts))

    bodies = [(b["name"], b["shape"], f"{b['mass']:.6g}", ", ".join(b["frames"])) for b in content["bodies"]]
    output.show(output.table(("body", "shape", "mass [kg]", "frames"), bodies, right=("mass [kg]",)))

    joints = [
        (
            j["name"],
            j["kind"],
            j["from"],
            j["to"],
            str(j["freedoms"]),
            "motor" if j["driven"] else "",
            where.get(j["name"], ""),
        )
        for j in content["joints"]
    ]
    columns = ("joint", "kind", "from", "to", "freedoms", "driven", "where")
    output.show(output.table(columns, joints, right=("freedoms",)))

    if "limbs" in content:
        limbs = [
            (f"limb {k + 1}", ", ".join(f"{link['joint']} > {link['body']}" for link in limb))
            for k, limb in enumerate(content["limbs"])
        ]
        output.show(output.table(("limb", "joint > body, from the ground outwards"), limbs))

    if "partition" in content:
        _print_partition(content["partition"], content["operations"]["total"])

    if "start" in content:
        start = [(name, f"{x:.6g}") for name, x in content["start"].items()]
        output.show(output.table(("coordinate", "at the start"), start, right=("at the start",)))
    parameters = [(name, f"{x:.6g}") for name, x in content["parameters"].items()]
    output.show(output.table(("parameter", "value"), parameters, right=("value",)))


def _print_partition(found: dict[str, Any], alone: int) -> None:
    limbs = [(limb["name"], str(limb["operations"]), str(limb["member"])) for limb in found["limbs"]]
    output.show(output.table(("limb", "operations if alone", "member"), limbs, right=("operations if alone",)))
    numbers = ("operations", "messages", "sent_bytes", "reduced_bytes")
    names = [
        ", ".join(limb["name"] for limb in found["limbs"] if limb["member"] == k) for k in range(len(found["members"]))
    ]
    rows = [
        (str(k), name, *(str(member[x]) for x in numbers))
        for k, (name, member) in enumerate(zip(names, found["members"], strict=True))
    ]
    columns = ("member", "limbs", "operations", "messages", "bytes sent", "bytes reduced")
    output.show(output.table(columns, rows, right=columns[2:]))
    busiest = max(member["operations"] for member in found["members"])
    output.show(
        f"at best {alone / busiest:.2f} times as fast as one process, by operations of the busiest member alone"
    )
