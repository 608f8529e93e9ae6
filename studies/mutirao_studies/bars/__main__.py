"""`python -m mutirao_studies.bars`, which `make bars` calls."""

import sys
from collections.abc import Sequence

from mutirao.base.output import note
from mutirao.base.progress import Steps
from mutirao.base.units import counted, spoken
from mutirao.cli.cli import Parser, exit_code_of
from mutirao.measure.circumstances import Circumstances, busy_remarks
from mutirao_studies.bars import change, comparing, costs, frame, host, lengths, loops, settled, start
from mutirao_studies.bars.bar import MPIS, Bar
from mutirao_studies.loops.loops_drawn import commit_hash

# Where bars stand. A new one is a function in the file that it fits, or a file of its own and a word here.
_GROUPS = (loops, lengths, comparing, change, settled, host, start, costs)


def all_bars(commit_hash: str) -> list[Bar]:
    """Loops are drawn by the commit's hash."""
    return [bar for group in _GROUPS for bar in group.bars(commit_hash)]


def make_parser() -> Parser:
    parser = Parser(prog="python -m mutirao_studies.bars",
                    description="Measures what mutirao is to keep to, in the default configuration: a sample drawn by the"
                    f" commit's hash, at most {frame.MOST_MINUTES} minutes.")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--all", action="store_true", help="every bar: some hours")
    what.add_argument("--only", metavar="NAME,...", help="these, or those whose names begin so")
    what.add_argument("--list", action="store_true", help="measure nothing; say which bars there are")
    parser.add_argument("--commit", metavar="HASH", help="draw as for this commit; default: the one checked out")
    return parser


def run(arguments) -> int:
    commit = arguments.commit or commit_hash()
    bars = all_bars(commit)
    if arguments.list:
        print("\n".join(frame.listed(bars)))
        return 0
    if arguments.only:
        bars = frame.named(bars, arguments.only.split(","))
    elif not arguments.all:
        bars = frame.sample(bars, commit)
    circumstances = Circumstances("bars", False, MPIS).to_dict()
    note(f"{counted(len(bars), 'bar')}, about {spoken(60 * sum(bar.minutes for bar in bars))}")
    outcomes = _measure(bars, commit)
    print("\n".join(frame.summary_lines(outcomes, busy_remarks(circumstances))))
    return 0 if all(outcome["met"] for outcome in outcomes) else 1


def _measure(bars: Sequence[Bar], commit: str) -> list[dict]:
    kept = frame.read_kept()
    progress = Steps(len(bars), [bar.minutes for bar in bars])  # plain: what a bar runs shows its own
    outcomes = []
    for bar in bars:
        progress.begin(bar.name)
        outcome = frame.run_bar(bar, commit)
        print("\n".join(frame.lines_of(outcome, kept.get(bar.name))), flush=True)
        outcomes.append(outcome)
        frame.keep(kept, outcome)
        progress.advance()
    return outcomes


def main(arguments: Sequence[str] | None = None) -> int:
    """As the command line of mutirao."""
    return exit_code_of(lambda: run(make_parser().parse_args(arguments)))


if __name__ == "__main__":
    sys.exit(main())
