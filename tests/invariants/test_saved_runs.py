"""Runs on disk: killed at random moments they come to the same bits; memory does not grow with their length."""

import collections
import json
import os
import pickle
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import closedchain as cc
from closedchain.disk import plain
from closedchain.progress import reported
from tests.invariants import killed_runs

ROOT = Path(__file__).parents[2]


def python(*args):
    """A process of its own, with the tests and the package on its path; its last line of output, as JSON."""
    paths = os.pathsep.join([str(ROOT), *sys.path])
    done = subprocess.run(
        [sys.executable, *args], capture_output=True, text=True, env=os.environ | {"PYTHONPATH": paths}, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(("case", "kills", "seed"), [("controlled", 50, 1), ("stiff", 12, 2), ("rechosen", 12, 3)])
def test_killed_at_random_moments_a_run_comes_to_the_same_bits(case, kills, seed, tmp_path):
    got = python("-m", "tests.invariants.killed_runs", case, str(kills), str(seed), str(tmp_path))
    assert got["killed"] == kills and got["same"] and got["same_as_unsaved"], got
    # the kills fell on different moments, before and after many checkpoints
    assert got["distinct_places"] >= kills // 6, got
    assert got["pieces"] >= {"controlled": 1, "stiff": 2, "rechosen": 4}[case]


FRESH = """
import hashlib, json, sys
from tests.invariants import killed_runs
run = killed_runs.march("controlled", sys.argv[1])
print(json.dumps(hashlib.sha256(b"".join(killed_runs.numbers(run))).hexdigest()))
"""


def test_another_process_goes_on(tmp_path):
    """The last attempt, after three that were killed, is a fresh interpreter with addresses of its own."""
    paths = os.pathsep.join([str(ROOT), *sys.path])
    wanted = python("-c", FRESH, str(tmp_path / "undisturbed"))
    for _ in range(3):
        child = subprocess.Popen(
            [sys.executable, "-c", FRESH, str(tmp_path / "killed")],
            env=os.environ | {"PYTHONPATH": paths},
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        samples = tmp_path / "killed" / "piece0.t"
        before = samples.stat().st_size if samples.exists() else 0
        while child.poll() is None and not (samples.exists() and samples.stat().st_size > before):
            time.sleep(0.002)
        child.kill()
        child.wait()
    assert python("-c", FRESH, str(tmp_path / "killed")) == wanted


MEMORY = """
import json, sys
import closedchain as cc
from closedchain.progress import reported


def memory(*_):  # of its own, without the pages of files
    with open("/proc/self/status") as file:
        seen.append(next(int(line.split()[1]) for line in file if line.startswith("RssAnon")))


seen = []
m = cc.library.four_bar()
run = cc.simulate(m, until=5.0, t_eval=cc.Every(2e-4), save=sys.argv[1] + "/short")
memory()
with reported(memory):
    run = cc.simulate(m, until=5.0, t_eval=cc.Every(5e-6), save=sys.argv[1] + "/long")
memory()
kept = run.segments[0].trajectory.x.nbytes
print(json.dumps({"samples": len(run.t), "looks": len(seen), "grown": 1024 * (max(seen) - seen[0]), "kept": kept}))
"""


def test_memory_does_not_grow_with_the_samples(tmp_path):
    got = python("-c", MEMORY, str(tmp_path))
    assert got["samples"] == 1_000_001
    # 64 MB of states were written, through a window of 4,096; at the end the times of all samples are read (8 MB)
    assert got["kept"] > 6e7 and got["looks"] > 100 and got["grown"] < 0.4 * got["kept"], got


def test_a_finished_run_is_read_not_made(tmp_path):
    m, options = killed_runs.rechosen()
    options |= {"until": 3.0}
    first = cc.simulate(m, save=tmp_path / "run", **options)
    stamp = (tmp_path / "run" / "checkpoint.npz").stat().st_mtime_ns
    again = cc.simulate(m, save=tmp_path / "run", **options)
    assert np.array_equal(first.x, again.x) and first.counts == again.counts
    assert (tmp_path / "run" / "checkpoint.npz").stat().st_mtime_ns == stamp


def test_a_saved_run_is_the_same_as_one_in_memory(tmp_path):
    m, options = killed_runs.controlled()
    options |= {"until": 2.0}
    saved, plain = cc.simulate(m, save=tmp_path / "run", **options), cc.simulate(m, **options)
    assert killed_runs.numbers(saved) == killed_runs.numbers(plain)
    np.testing.assert_array_equal(saved.reaction("B")["force"], plain.reaction("B")["force"])


def test_a_window_reads_a_part(tmp_path):
    m = cc.library.four_bar()
    run = cc.simulate(m, until=2.0, t_eval=cc.Every(1e-3), save=tmp_path / "run")
    part = run.window(0.5, 1.0)
    assert (part.t[0], part.t[-1], len(part.t)) == (0.5, 1.0, 501)
    np.testing.assert_array_equal(part["O"], run["O"].sel(time=slice(0.5, 1.0)))
    # the energy book goes back to the start of the run
    np.testing.assert_allclose(part.energy_error, run.energy_error.sel(time=slice(0.5, 1.0)), atol=1e-15)
    thin = run.window(every=100)
    np.testing.assert_allclose(thin.t, np.arange(0.0, 2.05, 0.1), atol=1e-15)
    with pytest.raises(cc.ModelError, match=r"no sample between 3 and 4 s: it goes from 0 to 2"):
        run.window(3.0, 4.0)
    with pytest.raises(cc.ModelError, match="every must be a whole number of at least 1, not 0"):
        run.window(every=0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"until": 2.5}, "until: 2.0 there, 2.5 here"),
        ({"rtol": 1e-7}, "tolerances: rtol 1e-08"),
        ({"solver": "dopri5"}, "solver: dop853 there, dopri5 here"),
        ({"parameters": {"O.motor": 7.0}}, r'parameters: {"O.motor": 6.0} there, {"O.motor": 7.0} here'),
        ({"method": cc.Projection()}, "method: Multipliers"),
        ({"t_eval": cc.Every(2e-3)}, r"samples: 2001 equal ones from 0.0 to 2.0 s there, 1001 equal ones"),
        ({"t_eval": [0.0, 2.0]}, r"samples: 2001 equal ones from 0.0 to 2.0 s there, 2 listed ones from 0.0 to 2.0 s"),
    ],
    ids=lambda x: next(iter(x)) if isinstance(x, dict) else "",
)
def test_another_run_is_not_continued(tmp_path, change, message):
    m = cc.library.four_bar()
    cc.simulate(m, until=2.0, t_eval=cc.Every(1e-3), save=tmp_path / "run")
    with pytest.raises(cc.ModelError, match=f"holds another run, with other {message}.*another folder"):
        cc.simulate(m, save=tmp_path / "run", **({"until": 2.0, "t_eval": cc.Every(1e-3)} | change))


def test_a_damaged_checkpoint_is_said(tmp_path):
    m = cc.library.four_bar()
    cc.simulate(m, until=1.0, save=tmp_path / "run")
    (tmp_path / "run" / "checkpoint.npz").write_bytes(b"nonsense")
    with pytest.raises(cc.ModelError, match=r"cannot be read, it is damaged .*delete this one to begin anew"):
        cc.simulate(m, until=1.0, save=tmp_path / "run")


def test_another_torque_is_another_run(tmp_path):
    """The equations themselves are compared, and the code of controllers, not their size."""

    def drawn(torque):
        m = cc.library.pendulum()
        m.motor("hinge", torque=torque)
        return m

    laws = [lambda t: cc.math.sin(3 * t), lambda t: cc.math.sin(5 * t), lambda t: cc.math.cos(3 * t)]
    laws += [cc.Sampled(lambda t, now: 7.0, 0.1), cc.Sampled(lambda t, now: -7.0, 0.1)]
    for k, law in enumerate(laws):
        cc.simulate(drawn(law), until=0.5, save=tmp_path / str(k))
        for other in laws[:k]:
            with pytest.raises(cc.ModelError, match="holds another run"):
                cc.simulate(drawn(other), until=0.5, save=tmp_path / str(k))


def test_a_short_file_is_noticed(tmp_path):
    m = cc.library.pendulum()
    cc.simulate(m, until=1.0, save=tmp_path / "run")
    for name in ("piece0.x", "piece0.t"):
        with (tmp_path / "run" / name).open("r+b") as file:
            file.truncate(400)
        with pytest.raises(cc.ModelError, match=r"piece0.. holds 400 bytes instead of .*damaged"):
            cc.simulate(m, until=1.0, save=tmp_path / "run")


def test_two_runs_do_not_share_a_folder(tmp_path):
    m = cc.library.pendulum()

    def progress(t, steps):
        with pytest.raises(cc.ModelError, match="another run is writing"):
            cc.simulate(cc.library.pendulum(), until=5.0, save=tmp_path / "run")

    with reported(progress):
        cc.simulate(m, until=5.0, save=tmp_path / "run")


def test_an_error_on_the_way_is_not_an_end(tmp_path):
    """What a callback raises goes through; the checkpoint before it stays, and the run goes on from there."""
    m = cc.library.four_bar()
    options = {"until": 5.0, "t_eval": cc.Every(1e-2), "save": cc.SaveTo(tmp_path / "run", every=0.0), "rtol": 1e-12}

    def broken(t, steps):
        if t > 3.0:
            raise RuntimeError("a mistake")

    with pytest.raises(RuntimeError, match="a mistake"), reported(broken):
        cc.simulate(m, **options)
    whole = cc.simulate(m, **options)
    np.testing.assert_array_equal(whole.x, cc.simulate(m, until=5.0, t_eval=cc.Every(1e-2), rtol=1e-12).x)


class Slotted:
    """A controller without a dictionary."""

    __slots__ = ("sum",)

    def __init__(self):
        self.sum = 0.0

    def reset(self):
        self.sum = 0.0

    def step(self, t, now):
        self.sum += 1.0 - now["hinge"]
        return 5.0 * (1.0 - now["hinge"]) + 0.1 * self.sum


def test_bound_methods_and_slots_are_remembered(tmp_path):
    def drawn():
        m = cc.library.pendulum()
        m.motor("hinge", torque=cc.Sampled(Slotted().step, period=0.01))
        return m

    options = {"until": 5.0, "t_eval": cc.Every(1e-2), "save": cc.SaveTo(tmp_path / "run", every=1e9)}

    def interrupt(t, steps):
        if t > 2.0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match="interrupted"), reported(interrupt):
        cc.simulate(drawn(), **options)  # Ctrl-C saves, however long the next checkpoint is away
    resumed, plain = cc.simulate(drawn(), **options), cc.simulate(drawn(), until=5.0, t_eval=cc.Every(1e-2))
    np.testing.assert_array_equal(resumed.x, plain.x)


def test_a_memory_that_cannot_be_saved_is_said_before_the_run(tmp_path):
    class Locked:
        def __init__(self):
            self.lock = threading.Lock()

        def __call__(self, t, now):
            return 0.0

    m = cc.library.pendulum()
    m.motor("hinge", torque=cc.Sampled(Locked(), period=0.01))
    with pytest.raises(cc.ModelError, match=r"controller 'Locked' remembers something that cannot be saved"):
        cc.simulate(m, save=tmp_path / "run")


def remembering(memory, **more):
    """A pendulum under a controller that remembers something."""

    class Remembers:
        def __init__(self):
            self.kept = memory

        def __call__(self, t, now):
            return 0.0

    m = cc.library.pendulum()
    m.motor("hinge", torque=cc.Sampled(type("Remembers", (Remembers,), more)(), period=0.01))
    return m


ONE = [1.0]


@pytest.mark.parametrize(
    ("memory", "message"),
    [
        (collections.deque([1.0]), r"memory\['kept'\] is of type deque"),
        ({"rng": np.random.default_rng(1)}, r"memory\['kept'\]\['rng'\] is of type Generator"),
        ([lambda: 0], r"memory\['kept'\]\[0\] is of type function"),
        ([ONE, ONE], r"memory\['kept'\]\[1\] is the same list as memory\['kept'\]\[0\]"),
        (np.array([None]), r"memory\['kept'\] is an array of object"),
    ],
    ids=["deque", "generator", "function", "twice", "objects"],
)
def test_memories_that_would_not_come_back_are_refused_by_name(tmp_path, memory, message):
    folder = tmp_path / "run"
    with pytest.raises(cc.ModelError, match=f"controller 'Remembers' remembers .*{message}: .*state\\(\\) and restore"):
        cc.simulate(remembering(memory), until=0.1, save=folder)
    assert not folder.exists()  # before the run starts
    assert cc.simulate(remembering(memory), until=0.1).complete  # without a folder everything may be remembered


def test_functions_that_remember_outside_of_themselves_are_refused(tmp_path):
    total = 0.0

    def law(t, now):
        nonlocal total
        total += t
        return total

    m = cc.library.pendulum()
    m.motor("hinge", torque=cc.Sampled(law, period=0.01))
    with pytest.raises(cc.ModelError, match="controller 'law' remembers 'total' outside of itself"):
        cc.simulate(m, until=0.1, save=tmp_path / "run")


class Noisy:
    """Tells its memory itself: a generator is no plain data."""

    def __init__(self):
        self.random = np.random.default_rng(1)
        self.past = collections.deque(maxlen=3)

    def reset(self):
        self.__init__()

    def __call__(self, t, now):
        self.past.append(now["hinge"])
        return sum(self.past) + self.random.normal()

    def state(self):
        return {"random": self.random.bit_generator.state, "past": list(self.past)}

    def restore(self, state):
        self.random.bit_generator.state = state["random"]
        self.past = collections.deque(state["past"], maxlen=3)


def test_a_controller_tells_its_memory_itself(tmp_path):
    def drawn():
        m = cc.library.pendulum()
        m.motor("hinge", torque=cc.Sampled(Noisy(), period=0.01))
        return m

    options = {"until": 1.0, "t_eval": cc.Every(1e-2)}

    def interrupt(t, steps):
        if t > 0.4:
            raise KeyboardInterrupt

    with pytest.raises(cc.Interrupted), reported(interrupt):
        cc.simulate(drawn(), save=tmp_path / "run", **options)
    resumed, plain = cc.simulate(drawn(), save=tmp_path / "run", **options), cc.simulate(drawn(), **options)
    np.testing.assert_array_equal(resumed.x, plain.x)


# ---- hostile folders -------------------------------------------------------------------------------------------------


class Planted:
    """Makes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch '{self.path}'",)


def interrupted_run(folder, m=None):
    def interrupt(t, steps):
        if t > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(cc.Interrupted), reported(interrupt):
        cc.simulate(m or cc.library.pendulum(), until=50.0, t_eval=cc.Every(0.01), save=folder)


@pytest.mark.parametrize("how", ["told", "pickle", "object arrays"])
def test_a_planted_checkpoint_executes_nothing(tmp_path, how):
    interrupted_run(tmp_path / "run")
    path, bomb = tmp_path / "run" / "checkpoint.npz", Planted(tmp_path / "executed")
    if how == "told":  # as checkpoints once were
        with np.load(path) as there:
            parts = dict(there)
        np.savez(path, **parts | {"told": np.frombuffer(pickle.dumps(bomb), np.uint8)})
    elif how == "pickle":
        path.write_bytes(pickle.dumps(bomb))
    else:
        array = np.empty(1, object)
        array[0] = bomb
        np.savez(path, told=array, allow_pickle=True)
    with pytest.raises(cc.ModelError, match=r"checkpoint\.npz cannot be read, it is damaged"):
        cc.simulate(cc.library.pendulum(), until=50.0, t_eval=cc.Every(0.01), save=tmp_path / "run")
    assert not (tmp_path / "executed").exists()


def test_arrays_that_do_not_fit_are_not_given_to_machine_code(tmp_path):
    """Machine code looks at no bounds: sizes, kinds and indices are those of the run, or nothing is taken."""
    m = cc.library.four_bar()

    def interrupt(t, steps):
        raise KeyboardInterrupt

    options = {"until": 3.0, "t_eval": cc.Every(0.01), "method": cc.VirtualSpring(1e5, 1e2), "solver": "radau5"}
    with pytest.raises(cc.Interrupted), reported(interrupt):
        cc.simulate(m, save=tmp_path / "run", **options)
    path = tmp_path / "run" / "checkpoint.npz"
    told = plain.from_bytes(path.read_bytes())
    arrays = told["integrator"]
    pivots = next(name for name, a in arrays.items() if a.dtype.kind == "i" and a.ndim == 2)
    ended = arrays["state"].copy()
    ended["status"] = 3
    for name, wrong in (
        ("x", arrays["x"][:-1]),
        ("x", arrays["x"].astype("f4")),
        (pivots, np.full_like(arrays[pivots], 10**6)),
        ("place", np.array([1e9, 0.0, 0.0])),
        ("state", ended),
    ):
        path.write_bytes(plain.to_bytes(told | {"integrator": arrays | {name: wrong}}))
        with pytest.raises(cc.ModelError, match="does not fit the run"):
            cc.simulate(m, save=tmp_path / "run", **options)
    path.write_bytes(plain.to_bytes(told | {"rows": [1.5]}))
    with pytest.raises(cc.ModelError, match=r"damaged \(the checkpoint\['rows'\]\[0\] is 1.5\)"):
        cc.simulate(m, save=tmp_path / "run", **options)
    path.write_bytes(plain.to_bytes(told))
    assert cc.simulate(m, save=tmp_path / "run", **options).complete


@pytest.mark.parametrize("name", ["lock", "piece0.t", "notes.txt"])
def test_a_foreign_folder_is_left_alone(tmp_path, name):
    (tmp_path / name).write_text("precious")
    with pytest.raises(cc.ModelError, match=f"holds '{name}', but no run"):
        cc.simulate(cc.library.pendulum(), until=0.1, save=tmp_path)
    assert [(x.name, x.read_text()) for x in tmp_path.iterdir()] == [(name, "precious")]


def test_advice_after_damage_spares_what_is_foreign(tmp_path):
    cc.simulate(cc.library.pendulum(), until=0.1, save=tmp_path)
    (tmp_path / "notes.txt").write_text("years of work")
    (tmp_path / "checkpoint.npz").write_bytes(b"nonsense")
    with pytest.raises(cc.ModelError, match=r"delete checkpoint.npz, closedchain.json, lock, .*, but not 'notes.txt'"):
        cc.simulate(cc.library.pendulum(), until=0.1, save=tmp_path)


@pytest.mark.parametrize(("method", "solver"), [(cc.Multipliers(cc.Baumgarte()), "dop853"), (None, "auto")], ids=str)
def test_checkpoints_have_no_influence(method, solver, tmp_path):
    """Gains and solvers are looked at after so many steps, not when a window of samples is full."""
    m = cc.library.four_bar()
    options = {"until": 4.0, "t_eval": cc.Every(1e-4), "rtol": 1e-6, "method": method, "solver": solver}
    plain = cc.simulate(m, **options)
    for every in (0.0, 1e9):
        saved = cc.simulate(m, save=cc.SaveTo(tmp_path / f"{every}", every=every), **options)
        np.testing.assert_array_equal(saved.x, plain.x)


def test_what_cannot_be_saved_is_said(tmp_path):
    m = cc.library.four_bar()
    (tmp_path / "file").write_text("")
    with pytest.raises(cc.ModelError, match="is a file: give the name of a folder"):
        cc.simulate(m, save=tmp_path / "file")
    with pytest.raises(cc.ModelError, match="dense_output keeps all steps in memory"):
        cc.simulate(m, solver=cc.solvers.DOP853(dense_output=True), save=tmp_path / "run")


def test_a_run_that_fails_is_kept(tmp_path):
    """A failure is an end as well: the same call tells of it again, at once."""
    m = cc.library.pendulum()
    m.motor("hinge", torque=lambda t: 1.0 / cc.math.sqrt(0.5 - t))
    for _ in range(2):
        with pytest.raises(cc.RunError) as caught:
            cc.simulate(m, until=1.0, t_eval=cc.Every(1e-2), save=tmp_path / "run")
        assert 0.4 < caught.value.run.t[-1] <= 0.5


def test_interrupted_runs_go_on(tmp_path):
    """Ctrl-C keeps what is there, and the next call goes on from the last checkpoint."""
    m = cc.library.four_bar()
    options = {"until": 5.0, "t_eval": cc.Every(1e-2), "save": cc.SaveTo(tmp_path / "run", every=0.0), "rtol": 1e-12}

    def interrupt(t, steps):
        if t > 2.0:
            raise KeyboardInterrupt

    with pytest.raises(cc.Interrupted, match="interrupted") as caught, reported(interrupt):
        cc.simulate(m, **options)
    first = caught.value.run
    assert first.status.name == "interrupted" and 2.0 < first.t[-1] < 5.0
    whole, plain = cc.simulate(m, **options), cc.simulate(m, until=5.0, t_eval=cc.Every(1e-2), rtol=1e-12)
    np.testing.assert_array_equal(whole.x, plain.x)
    assert whole.counts == plain.counts
