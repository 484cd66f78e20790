"""The moments of a labelled stream and their algebra."""
