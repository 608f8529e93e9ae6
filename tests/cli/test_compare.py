"""`mutirao compare` finds what is there and nothing else: runs whose true times are known, and tiny programs."""

import json
import math
import os
import random
import re
import signal
import subprocess
from argparse import Namespace
from types import SimpleNamespace

import pytest

from mutirao.base.paths import PRELOAD, ROOT
from mutirao.cli.commands import compare
from mutirao.cli.commands.compare import CONFIDENCE, WORTH_FINDING, Comparison, pairs_needed, verdict_line, warnings
from mutirao.measure.intervals import Ratio, student_t
from shared import in_time, json_of, quick_mpi, refused, text_of, wait_until

MPI = quick_mpi()
REPEATED = 3000
PAIRS = 8


# How much the logarithm of a run's time is off: "even" by 2% (standard deviation).
NOISE = {"even": lambda generator: generator.gauss(0, 0.02),
         "disturbed": lambda generator: generator.gauss(0, 0.02) + (0.2 if generator.random() < 0.1 else 0),
         "late": lambda generator: generator.expovariate(50),
         "of_two_kinds": lambda generator: generator.gauss(0, 0.005) + generator.choice((0, 0.04))}


def share(noise, times_as_fast, wanted, pairs=PAIRS):
    """Of comparisons of runs of 10 s, with that noise, those that hold what is wanted."""
    generator = random.Random(f"{noise} {times_as_fast}")

    def runs(seconds):
        return [seconds * math.exp(NOISE[noise](generator)) for _ in range(pairs)]

    return sum(wanted(Comparison(runs(10), runs(10 / times_as_fast))) for _ in range(REPEATED)) / REPEATED


def is_found(comparison):
    return comparison.verdict != "as fast as"


@pytest.mark.parametrize("freedom, quantile", [(1, 12.706), (2, 4.303), (3, 3.182), (7, 2.365), (8, 2.306),
                                               (30, 2.042), (999, 1.962)])
def test_quantiles_are_those_of_printed_tables(freedom, quantile):
    assert student_t(0.975, freedom) == pytest.approx(quantile, abs=5e-4)


@pytest.mark.parametrize("noise", NOISE)
def test_of_20_comparisons_without_a_difference_at_most_one_finds_any(noise):
    assert share(noise, 1, is_found) < 0.04


def test_of_10_comparisons_with_a_difference_of_5_percent_at_least_9_find_it():
    assert share("even", 1.05, lambda each: each.verdict == "faster") > 0.95
    assert share("even", 1 / 1.05, lambda each: each.verdict == "slower") > 0.95


def test_the_interval_holds_the_truth_as_often_as_it_says():
    held = share("even", 1.3, lambda each: each.ratio.low <= 1.3 <= each.ratio.high)
    assert held == pytest.approx(CONFIDENCE, abs=0.01)


def test_so_many_runs_as_are_advised_find_what_they_are_to():
    needed = pairs_needed(0.02 * math.sqrt(2))
    assert 0.86 < share("even", 1 + WORTH_FINDING, is_found, needed) < 0.94
    assert pairs_needed(3.0) > 9999


def test_a_machine_that_gets_slower_favours_neither(monkeypatch):
    """By 1% from run to run; always one side first, all comparisons would find that."""
    monkeypatch.setattr(compare, "keep_for_explain", lambda *_: None)
    generator, false = random.Random(7), 0
    for _ in range(300):
        runs = iter(range(2 * PAIRS))

        def run(*_, runs=runs, **__):
            seconds = math.exp(0.01 * next(runs) + generator.gauss(0, 0.002))
            return SimpleNamespace(returncode=0, errors="", report=None, seconds=seconds)

        job = SimpleNamespace(settings={}, argv=[])
        measured = compare.Measured(SimpleNamespace(run=run, job=job),
                                    Namespace(runs=PAIRS, warmup=0, warm=False, show_output=True), ROOT)
        assert measured.run_all() and measured.comparison.pairs == PAIRS
        false += is_found(measured.comparison)
    assert false / 300 < 0.05


def test_what_is_said():
    native_s = [10.0, 10.2, 9.9, 10.1, 10.0, 9.8, 10.1, 10.0]
    ours_s = [8.4, 8.5, 8.3, 8.6, 8.4, 8.3, 8.4, 8.5]
    assert re.fullmatch(r"with mutirao 1\.1\d+ ± 0\.01\d? times as fast as natively",
                        verdict_line(Comparison(native_s, ours_s)))
    assert re.fullmatch(r"with mutirao 1\.1\d+ ± 0\.01\d? times as slow as natively",
                        verdict_line(Comparison(ours_s, native_s)))
    same = verdict_line(Comparison(native_s, native_s[::-1]))
    assert re.fullmatch(r"with mutirao as fast as natively \(1\.000 ± 0\.00\d times\)", same)
    assert "1.19 times as fast" in verdict_line(Comparison([11.9], [10.0]))
    assert "not known" in verdict_line(Comparison([11.9], [10.0]))


def test_digits_are_those_that_the_interval_carries():
    assert str(Ratio(1.16, 1.19, 1.22)) == "1.19 ± 0.03"
    assert str(Ratio(0.9, 1.19, 1.5)) == "1.2 ± 0.3"
    assert str(Ratio(1.1915, 1.1923, 1.1931)) == "1.1923 ± 0.0008"


def test_sure_but_of_no_use_is_no_difference():
    ours_s = [10.0, 10.001, 9.999, 10.0]
    assert Comparison([each * 1.002 for each in ours_s], ours_s[::-1]).verdict == "as fast as"


def told(native_s, ours_s):
    return " ".join(warnings(Comparison(native_s, ours_s)))


def test_warnings_say_what_to_do():
    quiet = [10.0, 10.01, 9.99, 10.0, 10.02, 9.98]
    assert told(quiet, quiet[::-1]) == ""
    assert "--runs 8" in told([1.0], [1.0])
    noisy = told([10, 12, 9, 13, 10, 11], [11, 9, 13, 10, 12, 9])
    assert "noise" in noisy and int(re.search(r"--runs (\d+)", noisy)[1]) > 100
    assert "not even --runs 1000" in told([1, 100], [100, 1])


def test_at_80_columns_nothing_is_lost(monkeypatch, capsys):
    comparison = Comparison([10, 12, 9, 13, 10, 11], [11, 9, 13, 10, 12, 9])
    words = (comparison, list(warnings(comparison)), "mutirao explain")
    compare._print(*words)
    piped = capsys.readouterr().out.split()
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    compare._print(*words)
    shown = re.sub(r"\x1b\[[\d;]*m", "", coloured := capsys.readouterr().out)
    assert max(map(len, shown.splitlines())) <= 80 and not re.search(r"\x1b\[[\d;]*3\d", coloured)
    assert set(piped) <= set(shown.split())


# --- programs that are no MPI programs ----------------------------------------------------------------

# They tell by what mutirao gives its ranks how they were started. Open MPI 5's launcher may wait for ever for ranks
# that end at once.
HALF_AS_LONG = 'if [ -n "$MUTIRAO_REPORT" ]; then sleep 0.3; else echo said; sleep 0.9; fi'


@pytest.fixture
def compared(mutirao):
    def run(*options, script, **environment):
        return mutirao("compare", "-n", 2, "--mpi", MPI.name, *options, "--", "sh", "-c", script, **environment)

    return run


def test_a_program_that_is_faster(compared):
    def trial():
        answer = compared("--runs", 3, script=HALF_AS_LONG)
        lines = text_of(answer).splitlines()
        assert [re.split(r"\s{2,}", line)[:2] for line in lines[3:5]] == [["natively", "3"], ["with mutirao", "3"]]
        assert "said" not in answer.stdout  # --show-output would
        assert "mutirao saw no" in answer.stdout.lower() and lines[-1].endswith("mutirao doctor")
        assert "pair 3 of 3, natively (5 of 6 done" in answer.stderr
        faster = re.fullmatch(r"with mutirao \d\.\d+ ± \d\.\d+ times as fast as natively", lines[0])
        return None if faster else lines[0]

    in_time(trial)


def test_numbers_as_json(compared):
    told = json_of(compared("--runs", 2, "--json", script=HALF_AS_LONG))
    assert (told["pairs"], told["ranks"], told["mpi"], told["profile"], told["interrupted"]) == (
        2, 2, MPI.name, "fresh", False)
    for side, least_s in (("native", 0.9), ("with_mutirao", 0.3)):
        assert len(told[side]["seconds"]) == 2 and least_s < told[side]["min_s"] <= told[side]["mean_s"]
    assert told["low"] < told["times_as_fast"] < told["high"]


def profiles(answer):
    """That the ranks of each run were given; one in a run is enough."""
    return re.findall(r"^first=(.*)$", text_of(answer), re.MULTILINE)


@pytest.mark.parametrize("options, runs, different", [((), 2, 2), (("--warm",), 3, 1), (("--warmup", 1), 3, 3),
                                                      (("--set", "profile=auto"), 2, 1)])
def test_each_run_has_a_profile_of_its_own_unless_asked(compared, options, runs, different):
    script = 'if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ]; then echo "first=$MUTIRAO_PROFILE"; fi; sleep 0.3'
    given = profiles(compared("--runs", 2, "--show-output", *options, script=script))
    native = [each for each in given if not each]
    ours = [each for each in given if each]
    assert (len(ours), len(set(ours))) == (runs, different)
    assert len(native) == (3 if "--warmup" in options else 2)
    assert not any(os.path.exists(each) for each in ours if each != "auto")


def test_a_run_that_fails_is_named(compared):
    script = 'sleep 0.3; if [ -z "$MUTIRAO_REPORT" ]; then echo why >&2; exit 7; fi'
    answer = compared("--runs", 2, script=script)
    assert (answer.returncode, answer.stdout) == (1, "")
    last = answer.stderr.splitlines()[-1]
    assert "pair 1 of 2, natively" in last and "exit code 7" in last and "why" in answer.stderr


def test_an_interrupt_tells_what_was_measured(surroundings):
    command = [ROOT / "mutirao", "compare", "-n", "2", "--mpi", MPI.name, "--runs", "900", "--json", "sh", "-c",
               "sleep 0.3"]
    process = subprocess.Popen(command, env=surroundings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: "pair 3 of 900" in process.stderr.readline())
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=30)
    assert process.returncode == 130 and "interrupted after 2 of 900 pairs" in errors
    told = json.loads(output)
    assert told["interrupted"] and told["pairs"] == 2


def test_natively_is_to_be_native(compared):
    refused(compared(script="true", LD_PRELOAD=str(PRELOAD)), "unset LD_PRELOAD")


def test_a_program_that_mutirao_handles_leaves_its_report(mutirao, tmp_path):
    """Also that of the last run with mutirao where a native one came after it."""
    answer = mutirao("compare", "-n", 2, "--mpi", MPI.name, "--runs", 1, "--report", "r.json",
                     MPI.program("collective"), "broadcast")
    assert text_of(answer).splitlines()[-1].endswith("mutirao explain " + "r.json")
    assert mutirao("explain", "r.json").stdout.startswith("mutirao: ")  # its verdict
    assert mutirao("explain").stdout.startswith("mutirao: ")
