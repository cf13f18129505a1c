"""What only a process of its own can show: Ctrl-C, pipes that close, exit codes as a shell sees them."""

import json

import pytest
import xarray

# A run of some minutes, interrupted by a real SIGINT half a second after its first step. Whoever started the tests may
# have told them to ignore SIGINT, hence the handler.
INTERRUPT = """
import os, signal, threading
from closedchain.cli import main
from closedchain.progress import Progress

signal.signal(signal.SIGINT, signal.default_int_handler)
tell, timers = Progress.__call__, []

def watched(self, reached, steps, words=None):
    if words is None and steps > 0 and not timers:  # of a run
        timers.append(threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)))
        timers[0].start()
    tell(self, reached, steps, words)

Progress.__call__ = watched
main()
"""

LONG = ["run", "pendulum", "--until", "1e6", "--samples", "1000001", "--rtol", "1e-10"]


def test_exit_codes_reach_the_shell(process):
    assert process("list").code == 0
    assert process("run", "four-bar", "--until", "0.1").code == 0
    assert process("run", "four-baar").code == 2
    assert process("run", "four-bar", "--set", "coupler.length=0.1").code == 1
    assert process("run", "four-bar", "--solver", "rk4", "--step", "0.1").code == 3


def test_ctrl_c_keeps_what_is_there(process):
    answer = process(*LONG, "--out", "kept.nc", code=INTERRUPT)
    assert answer.code == 130, answer.err
    assert "INCOMPLETE" in answer.out and "wrote kept.nc" in answer.out
    assert "the run was interrupted" in answer.err and "Traceback" not in answer.err
    with xarray.open_dataset("kept.nc") as data:
        assert data.attrs["status"] == "interrupted"
        assert 10 < data.sizes["time"] < 1_000_001
        assert float(abs(data["energy_error"]).max()) < 1e-3  # J, of 4.9 J that are exchanged


def test_ctrl_c_with_json(process):
    answer = process(*LONG, "--json", code=INTERRUPT)
    assert answer.code == 130
    told = answer.json
    assert "the run was interrupted" in told["error"]
    assert not told["complete"] and 0 < told["end"] < 1e6


def test_ctrl_c_before_the_run(process, file):
    file("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nwhile True: pass")
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code += "from closedchain.cli import main; main()"
    answer = process("run", "model.py", code=code)
    assert (answer.code, answer.err) == (130, "error: interrupted\n")
    answer = process("run", "model.py", "--json", code=code)
    assert (answer.code, json.loads(answer.out)) == (130, {"error": "interrupted"})


CLOSED_PIPE = """
import os, sys
reader, writer = os.pipe()
os.close(reader)
os.dup2(writer, 1)
from closedchain.cli import main
main()
"""


@pytest.mark.parametrize("arguments", [["list"], ["list", "--json"], ["info", "four-bar"]])
def test_a_reader_that_leaves_early(process, arguments):
    """As in ``closedchain info four-bar | head -1``."""
    answer = process(*arguments, code=CLOSED_PIPE)
    assert (answer.code, answer.err) == (1, "")


def test_debug_in_a_process(process):
    answer = process("run", "four-baar", CLOSEDCHAIN_DEBUG="1")
    assert answer.code == 2
    assert "Traceback" in answer.err
