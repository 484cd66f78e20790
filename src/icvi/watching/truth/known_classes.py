"""Where the classes of samples come from: a column of the source, or labels beside it."""

from __future__ import annotations

import zlib
from typing import Any

from numpy.typing import NDArray

from icvi.labels import Labels, as_label_array
from icvi.streams import Batch


class KnownClasses:
    """The classes of all samples, given beside a source that does not have them.

    Parameters
    ----------
    classes : sequence
        One per sample of the stream.

    Examples
    --------
    >>> import numpy as np
    >>> KnownClasses(["a", "b", "a"]).of(Batch(np.zeros((2, 1)), first=1)).tolist()
    ['b', 'a']
    """

    def __init__(self, classes: Any) -> None:
        try:
            self._classes = as_label_array(classes, len(classes))
            Labels().encode(self._classes)
        except (TypeError, ValueError) as error:
            raise type(error)(
                f"expected truth as a column of the source, or as one class per sample: {error}"
            ) from error

    def of(self, batch: Batch) -> NDArray[Any]:
        """The classes of some samples."""
        if batch.stop > len(self._classes):
            raise ValueError(
                f"expected a class for every sample in truth, got {len(self._classes):,}, and the "
                f"stream has more samples"
            )
        return self._classes[batch.first : batch.stop]

    @property
    def setting(self) -> str:
        """What must be the same when a watch resumes."""
        text = repr(self._classes.tolist()).encode()
        return f"{len(self._classes)} classes, checksum {zlib.crc32(text):08x}"


def known_classes(truth: Any) -> KnownClasses | None:
    """Classes beside the source; None where they are in a column of it, or unknown."""
    if truth is None or isinstance(truth, (str, int)):
        return None
    return KnownClasses(truth)
