"""On how many ranks, and how many of them a host, the algorithms are tested."""

import re
from typing import NamedTuple

import pytest


class Shape(NamedTuple):
    ranks: int
    ranks_per_host: int

    def __str__(self):
        return f"{self.ranks}-ranks-by-{self.ranks_per_host}"

    def settings(self, **others):
        """All is ruled from the first call on."""
        return {"start": "wait", "ranks_per_host": str(self.ranks_per_host), **others}


# Each number of ranks on hosts of their own, and several to a host, the last host not always full.
SHAPES = [Shape(*each) for each in ((2, 1), (2, 2), (3, 1), (3, 2), (4, 1), (4, 3), (5, 1), (5, 2),
                                    (7, 1), (7, 3), (8, 1), (8, 4))]
ALONE = Shape(1, 1)  # where nothing is left to be ruled


def runs(row, shape):
    """Whether an algorithm can, by what `mutirao show algorithms` says: "2, 4, 8, ... ranks only"."""
    limits = [text for text in row["restrictions"] if text.endswith("ranks only")]
    return not row["native"] and all(str(shape.ranks) in re.findall(r"\d+", text) for text in limits)


def seldom_if_many(shape):
    """Where MPI libraries run the calls: some spin while they wait, and take long where processors are few."""
    return [pytest.mark.long] if shape.ranks > 5 else []
