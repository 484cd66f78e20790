"""Measure icvi and its peers side by side and hold the ratios against the targets.

    .venv/bin/python benchmarks/run.py            # everything, about five minutes
    .venv/bin/python benchmarks/run.py --quick    # fewer samples
    .venv/bin/python benchmarks/run.py --only chunked --only growth

Every measurement runs in a child process of its own, first the peer, then us, then the floor. A
missed target is printed, not an error: this is a benchmark, not a test.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from rich.console import Console

import processes
import startup
from clock import Job, Result
from groups import groups
from living import living
from report import Row, save, show
from watching import watching

EIGHT = ["CH", "SIL", "DB", "GD43", "GD53", "PS", "WB", "XB"]
THEIRS = {"SIL": "cSIL"}  # the same index under cvi's name
COVARIANCE = ["NI", "rCIP", "rH"]
MANY = ["CH", "SIL", "DB", "XB"]

# d, k, samples per repeat for cvi (it needs up to 25 ms for one), target of the chunked run
SIZES = [(2, 15, 40, 1000), (2, 200, 8, 3000), (50, 50, 15, 1000)]

#: How many times the hand-made floor the eight indices may take, and how many times reading all
#: samples from memory once a batch of them.
OVER_FLOOR, OVER_READING = 1.6, 3.0

# d, spread of the clusters, vigilance, samples, samples one by one per repeat for artlib (it needs
# up to 2 ms for one): about 30 or about 600 categories
CATEGORIES = [
    (2, 0.05, 0.74, 10_000, 300),
    (2, 0.05, 0.972, 3_000, 60),
    (16, 0.02, 0.85, 10_000, 300),
    (16, 0.05, 0.89, 3_000, 60),
]


@dataclass
class Bench:
    """Runs jobs, remembering the peers' results, which several rows share."""

    quick: bool
    peers: bool
    say: Callable[[str], None]
    known: dict[str, Result] = field(default_factory=dict)

    def job(self, what: str, d: int, k: int, n: int, indices: list[str]) -> Job:
        """Return the job for a stream of ``k`` clusters in ``d`` dimensions."""
        repeats, n = (3, max(n // 4, 4)) if self.quick else (7, n)
        size = {"d": d, "k": k, "n": n, "warm": 3 * k, "repeats": repeats}
        return {"what": what, "seed": 1902, "indices": indices} | size

    def peer(self, job: Job, script: str = "peers.py") -> Result | None:
        """Return the peers' result for a job, or None without their environment."""
        if not self.peers:
            return None
        key = repr(job)
        if key not in self.known:
            self.say(f"peers: {describe(job)}")
            self.known[key] = processes.ask(script, job, processes.peers_python())
        return self.known[key]

    def ours(self, job: Job, script: str = "ours.py") -> Result:
        """Return our result for a job."""
        self.say(f"icvi: {describe(job)}")
        return processes.ask(script, job)

    def floor(self, job: Job) -> Result:
        """Return the floor's result for a job."""
        self.say(f"floor: {describe(job)}")
        return processes.ask("floor.py", job | {"what": "streaming"})


def describe(job: Job) -> str:
    """Name a job on a progress line."""
    return f"{job['what']} d={job['d']} k={job['k']} {' '.join(job['indices'])}"


def times(result: Result | None) -> float | None:
    """Return the microseconds of a result, if there is one."""
    return None if result is None else float(result["us"])


def speedup(peer: Result | None, ours: Result) -> float | None:
    """Return how many times faster we are."""
    return None if peer is None else float(peer["us"] / ours["us"])


def same_samples(peer: Result, ours: Result) -> None:
    """Stop if the two sides were not fed the same samples."""
    if peer["fingerprint"] != ours["fingerprint"]:
        raise SystemExit("the peers were fed other samples than icvi: different numpy generators?")


def agree(peer: Result | None, ours: Result, pairs: list[tuple[int, int]]) -> None:
    """Stop if the two sides were not fed the same samples or do not read the same numbers."""
    if peer is None:
        return
    same_samples(peer, ours)
    for mine, theirs in pairs:
        a, b = ours["readings"][mine], peer["readings"][theirs]
        if not math.isclose(a, b, rel_tol=1e-8):
            raise SystemExit(f"icvi reads {a!r} where the peer reads {b!r}: nothing to compare")


def eight(bench: Bench, what: str, n: int, target: float | None) -> Iterator[Row]:
    """Compare the eight indices that cvi has too, read after every sample."""
    for d, k, few, own_target in SIZES:
        names = [THEIRS.get(name, name) for name in EIGHT]
        peer = bench.peer(bench.job("streaming", d, k, few, names))
        job = bench.job(what, d, k, n, EIGHT)
        ours = bench.ours(job)
        agree(peer, ours, [(i, i) for i in range(len(EIGHT))])
        floor = bench.floor(job) if what == "chunked" else None
        yield Row(
            group=what,
            what=f"eight indices, {what}, d={d} k={k}",
            ours=times(ours),
            peer=times(peer),
            floor=times(floor),
            ratio=speedup(peer, ours),
            at_least=target or own_target,
            floor_at_most=OVER_FLOOR if floor is not None else None,
        )


def chunked(bench: Bench) -> Iterator[Row]:
    """Many samples per call."""
    return eight(bench, "chunked", 20_000, None)


def single(bench: Bench) -> Iterator[Row]:
    """One sample per call."""
    return eight(bench, "single", 2_000, 200)


def covariance(bench: Bench) -> Iterator[Row]:
    """Compare our three covariance indices with cvi's one."""
    peer = bench.peer(bench.job("streaming", 10, 15, 60, ["rCIP"]))
    ours = bench.ours(bench.job("chunked", 10, 15, 4_000, COVARIANCE))
    agree(peer, ours, [(COVARIANCE.index("rCIP"), 0)])
    yield Row(
        group="covariance",
        what="NI + rCIP + rH, chunked, d=10 k=15 (peer: rCIP)",
        ours=times(ours),
        peer=times(peer),
        ratio=speedup(peer, ours),
        at_least=100,
    )
    more = bench.ours(bench.job("chunked", 10, 84, 4_000, COVARIANCE))
    yield Row(
        group="covariance",
        what="NI + rCIP + rH, chunked, d=10, k=84 against k=15",
        ours=times(more),
        ratio=more["us"] / ours["us"],
    )


def growth(bench: Bench) -> Iterator[Row]:
    """Ten times the clusters, as many samples for each; only the first row has a target."""
    cases = [("eight indices", EIGHT, 2, 15), ("eight indices", EIGHT, 10, None)]
    for label, names, d, most in [*cases, ("NI + rCIP + rH", COVARIANCE, 2, None)]:
        small, large = (bench.job("chunked", d, k, 30 * k, names) for k in (100, 1000))
        few, many = bench.ours(small), bench.ours(large)
        yield Row(
            group="growth",
            what=f"{label}, d={d}, k=1000 against k=100",
            ours=times(many),
            floor=times(bench.floor(large)) if names is EIGHT else None,
            ratio=many["us"] / few["us"],
            at_most=most,
            floor_at_most=OVER_FLOOR if names is EIGHT else None,
        )

    result = bench.ours(bench.job("many_clusters", 2, 100_000, 0, MANY))
    yield Row(
        group="growth",
        what=f"{', '.join(MANY)}, d=2, k=100,000: 300,000 samples and one reading",
        ours=times(result),
        ratio=result["us"] / 1e6,
        at_most=5,
        ratio_unit="s",
    )


def insight(bench: Bench) -> Iterator[Row]:
    """The cost of verdicts and alarms: looks at clusters are many at first, and rare later."""
    job = bench.job("insight", 10, 20, 0, ["paper"]) | {"n": 100_000, "repeats": 3}
    result = bench.ours(job)
    for half, what in enumerate(("the first 100,000 samples", "the next 100,000")):
        kept, plain = result["with"][half], result["without"][half]
        yield Row(
            group="insight",
            what=f"paper, chunked, d=10 k=20, with insight against without: {what}",
            ours=1e6 * kept / job["n"],
            ratio=kept / plain,
            at_most=1.2,
        )


def memory(bench: Bench) -> Iterator[Row]:
    """Eleven times the samples; a few MiB are the allocator's, not ours."""
    result = bench.ours(bench.job("memory", 2, 15, 10_000, EIGHT))
    first, last = result["samples"]
    yield Row(
        group="memory",
        what=f"peak memory from {first:,} to {last:,} samples",
        ratio=result["mib"],
        at_most=4,
        ratio_unit="MiB",
    )


def batch(bench: Bench) -> Iterator[Row]:
    """All samples at hand, a million of them."""
    size = {"n": 1_000_000, "repeats": 3 if bench.quick else 5}
    for on_cores, least in ((False, 1), (True, 4)):
        job = bench.job("batch", 10, 20, 0, ["paper"]) | size | {"wall": on_cores}
        peer = bench.peer(job)
        ours = bench.ours(job)
        agree(peer, ours, [(0, 0)])
        more = ", wall time on all cores (floor: X.sum())" if on_cores else ""
        yield Row(
            group="batch",
            what=f'scores(X, labels, "paper"), N=1e6 d=10 k=20 (peer: CH + DB){more}',
            ours=times(ours),
            peer=times(peer),
            floor=ours["reading"] if on_cores else None,
            unit="ms",
            ratio=speedup(peer, ours),
            at_least=least,
            floor_at_most=OVER_READING if on_cores else None,
        )
    n = 20_000 if bench.quick else 100_000
    job = bench.job("silhouette", 10, 20, 0, ["silhouette"]) | {"n": n, "repeats": 1}
    peer, ours = bench.peer(job), bench.ours(job)
    agree(peer, ours, [(0, 0)])
    yield Row(
        group="batch",
        what=f"batch.silhouette_score, N={n:,} d=10 k=20, wall time on all cores",
        ours=times(ours),
        peer=times(peer),
        unit="ms",
        ratio=speedup(peer, ours),
    )


def same_categories(peer: Result | None, ours: Result) -> None:
    """Stop if a sample of the same samples went to another category."""
    if peer is None:
        return
    same_samples(peer, ours)
    if peer["found"] != ours["found"]:
        numbers = f"{ours['categories']} categories where the peer finds {peer['categories']}"
        raise SystemExit(f"icvi finds {numbers}, with other labels: nothing to compare")


def for_artlib(job: Job, backend: str) -> Job:
    """Return the job for one of artlib's classes; a fit takes its Python a second or two."""
    slow = job["what"] == "fit" and backend == "Python"
    return job | {"backend": backend} | ({"repeats": 3} if slow else {})


def against_artlib(
    bench: Bench, job: Job, what: str, targets: dict[str, float | None]
) -> Iterator[Row]:
    """Compare one measurement of fuzzy ART with both of artlib's classes, on the same samples."""
    peers = {name: bench.peer(for_artlib(job, name), "art_peers.py") for name in targets}
    ours = bench.ours(job, "art_ours.py")
    what = f"{what}, d={job['d']}, {ours['categories']} categories"
    for backend, target in targets.items():
        peer = peers[backend]
        same_categories(peer, ours)
        yield Row(
            group="art",
            what=f"{what} (peer: artlib {backend})",
            ours=times(ours),
            peer=times(peer),
            ratio=speedup(peer, ours),
            at_least=target,
        )
    if "searched" in ours:
        yield Row(
            group="art",
            what=f"{what}: categories searched",
            ratio=ours["searched"] / ours["us"],
            ratio_unit="M/s",
        )


def art(bench: Bench) -> Iterator[Row]:
    """Fuzzy ART from the first sample on, then one sample per call to what was learnt so far."""
    for d, spread, rho, n, few in CATEGORIES:
        own = {"spread": spread, "options": {"rho": rho, "alpha": 1e-3, "beta": 1.0}}
        repeats = 7 if bench.quick else 21  # a fit takes milliseconds
        bulk = bench.job("fit", d, 30, n, []) | own | {"repeats": repeats}
        yield from against_artlib(bench, bulk, "FuzzyART.fit", {"C++": 5, "Python": 200})
        one = bench.job("single", d, 30, few, []) | own | {"warm": bulk["n"]}
        yield from against_artlib(bench, one, "partial_fit of one", {"Python": 30, "C++": None})


def start(bench: Bench) -> Iterator[Row]:
    """Take the time a user waits for in a fresh interpreter."""
    few, many = (1, 3) if bench.quick else (3, 7)
    cases: list[tuple[str, Callable[[], float], float | None]] = [
        ("import icvi", lambda: startup.importing(many), 0.2),
        ("first use, compiled code on disk", lambda: startup.warm(many), 0.6),
        ("first use, one index to compile (CH)", lambda: startup.cold(["CH"], few), 2.5),
        ("first use, the slowest index to compile (rH)", lambda: startup.cold(["rH"], few), 4),
        ("first use, Conn and its prototypes to compile", lambda: startup.cold(["Conn"], few), 4),
        ("first use, all indices but Conn", lambda: startup.cold(startup.ALL, 1), 7),
        ("first use, all indices to compile", lambda: startup.cold([*startup.ALL, "Conn"], 1), 7),
    ]
    for what, measure, most in cases:
        bench.say(f"icvi: {what}")
        yield Row(group="start", what=what, ratio=measure(), at_most=most, ratio_unit="s")


GROUPS: dict[str, Callable[[Bench], Iterator[Row]]] = {
    "chunked": chunked,
    "single": single,
    "covariance": covariance,
    "growth": growth,
    "insight": insight,
    "memory": memory,
    "batch": batch,
    "groups": groups,
    "living": living,
    "art": art,
    "watch": watching,
    "start": start,
}


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Measure icvi and its peers side by side.")
    parser.add_argument("--quick", action="store_true", help="fewer samples and repeats")
    parser.add_argument(
        "--only",
        action="append",
        choices=GROUPS,
        metavar="NAME",
        help=f"one of {', '.join(GROUPS)}",
    )
    return parser.parse_args()


def find_peers(console: Console) -> Result | None:
    """Return the peers' versions, installing them at first; None if that is not possible."""
    versions = processes.peers_versions()
    if versions is not None:
        return versions
    console.print(f"installing the peers into {processes.PEERS.name} (once)")
    try:
        processes.make_peers()
    except subprocess.CalledProcessError:
        console.print("[red]the peers could not be installed[/]: only our own side is measured")
    return processes.peers_versions()


def measure(bench: Bench, names: list[str]) -> tuple[list[Row], list[str]]:
    """Run the groups; return their rows, and the groups in which a child process died."""
    rows: list[Row] = []
    failed: list[str] = []
    for name in names:
        try:
            rows.extend(GROUPS[name](bench))
        except subprocess.CalledProcessError as error:
            bench.say(f"{name}: {error}")
            failed.append(name)
    return rows, failed


def main() -> None:
    """Run the chosen groups and report."""
    options = arguments()
    notes = Console(stderr=True)
    peers = find_peers(notes)

    def say(line: str) -> None:
        if sys.stderr.isatty():
            notes.print(line, style="dim", highlight=False)

    bench = Bench(options.quick, peers is not None, say)
    rows, failed = measure(bench, options.only or list(GROUPS))
    about = processes.machine() | {f"{name} (peers)": each for name, each in (peers or {}).items()}
    path = processes.HERE / "results" / "latest.json"
    save(rows, about, path)
    # Without a terminal rich would squeeze the table into 80 columns.
    show(rows, about, Console() if sys.stdout.isatty() else Console(width=140))
    print(f"written to {path.relative_to(processes.HERE.parent)}")
    if failed:
        raise SystemExit(f"could not be measured: {', '.join(failed)} (see the errors above)")


if __name__ == "__main__":
    main()
