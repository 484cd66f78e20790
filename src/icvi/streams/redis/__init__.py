"""Samples from Redis streams."""
