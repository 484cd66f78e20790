"""Micro-clusters, compiled: a bounded number of moments that cover a stream."""
