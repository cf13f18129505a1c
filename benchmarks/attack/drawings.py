"""Random drawings with random faults.

Every outcome is a run that is honest about itself, or a `ClosedChainError` that names the culprit. `honest` looks again
at a run that says it is good; a run that is not good must have warned; no other exception, no warning of another
library and no word of theirs may reach the user.
"""

from __future__ import annotations

import copy
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import closedchain as cc
from benchmarks.attack.bases import act, pick, random_data
from benchmarks.attack.data import Data, as_python, simulated
from benchmarks.attack.honest import complaints
from benchmarks.attack.outcome import FOREIGN, Outcome, found, unforeseen
from closedchain.close.methods import METHODS
from closedchain.integrate.solvers import SOLVERS
from closedchain.model.joints.types import JOINT_TYPES

BUDGET = 120.0  # s of processor time: a search for an assembly, a compilation and 20,000 steps take a few
MOST_STEPS = 20_000
OPTIONS = (
    "until rtol atol method solver step every max_step first_step tolerance gravity hold velocity guess name begin "
    "singularity max_steps t_eval"
).split()

# ---- faults: each changes the data, and says in a word what it did ---------------------------------------------------


def leaves(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths to all that is no container."""
    for key, value in data.items() if isinstance(data, dict) else enumerate(data):
        if isinstance(value, dict | list):
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key)


def get(data: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        data = data[key]
    return data


def put(data: Any, path: tuple[Any, ...], value: Any) -> None:
    get(data, path[:-1])[path[-1]] = value


def last_key(path: tuple[Any, ...]) -> str:
    """What the number is: "mass", "R", ..."""
    return next(key for key in reversed(path) if isinstance(key, str))


def bad_number(rng: np.random.Generator, data: Data) -> str:
    """One number becomes another, or none."""
    paths = [p for p in leaves(data) if type(get(data, p)) is float]
    key = pick(rng, dict.fromkeys(last_key(p) for p in paths))  # masses as often as entries of matrices
    path = pick(rng, [p for p in paths if last_key(p) == key])
    x = get(data, path)
    y = pick(
        rng,
        [
            np.nan, np.inf, -np.inf, 1e300, -1e300, 1e-300, 5e-324, 0.0, -x, x * 1e20, x * 1e-20, x * 1e6, x * 1e-6,
            x * (1 + 1e-6), x + 1e-7, "1.0", "text", None, True, [], {}, [x, x], 1j, 10**400,
        ],
    )  # fmt: skip
    put(data, path, y)
    return f"number {'.'.join(map(str, path))} = {str(y)[:40]}"


def is_method(path: tuple[Any, ...]) -> bool:
    """Whether it is the name of a method of `cc.Mechanism`, which Python itself looks up."""
    return path[0] == "calls" and path[2:] == (0,)


def bad_name(rng: np.random.Generator, data: Data) -> str:
    """A name that nothing has, that is taken, or that cannot be one."""
    path = pick(rng, [p for p in leaves(data) if isinstance(get(data, p), str) and not is_method(p)])
    others = [get(data, p) for p in leaves(data) if isinstance(get(data, p), str)]
    y = pick(
        rng,
        [
            "",
            " ",
            "time",
            "work",
            "a/b",
            "..",
            "x'",
            "tab\there",
            "null\0",
            "ä" * 300,
            "ground",
            "%s",
            "{0}",
            7,
            None,
            *others,
        ],
    )
    put(data, path, y)
    return f"name {'.'.join(map(str, path))} = {str(y)[:40]!r}"


def again(rng: np.random.Generator, data: Data) -> str:
    """A part drawn twice, under its own name or another one."""
    parts = data[pick(rng, ["bodies", "joints"])]
    part = copy.deepcopy(pick(rng, parts))
    if rng.random() < 0.7:
        part["name"] += " again"
    parts.insert(int(rng.integers(len(parts) + 1)), part)
    return f"again {part['name']}"


def contradiction(rng: np.random.Generator, data: Data) -> str:
    """One more joint between any two bodies, anywhere: most do not fit."""
    names = ["ground", *(b["name"] for b in data["bodies"])]
    kind = pick(rng, [k for k in JOINT_TYPES if k != "free"])
    ends = [{"body": pick(rng, names), "at": rng.normal(0, 0.5, 3).tolist(), "R": None} for _ in "ab"]
    joint = {"kind": kind, "name": "one too many", "a": ends[0], "b": ends[1]}
    data["joints"].append(joint | ({"pitch": 0.1} if kind == "screw" else {}))
    return f"contradiction {kind} {ends[0]['body']}-{ends[1]['body']}"


def massless(rng: np.random.Generator, data: Data) -> str:
    """Bodies without mass, without inertia, or with an inertia that no body has."""
    body = pick(rng, data["bodies"])
    what = pick(rng, ["massless", "point", "triangle", "negative", "light"])
    if what == "massless":
        body |= {"mass": 0.0, "inertia": [0.0] * 6}
    elif what == "point":
        body["inertia"] = [0.0] * 6
    elif what == "triangle":
        body["inertia"] = [1.0, 1.0, 9.0, 0.0, 0.0, 0.0]
    elif what == "negative":
        body["mass"] = -1.0
    else:
        body |= {"mass": 1e-12, "inertia": [1e-14] * 3 + [0.0] * 3}
    return f"{what} {body['name']}"


def cut_wish(rng: np.random.Generator, data: Data) -> str:
    """Joints that must be cut, or must not."""
    wish = pick(rng, [True, False])
    chosen = [j for j in data["joints"] if rng.random() < 0.5] or data["joints"]
    for joint in chosen:
        joint["cut"] = wish
    return f"cut={wish} {', '.join(j['name'] for j in chosen)}"


def origin(body: str) -> Data:
    """The origin of a body as a place."""
    return {"body": body, "at": [0, 0, 0], "R": None}


def bad_call(rng: np.random.Generator, data: Data) -> str:
    """A motor, spring, gear or drive where none can be."""
    joint, other = pick(rng, data["joints"])["name"], pick(rng, data["joints"])["name"]
    call = pick(
        rng,
        [
            ["motor", ["nowhere"], {"torque": 1.0}],
            ["motor", [joint], {"torque": 1.0}],
            ["motor", [joint], {"force": 1.0, "coordinate": 0}],
            ["motor", [joint], {"torque": 1.0, "force": 1.0}],
            ["motor", [joint], {"torque": 1.0, "coordinate": 7}],
            ["motor", [joint], {"torque": np.nan, "coordinate": 0}],
            ["motor", [joint], {"torque": 1e30, "coordinate": 0}],
            ["joint_spring", [joint, -1e9], {"coordinate": 0}],
            ["joint_spring", [joint, 1e12], {"coordinate": 0}],
            ["joint_damper", [joint, -50.0], {"coordinate": 0}],
            ["joint_damper", [joint, 1e9], {"coordinate": 0}],
            ["rotor", [joint, -1.0], {"coordinate": 0}],
            ["rotor", [joint, 1e9], {"coordinate": 0}],
            ["couple", ["gear", joint, other], {"ratio": 2.0}],
            ["couple", ["gear", joint, other], {"ratio": np.inf}],
            ["drive", [joint, 0.3], {"coordinate": 0}],
            ["drive", [joint, np.nan], {"coordinate": 0}],
            ["drive", [joint, 1e9], {"coordinate": 0}],
            ["force", ["push", origin("ground")], {"force": [0, 0, 1]}],
            ["spring", ["pull", *(origin(pick(rng, data["bodies"])["name"]) for _ in "ab"), 9.0], {}],
        ],
    )  # fmt: skip
    data["calls"].append(call)
    return f"call {call}"


def bad_option(rng: np.random.Generator, data: Data) -> str:
    """An option of the run that cannot be meant, or hardly."""
    name, value = pick(
        rng,
        [
            *(("rtol", x) for x in (0.0, -1e-6, np.nan, 1.0, 1e-17, 10.0, "tight", None, 1e-2)),
            *(("atol", x) for x in (0.0, -1.0, np.nan, 1e-300, 1e9)),
            *(("until", x) for x in (0.0, -0.1, np.nan, np.inf, "1", None, 1e-300)),
            *(("every", x) for x in (0.0, -1.0, 1e-15, np.nan, 1e9)),
            *(("solver", x) for x in ("euler", "", None, 5, *SOLVERS)),
            *(("step", x) for x in (0.0, -1e-3, np.nan, 1e-3)),
            *(("max_step", x) for x in (0.0, np.nan, 1e-3)),
            *(("first_step", x) for x in (1e9, 1e-300, -1.0)),
            *(("t_eval", x) for x in ([], [0.1, 0.05], [np.nan], [5.0], "now", [[0.0, 0.1]])),
            *(("max_steps", x) for x in (1, 0, 1.5)),
            ("singularity", "stop"), ("singularity", "never"), ("begin", 1e9), ("dense_output", True),
        ],
    )  # fmt: skip
    data["simulate"][name] = value
    return f"option {name}={value!r}"


def bad_wish(rng: np.random.Generator, data: Data) -> str:
    """A start that cannot be, or goes fast."""
    joint = pick(rng, [*data["joints"], {"name": "nowhere", "kind": "revolute"}])
    nq, nv = JOINT_TYPES[joint["kind"]].nq, JOINT_TYPES[joint["kind"]].nv
    value = pick(rng, [np.nan, 1e9, 0.3, "up", None, [0.1] * nq, [0.0] * (nq + 1), rng.normal(size=nq).tolist()])
    speed = pick(rng, [np.nan, 1e3, 1e8, "fast", None, [1.0] * nv, [0.0] * (nv + 1)])
    if rng.random() < 0.5:
        data["assemble"]["hold"][joint["name"]] = value
        return f"hold {joint['name']}={value}"
    data["assemble"]["velocity"][joint["name"]] = speed
    return f"velocity {joint['name']}={speed}"


def adrift(rng: np.random.Generator, data: Data) -> str:
    """A joint left out: bodies fall, or a loop is open."""
    return f"left out {data['joints'].pop(int(rng.integers(len(data['joints']))))['name']}"


def inexact(rng: np.random.Generator, data: Data) -> str:
    """Numbers rounded as in drawings from CAD, with a tolerance or without."""
    size = float(rng.choice([1e-9, 1e-7, 1e-6, 1e-5]))
    for joint in data["joints"]:
        for end in "ab":
            joint[end]["at"] = (np.array(joint[end]["at"]) + rng.uniform(-size, size, 3)).tolist()
    data["tolerance"] = pick(rng, [0.0, size, 10 * size, 1e-3])
    return f"inexact by {size:g}, tolerance {data['tolerance']:g}"


def method_and_solver(rng: np.random.Generator, data: Data) -> str:
    """Any method with any solver."""
    data["simulate"] |= {"method": pick(rng, METHODS), "solver": pick(rng, [None, *SOLVERS])}
    if rng.random() < 0.3:
        data["simulate"]["step"] = 1e-3
    return f"{data['simulate']['method']} with {data['simulate']['solver']}"


FAULTS: tuple[Callable[[np.random.Generator, Data], str], ...] = (
    bad_number, bad_number, bad_name, again, contradiction, massless, cut_wish, bad_call, bad_option, bad_wish, adrift,
    inexact, method_and_solver,
)  # fmt: skip

# ---- the attack ------------------------------------------------------------------------------------------------------


def case(rng: np.random.Generator) -> tuple[Data, list[str]]:
    """A drawing with none to three faults."""
    data = random_data(rng)
    if rng.random() < 0.5:
        act(rng, data)
    faults = [pick(rng, FAULTS)(rng, data) for _ in range(int(rng.choice([0, 1, 1, 1, 2, 3])))]
    return data, faults


def attack(rng: np.random.Generator) -> Outcome:
    """One drawing."""
    try:
        data, faults = case(rng)
    except (
        IndexError,
        KeyError,
        OverflowError,
        TypeError,
        ValueError,
    ):  # one fault took what the next wanted to change
        return Outcome("not a case")
    return judged(data, faults)


def judged(data: Data, faults: list[str]) -> Outcome:
    """Draw and run it, and judge what happens."""
    data["simulate"].setdefault("max_steps", MOST_STEPS)
    reproduce = {"faults": faults, "python": as_python(data)}
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            run = simulated(data)
        except cc.ClosedChainError as error:
            return refused(error, data, reproduce)
        except Exception as error:
            return unforeseen(error, reproduce)
        own = [w for w in heard if not issubclass(w.category, cc.RunWarning | DeprecationWarning)]
        good = run.good
        if own:
            text = (
                f"{own[0].category.__name__}: {own[0].message} at {own[0].filename.rpartition('/')[2]}:{own[0].lineno}"
            )
            return found("a foreign warning", text, reproduce, text)
        if not good:
            warned = [w for w in heard if issubclass(w.category, cc.RunWarning)]
            if not warned and run.complete:
                return found("silently not good", f"{run.complaints()}", reproduce)
            return Outcome("complained")
        try:
            said = complaints(run, passive=not (data["calls"] or data.get("python") or resists(data)))
        except Exception as error:
            return unforeseen(error, reproduce)
    if said:
        return found("not as good as it says", "; ".join(said[:3]), reproduce)
    return Outcome("good")


def resists(data: Data) -> bool:
    """Whether joints have friction or stops."""
    return any({"friction", "limits"} & set(joint) for joint in data["joints"])


def refused(error: cc.ClosedChainError, data: Data, reproduce: Any) -> Outcome:
    """A refusal in one of our own words, which names something that the user named."""
    message = str(error)
    label = type(error).__name__
    foreign = FOREIGN.search(message)
    if foreign and foreign[0] not in repr(data):
        return found(
            f"{label} in words of others", message[:400], reproduce, f"{label}: {foreign[0]} in {message[:60]}"
        )
    texts = [str(get(data, p)) for p in leaves(data) if isinstance(get(data, p), str)]
    # of Python every word: what is built before it is drawn, such as cc.DCMotor, can name its arguments only
    names = [name for text in texts for name in (re.findall(r"\w{2,}", text) if "(" in text else [text])]
    named = any(name and name in message for name in names)
    options = any(re.search(rf"\b{name}\b", message) for name in OPTIONS)
    if not (named or options or re.search(r"'[^']+'|nowhere|one too many", message)):
        return found(f"{label} names nobody", message[:400], reproduce)
    return Outcome(label)
