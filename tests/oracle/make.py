"""Makes the reference trajectories of the flexible mechanisms: ``python -m tests.oracle.make [NAME ...]``.

Each case is run four times (mesh and step as given, each halved, both halved). Rows are those of the finest run; the
changes on the way are stored beside them. Without a name all cases are made (about 40 minutes on one core).
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import exudyn
import numpy as np

from tests.oracle import mechanisms

HERE = Path(__file__).parents[1] / "reference" / "exudyn"
DEGREES = math.pi / 180


@dataclass(frozen=True)
class Case:
    """A motion of a mechanism: how to draw it with a mesh ``n`` times as fine, and what is kept of it."""

    about: str
    parameters: dict[str, Any]
    draw: Callable[[dict[str, Any], int], Any]
    table: Callable[[dict[str, np.ndarray]], dict[str, np.ndarray]]
    until: float
    step: float
    samples: int
    elements: str
    jumps: tuple[tuple[float, tuple[float, ...]], ...] = ()
    rho_inf: float = 1.0
    variants: dict[str, dict[str, Any]] = field(default_factory=dict)
    checked: str = ""

    def run(self, parameters: dict[str, Any], n: int, step: float) -> dict[str, np.ndarray]:
        """The columns of one run."""
        found = self.draw(parameters, n).march(self.until, step, self.samples, self.jumps, self.rho_inf)
        return self.table(found)


# ---- what is kept of a run


def chord(name: str, start: np.ndarray, end: np.ndarray, mid: np.ndarray | None = None) -> dict[str, np.ndarray]:
    """The angle and the stretch of the chord of a beam, and the deflection of its middle to the left of the chord."""
    d = end - start
    length = np.linalg.norm(d, axis=1)
    columns = {name: np.unwrap(np.arctan2(d[:, 1], d[:, 0]))}
    if mid is not None:
        m = mid - start
        columns["deflection"] = (d[:, 0] * m[:, 1] - d[:, 1] * m[:, 0]) / length
        columns["shortening"] = length[0] - length
    return columns


def of_four_bar(run: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {"t": run["t"], "theta": run["theta"]} | chord("alpha", run["A"], run["B"], run["mid"])


def of_slider_crank(run: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {"t": run["t"], "theta": run["theta"], "slider": run["B"][:, 0]} | chord(
        "rod", run["A"], run["B"], run["mid"]
    )


def of_arm(run: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    hub, (x, y) = run["hub"], run["tip"].T
    c, s = np.cos(hub), np.sin(hub)
    return {"t": run["t"], "hub": hub, "tip_x": x, "tip_y": y, "deflection": c * y - s * x}


def of_pacdrive(run: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    ground = {"3": np.array([[-0.05, 0.0]]), "4": np.array([[0.05, 0.0]])}
    columns = {"t": run["t"]}
    for name, joint in (("chord1", "3"), ("chord2", "4")):
        columns |= chord(name, ground[joint], run[joint])
    return columns | {"tip_x": run["tip"][:, 0], "tip_y": run["tip"][:, 1]}


def of_rrr3(run: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    columns = {"t": run["t"], "x": run["platform"][:, 0], "y": run["platform"][:, 1], "angle": run["angle"]}
    for k, polar in enumerate((210, 330, 90), 1):
        base = mechanisms.RRR3["base"] / math.sqrt(3) * mechanisms.along(polar * DEGREES)
        columns |= chord(f"chord{k}", base[None, :], run[f"elbow{k}"])
        columns[f"bend{k}"] = chord("", run[f"elbow{k}"], run[f"corner{k}"], run[f"mid{k}"])["deflection"]
    return columns


# ---- drives


def sine_squared(amplitude: float, duration: float) -> Callable[[float], float]:
    """One pulse from rest to rest."""
    return lambda t: amplitude * math.sin(math.pi * t / duration) ** 2 if t < duration else 0.0


def sine(amplitude: float, period: float) -> Callable[[float], float]:
    return lambda t: amplitude * math.sin(2 * math.pi * t / period)


def ramp(x: float) -> float:
    x = min(1.0, max(0.0, x))
    return x**3 * (10 - 15 * x + 6 * x**2)


def smooth_pulse(amplitude: float) -> Callable[[float], float]:
    """From 0.1 to 0.2 s, with ramps of 20 ms."""
    return lambda t: amplitude * (ramp((t - 0.1) / 0.02) - ramp((t - 0.2) / 0.02))


# ---- cases


def draw_four_bar(p, n):
    return mechanisms.four_bar(EI=p["EI"], EA=p["EA"], torque=p["torque"], elements=16 * n)


def draw_slider_crank(p, n):
    return mechanisms.slider_crank(**p, elements=8 * n)


def draw_arm(p, n):
    known = {name: x for name, x in p.items() if name not in ("amplitude", "duration")}
    return mechanisms.arm(**known, torque=sine_squared(p["amplitude"], p["duration"]), elements=8 * n)


def draw_pacdrive(p, n, mesh=8):
    torques = p["torques"]
    if p.get("smooth"):
        torques = tuple(smooth_pulse(x) for x in torques)
    q = tuple(x * DEGREES for x in p["q_degrees"])
    return mechanisms.pacdrive(q=q, qd=p["qd"], torques=torques, elements=(mesh * n, mesh * n // 4), E=p["E"])


def draw_fine_pacdrive(p, n):
    return draw_pacdrive(p, n, mesh=16)


def draw_rrr3(p, n):
    torques = tuple(sine(x, p["period"]) for x in p["amplitudes"])
    return mechanisms.rrr3(EI=p["EI"], EA=p["EA"], torques=torques, position=p["position"], elements=8 * n)


def blade(mass_per_length: float, thickness: float) -> tuple[float, float]:
    """E I and E A of a rectangle of steel (210e9 Pa, 7850 kg/m^3) with a mass per length, in the plane this thick."""
    section = mass_per_length / 7850.0
    return 210e9 * section * thickness**2 / 12, 210e9 * section


PROXIMAL, DISTAL = blade(3.0 / 0.4, 0.012), blade(4.0 / 0.6, 0.008)
WANG = 2831.5910045200003  # E I of the coupler, N m^2

CASES = {
    "flexible_four_bar": Case(
        about="Crank-rocker of Wang et al. (2002) with a flexible coupler (0.25 kg/m) pinned at both ends, rigid crank "
        "and rocker, torque 6 N m, undeformed and at rest at theta = pi/2. theta, alpha: angles of crank and chord of "
        "the coupler; deflection: of its middle from the chord, along n(alpha); shortening: of the chord. EA makes the "
        "stretch small beside the shortening by bending; the variants say how the answer depends on it.",
        parameters={"EI": WANG, "EA": 1e8, "torque": 6.0},
        draw=draw_four_bar,
        table=of_four_bar,
        until=2.0,
        step=2.5e-5,
        samples=80,
        elements="16 in the coupler",
        variants={
            "EI x 4": {"EI": 4 * WANG},
            "EI x 16": {"EI": 16 * WANG},
            "EI x 64": {"EI": 64 * WANG},
            "EA / 10": {"EA": 1e7},
            "EA x 10": {"EA": 1e9},
        },
        checked="geometrically exact beams with shear and rotary inertia (PlanarExact, 16 quadratic elements, EA = "
        "1e7, step 5e-5 s, rho_inf = 0.9) differ from variant EA / 10 by 2.8e-4 rad, 3.6e-4 m; EI x 1e4 and EA = 1e9 "
        "give the rigid crank's angle at 2 s to 2e-5 rad",
    ),
    "flexible_slider_crank": Case(
        about="Slider-crank of EXUDYN's test models (thin rods, rigid crank) with a rod of spring steel, 1.5 mm "
        "thick (the library's numbers; first pinned frequency 39.1 Hz), constant torque, no gravity, undeformed and at "
        "rest in the outer dead centre.",
        parameters={
            "crank": 0.1, "rod": 0.3, "crank_mass": 0.2, "rod_mass": 0.2, "slider_mass": 0.4,
            "EI": blade(0.2 / 0.3, 1.5e-3)[0], "EA": blade(0.2 / 0.3, 1.5e-3)[1], "torque": 0.1, "theta": 0.0,
        },
        draw=draw_slider_crank,
        table=of_slider_crank,
        until=1.0,
        step=2.5e-5,
        samples=50,
        elements="8 in the rod",
        variants={"EI x 4": {"EI": 4 * blade(0.2 / 0.3, 1.5e-3)[0]}},
    ),
    "flexible_arm": Case(
        about="A beam on a hub (inertia a tenth of the beam's) in a horizontal plane, along x at the start, driven by "
        "a torque amplitude sin^2(pi t/duration) until duration. hub: its angle; deflection: of the tip from the "
        "tangent at the hub.",
        parameters={
            "length": 0.5, "mass_per_length": 4.704, "EI": 100.0, "EA": 3e6, "hub_inertia": 0.0196, "amplitude": 10.0,
            "duration": 0.04,
        },
        draw=draw_arm,
        table=of_arm,
        until=0.5,
        step=1e-5,
        samples=50,
        elements="8",
        variants={"amplitude / 4": {"amplitude": 2.5}},
    ),
    "flexible_pacdrive": Case(
        about="PacDrive (Vidoni et al. 2012; missing data chosen as in the library), eleven beams, E = 5e9 N/m^2, 7840 "
        "kg/m^3, g = 9.81 along -y, undeformed at the start. From q = (-170, -10) degrees at rest; torques (-20, 20) "
        "N m between 0.1 and 0.2 s with ramps of 20 ms. chord1, chord2: directions of joints 1-3 and 2-4; tip: the "
        "end of link 5.",
        parameters={"q_degrees": (-170.0, -10.0), "qd": (0.0, 0.0), "torques": (-20.0, 20.0), "smooth": True, "E": 5e9},
        draw=draw_pacdrive,
        table=of_pacdrive,
        until=0.3,
        step=1e-5,
        samples=30,
        elements="8 in links of 0.2 and 0.5 m, 2 in the others",
        variants={"E x 4": {"E": 2e10}},
        checked="8 and 2 elements with a step of 5e-6 s reproduce a separately drawn model in Exudyn to all digits "
        "that it gives (5e-10); frequencies at the start are those of linear finite elements to 1e-6",
    ),
    "flexible_pacdrive_drop": Case(
        about="The same with torque steps: (-20, 20) N m for 0.1 <= t < 0.2 s. They excite many modes: the answer "
        "depends more on the mesh.",
        parameters={"q_degrees": (-170.0, -10.0), "qd": (0.0, 0.0), "torques": (0.0, 0.0), "E": 5e9},
        draw=draw_fine_pacdrive,
        table=of_pacdrive,
        until=0.3,
        step=1e-5,
        samples=30,
        elements="16 in links of 0.2 and 0.5 m, 4 in the others",
        rho_inf=0.9,  # undamped, the multipliers never come to rest after a jump
        jumps=((0.1, (-20.0, 20.0)), (0.2, (0.0, 0.0))),
    ),
    "flexible_pacdrive_pick": Case(
        about="The same robot, pick and place: from q = (-140, -40) degrees moving as the rigid one with (3, -3) "
        "rad/s; torques (-15, 15) N m in the first half of each 0.2 s, (5, -5) in the second. The steps "
        "excite many modes: the answer depends more on the mesh.",
        parameters={"q_degrees": (-140.0, -40.0), "qd": (3.0, -3.0), "torques": (-15.0, 15.0), "E": 5e9},
        draw=draw_fine_pacdrive,
        table=of_pacdrive,
        until=0.3,
        step=1e-5,
        samples=30,
        elements="16 in links of 0.2 and 0.5 m, 4 in the others",
        rho_inf=0.9,  # undamped, the multipliers never come to rest after a jump
        jumps=((0.1, (5.0, -5.0)), (0.2, (-15.0, 15.0))),
    ),
    "flexible_rrr3": Case(
        about="The 3-RRR of Raoofian et al. (2017) whose links are steel blades, 12 and 8 mm thick (the library's), "
        "rigid platform, horizontal plane, undeformed and at rest; torques amplitude sin(2 pi t/period). x, y, angle: "
        "of the platform; chord1 to chord3: directions from the motors to the elbows; bend1 to bend3: deflections "
        "of the middles of the distal links from their chords.",
        parameters={
            "EI": (PROXIMAL[0], DISTAL[0]), "EA": (PROXIMAL[1], DISTAL[1]), "amplitudes": (60.0, -60.0, 30.0),
            "period": 0.1, "position": (0.05, 0.0),
        },
        draw=draw_rrr3,
        table=of_rrr3,
        until=0.25,
        step=2e-5,
        samples=25,
        elements="8 in every link",
        variants={"EI x 4": {"EI": (4 * PROXIMAL[0], 4 * DISTAL[0])}},
    ),
}  # fmt: skip


def refined(case: Case, changed: dict[str, Any]) -> dict[str, Any]:
    """The finest of four runs, and how much mesh and step matter to it."""
    parameters = case.parameters | changed
    runs = {(n, k): case.run(parameters, n, case.step / k) for n in (1, 2) for k in (1, 2)}
    best = runs.pop((2, 2))
    names = {(1, 1): "both", (1, 2): "mesh", (2, 1): "step"}
    changes = {
        names[key]: {name: float(f"{np.abs(run[name] - x).max():.2g}") for name, x in best.items() if name != "t"}
        for key, run in runs.items()
    }
    rows = np.stack(list(best.values()), axis=1)
    return {
        "parameters": changed,
        "rows": [[float(f"{x:.11g}") for x in row] for row in rows],
        "change_when_halved": changes,
    }, list(best)


def make(name: str) -> None:
    """Runs one case and writes its file."""
    case = CASES[name]
    runs = {}
    for variant, changed in ({"": {}} | case.variants).items():
        print(name, variant or "as given", flush=True)
        runs[variant or "as given"], columns = refined(case, changed)
    checked = {"checked": case.checked} if case.checked else {}
    numbers = {
        "provenance": {
            "case": case.about,
            "obtained_by": f"Exudyn {exudyn.__version__}, elements ANCFCable2D (full integration), generalised-alpha "
            f"with rho_inf = {case.rho_inf:g} and a fixed step, index 3; tests/oracle/mechanisms.py draws it",
            "made_by": f"python -m tests.oracle.make {name}",
            "elements": f"twice as many as: {case.elements}",
            "step": case.step / 2,
            "change_when_halved": "largest change of each column from a run with half the elements (mesh), twice the "
            "step (step), or both; the rows themselves are off by some 1/15 of the first and 1/3 of the second",
            **checked,
        },
        "parameters": case.parameters | {"until": case.until, "jumps": case.jumps},
        "columns": columns,
        "runs": runs,
    }
    text = json.dumps(numbers, indent=1)
    (HERE / f"{name}.json").write_text(_rows_on_lines(text) + "\n")


def _rows_on_lines(text: str) -> str:
    """A row of numbers on one line."""
    lines, row = [], None
    for line in text.splitlines():
        if row is None and line.strip() == "[":
            row = [line]
        elif row is not None:
            row.append(line.strip())
            if line.strip() in ("]", "],"):
                lines.append(row[0] + " ".join(row[1:-1]) + row[-1])
                row = None
        else:
            lines.append(line)
    return "\n".join(lines)


if __name__ == "__main__":
    for chosen in sys.argv[1:] or CASES:
        make(chosen)
