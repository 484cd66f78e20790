"""What is read from a labelled prototype graph: the Conn_Index, its terms and its counts."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from numpy.typing import NDArray

from icvi.connectivity.arrays import Edges
from icvi.connectivity.conventions import Border, Convention
from icvi.connectivity.labelled_graph import LabelledGraph
from icvi.transactions import Transactional, exclusive


class GraphReadings(Transactional):
    """The readings of a `Connectivity`, which adds what changes it."""

    _state: LabelledGraph

    @property
    def convention(self) -> Convention:
        """The published definition, or the numbers of the toolbox."""
        return self._state.convention

    @property
    def border(self) -> Border:
        """Which prototypes form the border of a cluster."""
        return self._state.border

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(n_events={self.n_events:g}, n_clusters={self.n_clusters}, "
            f"n_prototypes={self.n_prototypes}, convention={self.convention!r}, "
            f"border={self.border!r})"
        )

    # -- the index -------------------------------------------------------------------------

    @property
    @exclusive
    def value(self) -> float:
        """The Conn_Index; nan before the first event."""
        return self._state.graph.read()[0]

    @property
    @exclusive
    def intra(self) -> float:
        """Intra, the mean share of samples whose runner-up is in their own cluster."""
        return self._state.graph.read()[1]

    @property
    @exclusive
    def inter(self) -> float:
        """Inter, the mean over clusters of the strongest connection to another one."""
        return self._state.graph.read()[2]

    def why(self) -> str | None:
        """None, or the reason why the index is undefined: ``"empty"``."""
        return None if self.n_clusters else "empty"

    @property
    @exclusive
    def intra_per_cluster(self) -> NDArray[np.float64]:
        """(k,) Intra(l)."""
        return self._state.graph.clusters("intra")

    @property
    @exclusive
    def inter_matrix(self) -> NDArray[np.float64]:
        """(k, k) Inter(l, m); a large entry means that l and m should be one cluster."""
        return self._state.graph.inter()

    # -- clusters, prototypes, edges -------------------------------------------------------

    @property
    @exclusive
    def labels(self) -> list[Hashable]:
        """Cluster labels in order of first appearance."""
        return self._state.names(self._state.graph.order())

    @property
    @exclusive
    def known_labels(self) -> list[Hashable]:
        """`labels`, and those of clusters that own prototypes but have no weight.

        Such a cluster has lost its events, but its prototypes are runners-up of others, or are
        declared.
        """
        return self._state.known_labels()

    @property
    def n_clusters(self) -> int:
        """Number of clusters k."""
        return self._state.graph.k

    @property
    @exclusive
    def counts(self) -> NDArray[np.float64]:
        """(k,) weight n_l of every cluster."""
        return self._state.graph.clusters("n")

    @property
    @exclusive
    def n_events(self) -> float:
        """Total weight, the number of events when every weight is 1."""
        return self._state.graph.total

    @property
    def n_prototypes(self) -> int:
        """Number of prototypes that are known: that have weight, or an edge.

        Arrays over prototypes have a row for every number from 0 to the highest, so they are
        longer when numbers are left out.
        """
        return self._state.graph.n_prototypes

    @property
    @exclusive
    def owners(self) -> list[Hashable]:
        """The label of every prototype 0, 1, ..., P - 1; None for a number that is not known."""
        return self._state.owners()

    @property
    @exclusive
    def owner_numbers(self) -> NDArray[np.int64]:
        """(P,) the cluster of every prototype, counted from 1 in `labels`; 0 for none of them."""
        graph = self._state.graph
        place = np.zeros(len(self._state.labels) + 1, dtype=np.int64)
        place[graph.order()] = np.arange(1, graph.k + 1)
        numbers: NDArray[np.int64] = place[graph.prototypes("owner")]
        return numbers

    @property
    @exclusive
    def declared(self) -> dict[int, Hashable]:
        """The prototypes that were declared, and their labels."""
        columns = self._state.graph.prototypes("declared").tolist()
        labels = self._state.owners("declared")
        return {p: labels[p] for p, column in enumerate(columns) if column}

    @property
    @exclusive
    def prototype_counts(self) -> NDArray[np.float64]:
        """(P,) weight of the events that each prototype won."""
        return self._state.graph.weights()

    @property
    @exclusive
    def cadj(self) -> NDArray[np.float64]:
        """(P, P) CADJ, dense: 8 P^2 bytes, 800 MB for 10,000 prototypes; see `edges`."""
        return self._state.graph.cadj()

    @property
    @exclusive
    def conn(self) -> NDArray[np.float64]:
        """(P, P) CONN = CADJ + CADJ^T, dense like `cadj`."""
        matrix = self._state.graph.cadj()
        return matrix + matrix.T

    @exclusive
    def edges(self) -> Edges:
        """CADJ without its zeros: (winner, runner_up, cadj), sorted by winner and runner-up."""
        return self._state.graph.edges()
