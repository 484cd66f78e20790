"""Streams of Spark: readings after every batch, exactly once."""
