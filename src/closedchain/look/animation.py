"""Animations of runs and of modes, as GIF or as an HTML page: deformed mechanisms with magnified displacements."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from closedchain.arguments import needs, positive, whole
from closedchain.disk.names import named
from closedchain.disk.whole import write, written
from closedchain.errors import ModelError
from closedchain.look.animation_page import Telling, page
from closedchain.look.outline import VISIBLE, Outline, mode_outline, outline, run_outline
from closedchain.look.sketch import Sketch, magnification, told_factor, told_frequency
from closedchain.results.motion.motion import Motion
from closedchain.results.points import Points
from closedchain.results.run import Run
from closedchain.results.vibration.modal import Modes

ENDINGS = (".gif", ".html")
FRAMES = 80
SWING = 32  # frames of one swing of a mode
FPS = 20
SECONDS = 2.0  # in which a mode swings once


def animate(
    source: Run | Motion | Points,
    file: str | Path,
    *,
    magnify: float | None = None,
    frames: int = FRAMES,
    fps: int = FPS,
) -> Path:
    """Write an animation of a run: the deformed mechanism, and in grey the one with rigid links.

    Parameters
    ----------
    source
        A run, or another motion that knows where points of its bodies are.
    file
        Its ending says what is written: ``.gif``, or ``.html``, a page that needs nothing but itself, and on which the
        magnification can be changed.
    magnify
        Factor on elastic displacements. None: a round number that makes them visible.
    frames
        How many pictures, equally spread over the samples; a run with fewer samples has fewer.
    fps
        Pictures in a second.

    Returns
    -------
    Path
        The file.
    """
    target, kind = _target(file)
    needs("animate", source, (Run, Motion, Points), "a run or a motion")
    frames, fps = _pictures(frames, fps)
    t = np.asarray(source.t, float)
    if len(t) < 2:
        raise ModelError("an animation needs two samples at least")
    which = np.unique(np.linspace(0, len(t) - 1, min(frames, len(t))).round().astype(int))
    if isinstance(source, Run | Motion):
        shape = run_outline(source, which.tolist())
    else:
        shape = outline(source, source.mechanism.values(source.parameters)).some(which.tolist())
    factor = magnification(shape, magnify)
    labels = [f"t = {x:.3f} s" for x in shape.t]
    title = f"{shape.mechanism.name}: {told_factor(factor)}"
    if kind == ".html":
        lasts = shape.t[-1] - shape.t[0]
        note = f"{lasts:g} s in {len(labels) / fps:.3g} s. Grey: with rigid links, motors at the same coordinates."
        telling = Telling(f"{shape.mechanism.name}: flexible links", note, labels, fps, _colours(shape, factor))
        write(target, page(shape, factor, telling))
        return target
    return _gif(shape, factor, target, fps, lambda i: f"{title}\n{labels[i]}")


def animate_mode(
    about: Modes, mode: int, file: str | Path, *, amplitude: float = VISIBLE, frames: int = SWING, fps: int = FPS
) -> Path:
    """Write an animation of a mode: one swing, over and over.

    Parameters
    ----------
    about
        From `modes`.
    mode
        Number of the mode, from 1, as in its table.
    file
        ``.gif`` or ``.html``.
    amplitude
        Largest displacement in the picture, as a part of the mechanism's size.
    frames, fps
        How many pictures a swing has, and how many a second.

    Returns
    -------
    Path
        The file.
    """
    target, kind = _target(file)
    frames, fps = _pictures(frames, fps)
    amplitude = positive("amplitude", amplitude)
    i = about.number(mode)
    shape = mode_outline(about, mode, np.linspace(0, 2 * np.pi, frames, endpoint=False))
    factor = amplitude * shape.size
    bodies = about.deforms()[i]
    title = f"{shape.mechanism.name}, mode {mode}: {told_frequency(about, mode)}"
    told = "" if bodies == "-" else f"Deforms: {bodies} (share of the energy). "
    if kind == ".html":
        telling = Telling(
            title,
            f"{told}Grey: at rest.",
            [f"{360 * n // frames} deg" for n in range(frames)],
            frames / SECONDS,
            _colours(shape, factor),
            100 / shape.size,
            " % of its size",
        )
        write(target, page(shape, factor, telling))
        return target
    return _gif(shape, factor, target, fps, lambda _: title + (f"\n{told.strip()}" if told else ""))


def _target(file: str | Path) -> tuple[Path, str]:
    if not isinstance(file, str | Path) or Path(file).suffix.lower() not in ENDINGS:
        raise ModelError(f"an animation is written to a .gif or .html file, not to {str(file)!r}")
    target = named("file", file)
    if not target.parent.is_dir():
        raise ModelError(f"an animation cannot be written to {str(file)!r}: there is no folder {str(target.parent)!r}")
    return target, target.suffix.lower()


def _pictures(frames: int, fps: int) -> tuple[int, int]:
    """How many pictures, and how many in a second, checked."""
    whole("frames", frames, 2)
    positive("fps", fps)
    return int(frames), fps


def _colours(shape: Outline, factor: float) -> dict[str, str]:
    from matplotlib.figure import Figure

    return Sketch(shape, factor, Figure()).colour


def _gif(shape: Outline, factor: float, target: Path, fps: int, title: Callable[[int], str]) -> Path:
    from matplotlib.animation import FuncAnimation, PillowWriter
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.8), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    sketch = Sketch(shape, factor, figure)
    head = figure.suptitle(title(0), fontsize="medium")
    drawn: list[Any] = []

    def show(i: int) -> list[Any]:
        while drawn:
            drawn.pop().remove()
        drawn.extend(sketch.draw(i))
        head.set_text(title(i))
        return drawn

    show(0)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # arranged once: the pictures differ in their lines only
    moving = FuncAnimation(figure, show, frames=len(shape.t), init_func=lambda: drawn, cache_frame_data=False)
    with written(target) as fresh:
        moving.save(fresh, writer=PillowWriter(fps=fps))
    return target
