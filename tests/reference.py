"""What tests compare with, written by itself."""


def kruskal(weights):
    """The minimum spanning tree of a matrix, as links (low, high) in their order."""
    hosts = range(len(weights))
    part = list(hosts)
    chosen = []
    for _, low, high in sorted((weights[a][b], a, b) for a in hosts for b in hosts if a < b):
        if part[low] != part[high]:
            chosen.append((low, high))
            part = [part[low] if its == part[high] else its for its in part]
    return sorted(chosen)
