"""One stream, clustered online with three vigilances, watched sample by sample.

Six clusters arrive one after the other. Fuzzy SMART clusters them as they come: with a vigilance
that finds them, with one so low that clusters are taken together, with one so high that they
are split. The paper's ten indices are read after every sample. Prints the final readings and draws
the curves.

    python examples/demo.py [picture.png]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import icvi
from icvi.plots.traces import plot_traces

CENTERS = np.array([[0.2, 0.2], [0.5, 0.8], [0.8, 0.3], [0.15, 0.65], [0.5, 0.42], [0.85, 0.72]])
SIZE, WIDTH = 150, 0.035
VIGILANCE = {"correct": 0.7, "under": 0.5, "over": 0.8}


def make_stream(seed: int = 7) -> tuple[np.ndarray, np.ndarray]:
    """Samples in order of presentation, and the true cluster of each."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(len(CENTERS)), SIZE)
    return CENTERS[truth] + WIDTH * rng.standard_normal((truth.size, 2)), truth


def watch(X: np.ndarray, rho_b: float) -> tuple[icvi.Tracker, icvi.Trace]:
    """Cluster the stream online and read every index after every sample."""
    smart = icvi.FuzzySMART(rho_a=0.95, rho_b=rho_b).fit(X)
    tracker = icvi.Tracker(["paper", "Conn"])
    trace = tracker.update_many(X, smart.labels_, winners=smart.winners_)
    return tracker, trace


def verdict(index: icvi.Index, final: dict[str, float]) -> str:
    """The partition that the index rates best."""
    best = max if index.direction == "max" else min
    return best(final, key=lambda title: final[title])


def make_table(trackers: dict[str, icvi.Tracker]) -> Table:
    """Final readings; an arrow says whether a partition is rated better or worse."""
    table = Table(title="Final readings", title_justify="left")
    table.add_column("index")
    table.add_column("better is")
    for title, tracker in trackers.items():
        table.add_column(f"{title}\n{tracker.n_clusters} clusters", justify="right")
    table.add_column("prefers")
    for index in next(iter(trackers.values())).indices:
        final = {title: tracker[index] for title, tracker in trackers.items()}
        chosen = verdict(index, final)
        table.add_row(
            index.name,
            "larger" if index.direction == "max" else "smaller",
            *(cell(index, final, title) for title in trackers),
            f"[green]→ {chosen}[/]" if chosen == "correct" else f"[red]→ {chosen}[/]",
        )
    return table


def cell(index: icvi.Index, final: dict[str, float], title: str) -> str:
    """A reading, with an arrow against the correct partition."""
    value, reference = final[title], final["correct"]
    if title == "correct":
        return f"{value:.4g}  "
    better = value > reference if index.direction == "max" else value < reference
    return f"{value:.4g} [red]▲[/]" if better else f"{value:.4g} [green]▼[/]"


def main() -> None:
    """Run the demo."""
    picture = Path(sys.argv[1] if len(sys.argv) > 1 else "demo.png")
    X, _ = make_stream()
    trackers, traces = {}, {}
    for title, rho_b in VIGILANCE.items():
        trackers[title], traces[title] = watch(X, rho_b)
    console = Console()
    console.print(make_table(trackers))
    console.print("▲ rated better than the correct partition, ▼ rated worse")
    plot_traces(
        {
            f"correct (vigilance {VIGILANCE['correct']})": traces["correct"],
            f"under-partitioned ({VIGILANCE['under']})": traces["under"],
            f"over-partitioned ({VIGILANCE['over']})": traces["over"],
        },
        changes=[SIZE * i for i in range(1, len(CENTERS))],
    ).savefig(picture)
    console.print(f"{len(X)} samples, every index after every sample; curves in {picture}")


if __name__ == "__main__":
    main()
