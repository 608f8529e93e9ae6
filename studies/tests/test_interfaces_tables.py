"""What the study of interfaces makes of its measurements: statements, tables, page and image."""

import struct
import zlib

from made_up import circumstances
from mutirao_studies.document import write_files
from mutirao_studies.paper_002.interfaces import png
from mutirao_studies.paper_002.interfaces_document import document
from mutirao_studies.paper_002.interfaces_statements import verdicts
from mutirao_studies.paper_002.paper_002 import MESSAGE_BYTES
from shown import shown

NAMES = {"sockets": ("TCP sockets", "Sockets"), "via": ("VIA on libfabric", "libVIP"),
         "pvm": ("PVM 3.4", "PVM"), "lam": ("LAM/MPI 7.1", "MPI"), "openmpi-5": ("Open MPI 5.0.0", "")}


def interfaces_result(return_s, workers=(2, 4, 8, 16), sides=(10, 25, 50, 100), names=NAMES):
    """`return_s` of (name, workers, side)."""
    def cell(name, count, side):
        messages = 2 * (800 // side) ** 2 + 2 * count
        each = return_s(name, count, side)
        return {"workers": count, "side": side, "return_s": [each, each * 3, each / 2],
                "launch_s": [0.25] * 3, "computed_s": [each / 4] * 3,
                "message_bytes": MESSAGE_BYTES[side], "messages": messages,
                "bytes": messages * MESSAGE_BYTES[side]}

    def killed(name):
        if name in ("lam", "openmpi-5"):
            return {"goes_on": False, "exit_code": 137}
        return {"goes_on": True, "noticed_ms": 1.25, "gone": 1}

    return {**circumstances("interfaces", "openmpi-5", "mpich-5"),
            "plan": {"workers": list(workers), "sides": list(sides), "repeat": 3, "points": 800,
                     "iterations": 1000},
            "network": None, "hosts": 1, "only": [], "left_out": [{"title": "gRPC", "reason": "not built: run it"}],
            "transports": [
                {"name": name, "title": NAMES[name][0], "in_paper": NAMES[name][1],
                 "killed": killed(name),
                 "cells": [cell(name, count, side) for side in sides for count in workers]}
                for name in names],
            "image": {"sha256": "ab" * 32, "png_base64": "iVBORw0KGgo="}}


def as_in_the_paper(name, workers, side):
    """Sockets first and PVM last with short messages, PVM first with four workers and long ones."""
    order = {"sockets": 1.0, "via": 1.06, "lam": 1.04, "openmpi-5": 0.1, "pvm": 1.2}[name]
    if name == "pvm" and workers == 4 and side >= 25:
        order = 1.02 if side == 25 else 0.9
    return order * 16 / workers * {10: 1.05, 25: 1.0, 50: 1.1, 100: 1.2}[side]


def test_the_papers_own_outcome_bears_out_its_statements():
    """Catches checks that look at the wrong cells, or take Open MPI for the paper's MPI."""
    found = {(verdict.source, verdict.statement[:12]): verdict.holds
             for verdict in verdicts(interfaces_result(as_in_the_paper))}
    wrong = {key: holds for key, holds in found.items() if holds != "yes"}
    assert wrong == {("Section 4", "In most case"): "in 14 of 16", ("Table 2", "Workers comp"): "no"}


def test_the_opposite_bears_out_none():
    result = interfaces_result(lambda *cell: 4 - as_in_the_paper(*cell) * cell[1] / 16)
    assert {verdict.holds for verdict in verdicts(result)} == {"no"}


def test_what_was_not_measured_is_not_judged():
    result = interfaces_result(as_in_the_paper, workers=(2,), sides=(10,), names=["sockets"])
    assert {verdict.holds for verdict in verdicts(result)} <= {"not measured", "yes"}
    assert sum(verdict.holds == "yes" for verdict in verdicts(result)) == 0


def test_another_mpi_stands_in_for_lam():
    without = {name: title for name, title in NAMES.items() if name != "lam"}
    result = interfaces_result(as_in_the_paper, names=without)
    slightly = next(verdict for verdict in verdicts(result) if "slightly" in verdict.statement)
    assert "0.10 times" in slightly.here


def test_what_is_shown(tmp_path):
    result = interfaces_result(as_in_the_paper)
    result["transports"][-1]["killed"] = {}  # it failed before that
    _, page = shown(document(result), "Figure 3", "Figure 6", "Figure 7", "Table 2", "3.755", "gRPC left out", "12808",
                    "10028", "the job ended with 137", "another took its task", "not tried",
                    in_page=["so that messages cross no cable", "ab" * 32])
    assert "--only sockets,pvm" in page
    file, _, image = write_files(document(result), tmp_path)
    assert file.name == "interfaces.html" and image.read_bytes().startswith(b"\x89PNG")


def test_png_holds_the_points():
    points = bytes(range(9))
    image = png(3, points)
    chunks, at = {}, 8
    while at < len(image):
        length, kind = struct.unpack(">I4s", image[at:at + 8])
        content = image[at + 8:at + 8 + length]
        assert struct.unpack(">I", image[at + 8 + length:at + 12 + length])[0] == zlib.crc32(
            kind + content)
        chunks[kind], at = content, at + 12 + length
    rows = zlib.decompress(chunks[b"IDAT"])
    assert b"".join(rows[4 * row + 1:4 * row + 4] for row in range(3)) == points
    assert struct.unpack(">II", chunks[b"IHDR"][:8]) == (3, 3)
