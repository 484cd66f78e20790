"""Several clusterers, or one over a range of a parameter, over one pass of a stream."""
