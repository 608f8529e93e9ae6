"""`mutirao show`: who sends what when, as text, JSON or a picture."""

import json
from collections.abc import Iterator
from pathlib import Path

from mutirao.base.errors import UsageError
from mutirao.base.units import counted, duration, ratio, size_argument
from mutirao.base.user_files import write_text
from mutirao.catalogue import core_tool
from mutirao.catalogue.schedule_picture import picture
from mutirao.catalogue.tree_text import draw_tree
from mutirao.lab.named_networks import load_network
from mutirao.lab.network import first_hosts

FORMATS = ("text", "json", "svg")
_MOST_PEERS = 8  # of a rank, by their numbers


def register(subparsers, common) -> None:
    parser = subparsers.add_parser("show", parents=[common],
                                   help="show an algorithm's tree or schedule on a network")
    parser.add_argument("algorithm", metavar="COLLECTIVE/ALGORITHM",
                        help="for example broadcast/tree or broadcast/chain:segment_bytes=4096;"
                        " mutirao algorithms lists all")
    parser.add_argument("--ranks", type=int, metavar="N",
                        help="default: as many as fit all hosts of the network, or 8")
    parser.add_argument("--ranks-per-host", type=int, default=1, metavar="K",
                        help="consecutive ranks that share a host; default: 1")
    parser.add_argument("--network", metavar="NAME",
                        help="a preset (mutirao lab presets), a .toml file like one, or a CSV file of round trips;"
                        " default: all links alike")
    parser.add_argument("--root", type=int, default=0, metavar="R",
                        help="of a collective that has one; default: 0")
    parser.add_argument("--bytes", type=size_argument, metavar="B",
                        help="of the message, or of one block where there is one for every rank, for example"
                        " 64KiB; default: 24")
    parser.add_argument("--steps", action="store_true", help="what every rank does, step by step")
    parser.add_argument("--format", choices=FORMATS, help="default: text")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE")
    parser.set_defaults(run=run)


def run(arguments) -> int:
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
    if arguments.output is None:
        print(answer, end="")
    else:
        write_text(arguments.output, answer)
    return 0


def _asked(arguments, form: str) -> str:
    words = ["show", arguments.algorithm, "--root", str(arguments.root),
             "--format", form, "--ranks-per-host", str(arguments.ranks_per_host)]
    if arguments.bytes is not None:
        words += ["--bytes", str(arguments.bytes)]
    if arguments.ranks is not None:
        words += ["--ranks", str(arguments.ranks)]
    if arguments.network is None:
        return core_tool.ask(*words)
    network = first_hosts(load_network(arguments.network), arguments.ranks, arguments.ranks_per_host)
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
