"""Whatever happens to a state, the file that it is saved to loads."""

from __future__ import annotations

import random
from datetime import timedelta

import numpy as np
import pytest

import icvi

INDICES = {
    "clusters": ["CH", "XB", "PS", "rCIP"],
    "graphs": ["CH", "Conn", icvi.Conn("toolbox", "CADJ")],
    "mixtures": ["Conn", icvi.rH(prototypes=True)],
}
FLOWS = {
    "all": {},
    "window": {"window": 12},
    "time": {"window": timedelta(seconds=9)},
    "half-life": {"half_life": 1.5},
    "short half-life": {"half_life": timedelta(milliseconds=20)},
}


class Story:
    """A tracker to which things happen that a seed decides on."""

    def __init__(self, what, flow, seed):
        self.rng = rng = random.Random(seed)
        self.d = rng.choice([1, 2, 3])
        self.scale = rng.choice([1e-100, 1e-9, 1.0, 1.0, 1e9, 1e100])
        self.offset = rng.choice([0.0, 0.0, 1e3, 1e8]) * self.scale
        self.weighted = rng.random() < 0.4
        self.grid = rng.random() < 0.3  # samples that coincide
        self.noise = rng.choice([None, 0])
        self.held, self.now = [], 0.0
        bounds = (self.offset - 9 * self.scale, self.offset + 9 * self.scale)
        options = {} if what == "clusters" else {"bounds": bounds, "quantizer": {"rho": 0.8}}
        self.t = icvi.Tracker(INDICES[what], noise_label=self.noise, **FLOWS[flow], **options)
        self.timed = isinstance(next(iter(FLOWS[flow].values()), None), timedelta)

    def sample(self):
        x = np.array([self.rng.gauss(0.0, 2.0) for _ in range(self.d)])
        x = np.round(x) if self.grid else x
        if self.rng.random() < 0.02:
            x *= 1e6  # an outlier
        weight = 10.0 ** self.rng.uniform(-9, 9) if self.weighted else 1.0
        return self.offset + self.scale * x, self.rng.randrange(5), weight

    def time(self, n=None):
        if not self.timed:
            return {}
        steps = [self.rng.choice([0.0, 0.01, 1.0, 3.0]) for _ in range(n or 1)]
        times = self.now + np.cumsum(steps)
        self.now = float(times[-1])
        return {"time": times if n else self.now}

    def step(self):
        what = self.rng.random()
        try:
            if what < 0.4:
                sample = self.sample()
                self.t.update(*sample, **self.time())
                self.held.append(sample)
            elif what < 0.6:
                samples = [self.sample() for _ in range(self.rng.choice([1, 7, 20]))]
                self.t.update_many(*map(np.array, zip(*samples)), **self.time(len(samples)))
                self.held += samples
            elif what < 0.8 and self.held:
                x, label, weight = self.held.pop(self.rng.randrange(len(self.held)))
                if self.rng.random() < 0.5:
                    self.t.remove(x, label, weight)
                else:
                    self.t.relabel(x, label, new := self.rng.randrange(7), weight)
                    self.held.append((x, new, weight))
            elif what < 0.87 and self.t.n_clusters > 1:
                into, source = self.rng.sample(self.t.labels, 2)
                self.t.merge_clusters(into, source)
                self.held = [(x, into if y == source else y, w) for x, y, w in self.held]
            elif what < 0.95:
                factor = self.rng.choice([0.5, 0.3, 0.999, 1e-3])
                self.t.decay(factor)
                self.held = [(x, y, w * factor) for x, y, w in self.held]
            else:
                self.t.values  # noqa: B018  reading is part of the story
        except ValueError:
            pass  # refused, and nothing has changed


@pytest.mark.parametrize("flow", FLOWS)
@pytest.mark.parametrize("what", INDICES)
def test_a_tracker_that_has_lived_is_saved_and_loaded(what, flow, tmp_path):
    if what == "mixtures" and "half-life" in flow:
        pytest.skip("mixtures do not fade")
    live(what, flow, range(6), tmp_path / "t.icvi")


def live(what, flow, seeds, path):
    for seed in seeds:
        story = Story(what, flow, f"{what}:{flow}:{seed}")
        for number in range(40):
            story.step()
            if number % 4 == 3:
                with np.errstate(all="ignore"):
                    story.t.save(path)
                loaded = icvi.load(path)
                assert repr(loaded.values) == repr(story.t.values), (seed, number)
