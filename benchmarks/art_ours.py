"""Our side of fuzzy ART: samples as they are; checks, scaling and coding are part of the time."""

from __future__ import annotations

import icvi
from art import Model, serve_with
from clock import Job
from data import Floats


def prepare(job: Job, X: Floats) -> tuple[Model, Floats]:
    """Return icvi's model, and the samples themselves."""
    return icvi.FuzzyART(**job["options"], bounds=(0.0, 1.0)), X


if __name__ == "__main__":
    serve_with(prepare)
