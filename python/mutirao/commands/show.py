"""`mutirao show`: who sends what when, as text, JSON or a picture."""

from pathlib import Path

from mutirao import core_tool
from mutirao.errors import Failure, UsageError
from mutirao.network import first_hosts
from mutirao.network_argument import load_network

FORMATS = ("text", "json", "svg")


def register(subparsers, common) -> None:
    parser = subparsers.add_parser("show", parents=[common],
                                   help="show an algorithm's schedule on a network")
    parser.add_argument("algorithm", metavar="COLLECTIVE/ALGORITHM",
                        help="for example broadcast/tree or broadcast/chain:segment_bytes=4096;"
                        " mutirao algorithms lists all")
    parser.add_argument("--ranks", type=int, metavar="N",
                        help="default: as many as fit all hosts of the network, or 8")
    parser.add_argument("--ranks-per-host", type=int, default=1, metavar="K",
                        help="consecutive ranks that share a host; default: 1")
    parser.add_argument("--network", metavar="NAME",
                        help="a preset (mutirao lab presets) or a CSV file of round trips;"
                        " default: all links alike")
    parser.add_argument("--root", type=int, default=0, metavar="R",
                        help="of a collective that has one; default: 0")
    parser.add_argument("--bytes", type=int, metavar="B",
                        help="of the message, or of one block where there is one for every rank;"
                        " default: 24")
    parser.add_argument("--format", choices=FORMATS, help="default: text")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE")
    parser.set_defaults(run=run)


def run(arguments) -> int:
    if arguments.json and arguments.format not in (None, "json"):
        raise UsageError(f"--json and --format {arguments.format} contradict each other")
    form = "json" if arguments.json else arguments.format or "text"
    words = ["show", arguments.algorithm, "--root", str(arguments.root),
             "--format", form, "--ranks-per-host", str(arguments.ranks_per_host)]
    if arguments.bytes is not None:
        words += ["--bytes", str(arguments.bytes)]
    if arguments.ranks is not None:
        words += ["--ranks", str(arguments.ranks)]
    if arguments.network is None:
        picture = core_tool.ask(*words)
    else:
        network = first_hosts(load_network(arguments.network), arguments.ranks,
                              arguments.ranks_per_host)
        with core_tool.network_file(network) as path:
            picture = core_tool.ask(*words, "--network", str(path))
    if arguments.output is None:
        print(picture, end="")
        return 0
    try:
        arguments.output.write_text(picture)
    except OSError as error:
        raise Failure(f"cannot write {arguments.output}: {error.strerror}") from None
    return 0
