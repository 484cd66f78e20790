"""How well the clusters agree with known classes: ARI and AMI over the stream."""

from icvi.watching.truth.agreement import NAMES, Agreed, Agreement
from icvi.watching.truth.known_classes import KnownClasses, known_classes

__all__ = ["NAMES", "Agreed", "Agreement", "KnownClasses", "known_classes"]
