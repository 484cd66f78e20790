"""The comparative study: the paper's experiments, and many more orders of presentation."""

from icvi import optional

# Here, so that a study which is begun can be finished, and one extra is named for all it needs.
for _package in ("sklearn", "matplotlib", "pyarrow"):
    optional.check(_package, "study", "a study")
