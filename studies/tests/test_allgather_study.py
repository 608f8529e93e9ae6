"""`mutirao study allgather` and the page of all papers: what is made of measurements, and the simulator."""

import functools
import os
import re
import signal
import subprocess
import threading
from contextlib import closing
from dataclasses import replace

import pytest

from made_up import circumstances
from mutirao.base.errors import Failure
from mutirao.catalogue import core_tool
from mutirao.cli.cli import main
from mutirao.run.processes import run_marked
from mutirao_studies import report
from mutirao_studies.commands import study as study_command
from mutirao_studies.commands.study import ALL, STUDIES
from mutirao_studies.document import write_files
from mutirao_studies.paper_001 import allgather, allgather_model
from mutirao_studies.paper_001.allgather_cells import cells_of, findings, verdicts
from mutirao_studies.paper_001.allgather_document import document
from mutirao_studies.paper_001.paper_001 import (
    ALGORITHMS,
    MODEL,
    OWN_RULE,
    PICKED_BY_PAPER,
    RULE,
    SIZES_BYTES,
    rule_picks,
    table_1_us,
)
from pages import checked
from shared import processes_with, wait_until
from shown import shown


def as_in_the_paper():
    """The simulator would give the paper's own times; the catalogue's best is sparbit, at half of the best."""
    cells = []
    for ranks, picked in PICKED_BY_PAPER.items():
        times = table_1_us(ranks)
        for length, name in zip(SIZES_BYTES, picked, strict=True):
            forced = {each: row[length] for each, row in times.items() if each != RULE}
            cells.append({"ranks": ranks, "length_bytes": length, "forced_us": forced,
                          "selector_us": forced[name], "chosen": "sparbit", "reason": "measured",
                          "catalogue_us": {"sparbit": min(forced.values()) / 2, "ring": 9e6}})
    return cells


def place(part, hosts):
    names = [each.name for each in ALGORITHMS] + [OWN_RULE, "auto"]
    times = {"low": 0.1, "median": 0.25, "high": 0.5, "confidence": 1.0, "ran": None}
    return {"part": part, "ranks": 8, "mpi_title": "Open MPI 5", "hosts": hosts, "preset": None,
            "repetitions": 50, "times_ms": {name: {"32": times, "2048": times} for name in names}}


def allgather_result(cells=None):
    cells = as_in_the_paper() if cells is None else cells
    return {**circumstances("allgather"), "only": [], "model": vars(MODEL), "simulator": "SimGrid version 0",
            "simulated": cells,
            "predicted": [{"ranks": cell["ranks"], "length_bytes": cell["length_bytes"],
                           "times_us": {"sparbit": 1.5 * cell["catalogue_us"]["sparbit"]}}
                          for cell in cells],
            "places": [place("host", 1), place("lab", 2)],
            "left_out": [{"title": "bruck", "reason": "did not end"}]}


def test_the_papers_own_times_bear_out_its_statements():
    """Its text: 3 of 8 and 1 of 8, bruck or recursive doubling always first, ring or linear always last."""
    found = verdicts(cells_of(allgather_result()))
    assert [each.here for each in found] == [each.paper for each in found]
    assert [each.here for each in found[:4]] == ["in 16 of 16 cells", "in 16 of 16 cells", "3 of 8", "1 of 8"]


def test_a_ring_that_is_always_first_bears_out_none():
    cells = as_in_the_paper()
    for cell in cells:
        cell["forced_us"]["ring"] = 0.1
        cell["forced_us"]["bruck"] = 1e9
    found = [each.here for each in verdicts(cells_of(allgather_result(cells)))]
    assert found[:4] == ["in 0 of 16 cells (else ring)", "in 0 of 16 cells (else bruck)", "0 of 8", "0 of 8"]


def test_a_choice_is_measured_against_the_best_of_all():
    cells = as_in_the_paper()
    cells[0]["chosen"] = "native"
    cells[1]["catalogue_us"]["sparbit"] *= 1.9
    first, second, third, *_ = cells_of(allgather_result(cells))
    assert first.choice_to_best == pytest.approx(2.0)
    assert second.gain == pytest.approx(1 / 0.95) and third.gain == pytest.approx(2.0)
    near, faster = findings(cells_of(allgather_result(cells)))
    assert (near.measured, near.met) == ("15 of 16 cells", False)
    assert (faster.measured, faster.met) == ("15 of 16 cells", True)


def test_what_is_shown():
    shown(document(allgather_result()), "62 processes: Table 1, the paper", "3 of 8", "sparbit",
          "bruck left out", "16 of 16 cells", "two hosts of the lab", "0.290", "2921")


def test_what_was_not_simulated_is_not_judged():
    result = allgather_result([])
    assert {each.here for each in verdicts(cells_of(result))} == {"not simulated"}
    lines, _ = shown(document(result))
    assert not any("62 processes, predicted" in line for line in lines)


def test_without_the_simulator_the_rest_goes_on(monkeypatch, capsys):
    monkeypatch.setattr(allgather_model.shutil, "which", lambda name: None)
    result = allgather.run_study(quick=True, only=["simulated", "predicted"])
    assert not result["simulated"] and len(result["predicted"]) == 2
    [line] = [line for line in capsys.readouterr().err.splitlines() if "left out" in line]
    assert "SimGrid is not installed" in line and "--studies" in line
    with pytest.raises(Failure, match="SimGrid is not installed"):
        allgather.run_study(quick=True, only=["simulated"])


def test_wrong_bytes_end_the_study(monkeypatch):
    row = {"bytes": 32, "rank_us": [1.0], "right": False}
    monkeypatch.setattr(allgather_model, "why_not", lambda: None)
    monkeypatch.setattr(allgather_model, "simulate", lambda *_, **__: [row])
    with pytest.raises(Failure, match="62 simulated ranks, linear brought wrong bytes with 32 B"):
        allgather.run_study(quick=True, only=["simulated"])


def test_open_mpi_is_forced_by_its_own_parameters(monkeypatch):
    launched = []
    monkeypatch.setattr("mutirao.measure.measure.launch",
                        lambda mpi, argv, ranks, **options: launched.append((argv, options)))
    for contender in allgather.contenders(None, 8):
        contender.launch(["program"], 8)
    numbers = [argv[3].rpartition("=")[2] for argv, _ in launched if argv[0] == "env"]
    assert numbers == ["1", "2", "3", "4", "5"]
    assert launched[0][0][:3] == ["env", "OMPI_MCA_coll=^han", "OMPI_MCA_coll_tuned_use_dynamic_rules=1"]
    assert [options["native"] for _, options in launched] == [True] * 6 + [False]


def test_ranks_lie_cyclically():
    assert allgather_model.core_names(5) == ["host0-0", "host1-0", "host0-1", "host1-1", "host0-2"]
    lines = list(allgather_model.platform_lines(4))
    crossing = [line for line in lines if 'src="host0-0" dst="host1-' in line]
    assert len(crossing) == 2 and all('"cable" direction="UP"' in line for line in crossing)
    [inside] = [line for line in lines if 'src="host0-0" dst="host0-1"' in line]
    assert re.findall(r'id="([^"]+)"', inside) == ["copy-host0-0", "memory-host0", "copy-host0-1"]


class Shell:
    """In the place of a simulation."""

    ranks = 1

    def __init__(self, script, token, begun):
        self.script, self.token, self.begun = script, token, begun

    def run(self, _sizes_bytes, mark):
        self.begun.append(self.script)
        return run_marked(functools.partial(subprocess.Popen, ["sh", "-c", self.script, self.token],
                                            env={**os.environ, **mark}), mark, True)


def test_simulations_end_with_whom_they_serve(token, monkeypatch):
    """Those that run; others do not begin."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: {0, 1})
    begun = []

    def interrupt():
        wait_until(lambda: len(begun) == 3 and len(processes_with(token)) == 2)
        os.kill(os.getpid(), signal.SIGINT)

    works = [Shell(script, token, begun) for script in ("exit 3", *["sleep 600; true"] * 4)]
    with pytest.raises(KeyboardInterrupt), closing(allgather_model._outcomes(works, [1])) as outcomes:
        first, outcome = next(outcomes)
        assert (first, outcome.result().returncode) == (works[0], 3)
        threading.Thread(target=interrupt, daemon=True).start()
        next(outcomes)
    assert processes_with(token) == [] and len(begun) == 3


@pytest.mark.skipif(allgather_model.why_not() is not None, reason=str(allgather_model.why_not()))
def test_simulator_and_predictor_agree():
    """Each is the other's check: they have the schedules and the model in common, and nothing else."""
    ranks, length = 8, 2048
    candidates = ["native", *allgather_model.catalogue()]
    rows = {name: row for name in candidates
            for row in allgather_model.simulate(ranks, "ompi", name, [length])}
    assert all(row["right"] for row in rows.values())
    times = {name: max(row["rank_us"]) for name, row in rows.items()}
    choice = allgather_model.choice(length, {name: row["rank_us"] for name, row in rows.items()})
    assert choice["chosen"] in times
    with core_tool.lines_file(allgather_model.network_lines(), ".network") as path:
        names = [name for name in times if name != "native"]
        answer = core_tool.ask_json(
            "predict", "allgather", *names, "--network", str(path), "--bytes", str(length),
            "--ranks", str(ranks), "--ranks-per-host", str(ranks // 2), "--placement", "cyclic")
    ratios = {row["candidate"]: row["predicted_us"] / times[row["candidate"]]
              for row in answer["candidates"]}
    assert len(ratios) > 10 and 0.8 < min(ratios.values()) <= max(ratios.values()) < 1.25, ratios


def test_the_rule_picks_what_the_paper_saw():
    """But in the cell that the paper's own times contradict."""
    other = [(ranks, length) for ranks, picked in PICKED_BY_PAPER.items()
             for length, name in zip(SIZES_BYTES, picked, strict=True)
             if rule_picks(ranks, length) != name]
    assert other == [(128, 512)]
    assert rule_picks(5, 1 << 20) == "ring" and rule_picks(5, 1) == "bruck"


def test_one_page_of_all_papers(tmp_path):
    """The pages' own parts, each once; what is missing is said."""
    write_files(document(allgather_result()), tmp_path)
    parts = [report.Part("allgather", "001", tmp_path / "allgather.html"),
             report.Part("ping-pong", "003", None, "no C compiler")]
    page = report.write_report(parts, "today", tmp_path).read_text()
    found = checked(page)
    assert found.loads == ["#allgather"] and "allgather" in found.ids
    text = " ".join(found.text)
    assert "ping-pong left out: no C compiler" in text and "Table 1, the paper" in text
    assert page.count("<html") == page.count("<body>") == page.count("<style>") == 1


def test_one_study_that_fails_does_not_stop_the_others(monkeypatch, tmp_path, capsys):
    def fails(_asked):
        raise Failure("no second host\nand more")

    mended = {name: replace(study, measure=fails) if study.paper else study
              for name, study in STUDIES.items()}
    mended["allgather"] = replace(STUDIES["allgather"], measure=lambda _asked: allgather_result())
    monkeypatch.setattr(study_command, "STUDIES", mended)
    assert main(["study", "all", "--quick", "--output", str(tmp_path)]) == 0
    said = capsys.readouterr()
    assert "interfaces left out: no second host\n" in said.err and "and more" not in said.err
    assert "62 processes, simulated" in said.out
    text = " ".join(checked((tmp_path / report.FILE).read_text()).text)
    assert "Table 1, the paper" in text and "ping-pong left out: no second host" in text


def test_every_paper_has_a_study():
    assert {study.paper for study in STUDIES.values() if study.paper} == set(report.PAPERS)
    assert ALL not in STUDIES
