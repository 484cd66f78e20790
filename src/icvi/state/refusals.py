"""What to tell users whose sample cannot be taken out of a cluster."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from icvi.kernels import layout as L
from icvi.wording import short

if TYPE_CHECKING:
    from icvi.state.clusters import Clusters

_SHOWN = 5


def unknown_label(label: Hashable, known: Sequence[Hashable]) -> str:
    """No cluster has this label."""
    if not known:
        return f"no cluster has label {short(label)}: there are no clusters"
    shown = ", ".join(repr(name) for name in known[:_SHOWN])
    more = ", ..." if len(known) > _SHOWN else ""
    return f"no cluster has label {short(label)}; there are {shown}{more}"


def no_such_noise(weight: float, held: float) -> str:
    """There is less noise than that."""
    return f"cannot take a weight of {weight:g} out of the noise, which has {held:g}"


def refusal(reason: int, label: Hashable, weight: float, partition: Clusters) -> str:
    """Why a sample cannot leave the cluster with this label, for a reason that kernels gave."""
    if reason == L.UNKNOWN or label not in partition.labels:
        return unknown_label(label, partition.labels)
    held = partition.counts[partition.labels.index(label)]
    if reason == L.TOO_MUCH:
        return (
            f"cannot take weight {weight:g} out of cluster {short(label)}, which has {held:g}; "
            "give the weight that was added, times the factors of decay since"
        )
    if reason == L.ANOTHER:
        return (
            f"this sample is not in cluster {short(label)}: what would have to leave with it, a "
            f"weight of {held:g}, lies elsewhere; give the sample, label and weight that were added"
        )
    return (
        f"this sample cannot be in cluster {short(label)}: it is further from the others than "
        "their spread allows; give the sample, label and weight that were added"
    )
