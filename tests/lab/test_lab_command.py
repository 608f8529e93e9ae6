"""`mutirao lab` as people type it."""

import json
import signal
import subprocess
import sys

import pytest

from mutirao.base.paths import ROOT
from mutirao.lab.lab import Lab
from mutirao.lab.named_networks import load_preset
from shared import json_of, refused


@pytest.fixture
def lab_command(lab_possible, typed):
    return lambda *words: typed("lab", *words)


@pytest.fixture
def answer(lab_command):
    return lambda *words: json_of(lab_command(*words, "--json"))


@pytest.fixture
def two_clusters(answer, lab_command):
    yield answer("up", "thin-pipe", "--hosts-per-site", "2", "--tcp", "tuned", "--name", "two")
    lab_command("down", "two")


@pytest.fixture(scope="module")
def unchanged_clusters(lab_possible):
    with Lab.up(load_preset("two-sites", 2), name="unchanged"):
        yield


def test_up_show_down(two_clusters, lab_command, answer):
    assert [host["site"] for host in two_clusters["hosts"]] == ["A", "A", "B", "B"]
    assert two_clusters["tcp"] == "tuned"
    shown = answer("show")
    assert shown["latency_us"][0] == [0, 0, 10000, 10000]
    assert shown["bandwidth_mbit"][0] == [0, 1000, 0, 0]
    assert shown["changes"] == []
    people = lab_command("show", "two").stdout
    assert "4 hosts in 2 sites" in people
    assert "changes: none" in people
    assert answer("down") == {"name": "two", "up": []}
    refused(lab_command("show"), "no lab is up (mutirao lab up starts one)", code=1)


def test_set(two_clusters, lab_command, answer):
    assert answer("set", "A", "B", "--latency-ms", "100", "--round-trip") == {"links": 8}
    assert answer("set", "h00", "h03", "--loss", "0.5", "--one-way-only") == {"links": 1}
    shown = answer("show")
    assert shown["latency_us"][3] == [50000, 50000, 0, 0]
    assert (shown["loss"][0][3], shown["loss"][3][0]) == (0.5, 0)
    assert {"from": "A", "to": "B", "what": "loss", "before": 0, "now": 0.5,
            "links": 1} in shown["changes"]
    assert "latency in ms 10 -> 50 (4 links)" in lab_command("show").stdout


def test_uplinks(lab_command, answer):
    """Shown, checked and changed; how exact the check finds them is the machine's affair."""
    answer("up", "thin-pipe", "--hosts-per-site", "1", "--name", "thin")
    try:
        assert "uplinks in Mbit/s: A 10, B 10" in lab_command("show").stdout
        measured = json.loads(lab_command("check", "--json").stdout)
        assert [(rate["from_site"], rate["to_site"], rate["asked_mbit"])
                for rate in measured["rates"]] == [("A", "B", 10), ("B", "A", 10)]
        assert answer("uplink", "A", "2.5") == {"site": "A", "uplink_mbit": 2.5}
        assert answer("show")["uplink_mbit"] == [2.5, 10]
        assert "A -> others: uplink in Mbit/s 10 -> 2.5" in lab_command("show").stdout
    finally:
        lab_command("down", "thin")


def test_matrix_file(lab_command, answer, tmp_path):
    file = tmp_path / "three.csv"
    file.write_text("x,y,z\n0,1,2\n1,0,3\n2,3,0\n")
    up = answer("up", file, "--hosts-per-site", 3, "--name", "three")
    assert [host["site"] for host in up["hosts"]] == ["x"] * 3 + ["y"] * 3 + ["z"] * 3
    assert lab_command("down", "three").stdout == "lab 'three' is down\n"
    file.write_text("x,y\n0,1\n-1,0\n")
    refused(lab_command("up", file), f"mutirao: {file}, line 3, column 1: '-1' is no round trip, a number of ms from 0 to 120000\n")


def test_exec(unchanged_clusters, mutirao):
    ended = mutirao("lab", "exec", "h02", "--", "sh", "-c", "hostname; exit 3")
    assert (ended.returncode, ended.stdout) == (3, "h02\n")
    assert mutirao("lab", "exec", "control", "hostname").stdout == "control\n"
    as_json = mutirao("lab", "exec", "--json", "h01", "sh", "-c", "echo out; echo err >&2; exit 4")
    assert as_json.returncode == 4
    assert json.loads(as_json.stdout) == {"host": "h01", "returncode": 4, "stdout": "out\n",
                                          "stderr": "err\n"}


def test_interrupted_exec_leaves_nothing(unchanged_clusters):
    process = subprocess.Popen([ROOT / "mutirao", "lab", "exec", "h00", "--", sys.executable, "-c",
                                "import time; print('on', flush=True); time.sleep(600)"],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout.readline() == "on\n"
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 130
    process.stdout.close()


def test_check(unchanged_clusters, lab_command):
    """How small the error is depends on the machine's load; that each pair answers does not."""
    ended = lab_command("check", "--json")
    measured = json.loads(ended.stdout)
    assert len(measured["pairs"]) == 4
    assert all(pair["measured_us"] >= pair["asked_us"] - 200 for pair in measured["pairs"])
    assert (ended.returncode == 0) == (measured["median_error_us"] <= measured["most_us"])


@pytest.mark.parametrize("words, part", [
    (["up", "six-site"], "did you mean six-sites or two-sites?"),
    (["up", "six-sites", "--hosts-per-site", "0"], "at least 1"),
    (["up", "six-sites", "--name", "../x"], "cannot name a lab"),
    (["up", "no-such.csv"], "no-such.csv cannot be read: No such file"),
    (["set", "A", "C", "--loss", "1"], "unknown host or site 'C'"),
    (["set", "A", "B"], "nothing to set"),
    (["set", "A", "B", "--loss", "1.5"], "from 0 to 1"),
    (["set", "h00", "h00", "--loss", "1"], "no link"),
    (["set", "A", "B", "--loss", "0.1", "--round-trip"], "--latency-ms"),
    (["exec", "h9", "true"], "unknown host 'h9'"),
    (["exec", "h00"], "no program"),
])
def test_wrong_input_is_one_line_and_exit_code_2(unchanged_clusters, lab_command, words, part):
    refused(lab_command(*words), part)
