"""The study's page: whole, by itself, and with every number that was measured."""

import json
import re
from xml.etree import ElementTree

import pytest

from mutirao_studies.chart import Bar, Group, bar_chart
from mutirao_studies.document import page_of, write_files
from mutirao_studies.paper_000 import six_sites
from mutirao_studies.paper_000.six_sites_document import demo_document, document
from pages import assert_stands_alone, checked


def made(result):
    return str(page_of(document(result)))


@pytest.fixture
def result(study_with):
    return study_with()


def test_whole_and_by_itself(result):
    page = made(result)
    assert_stands_alone(page)
    assert "http" not in page


def test_the_demos_page_is_whole(study_with):
    result = study_with(found=("openmpi-5",), mpi_names=["openmpi-5"], scope=six_sites.DEMO)
    checker = checked(str(page_of(demo_document(result))))
    assert checker.loads == []
    text = " ".join(checker.text)
    for arm in result["arms"]:
        for point in arm["points"]:
            assert all(f"{value:g}" in text for value in point["completion_ms"])


def test_every_number_is_there(result):
    """In what is read, not only in the JSON at the end."""
    text = " ".join(checked(made(result)).text)
    for arm in result["arms"]:
        for point in arm["points"]:
            for value in [point["first_ms"], point["median_ms"], point["bound_ms"],
                          *point["completion_ms"]]:
                assert f"{value:g}" in text, (arm["key"], point)
    for row in result["network"]["round_trip_ms"]:
        assert all(f"{value:g}" in text for value in row if value)
    for by_count in result["paper"]["figure_4_s"].values():
        assert all(f"{value:.2f}" in text for times in by_count.values() for value in times)
    for by_count in result["paper"]["table_2_s"].values():
        assert all(f"{value:.2f}" in text for value in by_count.values())
    for value in ("2.09 s", "4.71 s", "6.80 s", "in MPI_Init", "call 1"):
        assert value in text


def test_raw_values_beside_the_page(result, tmp_path):
    page, values = write_files(document(result), tmp_path)
    assert page.read_text(encoding="utf-8") == made(result)
    assert json.loads(values.read_text()) == result


def test_left_out_arms_and_odd_names(study_with):
    result = study_with(failing=("MST", "mutirao's choice", "MagPIe-like"))
    result["left_out"][0]["reason"] = "<b>1 & 2</b> $root"
    page = made(result)
    assert "<b>1 &" not in page
    assert "left out: <b>1 & 2</b> $root" in "".join(checked(page).text)


def test_native_arms_alone(study_with):
    result = study_with(failing=("MPICH-like", "MST", "mutirao's choice", "MagPIe-like"))
    checked(made(result))


def test_bars_are_as_long_as_their_values():
    chart = bar_chart([Group("g", [Bar("one", [("a", 30.0, "x"), ("b", 10.0, "y")]),
                                   Bar("two", [("a", 20.0, "z")])], 40.0)])
    svg = ElementTree.fromstring(chart)
    first, second, third = [float(rect.get("width")) for rect in svg.iter("rect")]
    assert first == pytest.approx(3 * second, abs=0.2)
    assert third == pytest.approx(2 * second, abs=0.2)
    rects = list(svg.iter("rect"))
    bound = next(line for line in svg.iter("line") if line.get("class") == "bound")
    assert float(rects[1].get("x")) + second == pytest.approx(float(bound.get("x1")), abs=0.1)
    assert float(rects[0].get("x")) + first == pytest.approx(float(rects[1].get("x")), abs=0.2)


def test_a_line_tells_how_far_runs_lie_apart():
    """Of one run there is none, and the longest line fits the picture."""
    bars = [Bar("three", [("a", 30.0, "x")], "30", [20.0, 60.0, 30.0]), Bar("one", [("a", 30.0, "y")], "30", [30.0])]
    chart = bar_chart([Group("g", bars)])
    svg = ElementTree.fromstring(f"<body>{chart}</body>")
    lines = {path.get("d") for path in svg.iter("path")}
    low, high = (float(number) for number in re.fullmatch(r"M([\d.]+) .*H([\d.]+)m.*", lines.pop()).groups())
    rect = next(svg.iter("rect"))
    left, width = float(rect.get("x")), float(rect.get("width"))
    assert not lines and "least to the most" in chart and "least to the most" not in bar_chart([Group("g", bars[1:])])
    assert low - left == pytest.approx(width * 2 / 3, abs=0.2) and high - left == pytest.approx(2 * width, abs=0.2)
    label = next(text for text in svg.iter("text") if text.get("class") == "value")
    assert float(label.get("x")) > high


def test_no_chart_is_pushed_aside_on_a_narrow_page(result):
    """Only the drawings of the core are as wide as they are."""
    page = made(result)
    assert page.count("<svg") > 15
    assert not re.search(r'class="scroll">\s*<(svg|div class="groups)', page)
    assert not re.search(r"svg[^{}]*{[^{}]*min-width: [^01]", page.replace(".cards .spark", ""))


def test_no_colour_means_two_things(result):
    """Hues are for sites; bars take the other colours, of which none is a site's."""
    page = made(result)
    colours = re.findall(r"--([as]\d): (#\w+)", page)
    bars = {f"a{number}" for number in re.findall(r'<rect class="a(\d)', page)}
    assert bars == {"a0", "a1", "a5"}
    assert not ({value for name, value in colours if name in bars}
                & {value for name, value in colours if name.startswith("s")})
