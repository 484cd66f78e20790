"""Conn_Index as a batch index: all winners are found again after every sample."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi.art.fuzzy_smart import FuzzySMART
from icvi.batch import conn_index_score
from icvi.connectivity.connectivity import Connectivity
from icvi.study.experiment import BOUNDS, Experiment


class Comparison(NamedTuple):
    """Conn_Index after some of the samples, incremental and batch."""

    samples: NDArray[np.int64]
    incremental: NDArray[np.float64]
    batch: NDArray[np.float64]

    @property
    def error(self) -> NDArray[np.float64]:
        """Incremental minus batch."""
        return self.incremental - self.batch

    @property
    def mse(self) -> float:
        """Mean squared error."""
        return float(np.mean(self.error**2))

    @property
    def correlation(self) -> float:
        """Pearson's; nan where a curve is constant."""
        if np.ptp(self.incremental) == 0.0 or np.ptp(self.batch) == 0.0:
            return float("nan")
        return float(np.corrcoef(self.incremental, self.batch)[0, 1])


def compare(experiment: Experiment, rho_a: float | None = None, every: int = 1) -> Comparison:
    """Recompute Conn_Index after every sample (or every m-th) with the prototypes at that time.

    The partition does not change; `rho_a` gives prototypes of another vigilance.
    """
    scenario = experiment.scenario
    rho_a = scenario.rho_a if rho_a is None else rho_a
    smart = FuzzySMART(rho_a, scenario.rho_b, bounds=BOUNDS)
    X, connectivity = experiment.X, Connectivity()
    samples = np.arange(every, len(X) + 1, every)
    incremental, batch = np.empty(len(samples)), np.empty(len(samples))
    for at, end in enumerate(samples.tolist()):
        smart.partial_fit(X[end - every : end])
        connectivity.update_many(smart.winners_, smart.labels_)
        incremental[at] = connectivity.value
        batch[at] = conn_index_score(X[:end], experiment.labels[:end], smart)
    return Comparison(samples, incremental, batch)
