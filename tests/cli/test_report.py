"""`mutirao explain --page` on made-up reports: a page that says what the report says, and nothing else."""

import copy
import json
import math
import re
from html import escape
from itertools import combinations
from xml.etree import ElementTree

import pytest
from test_explain import REPORT, following

from made_up import calls_of, ruling, took
from mutirao.explain.choices import class_row
from mutirao.explain.full import all_of
from mutirao.explain.page import make_page
from mutirao.explain.rulings import colours_of, periods, timeline
from mutirao.explain.saved import account_of, own_calls, probe_calls
from mutirao.explain.site_map import site_map
from pages import assert_stands_alone, checked
from shared import refused

HOSTILE = '"><script>alert(1)</script>$json & \'x'


# Calls 1 to 10 native, to 30 native but for 13 on probe, which took 0.1 ms longer each; to 50 linear, 1.5 ms
# shorter than native, then ring, 0.4 ms longer.
TRIED = calls_of(
    0, 16384,
    ruling("native", {"linear": 400, "ring": 300, "native": 900}, 10, calls=0, probe_calls=13, settled=False,
           reason="to be tried"),
    ruling("linear", {"linear": 400, "ring": 300, "native": 900}, 30, calls=20, reason="measured", bound_us=250,
           measured=[took("linear", 500, 450, 550), took("native", 2000, 1900, 2100)]),
    ruling("ring:segment_bytes=8", {"ring:segment_bytes=8": 300, "native": 900}, 50, calls=50, reason="measured anew",
           bound_us=250, measured=[took("ring:segment_bytes=8", 2400, 2300, 2500), took("native", 2000, 1800, 2150)]),
    collective="allgather", native_calls=17,
    account={"took_us": 10 * 2000 + 13 * 2100 + 7 * 2000 + 20 * 500 + 50 * 2400, "saved_us": 20 * 1500 - 50 * 400,
             "error_us": 2500, "probes_us": 13 * 100, "unknown_calls": 0})
COMMUNICATOR = {**REPORT["communicators"][0], "calls": 100, "classes": [TRIED]}


QUICK_START = {**REPORT["start"], "twin_ms": 1.25, "waited_ms": 0.5}
FASTER = "collectives 1.04 ± 0.01 times as fast, 6.95 ms saved on each rank (measured, net of what it cost)"
TOTAL = {"calls": 100, "own_calls": 83, "probe_calls": 13, "waited_us": 0, "account": TRIED["account"],
         "net_us": 10000 - 1300 - 1750, "error_us": 2500, "faster": True,
         "line": f"{FASTER}; 83 of 100 collective calls ran by its algorithms, 13 of them on probe"}
MEASURED = {**REPORT, "start": QUICK_START, "total": TOTAL, "communicators": [COMMUNICATOR]}


def with_classes(*classes):
    return {**MEASURED, "communicators": [{**COMMUNICATOR, "classes": list(classes)}]}


def text_of(page):
    return " ".join(" ".join(checked(page).text).split())


def rows_of(page):
    """The cells of the table of choices."""
    [table] = re.findall(r'<div class="prose">.*?<tbody>(.*?)</tbody>', page, re.DOTALL)
    return [re.findall(r"<td>(.*?)</td>", row) for row in table.strip().splitlines()]


def test_writes_one_page_that_stands_alone(mutirao, tmp_path):
    file, page = tmp_path / "a report.json", tmp_path / "page.html"
    file.write_text(json.dumps(MEASURED))
    answer = mutirao("explain", "--page", file, "--output", page)
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, f"page: {page}\n", "")
    checker = assert_stands_alone(page.read_text())
    assert checker.tags >= {"svg", "table", "details"}
    assert len(checker.ids) == len(set(checker.ids))
    values = json.loads(mutirao("explain", "--page", file, "--json").stdout)
    assert values == {"page": "mutirao-report.html", "saved_us": TOTAL["net_us"], "verdict": TOTAL["line"]}


def test_draws_the_last_run_and_explain_points_there(typed, tmp_path):
    state = tmp_path / "state" / "mutirao"
    state.mkdir(parents=True)
    (state / "last-run.json").write_text(json.dumps(REPORT))
    assert typed("explain", "--page").returncode == 0
    assert "MPI_COMM_WORLD" in (tmp_path / "mutirao-report.html").read_text()
    assert typed("explain").stdout.splitlines()[-1] == (
        "reasons: mutirao explain --all; with pictures: mutirao explain --page")
    (tmp_path / "a report.json").write_text(json.dumps(REPORT))
    assert typed("explain", "a report.json").stdout.splitlines()[-1] == (
        "reasons: mutirao explain --all 'a report.json'; with pictures: mutirao explain --page 'a report.json'")
    refused(typed("explain", "--page", "--output", "none/page.html"), "none/page.html cannot be written")


def test_what_the_program_named_is_only_text():
    """Wherever it is shown: headings, tables, titles of pictures, the JSON and the commands."""
    report = copy.deepcopy(MEASURED)
    report["mpi"] = report["communicators"][0]["name"] = HOSTILE
    report["communicators"][0]["reason"] = HOSTILE
    report["communicators"][0]["classes"][0]["rulings"] = [
        ruling(HOSTILE, {HOSTILE: 300, "native": 900}, first_call, reason=HOSTILE,
               measured=[took(HOSTILE, 400, 300, 500)]) for first_call in (10, 30, 50)]
    page = make_page(report, HOSTILE)
    assert "script" not in assert_stands_alone(page).tags
    assert text_of(page).count(HOSTILE) > 8
    assert re.findall(r"<(?!/?[a-z]|!DOCTYPE)", page) == []


def with_total(**total):
    return {**MEASURED, "total": {**TOTAL, **total}}


@pytest.mark.parametrize("faster, tile, said", [
    (True, "tile good", "6.95 ms saved on each rank, measured, net of all costs"),
    (False, "tile bad", "6.95 ms lost on each rank, measured, net of all costs"), (None, None, None)])
def test_what_all_came_to(faster, tile, said):
    """In the words of the library."""
    page = make_page(with_total(faster=faster), None)
    text = text_of(page)
    assert f"mutirao: {TOTAL['line']}." in text
    assert {each for each in ("tile good", "tile bad") if each in page} == ({tile} if tile else set())
    assert said is None or said in text


def test_calls_are_counted_by_the_ruling_that_ran_them():
    """Also those of rulings that are no longer remembered; what of these was on probe is not known any more."""
    one = {**TRIED, "rulings": [{**TRIED["rulings"][1], "probe_calls": 4}]}
    assert (own_calls(one), probe_calls(one)) == (24, 4)
    more = {**one, "forgotten_rulings": 2, "forgotten_calls": 9}
    assert (own_calls(more), probe_calls(more)) == (24 + 9, 4)
    assert account_of({**TRIED, "account": None}) is None


def test_says_lost_and_unknown_as_plainly_as_saved():
    lost = {**TRIED["account"], "saved_us": -50 * 400, "probes_us": 0}
    hidden = {**TRIED["account"], "saved_us": -1000}
    for account, told in ((lost, "measured; 20.0 ms ± 2.50 ms lost"), (hidden, "measured"), (None, "measured")):
        assert class_row({**TRIED, "account": account})[-1].endswith(told)


@pytest.mark.parametrize("report, said", [
    (with_total(own_calls=0), "The MPI library took all calls."),
    ({**REPORT, "forgotten_communicators": 2}, "of 2 more communicators only the sums are kept"),
    ({**REPORT, "communicators": []}, "None had a collective call"),
    (with_classes(), "No call of it is told apart."),
    ({**REPORT, "communicators": [{**COMMUNICATOR, "hosts": 1, "sites": [0], "tree": [], "latency_us": [[0]]}]},
     "All its ranks are on one host"),
    ({**REPORT, "communicators": [{**COMMUNICATOR, "sites": [], "tree": [], "latency_us": []}]},
     "Its network was not known")])
def test_what_there_is_nothing_of_is_said(report, said):
    assert said in text_of(make_page(report, None))


def test_a_row_for_each_kind_of_call():
    assert list(map(len, rows_of(make_page(with_classes(*REPORT["communicators"][0]["classes"]), None)))) == [4, 4, 4]
    assert rows_of(make_page(MEASURED, None)) == [[
        "allgather of 16 KiB a rank", "100 calls",
        "ring:segment_bytes=8; 1.20 x native, measured; 8.70 ms ± 2.50 ms saved", "measured anew"]]


def test_a_predicted_time_is_only_compared_with_a_predicted_one():
    settled = {**TRIED["rulings"][1], "measured": [took("native", 2000, 1900, 2100)]}
    told = class_row({**TRIED, "rulings": [settled]})[-1]
    assert told.startswith(f"linear; {400 / 900:.2f} x native, predicted; ")


def test_the_page_has_all_that_is_known_as_text():
    for communicator in REPORT["communicators"]:
        assert f"<pre>{escape(chr(10).join(all_of(communicator)))}</pre>" in make_page(REPORT, None)


def lanes(communicator):
    """Of the timeline: its heads with their titles, and of each row the cells as (columns, style, title)."""
    drawn = ElementTree.fromstring(timeline(communicator, colours_of(communicator["classes"])))
    heads = [(head.text, head.get("title")) for head in drawn.findall("table/thead/tr/th")[1:]]
    return heads, [[(int(cell.get("colspan")), cell.get("class"), cell.get("title")) for cell in row.findall("td")]
                   for row in drawn.findall("table/tbody/tr")]


def test_rulings_that_are_forgotten_are_not_taken_for_the_first():
    many = {**TRIED, "forgotten_rulings": 3, "rulings": [
        {**TRIED["rulings"][1], "first_call": 10 * number} for number in range(1, 17)]}
    assert [(period.first_call, period.chosen) for period in periods(many, 200)][:4] == [
        (0, "native"), (10, "linear"), (11, "no longer remembered"), (20, "linear")]
    assert all(period.chosen != "no longer remembered" for period in periods(TRIED, 200))


def test_timeline_shows_which_arm_held_when_and_changes_where_they_were_taken_up():
    changed = following(taken_up=[{"call": 29, "links": 1, "new_tree": True, "shown": [
        {"low": 0, "high": 2, "before_us": 9000, "after_us": 90000}]}])
    later = {**TRIED, "first_call": 10, "rulings": TRIED["rulings"][:1]}
    communicator = {**changed["communicators"][0], "classes": [TRIED, later], "calls": 100}
    assert lanes(communicator) == (
        [("1", None), ("11", None), ("30", "host 0 - host 2 9.00 ms -> 90.0 ms, a new spanning tree"), ("31", None),
         ("51", None)],
        [[(1, "a0", "from call 1 on: native"), (2, "a0 dim", "from call 11 on: native, 13 calls on probe, not settled"),
          (1, "a5", "from call 31 on: linear"), (1, "a3", "from call 51 on: ring:segment_bytes=8")],
         [(1, None, None), (4, "a0 dim", "from call 11 on: native, 13 calls on probe, not settled")]])


def test_map_has_every_host_and_every_link_of_the_tree():
    svg = ElementTree.fromstring(site_map(COMMUNICATOR, COMMUNICATOR["tree"]))
    titles = [line.find("title").text for line in svg.iter("line")]
    assert titles == ["host 0 to host 1: 100.0 us", "host 1 to host 2: 8.00 ms",
                      "host 2 to host 3: 50.0 us"]
    assert [circle.find("title").text for circle in svg.iter("circle")] == [
        f"host {host} (site {host // 2})" for host in range(4)]
    labels = [text.text for text in svg.iter("text") if text.get("class") == "on-map"]
    assert labels == ["8.00 ms"]
    places = [(circle.get("cx"), circle.get("cy")) for circle in svg.iter("circle")]
    assert len(set(places)) == 4
    ends = [tuple(map(line.get, ("x1", "y1", "x2", "y2"))) for line in svg.iter("line")]
    assert ends == [places[a] + places[b] for a, b in COMMUNICATOR["tree"]]


def test_latencies_on_a_map_do_not_cover_each_other():
    hosts = 24
    star = {**COMMUNICATOR, "host_names": [f"h{host}" for host in range(hosts)], "sites": [host // 4 for host in range(hosts)],
            "latency_us": [[8000.0] * hosts] * hosts}
    svg = ElementTree.fromstring(site_map(star, [(0, host) for host in range(1, hosts)]))
    places = [complex(float(each.get("x")), float(each.get("y"))) for each in svg.iter("text")
              if each.get("class") == "on-map"]
    assert len(places) > 3
    assert all(abs((a - b).real) > 60 or abs((a - b).imag) > 13 for a, b in combinations(places, 2))


def test_map_draws_the_trees_that_ran():
    """Not the minimum spanning tree, and a tree that served two kinds of calls once."""
    def over_tree(parents, calls):
        return ruling("tree:kind=greedy", first_call=5, calls=calls, tree=parents)

    classes = [calls_of(2, 24, over_tree([2, 2, -1, 2], 30)), calls_of(1, 24, over_tree([2, 2, -1, 2], 4)),
               calls_of(0, 24, over_tree([-1, 0, 0, 0], 50), over_tree([], 9)),
               calls_of(3, 24, over_tree([3, 3, 3, -1], 0))]
    page = make_page({**REPORT, "communicators": [{**COMMUNICATOR, "classes": classes}]}, None)
    maps = [ElementTree.fromstring(svg) for svg in
            re.findall(r'<svg class="map".*?</svg>', page, re.DOTALL)]
    drawn = [[tuple(map(int, re.findall(r"host (\d+)", line.find("title").text)))
              for line in svg.iter("line")] for svg in maps]
    assert drawn == [[(0, 1), (0, 2), (0, 3)], [(2, 0), (2, 1), (2, 3)]]
    text = text_of(page)
    assert "over which 50 calls went: broadcast of 24 B from rank 0" in text
    assert "over which 34 calls went: broadcast of 24 B from rank 2" in text
    assert "over which no call went" not in text
    assert "over which no call went" in text_of(make_page(MEASURED, None))


@pytest.mark.parametrize("hosts, sites", [(2, 2), (40, 30), (64, 2), (64, 64)])  # more are left to the MPI library
def test_large_networks_are_drawn_within_the_picture(hosts, sites):
    svg = ElementTree.fromstring(site_map({
        "sites": [host % sites for host in range(hosts)],
        "latency_us": [[abs(a - b) for a in range(hosts)] for b in range(hosts)]},
        [(host, host + 1) for host in range(hosts - 1)]))
    width, height = map(float, svg.get("viewBox").split()[2:])
    centres = [(float(circle.get("cx")), float(circle.get("cy"))) for circle in svg.iter("circle")]
    assert all(10 <= x <= width - 10 and 10 <= y <= height - 10 for x, y in centres)
    assert min(math.dist(a, b) for a, b in combinations(centres, 2)) >= 20  # none covers another
