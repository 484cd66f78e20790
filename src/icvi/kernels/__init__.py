"""Numba only: arrays in, arrays out. See `layout` for what the arrays hold."""
