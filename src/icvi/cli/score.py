"""What `icvi score` prints: the indices of a finished clustering in a file."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence, Set
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from icvi.batch.scoring import scores
from icvi.indices import Index, select
from icvi.insight.judge import verdict as judged
from icvi.insight.verdict import Verdict
from icvi.kernels.undefined import why
from icvi.progress import progress
from icvi.streams import open_source
from icvi.streams.columns import few
from icvi.streams.values import typed_label
from icvi.watching.first_look import FirstLook, left_out_labels
from icvi.watching.messages import with_options
from icvi.watching.scaling import FeatureScaling
from icvi.wording import BETTER, printable, shown_address


class ScoredFile:
    """Samples with labels from a file, and the readings of the chosen indices."""

    def __init__(
        self,
        path: str,
        *,
        columns: Sequence[str],
        exclude: Sequence[str],
        indices: Sequence[str],
        noise_label: str | None,
        scale: str,
        scale_from: str | None,
        verdict: bool = True,
        **reading: Any,
    ) -> None:
        self.indices: tuple[Index, ...] = select(list(indices))
        X, labels = [], []
        with (
            open_source(
                path, columns=columns or None, exclude=exclude or None, **reading
            ) as source,
            progress(f"icvi: reading {shown_address(path)}", source.length) as advance,
        ):
            for batch in source:
                X.append(batch.X)
                labels.append(np.asarray(batch.labels, dtype=object))
                advance(len(batch))
            self.columns, chosen, notes = source.columns, source.chosen, source.notes
            self.skipped, self.reasons = source.skipped, source.reasons
        if not X:
            raise ValueError(f"{shown_address(path)} has no samples")
        samples, y = np.concatenate(X), np.concatenate(labels)
        look = FirstLook(scaled=scale != "none")
        found = [] if chosen is None else left_out_labels(chosen)
        found += look.take(samples, chosen, last=True)
        #: How the file was read, and what is odd about the features.
        self.notes = [with_options(text) for text in (*notes, *found)]
        samples = FeatureScaling(scale, scale_from).scaled(samples, self.columns)
        noise = None if noise_label is None else _typed(noise_label, set(y.tolist()))
        self.values = scores(samples, y, list(self.indices), noise_label=noise)
        self.verdict = (
            judged(samples, y, self.indices, noise_label=noise, feature_names=self.columns)
            if verdict
            else None
        )
        self.n_samples = len(y)
        self.n_clusters = len(set(y.tolist()) - {noise})

    def as_json(self) -> str:
        """One JSON object; undefined readings are null, and `undefined` has the reasons."""
        verdict = {} if self.verdict is None else {"verdict": _as_dict(self.verdict)}
        return json.dumps(
            {
                "samples": self.n_samples,
                "clusters": self.n_clusters,
                "features": list(self.columns),
                "skipped": self.skipped,
                "values": {n: v if math.isfinite(v) else None for n, v in self.values.items()},
                "undefined": {n: why(v) for n, v in self.values.items() if not math.isfinite(v)},
                **verdict,
            }
        )

    def print(self, console: Console) -> None:
        """A line about the data, the verdict and a table."""
        console.print(
            f"{self.n_samples:,} samples, {self.n_clusters} clusters, "
            f"{len(self.columns)} features ({few([*map(printable, self.columns)])})",
            highlight=False,
            markup=False,
            emoji=False,
        )
        if self.verdict is not None:
            # Words stay whole in a terminal, lines in a file.
            wrap = not console.is_terminal
            text = f"\n{self.verdict}\n"
            console.print(text, soft_wrap=wrap, highlight=False, markup=False, emoji=False)
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("index")
        table.add_column("value", justify="right")
        table.add_column("")
        for index in self.indices:
            value = self.values[index.name]
            reason = "" if math.isfinite(value) else f"undefined: {why(value)}"
            table.add_row(
                index.name, f"{value:.6g}", reason or f"{BETTER[index.direction]} is better"
            )
        console.print(table, highlight=False)


def _as_dict(verdict: Verdict) -> dict[str, Any]:
    advice = [
        {
            "action": each.action,
            "clusters": [
                label if isinstance(label, (str, int, float)) else str(label)
                for label in each.clusters
            ],
            "separation": each.separation,
            "low": each.low,
            "high": each.high,
        }
        for each in verdict.advice
    ]
    return {"grade": verdict.grade, "advice": advice, "sentences": str(verdict).split("\n")}


def _typed(text: str, labels: Set[object]) -> object:
    """The label for a text: parsed like labels in files, or else one that prints the same."""
    typed = typed_label(text)
    if typed in labels:
        return typed
    return next((label for label in labels if str(label) == text), typed)
