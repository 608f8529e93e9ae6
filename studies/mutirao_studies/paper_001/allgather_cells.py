"""What one cell of paper 001's Table 1 says, in the paper and here, and which of its statements hold."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mutirao_studies.bars.bar import Finding
from mutirao_studies.paper_001.paper_001 import (
    LINEAR_COST,
    LOGARITHMIC,
    MODEL,
    PICKED_BY_PAPER,
    RULE,
    rule_picks,
    table_1_us,
)

# Of the best: a choice so near is as good.
NEAR_BEST = 1.05
WANTED_GAIN, WANTED_SHARE = 1.2, 0.5


@dataclass(frozen=True)
class Cell:
    """Simulated."""

    ranks: int
    length_bytes: int
    forced_us: Mapping[str, float]
    selector_us: float  # by SMPI's copy of Open MPI's rule
    catalogue_us: Mapping[str, float]
    chosen: str  # by mutirao

    @property
    def best_forced(self) -> str:
        return min(self.forced_us, key=lambda name: self.forced_us[name])

    @property
    def best_of_catalogue(self) -> str:
        return min(self.catalogue_us, key=lambda name: self.catalogue_us[name])

    @property
    def choice_us(self) -> float:
        return self.selector_us if self.chosen == "native" else self.catalogue_us[self.chosen]

    @property
    def choice_to_best(self) -> float:
        """Of all there is."""
        return self.choice_us / min(self.selector_us, *self.forced_us.values(), *self.catalogue_us.values())

    @property
    def rule_us(self) -> float:
        return self.forced_us[rule_picks(self.ranks, self.length_bytes)]

    @property
    def least_us(self) -> float:
        """No algorithm can take less in this model: a block passes the cable, and all that the ranks of a host get
        comes out of its memory or over the cable."""
        ranks_per_host = -(-self.ranks // MODEL.hosts)
        bytes_in = ranks_per_host * (self.ranks - 1) * self.length_bytes
        return max(MODEL.latency_us + 2 * MODEL.overhead_us,
                   bytes_in / (MODEL.memory_bytes_per_us + MODEL.cable_bytes_per_us))

    @property
    def gain(self) -> float:
        """Of the best of the catalogue over the best of the paper's algorithms."""
        return self.forced_us[self.best_forced] / self.catalogue_us[self.best_of_catalogue]


def cells_of(result: dict) -> list[Cell]:
    return [Cell(row["ranks"], row["length_bytes"], row["forced_us"], row["selector_us"],
                 row["catalogue_us"], row["chosen"]) for row in result["simulated"]]


def findings(cells: Sequence[Cell]) -> list[Finding]:
    near = sum(cell.choice_to_best <= NEAR_BEST for cell in cells)
    faster = sum(cell.gain >= WANTED_GAIN for cell in cells)
    return [Finding(f"mutirao's choice is the best or within {NEAR_BEST - 1:.0%} of it",
                    f"{near} of {len(cells)} cells", near == len(cells)),
            Finding(f"the best of the catalogue is at least {WANTED_GAIN:g} times as fast as the best of the"
                    " paper's algorithms", f"{faster} of {len(cells)} cells",
                    faster >= WANTED_SHARE * len(cells))]


@dataclass(frozen=True)
class Verdict:
    statement: str
    paper: str
    here: str


Times = Mapping[int, Mapping[str, Mapping[int, float]]]  # of the forced algorithms by ranks, name and length


def verdicts(cells: Sequence[Cell]) -> list[Verdict]:
    """Each statement by the paper's own numbers, too: not all of them bear it out."""
    ours: dict[int, dict[str, dict[int, float]]] = {}
    for cell in cells:
        for name, us in cell.forced_us.items():
            ours.setdefault(cell.ranks, {}).setdefault(name, {})[cell.length_bytes] = us
    theirs = {ranks: {name: row for name, row in table_1_us(ranks).items() if name != RULE}
              for ranks in PICKED_BY_PAPER}
    return [Verdict(statement, check(theirs), check(ours) if cells else "not simulated")
            for statement, check in _STATEMENTS]


def _extremes(rows: Mapping[str, Mapping[int, float]], extreme: Callable) -> dict[int, str]:
    """By length, who takes the least (min) or the most (max)."""
    return {length: extreme(rows, key=lambda name, length=length: rows[name][length])
            for length in next(iter(rows.values()))}


def _always(times: Times, names: Sequence[str], extreme: Callable) -> str:
    found = [name for rows in times.values() for name in _extremes(rows, extreme).values()]
    inside = sum(name in names for name in found)
    others = sorted({name for name in found if name not in names})
    return f"in {inside} of {len(found)} cells" + (f" (else {', '.join(others)})" if others else "")


def _right(times: Times, ranks: int) -> str:
    if ranks not in times:
        return "not simulated"
    best = _extremes(times[ranks], min)
    return f"{sum(name == rule_picks(ranks, length) for length, name in best.items())} of {len(best)}"


def _steepest(times: Times) -> str:
    found = []
    for ranks, rows in times.items():
        growth = {name: row[max(row)] / row[min(row)] for name, row in rows.items()}
        steepest = max(growth, key=lambda name: growth[name])
        found.append(f"{ranks}: {steepest} ({growth[steepest]:.0f} times), linear {growth['linear']:.0f}")
    return "; ".join(found)


def _lead(times: Times) -> str:
    """How many times as fast the better logarithmic one is as the better linear one, at either end."""
    found = []
    for ranks, rows in times.items():
        def best(names: Sequence[str], length: int, rows=rows) -> float:
            return min(rows[name][length] for name in names if name in rows)
        lengths = next(iter(rows.values()))
        ends = [best(LINEAR_COST, end) / best(LOGARITHMIC, end) for end in (min(lengths), max(lengths))]
        found.append(f"{ranks}: from {ends[0]:.1f} to {ends[1]:.1f} times")
    return "; ".join(found)


_STATEMENTS = (
    ("The best is bruck or recursive doubling with every load.",
     lambda times: _always(times, LOGARITHMIC, min)),
    ("The worst is ring or linear with every load.",
     lambda times: _always(times, ("ring", "linear"), max)),
    ("With 62 processes the rule picks the best with 3 of 8 loads.", lambda times: _right(times, 62)),
    ("With 128 processes the rule picks the best with 1 of 8 loads.",
     lambda times: _right(times, 128)),
    ("Linear grows the most, from the shortest to the longest blocks.", _steepest),
    ("Ring and neighbor exchange come nearer to the logarithmic ones as data grow.", _lead),
)

