"""mutirao agent: start, status, stop, key, and how each refuses."""

import json
import os
import re
import signal
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from mutirao.agent.seen import View
from mutirao.base.paths import ROOT
from shared import ENDED, free_ports, refused, state_of, text_of, wait_until


@pytest.fixture
def hosts(tmp_path):
    """A host file of three hosts on this machine, on ports that are free now."""
    path = tmp_path / "hosts"
    path.write_text("".join(f"127.0.0.1 {port}\n" for port in free_ports(3)))
    return path


@pytest.fixture
def key(typed, tmp_path):
    text_of(typed("agent", "key", tmp_path / "key"))
    return tmp_path / "key"


@pytest.fixture
def agents(mutirao, typed, hosts, key, tmp_path):
    """Starts agents by their numbers; ends those that the test did not."""
    started = []

    def name(number):
        return f"test-{os.getpid()}-{tmp_path.name}-{number}"

    def start(number, *words):
        started.append(number)
        return mutirao("agent", "start", "--hosts", hosts, "--key", key, "--self", number,
                       "--name", name(number), *words)

    start.name = name
    yield start
    for number in started:
        typed("agent", "stop", "--name", name(number))


def status(typed, name):
    return json.loads(typed("agent", "status", "--json", "--name", name).stdout)


def test_three_agents_find_the_tree_and_end_one_by_one(mutirao, typed, agents):
    for number in range(3):
        text_of(agents(number))
    found = wait_until(lambda: (now := status(typed, agents.name(2)))["network"]
                       and len(now["network"]["tree"]) == 2 and now)
    assert found["self"] == 2 and found["host_count"] == 3
    assert found["network"]["latency_us"][0][1] == found["network"]["latency_us"][1][0] > 0
    shown = typed("agent", "status", "--name", agents.name(2)).stdout
    assert f"pid {found['pid']}\n" in shown and "host 2 of 3" in shown
    answer = mutirao("agent", "stop", "--name", agents.name(2))
    assert answer.returncode == 0 and str(found["pid"]) in answer.stdout
    assert state_of(found["pid"]) in ENDED
    wait_until(lambda: status(typed, agents.name(0))["network"]["tree"] == [[0, 1]])
    assert status(typed, agents.name(1))["alive"]


def test_top_of_two_agents(typed, agents):
    """As soon as the two have found each other. Catches fields that go by other names."""
    assert agents(0).returncode == agents(1).returncode == 0

    def shown():
        text = text_of(typed("top", "--once", agents.name(0), COLUMNS="120", LINES="40"))
        return text if all(part in text for part in ("1 of 2 up", "recent changes", "└─ host 1", "▁")) else None

    assert re.search(r"^0-1 +tree +[\d.]+ us", wait_until(shown), re.MULTILINE)
    assert View(json.loads(typed("top", "--json", agents.name(0)).stdout)).host_count == 3


def test_a_second_agent_steps_aside_and_the_first_goes_on(typed, agents):
    assert agents(0).returncode == 0
    first = status(typed, agents.name(0))
    refused(agents(0), first["pid"], code=1)
    assert status(typed, agents.name(0))["pid"] == first["pid"]


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_start_leaves_nothing_behind(hosts, key, agents, tmp_path, ending):
    # A daemon that does not get as far as to be found.
    program = tmp_path / "mutirao-agent"
    program.write_text("#!/bin/sh\n[ \"$1\" = status ] && echo '{\"name\": \"none\", \"alive\": false}'\n"
                       f"[ \"$1\" = run ] && touch {tmp_path}/began && exec sleep 60\n")
    program.chmod(0o755)
    start = (f"import sys, pathlib; sys.path.insert(0, {str(ROOT / 'python')!r});"
             f"from mutirao.agent import agent; agent.PROGRAM = pathlib.Path({str(program)!r});"
             f"agent.start(['--name', {agents.name(0)!r}], None)")
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}
    process = subprocess.Popen([sys.executable, "-c", start], env=environment,
                               stderr=subprocess.DEVNULL)
    wait_until(lambda: (tmp_path / "began").exists())
    child = int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0])
    process.send_signal(ending)
    assert process.wait(30) != 0
    assert state_of(child) in ENDED


def test_the_series_is_kept_and_its_end_does_not_end_the_agent(typed, agents, tmp_path):
    path = tmp_path / "series.db"
    assert agents(0, "--series", path, "--other-period-ms", "50").returncode == 0
    assert agents(1, "--series", "/dev/full").returncode == 0
    wait_until(lambda: sqlite3.connect(path).execute(
        "SELECT count(*) FROM measurement WHERE sensor = 'latency_us'").fetchone()[0] > 3)
    stopped = wait_until(lambda: (now := status(typed, agents.name(1)))["status"]
                         and now["status"]["series_stopped"] and now)
    assert stopped["alive"]
    assert "the series has stopped: " in typed("agent", "status", "--name", agents.name(1)).stdout


def test_a_key_is_made_for_its_owner_only_and_never_twice(typed, key):
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    text = key.read_text()
    assert len(text) == 65
    assert typed("agent", "key", key).returncode == 2
    assert key.read_text() == text


def test_status_without_an_agent(typed):
    answer = typed("agent", "status", "--name", "test-none")
    assert (answer.returncode, answer.stdout) == (1, "no agent is running\n")


@pytest.mark.parametrize("words, named", [
    (["--self", "3"], ["--self", "3"]),
    (["--self", "0", "--port", "70000"], ["--port", "70000"]),
    (["--self", "0", "--bandwidth-period-ms", "10"], ["--bandwidth-period-ms", "300000"]),
    (["--self", "0", "--name", "a/b"], ["a/b"]),
    ([], ["3 lines", "--self"]),
])
def test_wrong_arguments(typed, hosts, key, words, named):
    refused(typed("agent", "start", "--hosts", hosts, "--key", key, *words), *named)


def test_wrong_files(typed, hosts, key):
    start = ("agent", "start", "--key", key, "--self", "0", "--hosts")
    refused(typed(*start, "none"), "none")
    key.chmod(0o640)
    refused(typed(*start, hosts), "600")
    hosts.write_text("a\nb c\n")
    refused(typed(*start, hosts), f"{hosts}:2", "'c'")
