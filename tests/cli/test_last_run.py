"""What `mutirao explain` says of the last run as such: its program, hosts and end, and of many communicators."""

import json

import pytest
from test_explain import ACCOUNT, REPORT, with_class

from mutirao.cli.commands.explain import explain
from mutirao.explain.report_file import keep_for_explain, read_report

PROGRAM = ["./app", "--size", "3"]


@pytest.fixture(autouse=True)
def state(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def told():
    return list(explain(read_report(None)))


def said_of(report):
    return [line.strip() for line in explain(report, everything=True)]


def test_names_program_date_exit_code_and_hosts():
    world = {**REPORT["communicators"][0], "host_names": ["a1", "a2", "b1", "b2"]}
    keep_for_explain({**REPORT, "written": "2026-11-23T04:12:50Z", "communicators": [world]}, PROGRAM, 3, False)
    lines = list(explain(read_report(None), everything=True))
    assert lines[2] == "program: ./app --size 3; 2026-11-23 04:12:50 UTC, exit code 3"
    assert "  hosts: 0 a1, 1 a2, 2 b1, 3 b2" in lines
    assert "    └─ a2 (site 0)  100.0 us" in lines
    many = {**world, "hosts": 20, "host_names": [f"h{number}" for number in range(20)]}
    assert "h7 and 12 more (--json)" in "\n".join(explain({**REPORT, "communicators": [many]}, True))
    alike = {**world, "host_names": ["here", "here"]}
    assert "  all hosts are here" in list(explain({**REPORT, "communicators": [alike]}, True))


def test_a_native_run_is_said_before_what_is_known_of_the_one_with_mutirao():
    keep_for_explain(None, PROGRAM, 0, True)
    assert len(told()) == 1 and told()[0].startswith("The last run was native, without mutirao: ./app --size 3; 20")
    keep_for_explain(REPORT, ["./first"], 0, False)
    keep_for_explain(None, PROGRAM, 9, True)
    assert "./app" in told()[0] and told()[0].endswith("UTC, exit code 9")
    assert told()[1:5] == ["The last one with mutirao:", told()[2], "mutirao 0.1.0 over Open MPI v5.0.11", told()[4]]
    assert told()[2].startswith("mutirao: 3.58 s slower") and told()[4].startswith("program: ./first; 20")
    keep_for_explain(REPORT, PROGRAM, 0, False)
    assert told()[0].startswith("mutirao: 3.58 s slower")


def test_a_run_that_failed_before_its_end_is_said():
    keep_for_explain(REPORT, PROGRAM, 0, False)
    keep_for_explain(None, PROGRAM, 7, False)
    first, second = told()
    assert first.startswith("./app --size 3; 20") and first.endswith("UTC, exit code 7")
    assert second == "It ended before MPI_Finalize, so mutirao could write no report of it."


def test_a_hundred_communicators_fit_a_screen(typed, tmp_path):
    halves = {**REPORT["communicators"][3], "name": "", "calls": 2}
    file = tmp_path / "report.json"
    file.write_text(json.dumps({**REPORT, "communicators": [halves] * 100}))
    short, whole = (typed("explain", file, *more).stdout.splitlines() for more in ([], ["--all"]))
    assert sum(line.startswith("communicator: 3 ranks") for line in short) == 3 and "97 more communicators:" in short
    assert ("  97 of 3 ranks on 3 hosts, handled by mutirao: network measured; 194 calls, 0 of them by algorithms of"
            " mutirao's") in short
    assert sum(line.startswith("communicator: 3 ranks") for line in whole) == 100
    everything = {**REPORT, "communicators": REPORT["communicators"] * 30}
    assert len(list(explain(everything))) <= 24


def test_says_the_verdict_first():
    """16 and 9 calls of 40, 1 and 2; those of a native communicator nobody counts."""
    assert said_of(REPORT)[0] == (
        "mutirao: 3.58 s slower on each rank (measured, net of what it cost); 25 of 43 collective calls ran by"
        " its algorithms")


def test_says_how_many_calls_were_on_probe():
    """Where there were no others, how much longer they took; and where native's time is not known, only that."""
    probed = {"first_call": 8, "calls": 0, "probe_calls": 6, "settled": False, "chosen": "native", "reason": "as fast"}
    lost = {**ACCOUNT, "saved_us": 0, "error_us": 0, "probes_us": 2500, "unknown_calls": 0}
    told = said_of(with_class(native_calls=34, rulings=[probed], account=lost))
    assert told[0] == ("mutirao: 34 of 40 collective calls ran natively, by the MPI library; 6 tried out algorithms"
                       " of mutirao's, which took 2.50 ms longer")
    begin = told.index("from call 9 on: native, beside 6 calls on probe")
    assert told[begin + 1:begin + 4] == ["why: as fast", "not settled: others were still to be tried",
                                         "lost on each rank, measured, net of probes: 2.50 ms"]
    hidden = {**ACCOUNT, "saved_us": 4000, "error_us": 2000, "probes_us": 2500}
    told = said_of(with_class(native_calls=34, rulings=[probed], account=hidden))
    assert "as fast as the MPI library's own, measured, net of probes: ± 2.00 ms on each rank" in told
    chain = {**probed, "calls": 20, "chosen": "chain", "settled": True}
    told = said_of(with_class(native_calls=14, rulings=[chain], account={**lost, "unknown_calls": 3}))
    assert told[0] == ("mutirao: whether it saved time is not known: of 3 calls nothing says what the MPI library's"
                       " own would have taken; 26 of 40 collective calls ran by its algorithms, 6 of them on probe")
    begin = told.index("from call 9 on: chain, 20 calls, beside 6 calls on probe")
    assert not any("not settled" in line for line in told)
    assert told[begin + 3] == "of 3 calls nothing says what the MPI library's own would have taken"


def test_calls_that_were_all_native_are_said_first():
    told = said_of(with_class(native_calls=40, rulings=[]))
    assert told[0] == "mutirao: all 40 collective calls ran natively, by the MPI library"
    choice = {"first_call": 4, "calls": 0, "chosen": "native", "reason": "measured", "probe_calls": 0}
    for settled in (True, False):
        told = said_of(with_class(native_calls=40, rulings=[], native_choice={**choice, "settled": settled}))
        begin = told.index("chosen: native")
        assert (told[begin + 2:begin + 3] == ["not settled: others were still to be tried"]) == (not settled)
