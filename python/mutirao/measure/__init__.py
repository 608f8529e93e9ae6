"""Measuring and judging: times of calls, intervals, guidelines, choices, profiles, rules. Draws no page."""
