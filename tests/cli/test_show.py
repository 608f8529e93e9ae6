"""`mutirao show` as JSON, as text and as a picture; and what doctor and run say as JSON."""

import re
from xml.etree import ElementTree

import pytest

from mutirao.catalogue.schedule_picture import hops_of, picture
from mutirao.cli.commands import doctor
from mutirao.run.mpis import found_mpis
from shared import json_of, text_of


def test_algorithms(typed):
    rows = json_of(typed("show", "--json"))
    names = {f"{row['collective']}/{row['name']}" for row in rows}
    assert {"broadcast/native", "broadcast/tree", "scan/native"} <= names
    table = typed("show", "algorithms").stdout
    assert all(name in table for name in names)
    of_one = json_of(typed("show", "broadcast", "--json"))
    assert of_one == [row for row in rows if row["collective"] == "broadcast"]


def test_settings(typed):
    rows = json_of(typed("show", "settings", "--json"))
    table = typed("show", "settings").stdout
    assert all(row["environment"] == "MUTIRAO_" + row["name"].upper() for row in rows)
    assert all(f"{row['name']} = " in table and row["help"] in table for row in rows)


def test_settings_say_what_they_are_and_where_that_was_said(typed, tmp_path):
    (tmp_path / "mutirao.toml").write_text("verbose = 1\nagent_interval_ms = 300\n")
    given = {"MUTIRAO_VERBOSE": "2", "MUTIRAO_TRIALS": "off"}
    rows = json_of(typed("show", "settings", "--json", **given))
    now = {row["name"]: (row["value"], row["from"]) for row in rows}
    assert (now["agent_interval_ms"], now["verbose"], now["trials"], now["start"]) == (
        ("300", "mutirao.toml"), ("1", "mutirao.toml"), ("off", "environment"), ("beside", "default"))
    assert "trials = off  [environment; default auto; on/off/auto]" in typed("show", "settings", **given).stdout


def test_doctor(typed):
    report = json_of(typed("doctor", "--json"))
    assert report["usable"]
    assert {row["name"] for row in report["mpis"]} == {mpi.name for mpi in found_mpis()}


def test_doctor_says_whether_windows_close_in_pauses(monkeypatch, tmp_path):
    file = tmp_path / "tcp_slow_start_after_idle"
    monkeypatch.setattr(doctor, "IDLE_WINDOWS", file)
    assert not list(doctor._tcp())
    for kernel, to_do in (("0\n", ""), ("1\n", "sysctl -w net.ipv4.tcp_slow_start_after_idle=0")):
        file.write_text(kernel)
        [finding] = doctor._tcp()
        assert finding.state == "ok" and to_do in finding.remedy and bool(to_do) == bool(finding.remedy)


def test_show_with_several_ranks_on_a_host(typed):
    picture = json_of(typed("show", "broadcast/tree", "--ranks", 24, "--network", "six-sites",
                            "--ranks-per-host", 4, "--root", 6, "--json"))
    assert picture["host_of"] == [rank // 4 for rank in range(24)]
    # Each host is reached once, and the root speaks for its own.
    between = [message for message in picture["messages"]
               if message["from"] // 4 != message["to"] // 4]
    assert len(between) == 5
    assert 6 in {message["from"] for message in between}


def test_run_of_a_program_without_mpi(mutirao):
    mpi = found_mpis()[0]
    answer = json_of(mutirao("run", "-n", 2, "--mpi", mpi.name, "--json", "sh", "-c", "echo here; sleep 0.3"))
    assert answer["lines"] == ["here", "here"]
    assert answer["report"] is None


def test_a_tree_names_every_rank_once_with_its_time(typed):
    shown = text_of(typed("show", "broadcast/tree", "--network", "six-sites", "--root", 12, "--bytes", "1KiB"))
    heading, predicted, empty, root, *others = shown.splitlines()
    assert "1 KiB from rank 12 of 24" in heading and empty == ""
    assert re.fullmatch(r"predicted \d+\.\d ms, \d\.\d\d x the lower bound of \d+\.\d ms", predicted)
    assert root.startswith("rank 12, done after ")
    ranks = [int(re.search(r"rank (\d+), done after [\d.]+ (us|ms)$", line)[1]) for line in others]
    assert sorted([12, *ranks]) == list(range(24))


@pytest.mark.parametrize("algorithm, ranks, line", [
    ("reduce/flat", 4, "├─ rank 1, done after"), ("allreduce/ring", 4, "rank 3 sends to 0"),
    ("alltoall/linear", 3, "rank 0 sends to all others"), ("barrier/direct", 1, "rank 0 sends nothing"),
])
def test_to_whom_each_rank_sends(typed, algorithm, ranks, line):
    assert line in typed("show", algorithm, "--ranks", ranks).stdout


def test_steps_and_a_picture(typed, tmp_path):
    assert typed("show", "broadcast/flat", "--format", "svg", "-o", tmp_path / "flat.svg").stdout == ""
    assert (tmp_path / "flat.svg").read_text().startswith("<svg")
    answer = typed("show", "broadcast/flat", "--ranks", 3, "--steps")
    assert "rank 0  step 1  send output[0,24) to 2" in answer.stdout
    assert re.search(r"^predicted \d+\.\d us$", answer.stdout, re.MULTILINE)


# --- the picture of a schedule, by what can be counted and measured in it ---------------------------------

SVG = "{http://www.w3.org/2000/svg}"


def shown(messages, done_us, title="broadcast/flat", host_of=None, stuck=False, **more):
    return {**more, "title": title, "ranks": len(done_us), "host_of": host_of or list(range(len(done_us))),
            "rank_complete_us": done_us, "predicted_us": None if stuck else max(done_us),
            "messages": [{"from": a, "to": b, "start_us": start, "arrive_us": end, "length_bytes": 8}
                         for a, b, start, end in messages]}


def drawn(*given, **more):
    return ElementTree.fromstring(picture(shown(*given, **more)))


def texts(tree):
    return [element.text for element in tree.iter(f"{SVG}text")]


def lengths(tree):
    """Of the arrows, in px."""
    lines = [group.find(f"{SVG}line") for group in tree.iter(f"{SVG}g")]
    return [float(line.get("x2")) - float(line.get("x1")) for line in lines]


FLAT = [(0, 1, 0, 1000), (0, 3, 0, 1000), (0, 2, 0, 4000)]


def test_an_arrow_for_each_message_at_its_time():
    tree = drawn(FLAT, [4000, 1000, 4000, 1000])
    first, second, slow = lengths(tree)
    assert slow == pytest.approx(4 * first, abs=1) and second == pytest.approx(first, abs=0.2)
    titles = [group.find(f"{SVG}title").text for group in tree.iter(f"{SVG}g")]
    assert "0 to 2: 8 B, 0.000 to 4.000 ms" in titles


def test_hops_are_counted_and_the_root_is_marked():
    binomial = [(0, 4, 0, 1), (0, 2, 0, 1), (4, 6, 1, 2), (0, 1, 1, 2), (6, 7, 2, 3)]
    tree = drawn(binomial, [3.0] * 8, root=0)
    assert [text for text in texts(tree) if text.endswith(("hop", "hops"))] == ["1 hop", "2 hops", "3 hops"]
    assert texts(tree).count("root") == 1
    exchange = [(0, 1, 0, 1), (1, 0, 0, 1)]
    assert "root" not in texts(drawn(exchange, [1.0, 1.0]))


def test_hops_grow_only_by_what_had_arrived():
    messages = shown([(0, 1, 0, 10), (1, 2, 5, 15), (1, 3, 10, 20)], [0] * 4)["messages"]
    assert hops_of(messages, 4) == [1, 1, 2]


def test_ranks_stand_by_their_hosts():
    tree = drawn([(0, rank, 0, 1) for rank in range(1, 5)], [1.0] * 5, host_of=[0, 1, 0, 1, 0])
    labels = {float(element.get("y")): element.text for element in tree.iter(f"{SVG}text")
              if re.fullmatch(r"(host \d, )?\d", element.text) and element.get("text-anchor") == "end"}
    assert [labels[y] for y in sorted(labels)] == ["host 0, 0", "2", "4", "host 1, 1", "3"]


def test_what_never_happens_is_said_and_a_title_is_only_text():
    tree = drawn(FLAT[:2], [None, 1000, None, 1000], title="a < b & \"c\"", stuck=True)
    assert texts(tree).count("never") == 2 and any("stuck" in text for text in texts(tree))
    assert "a < b & \"c\"" in texts(tree)


def test_nothing_is_still_a_picture():
    assert lengths(drawn([], [0.0])) == []
    assert "nan" not in picture(shown([], [0.0]))


def test_two_pictures_share_a_page():
    """Their arrow heads have names of their own."""
    one, other = (set(re.findall(r'id="([^"]+)"', picture(shown(FLAT, [1.0] * 4, title=title)))) for title in "ab")
    assert one and not one & other
