"""What a run says of itself: at its end on stderr, while it runs when it is asked, and of every switch."""

import re
import threading
from pathlib import Path
from tempfile import mkdtemp

import pytest

from ends import ended_well, passed
from mutirao.base.units import duration
from mutirao.explain.report_file import read_report
from mutirao.explain.saved import start_us, total_of
from mutirao.measure.profile import Fabric, Row, add
from shared import in_time

pytestmark = pytest.mark.on_any_mpi


@pytest.mark.parametrize("explain", ["on", "off"])
def test_the_library_explains_itself_at_the_end_if_it_is_asked(run, explain):
    """Without the command line: whoever preloads the library has no other voice."""
    errors = passed(run("collectives_check", "barrier", ranks=2,
                        settings={"explain": explain, "profile": "off"})).errors
    assert (errors.count("MPI_COMM_WORLD (2 ranks)") == 1) == (explain == "on"), errors
    assert explain == "on" or errors == ""


@pytest.mark.parametrize("settings, ending", [
    ({"ranks_per_host": "1"}, None),
    ({"ranks_per_host": "1", "broadcast": "flat"}, "nothing was compared with the MPI library's own"),
    ({}, "all collective calls ran natively, by the MPI library: one host")])
def test_the_line_at_the_end_says_what_the_report_says(run, settings, ending):
    finished = ended_well(run("collective", "broadcast", "--bytes", 65536, ranks=2, settings={
        **settings, "start": "wait", "summary": "on", "profile": "off"}))
    [line] = finished.errors.splitlines()
    total = total_of(finished.report)
    if total["own_calls"]:
        assert line.startswith(f"mutirao: {total['line']}; its start took")
    assert bool(total["own_calls"]) == ("natively" not in line) and (ending or "") in line
    start = finished.report["start"]
    assert f"; its start took {duration(start_us(start))}" in line


@pytest.mark.parametrize("level", [1, 3])
def test_what_is_said_meanwhile_is_whole_lines_of_a_rank(run, level):
    finished = ended_well(run("collective", "broadcast", ranks=2, settings={
        "start": "wait", "ranks_per_host": "1", "broadcast": "flat", "profile": "off", "verbose": str(level)}))
    lines: list[list[str]] = [[], []]
    for line in finished.errors.splitlines():
        rank, said = re.fullmatch(r"\[\S+:([01])\] mutirao: (.+)", line).groups()
        lines[int(rank)].append(said)
    assert level == 3 or not lines[1]
    version, library, extent = lines[0][:3]
    assert version.startswith("version ") and version.endswith(".so") and library.startswith("MPI library ")
    assert re.fullmatch(r"2 ranks on 2 hosts \(\S+, \S+\)", extent)
    assert any("native -> flat (asked for by the setting broadcast)" in line for line in lines[0]) == (level == 3)
    if level == 3:
        assert any(line.startswith("on host 1, a thread of this rank is the agent, TCP port") for line in lines[1])


def test_a_job_that_runs_says_how_it_stands(run, wheels_only, tmp_path):
    """Rank 0 is outside MPI meanwhile. Nothing of the asking is left."""
    report, go_on, ends = tmp_path / "report.json", tmp_path / "go on", []
    job = threading.Thread(target=lambda: ends.append(run(
        "out_of_step", "waits_for_file", go_on, ranks=2, settings={"report": str(report), "profile": "off"})))
    job.start()
    try:
        calls = 0
        while calls < 100:  # it was asked early until then
            now = read_report(report, running=True)
            calls = sum(each["calls"] for each in now["communicators"])
        assert not report.exists()
    finally:
        go_on.touch()
        job.join()
    assert now["running"] and now["communicators"][0]["ranks"] == 2
    assert now["communicators"][0]["calls"] == 100
    finished = passed(ends[0])
    assert not finished.report["running"] and finished.report["communicators"][0]["calls"] == 101
    assert {file.name for file in tmp_path.iterdir()} == {"report.json", "go on"}


def other_fabric(path):
    far = Fabric(1, 4, 4, (20000.0,) * 6, "", "")
    add(path, [(far, "Open MPI v5", Row(4, 4, 1, "barrier", -1, 1, 0, "warm", "tuned", "native", 1.0, 2.0,
                                        3.0, 10, 1.7e9))])


def damaged(path):
    path.write_bytes(b"SQLite format 3\0 and then nothing of the kind" * 100)


@pytest.mark.parametrize("made, errors, told", [
    (other_fabric, 0, "the profile is of another fabric"), (damaged, 1, "there is no profile yet"),
    pytest.param(Path.mkdir, 0, "", marks=pytest.mark.long)])
def test_a_profile_of_no_use_is_said_and_costs_nothing_else(run, wheels_only, tmp_path, made, errors, told):
    def trial():
        path = Path(mkdtemp(dir=tmp_path)) / "profile.db"
        made(path)
        finished = passed(run("collectives_check", *["barrier"] * 30, ranks=2, settings={"profile": str(path)}))
        looked_at = finished.report["communicators"][0].get("profile", "")
        if told and not looked_at:
            return "the program ended before the profile was looked at"
        assert told in looked_at
        assert finished.errors.count("\n") == errors, finished.errors
        if made is damaged:
            assert "is damaged" in finished.errors and Path(f"{path}.damaged").exists()
        return None

    in_time(trial)


def test_without_a_home_only_the_profile_is_lost(run, mpi, wheels_only):
    program = ["env", "-u", "XDG_STATE_HOME", "HOME=/proc/none", str(mpi.program("collectives_check"))]
    finished = passed(run(program, "barrier", ranks=2))
    assert finished.errors == ""
