"""Studies that are killed, and studies on many processes: always the same bits."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.invariants import killed_sweeps

ROOT = Path(__file__).parents[2]


def python(*args, before=()):
    """A process of its own, with the tests and the package on its path; its last line of output, as JSON."""
    paths = os.pathsep.join([str(ROOT), *sys.path])
    done = subprocess.run(
        [*before, sys.executable, *args],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": paths},
        cwd=ROOT,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(("case", "kills", "seed"), [("batch", 20, 1), ("pool", 10, 2)])
def test_killed_at_random_moments_a_study_comes_to_the_same_bits(case, kills, seed, tmp_path):
    got = python("-m", "tests.invariants.killed_sweeps", case, str(kills), str(seed), str(tmp_path))
    assert got["killed"] == kills and got["different"] == [] and got["variables"] == 14, got
    assert got["engine"].startswith({"batch": "batch", "pool": "simulate"}[case])
    assert got["distinct_places"] >= 5, got  # the kills fell on different moments


CLUSTER = """
import json, sys
import dask
from dask.distributed import Client, LocalCluster
from tests.invariants import killed_sweeps

if __name__ == "__main__":
    dask.config.set({"distributed.worker.daemon": False})
    options = dict(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        workers = len(client.nthreads())
        found = killed_sweeps.different("pool", client, sys.argv[1])
    print(json.dumps({"workers": workers, "different": found}))
"""

MPI = """
import json, sys
from mpi4py.futures import MPIPoolExecutor
from tests.invariants import killed_sweeps

if __name__ == "__main__":
    with MPIPoolExecutor() as executor:
        found = killed_sweeps.different("batch", executor, sys.argv[1])
        print(json.dumps({"workers": executor.num_workers, "different": found}))
"""


def test_a_dask_cluster_gives_the_same_dataset(tmp_path):
    script = tmp_path / "cluster.py"
    script.write_text(CLUSTER)
    assert python(str(script), str(tmp_path)) == {"workers": 2, "different": []}


def test_an_mpi_pool_gives_the_same_dataset(tmp_path):
    script = tmp_path / "pool.py"
    script.write_text(MPI)
    mpiexec = Path(sys.executable).parent / "mpiexec"
    got = python("-m", "mpi4py.futures", str(script), str(tmp_path), before=(str(mpiexec), "-n", "3"))
    assert got == {"workers": 2, "different": []}


def test_what_is_compared_is_all_there_is():
    """The comparison sees every variable, and a single bit."""
    import numpy as np
    import xarray

    a = xarray.Dataset({"x": ("t", np.array([1.0, np.nan])), "why": ("t", np.array(["", "b"], object))})
    b = a.assign(x=("t", np.array([1.0 + 2**-52, np.nan])))
    assert killed_sweeps.numbers(a) == killed_sweeps.numbers(a.copy(deep=True)) != killed_sweeps.numbers(b)
