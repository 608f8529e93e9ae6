"""`mutirao show`: what there is to choose from, algorithms and settings; and of an algorithm who sends what when, as
text, JSON or a picture."""

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from mutirao.base.errors import UsageError, unknown
from mutirao.base.output import print_json, print_lines, tell
from mutirao.base.tables import text_table
from mutirao.base.units import counted, duration, ratio, size_argument
from mutirao.base.user_files import print_or_write
from mutirao.catalogue import core_tool
from mutirao.catalogue.collectives import COLLECTIVES
from mutirao.catalogue.schedule_picture import picture
from mutirao.catalogue.tree_text import draw_tree
from mutirao.lab.named_networks import load_network
from mutirao.lab.network import first_hosts
from mutirao.run.user_settings import settings_given

FORMATS = ("text", "json", "svg")
_LISTS = ("algorithms", "settings")
_OF_SCHEDULES = ("ranks", "ranks_per_host", "network", "root", "bytes", "steps", "format", "output")
_MOST_PEERS = 8  # of a rank, by their numbers


def register(subparsers, common) -> None:
    parser = subparsers.add_parser("show", parents=[common],
                                   help="list algorithms and settings; show an algorithm's tree or schedule")
    what = parser.add_argument(
        "what", nargs="?", default="algorithms", metavar="WHAT",
        help="algorithms: all, with their parameters; a collective: its algorithms; settings: all, their values and"
        " where these come from; an algorithm, for example broadcast/tree or broadcast/chain:segment_bytes=4096: who"
        " sends what when; default: %(default)s")
    what.completions = (*_LISTS, *COLLECTIVES)
    parser.add_argument("--ranks", type=int, metavar="N",
                        help="default: as many as fit all hosts of the network, or 8")
    parser.add_argument("--ranks-per-host", type=int, metavar="K",
                        help="consecutive ranks that share a host; default: 1")
    parser.add_argument("--network", metavar="NAME",
                        help="a preset (mutirao lab presets), a .toml file like one, or a CSV file of round trips;"
                        " default: all links alike")
    parser.add_argument("--root", type=int, metavar="R",
                        help="of a collective that has one; default: 0")
    parser.add_argument("--bytes", type=size_argument, metavar="B",
                        help="of the message, or of one block where there is one for every rank, for example"
                        " 64KiB; default: 24")
    parser.add_argument("--steps", action="store_true", default=None, help="what every rank does, step by step")
    parser.add_argument("--format", choices=FORMATS, help="default: text")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write it there; default: standard output")
    parser.set_defaults(run=run)


def run(arguments) -> int:
    if "/" in arguments.what:
        return _show_schedule(arguments)
    for name in _OF_SCHEDULES:
        if getattr(arguments, name) is not None:
            raise UsageError(f"--{name.replace('_', '-')} is about one algorithm: name it as COLLECTIVE/ALGORITHM")
    if arguments.what == "settings":
        return _list_settings(arguments.json)
    if arguments.what not in ("algorithms", *COLLECTIVES):
        raise unknown("collective", arguments.what, (*COLLECTIVES, *_LISTS), "; or COLLECTIVE/ALGORITHM")
    return _list_algorithms(None if arguments.what == "algorithms" else arguments.what, arguments.json)


# --- lists --------------------------------------------------------------------------------------------


def _list_algorithms(collective: str | None, as_json: bool) -> int:
    rows = core_tool.algorithms(collective)
    tell(as_json, rows, text_table(
        ("algorithm", "parameters", "what it does", "restrictions", "source"),
        [(f"{row['collective']}/{row['name']}", _parameters(row), row["summary"], "; ".join(row["restrictions"]),
          row["source"]) for row in rows]))
    return 0


def _parameters(row: dict) -> str:
    """With spaces, so that narrow terminals break lines between them."""
    values = {"kind": row["trees"] if len(row["trees"]) > 1 else (), "radix": row["radices"], "spread": row["spreads"],
              "segment_bytes": ["N"] * row["segmented"], "inside": row["insides"]}
    return ", ".join(f"{name}={'|'.join(map(str, known))}" for name, known in values.items() if known)


def _list_settings(as_json: bool) -> int:
    given = settings_given([])
    rows = []
    for row in core_tool.settings():
        value, place = given.get(row["name"], (row["default"], "default"))
        rows.append({**row, "value": value, "from": place})
    if as_json:
        print_json(rows)
    else:
        print_lines(_lines_of_settings(rows), hanging="")
    return 0


def _lines_of_settings(rows: Sequence[dict]) -> Iterator[str]:
    """Those that do the same for another collective share their words."""
    for what, alike in groupby(rows, key=lambda row: row["help"]):
        for row in alike:
            more = [row["from"], *([] if row["from"] == "default" else [f"default {row['default'] or 'empty'}"]),
                    row["range"] or row["type"]]
            yield f"{row['name']} = {row['value'] or '(empty)'}  [{'; '.join(more)}]"
        yield f"    {what}"
    yield ""
    yield ("Given by --set NAME=VALUE, in mutirao.toml, or in the environment as MUTIRAO_ and the name in capitals;"
           " the first of these wins.")


# --- one algorithm ------------------------------------------------------------------------------------


def _show_schedule(arguments) -> int:
    if arguments.json and arguments.format not in (None, "json"):
        raise UsageError(f"--json and --format {arguments.format} contradict each other")
    form = "json" if arguments.json else arguments.format or "text"
    if arguments.steps and form != "text":
        raise UsageError(f"--steps is about text; {form} has every step anyway")
    answer = _asked(arguments, "text" if arguments.steps else "json")
    if form == "svg":
        answer = picture(json.loads(answer))
    elif form == "text" and not arguments.steps:
        answer = "".join(f"{line}\n" for line in _in_short(json.loads(answer)))
    print_or_write(answer, arguments.output)
    return 0


def _asked(arguments, form: str) -> str:
    words = ["show", arguments.what, "--format", form]
    for name in ("root", "ranks_per_host", "bytes", "ranks"):
        if getattr(arguments, name) is not None:
            words += [f"--{name.replace('_', '-')}", str(getattr(arguments, name))]
    if arguments.network is None:
        return core_tool.ask(*words)
    network = first_hosts(load_network(arguments.network), arguments.ranks,
                          1 if arguments.ranks_per_host is None else arguments.ranks_per_host)
    with core_tool.network_file(network) as path:
        return core_tool.ask(*words, "--network", str(path))


def _in_short(shown: dict) -> Iterator[str]:
    """The tree that the messages make; where they make none, to whom each rank sends."""
    yield shown["title"]
    predicted_us, bound_us = shown["predicted_us"], shown["bound_us"]
    if predicted_us is None:
        yield "never ends: it uses a link that lets nothing through"
    else:
        yield f"predicted {duration(predicted_us)}" + (
            f", {ratio(predicted_us / bound_us)} x the lower bound of {duration(bound_us)}" if bound_us else "")
    yield ""
    sends = sorted({(each["from"], each["to"]) for each in shown["messages"]})
    if _is_tree(sends, shown):
        done_us = shown["rank_complete_us"]
        yield from draw_tree(
            sends, None, lambda rank: f"rank {rank}, done after {duration(done_us[rank])}", shown["root"])
    else:
        for rank in range(shown["ranks"]):
            yield _line_of(rank, [to for sender, to in sends if sender == rank], shown["ranks"])


def _is_tree(sends: list[tuple[int, int]], shown: dict) -> bool:
    """Every rank but the root has one link towards it."""
    inner = {end for each in sends for end in each}
    away, home = [to for _, to in sends], [sender for sender, _ in sends]
    once = (len(set(away)) == len(away) or len(set(home)) == len(home))
    return "root" in shown and once and len(inner) == shown["ranks"] == len(sends) + 1


def _line_of(rank: int, peers: list[int], ranks: int) -> str:
    if not peers:
        return f"rank {rank} sends nothing"
    if len(peers) == ranks - 1:
        return f"rank {rank} sends to all others"
    if len(peers) > _MOST_PEERS:
        return f"rank {rank} sends to {counted(len(peers), 'rank')}"
    return f"rank {rank} sends to {', '.join(map(str, peers))}"
