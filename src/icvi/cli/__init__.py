"""The command line: parses and delegates, nothing else."""
