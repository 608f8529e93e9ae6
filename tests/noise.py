"""What a busy machine may do to a test: make things late, never early. So a test asserts in every trial
what no noise can break, and of what may be late that it is in time in one trial of a few."""

TRIES = 4


def in_time(trial):
    """`trial()` returns what was late, if anything: falsy ends it well."""
    late = [trial()]
    while late[-1] and len(late) < TRIES:
        late.append(trial())
    assert not late[-1], f"late in each of {TRIES} trials: {late}"
