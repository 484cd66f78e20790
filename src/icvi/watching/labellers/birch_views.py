"""What unpickling takes from scikit-learn's Birch, put right."""

from __future__ import annotations

from typing import Any

from icvi.watching.labellers.labeller import comes_from


def mend(model: Any) -> Any:
    """The model, where it is a Birch with views on its centroids again.

    The nodes of its tree write to one array and read from a view on it. A pickle makes them two
    arrays: what came out of it would go on with old centroids.
    """
    if not comes_from(model, "sklearn.cluster._birch") or not hasattr(model, "root_"):
        return model
    nodes = [model.root_]
    while nodes:
        node = nodes.pop()
        n = len(node.subclusters_)
        if n:
            node.centroids_ = node.init_centroids_[:n]
            node.squared_norm_ = node.init_sq_norm_[:n]
        nodes += [each.child_ for each in node.subclusters_ if each.child_ is not None]
    return model
