"""CONNvis draws every connection once, wide by strength, dark by rank, red across clusters."""

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex

import icvi
from icvi.plots.connvis import plot_connvis


@pytest.fixture
def connectivity():
    c = icvi.Connectivity()
    c.update(0, None, "a")
    events = [(1, 0, "a"), (2, 1, "b"), (3, 2, "b"), (2, 3, "b"), (3, 2, "b"), (0, 3, "a")]
    for winner, runner_up, label in events:
        c.update(winner, runner_up, label)
    return c


POSITIONS = np.array([[0.0, 0.0], [1.0, 0.0], [4.0, 0.0], [4.0, 1.0]])


def lines(figure):
    """(ends, width, colour) of every line, by its prototypes."""
    found = {}
    for part in figure.axes[0].collections:
        if isinstance(part, LineCollection):
            for ends, width, colour in zip(
                part.get_segments(), part.get_linewidths(), part.get_colors(), strict=True
            ):
                numbers = [int(np.argmin(np.abs(POSITIONS - end).sum(axis=1))) for end in ends]
                found[tuple(sorted(numbers))] = (float(width), to_hex(colour))
    return found


def test_every_connection_is_one_line(connectivity):
    found = lines(plot_connvis(POSITIONS, connectivity))
    conn = connectivity.conn
    assert set(found) == {(i, j) for i in range(4) for j in range(i + 1, 4) if conn[i, j] > 0.0}
    assert len(found) == 4


def test_wider_lines_are_stronger_connections(connectivity):
    found = lines(plot_connvis(POSITIONS, connectivity))
    conn = connectivity.conn
    strength = {pair: conn[pair] for pair in found}
    by_width = sorted(found, key=lambda pair: found[pair][0])
    assert [strength[pair] for pair in by_width] == sorted(strength.values())
    assert found[(2, 3)][0] == max(width for width, _ in found.values())


def test_lines_between_clusters_are_red_and_the_others_grey(connectivity):
    found = lines(plot_connvis(POSITIONS, connectivity))
    for pair, (_, colour) in found.items():
        red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
        across = {pair} <= {(1, 2), (0, 3)}
        assert (red > green and red > blue) == across
        assert (red == green == blue) == (not across)


def test_lower_ranks_are_lighter(connectivity):
    c = icvi.Connectivity()
    c.update(0, None, "a")
    for other, times in ((1, 5), (2, 3), (3, 1)):
        c.update(other, 0, "a")
        for _ in range(times):
            c.update(0, other, "a")
    for pair in ((2, 1), (3, 1), (3, 2)):  # so that 0 is nobody's only neighbour
        for _ in range(9):
            c.update(*pair, "a")
    found = lines(plot_connvis(POSITIONS, c))
    shades = {pair: int(colour[1:3], 16) for pair, (_, colour) in found.items()}
    assert shades[(1, 2)] < shades[(0, 3)]


def test_prototypes_and_samples_are_drawn_and_clusters_named(connectivity):
    figure = plot_connvis(POSITIONS, connectivity, X=np.random.default_rng(0).random((50, 2)))
    dots = [c for c in figure.axes[0].collections if isinstance(c, PathCollection)]
    assert sorted(len(c.get_offsets()) for c in dots) == [2, 2, 50]
    assert {text.get_text() for text in figure.axes[0].texts} == {"a", "b"}
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "CONN = 3" in names
    assert "across, rank 1" in names


@pytest.mark.parametrize("d", [1, 3, 5])
def test_any_number_of_features_fits_on_the_page(connectivity, d):
    rng = np.random.default_rng(0)
    figure = plot_connvis(rng.random((4, d)), connectivity, X=rng.random((9, d)))
    name = "principal axis 1" if d > 2 else "x1"
    assert figure.axes[0].get_xlabel() == name


def test_the_principal_axes_show_where_the_prototypes_spread(connectivity):
    positions = np.c_[np.zeros(4), [0.0, 10.0, 20.0, 30.0], [0.0, 1.0, 0.0, 1.0]]
    figure = plot_connvis(positions, connectivity)
    dots = np.concatenate(
        [c.get_offsets() for c in figure.axes[0].collections if isinstance(c, PathCollection)]
    )
    assert np.ptp(dots[:, 0]) == pytest.approx(30.0, rel=0.01)
    assert 0.5 < np.ptp(dots[:, 1]) < 1.5


def test_it_is_a_method_of_the_connections(connectivity, tmp_path):
    connectivity.plot(POSITIONS).savefig(tmp_path / "connvis.png")
    assert (tmp_path / "connvis.png").stat().st_size > 5_000


def test_nothing_connected_is_a_picture_too():
    c = icvi.Connectivity()
    c.update(0, None, "a")
    figure = c.plot([[0.0, 0.0]])
    assert not figure.legends
    assert len(figure.axes[0].texts) == 1


def test_positions_are_needed_for_all_prototypes(connectivity):
    with pytest.raises(ValueError, match=r"each of 4 prototypes, got shape \(3, 2\)"):
        connectivity.plot(POSITIONS[:3])
    with pytest.raises(ValueError, match=r"got shape \(4,\)"):
        connectivity.plot([0.0, 1.0, 2.0, 3.0])


def test_labels_that_look_like_formulas_are_drawn_as_text():
    c = icvi.Connectivity()
    c.update(0, None, "$\\frac$")
    c.update(1, 0, "b\x1b")
    figure = plot_connvis(POSITIONS[:2], c)
    figure.canvas.draw()
    assert {text.get_text() for text in figure.axes[0].texts} >= {"$\\frac$", "b?"}
