"""Fewer clusters, from moments alone: the path of merges, readings at every level, a choice."""
