"""Clusterers that find out how many clusters there are."""
