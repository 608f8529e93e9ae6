"""`mutirao bench --choice`: what is tried by force, in which turns, and what is made of the times; once
for real on one host."""

import itertools
import json
import random
import re
import statistics

import pytest

from made_up import JobsThatTake, calls_of, mpi_named, report, ruling
from mutirao.base.errors import Failure, UsageError
from mutirao.catalogue import core_tool
from mutirao.catalogue.collectives import COLLECTIVES
from mutirao.lab.named_networks import load_preset
from mutirao.measure import choice, measure
from mutirao.measure.arms import ONE_HOST, arms_for, coarse
from mutirao.measure.choice import (
    NATIVE,
    OWN_CHOICE,
    Cell,
    Plan,
    Sample,
    free_run,
    in_turns,
    measured_cells,
    native_beside,
    row_of,
    summary,
    summary_lines,
)
from mutirao.measure.intervals import LEAST_SAMPLES, median_interval
from mutirao.measure.measure import Contender, Measurement, Workload, campaign_in
from mutirao.measure.words import Place
from mutirao.run.mpis import KNOWN
from shared import json_of, quick_mpi, text_of


@pytest.mark.parametrize("wanted", [0.95, 0.98])
@pytest.mark.parametrize("count", range(1, 15))
def test_an_interval_holds_the_median_as_surely_as_it_says(count, wanted):
    """Every way in which samples can lie below (0) or above (1) a true median is as likely."""
    got = median_interval(range(count), wanted)
    low, high = int(got.low), int(got.high)
    ways = [sorted(sides) for sides in itertools.product((0, 1), repeat=count)]

    def confidence(low, high):
        return sum(sides[low] == 0 and sides[high] == 1 for sides in ways) / len(ways)

    assert got.confidence == pytest.approx(confidence(low, high))
    assert low == count - 1 - high
    assert low == 0 or got.confidence >= wanted
    assert low + 1 >= high - 1 or confidence(low + 1, high - 1) < wanted, "it could be narrower"
    assert wanted != 0.95 or (got.confidence >= wanted) == (count >= LEAST_SAMPLES)


@pytest.mark.parametrize("count", range(1, 8))
@pytest.mark.parametrize("round_number", (0, 1))
def test_every_job_is_beside_a_native_one(count, round_number):
    names = [f"arm {number}" for number in range(count)]
    jobs = in_turns(names, round_number)
    assert [job for job in jobs if job != NATIVE] == (names[::-1] if round_number else names)
    for number, job in enumerate(jobs):
        if job != NATIVE:
            beside = native_beside(jobs, number)
            assert jobs[beside] == NATIVE and abs(beside - number) == 1
    assert jobs.count(NATIVE) == count // 2 + 1


def schedules_of(collective, name, ranks, length):
    return str(core_tool.ask_json("show", f"{collective}/{name}", "--ranks", str(ranks), "--ranks-per-host", str(ranks),
                                  "--bytes", str(length), "--format", "json")["schedules"])


@pytest.mark.parametrize("collective, ranks, length", [
    ("allgather", 5, 8), ("allgather", 8, 4096), ("allreduce", 3, 65536), ("barrier", 2, 0)])
def test_nothing_that_differs_on_one_host_is_left_untried(collective, ranks, length):
    """Catches an algorithm forgotten, one run twice under two names, and one that cannot run."""
    arms = arms_for(collective, ONE_HOST, ranks, length, 0)
    rows = core_tool.algorithms(collective)
    composed = {row["name"] for row in rows if row["calls"]}
    tried = [schedules_of(collective, name, ranks, length) for name in arms if name not in composed]
    assert len(set(tried)) == len(tried) > 0
    for row in rows:
        if row["native"] or row["trees"] or row["calls"]:
            continue
        try:
            assert schedules_of(collective, row["name"], ranks, length) in tried, row["name"]
        except (Failure, UsageError):
            assert not any(name.startswith(row["name"]) for name in arms)


def test_on_one_host_a_broadcast_is_what_goes_on_inside():
    insides = {name.partition("inside=")[2] for name in arms_for("broadcast", ONE_HOST, 8, 8, 0)}
    assert insides - {""} == {"flat", "k_nomial", "chain"}  # and binomial, which needs no word for it


def test_what_differs_between_hosts_is_tried():
    """Trees of one kind may be the same on a network, not all of them. Catches what is made of native calls, and
    hosts of uneven numbers of ranks."""
    six_sites = load_preset("six-sites")
    names = arms_for("allreduce", six_sites, 24, 8, 0)
    assert {"tree:kind=mst", "tree:kind=shortest_path"} <= set(names)
    for name in (*names, *arms_for("allreduce", six_sites, 26, 8, 0)):
        core_tool.check_settings({"allreduce": name})


@pytest.mark.parametrize("length, expected", [
    (1 << 20, {131072, 32768}), (65536, {8192}), (8192, set()), (64 << 20, {8388608, 2097152})])
def test_segments_make_8_and_32_of_the_first_parameters(length, expected):
    sizes = [33554432, 8388608, 2097152, 524288, 131072, 61440, 32768, 16384, 8192]
    wholes = ["tree:kind=mst", "chain:inside=chain", "tree:kind=greedy"]
    cut = [f"{name},segment_bytes={size}" for name in wholes for size in sizes]
    assert set(coarse([*wholes, *cut], length)) == {
        *wholes, *(f"{name},segment_bytes={size}" for name in wholes[:2] for size in expected)}


class MadeUpNetwork(JobsThatTake):
    """Every job is a little slower than the one before; what a contender takes, as a multiple of native, is known."""

    def __init__(self, to_native, drift=1.02):
        super().__init__(lambda contender, length: 2 * drift ** (len(self.jobs) - 1) * to_native(contender, length))


MPI = mpi_named("openmpi-5")


@pytest.fixture
def cells_of(monkeypatch):
    """The cells of 8 and of 64 bytes as made up, and what was left out."""
    def cells(made_up, arms):
        monkeypatch.setattr(measure, "measure", made_up)
        monkeypatch.setattr(measure, "check_taken_part", lambda _measurement: None)
        work = Workload((8, 64), (0,), (0,), 3)
        plan = Plan(MPI, "allreduce", work, work, 6, {}, arms)
        with campaign_in(Place([MPI], 2, None, "plain"), "choice", plan.points) as campaign:
            return measured_cells(plan, campaign), campaign.failures

    return cells


RATIOS = {NATIVE: 1.0, "flat": 0.8, "ring": 0.5, OWN_CHOICE: 0.6}


def made_up_ratio(contender, length):
    """Ring is best for 64 bytes, nothing better than native for 8."""
    return RATIOS[contender.name] if length == 64 or contender.native else 1.1 * RATIOS[OWN_CHOICE] / 0.6


def failing(fails, to_native=made_up_ratio):
    """The same, but for jobs of some contenders."""
    def ratio(contender, length):
        if fails(contender):
            raise Failure(f"{contender.title}: it did not want to")
        return to_native(contender, length)

    return ratio


def test_drift_cancels_and_the_best_is_found(cells_of):
    """All of it is twice as slow in the end. Catches times compared across a round, which drift by 10%,
    and lengths or names mixed up."""
    made_up = MadeUpNetwork(made_up_ratio)
    [short, long], failures = cells_of(made_up, {"flat": (8, 64), "ring": (8, 64)})
    assert failures == [] and [each.name for each in made_up.jobs[:4]] == [NATIVE, "flat", "ring", NATIVE]
    assert (short.best_arm(), long.best_arm()) == (NATIVE, "ring")
    assert long.to_best.median == pytest.approx(0.6 / 0.5, rel=0.045)
    assert long.to_native.median == pytest.approx(0.6, rel=0.025)
    assert short.to_best.median == pytest.approx(1.1, rel=0.025)
    assert not long.near_best and long.near_native and not short.near_native
    of_all = summary([short, long])
    assert (of_all["near_best"], of_all["near_native"], of_all["cells"]) == (0, 1, 2)
    assert of_all["worst"]["length_bytes"] == 64
    assert of_all["to_native"] == pytest.approx((0.6 * 1.1) ** 0.5, rel=0.025)
    assert "worst cell: allreduce of 64 B" in summary_lines([short, long])[2]


def test_an_arm_for_one_length_only_and_one_that_fails_which_is_told_once(cells_of):
    made_up = MadeUpNetwork(failing(lambda contender: contender.name == "ring"))
    [short, long], failures = cells_of(made_up, {"flat": (64,), "ring": (8, 64)})
    assert set(short.arms) == {NATIVE} and set(long.arms) == {NATIVE, "flat"}
    assert [(each["name"], each["reason"]) for each in failures] == [("ring", "it did not want to")]


def test_a_launcher_may_fail_once(cells_of):
    once = iter([True])
    made_up = MadeUpNetwork(failing(lambda contender: contender.name == "ring" and next(once, False)))
    cells, failures = cells_of(made_up, {"ring": (8, 64)})
    assert failures == [] and all("ring" in cell.arms for cell in cells)


def test_without_native_or_the_choice_there_is_nothing_to_judge(cells_of):
    with pytest.raises(Failure, match="did not want"):
        cells_of(MadeUpNetwork(failing(lambda contender: contender.name == OWN_CHOICE)), {})


def noisy_cell(arms, rounds, seed):
    """All take as long as native but for noise; the choice is one of them."""
    noise = random.Random(seed)
    return Cell("allreduce", 8, 0, {name: [Sample(noise.uniform(0.9, 1.1), 1.0) for _ in range(rounds)]
                                    for name in [OWN_CHOICE, *(f"arm {number}" for number in range(arms))]})


def test_luck_is_no_merit():
    """Of 30 arms that are equally fast the luckiest looks 5% faster than the choice; held against the
    best of other rounds it does not. Catches a best arm that is chosen by the round it is judged in."""
    cells = [noisy_cell(30, 6, seed) for seed in range(40)]
    lucky = [statistics.median(choice.ms / min(arm.ms for arm in arms)
                               for choice, *arms in zip(cell.choice, *cell.arms.values())) for cell in cells]
    assert statistics.mean(lucky) > 1.05
    assert statistics.mean(cell.to_best.median for cell in cells) == pytest.approx(1.0, abs=0.02)


def one_round(collective, choice, free_runs=(), **arms):
    """A cell of a single round."""
    return Cell(collective, 8 * COLLECTIVES[collective].has_length, 0,
                {OWN_CHOICE: [choice], **{name: [sample] for name, sample in arms.items()}}, list(free_runs))


@pytest.mark.parametrize("choice_ms, near", [(350e-6, True), (370e-6, False)])
def test_native_has_60_ns_of_grace(choice_ms, near):
    cell = one_round("barrier", Sample(choice_ms, 300e-6))
    assert cell.near_native == near and not cell.near_best


def test_native_beside_it_counts_more_than_another_job():
    """Jobs differ by more than what is to be seen; how they differ is told apart from it."""
    cell = one_round("barrier", Sample(1.5, 1.0, 1.5))
    assert cell.near_native and cell.to_native.median == 1.0 and cell.to_native_job.median == 1.5
    assert cell.best_arm() == NATIVE and cell.near_best and cell.median_ms(NATIVE) == 1.5
    lines = summary_lines([cell])
    assert any("against jobs without mutirao 1.500 x" in line for line in lines)
    cell = one_round("barrier", Sample(1.5, 1.0))
    assert not cell.near_native and not any("without mutirao" in line for line in summary_lines([cell]))


def measured(*rulings):
    """A free run of 8 bytes; of each ruling what was chosen, and what was still tried."""
    contender = Contender(OWN_CHOICE, next(iter(KNOWN)), {"allreduce": OWN_CHOICE, "start": "soon"}, "allreduce")
    given = [ruling(chosen, first_call=9, settled=not tries, probe_calls=len(tries)) for chosen, *tries in rulings]
    told = report(2, [calls_of(0, 8, *given, collective="allreduce", native_calls=1)])
    return free_run(Measurement(contender, (), told, 1.0), 8, 0)


def test_what_ran_is_told_once():
    """In most rounds the best, in one something else, and in two nothing was settled. Catches a look at the first
    ruling."""
    rulings = [("ring",), ("ring",), ("flat",), ("ring", "chain"), ("native", "flat")]
    cell = one_round("allreduce", Sample(1.0, 2.0), [measured(("flat", "ring"), last) for last in rulings],
                     ring=Sample(1.0, 2.0))
    assert (cell.ran, cell.unsettled) == (["ring", "flat", "native"], 2)
    assert row_of(cell)[-1] == "the same, flat, native; 2 of 5 not settled"
    cell.free_runs = [measured()]
    assert (cell.ran, cell.unsettled, row_of(cell)[-1]) == (["native"], 0, "native")


@pytest.fixture
def about_all(monkeypatch, typed):
    """The command about all collectives, with jobs that are made up."""
    def run(made_up, *words):
        monkeypatch.setattr(measure, "measure", made_up)
        monkeypatch.setattr(measure, "check_taken_part", lambda _measurement: None)
        monkeypatch.setattr(choice, "place_of", lambda _arguments: Place([MPI], 2, None, "plain"))
        monkeypatch.setattr(choice, "network_of", lambda _place, _settings: ONE_HOST)
        return typed("bench", "all", "--choice", "--bytes", 8, "--rounds", 2, *words)

    return run


def test_all_collectives_at_once(about_all):
    """Each has a row in the table. Catches barriers with a length, and arms of another collective."""
    made_up = MadeUpNetwork(lambda contender, _length: 0.5 if contender.name == OWN_CHOICE else 1.0, drift=1.0)
    said = text_of(about_all(made_up))
    assert f"{len(COLLECTIVES)} cells" in said
    for collective in COLLECTIVES.values():
        length = 8 if collective.has_length else 0
        [row] = [line for line in said.splitlines()
                 if re.match(rf"{collective.calls(length, 0)}  ", line)]
        assert row.split("  ")[-1].strip() == "the same" and "0.50" in row
        for name in arms_for(collective.name, ONE_HOST, 2, length, 0):
            core_tool.check_settings({collective.name: name})
    assert "0.500 x the best arm and 0.500 x native; the best" in said.replace("\n", " ")


def test_one_collective_that_fails_leaves_the_others(about_all):
    answer = about_all(MadeUpNetwork(failing(
        lambda contender: (contender.collective, contender.name) == ("scan", OWN_CHOICE), lambda *_: 1.0)), "--json")
    result = json.loads(answer.stdout)
    assert answer.returncode == 1 and [each["collective"] for each in result["failed"]] == ["scan"]
    assert result["summary"]["openmpi-5"]["cells"] == len(COLLECTIVES) - 1


def test_on_one_host(mutirao):
    result = json_of(mutirao("bench", "barrier", "--choice", "--mpi", quick_mpi().name, "-n", 2, "--rounds", 1,
                             "--repeat", 2, "--settle-s", 0.2, "--settle-calls", 40, "--only", "dissemination",
                             "--json", MUTIRAO_RANKS_PER_HOST="1"))
    [plan] = result["plans"]
    assert plan["arms"] == {"dissemination": [0]} and result["failed"] == []
    [cell] = plan["cells"]
    assert set(cell["samples"]) == {OWN_CHOICE, "dissemination"}
    assert all(0 < sample["ms"] and 0 < sample["native_job_ms"]
               for samples in cell["samples"].values() for sample in samples)
    assert result["summary"][plan["mpi"]]["cells"] == 1
    assert cell["best"] in {NATIVE, "dissemination"} and COLLECTIVES[plan["collective"]]
