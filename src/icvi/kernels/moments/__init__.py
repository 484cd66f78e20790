"""Samples enter, leave and change clusters; readings are taken."""
