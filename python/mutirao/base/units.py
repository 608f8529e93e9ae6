"""Durations and sizes as people read and write them."""

import argparse
import re

_UNITS = {"": 1, "b": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}


def parse_size(text: str) -> int:
    """`64KiB` in bytes; a ValueError says what a size is."""
    found = re.fullmatch(r"\s*([0-9]+)\s*([A-Za-z]*)\s*", text)
    if not found or found[2].lower() not in _UNITS:
        raise ValueError(f"'{text}': a size is a whole number of bytes, or of KiB, MiB or GiB, for example"
                         " 64KiB")
    count_bytes = int(found[1]) * _UNITS[found[2].lower()]
    if count_bytes >= 1 << 31:
        raise ValueError(f"'{text}': less than 2 GiB, please")
    return count_bytes


def duration(us: float | None) -> str:
    """Three to four digits, in the unit that fits: 0.85 us, 351.2 ms, 4.37 s."""
    if us is None:
        return "unknown"
    for limit, factor, unit in ((1e3, 1, "us"), (1e6, 1e3, "ms"), (float("inf"), 1e6, "s")):
        if us < limit:
            value = us / factor
            return f"{value:.{2 if value < 10 else 1 if value < 1000 else 0}f} {unit}"
    return "never"


def spoken(seconds: float) -> str:
    """Of what people wait for or remember: 60 s, 30 min, 3 h 03 min, 4 days."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 100:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60:02} min" if minutes < 48 * 60 else f"{minutes / 1440:.0f} days"


def size(count_bytes: int) -> str:
    """Exact: 24 B, 64 KiB, 1 MiB, 1000000 B."""
    for factor, unit in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if count_bytes >= factor and count_bytes % factor == 0:
            return f"{count_bytes // factor} {unit}"
    return f"{count_bytes} B"


def ms(value_ms: float | None) -> str:
    """A cell of a table in ms: microseconds where they matter."""
    return "" if value_ms is None else f"{value_ms:.3f}" if value_ms < 10 else f"{value_ms:.1f}"


def ratio(value: float | None) -> str:
    """A cell of a table."""
    return "" if value is None else f"{value:.2f}"


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def size_argument(text: str) -> int:
    """Of one message."""
    try:
        return parse_size(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def rank_number(text: str) -> int:
    if not re.fullmatch(r"0*[1-9][0-9]{0,5}", text):
        raise argparse.ArgumentTypeError(f"'{text}' is no number of ranks (1 to 999999)")
    return int(text)
