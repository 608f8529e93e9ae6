"""The hosts of a communicator: what they are called, and the trees that calls went over."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from mutirao.base.units import counted
from mutirao.catalogue.tree_text import draw_tree
from mutirao.explain.choices import class_title

_MOST = 4


def host_name(communicator: dict, host: int) -> str:
    """By its name where names tell hosts apart, else by its number."""
    names = communicator.get("host_names") or []
    if host < len(names) and len(set(names)) == len(names):
        return names[host]
    return f"host {host}"


def host_and_site(communicator: dict, host: int) -> str:
    sites = communicator.get("sites")
    return host_name(communicator, host) + (f" (site {sites[host]})" if sites else "")


@dataclass(frozen=True)
class Tree:
    """Of the hosts."""

    root: int | None  # None: it has none
    edges: Sequence[Sequence[int]]
    what: str
    calls: int = 0

    def lines(self, communicator: dict) -> Iterator[str]:
        return draw_tree(self.edges, communicator["latency_us"], partial(host_and_site, communicator), self.root)


def trees_shown(communicator: dict) -> list[Tree]:
    """Those that calls went over, each once, with all that it served, and those of the most calls; where none did, the
    one that is kept for the network's news."""
    served: dict[tuple[int, ...], list[tuple[dict, dict]]] = {}
    for of_class in communicator["classes"]:
        for ruling in of_class["rulings"]:
            if ruling.get("tree") and ruling["calls"] and -1 in ruling["tree"]:
                served.setdefault(tuple(ruling["tree"]), []).append((of_class, ruling))
    if not served and communicator["tree"]:
        return [Tree(None, communicator["tree"], "over which no call went: the minimum spanning tree")]
    trees = [_tree_run(parents, uses) for parents, uses in served.items()]
    return sorted(trees, key=lambda tree: -tree.calls)[:_MOST]


def _tree_run(parents: Sequence[int], uses: Sequence[tuple[dict, dict]]) -> Tree:
    """`parents` of the hosts; -1: the root."""
    calls = sum(ruling["calls"] for _, ruling in uses)
    named = [f"{class_title(of_class)} ({ruling['chosen']})" for of_class, ruling in uses[:2]]
    more = f" and {len(uses) - 2} more" if len(uses) > 2 else ""
    return Tree(parents.index(-1), [(parent, host) for host, parent in enumerate(parents) if parent >= 0],
                f"over which {counted(calls, 'call')} went: {', '.join(named)}{more}", calls)
