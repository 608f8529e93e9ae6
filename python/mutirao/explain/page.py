"""The report of a run as one HTML page that needs nothing beside itself."""

from collections.abc import Iterable
from html import escape
from pathlib import Path

from mutirao.base.units import counted, duration
from mutirao.explain.choices import class_row, last_choice
from mutirao.explain.full import about, all_of, as_far_as_counted, by_collective, extent, forgotten, head, title
from mutirao.explain.report_file import with_file
from mutirao.explain.rulings import colours_of, timeline
from mutirao.explain.saved import Total, all_classes, total_of
from mutirao.explain.scatter import points_of, scatter, within_twice
from mutirao.explain.site_map import groups_of, least_us, site_map
from mutirao.explain.trees import trees_shown
from mutirao.pages.html import Page, details, judged, legend, section, soft, wide_table

_MOST_SITES_IN_TABLE = 12


def make_page(report: dict, file: Path | None) -> str:
    """`file` as it was asked for; None: that of the last run."""
    total = total_of(report)
    colours = colours_of(all_classes(report))
    its_sections = [_communicator(as_far_as_counted(each), colours) for each in report["communicators"]] or [
        section("Communicators", soft("None had a collective call that mutirao handles."))]
    commands = "\n".join(with_file(f"mutirao {command}", file) for command in ("explain", "explain --page"))
    return str(Page("What mutirao did for this program", _verdict(total),
                    _lines([*head(report), *forgotten(report)]),
                    "".join([*its_sections, section("Predicted against measured", _scatter(report))]),
                    commands, report, _tiles(report, total)))


def _lines(lines: Iterable[str]) -> str:
    return "<br>".join(escape(line.strip()) for line in lines)


def _verdict(total: Total) -> str:
    if not total.own_calls:
        return "<strong>The MPI library took all calls.</strong>"
    return f"<strong>mutirao: {escape(total.line)}.</strong>{_net(total)}"


def _net(total: Total) -> str:
    """What the sum is made of, where that is more than its error."""
    account = total.account
    if total.faster is None or account is None:
        return ""
    waited = f", and calls waited {duration(total.waited_us)}" if total.waited_us else ""
    return (f" Their calls {'saved' if account.saved_us >= 0 else 'lost'} {duration(abs(account.saved_us))} ±"
            f" {duration(account.error_us)} on each rank, and those on probe"
            f" {'lost' if account.probes_us >= 0 else 'saved'} {duration(abs(account.probes_us))}; the start"
            f" took {duration(total.start_us)}{waited}.")


def _tiles(report: dict, total: Total) -> list[tuple[str, str, str]]:
    shown = []
    if total.faster is not None:
        shown.append((judged(total.faster), duration(abs(total.net_us)),
                      f"{'saved' if total.faster else 'lost'} on each rank, measured, net of all costs"))
    shown.append(("tile", f"{total.own_calls:,}",
                  f"of {total.calls:,} calls ran by algorithms of mutirao’s"))
    if report["communicators"]:
        largest = max(report["communicators"], key=lambda each: each.get("ranks", 0))
        ranks, _, where = extent(largest).partition(" ")
        shown.append(("tile", ranks, f"{where}, the largest communicator"))
    if total.start_us:
        shown.append(("tile", duration(total.start_us), "its start took of the program's time"))
    return shown


def _communicator(communicator: dict, colours: dict[str, str]) -> str:
    text = "\n".join(all_of(communicator))
    return section(title(communicator),
                   f'<p class="soft">{_lines(about(communicator))}</p>',
                   *_choices(communicator), *_timeline(communicator, colours), *_map(communicator),
                   details("All that is known of it, as text", f"<pre>{escape(text)}</pre>"))


def _choices(communicator: dict) -> list[str]:
    classes = by_collective(communicator["classes"])
    if not classes:
        return [soft("No call of it is told apart.")]
    rows = [(*class_row(each), last_choice(each).get("reason")) for each in classes]
    return ["<h3>What was chosen for which calls</h3>",
            f'<div class="prose choices">{wide_table(("calls of", "", "what runs them", "why"), rows)}</div>',
            soft("What was saved is measured, net of probes: a few calls each by which another algorithm was tried.")]


def _timeline(communicator: dict, colours: dict[str, str]) -> list[str]:
    if not communicator["classes"]:
        return []
    return ["<h3>Rulings and changes of the network, in the order of calls</h3>",
            soft("A column is the time between two changes, however many calls it has; dashed lines"
                 " are changes of the network that were taken up. Pale: something was still to be tried."),
            legend({kind: colours[kind] for kind in colours_of(communicator["classes"])}),
            f"<figure>{timeline(communicator, colours)}</figure>"]


def _map(communicator: dict) -> list[str]:
    heading = "<h3>The network, and the trees that calls went over</h3>"
    if communicator.get("hosts") == 1:
        return [heading, soft("All its ranks are on one host: there are no links to draw.")]
    if not communicator.get("tree"):
        return [heading, soft("Its network was not known when the program ended.")]
    parts = [heading, soft("Circles are hosts, in the colours of their sites; the thick links are the"
                           " tree, with one-way latencies where there is room.")]
    for tree in trees_shown(communicator):
        parts += [soft(f"The tree {tree.what}."),
                  f'<figure class="scroll">{site_map(communicator, tree.edges)}</figure>']
    return [*parts, *_latencies(communicator)]


def _latencies(communicator: dict) -> Iterable[str]:
    groups = groups_of(communicator)
    if len(groups) > _MOST_SITES_IN_TABLE:
        return
    rows = [[a.title, *("·" if a is b else duration(least_us(communicator["latency_us"], a, b))
                        for b in groups)] for a in groups]
    yield details("One-way latencies, of the best link between two",
                  wide_table(["", *(group.title for group in groups)], rows))


def _scatter(report: dict) -> str:
    points = points_of(report)
    if not points:
        return soft("No algorithm was both predicted and measured.")
    styles = {"native": "a0", "mutirao’s algorithms": "a5"}
    return "\n".join([
        soft(f"Each point is an algorithm that was tried for one kind of call. On the dashed line it"
             f" took what was predicted; {within_twice(points)} of {len(points)} are within a factor"
             " of two of it. Upright lines are intervals."),
        legend(styles), f"<figure>{scatter(points, *styles.values())}</figure>"])
