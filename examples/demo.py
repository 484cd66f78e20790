"""Three labellings of one stream, watched sample by sample.

Six clusters arrive one after the other. The stream is labelled correctly, with two clusters
taken as one, and with one cluster taken as two; every index of the paper is read after every
sample. Prints the final readings and draws the curves.

    python examples/demo.py [picture.png]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import icvi
from icvi.plotting import plot_traces

CENTERS = np.array([[0.2, 0.2], [0.5, 0.8], [0.8, 0.3], [0.15, 0.65], [0.5, 0.42], [0.85, 0.72]])
SIZE, WIDTH = 150, 0.035


def make_stream(seed: int = 7) -> tuple[np.ndarray, np.ndarray]:
    """Samples in order of presentation, and the true cluster of each."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(len(CENTERS)), SIZE)
    return CENTERS[truth] + WIDTH * rng.standard_normal((truth.size, 2)), truth


def make_labellings(X: np.ndarray, truth: np.ndarray) -> dict[str, np.ndarray]:
    """Correct; clusters 1 and 3 as one; cluster 2 cut in two at its middle."""
    under = np.where(truth == 3, 1, truth)
    over = np.where((truth == 2) & (X[:, 0] > CENTERS[2, 0]), len(CENTERS), truth)
    return {"correct": truth, "under": under, "over": over}


def verdict(index: icvi.Index, final: dict[str, float]) -> str:
    """The labelling that the index rates best."""
    best = max if index.direction == "max" else min
    return best(final, key=lambda title: final[title])


def make_table(trackers: dict[str, icvi.Tracker]) -> Table:
    """Final readings; an arrow says whether a labelling is rated better or worse."""
    table = Table(title="Final readings", title_justify="left")
    table.add_column("index")
    table.add_column("better is")
    for title in trackers:
        table.add_column(title, justify="right")
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
    """A reading, with an arrow against the correct labelling."""
    value, reference = final[title], final["correct"]
    if title == "correct":
        return f"{value:.4g}  "
    better = value > reference if index.direction == "max" else value < reference
    return f"{value:.4g} [red]▲[/]" if better else f"{value:.4g} [green]▼[/]"


def main() -> None:
    """Run the demo."""
    picture = Path(sys.argv[1] if len(sys.argv) > 1 else "demo.png")
    X, truth = make_stream()
    trackers, traces = {}, {}
    for title, labels in make_labellings(X, truth).items():
        trackers[title] = icvi.Tracker("paper")
        traces[title] = trackers[title].update_many(X, labels)
    console = Console()
    console.print(make_table(trackers))
    console.print("▲ rated better than the correct labelling, ▼ rated worse")
    plot_traces(
        {
            "correct": traces["correct"],
            "under-partitioned": traces["under"],
            "over-partitioned": traces["over"],
        },
        changes=[SIZE * i for i in range(1, len(CENTERS))],
    ).savefig(picture)
    console.print(f"{len(X)} samples, every index after every sample; curves in {picture}")


if __name__ == "__main__":
    main()
