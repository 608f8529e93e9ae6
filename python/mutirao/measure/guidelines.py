"""Performance guidelines that an MPI library should keep by itself: no collective slower than what a
user could put together from others, and none slower with a smaller message.

Traff, Gropp and Thakur 2010, doi:10.1109/TPDS.2009.120; Hunold, Carpen-Amarie, Lubbe and Traff 2016,
'Automatic Verification of Self-Consistent MPI Performance Guidelines' (PGMPI). A violation counts only
when the lower end of the interval of the ratio clears a margin.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from mutirao.catalogue.collectives import COLLECTIVES
from mutirao.measure.intervals import Interval, median_interval

MARGIN = 0.05
_LONGEST_BYTES = (1 << 31) - 1
_UNIT_BYTES = 8  # the measuring program adds doubles where lengths allow, and else combines bytes
_REDUCING = ("reduce", "allreduce", "reduce_scatter_block", "reduce_scatter", "scan", "exscan")

# A call's time in every round, by collective and length.
Times = Mapping[tuple[str, int], Sequence[float]]


@dataclass(frozen=True)
class Term:
    """A collective: of one block, or of as much as all ranks' blocks together."""

    collective: str
    of_all: bool = False

    def length_bytes(self, block_bytes: int, ranks: int) -> int:
        if not COLLECTIVES[self.collective].has_length:
            return 0
        return block_bytes * ranks if self.of_all else block_bytes


@dataclass(frozen=True)
class Guideline:
    """The first must not be slower than the others, one after another."""

    first: Term
    others: tuple[Term, ...]

    @property
    def terms(self) -> tuple[Term, ...]:
        return (self.first, *self.others)

    @property
    def collectives(self) -> set[str]:
        return {term.collective for term in self.terms}

    def applies(self, block_bytes: int, ranks: int) -> bool:
        """Also, whatever is reduced is of the same unit."""
        lengths = [term.length_bytes(block_bytes, ranks) for term in self.terms]
        units = {length % _UNIT_BYTES == 0 for term, length in zip(self.terms, lengths, strict=True)
                 if term.collective in _REDUCING}
        return max(lengths) <= _LONGEST_BYTES and len(units) <= 1


def _row(first: Term, *others: Term) -> Guideline:
    return Guideline(first, others)


def _block(collective: str) -> Term:
    return Term(collective)


def _all(collective: str) -> Term:
    return Term(collective, of_all=True)


GUIDELINES = (
    _row(_block("barrier"), _block("allreduce")),
    _row(_all("broadcast"), _block("scatter"), _block("allgather")),
    _row(_block("gather"), _block("allgather")),
    _row(_block("gather"), _all("reduce")),
    _row(_block("scatter"), _all("broadcast")),
    _row(_block("allgather"), _block("gather"), _all("broadcast")),
    _row(_block("allgather"), _block("alltoall")),
    _row(_block("allgather"), _all("allreduce")),
    _row(_block("reduce"), _block("allreduce")),
    _row(_all("reduce"), _block("reduce_scatter_block"), _block("gather")),
    _row(_block("allreduce"), _block("reduce"), _block("broadcast")),
    _row(_all("allreduce"), _block("reduce_scatter_block"), _block("allgather")),
    _row(_block("reduce_scatter_block"), _all("reduce"), _block("scatter")),
    _row(_block("reduce_scatter_block"), _all("allreduce")),
    _row(_block("exscan"), _block("scan")),
    _row(_block("gather"), _block("gatherv")),
    _row(_block("scatter"), _block("scatterv")),
    _row(_block("allgather"), _block("allgatherv")),
    _row(_block("alltoall"), _block("alltoallv")),
    _row(_block("alltoallv"), _block("alltoallw")),
    _row(_block("reduce_scatter_block"), _block("reduce_scatter")),
)


@dataclass(frozen=True)
class Check:
    """A guideline at certain lengths."""

    first: tuple[str, int]
    others: tuple[tuple[str, int], ...]
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
        return {"first": _call(self.first), "others": [_call(each) for each in self.others],
                "first_ms": self.first_ms, "others_ms": self.others_ms,
                "ratio": self.ratio.to_dict(), "violated": self.violated}


def _call(call: tuple[str, int]) -> dict:
    return {"collective": call[0], "length_bytes": call[1]}


def guidelines_for(collectives: Sequence[str]) -> list[Guideline]:
    """About these; all without any."""
    return [each for each in GUIDELINES
            if not collectives or each.first.collective in collectives]


def lengths_of_each(guidelines: Sequence[Guideline], collectives: Sequence[str],
                    blocks_bytes: Sequence[int], ranks: int) -> dict[str, list[int]]:
    """What must be measured to check these, and that the collectives named are monotonous."""
    lengths: dict[str, set[int]] = {}
    for block_bytes in blocks_bytes:
        for name in collectives:
            term = Term(name)
            lengths.setdefault(name, set()).add(term.length_bytes(block_bytes, ranks))
        for each in guidelines:
            if each.applies(block_bytes, ranks):
                for term in each.terms:
                    lengths.setdefault(term.collective, set()).add(
                        term.length_bytes(block_bytes, ranks))
    return {name: sorted(lengths[name]) for name in COLLECTIVES if name in lengths}


def check(times: Times, guidelines: Sequence[Guideline], collectives: Sequence[str],
          blocks_bytes: Sequence[int], ranks: int) -> list[Check]:
    """Of those for which all was measured; worst first."""
    calls = [_calls(each, block_bytes, ranks) for each in guidelines for block_bytes in blocks_bytes
             if each.applies(block_bytes, ranks)]
    calls += _monotony(times, collectives)
    checks = [_check(times, first, others) for first, *others in calls
              if all(call in times for call in (first, *others))]
    return sorted(checks, key=lambda each: each.ratio.low, reverse=True)


def _calls(guideline: Guideline, block_bytes: int, ranks: int) -> list[tuple[str, int]]:
    return [(term.collective, term.length_bytes(block_bytes, ranks)) for term in guideline.terms]


def _monotony(times: Times, collectives: Sequence[str]) -> Iterator[list[tuple[str, int]]]:
    for name in collectives:
        lengths = sorted(length for collective, length in times if collective == name)
        yield from ([(name, shorter), (name, longer)] for shorter, longer in pairwise(lengths))


def _check(times: Times, first: tuple[str, int], others: Sequence[tuple[str, int]]) -> Check:
    """Round by round, since what was measured soon after each other compares best."""
    sums_ms = [sum(of_round) for of_round in zip(*(times[other] for other in others), strict=True)]
    ratios = [first_ms / others_ms
              for first_ms, others_ms in zip(times[first], sums_ms, strict=True)]
    return Check(first, tuple(others), median_interval(times[first]).median,
                 median_interval(sums_ms).median, median_interval(ratios))
