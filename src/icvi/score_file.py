"""The indices of a finished clustering in a file: what `icvi score` prints."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import numpy as np
from rich.console import Console
from rich.table import Table

from icvi.indices import Index, select
from icvi.kernels.undefined import why
from icvi.progress import progress
from icvi.scoring import scores
from icvi.streams import open_source

_ARROWS = {"max": "larger is better", "min": "smaller is better"}


class ScoredFile:
    """Samples with labels from a file, and the readings of the chosen indices."""

    def __init__(
        self,
        path: str,
        *,
        label: str,
        columns: Sequence[str] | None,
        indices: Sequence[str],
        noise_label: str | None,
        bad_rows: str,
        format: str | None,
    ) -> None:
        self.indices: tuple[Index, ...] = select(list(indices))
        X, labels = [], []
        with (
            open_source(
                path, columns=columns or None, label=label, bad_rows=bad_rows, format=format
            ) as source,
            progress(f"icvi: reading {path}", source.length) as advance,
        ):
            for batch in source:
                X.append(batch.X)
                labels.append(np.asarray(batch.labels, dtype=object))
                advance(len(batch))
            self.columns, self.skipped, self.reasons = (
                source.columns,
                source.skipped,
                source.reasons,
            )
        if not X:
            raise ValueError(f"{path} has no samples")
        y = np.concatenate(labels)
        noise = _as_label(noise_label, y)
        self.values = scores(np.concatenate(X), y, list(self.indices), noise_label=noise)
        self.n_samples = len(y)
        self.n_clusters = len(set(y.tolist()) - {noise})

    def as_json(self) -> str:
        """One JSON object; an undefined reading is null, with its reason beside."""
        return json.dumps(
            {
                "samples": self.n_samples,
                "clusters": self.n_clusters,
                "features": list(self.columns),
                "skipped": self.skipped,
                "values": {n: v if math.isfinite(v) else None for n, v in self.values.items()},
                "undefined": {n: why(v) for n, v in self.values.items() if not math.isfinite(v)},
            }
        )

    def print(self, console: Console) -> None:
        """A line about the data and a table."""
        console.print(
            f"{self.n_samples:,} samples, {self.n_clusters} clusters, "
            f"{len(self.columns)} features ({', '.join(self.columns)})",
            highlight=False,
        )
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("index")
        table.add_column("value", justify="right")
        table.add_column("")
        for index in self.indices:
            value = self.values[index.name]
            reason = "" if math.isfinite(value) else f"undefined: {why(value)}"
            table.add_row(index.name, f"{value:.6g}", reason or _ARROWS[index.direction])
        console.print(table, highlight=False)


def _as_label(text: str | None, labels: np.ndarray) -> object:
    """A label given as text, as the labels in the file are: whole numbers or strings."""
    if text is None:
        return None
    numbers = any(isinstance(label, int) for label in labels.tolist())
    try:
        return int(text) if numbers else text
    except ValueError:
        return text
