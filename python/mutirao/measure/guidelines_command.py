"""`mutirao bench --guidelines`: is any collective slower than what others would make of it?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mutirao.base.errors import Failure, UsageError
from mutirao.base.output import print_json
from mutirao.base.tables import text_table
from mutirao.base.units import counted, duration, ratio
from mutirao.catalogue.collectives import Collective
from mutirao.catalogue.predicted import NATIVE, OWN_CHOICE
from mutirao.measure.campaign import Campaign, campaign_in
from mutirao.measure.circumstances import Circumstances, busy_remarks
from mutirao.measure.guidelines import MARGIN, Check, Guideline, Times, check, guidelines_for, lengths_of_each
from mutirao.measure.intervals import LEAST_SAMPLES
from mutirao.measure.measure import Contender, Workload
from mutirao.measure.words import Place, Settling, check_counts, parse_sizes, place_of, settling_of
from mutirao.run.user_settings import gather_settings

_MUTIRAO = "mutirao"
_WITH = {NATIVE: (NATIVE,), _MUTIRAO: (OWN_CHOICE,), "both": (NATIVE, OWN_CHOICE)}
DEFAULT_BYTES = "8,1KiB,64KiB"
_REPEAT, _REPEAT_IN_LAB = 20, 3
_WARM_UP_MS = 50
_MOST_SECONDS_OF_A_JOB = 3600.0
_COLUMNS = ("slower than it need be", "takes", "instead of", "ratio", "95%")


def add_guidelines(way, parser) -> None:
    way.add_argument("--guidelines", action="store_const", dest="way", const="--guidelines",
                     help="check that no collective is slower than others in its place, nor with less to send")
    parser.add_argument("--with", dest="contenders", choices=_WITH,
                        help="with --guidelines: what is checked; default: both")


def run_guidelines(arguments, collectives: Sequence[Collective]) -> int:
    plan = _plan(arguments, [each.name for each in collectives])
    settings = {"start": "soon", **gather_settings(arguments.assignments)}
    contenders = [Contender(name, mpi, None if name == NATIVE else settings)
                  for mpi in plan.place.mpis for name in _WITH[arguments.contenders or "both"]]
    circumstances = Circumstances("guidelines", False, [mpi.name for mpi in plan.place.mpis])
    with campaign_in(plan.place, plan.points * len(contenders), _MOST_SECONDS_OF_A_JOB) as campaign:
        results = _measure_all(plan, contenders, campaign)
    if not any(each.times for each in results):
        raise Failure("nothing could be measured")
    if arguments.json:
        print_json({**circumstances.to_dict(), "ranks": plan.place.ranks, "margin": MARGIN,
                    "rounds": plan.settling.rounds, "repeat": plan.repeat,
                    "results": [each.to_dict(plan) for each in results if each.times]})
    else:
        said = [report(each.title, each.checks(plan)) for each in results if each.times]
        print("\n\n".join([*said, *busy_remarks(circumstances.to_dict())]))
    return 1 if campaign.failures else 0


@dataclass(frozen=True)
class Plan:
    place: Place
    guidelines: Sequence[Guideline]
    collectives: Sequence[str]
    blocks_bytes: Sequence[int]
    lengths: dict[str, list[int]]
    settling: Settling
    repeat: int

    @property
    def points(self) -> int:
        """Of one contender."""
        return self.settling.rounds * sum(map(len, self.lengths.values()))

    def workload(self, collective: str, native: bool) -> Workload:
        """Single calls: a guideline is about one after another, not about a stream of them."""
        warm_up = {"settle_ms": 0 if self.place.network else _WARM_UP_MS}
        settling = {"settle_calls": self.settling.calls, "settle_ms": self.settling.ms}
        return Workload(self.lengths[collective], (0,), (1,), self.repeat,
                        **(warm_up if native else settling))


def _plan(arguments, collectives: Sequence[str]) -> Plan:
    place = place_of(arguments)
    settling = settling_of(arguments)
    if settling.rounds < LEAST_SAMPLES:
        raise UsageError(f"--rounds {settling.rounds}: fewer than {LEAST_SAMPLES} prove nothing with 95%")
    if arguments.repeat is None:
        arguments.repeat = _REPEAT_IN_LAB if place.network else _REPEAT
    check_counts(arguments, "repeat")
    blocks_bytes = sorted(set(parse_sizes(DEFAULT_BYTES if arguments.bytes is None else arguments.bytes)))
    if blocks_bytes[0] == 0:
        raise UsageError("--bytes 0: nothing is to be done for empty messages")
    guidelines = guidelines_for(collectives)
    lengths = lengths_of_each(guidelines, collectives, blocks_bytes, place.ranks)
    return Plan(place, guidelines, collectives, blocks_bytes, lengths, settling, arguments.repeat)


@dataclass(frozen=True)
class Checked:
    """One MPI library, by itself or with mutirao, and what was measured of it."""

    contender: Contender
    times: Times
    failed: dict[str, str]  # why, by collective

    @property
    def title(self) -> str:
        who = NATIVE if self.contender.native else _MUTIRAO
        return f"{who} on {self.contender.mpi.title}"

    def checks(self, plan: Plan) -> list[Check]:
        return check(self.times, plan.guidelines, plan.collectives, plan.blocks_bytes,
                     plan.place.ranks)

    def to_dict(self, plan: Plan) -> dict:
        checks = self.checks(plan)
        return {"mpi": self.contender.mpi.name, "with": self.contender.name,
                "checked": len(checks), "violated": sum(each.violated for each in checks),
                "checks": [each.to_dict() for each in checks], "failed": self.failed}


def _measure_all(plan: Plan, contenders: Sequence[Contender], campaign: Campaign) -> list[Checked]:
    """In turns, and in every other round backwards; what was not measured in all rounds does not count."""
    times_of: list[dict[tuple[str, int], list[float]]] = [{} for _ in contenders]
    pairs = list(zip(contenders, times_of, strict=True))
    for number in range(plan.settling.rounds):
        for name in plan.lengths:
            for contender, times in pairs[::-1] if number % 2 else pairs:
                done = campaign.measure(replace(contender, collective=name), plan.workload(name, contender.native),
                                        f"{name}, round {number + 1}")
                for point in done.points if done else ():
                    times.setdefault((name, point.length_bytes), []).append(point.call_ms)
    return [Checked(contender, {call: taken for call, taken in times.items() if len(taken) == plan.settling.rounds},
                    {each["collective"]: each["reason"] for each in campaign.failures
                     if (each["mpi"], each["name"]) == (contender.mpi.name, contender.name)})
            for contender, times in pairs]


def report(title: str, checks: Sequence[Check]) -> str:
    violated = [each for each in checks if each.violated]
    rows = [(each.title, duration(each.first_ms * 1000), duration(each.others_ms * 1000),
             ratio(each.ratio.median), f"{each.ratio.low:.2f}-{each.ratio.high:.2f}")
            for each in violated]
    said = (f"{title}: {counted(len(checks), 'guideline')} checked, {len(violated)} violated by more"
            f" than {MARGIN:.0%}")
    return text_table(_COLUMNS, rows, said) if rows else said
