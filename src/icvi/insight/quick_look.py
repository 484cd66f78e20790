"""Whether a cluster on a stream is worth the test for two clusters: compiled, because most are not.

As in `icvi.insight.split` two signs must agree, first for the best cut on the samples that chose
it, which flatters the cut, then on samples that it was not fitted to. The folds start from the
groups of that cut rather than search for their own, and are dealt once: clusters that this look
lets pass are tested again, so that it errs on their side. Of 470 splits that held, of seven
families with 2 to 18 features and up to 256 samples, 10 were missed; of 1,500 clusters with one
peak 47 passed, 30 of them flat or triangular.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from icvi.insight.separation import DISTINCT
from icvi.insight.split import FEWEST, MOST_FEATURES, leading, may_split
from icvi.kernels.splits.evidence import P_VALUE, SEPARATION
from icvi.kernels.splits.look import look, scratch

Array = NDArray[np.float64]

#: Slack of the separation and the level for the cut on the samples that chose it.
_SLACK, _LENIENT = 0.1, 0.15
#: Level for the cut on other samples, and by how much it grows with the separation there: clearly
#: separate groups of few samples do not always show their valley in one deal.
_LEVEL, _GROWTH = 0.07, 2.0
_CLEAR = 0.05  # beyond the separation to exceed, on other samples


def may_be_two(X: Array, distinct: float = DISTINCT) -> bool:
    """Whether a split that holds may be found: no to most clusters that are one.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Samples of one cluster; some hundreds suffice.
    distinct : float
        Separation to exceed.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> one = rng.normal(size=(200, 3))
    >>> may_be_two(one), may_be_two(one + 5.0 * (one[:, :1] > 0.0))
    (False, True)
    """
    n = len(X)
    if n < FEWEST:
        return False
    if X.shape[1] > MOST_FEATURES:
        X = leading(X)
    if X.shape[1] >= n:
        return may_split(X, distinct=distinct)
    S, p_value = _held_out(X, distinct)
    beyond = S - distinct - _CLEAR
    return beyond > 0.0 and p_value < _LEVEL + _GROWTH * beyond


def _held_out(X: Array, distinct: float) -> tuple[float, float]:
    """Separation and p-value on samples that the cut was not fitted to; 0 and 1 without a cut."""
    ordered = np.sort(X, axis=0)
    varies = ordered[0] < ordered[-1]
    if not varies.all():
        X, ordered = X[:, varies], ordered[:, varies]
    n, d = X.shape
    if d == 0:
        return 0.0, 1.0
    evidence, cut = np.empty((2, 4)), np.empty(4 + d)
    X, ordered = np.ascontiguousarray(X), np.ascontiguousarray(ordered)
    look(X, ordered, distinct - _SLACK, _LENIENT, *scratch(n, d), evidence, cut)
    return float(evidence[1, SEPARATION]), float(evidence[1, P_VALUE])
