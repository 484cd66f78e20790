"""What is saved of a tracker, of its window and of its prototypes, and how they are made again.

`icvi.saving.kinds` finds `tracker` by its name, so that `Tracker` need not import it.
"""
