"""`mutirao bench`: what it is asked for, what it makes of measurements, and once for real."""

import pytest

from made_up import calls_of, contender_named, mpi_named, report, ruling
from mutirao.base.errors import UsageError
from mutirao.base.tables import BEST
from mutirao.catalogue.collectives import COLLECTIVES
from mutirao.cli.commands.bench import NATIVE, _compared, _text
from mutirao.lab.network import HostNetwork
from mutirao.measure.measure import Contender, Measurement, Point
from mutirao.measure.words import parse_only, parse_roots, parse_sizes
from shared import json_of, quick_mpi


def test_sizes():
    assert parse_sizes("24,64KiB,1MiB,0,3b") == [24, 65536, 1048576, 0, 3]


def test_roots():
    network = HostNetwork.from_sites(["A", "B", "C"], [[0, 1, 1], [1, 0, 1], [1, 1, 0]], 2)
    assert parse_roots("0,5", 6, network) == [0, 5]
    assert parse_roots("all", 3, None) == [0, 1, 2]
    assert parse_roots("sites", 6, network) == [0, 2, 4]
    assert parse_roots("sites", 12, network) == [0, 4, 8]  # two ranks to a host
    assert parse_roots("sites", 3, network) == [0, 2]  # no rank in C


@pytest.mark.parametrize("parsed, said", [
    *((lambda text=text: parse_sizes(text), "--bytes") for text in ("", "x", "24,", "1.5KiB", "-1", "64KB", "2GiB")),
    *((lambda text=text: parse_roots(text, 6, None), said) for text, said in (
        ("site", "did you mean sites"), ("6", "0..5"), ("-1", "a root is"), ("sites", "--lab"))),
    *((lambda word=word: parse_only([word]), near) for word, near in (("flatt", "flat"), ("tree:kind=mts", "mst")))])
def test_wrong_words(parsed, said):
    with pytest.raises(UsageError, match=said):
        parsed()


def test_only():
    """A comma separates algorithms, and the parameters of one."""
    assert parse_only(["native,tree:kind=mst,segment_bytes=4096,flat", "flat"]) == [
        "native", "tree:kind=mst,segment_bytes=4096", "flat"]


def test_only_all_is_every_algorithm_of_a_collective_once():
    """Catches algorithms of other collectives, which a job of this one cannot be told to run."""
    names = parse_only(["auto,all"])
    assert names[0] == "auto" and NATIVE in names and len(set(names)) == len(names)
    assert {"flat", "k_nomial:radix=8", "tree:kind=greedy", "two_level"} <= set(names)
    of_barrier = parse_only(["all"], "barrier")
    assert of_barrier[:2] == [NATIVE, "auto"] and "flat" not in of_barrier


CONSIDERED = [("flat", 90_000), ("chain", 300_000), ("native", 180_000), ("binomial", 210_000)]


def bench_of(medians_ms, choice="flat"):
    """Of one length and root, by the names of contenders."""
    measurements = []
    for name, median_ms in medians_ms.items():
        ran = choice if name == "auto" else name
        given = report(4, [calls_of(0, 16, ruling(ran, CONSIDERED if name == "auto" else ()))])
        measurements.append(Measurement(
            contender_named(name), (Point(24, 0, 1, 9.0, (median_ms,), 80.0),),
            None if name == "native" else given, 1.0))
    return _compared(measurements)


def said_of(measured):
    return _text(COLLECTIVES["broadcast"], measured)


def test_ratios_and_errors_of_prediction():
    measured = bench_of({"native": 200.0, "auto": 100.0, "flat": 102.0, "chain": 250.0})
    points = {each["name"]: each["points"][0] for each in measured}
    assert points["auto"] | {"ran": "flat", "to_native": 0.5, "to_bound": 1.25,
                             "predicted_ms": 90.0, "error": pytest.approx(-0.1)} == points["auto"]
    assert points["native"]["predicted_ms"] == 180.0
    assert points["chain"]["error"] == pytest.approx(0.2)
    assert "Median error of prediction: 10.9% (4 predictions)." in said_of(measured)


def test_what_ran_natively_is_not_compared_with_native():
    measured = bench_of({"native": 200.0, "auto": 22.0}, choice="native")
    auto = next(line for line in said_of(measured).splitlines() if line.startswith("auto "))
    assert "22" in auto and "0.11" not in auto
    assert {each["name"]: each["points"][0]["to_native"] for each in measured} == {
        "native": 1.0, "auto": None}
    assert "auto ran natively" in said_of(measured)


def test_green_is_what_was_the_fastest(monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    said = said_of(bench_of({"native": 100.0, "auto": 143.0}))
    green = [line for line in said.splitlines() if line.startswith(f"\x1b[{BEST}m")]
    assert len(green) == 1 and "native" in green[0]


def test_without_a_choice_nothing_is_predicted():
    measured = bench_of({"native": 200.0, "flat": 100.0, "chain": 150.0})
    assert "error of prediction" not in said_of(measured)


@pytest.mark.parametrize("name, consecutive, title", [
    ("broadcast", 1, "broadcast of 24 B from rank 0"), ("reduce", 1, "reduce of 24 B to rank 0"),
    ("allgather", 1, "allgather of 24 B a rank"), ("scan", 3, "3 scans of 24 B"), ("barrier", 1, "barrier")])
def test_titles_name_what_is_measured(name, consecutive, title):
    way = Contender(NATIVE, mpi_named("openmpi-5"), None, name)
    length = 0 if name == "barrier" else 24
    done = Measurement(way, (Point(length, 0, consecutive, 9.0, (100.0,), 80.0),), None, 1.0)
    assert _text(COLLECTIVES[name], _compared([done])).splitlines()[0] == title


def test_in_the_lab(lab_possible, mutirao, tmp_path):
    (tmp_path / "four.csv").write_text("0,4,20,30\n4,0,22,26\n20,22,0,6\n30,26,6,0\n")
    answer = mutirao("bench", "broadcast", "--lab", "four.csv", "--roots", "0,2", "--mpi", quick_mpi().name,
                     "--only", "native,auto,chain", "--repeat", 2, "--json")
    result = json_of(answer)
    assert [each["name"] for each in result["measurements"]] == ["native", "auto", "chain"]
    assert result["machine"]["load_before"] >= 0
    for each in result["measurements"]:
        assert [(point["root"], point["length_bytes"]) for point in each["points"]] == [
            (0, 24), (2, 24)]
        assert each["packets"] > 0
        for point, bound_ms in zip(each["points"], (13.0, 11.0), strict=True):
            assert point["bound_ms"] == bound_ms
            assert len(point["completion_ms"]) == 2
            assert min(point["completion_ms"]) >= bound_ms * 0.995
    chain, auto = result["measurements"][2], result["measurements"][1]
    # Along the chain 0, 1, 2, 3 the message travels 2 + 11 + 3 ms.
    assert chain["points"][0]["median_ms"] >= 16 * 0.995
    assert chain["points"][0]["ran"] == "chain"
    assert auto["points"][0]["predicted_ms"] >= 13.0 * 0.9
    assert "native on" in answer.stderr and "chain on" in answer.stderr
