"""icvi.compare: several clusterers over one pass of a stream, and which of them is the best."""

from __future__ import annotations

import contextlib
import inspect
import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.comparing.candidates import Candidate, candidates_of
from icvi.comparing.comparison import Comparison
from icvi.comparing.lanes import AllLabellers, ComparingLoop
from icvi.comparing.report.output import ComparisonPage
from icvi.comparing.standings import Standings
from icvi.comparing.whole_labels import WholeLabels, needs_all
from icvi.indices import Index, select
from icvi.inputs import as_every, as_flag, as_number, refuse_unknown
from icvi.progress import progress
from icvi.streams import Source, open_source
from icvi.streams.opening import SERVERS
from icvi.streams.tables import is_table
from icvi.tracking.tracker import Tracker
from icvi.watching.beginning import Beginning
from icvi.watching.checkpoint import Checkpoint
from icvi.watching.labellers import Labeller, labeller_for
from icvi.watching.loop import Lane
from icvi.watching.scaling import FeatureScaling
from icvi.watching.settings import clusterer_text, settings_of, source_name
from icvi.watching.step import Output
from icvi.watching.trace_files import open_trace
from icvi.watching.truth import Agreement
from icvi.watching.watch import Watch, classes_beside, refuse_names, refuse_own_source
from icvi.wording import listed, short


class Comparing(Watch):
    """A comparison that is under way: `steps` runs it, `result` is what it has found so far.

    Attributes
    ----------
    standings : Standings
        The readings of all candidates so far.
    """

    _loop: ComparingLoop

    def __init__(
        self,
        loop: ComparingLoop,
        candidates: Sequence[Candidate],
        standings: Standings,
        title: str,
        page: ComparisonPage | None,
    ) -> None:
        super().__init__(loop, next(iter(standings.curves.values())))
        self.standings, self.title, self._page = standings, title, page
        self._candidates = candidates
        if page is not None:
            page.result = self.result

    @property
    def agreement(self) -> dict[str, float]:
        """Nothing: every candidate has an agreement of its own."""
        return {}

    @property
    def noise(self) -> list[float]:
        """The share of noise of every candidate."""
        return [float(lane.tracker.noise_share) for lane in self._loop.lanes.values()]

    def hints(self) -> list[str]:
        """Nothing: the candidates differ in just what a hint would change."""
        return []

    def begin(self) -> None:
        """Resume from the checkpoint, or start from scratch; fit what needs all samples."""
        super().begin()
        labellers = [lane.labeller for lane in self._loop.lanes.values()]
        whole = [each for each in labellers if isinstance(each, WholeLabels)]
        with self.working(), progress("icvi: fitting", len(whole)) as advance:
            for each in whole:
                each.fit()
                advance(1)

    def result(self) -> Comparison:
        """What was found so far."""
        lanes = self._loop.lanes
        agreement = {
            name: lane.agreement.values
            for name, lane in lanes.items()
            if lane.agreement is not None
        }
        return Comparison(
            candidates=[
                Candidate(each.name, lanes[each.name].labeller.model, each.params)
                for each in self._candidates
            ],
            standings=self.standings,
            trackers={name: lane.tracker for name, lane in lanes.items()},
            agreement=agreement,
            source=self.title,
            columns=self.source.columns if self.seen else (),
            consistent=self.consistent,
        )

    def _finish(self, note: str | None) -> None:
        if self._page is not None:
            self._page.note = note
        super()._finish(note)


def compare(
    source: Any,
    clusterers: Any,
    indices: str | Index | Iterable[str | Index] = "paper",
    *,
    truth: Any = None,
    columns: Any = None,
    exclude: Any = None,
    time: Any = None,
    bad_rows: str = "error",
    follow: bool = False,
    on_data_loss: str = "stop",
    format: str | None = None,
    sep: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    rows: int = 8192,
    scale: str = "none",
    scale_from: Any = None,
    batch: int = 1024,
    seed: int = 0,
    every: int = 1,
    noise_label: Hashable = None,
    window: Any = None,
    half_life: Any = None,
    bounds: Any = None,
    insight: bool = True,
    trace: str | os.PathLike[str] | None = None,
    trace_format: str | None = None,
    report: str | os.PathLike[str] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: float = 10.0,
    overwrite: bool = False,
    **source_options: Any,
) -> Comparison:
    r"""Compare clusterers, or one over a range of a parameter, over one pass of a stream.

    Every clusterer labels the same samples, and every index is read for each of them, as
    `icvi.watch` would read it for that clusterer alone. Then the indices vote.

    Parameters
    ----------
    source : anything that `icvi.streams.open_source` opens, or a Source
        A file, a pattern, a pipe, a Redis stream, a table, an array, an iterable.
    clusterers : dict, list, str or clusterer
        The candidates: clusterers by name, or a list of them. Each is an object that `icvi.watch`
        takes, or a text with a name and parameters, of which some may be ranges:
        ``"minibatch-kmeans n_clusters=2..12"``, ``"smart rho_a=0.9 rho_b=0.5..0.8/0.05"``. An
        estimator of scikit-learn that cannot learn from a stream (``KMeans``, ``DBSCAN``, a
        pipeline) is fitted on all samples first; that needs an array, a table or files. At most
        100.
    indices : str or list, default "paper"
        As in `Tracker`. Indices that are sums over pairs of clusters, rH and rCIP, are read but do
        not vote: they grow with the number of clusters.
    truth : name or position, or sequence, optional
        Known classes: a column of the source, or one class per sample. Adds ARI and AMI, which do
        not vote.
    columns, exclude, time, bad_rows, follow, on_data_loss, format, sep, decimal, header, rows
        How to read the source; see `icvi.streams.open_source`.
    scale, scale_from
        How to scale features, as in `icvi.watch`.
    batch : int, default 1024
        Samples that a scikit-learn estimator learns at once, as in `icvi.watch`.
    seed : int, default 0
        Random seed of clusterers that are given as text.
    every : int, default 1
        Read the indices after every m-th sample.
    noise_label, window, half_life
        As in `Tracker`.
    bounds : pair or mapping, optional
        Bounds of the features, for Conn and for FuzzyART and FuzzySMART that are given as text;
        ``bounds={"temp": (0, 40)}`` gives those of some features for all FuzzyART and FuzzySMART.
    insight : bool, default True
        Whether to keep what the verdict on the best candidate needs.
    trace : path, optional
        File for all readings, with a column ``candidate``: ``.parquet``, ``.csv`` or ``.ndjson``;
        ``"-"`` is standard output, which needs `trace_format`.
    report : path, optional
        Page with the answer, the table and all curves, written at the end: ``.html``.
    checkpoint, checkpoint_every, overwrite
        As in `icvi.watch`: after a stop, repeat the call to resume; the trace is then the same,
        byte for byte.
    **source_options
        For a Redis stream: ``group``, ``consumer`` and ``patience``; for Kafka: ``group``,
        ``patience`` and ``wait``.

    Returns
    -------
    Comparison

    Examples
    --------
    How many clusters, and who finds them?

    >>> import icvi, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(4, size=800)
    >>> X = rng.normal(size=(800, 2)) + 9.0 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])[y]
    >>> c = icvi.compare(X, "minibatch-kmeans n_clusters=2..6", ["CH", "SIL", "DB", "rH"], truth=y)
    >>> c.best, c.votes[c.best], c.sure
    ('minibatch-kmeans n_clusters=4', 3, 'likely')
    >>> c.table["ARI"].round(2).tolist()[2]
    1.0

    Estimators that need all samples at once, and those that learn from a stream:

    >>> from sklearn.cluster import AgglomerativeClustering
    >>> both = {"ward": AgglomerativeClustering(4), "online": icvi.FuzzyART(rho=0.7)}
    >>> icvi.compare(X, both, ["SIL", "DB"]).best
    'ward'
    """
    given = dict(locals())
    given |= given.pop("source_options")
    with comparing(**given) as run:
        with progress("icvi: comparing", run.source.length) as advance:
            for step in run.steps():
                advance(len(step.labels))
        return run.result()


def comparing(source: Any, clusterers: Any, indices: Any = "paper", **given: Any) -> Comparing:
    """A comparison that is ready to run; the options are those of `compare`."""
    known = inspect.signature(compare).parameters.values()
    o = {each.name: each.default for each in known if each.kind is each.KEYWORD_ONLY}
    source_options = {name: value for name, value in given.items() if name not in o}
    refuse_unknown(compare, source_options, SERVERS)
    o |= {name: value for name, value in given.items() if name in o}
    overwrite, insight = as_flag(o["overwrite"], "overwrite"), as_flag(o["insight"], "insight")
    if not as_number(o["checkpoint_every"], "checkpoint_every") >= 0.0:
        raise ValueError(
            f"expected checkpoint_every as seconds from 0 on, got {short(o['checkpoint_every'])}"
        )
    for path in (o["trace"], o["report"], o["checkpoint"]):
        if path is not None:
            os.fspath(path)  # raises unless it is a path
    every, batch, bounds = as_every(o["every"]), o["batch"], o["bounds"]
    scaling = FeatureScaling(o["scale"], o["scale_from"])
    classes = classes_beside(o["truth"], o["window"], o["half_life"], o["bad_rows"])
    chosen = select(indices)
    if o["truth"] is not None:
        refuse_names([index.name for index in chosen])
    by_name = isinstance(bounds, Mapping)
    candidates = candidates_of(clusterers, seed=o["seed"], bounds=None if by_name else bounds)
    reading = {name: o[name] for name in ("columns", "exclude", "time", "bad_rows", "format")}
    reading |= {name: o[name] for name in ("sep", "decimal", "header", "rows")}
    prototypes = any(index.on == "prototypes" for index in chosen)
    tracking = {name: o[name] for name in ("window", "half_life")}
    tracking["insight"] = "verdict" if insight else False  # no alarms: the verdict is at the end
    tracking["bounds"] = bounds if prototypes and not by_name else None
    takes = prototypes or any(
        hasattr(each.clusterer, "bounds") and (by_name or each.clusterer.bounds is bounds)
        for each in candidates
    )
    if bounds is not None and not takes:
        raise ValueError(
            "bounds (--bounds) are for FuzzyART and FuzzySMART, and for Conn; leave them out"
        )
    everything = _Everything(source, reading, o, batch)
    labellers = {
        each.name: _labeller(each, batch, everything, bounds if by_name else None)
        for each in candidates
    }
    timed = any(isinstance(o[s], (timedelta, np.timedelta64)) for s in ("window", "half_life"))
    lanes: dict[str, Lane] = {}
    for name, labeller in labellers.items():
        noise = labeller.unassigned if o["noise_label"] is None else o["noise_label"]
        lanes[name] = Lane(
            labeller,
            Tracker(chosen, noise_label=noise, **tracking),
            every=every,
            timed=timed,
            agreement=None if o["truth"] is None else Agreement(every),
            classes=classes,
        )
    together = AllLabellers(labellers)
    learnt = batch if (prototypes and bounds is None) or scaling.needs_batch else 0
    first = max(learnt, together.chunk or 0, together.first or 0) or None
    standings = Standings([each.name for each in candidates], chosen, o["truth"] is not None)
    title = source_name(source)
    with contextlib.ExitStack() as opened:  # closed again if anything below is refused
        if not isinstance(source, Source):
            truth = o["truth"] if classes is None else None
            more = {"follow": o["follow"], "on_data_loss": o["on_data_loss"], "truth": truth}
            source = open_source(source, **reading, **more, **source_options)
        opened.callback(source.close)
        refuse_own_source(source, o["trace"], o["report"])
        saved = None
        if o["checkpoint"] is not None:
            settings = {name: o[name] for name in _SETTINGS}
            settings |= {"trace": o["trace"] is not None, "report": o["report"] is not None}
            settings["truth"] = o["truth"] if classes is None else classes.setting
            settings["scale_from"] = o["scale_from"] and source_name(o["scale_from"])
            settings["candidates"] = [
                f"{each.name}: {clusterer_text(each.clusterer)}" for each in candidates
            ]
            saved = Checkpoint(
                o["checkpoint"], settings_of(None, chosen, settings), pickles=together.pickles
            )
            opened.callback(saved.close)
            if overwrite:
                saved.clear()
        outputs: dict[str, Output] = {}
        if o["trace"] is not None:
            outputs["trace"] = open_trace(
                o["trace"],
                names=standings.names,
                time=None if o["time"] is None else True,
                format=o["trace_format"],
                journal=None if saved is None else saved.folder,
                overwrite=overwrite,
                compared=True,
            )
        outputs["standings"] = standings
        page = None
        if o["report"] is not None:
            page = outputs["report"] = ComparisonPage(o["report"], overwrite=overwrite)
        loop = ComparingLoop(
            source,
            lanes,
            outputs,
            checkpoint=saved,
            every=every,
            first=learnt,
            beginning=Beginning(first),
            interval=o["checkpoint_every"],
            scaling=scaling,
        )
        opened.pop_all()
    return Comparing(loop, candidates, standings, title, page)


#: What must be the same when a comparison resumes, besides candidates, indices and outputs.
_SETTINGS = (
    *("columns", "exclude", "time", "scale", "batch", "every", "noise_label"),
    *("window", "half_life", "bounds", "insight"),
)


def _labeller(candidate: Candidate, batch: int, everything: _Everything, bounds: Any) -> Labeller:
    clusterer = candidate.clusterer
    if clusterer is None:
        raise TypeError("expected clusterers to compare, got None among them")
    try:
        if needs_all(clusterer):
            everything.check(type(clusterer).__name__)
            return WholeLabels(clusterer, everything.samples)
        labeller = labeller_for(clusterer, batch=batch)
        if bounds is not None and hasattr(clusterer, "bounds"):
            labeller.take_bounds(bounds)
    except (TypeError, ValueError) as error:
        error.add_note(f"in the candidate {candidate.name}")
        raise
    return labeller


class _Everything:
    """All samples of a source, scaled as the stream is; read when they are asked for, once."""

    def __init__(
        self, source: Any, reading: Mapping[str, Any], options: Mapping[str, Any], batch: int
    ) -> None:
        self._source, self._reading, self._batch = source, reading, batch
        self._scale = options["scale"], options["scale_from"]
        self._follow = options["follow"]
        # So that the columns are chosen as for the stream.
        self._truth = options["truth"] if isinstance(options["truth"], (str, int)) else None
        self._samples: NDArray[np.float64] | None = None

    def check(self, who: str) -> None:
        """Refuse a source that cannot be read a second time."""
        source = self._source
        paths = source if isinstance(source, (list, tuple)) else [source]
        files = all(isinstance(p, (str, os.PathLike)) and not _is_stream(p) for p in paths)
        again = isinstance(source, (np.ndarray, Sequence)) or is_table(source)
        if self._follow or not (files or (again and not isinstance(source, str))):
            raise ValueError(
                f"{who} has no partial_fit, so it needs all samples before it labels the first; "
                "give an array, a table or files that are complete, or a clusterer that learns "
                f"from a stream: {listed(['MiniBatchKMeans', 'Birch', 'FuzzyART', 'FuzzySMART'])}"
            )

    def samples(self) -> NDArray[np.float64]:
        """All samples."""
        if self._samples is None:
            scaling = FeatureScaling(*self._scale)
            with open_source(self._source, **self._reading, truth=self._truth) as source:
                parts = [each.X for each in source]
                if not parts:
                    raise ValueError(f"{source_name(self._source)} has no samples to compare on")
                X = np.concatenate(parts)
                scaling.scaled(X[: self._batch], source.columns)  # what the stream learns from
                self._samples = scaling.scaled(X, source.columns)
        return self._samples


def _is_stream(path: str | os.PathLike[str]) -> bool:
    text = os.fspath(path)
    return text == "-" or text.startswith(("redis://", "rediss://", "kafka://"))
