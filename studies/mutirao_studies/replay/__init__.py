"""Replays of recorded networks."""
