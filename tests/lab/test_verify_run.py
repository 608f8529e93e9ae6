"""Results that cannot have come from the lab's network are refused."""

import pytest

from mutirao.base.errors import Failure
from mutirao.lab.lab import verify_run


def test_accepts_what_is_possible():
    verify_run(bound_us=350_600, measured_us=350_600, packets_before=10, packets_after=11)
    verify_run(bound_us=350_600, measured_us=349_000, packets_before=0, packets_after=500)


def test_refuses_what_beats_the_bound():
    with pytest.raises(Failure, match="bound"):
        verify_run(bound_us=350_600, measured_us=348_800, packets_before=0, packets_after=500)


def test_refuses_what_sent_nothing():
    with pytest.raises(Failure, match="no packet"):
        verify_run(bound_us=350_600, measured_us=400_000, packets_before=500, packets_after=500)
