"""How close the labels of every clusterer come to the classes."""

from __future__ import annotations

import math
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from sklearn.metrics import adjusted_rand_score

import processes
from choose.clusterers import BATCH, ONLINE, PEER, Cluster
from choose.streams import ORDERS, Spec, load
from insight.families import Order

#: CPU time that artlib gets for a stream.
PEER_SECONDS = 30.0


@dataclass(frozen=True)
class Score:
    """The adjusted Rand index of one clusterer, with one setting, on one stream.

    It is nan where the clusterer was given up, because it took too long.
    """

    half: str
    kind: str
    data: str
    order: str
    clusterer: str
    setting: str
    ari: float


def all_of(job: tuple[Spec, Order], only: tuple[str, ...] = ("",)) -> list[Score]:
    """Scores of the clusterers of this environment whose names begin as given, on one stream.

    Those that see all samples at once are run in one order, and count for both.
    """
    spec, order = job
    X, truth = load(spec, order)
    k = len(set(truth.tolist()))
    known: dict[str, tuple[dict[str, Cluster], Sequence[Order]]]
    known = {name: (settings, [order]) for name, settings in ONLINE.items()}
    if order == "shuffled":
        known |= {name: (settings, ORDERS) for name, settings in BATCH.items()}
    scores = []
    for name, (settings, orders) in known.items():
        if not name.startswith(only):
            continue
        for setting, cluster in settings.items():
            ari = float(adjusted_rand_score(truth, cluster(X, k)))
            scores += [
                Score(spec.half, spec.kind, spec.name, o, name, setting, ari) for o in orders
            ]
    return scores


def of_peers(jobs: list[tuple[Spec, Order]]) -> list[Score]:
    """Scores of artlib's clusterer on some streams; none where it fails."""
    given = [{"spec": asdict(spec), "order": order} for spec, order in jobs]
    try:
        job = {"what": "choose", "jobs": given, "seconds": PEER_SECONDS}
        answer = processes.ask("choose_peers.py", job, processes.peers_python())
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"artlib failed on {len(jobs)} streams, which its row leaves out: {error}")
        return []
    scores = []
    for (spec, order), found in zip(jobs, answer["ari"], strict=True):
        ari = math.nan if found is None else found
        scores.append(Score(spec.half, spec.kind, spec.name, order, PEER, "", ari))
    return scores
