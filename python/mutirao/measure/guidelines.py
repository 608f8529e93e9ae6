"""`mutirao bench --guidelines`: performance guidelines that an MPI library should keep by itself, no collective slower
than what a user could put together from others, and none slower with a smaller message.

Traff, Gropp and Thakur 2010, doi:10.1109/TPDS.2009.120; Hunold, Carpen-Amarie, Lubbe and Traff 2016,
'Automatic Verification of Self-Consistent MPI Performance Guidelines' (PGMPI). A violation counts only
when the lower end of the interval of the ratio clears a margin.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from mutirao.base.errors import Failure, UsageError
from mutirao.base.tables import text_table
from mutirao.base.units import counted, duration, ratio
from mutirao.catalogue.collectives import COLLECTIVES, Collective
from mutirao.catalogue.predicted import NATIVE, OWN_CHOICE
from mutirao.measure.intervals import LEAST_SAMPLES, Interval, median_interval
from mutirao.measure.measure import Campaign, Contender, Workload, campaign_in
from mutirao.measure.words import Place, check_counts, parse_sizes, place_of, settling_of
from mutirao.run.user_settings import gather_settings

MARGIN = 0.05
_LONGEST_BYTES = (1 << 31) - 1
_UNIT_BYTES = 8  # the measuring program adds doubles where lengths allow, and else combines bytes
_REDUCING = ("reduce", "allreduce", "reduce_scatter_block", "reduce_scatter", "scan", "exscan")


class Call(NamedTuple):
    collective: str
    length_bytes: int


Times = Mapping[Call, Sequence[float]]  # in every round

# The first must not be slower than the others, one after another. Each is of one block, or of as much as the blocks of
# all ranks.
GUIDELINES = (
    ("barrier", "allreduce"),
    ("broadcast of all", "scatter", "allgather"),
    ("gather", "allgather"),
    ("gather", "reduce of all"),
    ("scatter", "broadcast of all"),
    ("allgather", "gather", "broadcast of all"),
    ("allgather", "alltoall"),
    ("allgather", "allreduce of all"),
    ("reduce", "allreduce"),
    ("reduce of all", "reduce_scatter_block", "gather"),
    ("allreduce", "reduce", "broadcast"),
    ("allreduce of all", "reduce_scatter_block", "allgather"),
    ("reduce_scatter_block", "reduce of all", "scatter"),
    ("reduce_scatter_block", "allreduce of all"),
    ("exscan", "scan"),
    ("gather", "gatherv"),
    ("scatter", "scatterv"),
    ("allgather", "allgatherv"),
    ("alltoall", "alltoallv"),
    ("alltoallv", "alltoallw"),
    ("reduce_scatter_block", "reduce_scatter"),
)


def call_of(words: str, block_bytes: int, ranks: int) -> Call:
    name = words.removesuffix(" of all")
    blocks = (1 if name == words else ranks) if COLLECTIVES[name].has_length else 0
    return Call(name, blocks * block_bytes)


def calls_of(guideline: Sequence[str], block_bytes: int, ranks: int) -> list[Call]:
    """None where one would be too long, or not all that is reduced is of the same unit."""
    calls = [call_of(words, block_bytes, ranks) for words in guideline]
    units = {call.length_bytes % _UNIT_BYTES == 0 for call in calls if call.collective in _REDUCING}
    return calls if max(call.length_bytes for call in calls) <= _LONGEST_BYTES and len(units) <= 1 else []


@dataclass(frozen=True)
class Check:
    """A guideline at certain lengths."""

    first: Call
    others: tuple[Call, ...]
    first_ms: float
    others_ms: float
    ratio: Interval

    @property
    def violated(self) -> bool:
        return self.ratio.low > 1 + MARGIN

    @property
    def title(self) -> str:
        """'allgather of 8 B a rank > gather of 8 B a rank to rank 0 + ...'."""
        first, *others = (COLLECTIVES[name].calls(length, 0) for name, length in
                          (self.first, *self.others))
        return f"{first} > {' + '.join(others)}"

    def to_dict(self) -> dict:
        return {"first": self.first._asdict(), "others": [each._asdict() for each in self.others],
                "first_ms": self.first_ms, "others_ms": self.others_ms,
                "ratio": vars(self.ratio), "violated": self.violated}


def lengths_of_each(collectives: Sequence[str], blocks_bytes: Sequence[int], ranks: int) -> dict[str, list[int]]:
    """What must be measured to check the guidelines about these, and that they are monotonous."""
    wanted = {call_of(name, block_bytes, ranks) for name in collectives for block_bytes in blocks_bytes}
    wanted.update(*_calls(collectives, blocks_bytes, ranks))
    lengths = {name: sorted(length for other, length in wanted if other == name) for name in COLLECTIVES}
    return {name: of_name for name, of_name in lengths.items() if of_name}


def check(times: Times, collectives: Sequence[str], blocks_bytes: Sequence[int], ranks: int) -> list[Check]:
    """Of those for which all was measured; worst first."""
    calls = [*_calls(collectives, blocks_bytes, ranks), *_monotony(times, collectives)]
    checks = [_check(times, first, others) for first, *others in calls
              if all(call in times for call in (first, *others))]
    return sorted(checks, key=lambda each: each.ratio.low, reverse=True)


def _calls(collectives: Sequence[str], blocks_bytes: Sequence[int], ranks: int) -> list[list[Call]]:
    """Of each guideline about these at each length: the first, and the others."""
    return [calls for guideline in GUIDELINES for block_bytes in blocks_bytes
            if (calls := calls_of(guideline, block_bytes, ranks)) and calls[0].collective in collectives]


def _monotony(times: Times, collectives: Sequence[str]) -> Iterator[list[Call]]:
    for name in collectives:
        lengths = sorted(length for collective, length in times if collective == name)
        yield from ([Call(name, shorter), Call(name, longer)] for shorter, longer in pairwise(lengths))


def _check(times: Times, first: Call, others: Sequence[Call]) -> Check:
    """Round by round, since what was measured soon after each other compares best."""
    sums_ms = [sum(of_round) for of_round in zip(*(times[other] for other in others), strict=True)]
    ratios = [first_ms / others_ms
              for first_ms, others_ms in zip(times[first], sums_ms, strict=True)]
    return Check(first, tuple(others), median_interval(times[first]).median,
                 median_interval(sums_ms).median, median_interval(ratios))


# --- the command --------------------------------------------------------------------------------------


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
    with campaign_in(plan.place, "guidelines", plan.points * len(contenders), _MOST_SECONDS_OF_A_JOB) as campaign:
        results = _measure_all(plan, contenders, campaign)
    if not results:
        raise Failure("nothing could be measured")
    return campaign.tell(arguments.json, {
        "ranks": plan.place.ranks, "margin": MARGIN, "rounds": plan.rounds, "repeat": plan.repeat,
        "results": [_to_dict(contender, checks, campaign.failures) for contender, checks in results]}, "\n\n".join(
            report(f"{NATIVE if contender.native else _MUTIRAO} on {contender.mpi.title}", checks)
            for contender, checks in results))


@dataclass(frozen=True)
class Plan:
    place: Place
    collectives: Sequence[str]
    blocks_bytes: Sequence[int]
    lengths: dict[str, list[int]]
    settling: Mapping[str, int]  # of a workload with mutirao
    rounds: int
    repeat: int

    @property
    def points(self) -> int:
        """Of one contender."""
        return self.rounds * sum(map(len, self.lengths.values()))

    def workload(self, collective: str, native: bool) -> Workload:
        """Single calls: a guideline is about one after another, not about a stream of them."""
        warm_up = {"settle_ms": 0 if self.place.network else _WARM_UP_MS}
        return Workload(self.lengths[collective], (0,), (1,), self.repeat, **(warm_up if native else self.settling))


def _plan(arguments, collectives: Sequence[str]) -> Plan:
    place = place_of(arguments)
    settling, rounds = settling_of(arguments)
    if rounds < LEAST_SAMPLES:
        raise UsageError(f"--rounds {rounds}: fewer than {LEAST_SAMPLES} prove nothing with 95%")
    check_counts(arguments, repeat=_REPEAT_IN_LAB if place.network else _REPEAT)
    blocks_bytes = sorted(set(parse_sizes(DEFAULT_BYTES if arguments.bytes is None else arguments.bytes)))
    if blocks_bytes[0] == 0:
        raise UsageError("--bytes 0: nothing is to be done for empty messages")
    lengths = lengths_of_each(collectives, blocks_bytes, place.ranks)
    return Plan(place, collectives, blocks_bytes, lengths, settling, rounds, arguments.repeat)


def _measure_all(plan: Plan, contenders: Sequence[Contender], campaign: Campaign
                 ) -> list[tuple[Contender, list[Check]]]:
    """Of one MPI library each, by itself or with mutirao. In turns, and in every other round backwards; what was not
    measured in all rounds does not count."""
    pairs: list[tuple[Contender, dict[Call, list[float]]]] = [(contender, {}) for contender in contenders]
    for number in range(plan.rounds):
        for name in plan.lengths:
            for contender, times in pairs[::-1] if number % 2 else pairs:
                done = campaign.measure(replace(contender, collective=name), plan.workload(name, contender.native),
                                        when=f"{name}, round {number + 1}")
                for point in done.points if done else ():
                    times.setdefault(Call(name, point.length_bytes), []).append(point.call_ms)
    results = []
    for contender, times in pairs:
        whole = {call: taken for call, taken in times.items() if len(taken) == plan.rounds}
        checks = check(whole, plan.collectives, plan.blocks_bytes, plan.place.ranks)
        results += [(contender, checks)] if whole else []
    return results


def _to_dict(contender: Contender, checks: Sequence[Check], failures: Sequence[dict]) -> dict:
    failed = {each["collective"]: each["reason"] for each in failures
              if (each["mpi"], each["name"]) == (contender.mpi.name, contender.name)}
    return {"mpi": contender.mpi.name, "with": contender.name, "checked": len(checks),
            "violated": sum(each.violated for each in checks), "checks": [each.to_dict() for each in checks],
            "failed": failed}


def report(title: str, checks: Sequence[Check]) -> str:
    violated = [each for each in checks if each.violated]
    rows = [(each.title, duration(each.first_ms * 1000), duration(each.others_ms * 1000),
             ratio(each.ratio.median), str(each.ratio))
            for each in violated]
    said = (f"{title}: {counted(len(checks), 'guideline')} checked, {len(violated)} violated by more"
            f" than {MARGIN:.0%}")
    return text_table(_COLUMNS, rows, said) if rows else said
