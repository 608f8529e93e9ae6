"""Measuring and judging: times of calls, intervals, comparisons, tuning, profiles. Draws no page."""
