"""`mutirao replay`: a recorded network against change detection and trees, without a network."""

import shlex
from itertools import product
from pathlib import Path

from mutirao.base.output import tell, working
from mutirao.base.units import size_argument
from mutirao.base.user_files import check_writable, write_file
from mutirao.catalogue import core_tool
from mutirao.cli.studies import COMMANDS
from mutirao.measure.circumstances import Circumstances
from mutirao_studies.account import ask_studies
from mutirao_studies.document import page_of, text_of
from mutirao_studies.replay.replay_document import document, slices_table
from mutirao_studies.replay.trace import MADE_UP, load_trace

DESCRIPTION = """\
Replays recorded latencies: forecasters, change detection and the maintenance of the spanning tree
run as they do in the agents, and broadcasts are predicted on the network as it is in each slice.
It is the tool for judging thresholds: no network is needed.

Each slice stands for four measurements of every link with the slice's latency, half of the recorded
round trip. Then a broadcast is predicted over these trees:

  first      the best tree of the first slice, for good
  adapting   what the library does: it knows only what was announced, and keeps its tree while that is
             predicted to take at most --tolerance longer than the best tree
  always     the best tree of every slice, from its true latencies

each for the fastest kind of tree, and for the minimum spanning tree alone (which adapting follows
without tolerance). All are compared with the bound: the longest of the shortest paths from the
root, which no broadcast can beat. A switch is a slice in which the tree in use changed; a link is
exchanged where a host gets another parent. Messages are those of the spanning tree's maintenance;
each announcement is flooded besides."""


def register(subparsers, common) -> None:
    from argparse import RawDescriptionHelpFormatter
    parser = subparsers.add_parser(
        "replay", parents=[common], description=DESCRIPTION,
        formatter_class=RawDescriptionHelpFormatter,
        help=COMMANDS["replay"])
    parser.add_argument("trace", metavar="TRACE",
                        help=f"a .npz file, or {MADE_UP}, which is made up")
    parser.add_argument("--threshold", default="auto", metavar="PERCENT,...",
                        help="what counts as a change of a link; auto: judged by forecast error;"
                        " several are compared; default: auto")
    parser.add_argument("--tolerance", default="5", metavar="PERCENT,...",
                        help="a tree is kept while it is predicted to take at most so much longer"
                        " than the best one; several are compared; default: 5")
    parser.add_argument("--root", type=int, default=0, metavar="N", help="default: 0")
    parser.add_argument("--bytes", type=size_argument, default=24, metavar="B", help="default: 24")
    parser.add_argument("--page", type=Path, metavar="FILE.html",
                        help="draw the times of all slices as an HTML page")
    parser.set_defaults(run=run)


def run(arguments) -> int:
    if arguments.page:
        check_writable("--page", arguments.page)
    circumstances = Circumstances("replay", quick=False, mpi_names=())
    trace = load_trace(arguments.trace)
    rules = list(product(arguments.threshold.split(","), arguments.tolerance.split(",")))
    with (working(f"replaying {len(trace.slices)} slices of {trace.host_count} hosts"),
          core_tool.lines_file(trace.tool_lines(), ".trace") as path):
        runs = [ask_studies("replay", str(path), *_words(arguments, *rule)) for rule in rules]
    result = {**circumstances.to_dict(), "trace": trace.name, "runs": runs}
    shown = document(result, shlex.join([  # as it is typed for the same page
        "mutirao", "replay", arguments.trace, *_words(arguments, arguments.threshold, arguments.tolerance),
        "--page", str(arguments.page)]))
    if arguments.page:
        write_file(arguments.page, str(page_of(shown)))
    slices = [str(slices_table(trace.name, runs[0]))] if len(runs) == 1 else []
    tell(arguments.json, result, "\n\n".join([*slices, text_of(shown)]))
    return 0


def _words(arguments, threshold: str, tolerance: str) -> list[str]:
    return ["--threshold", threshold, "--tolerance", tolerance, "--root", str(arguments.root), "--bytes",
            str(arguments.bytes)]
