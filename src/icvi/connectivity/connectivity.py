"""The state of a labelled stream of prototypes, and the Conn_Index read from it."""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icvi.connectivity.events import as_event, as_winners, refusal
from icvi.connectivity.living_graph import NEW_LABELS, LivingGraph, one_event
from icvi.inputs import as_weight, as_weights
from icvi.labels import as_label_array, plain
from icvi.transactions import changes, exclusive

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Connectivity(LivingGraph):
    r"""How prototypes of clusters are connected, and what that says about the clusters.

    A learner that keeps several prototypes per cluster tells for every sample which prototype
    won and which was the runner-up. A good partition has both in the same cluster.

    Time per event is O(k), amortised, and memory O(P + edges) plus one entry per prototype and
    cluster that touch, whatever the number of events. What was counted can be taken back, moved
    to other clusters, multiplied and joined with the counts of others; sums are kept in two
    doubles each, so that nothing stays of what is taken back.

    Parameters
    ----------
    convention : {"paper", "toolbox"}
        The published definition, or the numbers of the code that the paper's authors published.
    border : {"CONN", "CADJ"}
        A prototype is on the border to another cluster when it has been winner or runner-up to
        one of its prototypes ("CONN"), or winner only ("CADJ", the rule of 2011).

    Notes
    -----
    CADJ(i, j) is the weight of the samples with winner i and runner-up j, and
    :math:`CONN = CADJ + CADJ^T`.

    .. math:: \mathrm{Conn\_Index} = Intra \, (1 - Inter), \quad
              Intra = \frac1k \sum_l \frac1{n_l} \sum_{i,j \in l} CADJ(i, j), \quad
              Inter = \frac1k \sum_l \max_{m \ne l} Inter(l, m)

    .. math:: Inter(l, m) = \frac{\sum_{i \in V_{lm}} \sum_{j \in m} CONN(i, j)}
              {\sum_{i \in V_{lm}} \sum_j CONN(i, j)}, \quad
              V_{lm} = \{i \in l : CONN(i, j) > 0 \text{ for some } j \in m\}

    It lies in [0, 1]; larger is better. A cluster with a single prototype has Intra(l) = 1; a
    single cluster has Inter = 1, so the index is 0. As long as there is only one prototype,
    samples have no runner-up: they get the second prototype as soon as it appears.

    With border "CADJ" the numerator is restricted to the border as well. The whole cluster in
    the numerator, as printed in 2011, lets Inter(l, m) exceed 1 and the index become negative.

    The toolbox differs: it divides by the CADJ that leaves the prototypes of a cluster instead
    of n_l (0 when there is none); the denominator of Inter(l, m) is the numerator and the CONN
    of the edges inside l that have an end in V_lm, each counted once; and with a single cluster
    it reports Inter = 0 and 0 for the index.

    References
    ----------
    K. Tasdemir and E. Merenyi, "A validity index for prototype-based clustering of data sets
    with complex cluster structures", IEEE Transactions on Systems, Man, and Cybernetics B
    41 (4), 2011, 1039-1053.

    L. E. Brito da Silva, N. M. Melton and D. C. Wunsch II, "Incremental cluster validity
    indices for hard partitions: extensions and comparative study", arXiv:1902.06711, 2019,
    Eqs. 30-36.

    Examples
    --------
    >>> import icvi
    >>> c = icvi.Connectivity()
    >>> c.update(0, None, "left")
    >>> c.update(1, 0, "left")
    >>> c.update(2, 1, "right")
    >>> c.update_many([[3, 2], [2, 3], [0, 1]], ["right", "right", "left"]).round(4).tolist()
    [0.4375, 0.5556, 0.5903]
    >>> round(c.value, 4), round(c.intra, 4), round(c.inter, 4)
    (0.5903, 0.8333, 0.2917)
    >>> c.inter_matrix.tolist()
    [[0.0, 0.25], [0.3333333333333333, 0.0]]
    """

    def plot(self, prototypes: Any, **options: Any) -> Figure:
        """CONNvis: the prototypes and the connections between them. Needs matplotlib.

        Parameters
        ----------
        prototypes : array-like of shape (P, d)
            Where the prototypes are.
        **options
            See `icvi.plots.connvis.plot_connvis`.
        """
        from icvi.plots.connvis import plot_connvis

        return plot_connvis(prototypes, self, **options)

    @exclusive
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the counts to a file, for `icvi.load`; see `Tracker.save`."""
        from icvi.saving.connectivity import pack_connectivity
        from icvi.saving.partition import write

        write(path, "Connectivity", pack_connectivity(self))

    # -- how it changes --------------------------------------------------------------------

    @one_event
    def update(
        self, winner: int, runner_up: int | None, label: Hashable, weight: float = 1.0
    ) -> None:
        """Count one sample.

        Parameters
        ----------
        winner : int
            Number of the prototype that won, from 0. One not seen before joins the cluster.
        runner_up : int or None
            The best of the other prototypes; it has won before. None (or -1) as long as the
            winner is the only prototype.
        label : hashable
            The cluster of the sample, which is the cluster of the winner.
        weight : float, default 1.0
            Weight 2 is the same as two such samples; 0 counts nothing.
        """
        p, q = as_event(winner, runner_up)
        self._update(p, q, label, weight)

    def _update(self, p: int, q: int, label: Hashable, weight: float) -> None:
        """Count one event; the kernel that does comes last, see `one_event`."""
        if weight.__class__ is not float or weight != 1.0:
            weight = as_weight(weight)
        try:
            column = self._labels.columns[label]
        except (KeyError, TypeError):
            column = self._new_column(label, weight)
        reason = self._graph.count(p, q, column, weight)
        if reason:
            raise ValueError(self._refusal(reason, p, q, plain(label), weight))

    def _exchange(self, gone: Sequence[Any], new: tuple[Any, Hashable, float] | None) -> None:
        """Take back events that are there, and count one that was checked, if any.

        The kernel that does both comes last, as in `_update`.
        """
        events = [sample.event for sample in gone]
        weights = [-sample.weight for sample in gone]
        columns = [self._graph.owner(winner) for winner, _ in events]
        if new is not None:
            event, label, weight = new
            events.append(event)
            weights.append(weight)
            columns.append(self._new_column(label, weight))
        self._graph.apply_last(
            np.array(events), np.array(columns, dtype=np.int64), np.array(weights)
        )

    def _new_column(self, label: Hashable, weight: float) -> int:
        """Column of a label that may be new; with some weight it is remembered."""
        column = self._labels.find(label)
        if column > len(self._labels):
            self._tidy()
            column = self._labels.find(label)
            if weight > 0.0:
                self._labels.remember([plain(label)])
        return column

    @changes
    def update_many(self, winners: Any, labels: Any, weights: Any = None) -> NDArray[np.float64]:
        """Count samples in order and read the index after every one of them.

        Parameters
        ----------
        winners : array-like of shape (n, 2)
            Numbers of the winner and the runner-up of each sample, -1 for no runner-up.
        labels : sequence of length n
            The cluster of each sample.
        weights : array-like of length n, optional
            1 for every sample by default.

        Returns
        -------
        ndarray of shape (n,)
            The index after each event.
        """
        self._undo = self._snapshot()
        return self._update_many(winners, labels, weights)

    def _update_many(self, winners: Any, labels: Any, weights: Any) -> NDArray[np.float64]:
        counted = self._graph.count_many(*self._checked(winners, labels, weights))
        self._forget_new_labels()
        return counted

    @changes
    def check_many(self, winners: Any, labels: Any, weights: Any = None) -> None:
        """Refuse what `update_many` would refuse; count nothing."""
        self._undo = NEW_LABELS
        self._check_many(winners, labels, weights)

    def _check_many(self, winners: Any, labels: Any, weights: Any = None) -> None:
        try:
            self._checked(winners, labels, weights)
        finally:
            self._forget_new_labels()

    def _checked(
        self, winners: Any, labels: Any, weights: Any
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Events that fit together, their columns and weights; new labels are remembered."""
        events = as_winners(winners)
        names = as_label_array(labels, len(events))
        w = as_weights(weights, len(events))
        adds = np.ones(len(events), dtype=np.bool_)
        columns = self._columns(names, adds, w > 0.0)
        numbers = events[:, 0]
        self._graph.reserve(int(numbers.min()), int(numbers.max()), len(self._labels))
        r, reason, owner = self._graph.first_refusal(events, columns, w)
        if reason:
            (p, q), known = events[r].tolist(), [None, *self._labels.known()]
            message = refusal(reason, p, q, known[owner], plain(names[r]))
            raise ValueError(f"event {r}: {message}")
        return events, columns, w
