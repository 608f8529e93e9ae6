"""`study agents` as one HTML page that needs nothing beside itself."""

import statistics

from mutirao.measure.circumstances import busy_remarks
from mutirao.pages.html import Page, judged, legend, listed, section, table
from mutirao_studies.account import command_of
from mutirao_studies.chart import Bar, Group, bar_chart
from mutirao_studies.page_parts import how_made, titled_table
from mutirao_studies.paper_000.agents import COSTS, costs_table, jobs_table

_START = {"twin_ms": ("making the communicator", "a0"),
          "waited_ms": ("waiting for ranks and network", "a1")}


def make_page(result: dict) -> Page:
    hosts = len(result["hosts"])
    lead = (f"An agent on each of {hosts} hosts in six sites measures links and keeps a spanning tree, for"
            " all jobs that come. How much of a host does it take, and how soon does a job that finds the"
            " agents begin?")
    cost = section("What an agent costs its host", titled_table(costs_table(result)))
    gain = section("What a job gains", _starts(result), legend(dict(_START.values())),
                   titled_table(jobs_table(result)),
                   listed(sorted({job["reason"] for job in result["jobs"]})))
    return Page("What standing agents cost, and what a job gains", lead,
                how_made(result, result["mpi_title"]), cost + gain, command_of(result), _raw(result),
                result, _tiles(result), busy_remarks(result))


def _tiles(result: dict) -> list[tuple[str, str, str]]:
    shown = []
    for key, (what, limit) in COSTS.items():
        if limit is not None:
            median = statistics.median(host[key] for host in result["hosts"])
            shown.append((judged(median <= limit), f"{median:.2f}",
                          f"{what}: the median of the hosts; at most {limit:g} wanted"))
    return [*shown, ("tile", f"{result['cold_start_s']:.1f} s", "from the agents' start to a tree of all"
                     " hosts")]


def _starts(result: dict) -> str:
    bars = []
    for number, job in enumerate(result["jobs"], start=1):
        segments = [(style, job[key] / 1000, f"{title}: {job[key] / 1000:.2f} s")
                    for key, (title, style) in _START.items()]
        bars.append(Bar(f"job {number}", segments, f"{sum(value for _, value, _ in segments):.2f} s"))
    return bar_chart([Group("Longer in MPI_Init", bars)])


def _raw(result: dict) -> str:
    return table(["host", *(what for what, _ in COSTS.values())],
                 [[number, *(f"{host[key]:.3g}" for key in COSTS)]
                  for number, host in enumerate(result["hosts"])])
