"""However a run ends, nothing of it keeps running."""

import functools
import mmap
import os
import signal
import subprocess
import sys
import time

import pytest

from mutirao.base.paths import ROOT
from mutirao.run.processes import new_mark, remove_orphaned_segments, run_marked
from shared import ENDED, each_mpi, processes_with, state_of, wait_until

SECONDS = 20


def start(surroundings, mpi, script, token, *options):
    command = [ROOT / "mutirao", "run", "-n", "2", "--mpi", mpi.name, "--native", *options, "--",
               "sh", "-c", script, token]
    process = subprocess.Popen(command, env=surroundings, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    # The two ranks, beside mutirao and the launcher, which have the token too.
    wait_until(lambda: sum(is_rank(pid) for pid in processes_with(token)) >= 2)
    return process


def is_rank(pid):
    try:
        with open(f"/proc/{pid}/comm") as name:
            return name.read().strip() == "sh"
    except OSError:
        return False


SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)]


@each_mpi
@pytest.mark.parametrize("number, code", SIGNALS)
@pytest.mark.parametrize("in_lab", [False, True], ids=["here", "in the lab"])
def test_interrupted_run_leaves_nothing(surroundings, tmp_path, mpi, number, code, in_lab, token):
    """A lab's router has its socket's path among its arguments, the agents have the token."""
    (tmp_path / "pair.csv").write_text("0,20\n20,0\n")
    runtime = tmp_path / "runtime"
    runtime.mkdir()
    process = start({**surroundings, "XDG_RUNTIME_DIR": str(runtime)}, mpi, "sleep 600; true", token,
                    *(["--lab", str(tmp_path / "pair.csv")] if in_lab else []))
    assert bool(processes_with(str(runtime))) == in_lab, "is there a router?"
    process.send_signal(number)
    assert process.wait(SECONDS) == code
    if in_lab or number == signal.SIGKILL:  # its ranks are told so by the kernel
        wait_until(lambda: processes_with(token) == [] and processes_with(str(runtime)) == [])
    assert processes_with(token) == []
    if number != signal.SIGKILL:
        assert list(runtime.rglob("*.sock")) == []


@each_mpi
def test_what_ranks_started_ends_too(surroundings, mpi, token):
    """Catches an end that kills the launcher or its ranks only, not sessions started by them."""
    script = """trap '' INT TERM HUP; setsid sh -c 'sleep 600; true' "$0" & sleep 600; true"""
    process = start(surroundings, mpi, script, token)
    process.send_signal(signal.SIGINT)
    assert process.wait(SECONDS) == 130
    assert processes_with(token) == []


def test_who_gives_much_memory_back_is_waited_for():
    """A process that ends carries no mark any more, long before it is gone."""
    script = "memory = b'x' * (512 << 20); import os, time; print(os.getpid(), flush=True); time.sleep(600)"
    mark, pids = new_mark(), []

    def interrupt(line):
        pids.append(int(line))
        raise KeyboardInterrupt

    # The shell ends at once, its child does not.
    start = functools.partial(subprocess.Popen, ["sh", "-c", '"$@" & wait', "sh", sys.executable, "-c", script],
                              env={**os.environ, **mark})
    with pytest.raises(KeyboardInterrupt):
        run_marked(start, mark, True, interrupt)
    assert state_of(pids[0]) in ENDED


def test_orphaned_segments_of_mpi_libraries_are_removed(tmp_path):
    """Not what is held, what is older, and what is another program's."""
    old, held, orphan, others = (tmp_path / name for name in (
        "mpich_shm_1_0", "mpich_shm_2_0", "mpich_shm_3_0", "mutirao-agent"))
    old.touch()
    since = time.time() + 0.05
    while time.time() < since:
        time.sleep(0.01)
    for path in (held, orphan, others):
        path.write_bytes(bytes(mmap.PAGESIZE))
    with held.open("r+b") as file:
        memory = mmap.mmap(file.fileno(), 0)
    remove_orphaned_segments(since, tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted([old, held, others])
    memory.close()
    remove_orphaned_segments(since, tmp_path)
    assert not held.exists()
