"""States as files: the container, what is saved of each class, and how it is loaded."""
