"""Fuzzy ART, compiled."""
