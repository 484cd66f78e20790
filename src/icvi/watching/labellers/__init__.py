"""Labels for samples: from a column, an estimator, or a function.

`labeller_for` makes a `Labeller` for any of them; `named_clusterer` makes a clusterer from a name:
``art``, ``minibatch-kmeans``, ``river.cluster.DBSTREAM``, ``model.icvi``, and `clusterer_from`
from a text with a name and parameters: ``art rho=0.8``.

>>> import numpy as np
>>> from icvi.streams import Batch
>>> labeller = labeller_for(named_clusterer("art", {"rho": 0.8, "bounds": (0, 9)}), batch=1024)
>>> labeller.label(Batch(np.array([[1.0], [8.0], [1.5]]))).labels.tolist()
[0, 1, 0]
"""

from icvi.watching.labellers.choosing import clusterer_from, labeller_for
from icvi.watching.labellers.hints import SAMPLED, hints
from icvi.watching.labellers.labeller import NO_CLUSTER, Labelled, Labeller
from icvi.watching.labellers.models import check_savable, load_model, save_model
from icvi.watching.labellers.names import named_clusterer, seed_of
from icvi.watching.labellers.parameters import parse_param

__all__ = [
    "NO_CLUSTER",
    "SAMPLED",
    "Labelled",
    "Labeller",
    "check_savable",
    "clusterer_from",
    "hints",
    "labeller_for",
    "load_model",
    "named_clusterer",
    "parse_param",
    "save_model",
    "seed_of",
]
