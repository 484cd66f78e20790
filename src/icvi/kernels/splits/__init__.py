"""Whether a cluster may be two: the search of `icvi.insight.cuts`, made for streams."""
