"""The prototype graph, compiled."""
