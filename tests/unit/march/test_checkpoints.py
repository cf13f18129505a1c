"""A folder of a run: whole at any moment, and read only where it belongs."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.integrate.trajectory import Counts, Status, Trajectory
from closedchain.march.checkpoints import Saving
from closedchain.march.controllers.held_inputs import HeldInputs
from closedchain.march.events import Watch
from closedchain.march.program.compiled import compiled
from closedchain.pose.state import parameter_vector
from closedchain.progress import reported


def piece(rows, columns=3):
    x = np.arange(rows * columns, dtype=float).reshape(rows, columns)
    return np.arange(rows, dtype=float), x


def test_samples_are_appended_piece_by_piece(tmp_path):
    saving = Saving(cc.SaveTo(tmp_path / "run"), {})
    t, x = piece(5)
    saving.begin(0, 3)
    saving.keep(t[:2], x[:2])
    saving.begin(0, 3)  # goes on
    saving.keep(t[2:], x[2:])
    saving.begin(1, 2)
    saving.keep(t[:1], x[:1, :2])
    assert (saving.rows, saving.columns) == ([5, 1], [3, 2])
    on_disk = saving._on_disk(0)
    np.testing.assert_array_equal(on_disk[0], t)
    np.testing.assert_array_equal(on_disk[1], x)
    assert (tmp_path / "run" / "piece1.x").stat().st_size == 16


def test_a_trajectory_is_put_away(tmp_path):
    saving = Saving(cc.SaveTo(tmp_path), {})
    saving.begin(0, 3)
    t, x = piece(4)
    left = saving.put_away(Trajectory(t, x, np.empty(0), Counts(0, 0, 0, 0, 0.0, 0.0), Status.finished, ""))
    assert len(left.t) == 0 and left.x.shape == (0, 3) and saving.rows == [4]


def test_a_checkpoint_is_always_whole(tmp_path, monkeypatch):
    """A crash while the new one is written leaves the old one as it was."""
    m = cc.library.pendulum()
    options = {"until": 5.0, "t_eval": cc.Every(0.01), "save": cc.SaveTo(tmp_path / "run", every=0.0), "rtol": 1e-12}
    plain = cc.simulate(m, until=5.0, t_eval=cc.Every(0.01), rtol=1e-12)
    writes = []

    def dies(source, target):
        writes.append(source)
        if len(writes) > 3:
            raise MemoryError("the machine goes down")
        real(source, target)

    import closedchain.disk.folder as home

    real = home.os.replace
    monkeypatch.setattr(home.os, "replace", dies)
    monkeypatch.setattr("closedchain.march.run_loop.Watch.idle", property(lambda self: False))  # many short calls
    with pytest.raises(MemoryError):
        cc.simulate(m, **options)
    monkeypatch.undo()
    assert len(writes) > 3 and (tmp_path / "run" / "checkpoint.npz").exists()
    np.testing.assert_array_equal(cc.simulate(m, **options).x, plain.x)


@pytest.mark.parametrize("name", ["piece0.t", "piece0.x"])
@pytest.mark.parametrize("damage", ["longer", "shorter", "a bit"])
def test_samples_that_were_changed_are_refused(tmp_path, name, damage):
    m = cc.library.pendulum()
    options = {"until": 0.1, "save": tmp_path / "run"}
    cc.simulate(m, **options)
    file = tmp_path / "run" / name
    content = file.read_bytes()
    flipped = content[:99] + bytes([content[99] ^ 1]) + content[100:]
    file.write_bytes({"longer": content + b"[" * 8, "shorter": content[:-8], "a bit": flipped}[damage])
    said = "holds other numbers than the run wrote" if damage == "a bit" else rf"instead of {len(content)}"
    with pytest.raises(cc.ModelError, match=rf"{name} holds .*{said}|{name} {said}.*damaged"):
        cc.simulate(m, **options)
    file.write_bytes(content)
    assert cc.simulate(m, **options).complete


def test_samples_that_were_changed_are_refused_before_a_run_goes_on(tmp_path):
    m = cc.library.pendulum()
    options = {"until": 5.0, "t_eval": cc.Every(0.01), "save": cc.SaveTo(tmp_path / "run", every=0.0)}

    def stop(t, steps):
        if t > 1.0:
            raise KeyboardInterrupt

    with pytest.raises(cc.Interrupted), reported(stop):
        cc.simulate(m, **options)
    file = tmp_path / "run" / "piece0.x"
    content = file.read_bytes()
    file.write_bytes(b"[" * len(content))
    with pytest.raises(cc.ModelError, match=r"piece0\.x holds other numbers"):
        cc.simulate(m, **options)
    file.write_bytes(content + b"[" * 80)  # samples after the checkpoint are overwritten
    resumed = cc.simulate(m, **options)
    np.testing.assert_array_equal(resumed.x, cc.simulate(m, until=5.0, t_eval=cc.Every(0.01)).x)
    assert cc.simulate(m, **options).complete  # the digest went on, too


def piston():
    """A slider-crank that is driven by its slider, before its dead centre."""
    m = cc.library.slider_crank()
    m.motors.clear()
    m.motor("slide", force=lambda t, q, v: 1.0 + cc.math.where(q["O"] > 1.05, 1.0, 0.0))
    return m, m.assemble(O=1.0, velocity={"O": 5.0})


@pytest.mark.filterwarnings("ignore:singular pose:closedchain.RunWarning")
def test_what_was_found_before_an_interruption_is_told_after_it(tmp_path, monkeypatch):
    """An event, and a singular pose with the motion that is lost there, in a piece that begins with a condition."""
    m, start = piston()
    seen = cc.Event("singular pose", m.joints["O"].q - 0.5)
    options = {"until": 1.0, "events": [seen, cc.SingularPoses("warn")]}
    plain = cc.simulate(m, start, **options)
    pose = next(h for h in plain.record if h.what == "singular pose of the actuation")
    assert "still moves along" in pose.text and seen.name in [h.what for h in plain.record if h.event]

    def stop(t, steps):
        if t > pose.t:
            raise KeyboardInterrupt

    options |= {"save": cc.SaveTo(tmp_path / "run", every=0.0)}
    with pytest.raises(cc.Interrupted) as interrupted, reported(stop):
        cc.simulate(m, start, **options)
    assert interrupted.value.run.t[-1] < 1.0
    restored, restore = [], Watch.restore
    monkeypatch.setattr(Watch, "restore", lambda self, saved: restored.append(saved) or restore(self, saved))
    resumed = cc.simulate(m, start, **options)
    assert len(restored[0]["poses"]) == 1 and len(restored[0]["found"]) == 2
    assert resumed.record == plain.record
    np.testing.assert_array_equal(resumed.x, plain.x)


@pytest.mark.parametrize(
    ("name", "value"),
    [("poses", [("closur", "")]), ("found", [(0.1, 1)]), ("found", [(0.1, -1)]), ("signs", []), ("clear", {})],
)
def test_marks_that_cannot_have_been_found_are_refused(name, value):
    m = cc.library.pendulum()
    start = m.assemble()
    p = parameter_vector(m, start.parameters)
    held_inputs = HeldInputs(m, p, 0.0, 1.0, watched=True)
    watch = Watch(compiled(start, cc.Multipliers()), (cc.Event("e", cc.t - 0.5),), held_inputs, None, "warn")
    watch.restore(watch.saved())
    with pytest.raises(cc.ModelError, match="the checkpoint watches other events than the run: it was damaged"):
        watch.restore(watch.saved() | {name: value})


def test_a_null_byte_is_said():
    with pytest.raises(cc.ModelError, match=r"save .*null byte"):
        cc.simulate(cc.library.pendulum(), until=0.1, save="null\0byte")
    with pytest.raises(cc.ModelError, match=r"save .*null byte"):
        cc.sweep(cc.library.pendulum(), {"arm.mass": [1.0, 2.0]}, until=0.1, save="null\0byte")


def test_a_name_that_is_too_long_is_said(tmp_path):
    with pytest.raises(cc.ModelError, match=r"save=.* cannot be made: .*[Tt]oo long"):
        cc.simulate(cc.library.pendulum(), until=0.1, save=tmp_path / ("x" * 300))


class Forgetful:
    def __call__(self, t, now):
        return 0.0

    def state(self):
        return 1

    def restore(self, state):
        raise KeyError("boo")


def test_a_controller_that_cannot_restore_is_named_and_nothing_is_called_damaged(tmp_path):
    m = cc.library.pendulum()
    m.motor("hinge", torque=cc.Sampled(Forgetful(), period=0.1))

    def stop(t, steps):
        if t > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(cc.Interrupted), reported(stop):
        cc.simulate(m, until=2.0, save=tmp_path / "run")
    with pytest.raises(cc.ModelError, match=r"the controller 'Forgetful' cannot restore what it had saved .*boo"):
        cc.simulate(m, until=2.0, save=tmp_path / "run")


def test_checkpoints_keep_their_time(tmp_path):
    saving = Saving(cc.SaveTo(tmp_path, every=1e9), {})
    saving.checkpoint(None, None, lambda: pytest.fail("too early"))


def test_a_folder_that_cannot_be_made_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(cc.ModelError, match="cannot be made"):
        Saving(cc.SaveTo(tmp_path / "file" / "below"), {})
