"""Samples from topics of Kafka."""
