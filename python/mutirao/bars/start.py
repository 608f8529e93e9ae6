"""What the start costs a program, and how soon its broadcasts are good."""

from mutirao.bars.bar import MPIS, Bar, Finding, at_most
from mutirao.mpis import find_mpi
from mutirao.studies import start


def bars(_commit_hash: str) -> list[Bar]:
    return [Bar(f"start-{mpi}", "whole programs of 3 and 30 broadcasts, and broadcasts at a pace", 5,
                lambda mpi=mpi: _start(mpi)) for mpi in MPIS]


def _start(mpi_name: str) -> list[Finding]:
    return findings(start.summary(start.run_study(find_mpi(mpi_name), quick=True)))


def findings(rows: list[dict]) -> list[Finding]:
    found = []
    for row in rows:
        title = row["title"]
        if not row["every_ms"]:
            found.append(at_most(start.FIRST_BAR, f"{title}, the first x native,", row["first_ms"]["ratio"]))
            found.append(at_most(row["whole_bar"], f"{title}, whole x native,", row["whole_ms"]["ratio"]))
    return found
