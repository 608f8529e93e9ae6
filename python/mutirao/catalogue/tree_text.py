"""Trees as indented text."""

import math
from collections.abc import Callable, Iterator, Sequence

from mutirao.base.units import duration


def draw_tree(edges: Sequence[Sequence[int]], latency_us: Sequence[Sequence] | None, label: Callable[[int], str],
              root: int | None = None) -> Iterator[str]:
    """From its root, or else each of its parts from the lowest number; nearest children first."""
    neighbours: dict[int, list[int]] = {}
    for a, b in edges:
        neighbours.setdefault(a, []).append(b)
        neighbours.setdefault(b, []).append(a)

    def latency(a: int, b: int) -> float:
        known = latency_us[a][b] if latency_us else 0.0
        return math.inf if known is None else known

    # A stack, since a chain of hosts is deeper than Python recurses.
    stack = [(first, -1, "", "") for first in (sorted(neighbours, reverse=True) if root is None else [root])]
    drawn = set()
    while stack:
        host, parent, indent, branch = stack.pop()
        if host in drawn:
            continue
        drawn.add(host)
        if branch:
            link = f"  {duration(latency(parent, host))}" if latency_us else ""
            yield f"{indent}{branch} {label(host)}{link}"
            indent += "│  " if branch == "├─" else "   "
        else:
            yield label(host)
        children = sorted((child for child in neighbours[host] if child != parent),
                          key=lambda child: (latency(host, child), child))
        branches = ["├─"] * (len(children) - 1) + ["└─"]
        stack += reversed([(child, host, indent, branch)
                           for child, branch in zip(children, branches)])
