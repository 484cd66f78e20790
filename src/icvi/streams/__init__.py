"""Where samples come from: files, pipes, tables, arrays, Redis and Kafka, as batches of one shape.

>>> import numpy as np
>>> from icvi.streams import open_source
>>> with open_source((np.eye(3), ["a", "b", "a"]), rows=2) as source:
...     [(batch.first, batch.labels.tolist()) for batch in source]
[(0, ['a', 'b']), (2, ['a'])]
"""

from icvi.streams.batch import Batch, Position
from icvi.streams.data_loss import DataLossError
from icvi.streams.opening import open_source
from icvi.streams.source import Source

__all__ = ["Batch", "DataLossError", "Position", "Source", "open_source"]
