"""The peers' side of choosing clusters: artlib's iCVIFuzzyART on given streams.

Runs in the peers' own environment and never imports icvi. With the options that artlib has by
default, it sees all samples before it labels the first. A set that takes too long is given up.
"""

from __future__ import annotations

import signal
import warnings
from types import FrameType

import numpy as np
from artlib import iCVIFuzzyART  # type: ignore[import-not-found,unused-ignore]
from sklearn.metrics import adjusted_rand_score

from choose.streams import Spec, load
from clock import Job, Result, serve
from insight.families import Case, Floats, Ints

VIGILANCE = 0.75


def choose(job: Job) -> Result:
    """Return the adjusted Rand index of every stream; None where it took too much CPU time."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    signal.signal(signal.SIGPROF, _give_up)
    found: list[float | None] = []
    for each in job["jobs"]:
        given = dict(each["spec"])
        given["case"] = Case(**given["case"]) if given["case"] else None
        X, truth = load(Spec(**given), each["order"])
        signal.setitimer(signal.ITIMER_PROF, job["seconds"])
        try:
            found.append(_ari(X, truth))
        except TimeoutError:
            found.append(None)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0.0)
    return {"ari": found}


def _give_up(_: int, __: FrameType | None) -> None:
    raise TimeoutError


def _ari(X: Floats, truth: Ints) -> float:
    model = iCVIFuzzyART(VIGILANCE, 1e-7, 1.0, iCVIFuzzyART.CALINSKIHARABASZ)
    model.fit(model.prepare_data(X))
    return float(adjusted_rand_score(truth, model.labels_))


if __name__ == "__main__":
    serve({"choose": choose})
