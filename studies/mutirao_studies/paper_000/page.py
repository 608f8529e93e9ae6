"""The six-site study as one HTML page that needs nothing beside itself, and its raw values."""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from mutirao.base.units import counted, duration
from mutirao.pages.html import Page, filled, legend, listed, table
from mutirao_studies.chart import Bar, Group, bar_chart
from mutirao_studies.page_parts import how_made, left_out_lines, write_files
from mutirao_studies.paper_000.drawing import tree, world_map
from mutirao_studies.paper_000.tables import (
    COMPARISON,
    START,
    choice_line,
    comparisons,
    figure_4_rows,
    median_ms,
    point_of,
    remarks,
    site_name,
    start_ms,
    start_rows,
    worst_to_bound,
)

_HEADING = "One broadcast, 24 hosts, six sites"
# Classes of the style sheet. Hues are for sites, so bars are grey, but for mutirao's own choice.
_CHOICE, _OTHER = "a5", "a0"
# What is spent before the broadcasts is paler.
_BEFORE, _SPENT = "a1", "a0"
_START_STYLES = {"twin_ms": ("making the communicator", _SPENT),
                 "waited_ms": ("learning the network", _BEFORE)}


def write_page(result: dict, pictures: Mapping[str, str], folder: Path) -> list[Path]:
    """The page and the raw values beside it."""
    return write_files(make_page(result, pictures), folder)


def write_demo(result: dict, folder: Path) -> list[Path]:
    return write_files(make_demo_page(result), folder)


def make_page(result: dict, pictures: Mapping[str, str]) -> Page:
    """`pictures` are the core's drawings of the shapes, by key."""
    return _page(result, _one_broadcast(result) + filled(
        Path(__file__).with_name("page.html"), root=result["root"], consecutive=_consecutive(result),
        citation=escape(result["paper"]["citation"]), **_beside_paper(result),
        differences=listed(result["paper"]["differences"]),
        legend_start=legend(dict(_START_STYLES.values())), start=_start(result),
        start_table=table(START, start_rows(result)), pictures=_pictures(result, pictures)))


def make_demo_page(result: dict) -> Page:
    return _page(result, _one_broadcast(result))


def _page(result: dict, its_sections: str) -> Page:
    lead = (f"An ordinary MPI program broadcasts {result['length_bytes']} bytes among 24 hosts in"
            " Brazil, the United States and China: with MPI libraries as they are, and with mutirao"
            " preloaded, which measures the links and chooses an algorithm that fits them. The program"
            " is the same binary every time. The network is emulated, with real TCP between real"
            " network namespaces.")
    made = how_made(result, f"{result['network']['tcp']} TCP", f"medians of {result['repeat']}")
    return Page(_HEADING, lead, made, its_sections, _commands(result), _raw(result), result,
                _tiles(result), [*remarks(result), *left_out_lines(result)])


def _one_broadcast(result: dict) -> str:
    """What the demo shows too: the network, and single broadcasts."""
    return filled(
        Path(__file__).with_name("demo_page.html"), root=result["root"], map=world_map(result["network"]),
        latencies=_latencies(result["network"]), one_shot=_one_shot(result),
        one_shot_table=_one_shot_table(result), choice=escape(choice_line(result)),
        sites=legend({f"{site}: hosts {_hosts(result, number)}": f"s{number}"
                      for number, site in enumerate(result["network"]["sites"])}),
        trees="\n".join(_shape(result, shape) for shape in result["shapes"]))


def _style(arm: dict) -> str:
    return _CHOICE if arm["key"] == "choice" else _OTHER


def _tiles(result: dict) -> list[tuple[str, str, str]]:
    shown = []
    for arm in result["arms"]:
        if arm["settings"] is None:
            shown.append(("tile", f"{worst_to_bound(arm):.2f} ×",
                          f"the physical bound at worst: {arm['title']}"))
        elif arm["key"] == "choice":
            shown.append(("tile good", f"{worst_to_bound(arm):.2f} ×",
                          "the physical bound at worst: mutirao’s choice"))
            shown.append(("tile", duration(start_ms(arm) * 1000),
                          "longer in MPI_Init, which waits for the network here; by default it takes no"
                          " longer"))
    return shown


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
    bars = []
    for arm in result["arms"]:
        median = median_ms(arm, root, consecutive)
        bars.append(Bar(arm["title"], [(_style(arm), median, f"{arm['title']}: {median:.1f} ms")],
                        f"{median:.0f} ms", point_of(arm, root, consecutive)["completion_ms"]))
    return bars


def _one_shot(result: dict) -> str:
    bounds = result["network"]["bound_ms"]
    return bar_chart([Group(f"{site_name(result, root)}, host {root}", _bars(result, root, 1),
                            bounds[str(root)], f"bound {bounds[str(root)]:.1f} ms")
                      for root in result["roots"]])


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
                      for count in result["consecutive"]])


def _beside_paper(result: dict) -> dict[str, str]:
    table_2 = result["paper"]["table_2_s"]
    counts = list(next(iter(table_2.values())))
    arms = {arm["in_paper"]: arm for arm in result["arms"] if arm["in_paper"] in table_2}

    def group(count: str, seconds: Mapping[str, float]) -> Group:
        return Group(counted(int(count), "broadcast"), [
            Bar(name, [(_SPENT, value, f"{name}: {value:.2f} s")], f"{value:.2f} s")
            for name, value in seconds.items()])

    theirs = [group(count, {name: table_2[name][count] for name in table_2}) for count in counts]
    here = [group(count, {name: median_ms(arm, result["root"], int(count)) / 1000
                          for name, arm in arms.items()}) for count in counts] if arms else []
    rows = figure_4_rows(result)
    return {
        "table_2": _chart(theirs), "here_2": _chart(here),
        "figure_4": _chart(_figure_4(rows, "paper: ")), "here_4": _chart(_figure_4(rows, "here: ")),
        "figure_4_table": table(
            ["seconds", "broadcasts", "building", "both", "broadcasting"],
            [[who, count, *(f"{value:.2f}" for value in times)] for who, count, *times in rows]),
        "comparisons": table(COMPARISON, comparisons(result)),
    }


def _chart(groups: Sequence[Group]) -> str:
    return bar_chart(groups) if groups else "<p class='soft'>not measured</p>"


def _figure_4(rows: Sequence[tuple], prefix: str) -> list[Group]:
    groups: dict[int, list[Bar]] = {}
    for who, count, building, both, broadcasting in rows:
        if who.startswith(prefix):
            name = who.removeprefix(prefix)
            groups.setdefault(count, []).append(Bar(name, [
                (_BEFORE, building, f"{name}, building: {building:.2f} s"),
                (_SPENT, broadcasting, f"{name}, broadcasting: {broadcasting:.2f} s")],
                f"{both:.2f} s"))
    return [Group(counted(count, "broadcast"), bars) for count, bars in groups.items()]


def _start(result: dict) -> str:
    bars = []
    for arm in result["arms"]:
        if arm["start"]:
            segments = [(style, arm["start"][key] / 1000, f"{title}: {arm['start'][key] / 1000:.2f} s")
                        for key, (title, style) in _START_STYLES.items()]
            bars.append(Bar(arm["title"], segments, f"{start_ms(arm) / 1000:.1f} s"))
    return _chart([Group("In MPI_Init", bars)] if bars else [])


def _pictures(result: dict, pictures: Mapping[str, str]) -> str:
    """The widely used shape, and the chosen one."""
    keys = [key for key in ("mpich-like", "choice") if key in pictures]
    figures = []
    for key in keys:
        title = next(shape["title"] for shape in result["shapes"] if shape["key"] == key)
        figures.append(f"<figure><h3>{escape(title)}</h3><div>{pictures[key]}</div></figure>")
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
