"""`study messages` with jobs that are made up: messages that take a third longer than is predicted."""

import json

import pytest

from made_up import mpi_named
from mutirao.run.processes import Finished
from mutirao_studies import messages
from shown import shown


@pytest.fixture
def result(monkeypatch, labs):
    def launched(_mpi, argv, ranks, **_options):
        lengths, pauses, repeat = ([int(word) for word in argv[at].split(",")] for at in (2, 4, 6))
        assert ranks == 2 * len(lengths)
        points = [{"form": "first", "bytes": length, "pause_ms": 0, "times_ms": [99.0]} for length in lengths]
        points += [{"form": form, "bytes": length, "pause_ms": pause, "times_ms": [4.0] * repeat[0]}
                   for length in lengths for pause in pauses for form in ("alone", "two in a row", "both ways")]
        return Finished(0, ["chatter", json.dumps({"points": points})], "", 1.0)

    monkeypatch.setattr(messages, "launch", launched)
    monkeypatch.setattr(messages, "predicted_ms", lambda _mpi, _network, form, _length, _tcp: None if form == "first" else 3.0)
    monkeypatch.setattr("mutirao_studies.long_messages.kernel_has", lambda _control: True)
    monkeypatch.setattr(messages, "find_mpi", mpi_named)
    return messages.run_study(["openmpi-5"])


def test_every_form_and_length_has_a_row_beside_its_prediction(result):
    assert len(result["rows"]) == 2 * 2 * 4 * len(messages.LENGTHS_BYTES)
    assert len(messages.tables(result)) == 4
    for control, messages_at_all in {"cubic": 54, "BBR": 18}.items():
        assert messages.deviations(result, control) == [3.0 / 4.0 - 1] * messages_at_all
        shown(messages.document(result), f"After 10 s, with {control}: 0 of {messages_at_all} messages within 10%")


# Over 5 ms one way: 14600 bytes leave at once, and the next double that after a round trip; Open MPI asks beyond 64 KiB.
# BBR spreads what it sends: 60,000 bytes are 42 packets, half a round trip, and no window closes.
@pytest.mark.parametrize("mpi, tcp, form, length_bytes, trips", [
    ("mpich-5", "plain", "alone", 14_000, 0), ("mpich-5", "plain", "alone", 40_000, 1),
    ("mpich-5", "plain", "alone", 60_000, 2), ("mpich-5", "plain", "two in a row", 14_000, 1),
    ("mpich-5", "plain", "both ways", 14_000, 0), ("mpich-5", "plain", "alone", 66_000, 2),
    ("openmpi-5", "plain", "alone", 66_000, 3), ("mpich-5", "bbr", "both ways", 60_000, 0.51)])
def test_predictions_are_those_of_the_core(mpi, tcp, form, length_bytes, trips):
    predicted_ms = messages.predicted_ms(mpi_named(mpi), messages.two_sites(5, 1), form, length_bytes, tcp)
    assert predicted_ms == pytest.approx(5 + 10 * trips, abs=0.1)
