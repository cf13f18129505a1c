"""Command lines made from the option tables: every verb, every option, values that fit and values that do not.

A call ends with 0 (or 3: finished, but its checks complain) and an answer on stdout; or with 1 or 2 and one sentence on
stderr, without a traceback or words of other libraries. With ``--json`` stdout is one JSON object in any case.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import typer
from typer.testing import CliRunner

from benchmarks.attack.bases import SMALL, pick
from benchmarks.attack.outcome import FOREIGN, Outcome, found, unforeseen
from closedchain.cli import app
from closedchain.cli.parts import exits
from closedchain.close.methods import METHODS
from closedchain.integrate.solvers import SOLVERS
from closedchain.model.library import FLEXIBLE

BUDGET = 180.0  # s of processor time: a comparison of several methods compiles each of them

BROKEN = [
    "", " ", "nan", "inf", "-inf", "-1", "0", "1e400", "1e-400", "abc", "a=b", "=", "O=", "=1", "O=nan", "x=1=2", ",",
    "a,,b", "../x", "null\0", "--", "ä" * 300, "[1", "1:2", "%s", "{}", "None", "O=1e300", "1j", "0x10", "1_0",
]  # fmt: skip

# values that fit, by metavar; where several options share one, by the option
FITTING: dict[str, list[str]] = {
    "NAME|FILE.py": [*SMALL, *SMALL, *FLEXIBLE, "hexaglide", "model.py", "nowhere.py", "broken.py", "folder"],
    "S": ["0.02", "0.05", "1e-3", "-0.05"],
    "--step": ["1e-3", "0.01"],
    "NUMBER": ["1e-5", "1e-8", "1e-3", "0.5"],
    "NUMBERS": ["1e-5,1e-7", "1e-6"],
    "N": ["1", "2", "5", "20"],
    "--max-steps": ["10", "1000", "100000"],
    "--workers": ["1", "2"],
    "K": ["1", "2", "0", "99"],
    "NAME": ["chord", "base", "consistent", "paper", "quintic", "cosine", "xy", "projection", "denoc"],
    "--method": [*METHODS, "erls"],
    "--solver": [*SOLVERS],
    "NAMES": ["O", "A,B", "O,C", "all", "hinge", "torques", "energy"],
    "--methods": [",".join(list(METHODS)[i : i + 2]) for i in range(0, 10, 2)],
    "--solvers": ["dop853", "dop853,radau5", "rk4"],
    "PARAM=VALUE": ["O.motor=3", "crank.length=1.1", "crank.mass=2", "hinge.motor=1", "gravity.y=-1.6"],
    "JOINT=VALUE": ["O=1.5", "O=0.1", "hinge=0.5", "A=0.3", "slide=0.2"],
    "NAME=VALUE": ["O=1", "O=2", "C=-1"],
    "NAME=VALUES": ["O.motor=1,2,3", "crank.length=0.9:1.1:3", "O.motor=normal(6,0.1)", "crank.mass=uniform(1,2)"],
    "NAME=WORDS": ["reach=max O", "top=max |O'|", "end=last O"],
    "COORDINATE": ["O", "A", "hinge"],
    "COORDINATE=A:B:N": ["O=0.5:1:3", "hinge=0:1:2"],
    "[TARGET=]KIND": ["circle", "O=sine", "line", "rose", "circle(0.05)", "O=line(0.5)"],
    "X,Y,Z": ["0,0,0", "0.1,0.2,0"],
    "WHO": ["everyone", "master"],
    "threads:N|ranks": ["threads:1", "threads:2"],  # not the ranks of an MPI job: there is none
    "[BODY=]N": ["1", "2", "beam=2", "coupler=1"],
    "--sampling": ["latin-hypercube", "monte-carlo"],
    "JOINTS": ["O", "all", "A,B"],
    "LABEL": ["1", "+", "elbow up"],
    "FILE": ["out.csv", "out.nc", "out.png", "out.svg", "out.html", "out.gif", "folder/x.csv", "no/such/x.csv", "xyz"],
    "FILE|FOLDER": ["out.csv", "out.nc", "out", "folder", "out.html", "out.svg", "out.gif", "model.py/x.csv"],
    "FOLDER": ["out", "folder", "model.py", "no/such"],
}  # fmt: skip

DEAR = ("demo", "reproduce")  # plots and whole papers: seldom
EVERY_METHOD = ("compare", "recommend")  # compile a dozen programs: minutes and gigabytes for the largest mechanisms
LARGE = ("hexaglide", "flexible-pacdrive", "flexible-rrr3")

MODEL = """import closedchain as cc
mechanism = cc.library.four_bar()
"""


@cache
def verbs() -> dict[str, Any]:
    """The commands with their parameters, as Typer has them."""
    return typer.main.get_command(app).commands  # type: ignore[attr-defined]


BY_TYPE = {
    float: ["0.01", "1", "1e-6"],
    int: ["1", "3"],
    str: ["O", "mechanisms", "methods", "papers", "wang2002", "x"],
}


def fitting(option: Any) -> list[str]:
    """Values that may fit an option or argument: from the table; of a new one by its type, default and help."""
    known = FITTING.get(option.opts[0]) or FITTING.get(str(option.metavar))
    if known:
        return known
    default = [] if option.default is None or isinstance(option.default, list | tuple) else [str(option.default)]
    return [*BY_TYPE.get(option.type_descriptor.annotation, BY_TYPE[str]), *default, *words_of(option.help or "")]


def words_of(text: str) -> list[str]:
    """Words that a help text puts into quotes."""
    return re.findall(r"'([^' ]+)'", text)


def value(rng: np.random.Generator, option: Any) -> str:
    """A value for an option or argument, which fits or not."""
    return pick(rng, BROKEN if rng.random() < 0.15 else fitting(option))


def takes_a_name(option: Any) -> bool:
    """Whether it stands alone, with a dash."""
    return option.opts[0].startswith("-")


def call(rng: np.random.Generator) -> list[str]:
    """A command line; half of them are made for an option, each of all commands as often as the others."""
    known = verbs()
    cheap = {name: verb for name, verb in known.items() if name not in DEAR}
    pairs = [(name, option) for name, verb in cheap.items() for option in verb.params if takes_a_name(option)]
    verb, wanted = pick(rng, pairs)
    if rng.random() < 0.5:
        verb, wanted = pick(rng, [*known, *9 * list(cheap)]), None
    words = [verb]
    options = [p for p in known[verb].params if takes_a_name(p)]
    for argument in (p for p in known[verb].params if not takes_a_name(p)):
        if rng.random() < 0.95 and verb != "reproduce":  # whole papers take minutes
            words.append(value(rng, argument))
    if verb in EVERY_METHOD:
        words = [pick(rng, SMALL) if word in LARGE else word for word in words]
    chosen = [o for o in options if o is wanted or rng.random() < min(0.5, 3.0 / len(options))]
    for option in options:
        if option.opts[0] in ("--until", "--workers") and option not in chosen:
            words += [option.opts[0], FITTING[option.opts[0] if option.opts[0] in FITTING else "S"][0]]
    for option in chosen:
        if option.opts[0] == "--all":
            continue
        for _ in range(2 if option.multiple and rng.random() < 0.3 else 1):
            words.append(pick(rng, [*option.opts, *option.secondary_opts]))
            if not option.is_flag:
                words.append(value(rng, option))
    if rng.random() < 0.05:
        words.append(pick(rng, ["--nonsense", "-x", "--until", "--until=", "extra"]))
    return words


def attack(rng: np.random.Generator) -> Outcome:
    """One call, in an empty folder."""
    words = call(rng)
    here = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="attack-") as folder:
        home = Path(folder)
        (home / "folder").mkdir()
        (home / "model.py").write_text(MODEL)
        (home / "broken.py").write_text("import closedchain as cc\nmechanism = cc.Mechanism(\n")
        os.chdir(folder)
        try:
            got = CliRunner().invoke(app, words, prog_name="closedchain", catch_exceptions=False)
        except Exception as error:
            return unforeseen(error, shlex.join(["closedchain", *words]))
        finally:
            os.chdir(here)
        return judged(words, got.exit_code, got.stdout, got.stderr)


def judged(words: list[str], code: int, out: str, err: str) -> Outcome:
    """Look at what a call left behind."""
    reproduce = shlex.join(["closedchain", *words])
    label = f"{words[0] if words and words[0] in verbs() else '?'} {code}"
    if code not in (exits.GOOD, exits.FAILED, exits.WRONG_USAGE, exits.DOUBTFUL):
        return found("exit code", f"exit code {code}: {err[-300:]}", reproduce)
    if "Traceback" in out + err or "not foreseen" in out + err:
        text = next((x for x in (out + err).splitlines() if "not foreseen" in x), err[-300:])
        return found("not foreseen", text[:400], reproduce)
    message = err
    if "--json" in words:
        try:
            answer = json.loads(out, parse_constant=refuse)
        except ValueError as error:
            return found(
                "stdout is no JSON", f"code {code}, {error}: {out[:200]!r}", reproduce, f"no JSON from {label}"
            )
        message = str(answer.get("error", "")) if isinstance(answer, dict) else ""
    failed = code in (exits.FAILED, exits.WRONG_USAGE)
    if failed and not message.strip():
        return found("failed without a word", f"exit code {code}, nothing on stderr", reproduce)
    if failed and "--json" not in words and not re.search(r"^error: ", err, re.MULTILINE):
        return found("no error on stderr", err[:300], reproduce)
    if not failed and not out.strip():
        return found("nothing on stdout", f"exit code {code}", reproduce, f"nothing on stdout of {label}")
    foreign = FOREIGN.search(message)
    if failed and foreign and foreign[0].lower() not in reproduce.lower():
        return found("in words of others", message[:400], reproduce)
    return Outcome(label)


def refuse(constant: str) -> None:
    """NaN and Infinity are no JSON."""
    raise ValueError(f"{constant} in JSON")
