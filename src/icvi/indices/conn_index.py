r"""Conn_Index: whether prototypes are connected inside clusters rather than across them.

.. math:: Conn = Intra \, (1 - Inter)

Intra is the mean share of a cluster's samples whose two best prototypes are both the cluster's
own, Inter the mean over clusters of the strongest connection to another one; `Connectivity`
has the definitions. In [0, 1], larger is better. 0 for a single cluster, so it is undefined only
before the first sample. Equations 30-36 of the paper.

It is the only index of the paper on prototypes instead of moments, so it depends on the order of
the samples and on the clusterer that finds the prototypes. The batch index, which finds the two
best prototypes of all samples again among the final ones, is `icvi.batch.conn_index_score`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from icvi.connectivity.conventions import Border, Convention, check_form
from icvi.indices.index import Index
from icvi.indices.ridge import name_with_options

if TYPE_CHECKING:
    from icvi.connectivity.connectivity import Connectivity


@dataclass(frozen=True, eq=False)
class ConnIndex(Index):
    """An index that is read from a `Connectivity` instead of the state of a partition."""

    convention: Convention = "paper"
    border: Border = "CONN"

    def __call__(self, state: Connectivity) -> float:  # type: ignore[override]
        """Read the index from the connections of prototypes."""
        return state.value


def _value(connectivity: Connectivity) -> float:
    return connectivity.value


def Conn(convention: Convention = "paper", border: Border = "CONN") -> Index:
    """Conn_Index.

    Parameters
    ----------
    convention : {"paper", "toolbox"}
        As in `Connectivity`.
    border : {"CONN", "CADJ"}
        As in `Connectivity`.
    """
    check_form(convention, border)
    return ConnIndex(
        name=name_with_options(
            "Conn",
            convention=None if convention == "paper" else convention,
            border=None if border == "CONN" else border,
        ),
        title="Connectivity of prototypes",
        formula="share of samples whose two best prototypes are in their own cluster, times one "
        "minus the strongest connection to another cluster; means over clusters",
        direction="max",
        range=(0.0, 1.0),
        reading=_value,
        fields=(),
        reference="Tasdemir & Merenyi 2011; incremental: Brito da Silva, Melton & Wunsch 2019",
        on="prototypes",
        family="Conn",
        options={"convention": convention, "border": border},
        convention=convention,
        border=border,
    )
