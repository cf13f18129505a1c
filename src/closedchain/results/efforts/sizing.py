"""What motors must be able to do along a motion: peaks and root mean squares of effort, speed and power."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.arguments import instance, known, suggest
from closedchain.errors import ModelError
from closedchain.model.actuators.base import ActuatorModel, effective
from closedchain.model.actuators.series_elastic import SeriesElastic

if TYPE_CHECKING:
    from rich.table import Table

    from closedchain.results.efforts.efforts import Efforts


@dataclass(frozen=True)
class Duty:
    """The duty of one actuator.

    Attributes
    ----------
    peak, peak_time
        Largest effort without its sign (N m or N), and when.
    rms
        Root mean square of the effort over the time of the motion: what heats a motor.
    top_speed
        rad/s or m/s.
    peak_power, least_power, mean_power
        W; a negative least power flows back.
    work
        What it puts in altogether, without what flows back, J.
    """

    name: str
    unit: str
    peak: float
    peak_time: float
    rms: float
    top_speed: float
    peak_power: float
    least_power: float
    mean_power: float
    work: float


@dataclass(frozen=True)
class Demand:
    """What a motor or cylinder needs of a quantity: its current, its voltage, its flow."""

    name: str
    quantity: str
    unit: str
    peak: float
    rms: float


@dataclass(frozen=True)
class Sizing:
    """The duties of all actuators; printed as a table.

    Attributes
    ----------
    duties
        One for each actuator.
    demands
        What motors and cylinders need inside, where a model of them is known.
    shortfalls
        What they cannot do: a sentence for each limit that is exceeded.
    """

    mechanism: str
    duties: tuple[Duty, ...]
    demands: tuple[Demand, ...] = ()
    shortfalls: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Duty:
        for duty in self.duties:
            if duty.name == name:
                return duty
        raise ModelError(f"there is no actuator {name!r}{suggest(name, [duty.name for duty in self.duties])}")

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary for each actuator."""
        return [vars(duty).copy() for duty in self.duties]

    def table(self) -> Table:
        """A rich table."""
        from rich import box
        from rich.table import Table
        from rich.text import Text

        out = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
        headings = ("actuator", "peak", "at [s]", "rms", "speed", "power [W]", "back [W]", "mean [W]")
        for heading in headings:
            left = heading == "actuator"
            out.add_column(Text(heading), justify="left" if left else "right", no_wrap=True)
        for x in self.duties:
            speed = "rad/s" if x.unit == "N m" else "m/s"
            cells = (
                x.name,
                f"{x.peak:.4g} {x.unit}",
                f"{x.peak_time:.3f}",
                f"{x.rms:.4g}",
                f"{x.top_speed:.3g} {speed}",
                *(_watts(power, x) for power in (x.peak_power, max(0.0, -x.least_power), x.mean_power)),
            )
            out.add_row(*map(Text, cells))
        return out

    def __str__(self) -> str:
        from rich.console import Console

        width = max(shutil.get_terminal_size((120, 40)).columns, 100)
        target = io.StringIO()
        console = Console(file=target, width=width, markup=False, highlight=False, emoji=False, color_system=None)
        console.print(self.table())
        if self.demands:
            console.print("\ninside, largest (rms):")
        for name in dict.fromkeys(x.name for x in self.demands):
            mine = [x for x in self.demands if x.name == name]
            said = ", ".join(f"{x.quantity} {x.peak:.4g} ({x.rms:.4g}) {x.unit}" for x in mine)
            console.print(f"  {name}: {said}", soft_wrap=True)
        for sentence in self.shortfalls:
            console.print(f"beyond its limits: {sentence}")
        return "\n".join(line.rstrip() for line in target.getvalue().splitlines())


def sizing(need: Efforts, models: ActuatorModel | Mapping[str, ActuatorModel] | None = None) -> Sizing:
    """What each motor must be able to do: peaks, root mean squares, speeds and powers.

    Parameters
    ----------
    need
        What the motion takes.
    models
        Motors or cylinders to try: one for all actuators, or some by name. What moves in them and rubs is added to the
        efforts. Those that are drawn in the mechanism (``m.actuator(...)``) are there already.
    """
    duties, demands, shortfalls = [], [], []
    for name, effort, speed, model in loads(need, models):
        duties.append(_duty(need, name, effort, speed))
        if model is None:
            continue
        for quantity, x in model.demand(effort, speed).items():
            peak = float(np.abs(x.values).max())
            demands.append(Demand(name, quantity, x.unit, peak, effective(x.values, need.t)))
        for over in model.limits(effort, speed, need.t):
            when = "" if over.sample is None else f" at t = {need.t[over.sample]:.4g} s"
            shortfalls.append(
                f"{name!r}: {over.what} {over.worst:.4g} {over.unit}{when}, the limit is {over.limit:.4g} {over.unit}"
            )
    return Sizing(need.mechanism.name, tuple(duties), tuple(demands), tuple(shortfalls))


Load = tuple[str, np.ndarray, np.ndarray, ActuatorModel | None]
"""An actuator, its efforts and speeds over time, and the model of its motor, if one is known"""


def loads(need: Efforts, models: ActuatorModel | Mapping[str, ActuatorModel] | None = None) -> Iterator[Load]:
    """What each actuator has to do, with the motor that is drawn or tried."""
    tried = models if isinstance(models, Mapping) else dict.fromkeys(need.actuators, models) if models else {}
    for name, chosen in tried.items():
        _check_model(need, name, chosen)
    for k, name in enumerate(need.actuators):
        effort, speed, model = need.tau[:, k], need.speed[:, k], drawn(need, name)
        if name in tried:
            if model is not None:
                raise ModelError(f"sizing: {name!r} has a motor in the drawing already")
            model = tried[name]
            effort = effort + own_load(model, speed, need.acceleration[:, k])
        yield name, effort, speed, model


def _check_model(need: Efforts, name: str, model: Any) -> None:
    known("sizing: no actuator is named", name, need.actuators)
    instance(f"sizing: {name!r}", model, ActuatorModel, "a model such as cc.DCMotor(...)")
    if isinstance(model, SeriesElastic):
        raise ModelError(
            f"sizing: {name!r} is to have a spring, which moves by itself: draw it with m.actuator(...), or try "
            "its motor alone, which is what it needs while the spring hardly moves"
        )
    if model.turns is not None and model.turns != (need.units[name] == "N m"):
        moves = "turns" if model.turns else "slides"
        raise ModelError(f"sizing: a {type(model).__name__} {moves}, but {name!r} does not")


def drawn(need: Efforts, name: str) -> ActuatorModel | None:
    """The model of an actuator that is drawn in the mechanism, with plain numbers."""
    freedom = need.freedoms[need.actuators.index(name)]
    for actuator in need.mechanism.actuators.values():
        if (actuator.joint, actuator.index) == freedom:
            return actuator.numbers(need.mechanism.values(need.motion.parameters))
    return None


def own_load(model: ActuatorModel, speed: np.ndarray, acceleration: np.ndarray) -> np.ndarray:
    """What a motor's own rotor and friction take, at the joint."""
    load = np.zeros_like(speed)
    if model.rotor is not None:
        inertia, ratio = map(float, model.rotor)  # type: ignore[arg-type]
        load += inertia * ratio**2 * acceleration
    if model.friction is not None:
        viscous, dry, velocity = map(float, model.friction)  # type: ignore[arg-type]
        load += viscous * speed + dry * np.tanh(speed / velocity)
    return load


def _watts(power: float, duty: Duty) -> str:
    """A power for a cell; what rounding left of none is none."""
    return f"{power if abs(power) > 1e-9 * duty.peak * duty.top_speed else 0.0:.3g}"


def _duty(need: Efforts, name: str, effort: np.ndarray, speed: np.ndarray) -> Duty:
    t, power = need.t, effort * speed
    size = np.abs(effort)
    peak = int(np.argmax(size >= (1 - 1e-9) * size.max()))  # the first one, whatever rounding says
    return Duty(
        name,
        need.units[name],
        float(abs(effort[peak])),
        float(t[peak]),
        effective(effort, t),
        float(np.abs(speed).max()),
        float(power.max()),
        float(power.min()),
        mean(t, power),
        integral(t, np.maximum(power, 0.0)),
    )


def mean(t: np.ndarray, values: np.ndarray) -> float:
    """Mean over time; of a single instant its value."""
    return integral(t, values) / float(t[-1] - t[0]) if len(t) > 1 else float(values[0])


def integral(t: np.ndarray, values: np.ndarray) -> float:
    """Over time, by the trapezoidal rule."""
    return float(np.sum(np.diff(t) * (values[1:] + values[:-1])) / 2)
