"""What a verdict says, in situations that users meet."""

from __future__ import annotations

import re

import numpy as np
import pytest

import icvi
from icvi.insight.reference import k_means


def blobs(k, n=150, d=2, apart=9.0, seed=0):
    rng = np.random.default_rng(seed)
    truth = np.arange(k * n) % k
    centers = apart * np.column_stack([np.arange(k)] + [np.arange(k) % 2] * (d - 1))
    return rng.normal(size=(k * n, d)) + centers[truth], truth


def relabelled(labels, **names):
    return np.array([names[f"c{label}"] for label in labels], dtype=object)


def situation(name):
    X, y = blobs(4)
    rng = np.random.default_rng(1)
    if name == "no samples":
        return X, np.full(len(X), -1)
    if name == "one cluster":
        return rng.normal(size=(300, 2)), np.zeros(300)
    if name == "one cluster that is two":
        return X[y < 2], np.zeros((y < 2).sum())
    if name == "single samples":
        return X[:20], np.arange(20)
    if name == "tiny clusters":
        return X[:24], y[:24]
    if name == "one tiny cluster":
        return np.concatenate([X, X[:5] + 99.0]), np.append(y, [9] * 5)
    if name == "many tiny clusters":
        far = np.repeat(50.0 * np.arange(2, 8), 4)[:, None] + rng.normal(size=(24, 2))
        return np.concatenate([X, far]), np.append(y, np.repeat(np.arange(10, 16), 4))
    if name == "two labels, one place":
        return X, np.where((y == 3) & (rng.random(len(y)) < 0.5), 4, y)
    if name == "many labels, one place":
        return X, np.where(y == 3, rng.integers(3, 9, size=len(y)), y)
    if name == "two clusters, one label":
        return X, np.where(y == 3, 2, y)
    if name == "all wrong":
        return X, rng.integers(4, size=len(y))
    if name == "noise":
        U = rng.uniform(size=(900, 2))
        return U, k_means(U, 4, rng)
    if name == "close":
        return blobs(3, apart=2.7, seed=4)
    if name == "one or two":
        return blobs(2, n=500, apart=2.26, seed=6)
    if name == "ones or twos":
        Z, z = blobs(2, n=500, apart=2.26, seed=6)
        shifted = [Z + np.array([0.0, 90.0 * n]) for n in range(6)]
        return np.concatenate(shifted), np.concatenate([z + 2 * n for n in range(6)])
    if name == "few and close":
        return blobs(2, n=14, apart=2.6, seed=5)
    if name == "one feature rules":
        return X * [1.0, 1e3], y
    if name == "a constant feature":
        return np.column_stack([X, np.ones(len(X))]), y
    if name == "constant features":
        return np.column_stack([X, np.ones((len(X), 2))]), y
    if name == "more features than samples":
        Z, z = blobs(3, n=20, d=60)
        return Z, z
    if name == "strange labels":
        strange = relabelled(y, c0="a\x1b[31m", c1=("t", 1), c2=None, c3="x" * 500)
        return X, np.where(rng.random(len(y)) < 0.5, strange, relabelled(y, c0=0, c1=1, c2=2, c3=3))
    return X, y


SAYS = {
    "right": ["The 4 clusters are distinct", "indices read better", "nothing to merge"],
    "no samples": ["There are no samples to judge."],
    "one cluster": ["There is one cluster only"],
    "one cluster that is two": ["There is one cluster only", "Split 0.0: it looks like two"],
    "single samples": ["nearly as many clusters as samples"],
    "tiny clusters": ["too few clusters have enough samples", "fewer than 10 samples"],
    "one tiny cluster": ["The 5 clusters are distinct", "about one cluster with fewer than 10"],
    "many tiny clusters": ["about 6 of 10 clusters with fewer than 10 samples (10, 11, 12, ...)"],
    "two labels, one place": ["4 and 3 are|3 and 4 are", "Merge (3 with 4|4 with 3): separated"],
    "many labels, one place": ["Some of the 9 clusters overlap", "and 12 more pairs"],
    "two clusters, one label": ["Split 2: it looks like two clusters"],
    "all wrong": ["Some of the 4 clusters overlap", "None of 9|[12] of 9", "may look like this"],
    "noise": ["The 4 clusters touch", "Data without clusters, cut into pieces, may look like this"],
    "close": ["The 3 clusters touch: the closest two"],
    "one or two": ["Cannot tell whether 0 and 1 are one cluster or two."],
    "ones or twos": ["; ", "and 3 more pairs are each one cluster or two."],
    "few and close": ["Cannot tell whether the closest two clusters", "more samples would tell"],
    "one feature rules": ["Feature 1 carries 99 % of the variance"],
    "a constant feature": ["Feature 2 never changed"],
    "constant features": ["Features 2, 3 never changed"],
    "more features than samples": ["fewer samples than features"],
    "strange labels": ["Merge", "Some of the 8 clusters overlap"],
}


@pytest.mark.parametrize("name", SAYS)
def test_a_verdict_says_what_there_is_to_say_in_few_sentences(name):
    X, labels = situation(name)
    said = str(icvi.verdict(X, labels, noise_label=-1))
    for part in SAYS[name]:
        expected = part if "|" in part else re.escape(part)
        assert re.search(expected, said), said
    lines = said.split("\n")
    assert 1 <= len(lines) <= 8
    assert all(line.endswith(".") and len(line) < 250 and line.isprintable() for line in lines)
    assert "nan" not in said
