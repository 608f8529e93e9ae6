"""`mutirao explain`: which algorithms ran, why, and on what network, from the report of a run."""

import json
from collections.abc import Iterator
from pathlib import Path

from mutirao.errors import Failure
from mutirao.output import print_json
from mutirao.paths import last_report
from mutirao.units import counted, duration, size


def register(subparsers, common) -> None:
    parser = subparsers.add_parser(
        "explain", parents=[common], help="say which algorithms the last run used, and why")
    parser.add_argument("file", nargs="?", type=Path,
                        help="a report (run --report FILE); default: that of the last run")
    parser.set_defaults(run=run)


def run(arguments) -> int:
    report = read_report(arguments.file)
    if arguments.json:
        print_json(report)
    else:
        print("\n".join(explain(report)))
    return 0


def read_report(file: Path | None) -> dict:
    path = file or last_report()
    try:
        report = json.loads(path.read_text())
    except FileNotFoundError:
        raise Failure(f"no report {file}" if file else "no report of a run yet: the last program"
                      " made no collective call that mutirao handles, or none was run"
                      " (mutirao run)") from None
    except (OSError, ValueError) as error:
        raise Failure(f"cannot read the report {path}: {error}") from None
    if not isinstance(report, dict) or not isinstance(report.get("communicators"), list):
        raise Failure(f"{path} is not a report of mutirao")
    return report


def explain(report: dict) -> Iterator[str]:
    yield f"mutirao {report.get('mutirao', '?')} over {_first_line(report.get('mpi', '?'))}"
    if not report["communicators"]:
        yield "No communicator had a collective call that mutirao handles."
    for communicator in report["communicators"]:
        yield ""
        yield from _communicator(communicator)


def _first_line(text: str) -> str:
    """MPI libraries describe themselves in several lines or clauses."""
    return text.splitlines()[0].split(",")[0].strip() if text else "an unknown MPI"


def _communicator(communicator: dict) -> Iterator[str]:
    ranks, hosts = communicator.get("ranks", 0), communicator.get("hosts", 0)
    line = (f"{communicator.get('name') or 'communicator'}: {counted(ranks, 'rank')}"
            f" on {counted(hosts, 'host')}")
    sites = len(set(communicator.get("sites") or ()))
    if sites > 1:
        line += f" in {sites} sites"
    yield f"{line}; {communicator.get('state', 'unknown')}"
    if communicator.get("reason"):
        yield f"  because {communicator['reason']}"
    yield from _set_up(communicator)
    if communicator.get("tree"):
        yield "  spanning tree, with the one-way latency of each link:"
        yield from (f"    {line}" for line in draw_tree(
            communicator["tree"], communicator.get("latency_us"), communicator.get("sites")))
    for decision in communicator.get("decisions", ()):
        yield ""
        yield from _decision(decision)


def _set_up(communicator: dict) -> Iterator[str]:
    spent = communicator.get("setup_ms")
    if not spent:
        return
    titles = {"probe": "measuring links", "ghs": "spanning tree", "gather": "sharing"}
    parts = ", ".join(f"{title} {duration(spent[key] * 1000)}"
                      for key, title in titles.items() if key in spent)
    yield f"  set up in {duration(spent.get('total', 0) * 1000)} ({parts})"
    if communicator.get("ghs_messages"):
        yield (f"  spanning tree built with {communicator['ghs_messages']} messages"
               f" (bound: {communicator.get('ghs_bound', '?')})")


def draw_tree(edges: list, latency_us: list | None, sites: list | None) -> Iterator[str]:
    """An undirected tree as indented text, hung from its lowest host; nearest children first."""
    neighbours: dict[int, list[int]] = {}
    for a, b in edges:
        neighbours.setdefault(a, []).append(b)
        neighbours.setdefault(b, []).append(a)

    def label(host: int) -> str:
        return f"host {host}" + (f" (site {sites[host]})" if sites else "")

    def latency(a: int, b: int) -> float:
        return latency_us[a][b] if latency_us else 0.0

    root = min(neighbours)
    yield label(root)
    # A stack, since a chain of hosts is deeper than Python recurses.
    stack = [(root, -1, "", "")]
    while stack:
        host, parent, indent, branch = stack.pop()
        if branch:
            link = f"  {duration(latency(parent, host))}" if latency_us else ""
            yield f"{indent}{branch} {label(host)}{link}"
            indent += "│  " if branch == "├─" else "   "
        children = sorted((child for child in neighbours[host] if child != parent),
                          key=lambda child: (latency(host, child), child))
        branches = ["├─"] * (len(children) - 1) + ["└─"]
        stack += reversed([(child, host, indent, branch)
                           for child, branch in zip(children, branches)])


def _decision(decision: dict) -> Iterator[str]:
    yield (f"  {decision.get('collective', 'broadcast')} of {size(decision['length_bytes'])}"
           f" from rank {decision['root']}, {counted(decision.get('calls', 0), 'call')}:"
           f" {decision['chosen']}")
    if decision.get("reason"):
        yield f"    because {decision['reason']}"
    considered = decision.get("considered") or []
    native = next((row["predicted_us"] for row in considered
                   if row["candidate"].split(":")[0] == "native"), None)
    width = max((len(row["candidate"]) for row in considered), default=0)
    for row in considered:
        line = f"    {row['candidate']:<{width}}  predicted {duration(row['predicted_us'])}"
        if native and row["predicted_us"] and row["candidate"].split(":")[0] != "native":
            line += f", {row['predicted_us'] / native:.2f} of native"
        yield line
