"""How a stream forgets: not at all, by a window, or by a half-life."""
