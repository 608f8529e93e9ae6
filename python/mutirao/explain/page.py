"""The report of a run as one HTML page that needs nothing beside itself."""

from collections.abc import Iterable
from html import escape
from pathlib import Path

from mutirao.base.units import duration
from mutirao.explain.choices import class_row, last_choice
from mutirao.explain.full import about, all_of, as_far_as_counted, by_collective, forgotten, head, title
from mutirao.explain.report_file import with_file
from mutirao.explain.rulings import colours_of, timeline
from mutirao.explain.saved import start_us, total_of
from mutirao.explain.site_map import site_map
from mutirao.explain.trees import trees_shown
from mutirao.pages.html import Page, details, judged, legend, section, soft, wide_table


def make_page(report: dict, file: Path | None) -> str:
    """`file` as it was asked for; None: that of the last run."""
    total = total_of(report)
    colours = colours_of(of_class for each in report["communicators"] for of_class in each.get("classes", ()))
    its_sections = [_communicator(as_far_as_counted(each), colours) for each in report["communicators"]] or [
        section("Communicators", soft("None had a collective call that mutirao handles."))]
    commands = "\n".join(with_file(f"mutirao {command}", file) for command in ("explain", "explain --page"))
    verdict = f"mutirao: {total['line']}" if total["own_calls"] else "The MPI library took all calls"
    return str(Page("What mutirao did for this program", f"<strong>{escape(verdict)}.</strong>",
                    _lines([*head(report), *forgotten(report)]),
                    "".join(its_sections), commands, report, _tiles(report, total)))


def _lines(lines: Iterable[str]) -> str:
    return "<br>".join(escape(line.strip()) for line in lines)


def _tiles(report: dict, total: dict) -> list[tuple[str, str, str]]:
    shown = []
    if total["faster"] is not None:
        shown.append((judged(total["faster"]), duration(abs(total["net_us"])),
                      f"{'saved' if total['faster'] else 'lost'} on each rank, measured, net of all costs"))
    shown.append(("tile", f"{total['own_calls']:,}", f"of {total['calls']:,} calls ran by algorithms of mutirao’s"))
    if took_us := start_us(report.get("start") or {}):
        shown.append(("tile", duration(took_us), "its start took of the program's time"))
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
            f'<div class="prose">{wide_table(("calls of", "", "what runs them", "why"), rows)}</div>',
            soft("What was saved is measured, net of probes: a few calls each by which another algorithm was tried.")]


def _timeline(communicator: dict, colours: dict[str, str]) -> list[str]:
    if not communicator["classes"]:
        return []
    return ["<h3>Rulings and changes of the network, in the order of calls</h3>",
            soft("A column begins with the call that its head names, and ends with the next change, however many calls"
                 " that are. Heads in red: changes of the network that were taken up. Pale: something was still to be"
                 " tried."),
            legend({kind: colours[kind] for kind in colours_of(communicator["classes"])}),
            timeline(communicator, colours)]


def _map(communicator: dict) -> list[str]:
    heading = "<h3>The network, and the trees that calls went over</h3>"
    if communicator.get("hosts") == 1:
        return [heading, soft("All its ranks are on one host: there are no links to draw.")]
    if not communicator.get("tree"):
        return [heading, soft("Its network was not known when the program ended.")]
    parts = [heading, soft("Circles are hosts, in the colours of their sites; the lines are the"
                           " tree, with one-way latencies where there is room.")]
    for tree in trees_shown(communicator):
        parts += [soft(f"The tree {tree.what}."),
                  f'<figure class="scroll">{site_map(communicator, tree.edges)}</figure>']
    return parts
