"""Every bar there is. A new one is a function in the file that it fits, or a file of its own and a row here."""

from mutirao_studies.bars import change, comparing, costs, host, lengths, loops, settled, start
from mutirao_studies.bars.bar import Bar

_GROUPS = (loops, lengths, comparing, change, settled, host, start, costs)


def all_bars(commit_hash: str) -> list[Bar]:
    """Loops are drawn by the commit's hash."""
    return [bar for group in _GROUPS for bar in group.bars(commit_hash)]
