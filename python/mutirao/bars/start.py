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
        elif row["slowest_ratio"] is not None:
            found.append(at_most(start.SLOWEST_BAR, f"{title}, the slowest x native,", row["slowest_ratio"]))
        for key, limit, what, unit in (
                ("whole_ms", row["whole_bar"], "whole x native,", ""),
                ("less_dup_ratio", row["less_dup_bar"], "whole less a dup x native,", ""),
                ("settled_s", row["settled_s_bar"], "until good,", " s"),
                ("settled_calls", row["settled_calls_bar"], "calls until good,", "")):
            if limit is not None:
                value = row[key]["ratio"] if key == "whole_ms" else row[key]
                found.append(at_most(limit, f"{title}, {what}", value, unit))
    return found
