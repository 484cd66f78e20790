"""Pictures with matplotlib: curves, prototypes and their connections."""
