"""Operation counts and digests of trajectories: shows that a change of the code changed no number.

``python -m tools.same_numbers --write FILE`` before the change and ``--against FILE`` after it. Counts are exact.
Digests cover every value of a run's data set, bit for bit: they compare within one machine and ``CLOSEDCHAIN_CPU``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np

import closedchain as cc
from closedchain import processor
from closedchain.close.methods import METHODS
from closedchain.integrate import solvers
from closedchain.integrate.solvers import marching
from closedchain.testing.operations import cost

SOLVERS = ("dopri5", "auto", "radau5", "rodas5p", "rk4", "semi-implicit-euler", "rosenbrock2", "cvodes")
ERLS_SOLVERS = ("esdirk4", "generalised-alpha")


def stepping(name: str) -> solvers.Solver:
    """A solver with its defaults, and steps of 1 ms if they are fixed."""
    kind = solvers.SOLVERS[name]
    return kind() if kind.adaptive else kind(step=1e-3)  # type: ignore[call-arg]


def digest(*values: Any) -> str:
    """A short digest of arrays, bit for bit."""
    found = hashlib.sha256()
    for value in values:
        array = np.ascontiguousarray(value)
        found.update(str(array.shape).encode() + array.tobytes())
    return found.hexdigest()[:16]


def of_run(run: Any) -> str:
    """Digest of all that a run's data set holds."""
    data = run.dataset
    return digest(*(data[name].values for name in sorted(map(str, data.data_vars)) if data[name].dtype.kind == "f"))


def counts(names: Sequence[str]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Operations of right-hand side, correction and preparation, by mechanism and formulation."""
    for name in names:
        m = cc.library.get(name).build()
        for method, formulation in METHODS.items():

            def counted(m: cc.Mechanism = m, formulation: Any = formulation) -> Any:
                c = cost(m, formulation)
                return [c.freedoms, c.rows, *(list(astuple(x)) for x in (c.rhs, c.correct, c.prepare))]

            yield f"count {name} {method}", counted


def runs(names: Sequence[str]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Runs of every kind: mechanisms by formulations, solvers, and the other verbs."""
    for name in names:
        m = cc.library.get(name).build()
        for method, formulation in METHODS.items():
            solver = stepping(marching(formulation.kind)[0])
            rtol = 1e-5 if "spring" in method or "modified" in method else 1e-8
            options = {
                "until": 0.05,
                "t_eval": np.linspace(0.0, 0.05, 11),
                "method": formulation,
                "rtol": rtol,
                "solver": solver,
            }
            yield f"run {name} {method}", lambda m=m, o=options: of_run(cc.simulate(m, m.assemble(), **o))
    fourbar = cc.library.four_bar()
    for name in SOLVERS:
        options = {"until": 0.3, "t_eval": np.linspace(0.0, 0.3, 31), "solver": stepping(name), "rtol": 1e-8}
        yield f"solver {name}", lambda o=options: of_run(cc.simulate(fourbar, **o))
    flexible = cc.library.four_bar(flexible=True)
    for solver in ERLS_SOLVERS:
        o = {"until": 0.01, "t_eval": np.linspace(0.0, 0.01, 11), "method": cc.ERLS(), "solver": solver}
        yield f"erls {solver}", lambda o=o: of_run(cc.simulate(flexible, **o))
    yield "erls modes", lambda: digest(flexible.modes(method=cc.ERLS()).frequencies)
    yield "linearise", lambda: digest(cc.library.delta().linearise().A)
    yield "threads", lambda: of_run(_on_threads())
    yield "reactions", lambda: digest(*_reactions())
    yield "inverse dynamics", lambda: digest(_torques())
    yield "sweep", lambda: digest(*_swept())
    yield "equilibrium", lambda: digest(cc.library.pendulum().equilibrium().q)
    yield "assembly", lambda: digest(*(x.state.q for x in cc.library.five_bar().assemblies()))


def _on_threads() -> Any:
    m = cc.library.gough_stewart()
    return cc.simulate(m, until=0.05, t_eval=np.linspace(0, 0.05, 6), partition=cc.Threads(2))


def _reactions() -> list[Any]:
    run = cc.simulate(cc.library.gough_stewart(), until=0.1, t_eval=np.linspace(0, 0.1, 11))
    joints = [name for name in run.mechanism.joints if name != "pose"]
    return [np.asarray(run.reaction(name).force) for name in joints]


def _torques() -> Any:
    return np.asarray(cc.inverse_dynamics(cc.library.four_bar(), {"O": lambda t: 1.0 + t}, until=0.5)["O"])


def _swept() -> list[Any]:
    m = cc.library.four_bar()
    study = cc.sweep(m, {"coupler.mass": [0.5, 1.0, 2.0]}, until=0.2)
    return [study[name].values for name in sorted(map(str, study.data_vars)) if study[name].dtype.kind == "f"]


def measure(cases: Sequence[tuple[str, Callable[[], Any]]]) -> dict[str, Any]:
    """Result of every case; a refusal counts as its sentence."""
    found: dict[str, Any] = {"CLOSEDCHAIN_CPU": processor.setting()}
    for name, case in cases:
        try:
            found[name] = case()
        except cc.ClosedChainError as error:
            found[name] = f"{type(error).__name__}: {error}"
        print(f"{name}: {found[name]}", flush=True)
    return found


def main(given: Sequence[str] | None = None) -> int:
    """Write the numbers, or compare with numbers written before."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", type=Path, help="file for the numbers")
    parser.add_argument("--against", type=Path, help="file with numbers of another version")
    parser.add_argument("--mechanisms", nargs="+", default=[*cc.library.MECHANISMS, *cc.library.FLEXIBLE])
    options = parser.parse_args(given)
    found = measure([*counts(options.mechanisms), *runs(options.mechanisms)])
    if options.write:
        options.write.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if not options.against:
        return 0
    before = json.loads(options.against.read_text(encoding="utf-8"))
    shared = [name for name in before if name in found]
    changed = [name for name in shared if before[name] != found[name]]
    for name in changed:
        print(f"CHANGED {name}: {before[name]} -> {found[name]}")
    print(f"{len(shared)} of {len(before)} compared, {len(changed)} changed")
    return 1 if changed else 0


if __name__ == "__main__":
    raise SystemExit(main())
