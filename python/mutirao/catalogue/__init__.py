"""What the core says of collectives: algorithms, schedules, trees, predictions. Starts mutirao-core alone."""
