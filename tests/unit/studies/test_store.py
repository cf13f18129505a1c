"""Results on disk: the same as in memory; what is damaged is computed again, what is another's is left alone."""

import json
import os
import pickle
import shutil
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import numpy as np
import pytest
import xarray

import closedchain as cc
from closedchain.disk import plain
from closedchain.progress import reported
from closedchain.studies import sweep as home
from closedchain.studies.store import HEADER

M = cc.library.pendulum()
STUDY = {"parameters": {"start.hinge": np.linspace(0.1, 1.0, 10)}, "until": 0.1, "t_eval": cc.Every(0.05)}


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch):
    monkeypatch.setattr(home, "BLOCK", 4)
    monkeypatch.setattr(home, "IN_A_JOB", {"simulate": 1, "batch": 1})


SEEN = []


def counted(run):
    """A measure that counts the runs it sees; in threads, so in this process."""
    SEEN.append(float(run["hinge"][0]))
    return float(run["hinge"].max())


def march(folder, measure=counted, progress=None, **options):
    SEEN.clear()
    with ThreadPoolExecutor(1) as executor, nullcontext() if progress is None else reported(progress):
        return cc.sweep(M, save=folder, executor=executor, measure={"x": measure}, **(STUDY | options))


def same(a, b):
    assert list(a.data_vars) == list(b.data_vars) and list(a.coords) == list(b.coords)
    for name in a.variables:
        assert a[name].dims == b[name].dims and a[name].attrs == b[name].attrs
        np.testing.assert_array_equal(a[name].values, b[name].values, err_msg=str(name))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    patch = pytest.MonkeyPatch()
    patch.setattr(home, "BLOCK", 4)
    folder = tmp_path_factory.mktemp("studies") / "whole"
    yield folder, march(folder).load()
    patch.undo()


@pytest.fixture
def copied(whole, tmp_path):
    shutil.copytree(whole[0], tmp_path / "study")
    return tmp_path / "study"


def test_on_disk_as_in_memory(whole):
    folder, saved = whole
    unsaved = march(None)
    same(unsaved, saved)
    assert unsaved.attrs == saved.attrs
    anybody = xarray.open_zarr(folder / "results.zarr", consolidated=False, chunks=None)
    np.testing.assert_array_equal(anybody["hinge"], unsaved["hinge"])
    assert anybody["status"].values.tolist() == ["finished"] * 10


def test_a_finished_study_is_read_not_made(whole, copied):
    same(whole[1], march(copied))
    assert SEEN == []


@pytest.mark.parametrize("after", [1, 3, 4, 9])
def test_an_interrupted_study_goes_on_and_does_nothing_twice(whole, tmp_path, after):
    def stop(done, total, words):
        if done == after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match=rf"{after} of 10 points are in '.*study': the same call goes on"):
        march(tmp_path / "study", progress=stop)
    half = xarray.open_zarr(tmp_path / "study" / "results.zarr", consolidated=False, chunks=None)
    written = after // 4 * 4  # whole blocks
    assert (half["status"].values == "finished").sum() == written and np.isnan(half["hinge"].values[written:]).all()
    same(whole[1], march(tmp_path / "study"))
    # what was in flight when it stopped is computed again; what had arrived, in whatever order, is not
    assert len(SEEN) == len(set(SEEN)) == 10 - after


def test_a_record_that_is_not_whole_is_forgotten(whole, tmp_path):
    def stop(done, total, words):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        march(tmp_path / "study", progress=stop)
    path = next((tmp_path / "study" / "partial").iterdir())
    path.write_bytes(path.read_bytes()[:-5])
    same(whole[1], march(tmp_path / "study"))
    assert len(SEEN) == 8  # of three records two are whole


def test_a_damaged_block_is_computed_again(whole, copied):
    path = copied / "results.zarr" / "hinge" / "1.0"
    path.write_bytes(path.read_bytes()[:-3])
    (copied / "results.zarr" / "steps" / "2").unlink()
    same(whole[1], march(copied))
    assert sorted(SEEN) == STUDY["parameters"]["start.hinge"][4:].tolist()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"until": 0.15}, "until: 0.1 there, 0.15 here"),
        ({"rtol": 1e-7}, "options: rtol 1e-08"),
        ({"parameters": {"start.hinge": np.linspace(0.1, 1.1, 10)}}, "points: "),
        ({"keep": ["hinge'"]}, "keep: hinge there, hinge' here"),
        ({"method": cc.Projection()}, "method: Multipliers"),
        ({"measure": lambda run: 2.0}, "measure: "),
    ],
    ids=lambda x: next(iter(x)) if isinstance(x, dict) else "",
)
def test_another_study_is_refused(copied, change, message):
    with pytest.raises(cc.ModelError, match=f"holds another study, with other (mechanism|{message}).*another folder"):
        march(copied, **change)


def test_folders_that_are_none_of_ours(tmp_path, copied):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(cc.ModelError, match=r"holds 'thesis.txt', but no study .*give an empty or a new folder"):
        march(tmp_path / "mine")
    with pytest.raises(cc.ModelError, match="is a file"):
        march(tmp_path / "mine" / "thesis.txt")
    (copied / "study.json").write_text("nonsense")
    with pytest.raises(cc.ModelError, match=r"study.json cannot be read.*delete this one to begin anew"):
        march(copied)


def test_a_damaged_dataset_is_said(copied):
    shutil.rmtree(copied / "results.zarr" / "hinge")
    with pytest.raises(cc.ModelError, match=r"results.zarr cannot be read, it is damaged"):
        march(copied)


def test_one_at_a_time(tmp_path):
    def inside(done, total, words):
        with pytest.raises(cc.ModelError, match="another study is writing to"):
            march(tmp_path / "study")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        march(tmp_path / "study", progress=inside)
    assert march(tmp_path / "study")["status"].values.tolist() == ["finished"] * 10  # let go


def test_what_a_study_is_can_be_read(whole):
    about = json.loads((whole[0] / "study.json").read_text())["about"]
    assert about["varied"] == "start.hinge (coordinate hinge)" and about["solver"] == "dop853"
    assert whole[1].attrs["mechanism_name"] == "pendulum"


@pytest.mark.parametrize("axis", ["time", "start.hinge"])
@pytest.mark.parametrize("content", [None, b"", bytes(40)])
def test_axes_that_are_damaged_are_written_anew(whole, copied, axis, content):
    path = copied / "results.zarr" / axis / "0"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    same(whole[1], march(copied))
    assert SEEN == []


def test_coordinates_are_in_the_order_of_the_study(tmp_path):
    m = cc.library.double_pendulum()
    names = [f"start.{x}{prime}" for prime in ("", "'") for x in m.joints]
    got = cc.sweep(m, {name: [0.1] for name in names}, until=0.01, save=tmp_path / "study")
    assert list(got.coords) == [*names, "time"] and list(got["status"].coords) == names


# ---- hostile folders -------------------------------------------------------------------------------------------------


class Planted:
    """Makes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch '{self.path}'",)


def interrupted(folder):
    def stop(done, total, words):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(cc.Interrupted) as caught:
        march(folder, progress=stop)
    return caught.value


def test_a_planted_record_executes_nothing(whole, tmp_path):
    interrupted(tmp_path / "study")
    path = next((tmp_path / "study" / "partial").iterdir())
    bomb = pickle.dumps(Planted(tmp_path / "executed"))
    path.write_bytes(HEADER.pack(len(bomb), zlib.crc32(bomb)) + bomb)
    same(whole[1], march(tmp_path / "study"))
    assert not (tmp_path / "executed").exists()


def test_a_planted_codec_executes_nothing(copied, tmp_path):
    """Zarr knows a codec that unpickles what it reads."""
    meta = copied / "results.zarr" / "reason" / ".zarray"
    told = json.loads(meta.read_text())
    meta.write_text(json.dumps(told | {"filters": [{"id": "pickle", "protocol": 5}], "compressor": None}))
    bomb = np.empty(1, object)
    bomb[0] = Planted(tmp_path / "executed")
    for path in (copied / "results.zarr" / "reason").glob("[0-9]*"):
        path.write_bytes(pickle.dumps(bomb))
    with pytest.raises(cc.ModelError, match=r"results\.zarr cannot be read"):
        march(copied)
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize("change", [{"points": [9]}, {"points": [0, 0]}, {"columns": {}}, {"columns": None}])
def test_a_record_that_does_not_fit_is_forgotten(whole, tmp_path, change):
    interrupted(tmp_path / "study")
    path = next((tmp_path / "study" / "partial").iterdir())
    data = path.read_bytes()
    length, _ = HEADER.unpack_from(data)
    told = plain.from_bytes(data[HEADER.size : HEADER.size + length])
    record = plain.to_bytes(told | change)
    path.write_bytes(HEADER.pack(len(record), zlib.crc32(record)) + record)
    same(whole[1], march(tmp_path / "study"))
    assert len(SEEN) == 10


@pytest.mark.parametrize("name", ["lock", "study.json", "results.zarr", "done.txt"])
def test_a_foreign_folder_is_left_alone(tmp_path, name):
    (tmp_path / name).write_text("precious")
    with pytest.raises(cc.ModelError, match=f"holds '{name}', but no study"):
        march(tmp_path)
    assert [(x.name, x.read_text()) for x in tmp_path.iterdir()] == [(name, "precious")]


@pytest.mark.parametrize("name", ["done.txt", "results.zarr/hinge/0.0", "results.zarr/hinge"])
def test_nothing_is_written_through_a_link(copied, tmp_path, name):
    (copied / name).rename(tmp_path / "elsewhere")
    (copied / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(cc.ModelError, match=f"{name}' is a link, and nothing is written through it"):
        march(copied)


def test_advice_after_damage_spares_what_is_foreign(copied):
    (copied / "notes.txt").write_text("years of work")
    (copied / "study.json").write_text("nonsense")
    with pytest.raises(cc.ModelError, match=r"delete closedchain.json, .*study.json in it .*but not 'notes.txt'"):
        march(copied)


def test_a_full_disk_is_said_and_the_study_goes_on(whole, tmp_path, monkeypatch):
    real = os.fdopen

    def full(handle, *options):
        file = real(handle, *options)
        if len(SEEN) > 2:
            file.close()
            raise OSError(28, "No space left on device")
        return file

    monkeypatch.setattr(os, "fdopen", full)
    with pytest.raises(cc.FileError, match=r"cannot write '.*partial/.*': No space left .* the same call goes on"):
        march(tmp_path / "study")
    monkeypatch.undo()
    monkeypatch.setattr(home, "BLOCK", 4)
    same(whole[1], march(tmp_path / "study"))


# ---- foreign files in a study ----------------------------------------------------------------------------------------


def test_foreign_files_in_the_dataset_are_left(whole, copied):
    """Also where blocks are computed again, beside files of ours that are."""
    foreign = {"results.zarr/notes.txt": b"years", "results.zarr/hinge/2024.txt": b"of", "results.zarr/mine/x": b"work"}
    for name, content in foreign.items():
        (copied / name).parent.mkdir(exist_ok=True)
        (copied / name).write_bytes(content)
    (copied / "results.zarr" / "hinge" / "0.0").write_bytes(b"damaged")
    (copied / "results.zarr" / "time" / "0").unlink()
    same(whole[1], march(copied))
    assert {name: (copied / name).read_bytes() for name in foreign} == foreign


@pytest.mark.parametrize("name", ["results.zarr/notes.txt", "results.zarr/hinge/notes.txt", "partial/notes.txt"])
def test_a_study_that_was_not_begun_does_not_delete_foreign_files(copied, name):
    (copied / "study.json").unlink()
    (copied / "done.txt").unlink()
    (copied / name).parent.mkdir(exist_ok=True)
    (copied / name).write_text("years of work")
    before = set(copied.rglob("*"))
    with pytest.raises(
        cc.ModelError, match=r"holds 'partial', but no|notes.txt', which is no part of a study: move it"
    ):
        march(copied)
    assert set(copied.rglob("*")) == before and (copied / name).read_text() == "years of work"


def test_pieces_of_a_study_that_was_not_begun_are_cleared_away(whole, copied):
    (copied / "study.json").unlink()
    with pytest.raises(cc.ModelError, match=r"holds 'done.txt', but no 'study.json', it is damaged: .*another folder"):
        march(copied)
    (copied / "done.txt").unlink()
    (copied / "results.zarr" / "hinge" / f"0.{'a' * 32}.partial").write_bytes(b"half of it")
    same(whole[1], march(copied))
    assert not list(copied.rglob("*.partial"))


def test_advice_after_damage_spares_what_is_foreign_in_the_dataset(copied):
    (copied / "results.zarr" / "notes.txt").write_text("years of work")
    (copied / "study.json").write_text("nonsense")
    with pytest.raises(
        cc.ModelError, match=r"give another folder, this one holds 'results\.zarr/notes.txt', which is no"
    ):
        march(copied)


def test_a_planted_array_beside_ours_executes_nothing(whole, copied, tmp_path):
    """Nor is it read: xarray would load the values of an axis."""
    planted = copied / "results.zarr" / "evil"
    shutil.copytree(copied / "results.zarr" / "time", planted)
    about = json.loads((planted / ".zarray").read_text())
    (planted / ".zarray").write_text(
        json.dumps(about | {"dtype": "|O", "filters": [{"id": "pickle"}], "compressor": None})
    )
    (planted / ".zattrs").write_text(json.dumps({"_ARRAY_DIMENSIONS": ["evil"]}))
    (planted / "0").write_bytes(pickle.dumps(Planted(tmp_path / "executed")))
    same(whole[1], march(copied))
    assert not (tmp_path / "executed").exists() and (planted / "0").exists()


def test_files_with_a_second_name_elsewhere_are_not_changed_there(whole, copied, tmp_path):
    """As in a copy by ``cp -al``; a part of it is damaged, and computed again."""
    (copied / "results.zarr" / "hinge" / "0.0").write_bytes(b"damaged")
    (copied / "results.zarr" / "time" / "0").write_bytes(b"damaged")
    shutil.copytree(copied, tmp_path / "backup", copy_function=os.link)
    before = {x: x.read_bytes() for x in (tmp_path / "backup").rglob("*") if x.is_file()}
    same(whole[1], march(copied))
    assert {x: x.read_bytes() for x in (tmp_path / "backup").rglob("*") if x.is_file()} == before
    assert (copied / "results.zarr" / "hinge" / "0.0").read_bytes() != b"damaged"


def test_a_disk_that_is_full_at_the_beginning_is_said(tmp_path, monkeypatch):
    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(home.Store, "_make", full)
    with pytest.raises(cc.FileError, match=r"cannot write '.*results.zarr': No space left on device"):
        march(tmp_path / "study")
