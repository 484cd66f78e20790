"""What tests of streams share."""

import numpy as np

from icvi.streams import open_source
from icvi.streams.batch import Batch


def concatenated(batches):
    """All rows of some batches; closes what it reads."""
    batches = list(batches)
    parts = zip(*[(batch.X, batch.labels, batch.time) for batch in batches])
    return Batch(*[None if part[0] is None else np.concatenate(part) for part in parts])


def collected(what, **options):
    """All batches of a source."""
    with open_source(what, **options) as source:
        return list(source)


def same_rows(one, other):
    """Whether two lists of batches hold the same rows, to the last bit and type."""
    one, other = concatenated(one), concatenated(other)
    assert one.X.tobytes() == other.X.tobytes()
    for a, b in ((one.labels, other.labels), (one.time, other.time)):
        assert (a is None) == (b is None)
        if a is not None:
            assert a.tolist() == b.tolist()
            assert a.dtype == b.dtype
