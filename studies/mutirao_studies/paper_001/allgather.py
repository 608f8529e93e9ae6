"""Which allgather an MPI library's fixed rule picks, and which would have been the best: paper 001, asked of a
simulator, of mutirao's predictor, of this machine and of two hosts of the lab.

The simulator (SimGrid's SMPI) runs Open MPI's algorithms and its rule, and beside them all of mutirao's
catalogue by its own executor; its times are deterministic. On this machine and in the lab real MPI programs
are timed, Open MPI's algorithms being forced by its own parameters.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

from mutirao.base.errors import Failure
from mutirao.base.progress import Steps, steps
from mutirao.catalogue import core_tool
from mutirao.catalogue.predicted import OWN_CHOICE
from mutirao.lab.lab import bring_up
from mutirao.lab.named_networks import load_preset
from mutirao.measure.circumstances import Circumstances
from mutirao.measure.intervals import median_interval
from mutirao.measure.measure import Contender, Workload, measure
from mutirao.run.launch import CompletedRun
from mutirao.run.mpis import Mpi, found_mpis
from mutirao_studies.account import LeftOut, check_known
from mutirao_studies.paper_001 import allgather_model
from mutirao_studies.paper_001.allgather_model import COLLECTIVE, Simulations
from mutirao_studies.paper_001.paper_001 import ALGORITHMS, MODEL, OWN_RULE, RANKS, REPETITIONS, SIZES_BYTES, runs_with

STUDY = "allgather"
# Parts, as --only takes them.
SIMULATED, PREDICTED, REAL, LAB = PARTS = ("simulated", "predicted", "host", "lab")
_PRESET = "two-hosts"
_OPEN_MPIS = ("openmpi-5", "openmpi-4")
_SETTLE_CALLS, _SETTLE_MS = 200, 300  # for who tries several ways first: mutirao's choice
_TIMEOUT_S = 600.0


@dataclass(frozen=True)
class Plan:
    parts: Sequence[str]
    ranks: Sequence[int]  # simulated
    sizes_bytes: Sequence[int]
    real_ranks: Sequence[int]
    real_sizes_bytes: Sequence[int]
    repetitions: int  # of real calls

    def places(self) -> list[tuple[str, int]]:
        return [(part, ranks) for part in (REAL, LAB) if part in self.parts
                for ranks in self.real_ranks]


_FULL = Plan(PARTS, RANKS, SIZES_BYTES, (4, 8), SIZES_BYTES, REPETITIONS)
_QUICK = replace(_FULL, ranks=RANKS[:1], sizes_bytes=(32, 8192), real_ranks=(4,),
                 real_sizes_bytes=(32, 8192, 524288), repetitions=10)


def plan_for(quick: bool, only: Sequence[str]) -> Plan:
    check_known("part", only, PARTS)
    return replace(_QUICK if quick else _FULL, parts=only or PARTS)


@dataclass(frozen=True)
class Forced(Contender):
    """One of Open MPI's own algorithms."""

    algorithm: int = 0

    def launch(self, argv: Sequence[str], ranks: int, **options) -> CompletedRun:
        # Between hosts its newer module would go before the one whose algorithms have numbers.
        variables = {"coll": "^han", "coll_tuned_use_dynamic_rules": 1,
                     "coll_tuned_allgather_algorithm": self.algorithm}
        return super().launch(["env", *(f"OMPI_MCA_{name}={value}" for name, value in variables.items()),
                               *argv], ranks, **options)


def run_study(quick: bool = False, only: Sequence[str] = ()) -> dict:
    plan = plan_for(quick, only)
    missing = allgather_model.why_not()
    simulations = (Simulations(plan.ranks, plan.sizes_bytes)
                   if SIMULATED in plan.parts and not missing else None)
    circumstances = Circumstances(STUDY, quick, [])
    left_out = LeftOut()
    jobs = len(plan.places()) * (len(ALGORITHMS) + 2)
    with steps(jobs + (simulations.count if simulations else 0)) as progress:
        if missing and SIMULATED in plan.parts:
            left_out.add("the simulation", missing)
        simulated = simulations.run(progress, left_out) if simulations else []
        predicted = _predicted(plan) if PREDICTED in plan.parts else []
        places = []
        for part, ranks in plan.places():
            with left_out.tried(f"{ranks} ranks ({part})"):
                places.append(_place(part, ranks, plan, progress, left_out))
    left_out.check(simulated or predicted or places)
    return {**circumstances.to_dict(), "only": list(only), "model": vars(MODEL),
            "simulator": None if missing else allgather_model.version(),
            "simulated": simulated, "predicted": predicted, "places": places,
            "left_out": left_out.rows}


def _predicted(plan: Plan) -> list[dict]:
    names = allgather_model.catalogue()
    cells = []
    with core_tool.lines_file(allgather_model.network_lines(), ".network") as path:
        for ranks in plan.ranks:
            for length in plan.sizes_bytes:
                answer = core_tool.ask_json(
                    "predict", COLLECTIVE, *names, "--network", str(path), "--bytes", str(length),
                    "--ranks", str(ranks), "--ranks-per-host", str(-(-ranks // MODEL.hosts)),
                    "--placement", "cyclic")
                cells.append({"ranks": ranks, "length_bytes": length, "times_us": {
                    row["candidate"]: row["predicted_us"] for row in answer["candidates"]
                    if row["predicted_us"] is not None}})
    return cells


def _open_mpi() -> Mpi:
    built = {mpi.name: mpi for mpi in found_mpis() if mpi.built}
    for name in _OPEN_MPIS:
        if name in built:
            return built[name]
    raise Failure("no Open MPI is built: run make build")


def contenders(mpi: Mpi, ranks: int) -> list[Contender]:
    forced = [Forced(each.name, mpi, None, COLLECTIVE, each.open_mpi) for each in ALGORITHMS
              if runs_with(each, ranks)]
    return [*forced, Contender(OWN_RULE, mpi, None, COLLECTIVE),
            Contender(OWN_CHOICE, mpi, {"start": "soon"}, COLLECTIVE)]


def _place(part: str, ranks: int, plan: Plan, progress: Steps, left_out: LeftOut) -> dict:
    mpi = _open_mpi()
    workload = Workload(plan.real_sizes_bytes, (0,), repeat=plan.repetitions)
    settling = replace(workload, settle_calls=_SETTLE_CALLS, settle_ms=_SETTLE_MS)
    rows: dict[str, dict] = {}
    with bring_up(load_preset(_PRESET)) if part == LAB else nullcontext() as lab:
        for contender in contenders(mpi, ranks):
            progress.begin(f"{ranks} ranks ({part}): {contender.name}")
            with left_out.tried(contender.name):
                done = measure(contender, [workload if contender.native else settling], ranks, lab,
                               timeout_s=_TIMEOUT_S)
                rows[contender.name] = {
                    str(point.length_bytes): vars(median_interval(point.completion_ms))
                    | {"ran": done.chosen(point.length_bytes, 0)} for point in done.points}
            progress.advance()
    return {"part": part, "ranks": ranks, "mpi_title": mpi.title, "hosts": 2 if part == LAB else 1,
            "preset": _PRESET if part == LAB else None, "repetitions": plan.repetitions,
            "times_ms": rows}
