"""Four papers' experiments run again, replays of recorded networks, and the bars. The product imports nothing of it."""
