"""Loops that compute and communicate, natively and with mutirao."""
