"""What the six-site study shows, and the demo, which is the first part of it."""

from mutirao.base.tables import Table
from mutirao.base.units import counted, duration
from mutirao.catalogue.schedule_picture import picture
from mutirao.explain.site_map import site_map
from mutirao.pages.html import details, soft, wide_table
from mutirao_studies.account import command_of
from mutirao_studies.document import Document, Drawn, Lines, Section, beside_paper
from mutirao_studies.paper_000.paper_000 import CITATION, DIFFERENCES, FIGURE_4_S, TABLE_2_S
from mutirao_studies.paper_000.six_sites import DEMO


def document(result: dict) -> Document:
    more = [] if result["study"] == DEMO.study else [_in_a_row(result), _beside_paper(result), _learning(result)]
    lead = (f"An ordinary MPI program broadcasts {result['length_bytes']} bytes among 24 hosts in"
            " Brazil, the United States and China: with MPI libraries as they are, and with mutirao"
            " preloaded, which measures the links and chooses an algorithm that fits them. The program"
            " is the same binary every time. The network is emulated, with real TCP between real"
            " network namespaces.")
    return Document("One broadcast, 24 hosts, six sites", lead, result, [*_one_broadcast(result), *more],
                    _tiles(result), [f"{result['network']['tcp']} TCP", f"medians of {result['repeat']}"],
                    _commands(result), _remarks(result))


def _tiles(result: dict) -> list[tuple[str, str, str]]:
    shown = []
    for arm in result["arms"]:
        if arm["settings"] is None:
            shown.append(("tile", f"{worst_to_bound(arm):.2f} ×", f"the physical bound at worst: {arm['title']}"))
        elif arm["key"] == "choice":
            shown.append(("tile good", f"{worst_to_bound(arm):.2f} ×",
                          "the physical bound at worst: mutirao’s choice"))
            shown.append(("tile", duration(start_ms(arm) * 1000),
                          "longer in MPI_Init, which waits for the network here; by default it takes no longer"))
    return shown


def _remarks(result: dict) -> list[str]:
    """What a reader must know of these very numbers."""
    asked = len(result["network"]["sites"])
    return [f"{arm['title']} measured the links so unevenly that it saw {counted(found, 'site')} instead of {asked}"
            for arm in result["arms"] if arm["start"] and (found := len(set(arm["start"]["sites"]))) != asked]


def _commands(result: dict) -> str:
    names, root, name = result["mpis"], result["root"], result["network"]["name"]
    return "\n".join([
        command_of(result),
        *(["./mutirao study six-sites"] if result["study"] == DEMO.study else []), "",
        f"./mutirao bench broadcast --lab {name} --roots sites --only all --repeat 3",
        f"./mutirao bench broadcast --lab {name} --roots {root} --tcp tuned --bytes 24,64KiB,1MiB",
        f"./mutirao study start --mpi {names[0]}",
        *(f"./mutirao show broadcast/{shape['algorithm']} --network {name} --root {root}"
          for shape in result["shapes"]),
        f"./mutirao run --lab {name} --mpi {names[0]} YOUR-PROGRAM", "./mutirao explain"])


# --- one broadcast --------------------------------------------------------------------------------------


def median_ms(arm: dict, root: int, consecutive: int = 1) -> float:
    return next(point["median_ms"] for point in arm["points"]
                if (point["root"], point["consecutive"]) == (root, consecutive))


def worst_to_bound(arm: dict) -> float:
    """Of all single broadcasts."""
    return max(point["to_bound"] for point in arm["points"] if point["consecutive"] == 1)


def choice_line(result: dict) -> str:
    """What mutirao chose for single broadcasts; nothing where that was not measured."""
    points = next((arm["points"] for arm in result["arms"] if arm["key"] == "choice"), [])
    roots: dict[str, list[str]] = {}
    for point in points:
        if point["consecutive"] == 1:
            roots.setdefault(point["ran"] or "native", []).append(str(point["root"]))
    if len(roots) == 1:
        return f"mutirao chose {next(iter(roots))} for every root."
    parts = [f"{name} for root {', '.join(its)}" for name, its in roots.items()]
    return f"mutirao chose {'; '.join(parts)}." if parts else ""


def _one_broadcast(result: dict) -> list[Section]:
    network = result["network"]
    hosts = {"sites": network["site_of"], "latency_us": network["latency_us"]}
    return [
        Section("The network", [
            "<p>Six sites of four hosts each in Brazil (0, 3 and 5), the United States (1 and 4) and China (2). The"
            " lines are the minimum spanning tree that the hosts find among themselves, with one-way latencies; below are"
            " the round trips, from pings to universities.</p>",
            f"<figure>{site_map(hosts, network['spanning_tree'])}</figure>", _latencies(network)]),
        Section("One broadcast, until the last host has it", [
            "<p>From one host of each of these sites. The physical bound is the time in which the news"
            " can travel the shortest way to the farthest host, which no algorithm can beat.</p>",
            Drawn(_one_shot(result), range(1, 1 + len(result["roots"]))), Lines([choice_line(result)])]),
        Section("How the message travels", [
            f"<p>The same broadcast from host {result['root']}, on the network as asked for:"
            " time runs to the right, and each message is an arrow.</p>",
            *(details(f"{shape['title']}: {shape['algorithm']}, done after"
                      f" {shape['schedule']['predicted_us'] / 1000:.1f} ms", picture(shape["schedule"]),
                      is_open=shape is result["shapes"][-1])
              for shape in result["shapes"])])]


def _latencies(network: dict) -> str:
    in_tree = {frozenset(network["site_of"][host] for host in link) for link in network["spanning_tree"]}

    def cell(a: int, b: int, value: float) -> tuple[str]:
        style = "tree" if frozenset((a, b)) in in_tree else ""
        return (f'<td class="{style}">{f"{value:g}" if a != b else "·"}</td>',)

    return wide_table(["ms", *network["sites"]], [
        [site, *(cell(a, b, value) for b, value in enumerate(network["round_trip_ms"][a]))]
        for a, site in enumerate(network["sites"])])


def _one_shot(result: dict) -> Table:
    roots, network = result["roots"], result["network"]
    rows = [["physical bound", *(f"{network['bound_ms'][str(root)]:.1f}" for root in roots), ""]]
    rows += [[arm["title"], *(f"{median_ms(arm, root):.1f}" for root in roots), f"{worst_to_bound(arm):.2f} x"]
             for arm in result["arms"]]
    return Table("One broadcast of 24 bytes from one host of each site, in ms until the last host has it; the worst of"
                 " them as a multiple of its bound",
                 ["", *(f"{network['sites'][network['site_of'][root]]} ({root})" for root in roots), "worst"], rows)


# --- what else the study measures -----------------------------------------------------------------------


def _in_a_row(result: dict) -> Section:
    root, counts, table_2 = result["root"], result["consecutive"], TABLE_2_S
    bound = result["network"]["bound_ms"][str(root)]
    in_paper = list(next(iter(table_2.values())))
    rows = [["physical bound", *[f"{bound:.1f}"] * len(counts), *[""] * len(in_paper)]]
    for arm in result["arms"]:
        paper = table_2.get(arm["in_paper"], {})
        rows.append([arm["title"], *(f"{median_ms(arm, root, count):.1f}" for count in counts),
                     *(f"{paper[count]:.2f} s" if count in paper else "" for count in in_paper)])
    return Section("Several broadcasts in a row", [
        f"<p>From host {root}, until the last host has the last of them. Broadcasts in a row follow each other through"
        " the network, so the bound of one is the bound of all.</p>",
        Drawn(Table(f"24 bytes from host {root}, in ms until the last host has the last of them; beside it the paper's Table"
              " 2: whole applications, in seconds",
              ["broadcasts in a row", *map(str, counts), *(f"paper {count}" for count in in_paper)], rows),
              range(1, 1 + len(counts))),
        soft("Beyond ten in a row a sender on plain TCP may have to wait for an acknowledgement, one more round trip:"
             " TCP begins with a window of ten segments.")])


def _beside_paper(result: dict) -> Section:
    rows = figure_4_rows(result)
    return beside_paper(
        f"{CITATION}: the same sites, on 24 machines of one network.", DIFFERENCES,
        Table("The paper's Figure 4, in seconds. Both: there the whole application, here what the start takes"
              " longer, and broadcasts. AGM: the minimum spanning tree",
              ["", "broadcasts", "building", "both", "broadcasting"],
              [[who, count, *(f"{seconds:.2f}" for seconds in times)] for who, count, *times in rows]),
        Table("What can be compared: the time of the first beside that of the second; for Table 2 that is the"
              " whole application, for Figure 4 the broadcasts in it",
              ["", "source", "broadcasts", "paper", "here"], comparisons(result)))


def figure_4_rows(result: dict) -> list[tuple]:
    """(who, broadcasts, building the tree, both, broadcasting), all in seconds."""
    rows = []
    for name, by_count in FIGURE_4_S.items():
        rows += [(f"paper: {name}", count, *times) for count, times in by_count.items()]
    for arm in result["arms"]:
        if arm["in_paper"] not in FIGURE_4_S or not arm["start"]:
            continue
        building = start_ms(arm) / 1000
        for count in result["consecutive"][1:]:
            spent = median_ms(arm, result["root"], count) / 1000
            rows.append((f"here: {arm['title']}", count, building, building + spent, spent))
    return sorted(rows, key=lambda row: row[1])


def comparisons(result: dict) -> list[tuple]:
    """The paper's own comparisons, beside the same with what was measured."""
    arms = {arm["in_paper"]: arm for arm in result["arms"] if arm["in_paper"]}
    broadcasting = {name: {count: times[2] for count, times in by_count.items()}
                    for name, by_count in FIGURE_4_S.items()}
    rows = []
    for source, seconds, first, second in (
            ("Table 2", TABLE_2_S, "MagPIe-like", "MPICH-like"),
            ("Figure 4", broadcasting, "AGM", "MagPIe-like")):
        for count, slower in seconds[second].items():
            here = ""
            if first in arms and second in arms:
                here = _change(*(median_ms(arms[name], result["root"], count) for name in (first, second)))
            rows.append((f"{first} beside {second}", source, count, _change(seconds[first][count], slower), here))
    return rows


def _change(first: float, second: float) -> str:
    percent = round(100 * (1 - first / second))
    return f"{abs(percent)}% {'more' if percent < 0 else 'less'}"


def _learning(result: dict) -> Section:
    rows = [[arm["title"], *(duration(value * 1000) for value in (
        arm["start"]["twin_ms"], arm["start"]["waited_ms"], start_ms(arm))), str(len(set(arm["start"]["sites"])))]
        for arm in result["arms"] if arm["start"]]
    return Section("Learning the network", [
        "<p>Once per run. MPI_Init duplicates MPI_COMM_WORLD for mutirao’s own messages; then agents beside the ranks"
        " measure the links, build the spanning tree by the algorithm of Gallager, Humblet and Spira, and keep it. By"
        " default the program goes on meanwhile with the MPI library’s own broadcasts; here MPI_Init waits, so that all"
        " that is measured is settled. Every run with mutirao does the same, so these are repetitions. The paper needed"
        " 23 to 25 s to build its tree.</p>",
        *([Table("What MPI_Init took longer, once per run: to duplicate MPI_COMM_WORLD (twin), and to learn the"
                 " network, for which these runs wait; sites found",
                 ("start", "twin", "network", "in all", "sites"), rows)]
          if rows else [soft("not measured")])])


def start_ms(arm: dict) -> float:
    return arm["start"]["twin_ms"] + arm["start"]["waited_ms"]
