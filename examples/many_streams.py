"""Many machines, one stream of samples each: every stream has its own clusters and its own grades.

First by hand: one tracker per machine, fed on threads. The compiled loops let go of Python's lock,
so threads run side by side on as many processors as there are. Then the same with a `TrackerBank`,
which takes the samples as they arrive, machine by machine in any order. In the end one machine
has a cluster that fell apart, and its tracker says which.

    python examples/many_streams.py
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

import icvi

MACHINES = ["fan", "mill", "press", "pump"]
INDICES = ["CH", "SIL", "XB", "DB", "NI"]
SAMPLES, CENTERS = 5000, 6.0 * np.array([[0, 0], [1, 0], [0, 1]])


def make_samples(seed: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The machine, the values and the cluster of each sample, in order of arrival.

    On the press, a clusterer without much sense has cut a cluster in two at random.
    """
    rng = np.random.default_rng(seed)
    machines = rng.choice(MACHINES, SAMPLES * len(MACHINES))
    labels = rng.integers(0, len(CENTERS), machines.size)
    X = CENTERS[labels] + rng.standard_normal((machines.size, 2))
    labels[(machines == "press") & (labels == 1) & (rng.random(machines.size) < 0.5)] = 3
    return machines, X, labels


def by_hand(machines: np.ndarray, X: np.ndarray, labels: np.ndarray) -> dict[str, dict[str, float]]:
    """One tracker per machine, each on a thread."""

    def track(machine: str) -> dict[str, float]:
        mine = machines == machine
        tracker = icvi.Tracker(INDICES)
        tracker.update_many(X[mine], labels[mine])
        return tracker.values

    with ThreadPoolExecutor() as threads:
        return dict(zip(MACHINES, threads.map(track, MACHINES)))


def with_a_bank(machines: np.ndarray, X: np.ndarray, labels: np.ndarray) -> icvi.TrackerBank:
    """The same, in chunks of whatever has arrived."""
    bank = icvi.TrackerBank(INDICES)
    for start in range(0, len(X), 4000):
        part = slice(start, start + 4000)
        bank.update_many(machines[part], X[part], labels[part])
    return bank


def main() -> None:
    """Run the example."""
    samples = make_samples()
    values, bank = by_hand(*samples), with_a_bank(*samples)
    print(bank.readings())
    same = all(bank[machine].values == values[machine] for machine in MACHINES)
    print(f"by hand and with a bank: {'the same numbers' if same else 'different numbers'}\n")

    worst = min(MACHINES, key=lambda machine: bank[machine]["SIL"])
    print(f"{worst}, the least separated pairs of clusters first:")
    pairs = bank[worst].diagnose_pairs()
    print(pairs)
    if pairs["high"][0] < 1.7:  # pieces of one cluster
        print(f"clusters {pairs['a'][0]} and {pairs['b'][0]} should be one")


if __name__ == "__main__":
    main()
