"""`mutirao study` and `mutirao replay`."""
