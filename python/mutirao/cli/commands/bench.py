"""`mutirao bench`: algorithms measured side by side, against physics, native and prediction; on request only predicted,
or the choice between them judged, or the whole library."""

import statistics
from collections.abc import Mapping, Sequence

from mutirao.base.errors import Failure, UsageError, check_range
from mutirao.base.output import tell
from mutirao.base.progress import steps
from mutirao.base.tables import BEST, BOUND, text_table
from mutirao.base.units import counted, ms, ratio
from mutirao.catalogue.collectives import COLLECTIVES, Collective
from mutirao.catalogue.predicted import NATIVE, OWN_CHOICE, best_table, median_to_bound, predict_all, table
from mutirao.lab.named_networks import load_network
from mutirao.measure.choice import CHOICE_REPEAT, add_choice, run_choice
from mutirao.measure.guidelines import DEFAULT_BYTES as GUIDELINES_BYTES
from mutirao.measure.guidelines import add_guidelines, run_guidelines
from mutirao.measure.measure import Contender, Measurement, Point, Workload, campaign_in
from mutirao.measure.words import (
    DEFAULT_BYTES,
    REPEAT,
    add_place,
    add_settling,
    check_counts,
    lengths_of,
    parse_only,
    place_of,
    rank_count,
    roots_of,
)
from mutirao.run.mpis import Mpi
from mutirao.run.user_settings import add_settings, gather_settings

_MOST_PAUSE_S = 1000
_ALL = "all"
# The ways to measure that options go with which do not go with all; None: neither judged nor predicted.
_GOES_WITH = {
    "only": (None, "--predicted", "--choice"), "roots": (None, "--predicted", "--choice"),
    "consecutive": (None,), "pause_s": (None,), "repeat": (None, "--choice", "--guidelines"),
    "tcp": (None, "--choice", "--guidelines"), "mpi": (None, "--choice", "--guidelines"),
    "assignments": (None, "--choice", "--guidelines"),
    "late_us": ("--choice",), "contenders": ("--guidelines",),
    **dict.fromkeys(("rounds", "settle_calls", "settle_s"), ("--choice", "--guidelines"))}
_OPTIONS = {"assignments": "--set", "contenders": "--with"}


def register(subparsers, common) -> None:
    parser = subparsers.add_parser("bench", parents=[common],
                                   help="measure a collective's algorithms against each other and the"
                                   " native one; judge mutirao's choice, or the library by itself")
    parser.add_argument("collectives", nargs="*", choices=[*COLLECTIVES, _ALL], default=_ALL,
                        metavar="COLLECTIVE",
                        help=f"one, or with --predicted, --choice and --guidelines several; {_ALL} of them:"
                        f" {', '.join(COLLECTIVES)}")
    parser.add_argument("--bytes", metavar="B,...",
                        help="of the message, or of one block where there is one for every rank;"
                        f" for example 24,64KiB,1MiB; default: {DEFAULT_BYTES}, with --guidelines {GUIDELINES_BYTES}")
    parser.add_argument("--roots", metavar="R,...|sites|all",
                        help="ranks; sites: one of each; default: 0")
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--predicted", action="store_const", dest="way", const="--predicted",
                     help="run nothing; predict all algorithms on the network of --lab; of several collectives the"
                     " best of each against its lower bound")
    add_choice(way, parser)
    add_guidelines(way, parser)
    parser.add_argument("--only", action="append", metavar="NAME,...|all",
                        help="algorithms with their parameters; native; auto: mutirao's own choice;"
                        " all: every algorithm, in one piece; default: native,auto")
    add_place(parser)
    parser.add_argument("--repeat", type=int, metavar="K",
                        help=f"default: {REPEAT}; on real hosts with --choice {CHOICE_REPEAT}, with --guidelines 20")
    parser.add_argument("--consecutive", type=int, metavar="K",
                        help="time so many calls in a row; default: 1")
    parser.add_argument("--pause-s", type=float, metavar="S",
                        help="before each measurement send nothing for so long, as TCP takes to forget"
                        " how much a connection carried; default: 0")
    add_settings(parser, "; start=wait unless it is set")
    add_settling(parser)
    parser.set_defaults(run=run)


def run(arguments) -> int:
    _check_options(arguments)
    named = COLLECTIVES if _ALL in arguments.collectives else dict.fromkeys(arguments.collectives)
    collectives = [COLLECTIVES[name] for name in named]
    if arguments.way:
        if arguments.only and len(collectives) > 1:
            raise UsageError("--only names algorithms of one collective, not of several")
        ways = {"--predicted": _run_predicted, "--choice": run_choice, "--guidelines": run_guidelines}
        return ways[arguments.way](arguments, collectives)
    if len(collectives) > 1:
        raise UsageError("bench measures one collective at a time: name it, or add --predicted, --choice or"
                         f" --guidelines (known: {', '.join(COLLECTIVES)})")
    return _run_side_by_side(arguments, *collectives)


def _check_options(arguments) -> None:
    for name, ways in _GOES_WITH.items():
        if getattr(arguments, name) not in (None, []) and arguments.way not in ways:
            option = _OPTIONS.get(name, f"--{name.replace('_', '-')}")
            raise UsageError(f"{option} does not go with {arguments.way}" if arguments.way else
                             f"{option} needs {' or '.join(ways)}")


def _run_side_by_side(arguments, collective: Collective) -> int:
    place = place_of(arguments)
    check_counts(arguments, repeat=REPEAT, consecutive=1)
    check_range("--pause-s", arguments.pause_s, 0, _MOST_PAUSE_S)
    workload = Workload(lengths_of(arguments, collective),
                        roots_of(arguments, collective, place.ranks, place.network),
                        (arguments.consecutive,), arguments.repeat, pause_ms=round((arguments.pause_s or 0) * 1000))
    names = parse_only(arguments.only or [f"{NATIVE},{OWN_CHOICE}"], collective.name)
    settings = gather_settings(arguments.assignments)
    if collective.name in settings:
        raise UsageError(f"the algorithms are named by --only, not by the setting {collective.name}")
    contenders = [Contender.named(name, mpi, settings, collective.name) for mpi in place.mpis for name in names]
    with campaign_in(place, "bench", len(contenders) * workload.points) as campaign:
        measurements = [done for each in contenders if (done := campaign.measure(each, workload))]
    if not measurements:
        raise Failure("nothing could be measured")
    measured = _compared(measurements)
    return campaign.tell(arguments.json, {
        "collective": collective.name, **place.to_dict(), "repeat": workload.repeat, "pause_ms": workload.pause_ms,
        "measurements": measured, "failed": campaign.failures}, _text(collective, measured))


def _run_predicted(arguments, collectives: Sequence[Collective]) -> int:
    if not arguments.lab:
        raise UsageError("--predicted needs a network: --lab")
    network = load_network(arguments.lab)
    ranks = rank_count(arguments, network)
    several = len(collectives) > 1
    predictions = []
    with steps(len(collectives)) as progress:
        for collective in collectives:
            if several:
                progress.begin(collective.name)
            predictions += predict_all(collective, network, ranks, lengths_of(arguments, collective, several),
                                       roots_of(arguments, collective, ranks, network, several),
                                       parse_only(arguments.only or [], collective.name))
            progress.advance()
    told = {"ranks": ranks, "network": network.name, "predictions": predictions}
    if several:
        tell(arguments.json, {**told, "median_to_bound": median_to_bound(predictions)},
             best_table(predictions, network.name))
    else:
        tell(arguments.json, {"collective": collective.name, **told}, "\n\n".join(map(table, predictions)))
    return 0


def _compared(measurements: Sequence[Measurement]) -> list[dict]:
    """All that was measured, as JSON has it: each point beside the native one and the prediction of the same MPI."""
    named = {(each.contender.mpi, each.contender.name): each for each in measurements}
    return [{**each.to_dict(), "points": [{**point.to_dict(), **_judged(each, point, named)} for point in each.points]}
            for each in measurements]


def _judged(measurement: Measurement, point: Point, named: Mapping[tuple[Mpi, str], Measurement]) -> dict:
    contender, call = measurement.contender, (point.length_bytes, point.root)
    native, own = (named.get((contender.mpi, name)) for name in (NATIVE, OWN_CHOICE))
    ran = measurement.chosen(*call)
    # Predictions are made where there is something to choose, and for one call at a time.
    predicted = own.predicted_ms(*call) if own and point.consecutive == 1 else {}
    predicted_ms = predicted.get(NATIVE if contender.native else ran)
    compared = native and not _ran_natively(contender.name, ran)  # else that would be noise
    return {"ran": ran, "predicted_ms": predicted_ms,
            "to_native": point.median_ms / native.point(*call).median_ms if compared else None,
            "error": None if predicted_ms is None else predicted_ms / point.median_ms - 1}


def _text(collective: Collective, measured: Sequence[dict]) -> str:
    """A table for each kind of call on each MPI."""
    several_mpis = len({each["mpi"] for each in measured}) > 1
    tables: dict[str, list[dict]] = {}
    for each in measured:
        for point in each["points"]:
            title = collective.calls(point["length_bytes"], point["root"], point["consecutive"])
            tables.setdefault(title + (f", {each['mpi_title']}" if several_mpis else ""), []).append(
                {"name": each["name"], **point})
    parts = [_table(rows, title) for title, rows in tables.items()]
    if errors := [abs(row["error"]) for rows in tables.values() for row in rows if row["error"] is not None]:
        parts.append(f"Median error of prediction: {statistics.median(errors):.1%}"
                     f" ({counted(len(errors), 'prediction')}).")
    return "\n\n".join(parts)


_COLUMNS = ("in ms", "median", "spread", "x bound", "x native", "predicted", "error")


def _table(rows: Sequence[dict], title: str) -> str:
    bound_ms = rows[0]["bound_ms"]
    cells = [("physical bound", ms(bound_ms), *[""] * (len(_COLUMNS) - 2))] if bound_ms else []
    styles = {0: BOUND} if bound_ms else {}
    fastest = min(rows, key=lambda row: row["median_ms"])
    for row in rows:
        if row is fastest and len(rows) > 1:
            styles[len(cells)] = BEST
        cells.append((row["name"], ms(row["median_ms"]), ms(row["spread_ms"]), ratio(row["to_bound"]),
                      ratio(row["to_native"]), ms(row["predicted_ms"]),
                      "" if row["error"] is None else f"{row['error']:+.1%}"))
    ran = [f"{row['name']} ran {row['ran'] if row['ran'] not in (None, NATIVE) else 'natively'}" for row in rows
           if _ran_natively(row["name"], row["ran"]) or row["ran"] not in (None, row["name"])]
    return "\n".join([text_table(_COLUMNS, cells, title, styles), *ran])


def _ran_natively(name: str, ran: str | None) -> bool:
    """Though mutirao took part."""
    return name != NATIVE and ran in (None, NATIVE)
