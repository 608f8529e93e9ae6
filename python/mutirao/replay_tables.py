"""What `mutirao replay` prints: every slice of one rule, or several rules beside each other."""

from collections.abc import Iterator

from mutirao.compact_table import Table
from mutirao.units import counted, size

FAMILIES = {"fastest": "best tree", "mst": "spanning tree"}
USES = ("first", "adapting", "always")


def print_run(trace: str, run: dict) -> None:
    print(slices_table(trace, run))
    print()
    print(summary_table(run))
    print()
    print("\n".join(remarks(run)))


def slices_table(trace: str, run: dict) -> Table:
    columns = ["slice", "moved", "news", "msgs", "bound",
               *(use for _ in FAMILIES for use in ("first", "adapt", "always"))]
    title = (f"{trace}: {rule(run)};\n"
             f"broadcasts of {size(run['length_bytes'])} from host {run['root']} of"
             f" {run['hosts']}, in ms: best tree, then spanning tree")
    return Table(title, columns, [_slice_row(row) for row in run["slices"]])


def print_comparison(trace: str, runs: list[dict]) -> None:
    print(comparison_table(trace, runs))


def comparison_table(trace: str, runs: list[dict]) -> Table:
    columns = ["threshold", "keep", "news", "msgs", "near", "trees", "links",
               "mst near", "trees", "links"]
    totals = runs[0]["totals"]
    title = (f"{trace}: {counted(totals['slices'], 'slice')} of {runs[0]['hosts']} hosts,"
             f" broadcasts of {size(runs[0]['length_bytes'])} from host {runs[0]['root']};\n"
             f"near: slices within {totals['near_percent']:g}% of the bound;"
             " trees, links: exchanged")
    rows = []
    for run in runs:
        rows.append([_threshold(run), f"{run['tolerance_percent']:g}%",
                     run["totals"]["announcements"], run["totals"]["messages"],
                     *_adapting(run, "fastest"), *_adapting(run, "mst")])
    rows.append(["always", None, None, None, *_adapting(runs[0], "fastest", "always"),
                 *_adapting(runs[0], "mst", "always")])
    return Table(title, columns, rows)


def _adapting(run: dict, family: str, use: str = "adapting") -> list:
    counts = run["totals"][family][use]
    return [share(counts["near_bound"], run["totals"]["reachable_slices"]), counts["switches"],
            counts["exchanged_links"]]


def _slice_row(row: dict) -> list:
    return [row["slice"], row["changed_links"], row["announcements"], row["messages"],
            _ms(row["bound_us"]),
            *(_ms(row[family][f"{use}_us"]) for family in FAMILIES for use in USES)]


def _ms(us: float | None) -> str:
    return "never" if us is None else f"{us / 1000:.{1 if us < 1e6 else 0}f}"


def _threshold(run: dict) -> str:
    percent = run["threshold_percent"]
    return "auto" if percent is None else f"{percent:g}%"


def rule(run: dict) -> str:
    change = ("judged by forecast error" if run["threshold_percent"] is None
              else f"beyond {_threshold(run)}")
    return f"changes {change}, trees kept within {run['tolerance_percent']:g}%"


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}%" if whole else "-"


def summary_table(run: dict) -> Table:
    totals = run["totals"]
    rows = []
    for family, title in FAMILIES.items():
        for use in USES:
            counts = totals[family][use]
            rows.append([f"{title}, {use}", share(counts["near_bound"], totals["reachable_slices"]),
                         counts["switches"], counts["exchanged_links"]])
    return Table("", ["", f"within {totals['near_percent']:g}% of the bound", "switches",
                      "exchanged links"], rows)


def remarks(run: dict) -> Iterator[str]:
    totals = run["totals"]
    yield (f"{counted(totals['announcements'], 'announcement')},"
           f" {counted(totals['rounds'], 'round')} of maintenance with"
           f" {counted(totals['messages'], 'message')}")
    yield (f"with foresight, {counted(totals['trees_with_foresight'], 'tree')} would have been"
           f" within {totals['near_percent']:g}% of the bound all the time")
    wrong = totals["trees_unlike_kruskal"]
    yield ("the maintained tree equalled Kruskal's in every slice" if wrong == 0 else
           f"the maintained tree differed from Kruskal's in {counted(wrong, 'slice')}")
