"""The six-site study as one HTML page that needs nothing beside itself, and its raw values."""

import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from mutirao.studies.chart import Bar, Group, bar_chart
from mutirao.studies.drawing import tree, world_map
from mutirao.studies.html import (
    how_made,
    left_out_lines,
    legend,
    page_template,
    table,
    tiles,
    warnings,
    write_files,
)
from mutirao.studies.tables import (
    COMPARISON,
    START,
    choice_line,
    comparisons,
    figure_4_rows,
    median_ms,
    remarks,
    site_name,
    start_ms,
    start_rows,
    worst_to_bound,
)
from mutirao.units import duration

_TITLE = "one broadcast, 24 hosts, six sites"
# Colours of the style sheet; native arms take the first ones in turn.
_COLOURS = {"mpich-like": "a2", "magpie-like": "a3", "mst": "a4", "choice": "a5"}
_NATIVE_COLOURS = ("a0", "a1")
_START_TITLES = {"twin_ms": "duplicating MPI_COMM_WORLD", "waited_ms": "learning the network"}
_PAPER_COLOURS = {"MPICH-like": "a2", "MagPIe-like": "a3", "AGM": "a4"}


def write_page(result: dict, pictures: Mapping[str, str], folder: Path) -> list[Path]:
    """The page and the raw values beside it."""
    return write_files(result, make_page(result, pictures), folder)


def write_demo(result: dict, folder: Path) -> list[Path]:
    return write_files(result, make_demo_page(result), folder)


def make_page(result: dict, pictures: Mapping[str, str]) -> str:
    """`pictures` are the core's drawings of the shapes, by key."""
    return page_template("page.html", _TITLE).substitute(
        _one_broadcast(result), root=result["root"],
        consecutive=_consecutive(result), citation=escape(result["paper"]["citation"]),
        legend_4=legend({"MPICH-like": "a2", "MagPIe-like": "a3", "minimum spanning tree": "a4"})
        + '<p class="soft">Pale: building the tree, or the start. Full: the rest.</p>',
        **_beside_paper(result),
        differences="\n".join(f"<li>{escape(line)}</li>"
                              for line in result["paper"]["differences"]),
        legend_start=legend({title: f"a{number + 2}" for number, title
                             in enumerate(_START_TITLES.values())}),
        start=_start(result), start_table=table(START, start_rows(result)),
        pictures=_pictures(result, pictures))


def make_demo_page(result: dict) -> str:
    return page_template("demo_page.html", _TITLE).substitute(_one_broadcast(result),
                                                              root=result["root"])


def _one_broadcast(result: dict) -> dict[str, str]:
    """What the demo shows too: the network, single broadcasts, and all values."""
    return {
        "length": result["length_bytes"],
        "made": escape(how_made(result)), "tiles": _tiles(result),
        "map": world_map(result["network"]),
        "warnings": warnings([*remarks(result), *left_out_lines(result)]),
        "latencies": _latencies(result["network"]),
        "legend": legend(_arm_colours(result), bound=True),
        "one_shot": _one_shot(result), "one_shot_table": _one_shot_table(result),
        "choice": escape(choice_line(result)),
        "sites": legend({f"{site}: hosts {_hosts(result, number)}": f"s{number}"
                         for number, site in enumerate(result["network"]["sites"])}),
        "trees": "\n".join(_shape(result, shape) for shape in result["shapes"]),
        "commands": escape(_commands(result)), "raw": _raw(result),
        "json": escape(json.dumps(result)),
    }


def _arm_colours(result: dict) -> dict[str, str]:
    """By the arm's title."""
    natives = [arm["title"] for arm in result["arms"] if arm["key"] not in _COLOURS]
    return {arm["title"]: _COLOURS.get(arm["key"]) or
            _NATIVE_COLOURS[natives.index(arm["title"]) % len(_NATIVE_COLOURS)]
            for arm in result["arms"]}


def _tiles(result: dict) -> str:
    shown = []
    for arm in result["arms"]:
        if arm["settings"] is None:
            shown.append(("tile", f"{worst_to_bound(arm):.2f} ×",
                          f"the physical bound at worst: {arm['title']}"))
        elif arm["key"] == "choice":
            shown.append(("tile good", f"{worst_to_bound(arm):.2f} ×",
                          "the physical bound at worst: mutirao’s choice"))
            shown.append(("tile", duration(start_ms(arm) * 1000),
                          "longer in MPI_Init, which waits for the network here; by default"
                          f" {duration(arm['start']['twin_ms'] * 1000)} longer"))
    return tiles(shown)


def _latencies(network: dict) -> str:
    in_tree = {frozenset(link) for link in network["spanning_tree"]}
    rows = []
    for a, site in enumerate(network["sites"]):
        cells: list = [site]
        for b, value in enumerate(network["round_trip_ms"][a]):
            style = "tree" if frozenset((a, b)) in in_tree else ""
            cells.append((f'<td class="{style}">{f"{value:g}" if a != b else "·"}</td>',))
        rows.append(cells)
    return table(["round trips, ms", *network["sites"]], rows)


def _hosts(result: dict, site: int) -> str:
    hosts = [host for host, its in enumerate(result["network"]["site_of"]) if its == site]
    return f"{hosts[0]} to {hosts[-1]}"


def _bars(result: dict, root: int, consecutive: int) -> list[Bar]:
    colours = _arm_colours(result)
    bars = []
    for arm in result["arms"]:
        median = median_ms(arm, root, consecutive)
        bars.append(Bar([(colours[arm["title"]], median, f"{arm['title']}: {median:.1f} ms")],
                        f"{median:.0f}"))
    return bars


def _one_shot(result: dict) -> str:
    bounds = result["network"]["bound_ms"]
    return bar_chart([Group(f"{site_name(result, root)}, host {root}", _bars(result, root, 1),
                            bounds[str(root)], f"bound {bounds[str(root)]:.1f} ms")
                      for root in result["roots"]], "ms")


def _one_shot_table(result: dict) -> str:
    bounds = result["network"]["bound_ms"]
    rows = [["physical bound, ms", *(f"{bounds[str(root)]:.1f}" for root in result["roots"]), ""]]
    for arm in result["arms"]:
        cells = []
        for root in result["roots"]:
            median = median_ms(arm, root)
            cells.append((f"<td>{median:.1f} <span class='soft'>"
                          f"{median / bounds[str(root)]:.2f} ×</span></td>",))
        rows.append([arm["title"], *cells, f"{worst_to_bound(arm):.2f} ×"])
    columns = ["root", *(f"{site_name(result, root)} ({root})" for root in result["roots"]),
               "worst"]
    return table(columns, rows, {0: "bound"})


def _shape(result: dict, shape: dict) -> str:
    return (f"<figure><h3>{escape(shape['title'])}</h3><p class='soft'>"
            f"<code>{escape(shape['algorithm'])}</code>, done after {shape['predicted_ms']:.1f} ms"
            f"</p>{tree(result['network'], result['root'], shape['messages'])}</figure>")


def _consecutive(result: dict) -> str:
    bound = result["network"]["bound_ms"][str(result["root"])]
    return bar_chart([Group(f"{count} in a row" if count > 1 else "1 broadcast",
                            _bars(result, result["root"], count), bound)
                      for count in result["consecutive"]], "ms")


def _beside_paper(result: dict) -> dict[str, str]:
    table_2 = result["paper"]["table_2_s"]
    counts = list(next(iter(table_2.values())))
    arms = {arm["in_paper"]: arm for arm in result["arms"] if arm["in_paper"] in table_2}

    def group(count: str, seconds: Mapping[str, float]) -> Group:
        return Group(count, [Bar([(_PAPER_COLOURS[name], value, f"{name}: {value:.2f} s")],
                                 f"{value:.2f}") for name, value in seconds.items()])

    theirs = [group(count, {name: table_2[name][count] for name in table_2}) for count in counts]
    here = [group(count, {name: median_ms(arm, result["root"], int(count)) / 1000
                          for name, arm in arms.items()}) for count in counts] if arms else []
    rows = figure_4_rows(result)
    return {
        "table_2": _small(theirs), "here_2": _small(here),
        "figure_4": _small(_figure_4(rows, "paper: ")), "here_4": _small(_figure_4(rows, "here: ")),
        "figure_4_table": table(
            ["seconds", "broadcasts", "building", "both", "broadcasting"],
            [[who, count, *(f"{value:.2f}" for value in times)] for who, count, *times in rows]),
        "comparisons": table(COMPARISON, comparisons(result)),
    }


def _small(groups: Sequence[Group]) -> str:
    if not groups:
        return "<p class='soft'>not measured</p>"
    return bar_chart(groups, "s", width=460, height=230)


def _figure_4(rows: Sequence[tuple], prefix: str) -> list[Group]:
    names = {"AGM": "AGM", "MST": "AGM", "MagPIe-like": "MagPIe-like"}
    groups: dict[int, list[Bar]] = {}
    for who, count, building, both, broadcasting in rows:
        if who.startswith(prefix):
            name = who.removeprefix(prefix)
            style = _PAPER_COLOURS[names[name]]
            groups.setdefault(count, []).append(Bar(
                [(f"{style} dim", building, f"{name}, building: {building:.2f} s"),
                 (style, broadcasting, f"{name}, broadcasting: {broadcasting:.2f} s")],
                f"{both:.2f}"))
    return [Group(f"{count} broadcasts", bars) for count, bars in groups.items()]


def _start(result: dict) -> str:
    groups = []
    for arm in result["arms"]:
        if arm["start"]:
            seconds = {title: arm["start"][key] / 1000 for key, title in _START_TITLES.items()}
            segments = [(f"a{number + 2}", value, f"{title}: {value:.2f} s")
                        for number, (title, value) in enumerate(seconds.items())]
            groups.append(Group(arm["title"], [Bar(segments, f"{start_ms(arm) / 1000:.1f}")]))
    return bar_chart(groups, "s", width=960, height=240) if groups else _small(groups)


def _pictures(result: dict, pictures: Mapping[str, str]) -> str:
    """The widely used shape, and the chosen one."""
    keys = [key for key in ("mpich-like", "choice") if key in pictures]
    figures = []
    for key in keys:
        # Both drawings name their arrow heads alike, and live on one page.
        svg = pictures[key].replace('id="', f'id="{key}-').replace("url(#", f"url(#{key}-")
        title = next(shape["title"] for shape in result["shapes"] if shape["key"] == key)
        figures.append(f"<figure><h3>{escape(title)}</h3><div class='white'>{svg}</div></figure>")
    return "\n".join(figures)


def _commands(result: dict) -> str:
    names, root, name = result["mpis"], result["root"], result["network"]["name"]
    study = f"./mutirao study {result['study']}" + (" --quick" if result["quick"] else "")
    lines = [f"{study} --mpi {','.join(names)}",
             *(["./mutirao study six-sites"] if result["study"] != "six-sites" else []), "",
             f"./mutirao bench broadcast --lab {name} --roots sites --only all --repeat 3",
             f"./mutirao bench broadcast --lab {name} --roots {root} --tcp tuned --bytes"
             " 24,64KiB,1MiB",
             f"./mutirao study start --mpi {names[0]}"]
    lines += [f"./mutirao show broadcast/{shape['algorithm']} --network {name} --root {root}"
              for shape in result["shapes"]]
    lines += [f"./mutirao run --lab {name} --mpi {names[0]} YOUR-PROGRAM", "./mutirao explain"]
    return "\n".join(lines)


def _raw(result: dict) -> str:
    rows = []
    for arm in result["arms"]:
        rows += [[arm["title"], arm["mpi_title"], point["root"], point["consecutive"],
                  f"{point['bound_ms']:g}", f"{point['first_ms']:g}",
                  ", ".join(f"{value:g}" for value in point["completion_ms"]),
                  f"{point['median_ms']:g}", f"{point['to_bound']:.3f}", point["ran"]]
                 for point in arm["points"]]
    return table(["arm", "MPI", "root", "in a row", "bound, ms", "first, ms", "each, ms",
                   "median, ms", "× bound", "ran"], rows)
