"""`mutirao bench --guidelines`: the table, and what is found in times that are made up; once for real."""

import json
import re

import pytest

from made_up import JobsThatTake, mpi_named
from mutirao.base.errors import Failure
from mutirao.base.paths import ROOT
from mutirao.catalogue.collectives import COLLECTIVES
from mutirao.measure import guidelines, measure
from mutirao.measure.guidelines import GUIDELINES, MARGIN, Call, calls_of, check, lengths_of_each, report
from mutirao.measure.words import Place
from shared import json_of, quick_mpi

RANKS = 4
BLOCKS = [8, 1024]


def times_of(ms):
    """In six rounds: a call's time by its collective, its length and the round."""
    lengths = lengths_of_each(COLLECTIVES, BLOCKS, RANKS)
    return {Call(name, length): [ms(name, length, number) for number in range(6)]
            for name in lengths for length in lengths[name]}


def checked(ms):
    return check(times_of(ms), COLLECTIVES, BLOCKS, RANKS)


def test_equal_times_keep_all_guidelines():
    checks = checked(lambda *_call: 1.0)
    assert not any(each.violated for each in checks)
    # Each row at each block, and each collective with a length from every length to the next.
    lengths = lengths_of_each(COLLECTIVES, BLOCKS, RANKS)
    assert len(checks) == 2 * len(GUIDELINES) + sum(len(each) - 1 for each in lengths.values())


@pytest.mark.parametrize("row", GUIDELINES, ids=" ".join)
def test_each_guideline_is_checked(row):
    """Catches a row that is never looked at, and one that blames another length."""
    slow, *others = calls_of(row, 1024, RANKS)
    checks = checked(lambda name, length, _round: 3.0 if (name, length) == slow else 1.0)
    violated = [each for each in checks if each.violated]
    assert {each.first for each in violated} == {slow}
    assert tuple(others) in [each.others for each in violated]


PARTS = {"nothing": lambda length: 0, "one_block": lambda length: length,
         "block_per_rank": lambda length: RANKS * length}


def test_what_takes_its_place_gives_as_much():
    """By what the measuring program says that each collective gives and gets. Catches a length taken
    for that of all blocks together, or the other way round."""
    text = (ROOT / "bench" / "calls.h").read_text()
    rows = re.findall(r'\{"(\w+)", \w+, (\w+), (\w+), \w+, [01], [01]\}', text)
    gets = {name: PARTS[got] for name, _given, got in rows}
    gives = {name: PARTS[given] for name, given, _got in rows}
    for row in GUIDELINES:
        (first, length), (then, its_length), *_ = calls = calls_of(row, 8, RANKS)
        last, last_length = calls[-1]
        if last == then:
            assert gets[last](last_length) >= gets[first](length), row
            assert gives[last](last_length) >= gives[first](length), row
        else:
            assert gets[last](last_length) == gets[first](length), row
            assert gives[then](its_length) == gives[first](length), row


def test_no_collective_is_slower_with_less():
    checks = checked(lambda name, length, _round: 2.0 if (name, length) == ("scan", 8) else 1.0)
    assert ["scan of 8 B > scan of 1 KiB"] == [each.title for each in checks
                                              if each.violated and each.first[0] == "scan"]


@pytest.mark.parametrize("ratios, violated", [
    ((1.04,) * 6, False), ((1.5, 1.5, 1.5, 1.5, 1.5, 1.04), False), ((1.06,) * 6, True),
    ((9.0, 1.2, 1.2, 1.2, 1.1, 1.1), True)])
def test_only_what_is_sure_counts(ratios, violated):
    """Of six rounds the interval has all. Catches medians compared."""
    checks = checked(lambda name, length, number: ratios[number]
                     if (name, length) == ("exscan", 1024) else 1.0)
    [found] = [each for each in checks if each.others == (("scan", 1024),)
               and each.first[0] == "exscan"]
    assert found.violated == violated and (min(ratios) > 1 + MARGIN) == violated


def test_rounds_are_compared_with_themselves():
    """Everything gets ten times slower from round to round. Catches intervals of the two sides."""
    checks = checked(lambda name, _length, number: 10.0 ** number * (1.2 if name == "exscan" else 1))
    assert [each.ratio.low for each in checks if each.first[0] == "exscan"
            and each.others[0][0] == "scan"] == [pytest.approx(1.2)] * 2


def test_sums_of_other_units_are_not_compared():
    """With blocks of 12 bytes one of 2 ranks combines bytes, and a message of both adds doubles."""
    lengths = lengths_of_each(COLLECTIVES, [12], 2)
    assert lengths["reduce_scatter_block"] == [12] and "broadcast" in lengths
    assert lengths["allreduce"] == [12, 24]  # 24 takes the place of an allgather, which adds nothing
    assert calls_of(("reduce_scatter_block", "reduce of all", "scatter"), 12, 2) == []


def test_about_some_collectives_only():
    assert set(lengths_of_each(["gather"], BLOCKS, RANKS)) == {"gather", "allgather", "reduce", "gatherv"}


def test_report_names_violations_with_their_times():
    checks = checked(lambda name, length, _round: 3.0 if (name, length) == ("exscan", 1024) else 1.0)
    lines = report("native on X", checks).splitlines()
    assert lines[0] == f"native on X: {len(checks)} guidelines checked, 1 violated by more than 5%"
    assert lines[-1].split("  ")[0] == "exscan of 1 KiB > scan of 1 KiB"
    assert lines[-1].split()[-6:] == ["3.00", "ms", "1.00", "ms", "3.00", "3.00-3.00"]


@pytest.fixture
def about_exscan(monkeypatch, typed):
    """The command with jobs that are made up, on two ranks; its answer, and the names of its jobs."""
    place = Place([mpi_named("openmpi-5")], 2, None, "plain")

    def run(call_ms, *words):
        monkeypatch.setattr(guidelines, "place_of", lambda _arguments: place)
        made_up = JobsThatTake(lambda contender, _length: call_ms(contender.name, contender.collective))
        monkeypatch.setattr(measure, "measure", made_up)
        answer = typed("bench", "exscan", "--guidelines", "--bytes", "8,64", "--json", *words)
        return answer, [each.name for each in made_up.jobs]

    return run


def test_native_and_mutirao_are_told_apart(about_exscan):
    answer, jobs = about_exscan(lambda who, name: 3.0 if (who, name) == ("auto", "exscan") else 1.0)
    result = json_of(answer)
    assert [(each["with"], each["checked"], each["violated"]) for each in result["results"]] == [
        ("native", 3, 0), ("auto", 3, 2)]
    assert len(jobs) == 2 * 2 * 6  # exscan and scan, each of both, in six rounds
    assert jobs[:8] == ["native", "auto"] * 2 + ["auto", "native"] * 2


def test_a_collective_that_fails_is_left_out(about_exscan):
    def fails(_who, name):
        if name == "scan":
            raise Failure("it did not want to")
        return 1.0

    answer, _jobs = about_exscan(fails, "--with", "native")
    [native] = json.loads(answer.stdout)["results"]
    assert answer.returncode == 1 and native["checked"] == 1  # with less to send
    assert native["failed"] == {"scan": "it did not want to"}


def test_on_one_host(mutirao):
    result = json_of(mutirao("bench", "scan", "--guidelines", "--with", "native", "--mpi", quick_mpi().name, "-n", 2,
                             "--bytes", "8,64", "--repeat", 2, "--json"))
    [native] = result["results"]
    [shorter] = native["checks"]
    assert result["rounds"] == 6 and native["checked"] == 1
    assert shorter["first"] == {"collective": "scan", "length_bytes": 8}
    assert shorter["others"] == [{"collective": "scan", "length_bytes": 64}]
    assert shorter["first_ms"] > 0 and shorter["others_ms"] > 0
