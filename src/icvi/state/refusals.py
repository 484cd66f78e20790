"""Error messages for samples that cannot be removed from a cluster."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from icvi.kernels import layout as L
from icvi.wording import short

_SHOWN = 5


def unknown_label(label: Hashable, known: Sequence[Hashable]) -> str:
    """No cluster has this label."""
    if not known:
        return f"no cluster has label {short(label)}: there are no clusters"
    shown = ", ".join(repr(name) for name in known[:_SHOWN])
    more = ", ..." if len(known) > _SHOWN else ""
    return f"no cluster has label {short(label)}; there are {shown}{more}"


def too_little_noise(weight: float, available: float) -> str:
    """There is less noise than that."""
    return f"cannot remove a weight of {weight:g} from the noise, which has {available:g}"


def why_not_in(reason: int, label: Hashable, weight: float, available: float) -> str:
    """Why a sample cannot leave the cluster with this label.

    Parameters
    ----------
    reason : int
        What the kernel returned.
    label : hashable
        The cluster.
    weight, available : float
        Weights of the sample and of the cluster.
    """
    if reason == L.TOO_MUCH:
        return (
            f"cannot remove weight {weight:g} from cluster {short(label)}, which has "
            f"{available:g}; give the weight that was added, times the factors of decay since"
        )
    if reason == L.ANOTHER:
        return (
            f"this sample is not in cluster {short(label)}: the weight of {available:g} that would "
            "have to leave with it lies elsewhere; give the sample, label and weight that were "
            "added"
        )
    return (
        f"this sample cannot be in cluster {short(label)}: it is further from the others than "
        "their spread allows; give the sample, label and weight that were added"
    )
