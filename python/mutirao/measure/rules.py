"""Reads rules of other MPI libraries."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from mutirao.base.errors import UsageError
from mutirao.base.user_files import read_text
from mutirao.measure.counterparts import from_open_mpi
from mutirao.measure.exports import OPEN_MPI_IDS, rule_bytes

_OWN_CHOICE = "native"
_COLUMNS_OF_RULE = 4

# Collective, from how many ranks, from how many bytes as Open MPI counts them, candidate.
Rule = tuple[str, int, int, str]


def ruled(rules: Sequence[Rule], collective: str, ranks: int, length_bytes: int) -> str | None:
    """What Open MPI would run by these rules, which stand in its order; None: what it chooses itself."""
    sizes = [rule for rule in rules if rule[0] == collective]
    largest = max((rule[1] for rule in sizes if rule[1] <= ranks), default=None)
    bytes_ = rule_bytes(collective, ranks, length_bytes)
    fitting = [rule for rule in sizes if rule[1] == largest and rule[2] <= bytes_]
    return fitting[-1][3] if fitting and fitting[-1][3] != _OWN_CHOICE else None


def read_rules(path: Path) -> tuple[list[Rule], list[str]]:
    return read_open_mpi(read_text(path), str(path))


def read_open_mpi(text: str, name: str) -> tuple[list[Rule], list[str]]:
    """What a file of coll_tuned_dynamic_rules_filename chooses, and lines on what the catalogue has no
    counterpart of."""
    numbers = _numbers(text, name)
    names = {number: collective for collective, number in OPEN_MPI_IDS.items()}
    rules, unknown = [], []
    try:
        for _ in range(next(numbers)):
            collective = next(numbers)
            for _ in range(next(numbers)):
                ranks = next(numbers)
                for _ in range(next(numbers)):
                    bytes_, algorithm, _fan, segment = (next(numbers)
                                                        for _ in range(_COLUMNS_OF_RULE))
                    candidate = (_OWN_CHOICE if algorithm == 0 else
                                 from_open_mpi(names.get(collective, ""), algorithm, segment))
                    if collective in names and candidate is not None:
                        rules.append((names[collective], ranks, bytes_, candidate))
                    else:
                        unknown.append(f"no counterpart: Open MPI's algorithm {algorithm} of"
                                       f" {names.get(collective, f'collective {collective}')}")
    except (StopIteration, RuntimeError):
        raise UsageError(f"{name}: ends amid its rules") from None
    if next(numbers, None) is not None:
        raise UsageError(f"{name}: goes on behind its rules")
    return rules, list(dict.fromkeys(unknown))


def _numbers(text: str, name: str) -> Iterator[int]:
    for number, line in enumerate(text.splitlines(), start=1):
        for word in line.partition("#")[0].split():
            if not word.isdigit():
                raise UsageError(f"{name}, line {number}: '{word}' is no number")
            yield int(word)
