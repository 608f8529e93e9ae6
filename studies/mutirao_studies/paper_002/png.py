"""Writes images of one byte a point as PNG, with a palette, so that any browser shows them."""

import struct
import zlib
from collections.abc import Sequence

Colour = tuple[int, int, int]


def points_of_pgm(content: bytes) -> bytes:
    """Row by row."""
    magic, _size, most, points = content.split(b"\n", 3)
    if (magic, most) != (b"P5", b"255"):
        raise ValueError("no image of one byte a point")
    return points


def png(side: int, points: bytes, palette: Sequence[Colour]) -> bytes:
    rows = b"".join(b"\0" + points[row * side:(row + 1) * side] for row in range(side))
    return b"".join([b"\x89PNG\r\n\x1a\n",
                     _chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 3, 0, 0, 0)),
                     _chunk(b"PLTE", b"".join(bytes(colour) for colour in palette)),
                     _chunk(b"IDAT", zlib.compress(rows, 9)), _chunk(b"IEND", b"")])


def _chunk(kind: bytes, content: bytes) -> bytes:
    return b"".join([struct.pack(">I", len(content)), kind, content,
                     struct.pack(">I", zlib.crc32(kind + content))])
