"""On a narrow terminal tables lose nothing."""

import re

import pytest

from mutirao.base import progress
from mutirao.base.output import note, print_lines, working
from mutirao.base.tables import fits, text_table
from mutirao.base.units import spoken
from shared import text_of

SENTENCES = [["a-name", "MUTIRAO_A_NAME", "what it does, at some length, for whoever wants to know"]]


@pytest.mark.parametrize("width, fit", [(200, True), (60, True), (40, False)])
def test_a_table_fits_if_its_last_column_can_be_wrapped(width, fit):
    assert fits(["a", "b", "c"], SENTENCES, width) == fit
    assert not fits(["a", "b", "c"], [["0.00"] * 3] * 2, 12) and fits(["a", "b", "c"], [["0.00"] * 3] * 2, 16)


def test_numbers_stand_to_the_right_and_words_to_the_left():
    rows = [["a", "9.5", "x"], ["long", "-", None], ["b", "10.25", "words"]]
    assert text_table(["", "ms", "what"], rows, "title") == (
        "title\n         ms  what\na       9.5  x\nlong      -\nb     10.25  words")


def test_long_lines_are_wrapped_between_words_on_a_terminal_alone(monkeypatch, capsys):
    lines = ["short", "  " + "and so on " * 20 + "end"]
    print_lines(lines)
    assert capsys.readouterr().out.splitlines() == lines
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    print_lines(lines)
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "short" and max(map(len, shown)) <= 40
    assert all(line.startswith("    ") for line in shown[2:])
    assert " ".join(" ".join(shown[1:]).split()) == " ".join(lines[1].split())


def test_parameters_can_be_broken_between_them_alone(typed):
    for line in typed("show").stdout.splitlines():
        assert max(map(len, line.split())) <= 60, line


COMMANDS = ["show settings", "show algorithms", "doctor", "lab presets", "study list", "replay three-sites",
            "bench allreduce --predicted --lab six-sites", "bench all --predicted --lab ten-regions",
            "show broadcast/tree --network six-sites", "show allreduce/ring --ranks 5 --steps"]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_word_is_there_at_80_and_at_100_columns_too(command, monkeypatch, typed):
    """But for the title of a table's first column where each row is told as a paragraph."""
    def told():
        return re.sub(r"\x1b\[[\d;]*m", "", text_of(typed(*command.split())))

    piped = told().split()
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    for width in ("80", "100"):
        monkeypatch.setenv("COLUMNS", width)
        shown = told()
        assert "…" not in shown and set(piped) - set(shown.split()) <= {*piped[:1], "in", "ms"}


def test_long_work_says_how_long_the_rest_takes(monkeypatch, capsys):
    now_s = 1000.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now_s)
    with progress.steps(4) as steps:
        steps.begin("one")
        now_s += 600
        steps.advance()
        steps.begin("two")
        now_s += 60
        steps.advance(2)
        steps.begin("four")
    now_s += 1
    with progress.steps(40) as steps:
        steps.advance(39)
        steps.begin("last")
    assert capsys.readouterr().err.splitlines() == [
        "mutirao: one (0 of 4 done)", "mutirao: two (1 of 4 done, about 30 min to go)",
        "mutirao: four (3 of 4 done, about 4 min to go)",
        "mutirao: last (39 of 40 done)"]
    unequal = progress.Steps(3, [100, 100, 1000])
    now_s += 120
    unequal.advance(2)
    unequal.begin("the long one")
    assert capsys.readouterr().err == "mutirao: the long one (2 of 3 done, about 10 min to go)\n"
    assert spoken(59.6) == "60 s" and spoken(1800) == "30 min" and spoken(11000) == "3 h 03 min"


def test_on_a_terminal_progress_stands_in_one_line(monkeypatch, capsys):
    """Until something else is said; in the end nothing is left of it."""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "20")
    with working("bringing up"), progress.steps(2) as steps:
        steps.begin("a job with a long name")
        note("left out")
        steps.begin("b")
    written = capsys.readouterr().err
    assert re.sub(r"[^\n]*\r\033\[K", "", written) == "mutirao: left out\n"
    shown = written.split("\r\033[K")
    assert shown == ["", "bringing up ...", "a job with a long n", "mutirao: left out\n", "b (0 of 2 done)", "", ""]
