"""What a user holds in hand: trackers, their traces, windows and diagnostics."""
