"""`mutirao explain` on a made-up report of four hosts in two sites, one pair without a link."""

import copy
import json
import re
import socket
import threading
import time

import pytest

from made_up import calls_of, communicator, ruling, said_of_adapting, took
from mutirao.base.errors import Failure, UsageError
from mutirao.base.units import duration, size
from mutirao.catalogue.tree_text import draw_tree
from mutirao.cli.commands.explain import explain
from mutirao.explain import report_file
from mutirao.explain.page import make_page
from mutirao.explain.report_file import announced, keep_for_explain, read_report, told_as_no_report
from shared import text_of

LATENCY_US = [
    [0, 100, 9000, 9500],
    [100, 0, 8000, None],
    [9000, 8000, 0, 50],
    [9500, None, 50, 0],
]
FOLLOWED = said_of_adapting("auto", epochs=12)
# 16 calls that took 8.05 ms and saved as much, and 14 native ones of 16.1 ms.
ACCOUNT = {"took_us": 16 * 8050 + 14 * 16100, "saved_us": 16 * 8050, "error_us": 3200, "probes_us": 0,
           "unknown_calls": 0}
REPORT = {
    "mutirao": "0.1.0", "mpi": "Open MPI v5.0.11",
    "start": {"native_reason": "", "twin_ms": 3711, "waited_ms": 0, "introduced_ms": 1250},
    "forgotten_communicators": 0, "total": {
        "calls": 43, "own_calls": 25, "probe_calls": 0, "waited_us": 0, "account": ACCOUNT, "net_us": -3582200,
        "error_us": 3200, "faster": False,
        "line": "3.58 s slower on each rank (measured, net of what it cost); 25 of 43 collective calls ran by its"
                " algorithms"},
    "communicators": [
        communicator(
            "MPI_COMM_WORLD", 4, hosts=4, calls=40, state="mutirao", reason="network measured", first_ruled_call=9,
            first_ruled_ms=4200, sites=[0, 0, 1, 1], tree=[[0, 1], [1, 2], [2, 3]], latency_us=LATENCY_US,
            adaptation=FOLLOWED, classes=[
                calls_of(1, 24, ruling("tree:kind=mst", {"tree:kind=mst": 8050, "native": 16100}, 9, calls=16,
                                       reason="predicted to be the fastest", bound_us=7800),
                         ruling("native", first_call=25, calls=0, reason="nothing is faster"), native_calls=14,
                         account=ACCOUNT),
                calls_of(3, 4096, native_calls=1, first_call=30),
                calls_of(-1, 8, ruling("chain", first_call=31, calls=9, reason=""), first_call=31)]),
        communicator("halves", 2, hosts=1, calls=3, state="native", reason="one host", sites=[0], latency_us=[[0]]),
        communicator("short", 3),
        communicator("in time", 3, hosts=3, calls=2, state="mutirao", reason="network measured")]}


@pytest.fixture
def state(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def shown(typed, tmp_path):
    """What is said of a report, in lines."""
    def of(report, *words):
        (tmp_path / "report.json").write_text(json.dumps(report))
        return text_of(typed("explain", "report.json", *words)).splitlines()

    return of


@pytest.fixture
def explained(shown):
    """All that is said of it, without indentation."""
    return lambda report: [line.strip() for line in shown(report, "--all")]


def assert_follow(lines, head, *expected):
    begin = lines.index(head) + 1
    assert lines[begin:begin + len(expected)] == list(expected)


def with_world(**changed):
    """The report of MPI_COMM_WORLD alone, changed."""
    return {**REPORT, "communicators": [{**REPORT["communicators"][0], **changed}]}


def following(**adaptation):
    return with_world(adaptation={**FOLLOWED, **adaptation})


def test_in_short_a_line_for_each_kind_of_call_the_longest_first(shown):
    lines = shown(REPORT)
    assert_follow(
        lines, "MPI_COMM_WORLD: 4 ranks on 4 hosts in 2 sites; handled by mutirao: network measured",
        "  broadcast of 24 B from rank 1   30 calls  native; 16 calls otherwise before; 128.8 ms ± 3.20 ms saved",
        "  broadcast of 4 KiB from rank 3    1 call  native", "  broadcast of 8 B from any rank   9 calls  chain")
    assert "halves: 2 ranks on 1 host; left to the MPI library: one host" in lines
    assert lines[-1] == ("reasons: mutirao explain --all report.json; with pictures: mutirao explain --page"
                         " report.json")


def test_in_short_what_is_chosen_stands_beside_native(shown):
    tree, _ = REPORT["communicators"][0]["classes"][0]["rulings"]
    assert ("  broadcast of 24 B from rank 2  16 calls  tree:kind=mst; 0.50 x native, predicted; others were still to"
            " be tried") in shown(with_class({**tree, "settled": False}))


def test_in_short_it_fits_a_screen(shown):
    """After six kinds of calls, and after many."""
    names = ("scan", "barrier", "gather", "alltoall", "reduce", "scatter")
    classes = [calls_of(0, 24 << number, collective=name, native_calls=2) for number in range(5) for name in names]
    for kinds, told in ((classes[:6], 6), (classes, 8)):
        lines = shown(with_world(classes=kinds))
        assert len(lines) <= 24 and sum(line.endswith("2 calls  native") for line in lines) == told
    assert "  22 more kinds of calls" in lines


def test_says_what_ran_from_when_on_and_why(explained):
    """Calls are counted from 1, and those that a ruling leaves to the MPI library once."""
    lines = explained(REPORT)
    assert lines[1] == "mutirao 0.1.0 over Open MPI v5.0.11"
    assert_follow(
        lines, "broadcast of 24 B from rank 1", "14 calls by the MPI library",
        "from call 10 on: tree:kind=mst, 16 calls", "why: predicted to be the fastest",
        "no algorithm can be predicted under 7.80 ms",
        "tree:kind=mst  predicted   8.05 ms  0.50 x native", "native         predicted   16.1 ms",
        "from call 26 on: native", "why: nothing is faster",
        "saved on each rank, measured, net of probes: 128.8 ms ± 3.20 ms")
    assert_follow(lines, "broadcast of 4 KiB from rank 3", "1 call by the MPI library", "")
    assert_follow(lines, "broadcast of 8 B from any rank", "from call 32 on: chain, 9 calls", "")


def test_groups_calls_by_collective_and_names_a_root_only_where_there_is_one(explained):
    kinds = [("scan", 0, 8), ("gather", 2, 24), ("scan", 0, 4096), ("scatter", -1, 24), ("alltoall", 0, 24),
             ("barrier", 0, 0)]
    classes = [calls_of(root, length, collective=name, native_calls=2) for name, root, length in kinds]
    classes.append({**classes[0], "commutes": False})
    lines = explained(with_world(classes=classes))
    heads = [before for before, after in zip(lines, lines[1:])
             if after == "2 calls by the MPI library"]
    assert heads == ["scan of 8 B", "scan of 4 KiB", "scan of 8 B, operands in order",
                     "gather of 24 B a rank to rank 2",
                     "scatter of 24 B a rank from any rank", "alltoall of 24 B a rank", "barrier"]


def test_says_who_took_the_calls_of_a_communicator(explained):
    lines = explained(REPORT)
    assert_follow(
        lines, "MPI_COMM_WORLD: 4 ranks on 4 hosts in 2 sites", "handled by mutirao: network measured; 40 calls",
        "first ruling from call 10 on, 4.20 s after MPI_Init; the MPI library took the 9 calls before",
        "follows its network beside the program: 12 epochs, told 4 calls ahead; this rank never waited for one")
    assert_follow(lines, "halves: 2 ranks on 1 host", "left to the MPI library: one host", "")
    assert_follow(lines, "short: 3 ranks", "left to the MPI library so far: its ranks had not agreed; 1 call")
    why = "to set others up takes 0.9 s, and in 2.1 s 0.4 s were to be won"
    waits = explained({**REPORT, "communicators": [{**REPORT["communicators"][2], "reason": why, "calls": 50}]})
    assert_follow(waits, "short: 3 ranks", f"left to the MPI library so far: {why}; 50 calls", "")
    assert_follow(lines, "in time: 3 ranks on 3 hosts", "handled by mutirao: network measured; 2 calls",
                  "no ruling for an algorithm of mutirao's: the MPI library took all calls")


def test_congestion_control_that_spreads_long_messages_is_named(explained):
    for bbr in (True, False):
        world = next(line for line in explained(with_world(bbr=bbr)) if line.startswith("MPI_COMM_WORLD"))
        assert (" in 2 sites, over BBR" in world) == bbr


def test_calls_that_were_not_all_counted_are_not_told(explained):
    begun = {**REPORT["communicators"][0]["classes"][1], "length_bytes": 64}
    for state, told in (("mutirao", True), ("native", False)):
        lines = explained(with_world(state=state, classes=[begun]))
        assert ("broadcast of 64 B from rank 3" in lines) == told


def test_says_what_the_start_cost(explained):
    lines = explained(REPORT)
    assert lines[2] == "start: 3.71 s: 3.71 s to make private communicators"
    waited = {**REPORT["start"], "waited_ms": 4705, "introduced_ms": 0}
    lines = explained({**REPORT, "start": waited})
    assert lines[2:4] == [
        "start: 8.42 s: 3.71 s to make private communicators, 4.71 s in MPI_Init, to learn the network"
        " (start=wait)", ""]


def with_class(*rulings, **of_class):
    return with_world(classes=[calls_of(2, 24, *rulings, **of_class)])


def test_draws_the_tree_that_ran(explained):
    """From its root, and not the minimum spanning tree that stands in the report, too."""
    told = explained(with_class(ruling("tree:kind=greedy", first_call=9, calls=16, tree=[2, 0, -1, 2])))
    assert_follow(told, "the tree over which 16 calls went: broadcast of 24 B from rank 2 (tree:kind=greedy); its links"
                  " with their one-way latencies:", "host 2 (site 1)", "├─ host 3 (site 1)  50.0 us",
                  "└─ host 0 (site 0)  9.00 ms", "└─ host 1 (site 0)  100.0 us")
    assert "spanning" not in "".join(told)
    assert any("over which no call went" in line for line in explained(REPORT))


# Two hosts, one kind of calls: one of each thing that a report may have.
SMALL = with_world(hosts=2, sites=[0, 1], tree=[[0, 1]], latency_us=[[0, 9], [9, 0]], classes=[calls_of(
    0, 24, ruling("chain", {"chain": 5.0}, 3, calls=9, probe_calls=2, settled=False, tree=[-1, 0], bound_us=4.0,
                  measured=[took("chain", 5.0, 4.0, 6.0)]),
    native_calls=3, forgotten_rulings=1, forgotten_calls=2,
    account={"took_us": 99.5, "saved_us": 20, "error_us": 3.0, "probes_us": -1.5, "unknown_calls": 1})])


def damaged():
    """Each with one field missing or of another kind, as far as commands rely on it."""
    def walk(value, path):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, each in items:
            yield [*path, key]
            if isinstance(each, (dict, list)):
                yield from walk(each, [*path, key])

    for path in walk(SMALL, []):
        for how in ("missing", "text", "list"):
            report = copy.deepcopy(SMALL)
            place = report
            for key in path[:-1]:
                place = place[key]
            if how == "missing":
                del place[path[-1]]
            else:
                place[path[-1]] = "x" if how == "text" else [[]]
            yield report


def test_a_damaged_report_is_said_in_one_line(tmp_path):
    """Whatever is missing or of another kind: explained all the same, or said; never a traceback."""
    refused = 0
    for number, report in enumerate(damaged()):
        file = tmp_path / f"{number}.json"
        file.write_text(json.dumps(report))
        try:
            read = read_report(file)
            with told_as_no_report(file):
                list(explain(read)), list(explain(read, everything=True))
                make_page(read, file)
        except UsageError as error:
            assert str(error).startswith(f"{file} is not a report of mutirao: ") and "\n" not in str(error)
            refused += 1
    assert refused > 50


def answer_once(report):
    """As the library does."""
    wanted, now = report.with_name("report.json.wanted"), report.with_name("report.json.now")
    while not wanted.exists():
        time.sleep(0.01)
    now.write_text(json.dumps({**REPORT, "running": True}))
    wanted.unlink()


def test_asks_the_job_that_runs(state, tmp_path):
    notes, report = tmp_path / "state" / "mutirao" / "running", tmp_path / "report.json"
    with pytest.raises(UsageError, match="no job of mutirao run"):
        read_report(None, running=True)
    (notes / f"{socket.gethostname()}-999999999.json").write_text("of a process that is no more")
    with announced(report, ["./app"]):
        job = threading.Thread(target=answer_once, args=[report])
        job.start()
        told = list(explain(read_report(None, running=True)))
        job.join()
        assert told[2] == "The job is running: this is how it stands now."
        (notes / "elsewhere-999999999.json").write_text(json.dumps({"report": "other.json", "command": ["./other", "2"]}))
        with pytest.raises(UsageError, match=r"several.*other\.json \(\./other 2\)"):
            read_report(None, running=True)
    assert [file.name for file in notes.iterdir()] == ["elsewhere-999999999.json"]
    assert [file.name for file in tmp_path.iterdir()] == ["state"]


def test_a_job_that_does_not_answer_is_said(monkeypatch, tmp_path):
    monkeypatch.setattr(report_file, "_PATIENCE_S", 0.1)
    with pytest.raises(Failure, match="no job answered"):
        read_report(tmp_path / "report.json", running=True)
    assert not list(tmp_path.iterdir())
    with pytest.raises(UsageError, match="cannot ask"):
        read_report(tmp_path / "none" / "report.json", running=True)


def test_says_what_is_not_told_of_calls(explained):
    assert explained({"mutirao": "0.1.0", "mpi": "x", "start": {"native_reason": "one rank"},
                      "forgotten_communicators": 0, "communicators": []})[1:] == [
        "All calls are left to the MPI library: one rank",
        "No communicator had a collective call that mutirao handles."]
    assert "of 2 more communicators only the sums are kept" in explained({**REPORT, "forgotten_communicators": 2})


@pytest.mark.parametrize("adaptation, said", [
    ({"horizon_calls": 0}, ["told in the call that they begin with"]), ({"horizon_calls": 1}, ["told 1 call ahead"]),
    ({"horizon_calls": None, "waits": 1, "waited_ms": 2.5, "taken_up": [{
        "call": 8, "links": 3, "new_tree": True, "shown": [
            {"low": 0, "high": 2, "before_us": 9000, "after_us": 90000},
            {"low": 1, "high": 2, "before_us": 8000, "after_us": None}]}]},
     ["12 epochs; this rank waited for one 1 time, 0 of them at the start, 2.50 ms in all\n",
      "known in call 9: host 0 - host 2 9.00 ms -> 90.0 ms, host 1 - host 2 8.00 ms -> unusable, 1 more link, a new"
      " spanning tree\n"]),
    ({"early_waits": 2, "early_waited_ms": 5}, ["waited for one 2 times, 2 of them at the start, 5.00 ms in all\n"]),
    ({"early_waits": 2, "early_waited_ms": 5, "waits": 3, "waited_ms": 7.5},
     ["waited for one 5 times, 2 of them at the start, 12.5 ms in all\n"]),
    ({"mode": "every:4", "checks": 5, "adapting_ms": 1234},
     ["adapted inside every 4. call: links measured 5 times, 1.23 s in all\n"
      "no change of the network taken up\n"])])
def test_says_how_it_followed_its_network(explained, adaptation, said):
    told = "\n".join(explained(following(**adaptation)))
    for text in said:
        assert text in told


@pytest.mark.parametrize("edges", [[(0, 1), (1, 2), (2, 3)], [(0, 3), (1, 3), (2, 3)], [(2, 0), (0, 1), (0, 3)]])
def test_tree_names_each_host_once_below_its_parent(edges):
    lines = list(draw_tree(edges, None, "host {}".format))
    hosts = [int(re.search(r"host (\d+)", line)[1]) for line in lines]
    assert sorted(hosts) == [0, 1, 2, 3]
    # The nearest line above that is less indented is the parent.
    indents = [line.index("host") for line in lines]
    drawn = set()
    for i in range(1, len(lines)):
        parent = max(j for j in range(i) if indents[j] < indents[i])
        drawn.add(frozenset((hosts[i], hosts[parent])))
    assert drawn == {frozenset(edge) for edge in edges}


def test_a_long_chain_is_drawn():
    """Catches drawing by recursion."""
    assert len(list(draw_tree([(i, i + 1) for i in range(3000)], None, str))) == 3001


def test_units():
    assert [duration(us) for us in (0.5, 999, 1000, 351200, 4373000)] == [
        "0.50 us", "999.0 us", "1.00 ms", "351.2 ms", "4.37 s"]
    assert [size(n) for n in (0, 24, 1024, 1000, 1 << 20, 3 << 19)] == [
        "0 B", "24 B", "1 KiB", "1000 B", "1 MiB", "1536 KiB"]


# --- of the last run as such: its program, hosts and end, and of many communicators ---------------------

PROGRAM = ["./app", "--size", "3"]


def test_names_program_date_and_exit_code_and_hosts_by_their_names(state):
    named = with_world(host_names=["a1", "a2", "b1", "b2"])
    keep_for_explain({**named, "written": "2026-11-23T04:12:50Z"}, PROGRAM, 3)
    lines = list(explain(read_report(None), everything=True))
    assert lines[2] == "program: ./app --size 3; 2026-11-23 04:12:50 UTC, exit code 3"
    assert "    └─ a2 (site 0)  100.0 us" in lines


def test_a_run_that_failed_before_its_end_is_said(state):
    keep_for_explain(REPORT, PROGRAM, 0)
    keep_for_explain(None, PROGRAM, 7)
    first, second = explain(read_report(None))
    assert first.startswith("./app --size 3; 20") and first.endswith("UTC, exit code 7")
    assert second == "It ended before MPI_Finalize, so mutirao could write no report of it."


def test_a_hundred_communicators_fit_a_screen(shown):
    halves = {**REPORT["communicators"][3], "name": "", "calls": 2}
    short, whole = (shown({**REPORT, "communicators": [halves] * 100}, *words) for words in ([], ["--all"]))
    assert sum(line.startswith("communicator: 3 ranks") for line in short) == 3 and "97 more communicators (--all)" in short
    assert sum(line.startswith("communicator: 3 ranks") for line in whole) == 100
    everything = {**REPORT, "communicators": REPORT["communicators"] * 30}
    assert len(list(explain(everything))) <= 24


def test_says_how_many_calls_were_on_probe(explained):
    """Where there were no others, how much longer they took; and where native's time is not known, only that."""
    probed = ruling("native", first_call=8, calls=0, probe_calls=6, settled=False, reason="as fast")
    lost = {**ACCOUNT, "saved_us": 0, "error_us": 0, "probes_us": 2500, "unknown_calls": 0}
    told = explained(with_class(probed, native_calls=34, account=lost))
    assert_follow(told, "from call 9 on: native, beside 6 calls on probe", "why: as fast",
                  "not settled: others were still to be tried", "lost on each rank, measured, net of probes: 2.50 ms")
    hidden = {**ACCOUNT, "saved_us": 4000, "error_us": 2000, "probes_us": 2500}
    told = explained(with_class(probed, native_calls=34, account=hidden))
    assert "as fast as the MPI library's own, measured, net of probes: ± 2.00 ms on each rank" in told
    chain = {**probed, "calls": 20, "chosen": "chain", "settled": True}
    told = explained(with_class(chain, native_calls=14, account={**lost, "unknown_calls": 3}))
    begin = told.index("from call 9 on: chain, 20 calls, beside 6 calls on probe")
    assert not any("not settled" in line for line in told)
    assert told[begin + 3] == "of 3 calls nothing says what the MPI library's own would have taken"


def test_what_all_came_to_is_said_first_and_json_is_the_report_itself(shown):
    assert shown(REPORT)[0] == f"mutirao: {REPORT['total']['line']}"
    earlier = {name: value for name, value in REPORT.items() if name != "total"}
    assert shown(earlier) == shown(REPORT)[1:]
    assert json.loads("".join(shown(REPORT, "--json"))) == REPORT


def test_what_is_native_is_said_of_each_kind_of_call(explained):
    for settled in (True, False):
        choice = ruling("native", first_call=4, calls=0, reason="measured", settled=settled)
        told = explained(with_class(native_calls=40, native_choice=choice))
        begin = told.index("chosen: native")
        assert (told[begin + 2:begin + 3] == ["not settled: others were still to be tried"]) == (not settled)
