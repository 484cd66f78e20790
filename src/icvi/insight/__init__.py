"""What readings mean and what to do: separation of clusters, references, verdicts and advice."""
