"""Samples from files, pipes and standard input."""
