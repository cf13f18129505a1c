"""An animation as one HTML page that needs nothing but itself: lines in a canvas, moved by a few lines of script.

The page has the points of every line with rigid links, and their elastic displacements beside them: how much these are
magnified is chosen while it plays. Drawings in space are turned with the mouse.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from closedchain.look.document import document
from closedchain.look.outline import Outline

STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: #222; background: #fff; margin: 1rem auto; max-width: 60rem; }
body { padding: 0 1rem; } h1 { font-size: 1.25rem; margin: 0 0 0.2rem; } .note { color: #555; margin: 0.2rem 0; }
canvas { max-width: 100%; max-height: 78vh; border: 1px solid #ddd; touch-action: none; }
.bar { display: flex; flex-wrap: wrap; gap: 0.4rem 1.2rem; align-items: center; margin: 0.5rem 0; }
.bar label { display: flex; gap: 0.5rem; align-items: center; } output { min-width: 5rem; }
button { font: inherit; min-width: 4.5rem; } .swatch { display: inline-block; width: 1.4rem; height: 0.3rem; }
"""

SCRIPT = """
const data = JSON.parse(document.getElementById("data").textContent);
const canvas = document.getElementById("view"), pen = canvas.getContext("2d");
const slider = document.getElementById("frame"), factor = document.getElementById("factor");
const play = document.getElementById("play"), speed = document.getElementById("speed");
let azimuth = -0.9, elevation = 0.45, playing = true, at = 0, last = null;
const flat = data.dims === 2;

function frame(list, i) { return list[Math.min(i, list.length - 1)]; }
function turned(p) {
  if (flat) return p;
  const c = Math.cos(azimuth), s = Math.sin(azimuth), ce = Math.cos(elevation), se = Math.sin(elevation);
  const x = c * p[0] - s * p[1], y = s * p[0] + c * p[1];
  return [x, ce * p[2] + se * y];
}
function points(line, i, by) {
  const rest = frame(line.rigid, i), away = frame(line.away, i);
  return rest.map((p, k) => p.map((x, j) => x + by * away[k][j]));
}
function scale() {
  const middle = turned(data.middle), size = data.size;
  const fit = Math.min(canvas.width, canvas.height) / size;
  const wide = flat ? Math.min(canvas.width / data.extent[0], canvas.height / data.extent[1]) : fit;
  return p => { const q = turned(p); return [canvas.width / 2 + wide * (q[0] - middle[0]),
                                             canvas.height / 2 - wide * (q[1] - middle[1])]; };
}
function stroke(to, list, colour, width, ring) {
  pen.beginPath();
  list.forEach((p, k) => { const [x, y] = to(p); k ? pen.lineTo(x, y) : pen.moveTo(x, y); });
  if (ring) pen.closePath();
  pen.strokeStyle = colour; pen.lineWidth = width; pen.lineCap = pen.lineJoin = "round"; pen.stroke();
}
function draw() {
  const i = Math.floor(at) % data.frames, by = Math.pow(10, factor.value), to = scale();
  pen.clearRect(0, 0, canvas.width, canvas.height);
  for (const line of data.lines) stroke(to, points(line, i, 0), "#b8b8b8", 3, line.ring);
  for (const line of data.lines) stroke(to, points(line, i, by), line.colour, 5, line.ring);
  points(data.pins, i, by).forEach((p, k) => {
    const [x, y] = to(p);
    pen.beginPath(); pen.arc(x, y, 6, 0, 2 * Math.PI); pen.fillStyle = data.grounded[k] ? "#b8b8b8" : "#fff";
    pen.fill(); pen.strokeStyle = "#222"; pen.lineWidth = 2; pen.stroke();
  });
  slider.value = i;
  document.getElementById("time").textContent = data.labels[i];
  document.getElementById("by").textContent = (by * data.unit).toPrecision(3) + data.suffix;
}
function tick(now) {
  if (playing && last !== null) at = (at + data.rate * speed.value * (now - last) / 1000) % data.frames;
  last = now;
  draw();
  requestAnimationFrame(tick);
}
play.onclick = () => { playing = !playing; play.textContent = playing ? "pause" : "play"; };
slider.oninput = () => { at = +slider.value; playing = false; play.textContent = "play"; };
let held = null;
canvas.onpointerdown = e => { held = [e.clientX, e.clientY]; canvas.setPointerCapture(e.pointerId); };
canvas.onpointerup = () => { held = null; };
canvas.onpointermove = e => {
  if (!held || flat) return;
  azimuth += (e.clientX - held[0]) / 150;
  elevation = Math.max(-1.5, Math.min(1.5, elevation + (e.clientY - held[1]) / 150));
  held = [e.clientX, e.clientY];
};
requestAnimationFrame(tick);
"""


@dataclass(frozen=True)
class Telling:
    """What the page says, and how it moves.

    Attributes
    ----------
    title, note
        Above the drawing.
    labels
        What is said at each sample.
    rate
        Samples in a second.
    colours
        By flexible body; others are dark.
    unit, suffix
        How the factor is told: times ``unit``, with ``suffix``.
    """

    title: str
    note: str
    labels: list[str]
    rate: float
    colours: dict[str, str]
    unit: float = 1.0
    suffix: str = " times"


def page(shape: Outline, magnify: float, telling: Telling) -> str:
    """The page as text.

    Parameters
    ----------
    shape
        What is drawn, sample by sample.
    magnify
        The factor on displacements to begin with.
    telling
        What it says.
    """
    content = _content(shape, magnify, telling)
    extent, flat = content["extent"], content["dims"] == 2
    height = int(np.clip(1200 * extent[1] / extent[0], 500, 1100)) if flat else 900
    start = float(np.log10(max(magnify, 1e-12)))
    text = json.dumps(content, separators=(",", ":")).replace("</", "<\\/")
    title, colours = escape(telling.title), telling.colours
    legend = "".join(
        f'<span><span class="swatch" style="background:{colour}"></span> {escape(body)}</span>'
        for body, colour in colours.items()
    )
    turn = "" if flat else " Drag to turn it."
    body = [
        f'<p class="note">{escape(telling.note)}{turn}</p>',
        f'<canvas id="view" width="1200" height="{height}" role="img" aria-label="{title}"></canvas>',
        '<div class="bar"><button id="play">pause</button>',
        f'<label>frame <input id="frame" type="range" min="0" max="{len(shape.t) - 1}" value="0"></label>',
        '<output id="time"></output>',
        '<label>speed <input id="speed" type="range" min="0.1" max="3" step="0.1" value="1"></label>',
        f'<label>displacements <input id="factor" type="range" min="{start - 2:.3f}" max="{start + 1:.3f}" '
        f'step="0.02" value="{start:.6f}"></label><output id="by"></output></div>',
        f'<div class="bar">{legend}</div>' if len(set(colours.values())) == len(colours) else "",
    ]
    scripts = [f'<script type="application/json" id="data">{text}</script>', f"<script>{SCRIPT}</script>"]
    return document(title, STYLE, body, scripts)


def _content(shape: Outline, magnify: float, telling: Telling) -> dict[str, Any]:
    """What the script draws."""
    plane = shape.plane()
    axes = np.eye(3) if plane is None else plane
    flat = plane is not None
    lines, pins = shape.magnified(magnify)
    every = np.concatenate([x.reshape(-1, 3) for x in (*shape.rigid, *lines, shape.pins[0], pins)]) @ axes.T
    low, high = every.min(axis=0), every.max(axis=0)
    extent = (high - low) + 0.12 * (high - low).max()
    reach = float(np.linalg.norm(every - (low + high) / 2, axis=1).max(initial=1e-300))
    digits = max(0, 6 - int(np.floor(np.log10(reach))))

    def pair(rigid: np.ndarray, bent: np.ndarray) -> dict[str, Any]:
        away = bent - rigid
        still = np.ptp(rigid, axis=0).max(initial=0.0) == 0
        finer = digits + max(0, int(np.ceil(np.log10(max(magnify, 1.0)))))
        return {
            "rigid": np.round((rigid[:1] if still else rigid) @ axes.T, digits).tolist(),
            "away": np.round(away @ axes.T, finer).tolist(),
        }

    return {
        "dims": 2 if flat else 3,
        "frames": len(shape.t),
        "rate": telling.rate,
        "labels": telling.labels,
        "unit": telling.unit,
        "suffix": telling.suffix,
        "middle": ((low + high) / 2).tolist(),
        "extent": extent.tolist(),
        "size": 2.1 * reach,
        "grounded": shape.grounded.tolist(),
        "pins": pair(*shape.pins),
        "lines": [
            {"ring": line.ring, "colour": telling.colours.get(line.body, "#222222"), **pair(rigid, bent)}
            for line, rigid, bent in zip(shape.lines, shape.rigid, shape.bent, strict=True)
        ],
    }
