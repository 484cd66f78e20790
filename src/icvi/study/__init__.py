"""The comparative study: the paper's experiments, and many more orders of presentation."""
