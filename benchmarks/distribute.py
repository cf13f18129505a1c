"""Limbs on several processors: from which size it pays, how it scales, and a model for larger machines.

``python -m benchmarks.distribute`` takes some twenty minutes, most for tracing and compiling, and needs the extra
``mpi``; it starts jobs of ranks itself. Times are those of marches in compiled code, meetings included; the fastest of
several repeats counts, by turns with marches of one process. Load of others harms a team more than one process, since
all wait for the member that lost its processor: compare the efficiency of the fastest repeats with that of the medians.
Operations, messages and bytes are exact. A quick run has threads only.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from benchmarks.report import Report, Table, arguments, figure, finish
from benchmarks.teams import Case, Found, Measured, Model, Plan, find, model_of, plan, read
from closedchain.parallel.kernels import REDUCE
from closedchain.parallel.teams import Threads

LINKS = (4, 8, 16, 32, 64, 128, 256, 512)  # of each of two arms
HEAVY = LINKS[-1]
GOAL = 0.8  # efficiency of two ranks with heavy limbs
UNTIL = {4: 2.0, 8: 2.0, 16: 1.0, 32: 0.5}  # s, so that a march takes some milliseconds or more
SMALL = (
    Case("four_bar", method="Projection", until=10.0),
    Case("four_bar", method="VirtualSpring", until=1.0, rtol=1e-6),
    Case("rrr3", until=2.0),
    Case("gough_stewart", until=2.0),
    Case("gough_stewart", method="VirtualSpring", until=0.5, rtol=1e-6),
)
STRONG = Case("held", (4, 32), until=0.3)  # arms for up to four members
WEAK = 32  # links of an arm, an arm for each member
COUNTED = (12, 14)  # links from which counts for longer arms follow
MEMBERS = (1, 2, 4, 7, 8, 16)


def sized(links: int) -> Case:
    """Two arms of so many links."""
    return Case("held", (2, links), until=UNTIL.get(links, 0.25), repeats=20 if links < 256 else 10)


def on_ranks(members: int, cases: Sequence[Case]) -> Found:
    """Cases measured by a job of ranks."""
    beside = Path(sys.executable).parent / "mpiexec"
    mpiexec = str(beside) if beside.exists() else shutil.which("mpiexec")
    if mpiexec is None:
        raise SystemExit("ranks need mpiexec: pip install 'closedchain[mpi]'")
    bound = ["-bind-to", "core"] if members <= (os.cpu_count() or 1) else []
    return measured_by([mpiexec, *bound, "-n", f"{members}"], None, cases)


def on_threads(members: int, cases: Sequence[Case]) -> Found:
    """Cases measured by a process with threads."""
    return measured_by([], members, cases)


def measured_by(started_with: Sequence[str], threads: int | None, cases: Sequence[Case]) -> Found:
    """Start a job, and read what it found."""
    with tempfile.TemporaryDirectory() as folder:
        asked, answer = Path(folder, "asked.json"), Path(folder, "found.json")
        words = {"threads": threads, "cases": [asdict(case) for case in cases]}
        asked.write_text(json.dumps(words), encoding="utf-8")
        job = [*started_with, sys.executable, "-m", "benchmarks.teams", str(asked), str(answer)]
        # members take turns with one process, whose threads of linear algebra would still look for work
        alone = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
        folder_of_all = Path(__file__).resolve().parent.parent
        subprocess.run(job, check=True, cwd=folder_of_all, timeout=3600, env=alone)
        return read(answer.read_text(encoding="utf-8"))


# ---- tables ----------------------------------------------------------------------------------------------------------

PER_CALL = ("one process [us]", "team [us]", "efficiency", "of medians", "of rhs", "computing [us]", "waiting [us]")


def per_call(x: Measured) -> list[str]:
    """Figures of one evaluation, right-hand sides and corrections alike."""
    n = 1e-6 * x.calls
    computing, waiting = max(x.computing) / n, min(x.waiting) / n
    return [
        figure(min(x.alone) / n),
        figure(min(x.together) / n),
        f"{x.efficiency:.2f}",
        f"{x.usual_efficiency:.2f}",
        f"{x.rhs_efficiency:.2f}",
        figure(computing),
        figure(waiting),
    ]


def traffic(x: Measured) -> list[str]:
    """Messages and bytes of all members in an evaluation."""
    return [f"{sum(x.messages) / x.calls:.2f}", f"{sum(x.bytes) / x.calls:.0f}"]


def costs_of_meetings(everyone: Sequence[Found]) -> Table:
    """Latencies and bandwidths."""
    rows = []
    for found in everyone:
        m = found.meetings
        speeds = [f"{1e-9 / per_byte:.2g}" if per_byte else "" for _, per_byte in (m.exchange, m.reduction)]
        rows.append(
            [
                f"{m.members} {m.kind}s",
                figure(1e6 * m.exchange[0]),
                speeds[0],
                figure(1e6 * m.reduction[0]),
                speeds[1],
                figure(1e6 * m.gathering),
            ]
        )
    return Table(
        "What a meeting costs",
        ["team", "exchange, a [us]", "b [GB/s]", "reduction, a [us]", "b [GB/s]", "agreement [us]"],
        rows,
        "A meeting of n bytes takes a + n / b: by the code that runs go through, with no arithmetic between; the "
        "fastest of many batches. Agreements on a step have 40 bytes of each member.",
    )


def by_size(runs: Sequence[Measured], plans: dict[Case, Plan]) -> Table:
    """The size of limbs from which a team pays."""
    kind, members = runs[0].kind, runs[0].members
    rows = []
    for x in runs:
        made = plans[x.case]
        counts = [f"{made.alone[0]}", f"{max(sum(work.operations) for work in made.rhs)}"]
        rows.append([f"{x.case.sizes[1]}", *counts, *per_call(x), *traffic(x)])
    pays = next((x.case.sizes[1] for x in runs if min(x.together) < min(x.alone)), None)
    good = next((x.case.sizes[1] for x in runs if x.efficiency >= GOAL), None)
    said = [
        f"{members} {kind}s are faster than one process from {pays} links on"
        if pays
        else "no size here is faster on a team than in one process",
        f"have an efficiency of {GOAL} from {good} links on"
        if good
        else f"an efficiency of {GOAL} is not reached under this load",
    ]
    return Table(
        f"Two arms on {members} {kind}s",
        ["links of an arm", "operations", "of the busiest", *PER_CALL, "messages", "bytes"],
        rows,
        "Operations of the right-hand side, in one process and of the busiest member; other figures are for one "
        "evaluation (right-hand sides and corrections alike). Waiting is that of the member that waits least, "
        "meetings included. The efficiency of right-hand sides alone is that of the fastest of short batches: others "
        f"on the machine hardly change it. {'; '.join(said).capitalize()}.",
    )


def small_ones(runs: Sequence[Measured]) -> Table:
    """True figures of mechanisms of the papers."""
    rows = [[f"{x.case.name}, {x.members} {x.kind}s", *per_call(x), *traffic(x), f"{x.difference:.0e}"] for x in runs]
    return Table(
        "Small mechanisms",
        ["mechanism and team", *PER_CALL, "messages", "bytes", "difference"],
        rows,
        "Difference is the largest one of an entry of the state at the end, from that of one process: rounding as "
        "it has grown along the run (a start that differs in its last bit ends no nearer), and with springs what their "
        "stiffness makes of it.",
    )


def scaling(strong: Sequence[Measured], weak: Sequence[Measured]) -> Table:
    """The same work for more members, and more work for more members."""
    rows = []
    for title, runs in (("strong", strong), ("weak", weak)):
        for x in runs:
            first = min(runs[0].together) / runs[0].calls
            now = min(x.together) / x.calls
            grown = x.case.sizes[0] / runs[0].case.sizes[0]
            rows.append(
                [
                    f"{title}: {x.case.name}, {x.members} {x.kind}s",
                    figure(1e6 * now),
                    f"{grown * first / now:.2f}",
                    f"{grown * first / now / x.members:.2f}",
                    f"{100 * x.communication:.0f} %",
                ]
            )
    return Table(
        "Strong and weak scaling",
        ["arms and team", "evaluation [us]", "speed-up", "efficiency", "communication"],
        rows,
        f"Against a team of one; of weak scaling by the work done. This machine has {os.cpu_count()} processors: "
        "larger teams only show that they do not pay. Communication is the share of the member that waits least.",
    )


def beside_the_model(pairs: Sequence[tuple[Found, Measured, Plan]]) -> Table:
    """Predicted and measured times."""
    rows = []
    for found, x, made in pairs:
        model = model_of(x, made, found.meetings)
        computing, meeting = model.march(x, made)
        n = 1e-6 * x.calls
        rows.append(
            [
                f"{x.case.name}, {x.members} {x.kind}s",
                f"{1e9 * model.per_operation:.3f}",
                figure(computing / n),
                figure(meeting / n),
                figure((computing + meeting) / n),
                figure(min(x.together) / n),
                f"{min(x.together) / (computing + meeting):.2f}",
            ]
        )
    columns = ["mechanism and team", "operation [ns]", "computing [us]", "meetings [us]", "predicted [us]"]
    return Table(
        "The model beside what was measured",
        [*columns, "measured [us]", "ratio"],
        rows,
        "For one evaluation. Seconds an operation are those of one process, the rest follows from counts and from what "
        "meetings cost. Less than one: shorter code is faster by the operation, since caches hold it.",
    )


def larger_machines(model: Model, counts: Measured, plans: Sequence[tuple[str, Plan]]) -> Table:
    """What the model says of more members than there are processors here."""
    rows = []
    for title, made in plans:
        operations = counts.evaluations * made.alone[0] + counts.corrections * made.alone[1]
        alone = model.per_operation * operations
        computing, meeting = model.march(counts, made)
        members = len(made.rhs)
        speed_up = alone / (computing + meeting)
        busiest = max(sum(work.operations) for work in made.rhs)
        sent = max(sum(work.bytes) for work in made.rhs)
        rows.append(
            [
                f"{title}, {members}",
                f"{busiest}",
                f"{sent}",
                figure(1e6 * (computing + meeting) / counts.calls),
                f"{speed_up:.2f}",
                f"{speed_up / members:.2f}",
                f"{100 * meeting / (computing + meeting):.0f} %",
            ]
        )
    return Table(
        "Predicted for larger machines",
        ["mechanism, members", "operations", "bytes", "evaluation [us]", "speed-up", "efficiency", "meetings"],
        rows,
        "Operations of the right-hand side of the busiest member, and the most bytes that a member sends in it. With "
        "the operation and the meetings of two ranks as measured here; reductions and agreements of m members take "
        "ceil(log2 m) times as long as those of two. A team of one adds up (45) of Lilly and Orin as it stands, one "
        "process has the form that also serves chains with fewer freedoms than rows, and more operations.",
    )


def on_chains(plans: Sequence[tuple[int, int, Plan]]) -> Table:
    """O(N) + O(log m): what a member does does not depend on the number of chains."""
    rows = []
    for arms, links, made in plans:
        last = made.rhs[-1]
        reduced = sum(n for n, then in zip(last.bytes, last.then, strict=True) if then == REDUCE) // 8
        rows.append(
            [
                f"m = {arms}, N = {links}",
                f"{made.alone[0]}",
                f"{sum(made.rhs[0].operations)}",
                f"{sum(last.operations)}",
                f"{reduced}",
                f"{int(np.ceil(np.log2(arms)))}",
                f"{made.rhs[0].messages[0]}",
                f"{sum(made.correct[-1].operations)}",
            ]
        )
    columns = ["chains", "one process", "member 0", "others", "numbers reduced", "rounds", "messages", "correction"]
    return Table(
        "Operations of m chains of N links on m ranks (Lilly and Orin's O(N) + O(log m))",
        columns,
        rows,
        "Right-hand side under OperationalSpace; member 0 has the reference member, too, and tells each chain where it "
        "ends (27 operations and a message for each). The numbers reduced do not depend on m, and are added up in "
        "ceil(log2 m) rounds. A correction, once or twice a step, has a part that is common to all and grows with m.",
    )


def main(given: Sequence[str] | None = None) -> None:
    """Measure, and print the tables."""
    options = arguments(__doc__.partition("\n")[0], given)
    report = Report("distribute")
    if options.quick:
        report.tables += quick()
    else:
        report.tables += full()
    finish(report, options.markdown)


def quick() -> list[Table]:
    """Threads and the smallest arms only."""
    case, small = (replace(x, until=0.05, repeats=1) for x in (sized(3), SMALL[0]))
    found = find(Threads(2), [case, small], sizes=(2, 20), batches=3)
    one = find(Threads(1), [case], sizes=(2, 20), batches=3)
    plans = {case: plan(case, 2)}
    alone = plan(case, 1)
    first = found.runs[0]
    model = model_of(first, plans[first.case], found.meetings)
    return [
        costs_of_meetings([found]),
        by_size(found.runs[:1], plans),
        small_ones(found.runs[1:]),
        scaling([one.runs[0], first], [one.runs[0]]),
        beside_the_model([(one, one.runs[0], alone), (found, first, plans[first.case])]),
        larger_machines(model, first, [(first.case.name, alone), (first.case.name, plans[first.case])]),
        on_chains([(2, x.sizes[1], made) for x, made in plans.items()]),
    ]


def full() -> list[Table]:
    """All of it."""
    cases = [sized(n) for n in LINKS]
    weak = {m: Case("held", (m, WEAK), until=0.3) for m in (1, 2, 4)}
    plans = {case: plan(case, 2) for case in cases}

    # 16 arms are counted with few links, and as much is added for more links as one arm takes
    many = Case("held", (MEMBERS[-1], COUNTED[0]))
    short, longer = (plan(sized(links), 2) for links in COUNTED)
    more = (HEAVY - COUNTED[0]) / (COUNTED[1] - COUNTED[0])
    larger = [(f"{MEMBERS[-1]} arms of {HEAVY} links", plan(many, m).longer(short, longer, more)) for m in MEMBERS]
    platform = next(case for case in SMALL if case.family == "gough_stewart")
    larger += [(platform.name, plan(platform, m)) for m in (1, 2, 7)]
    chains = [(2, links, plans[sized(links)]) for links in LINKS[2:5]]
    chains += [(m, 16, plan(Case("held", (m, 16)), m)) for m in (4, 8)]

    pair = on_threads(2, [*cases, *SMALL])
    two = on_ranks(2, [*cases, *SMALL, STRONG, weak[2]])
    one = on_ranks(1, [STRONG, weak[1]])
    four = on_ranks(4, [replace(case, repeats=3) for case in (STRONG, weak[4])])
    n = len(cases)
    pairs = [(one, one.runs[0], plan(STRONG, 1))]
    for found in (pair, two):
        pairs += [(found, x, plans[x.case]) for x in found.runs[:n]]
    pairs.append((two, two.runs[-2], plan(STRONG, 2)))
    heavy = two.runs[n - 1]
    model = model_of(heavy, plans[heavy.case], two.meetings)
    return [
        costs_of_meetings([pair, two, four]),
        by_size(two.runs[:n], plans),
        by_size(pair.runs[:n], plans),
        small_ones([x for found in (two, pair) for x in found.runs[n : n + len(SMALL)]]),
        scaling([one.runs[0], two.runs[-2], four.runs[0]], [one.runs[1], two.runs[-1], four.runs[1]]),
        beside_the_model(pairs),
        larger_machines(model, heavy, larger),
        on_chains(chains),
    ]


if __name__ == "__main__":
    main()
