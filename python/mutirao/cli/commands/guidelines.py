"""`mutirao guidelines`: is any collective slower than what others would make of it?"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from mutirao.base.errors import Failure, UsageError, unknown
from mutirao.base.output import print_json
from mutirao.base.progress import Steps, steps
from mutirao.base.units import counted, duration, ratio
from mutirao.catalogue.collectives import COLLECTIVES
from mutirao.catalogue.predicted import NATIVE, OWN_CHOICE
from mutirao.lab.lab import Lab
from mutirao.measure.circumstances import Circumstances, busy_remarks
from mutirao.measure.guidelines import MARGIN, Check, Guideline, check, guidelines_for, lengths_of_each
from mutirao.measure.intervals import LEAST_SAMPLES
from mutirao.measure.measure import Contender, Workload, measure, tried_twice
from mutirao.measure.words import (
    Place,
    Settling,
    add_place,
    add_settings,
    add_settling,
    check_counts,
    parse_sizes,
    place_of,
    settling_of,
)
from mutirao.pages.compact_table import compact_table
from mutirao.run.user_settings import gather_settings

_MUTIRAO = "mutirao"
_WITH = {NATIVE: (NATIVE,), _MUTIRAO: (OWN_CHOICE,), "both": (NATIVE, OWN_CHOICE)}
_DEFAULT_BYTES = "8,1KiB,64KiB"
_REPEAT, _REPEAT_IN_LAB = 20, 3
_WARM_UP_MS = 50
_MOST_SECONDS_OF_A_JOB = 3600.0
_COLUMNS = ("slower than it need be", "takes", "instead of", "ratio", "95%")


def register(subparsers, common) -> None:
    parser = subparsers.add_parser(
        "guidelines", parents=[common],
        help="check that no collective is slower than others in its place, nor with less to send")
    parser.add_argument("collectives", nargs="*", metavar="COLLECTIVE",
                        help="check those about these only; default: all")
    parser.add_argument("--with", dest="contenders", choices=_WITH, default="both",
                        help="what is checked; default: both")
    parser.add_argument("--bytes", default=_DEFAULT_BYTES, metavar="B,...",
                        help=f"of a block, of which there is one for every rank; default:"
                        f" {_DEFAULT_BYTES}")
    add_place(parser)
    parser.add_argument("--repeat", type=int, metavar="K",
                        help=f"calls measured in each job; default: {_REPEAT}, in a lab"
                        f" {_REPEAT_IN_LAB}")
    add_settling(parser, LEAST_SAMPLES)
    add_settings(parser, "start=beside unless it is set")
    parser.set_defaults(run=run)


def run(arguments) -> int:
    plan = _plan(arguments)
    contenders = _contenders(arguments, plan)
    circumstances = Circumstances("guidelines", False, [mpi.name for mpi in plan.place.mpis])
    with plan.place.up() as lab, steps(plan.jobs(contenders)) as progress:
        for number in range(plan.settling.rounds):
            for name in plan.lengths:
                for each in contenders[::-1] if number % 2 else contenders:
                    each.measure(plan, name, lab, progress)
    results = [each for each in contenders if each.times]
    if not results:
        raise Failure("nothing could be measured")
    if arguments.json:
        print_json({**circumstances.to_dict(), "ranks": plan.place.ranks, "margin": MARGIN,
                    "rounds": plan.settling.rounds, "repeat": plan.repeat,
                    "results": [each.to_dict(plan) for each in results]})
    else:
        said = [report(each.title, each.checks(plan)) for each in results]
        print("\n\n".join([*said, *busy_remarks(circumstances.to_dict())]))
    return 1 if any(each.failed for each in contenders) else 0


@dataclass(frozen=True)
class Plan:
    place: Place
    guidelines: Sequence[Guideline]
    collectives: Sequence[str]
    blocks_bytes: Sequence[int]
    lengths: dict[str, list[int]]
    settling: Settling
    repeat: int

    def jobs(self, contenders: Sequence["Checked"]) -> int:
        return self.settling.rounds * len(self.lengths) * len(contenders)

    def workload(self, collective: str, native: bool) -> Workload:
        """Single calls: a guideline is about one after another, not about a stream of them."""
        warm_up = {"settle_ms": 0 if self.place.network else _WARM_UP_MS}
        settling = {"settle_calls": self.settling.calls, "settle_ms": self.settling.ms}
        return Workload(self.lengths[collective], (0,), (1,), self.repeat,
                        **(warm_up if native else settling))


def _plan(arguments) -> Plan:
    place = place_of(arguments)
    settling = settling_of(arguments)
    rounds = LEAST_SAMPLES if settling.rounds is None else settling.rounds
    if rounds < LEAST_SAMPLES:
        raise UsageError(f"--rounds {rounds}: fewer than {LEAST_SAMPLES} prove nothing with 95%")
    repeat = arguments.repeat
    if repeat is None:
        repeat = _REPEAT_IN_LAB if place.network else _REPEAT
    else:
        check_counts(arguments, "repeat")
    for name in arguments.collectives:
        if name not in COLLECTIVES:
            raise unknown("collective", name, COLLECTIVES)
    collectives = arguments.collectives or list(COLLECTIVES)
    blocks_bytes = sorted(set(parse_sizes(arguments.bytes)))
    if blocks_bytes[0] == 0:
        raise UsageError("--bytes 0: nothing is to be done for empty messages")
    guidelines = guidelines_for(arguments.collectives)
    lengths = lengths_of_each(guidelines, collectives, blocks_bytes, place.ranks)
    return Plan(place, guidelines, collectives, blocks_bytes, lengths,
                Settling(settling.calls, settling.ms, rounds), repeat)


@dataclass
class Checked:
    """One MPI library, by itself or with mutirao, and what was measured of it."""

    contender: Contender
    times: dict[tuple[str, int], list[float]] = field(default_factory=dict)  # ms, by round
    failed: dict[str, str] = field(default_factory=dict)  # why, by collective

    @property
    def title(self) -> str:
        who = NATIVE if self.contender.native else _MUTIRAO
        return f"{who} on {self.contender.mpi.title}"

    def measure(self, plan: Plan, collective: str, lab: Lab | None, progress: Steps) -> None:
        """A collective that fails is left out."""
        progress.begin(f"{self.title}: {collective}")
        if collective not in self.failed:
            try:
                self._take(plan, collective, lab)
            except Failure as failure:
                progress.say(f"left out: {failure}")
                self.failed[collective] = str(failure)
                self.times = {key: value for key, value in self.times.items()
                              if key[0] != collective}
        progress.advance()

    def _take(self, plan: Plan, collective: str, lab: Lab | None) -> None:
        contender = Contender(self.contender.name, self.contender.mpi, self.contender.settings,
                              collective)
        work = plan.workload(collective, contender.native)
        done = tried_twice(lambda: measure(contender, (work,), plan.place.ranks, lab,
                                           timeout_s=_MOST_SECONDS_OF_A_JOB))
        for point in done.points:
            self.times.setdefault((collective, point.length_bytes), []).append(point.call_ms)

    def checks(self, plan: Plan) -> list[Check]:
        return check(self.times, plan.guidelines, plan.collectives, plan.blocks_bytes,
                     plan.place.ranks)

    def to_dict(self, plan: Plan) -> dict:
        checks = self.checks(plan)
        return {"mpi": self.contender.mpi.name, "with": self.contender.name,
                "checked": len(checks), "violated": sum(each.violated for each in checks),
                "checks": [each.to_dict() for each in checks], "failed": self.failed}


def _contenders(arguments, plan: Plan) -> list[Checked]:
    settings = {"start": "soon", **gather_settings(arguments.assignments)}
    return [Checked(Contender(name, mpi, None if name == NATIVE else settings))
            for mpi in plan.place.mpis for name in _WITH[arguments.contenders]]


def report(title: str, checks: Sequence[Check]) -> str:
    violated = [each for each in checks if each.violated]
    rows = [(each.title, duration(each.first_ms * 1000), duration(each.others_ms * 1000),
             ratio(each.ratio.median), f"{each.ratio.low:.2f}-{each.ratio.high:.2f}")
            for each in violated]
    said = (f"{title}: {counted(len(checks), 'guideline')} checked, {len(violated)} violated by more"
            f" than {MARGIN:.0%}")
    return compact_table(_COLUMNS, rows, said) if rows else said
