"""Alarms while a stream comes in: rules of the user, their file, and commands that are told."""
