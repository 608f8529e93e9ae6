"""`mutirao profile`: what earlier jobs measured, shown, handed on, and as rules of other MPI libraries."""

import json
import time
from collections.abc import Sequence
from pathlib import Path

from mutirao.base.errors import Failure, UsageError
from mutirao.base.output import note, print_json
from mutirao.base.tables import text_table
from mutirao.base.units import counted, duration, ratio
from mutirao.base.user_files import print_or_write, read_json
from mutirao.catalogue.collectives import COLLECTIVES
from mutirao.catalogue.predicted import NATIVE
from mutirao.measure import rules
from mutirao.measure.profile import Call, Fabric, Profile, Row, add, profile_file, read
from mutirao.run.user_settings import gather_settings


def register(subparsers, common) -> None:
    parser = subparsers.add_parser("profile", help="what earlier jobs measured: show it, hand it"
                                   " on, take it to other MPI libraries")
    commands = parser.add_subparsers(dest="profile_command", metavar="command", required=True)

    show = commands.add_parser("show", parents=[common], help="the best of each kind of call")
    show.add_argument("file", nargs="?", type=Path, metavar="FILE", help="default: that of the setting profile")
    show.add_argument("--collective", choices=COLLECTIVES, help="only this one")
    show.add_argument("--all", action="store_true", help="every candidate")
    show.set_defaults(run=_show)

    export = commands.add_parser("export", parents=[common], help="rules for those who cannot preload mutirao")
    export.add_argument("file", nargs="?", type=Path, metavar="FILE", help="default: that of the setting profile")
    export.add_argument("--format", choices=[*rules.FORMATS, "json"], required=True)
    export.add_argument("--fabric", type=int, metavar="N", help="as profile show numbers them")
    export.add_argument("--any-order", action="store_true", help="also what is wrong for operators"
                        " that do not commute: for programs that have none")
    export.add_argument("-o", "--output", type=Path, metavar="FILE", help="write it there; default: standard output")
    export.set_defaults(run=_export)

    take = commands.add_parser("import", parents=[common], help="adds a profile that was exported as json")
    take.add_argument("exported", type=Path, metavar="FILE")
    take.add_argument("--file", type=Path, metavar="PROFILE", help="to add to; default: that of the"
                      " setting profile")
    take.set_defaults(run=_import)


def file_of(given: Path | None) -> Path:
    path = given or profile_file(gather_settings([]))
    if path is None:
        raise UsageError("the setting profile is off: name a file")
    return path


def _read(given: Path | None) -> Profile:
    try:
        return read(file_of(given))
    except Failure as failure:
        if given is None:
            raise
        raise UsageError(str(failure)) from None  # the file is the caller's choice


def _call(call: Call) -> str:
    what = COLLECTIVES[call.collective].calls(call.length_bytes, call.root)
    return f"{what}{'' if call.commutes else ', in order'}{', cold' if call.buffers == 'cold' else ''}"


def _show(arguments) -> int:
    path, profile = file_of(arguments.file), _read(arguments.file)
    calls = [call for call in profile.calls if arguments.collective in (None, call.collective)]
    if arguments.json:
        print(rules.as_json(profile), end="")
        return 0
    groups: dict[tuple, list[Call]] = {}
    for call in calls:
        groups.setdefault((call.fabric, call.mpi, call.ranks), []).append(call)
    print(f"{path}: {counted(len(profile.rows), 'measurement')}")
    for (fabric, mpi, ranks), members in groups.items():
        print()
        title = f"fabric {fabric.id}: {fabric.title}; {mpi}, {counted(ranks, 'rank')}"
        print(table(profile, members, arguments.all, title))
    return 0


def table(profile: Profile, calls: Sequence[Call], every: bool = False, title: str = "") -> str:
    """The best candidate of each, or every one."""
    ordered = sorted(calls, key=lambda call: (list(COLLECTIVES).index(call.collective), call.root, call.length_bytes,
                                              call.buffers))
    return text_table(("call", "candidate", "median", "low", "high", "x native", "windows", "from", "measured"),
                      [row for call in ordered for row in _rows_of(profile, call, every)], title)


def _rows_of(profile: Profile, call: Call, every: bool) -> list[tuple]:
    medians = profile.medians_us(call)
    names = list(medians) if every else list(medians)[:1]
    native_us = medians.get(NATIVE)
    rows = []
    for name in names:
        measured = profile.calls[call][name]
        rows.append((_call(call), name, duration(medians[name]),
                     duration(min(row.low_us for row in measured)),
                     duration(max(row.high_us for row in measured)),
                     ratio(medians[name] / native_us) if native_us else "",
                     sum(row.windows for row in measured),
                     ", ".join(sorted({row.origin for row in measured})),
                     time.strftime("%Y-%m-%d", time.gmtime(max(row.measured_s
                                                               for row in measured)))))
    return rows


def _export(arguments) -> int:
    profile = _read(arguments.file)
    if arguments.format == "json":
        print_or_write(rules.as_json(profile), arguments.output)
        return 0
    form = rules.FORMATS[arguments.format]
    used = _of_one_fabric(profile, arguments.fabric, form.library)
    given = rules.tables(used, form.has, arguments.any_order or form.knows_operators)
    text = form.write(given)
    lost = [line for table in given for line in table.lost]
    if arguments.json:
        text = json.dumps({"rules": text, "not_in_the_rules": lost}, indent=2) + "\n"
    print_or_write(text, arguments.output)
    for line in lost:
        note(f"not in the rules: {line}")
    if form.use:
        note(form.use)
    return 0


def _of_one_fabric(profile: Profile, number: int | None, library: str) -> Profile:
    """Rules tell no fabrics apart, and belong to one MPI library."""
    rows = [each for each in profile.rows if each[1].startswith(library)]
    if not rows:
        raise Failure(f"nothing in the profile was measured with {library}")
    fabrics = {fabric.id: fabric for fabric, _mpi, _row in rows}
    if number is None and len(fabrics) > 1:
        raise UsageError("rules are for one fabric: choose by --fabric from " + "; ".join(
            f"{each.id}: {each.title}" for each in fabrics.values()))
    if number is not None and number not in fabrics:
        raise UsageError(f"--fabric {number}: the profile has {', '.join(map(str, fabrics))}")
    return Profile([each for each in rows if number in (None, each[0].id)])


def _import(arguments) -> int:
    try:
        rows = [(_fabric(each.pop("fabric")), each.pop("mpi"), Row(**each)) for each in read_json(arguments.exported)]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UsageError(f"{arguments.exported} is not an exported profile") from None
    added = add(file_of(arguments.file), rows)
    if arguments.json:
        print_json({"added": added})
    note(f"{counted(added, 'measurement')} added")
    return 0


def _fabric(values: dict) -> Fabric:
    return Fabric(**{**values, "latencies_us": tuple(map(float, values["latencies_us"]))})
