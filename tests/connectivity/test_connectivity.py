"""Conn_Index after every event, against the definition and the authors' toolbox."""

from __future__ import annotations

import copy
import itertools
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import icvi
import naive_connectivity as naive
from icvi.batch import conn_index

SHARED = Path(__file__).parents[3] / "shared"
FORMS = list(itertools.product(["paper", "toolbox"], ["CONN", "CADJ"]))
ONE = st.just(1.0)
forms = pytest.mark.parametrize(("convention", "border"), FORMS)


def random_events(n: int, P: int, k: int, seed: int, *, own: float = 0.5) -> list[naive.Event]:
    """Events that could be: winners in random order, runners-up among those that have won."""
    rng = np.random.default_rng(seed)
    owner = rng.integers(0, k, P)
    seen: list[int] = []
    events = []
    for p in rng.integers(0, P, n).tolist():
        others = [j for j in seen if j != p]
        near = [j for j in others if owner[j] == owner[p]]
        pool = near if near and rng.random() < own else others
        q = int(rng.choice(pool)) if pool else -1
        events.append((p, q, int(owner[p]), 1.0))
        if p not in seen:
            seen.append(p)
    return events


@st.composite
def event_streams(draw: st.DrawFn, *, weights: Any = ONE) -> list[naive.Event]:
    n, P, k = draw(st.integers(1, 40)), draw(st.integers(1, 12)), draw(st.integers(1, 5))
    own, seed = draw(st.sampled_from([0.0, 0.5, 0.9])), draw(st.integers(0, 2**32 - 1))
    events = random_events(n, P, k, seed, own=own)
    return [(p, q, c, draw(weights)) for p, q, c, _ in events]


def columns(events: list[naive.Event]) -> tuple[np.ndarray, list[Any], list[float]]:
    """What update_many takes."""
    winners = np.array([event[:2] for event in events])
    return winners, [event[2] for event in events], [event[3] for event in events]


def fed(events: list[naive.Event], convention: Any = "paper", border: Any = "CONN"):
    c = icvi.Connectivity(convention, border)
    c.update_many(*columns(events))
    return c


def state_of(c: icvi.Connectivity) -> dict[str, Any]:
    """Everything that can be seen from outside, in comparable form."""
    arrays = ["intra_per_cluster", "inter_matrix", "counts", "prototype_counts", "cadj", "conn"]
    plain = "intra inter value labels owners n_prototypes n_clusters n_events convention border"
    state = {name: getattr(c, name).tolist() for name in arrays}
    state |= {name: repr(getattr(c, name)) for name in plain.split()}
    return state | {"edges": [a.tolist() for a in c.edges()], "why": c.why(), "repr": repr(c)}


def assert_is(c: icvi.Connectivity, expected: naive.Naive, rtol: float = 1e-12) -> None:
    assert c.labels == expected.labels
    for name in ("value", "intra", "inter", "intra_per_cluster", "inter_matrix", "counts", "cadj"):
        np.testing.assert_allclose(
            getattr(c, name), getattr(expected, name), rtol=rtol, atol=1e-14, err_msg=name
        )


# -- the definition ----------------------------------------------------------------------------


@forms
@given(events=event_streams())
def test_every_event_gives_the_definition(convention, border, events):
    c = icvi.Connectivity(convention, border)
    for t, event in enumerate(events, start=1):
        c.update(*event)
        assert_is(c, naive.conn_index(events[:t], convention, border))


@forms
@given(events=event_streams(weights=st.sampled_from([0.0, 0.1, 0.3, 1.0, 7.0, 1e-9, 1e6])))
def test_weighted_events_give_the_definition(convention, border, events):
    possible, c = [], icvi.Connectivity(convention, border)
    for event in events:
        try:
            c.update(*event)
        except ValueError:  # its runner-up had weight 0 so far
            continue
        possible.append(event)
        assert_is(c, naive.conn_index(possible, convention, border), rtol=1e-9)
        assert 0.0 <= c.value <= 1.0 if c.n_clusters else c.why() == "empty"


@forms
@given(events=event_streams())
def test_weight_two_is_the_event_twice(convention, border, events):
    twice = fed([event for event in events for _ in range(2)], convention, border)
    double = fed([(*event[:3], 2.0) for event in events], convention, border)
    assert state_of(double) == state_of(twice)


@forms
def test_the_order_of_events_does_not_matter_once_all_prototypes_are_there(convention, border):
    events = random_events(400, 12, 4, seed=3)
    start = next(t for t in range(400) if len({p for p, *_ in events[:t]}) == 12)
    rest = events[start:]
    np.random.default_rng(0).shuffle(rest)
    one, other = fed(events, convention, border), fed(events[:start] + rest, convention, border)
    assert state_of(one) == state_of(other)


@forms
def test_border_rules_and_conventions_differ(convention, border):
    values = {form: fed(random_events(200, 12, 4, seed=1), *form).value for form in FORMS}
    same = [form for form in FORMS if values[form] == values[convention, border]]
    assert same == [(convention, border)]


# -- the paper's rules for the beginning -------------------------------------------------------


def test_nothing_yet_is_nan_and_says_why():
    c = icvi.Connectivity()
    assert math.isnan(c.value)
    assert math.isnan(c.intra)
    assert math.isnan(c.inter)
    assert c.why() == "empty"
    assert c.owners == []
    assert c.labels == []
    assert c.cadj.shape == (0, 0)
    assert c.inter_matrix.shape == (0, 0)
    assert len(c.edges().cadj) == 0
    assert c.n_events == 0.0


def test_the_first_sample_gives_0():
    c = icvi.Connectivity()
    c.update(0, None, "a")
    assert (c.value, c.intra, c.inter, c.why()) == (0.0, 1.0, 1.0, None)
    assert c.inter_matrix.tolist() == [[0.0]]


def test_samples_of_a_lonely_prototype_wait_for_the_second():
    c = icvi.Connectivity()
    for _ in range(4):
        c.update(0, None, "a")
    assert c.cadj.tolist() == [[0.0]]
    c.update(1, 0, "b")
    assert c.cadj.tolist() == [[0.0, 4.0], [1.0, 0.0]]
    assert c.conn.tolist() == [[0.0, 5.0], [5.0, 0.0]]
    c.update(0, 1, "a")
    assert c.cadj.tolist() == [[0.0, 5.0], [1.0, 0.0]]


def test_a_cluster_with_one_prototype_is_compact_in_the_paper_only():
    events = [(0, -1, "a", 1.0), (1, 0, "b", 1.0), (2, 1, "b", 1.0)]
    assert fed(events).intra_per_cluster.tolist() == [1.0, 0.5]
    assert fed(events, "toolbox").intra_per_cluster.tolist() == [0.0, 0.5]


def test_a_single_cluster_has_index_0():
    events = [(0, -1, "a", 1.0), (1, 0, "a", 1.0), (0, 1, "a", 1.0)]
    paper, toolbox = fed(events), fed(events, "toolbox")
    assert (paper.value, paper.intra, paper.inter) == (0.0, 1.0, 1.0)
    assert (toolbox.value, toolbox.intra, toolbox.inter) == (0.0, 1.0, 0.0)


def test_separate_clusters_are_perfect_but_for_the_first_contact():
    events = [(0, -1, "a", 1.0), (1, 0, "a", 1.0), (2, 1, "b", 1.0)]
    events += [(3, 2, "b", 1.0), (2, 3, "b", 1e6), (1, 0, "a", 1e6)]
    assert fed(events).value > 0.99999


@given(events=event_streams())
def test_the_paper_lies_between_0_and_1_and_is_made_of_its_parts(events):
    for border in ("CONN", "CADJ"):
        c = fed(events, "paper", border)
        assert 0.0 <= c.value <= 1.0
        assert c.value == pytest.approx(c.intra * (1.0 - c.inter), abs=1e-15)
        assert c.inter_matrix.max() <= 1.0
        assert c.intra == pytest.approx(c.intra_per_cluster.mean())
        if c.n_clusters > 1:
            assert c.inter == pytest.approx(c.inter_matrix.max(axis=1).mean())


# -- the authors' toolbox ----------------------------------------------------------------------


def assert_follows_the_toolbox(path: Path) -> None:
    rows = np.genfromtxt(path, delimiter=",", names=True)
    winners = np.column_stack([rows["p1"], rows["p2"]]).astype(int) - 1
    labels = rows["label"].astype(int)
    c = icvi.Connectivity("toolbox")
    for t, ((p, q), label) in enumerate(zip(winners.tolist(), labels.tolist(), strict=True)):
        c.update(p, q, label)
        ours = c.value, c.intra, c.inter
        theirs = rows["CONN"][t], rows["intra_conn"][t], rows["inter_conn"][t]
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12, err_msg=f"row {t}")
    many = icvi.Connectivity("toolbox").update_many(winners, labels)
    np.testing.assert_allclose(many, rows["CONN"], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", ["syn_d3_k6_n900", "edge_degenerate"])
def test_every_row_of_the_toolbox_is_reproduced(golden, name):
    assert_follows_the_toolbox(golden / "streams" / f"{name}.trace.csv")


@pytest.mark.parametrize("name", ["d4_correct", "d4_over", "r15_correct", "r15_under"])
def test_every_row_of_the_toolbox_is_reproduced_on_the_data_of_the_paper(name):
    path = SHARED / "golden" / "paper" / f"{name}.csv"
    if not path.exists():
        pytest.skip("the paper's data sets are other people's and not part of this project")
    assert_follows_the_toolbox(path)


# -- chunks, copies, growth --------------------------------------------------------------------


@forms
@given(events=event_streams(weights=st.sampled_from([1.0, 0.25, 0.1])), cut=st.integers(0, 40))
def test_a_chunk_is_the_same_as_one_by_one(convention, border, events, cut):
    one, values = icvi.Connectivity(convention, border), []
    for event in events:
        one.update(*event)
        values.append(one.value)
    many = icvi.Connectivity(convention, border)
    parts = [part for part in (events[:cut], events[cut:]) if part]
    assert [v for part in parts for v in many.update_many(*columns(part))] == values
    assert state_of(many) == state_of(one)


def test_a_chunk_of_events_without_weight_reads_but_counts_nothing():
    c = icvi.Connectivity()
    assert np.isnan(c.update_many([[5, -1]], ["x"], [0.0])).all()
    assert state_of(c) == state_of(icvi.Connectivity())
    c.update(0, None, "a")
    before = state_of(c)
    assert c.update_many([[7, 0], [0, -1]], ["new", "a"], [0.0, 0.0]).tolist() == [0.0, 0.0]
    c.update(3, 0, "other", 0.0)
    assert state_of(c) == before


@pytest.mark.parametrize("convention", ["paper", "toolbox"])
def test_many_prototypes_and_clusters_outgrow_every_array(convention):
    rng = np.random.default_rng(5)
    P, k, n = 3000, 300, 20_000
    winners = np.concatenate([np.arange(P), rng.integers(0, P, n)])
    runners_up = np.concatenate([np.arange(P) - 1, (winners[P:] + rng.integers(1, P, n)) % P])
    # Half of the runners-up lie close by: clusters are runs of ten prototypes.
    near = P + np.flatnonzero(rng.random(n) < 0.5)
    runners_up[near] = winners[near] // 10 * 10 + (winners[near] + 3) % 10
    events = np.column_stack([winners, runners_up])
    labels = winners // 10
    c = icvi.Connectivity(convention)
    values = c.update_many(events, labels)
    assert (c.n_prototypes, c.n_clusters, c.n_events) == (P, k, P + n)
    assert c.labels == list(range(k))

    events[0, 1] = 1  # what the lonely first prototype gets
    for t in (P, P + 1000, P + n):
        expected = conn_index(events[:t], labels[:t], convention=convention)
        assert values[t - 1] == pytest.approx(expected, rel=1e-12)
    winner, runner_up, count = c.edges()
    pairs, times = np.unique(events, axis=0, return_counts=True)
    np.testing.assert_array_equal(np.column_stack([winner, runner_up]), pairs)
    np.testing.assert_array_equal(count, times)
    np.testing.assert_array_equal(c.prototype_counts, np.bincount(winners))


def test_single_events_outgrow_every_array_too():
    events = random_events(1200, 150, 90, seed=8)
    one = icvi.Connectivity()
    for event in events:
        one.update(*event)
    assert_is(one, naive.conn_index(events))


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c))])
def test_a_copy_goes_its_own_way(duplicate):
    events = random_events(300, 40, 8, seed=2)
    c = fed(events[:200])
    twin, before = duplicate(c), state_of(c)
    assert state_of(twin) == before
    values = twin.update_many(*columns(events[200:]))
    assert state_of(c) == before
    assert c.update_many(*columns(events[200:])).tolist() == values.tolist()
    assert state_of(c) == state_of(twin)


def test_what_is_read_is_a_copy():
    c = fed(random_events(100, 10, 3, seed=4))
    before = state_of(c)
    for name in ("counts", "prototype_counts", "intra_per_cluster", "inter_matrix", "cadj"):
        getattr(c, name)[...] = -1.0
    for array in c.edges():
        array[...] = 0
    c.labels.clear()
    c.owners.clear()
    assert state_of(c) == before


def test_prototype_numbers_may_have_gaps():
    c = icvi.Connectivity()
    c.update(900, None, "a")
    c.update(3, 900, "b")
    assert c.n_prototypes == 2
    assert len(c.owners) == 901
    assert (c.owners[3], c.owners[900], c.owners[4]) == ("b", "a", None)
    assert c.prototype_counts[[3, 4, 900]].tolist() == [1.0, 0.0, 1.0]
    assert c.edges().winner.tolist() == [3, 900]


def test_the_highest_number_takes_no_time():
    c = icvi.Connectivity()
    c.update(10_000_000, None, "a")
    assert c.update_many([[0, 10_000_000]], ["b"]).tolist() == [0.0]
    assert c.edges().winner.tolist() == [0, 10_000_000]


def test_numbers_and_labels_may_be_numpy_scalars():
    c = icvi.Connectivity()
    c.update(np.int32(0), None, np.str_("a"))
    c.update(np.uint8(1), np.int64(0), np.int64(7), np.float32(2.0))
    assert c.labels == ["a", 7]
    assert type(c.labels[1]) is int
    assert c.prototype_counts.tolist() == [1.0, 2.0]
    c.update(0, 1, "a", 2)
    assert c.n_events == 5.0


def test_arrays_of_any_kind_are_winners():
    events = random_events(50, 6, 3, seed=6)
    winners, labels, _ = columns(events)
    expected = icvi.Connectivity().update_many(winners, labels).tolist()
    frozen = winners.copy()
    frozen.flags.writeable = False
    wide = np.repeat(winners, 2, axis=1)[:, ::2]
    for same in (winners.tolist(), winners.astype(np.int16), frozen, wide, winners.copy("F")):
        assert icvi.Connectivity().update_many(same, labels).tolist() == expected
    assert icvi.Connectivity().update_many(winners, np.array(labels)).tolist() == expected


def test_it_says_what_it_is():
    assert repr(fed(random_events(60, 5, 2, seed=0), "toolbox", "CADJ")) == (
        "Connectivity(n_events=60, n_clusters=2, n_prototypes=5, convention='toolbox', "
        "border='CADJ')"
    )


# -- taking back -------------------------------------------------------------------------------


@forms
@given(events=event_streams(weights=st.sampled_from([0.1, 0.2, 0.3, 0.7])), data=st.data())
def test_edges_can_be_taken_back_without_a_trace(convention, border, events, data):
    """Residues of rounding never keep a border alive."""
    c = fed(events, convention, border)
    with_runner_up = [event for event in events if event[1] >= 0]
    extra = (
        data.draw(st.lists(st.sampled_from(with_runner_up), max_size=12)) if with_runner_up else []
    )
    before = c.inter_matrix, c.cadj, c.intra_per_cluster
    for event in extra:
        c.update(*event)
    for event in extra[::-1]:
        c.remove(*event)
    for ours, theirs in zip((c.inter_matrix, c.cadj, c.intra_per_cluster), before, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(ours == 0.0, theirs == 0.0)


# -- what is refused ---------------------------------------------------------------------------

#: A stream with prototypes 0 and 2 of "a" and 1 of "b".
BEGINNING = [(0, -1, "a", 1.0), (1, 0, "b", 1.0), (2, 1, "a", 1.0)]

REFUSED = {
    "negative winner": ((-1, 0, "a"), ValueError, "expected a winner of at least 0, got -1"),
    "negative runner-up": ((0, -2, "a"), ValueError, "expected a runner-up of at least 0, got -2"),
    "winner is runner-up": ((1, 1, "b"), ValueError, "prototype 1 is given as winner and as"),
    "no runner-up": ((0, -1, "a"), ValueError, "expected a runner-up for prototype 0, got none"),
    "new winner, no runner-up": ((5, -1, "a"), ValueError, "expected a runner-up for prototype 5"),
    "unknown runner-up": ((0, 9, "a"), ValueError, "prototype 9 is given as runner-up to 0, but"),
    "far runner-up": ((0, 9_999_999, "a"), ValueError, "has not won yet"),
    "other owner": ((1, 0, "a"), ValueError, "prototype 1 belongs to cluster 'b', got label 'a'"),
    "other owner, new label": ((1, 0, "z"), ValueError, "belongs to cluster 'b', got label 'z'"),
    "large winner": ((10_000_001, 0, "a"), ValueError, "numbered up to 10000000, got 10000001"),
    "large runner-up": ((0, 2**62, "a"), ValueError, f"up to 10000000, got {2**62}"),
    "nan label": ((0, 1, math.nan), ValueError, "nan"),
    "unhashable label": ((0, 1, ["a"]), TypeError, "hashable label"),
    "negative weight": ((0, 1, "a", -1.0), ValueError, "finite and not negative, got -1"),
    "nan weight": ((0, 1, "a", math.nan), ValueError, "finite and not negative, got nan"),
    "infinite weight": ((0, 1, "a", math.inf), ValueError, "finite and not negative, got inf"),
}

REFUSED_ALONE = {
    "truth value as winner": ((True, 0, "b"), TypeError, "expected winner to be a prototype's"),
    "numpy truth value": ((np.True_, 0, "b"), TypeError, "expected winner to be a prototype's"),
    "truth value as runner-up": ((1, False, "b"), TypeError, "expected runner_up to be a"),
    "float winner": ((1.0, 0, "b"), TypeError, "number, got float: 1.0"),
    "str winner": (("1", 0, "b"), TypeError, "number, got str: '1'"),
    "None as winner": ((None, 0, "b"), TypeError, "number, got NoneType"),
    "float runner-up": ((1, 0.5, "b"), TypeError, "expected runner_up to be a prototype's"),
    "huge winner": ((2**80, 0, "b"), ValueError, "numbered up to 10000000"),
    "str weight": ((1, 0, "b", "heavy"), TypeError, "real number"),
}


@pytest.mark.parametrize("name", [*REFUSED, *REFUSED_ALONE])
@pytest.mark.parametrize("weight", [None, 0.0])
def test_a_refused_event_changes_nothing(name, weight):
    event, error, message = (REFUSED | REFUSED_ALONE)[name]
    if weight is not None:  # without weight an event is checked all the same
        event = (*event[:3], weight) if len(event) == 3 else event
    c = fed(BEGINNING)
    before = state_of(c)
    with pytest.raises(error, match=message):
        c.update(*event)
    assert state_of(c) == before
    c.update(2, 0, "a")


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("weight", [None, 0.0])
def test_a_refused_chunk_changes_nothing(name, weight):
    event, error, message = REFUSED[name]
    if weight is not None:
        event = (*event[:3], weight) if len(event) == 3 else event
    # A good event, and a new cluster with a new prototype, come before.
    chunk = [(0, 1, "a", 1.0), (3, 0, "new", 1.0), (*event, 1.0)[:4], (3, 1, "new", 1.0)]
    c = fed(BEGINNING)
    before = state_of(c)
    with pytest.raises(error, match=message):
        c.update_many(*columns(chunk))
    assert state_of(c) == before
    c.update_many(*columns([chunk[0], chunk[1], chunk[3]]))
    assert c.labels == ["a", "b", "new"]


def test_a_refused_chunk_says_which_event_it_was():
    c = fed(BEGINNING)
    with pytest.raises(ValueError, match=r"^event 1: prototype 4 belongs to cluster 'x', got.*'y'"):
        c.update_many([[4, 0], [4, 0]], ["x", "y"])
    with pytest.raises(ValueError, match=r"^event 0: prototype 4 is given as runner-up to 0"):
        c.update_many([[0, 4], [4, 0]], ["a", "x"])
    with pytest.raises(ValueError, match=r"^event 1: expected a winner"):
        c.update_many([[0, 1], [-1, 0]], ["a", "b"])
    with pytest.raises(
        ValueError, match=r"^event 1: expected a runner-up for prototype 1, got none"
    ):
        icvi.Connectivity().update_many([[0, -1], [1, -1]], ["a", "a"])


def test_a_prototype_of_weight_0_has_not_won():
    c = icvi.Connectivity()
    with pytest.raises(ValueError, match="prototype 1 is given as runner-up to 0"):
        c.update_many([[0, -1], [1, 0], [0, 1]], ["a", "b", "a"], [1.0, 0.0, 1.0])
    assert c.n_clusters == 0
    with pytest.raises(ValueError, match=r"event 1: prototype 0 belongs to cluster 'a', got.*'b'"):
        c.update_many([[0, -1], [0, -1]], ["a", "b"], [1.0, 0.0])
    assert c.labels == []


@pytest.mark.parametrize(
    ("winners", "labels", "weights", "error", "message"),
    [
        ([], [], None, ValueError, "at least one event"),
        (np.empty((0, 2), int), [], None, ValueError, "at least one event"),
        ([0, 1], ["a", "b"], None, ValueError, r"\(n, 2\) array .* got shape \(2,\)"),
        ([[0, 1, 2]], ["a"], None, ValueError, r"got shape \(1, 3\)"),
        ([[0, 1], [2]], ["a", "b"], None, ValueError, r"\(n, 2\) array"),
        (
            [[0.0, 1.0]],
            ["a"],
            None,
            TypeError,
            "expected winners to hold integers, got dtype float",
        ),
        ([[True, False]], ["a"], None, TypeError, "got dtype bool"),
        ([[0, None]], ["a"], None, TypeError, "write -1 where there is no runner-up"),
        (np.ma.masked_equal([[0, 5]], 5), ["a"], None, ValueError, "without masked entries"),
        (np.array([[2**63, 0]], np.uint64), ["b"], None, ValueError, "numbered up to 10000000"),
        ([[0, 1]], ["a", "b"], None, ValueError, "label"),
        ([[0, 1]], "a", None, TypeError, "sequence of 1 labels"),
        ([[0, 1]], ["a"], [1.0, 2.0], ValueError, "expected 1 weights"),
        ([[0, 1]], ["a"], [[1.0]], ValueError, "expected 1 weights"),
    ],
)
def test_badly_shaped_chunks_are_refused(winners, labels, weights, error, message):
    c = fed(BEGINNING)
    before = state_of(c)
    with pytest.raises(error, match=message):
        c.update_many(winners, labels, weights)
    assert state_of(c) == before


@pytest.mark.parametrize("make", [icvi.Connectivity, lambda *a: conn_index([[0, -1]], [0], **a[0])])
@pytest.mark.parametrize(
    ("form", "message"),
    [({"convention": "papers"}, "expected convention"), ({"border": "conn"}, "expected border")],
)
def test_unknown_forms_are_refused(make, form, message):
    with pytest.raises(ValueError, match=message):
        make(**form) if make is icvi.Connectivity else make(form)


# -- all events at once ------------------------------------------------------------------------


@forms
@given(events=event_streams())
def test_the_batch_form_is_the_same_once_the_first_samples_have_their_runner_up(
    convention, border, events
):
    c = fed(events, convention, border)
    winners, labels, _ = columns(events)
    second = [p for p in winners[:, 0] if p != winners[0, 0]]
    winners[winners[:, 1] < 0, 1] = second[0] if second else -1
    got = conn_index(winners, labels, convention=convention, border=border)
    assert got == pytest.approx(c.value, rel=1e-12, abs=1e-14)
    order = np.random.default_rng(0).permutation(len(winners))
    shuffled = conn_index(
        winners[order], [labels[t] for t in order], convention=convention, border=border
    )
    assert shuffled == pytest.approx(got, rel=1e-12, abs=1e-14)


@forms
@given(events=event_streams(), silent=st.integers(1, 4), seed=st.integers(0, 1000))
def test_prototypes_that_never_win_count_in_the_batch_form(
    convention, border, events, silent, seed
):
    rng = np.random.default_rng(seed)
    winners, labels, _ = columns(events)
    P = int(winners.max()) + 1
    owners = {int(p): label for (p, _), label in zip(winners, labels, strict=True)}
    clusters = [*labels, "without samples", "without any"]
    owners |= {P + i: clusters[rng.integers(len(clusters))] for i in range(silent)}
    lonely = winners[:, 1] < 0
    winners[lonely, 1] = P
    swap = rng.random(len(winners)) < 0.3
    winners[swap, 1] = P + rng.integers(0, silent, swap.sum())
    given_owners = [owners.get(i) for i in range(P + silent)]
    expected = naive.conn_index(
        [(p, q, c, 1.0) for (p, q), c in zip(winners.tolist(), labels, strict=True)],
        convention,
        border,
        owners,
    )
    got = conn_index(winners, labels, owners=given_owners, convention=convention, border=border)
    assert got == pytest.approx(expected.value, rel=1e-12, abs=1e-14)


def test_the_batch_form_needs_no_matrix_of_prototypes():
    far = 9_999_999
    assert conn_index([[0, far], [far, 0], [5, 0], [0, 5]], ["a", "b", "a", "a"]) > 0.0


@pytest.mark.parametrize("convention", ["paper", "toolbox"])
def test_one_prototype_alone_has_index_0(convention):
    assert conn_index([[3, -1], [3, -1]], ["a", "a"], convention=convention) == 0.0


@pytest.mark.parametrize(
    ("winners", "labels", "owners", "error", "message"),
    [
        ([[0, 1], [1, -1]], ["a", "b"], None, ValueError, "event 1: expected a runner-up"),
        ([[0, 1]], ["a"], None, ValueError, "event 0: .*runner-up 1 .* owners"),
        ([[0, 1], [0, 1]], ["a", "b"], ["a", "b"], ValueError, "event 1: prototype 0 belongs to"),
        (
            [[0, 1], [1, 0]],
            ["a", "b"],
            ["b", "b"],
            ValueError,
            "event 0: prototype 0 belongs",
        ),
        ([[0, -1]], ["a"], ["a", "a"], ValueError, "event 0: expected a runner-up"),
        ([[0, 1]], ["a"], ["a", math.nan], ValueError, "nan"),
        ([[0, 1]], ["a"], ["a", []], TypeError, "hashable"),
        ([[0, 1]], ["a"], 7, TypeError, "owners"),
        ([[0, 1]], ["a"], "ab", TypeError, "owners"),
        ([[0, 0]], ["a"], None, ValueError, "as winner and as runner-up"),
        ([[0, 1]], ["a", "b"], None, ValueError, "label"),
        ([], [], None, ValueError, "at least one event"),
    ],
)
def test_the_batch_form_refuses_what_makes_no_sense(winners, labels, owners, error, message):
    with pytest.raises(error, match=message):
        conn_index(winners, labels, owners=owners)
