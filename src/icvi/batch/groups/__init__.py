"""Scores of many groups at once: `scores_by`."""
