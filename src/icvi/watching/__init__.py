"""Watching a stream: a source, a clusterer, the indices, and what is made of the readings."""
