"""Figures with matplotlib: traces, CONNvis, and the principal plane."""
