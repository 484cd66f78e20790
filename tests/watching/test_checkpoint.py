"""A checkpoint runs no code that its user did not write, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import pickle
import stat
import struct
import subprocess
import sys
from contextlib import closing

import numpy as np
import pytest
from sklearn.cluster import MiniBatchKMeans

import icvi
import processes
from icvi.files import replacing
from icvi.saving import container
from watch_inputs import PATIENCE, samples, watch, write_samples

WITH_OWNERS = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owners")

X, LABELS = samples()


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.fixture
def give_away(monkeypatch):
    """Make a file or folder that of another user, who is not root."""

    def given(path):
        if os.geteuid() == 0:
            os.chown(path, 12345, -1)
        else:
            somebody = os.geteuid() + 1
            monkeypatch.setattr(os, "geteuid", lambda: somebody)

    return given


@pytest.fixture
def umask():
    """Sets the umask; afterwards it is what it was."""
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


class Trap:
    """Makes a folder when it is unpickled."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return os.mkdir, (self.path,)


def sides(X):
    return (X[:, 0] > 0).astype(int)


def k_means():
    return MiniBatchKMeans(3, random_state=0, n_init=1)


class OwnArt(icvi.FuzzyART):
    """A class of a user, which a file without code cannot hold."""


WITHOUT_PICKLES = {
    "column": lambda: None,
    "FuzzyART": lambda: icvi.FuzzyART(0.9, bounds=(-20.0, 20.0)),
    "FuzzySMART": lambda: icvi.FuzzySMART(0.9, 0.7),
    "MicroWard": lambda: icvi.MicroWard(max_micro=30, half_life=100.0),
    "function": lambda: sides,
}
WITH_PICKLES = {"scikit-learn": k_means, "class of one's own": lambda: OwnArt(0.7)}


def watched(make, kept, n=300, **options):
    """A watch of so many samples, which goes to its end."""
    clusterer = make()
    source = (X[:n], LABELS[:n]) if clusterer is None else X[:n]
    given = {"indices": ["CH"], "batch": 50, "rows": 50, "checkpoint": kept}
    with closing(icvi.watch(source, clusterer, **{**given, **options})) as one:
        return one.run()


def as_written_before(kept, pickled):
    """Rewrite a checkpoint as versions did that pickled every clusterer."""
    facts, arrays = container.read(kept / "watch.icvi")
    facts.pop("labeller", None)
    arrays = {name: a for name, a in arrays.items() if not name.startswith("labeller.")}
    arrays["labeller"] = np.frombuffer(pickled, np.uint8)
    container.write(kept / "watch.icvi", facts, arrays, without=0o022)


def planted(kept, pickled):
    """Rewrite a checkpoint so that its clusterer is a pickle."""
    facts, arrays = container.read(kept / "watch.icvi")
    arrays = {name: a for name, a in arrays.items() if not name.startswith("labeller.")}
    arrays["labeller.pickle"] = np.frombuffer(pickled, np.uint8)
    container.write(kept / "watch.icvi", facts, arrays, without=0o022)


# -- clusterers of our own -----------------------------------------------------------------------


@pytest.mark.parametrize("make", WITHOUT_PICKLES.values(), ids=WITHOUT_PICKLES)
def test_checkpoints_of_our_own_clusterers_contain_no_pickle_and_resume(make, tmp_path):
    whole = watched(make, tmp_path / "whole")
    watched(make, tmp_path / "kept", 150)
    facts, arrays = container.read(tmp_path / "kept" / "watch.icvi")
    assert "labeller" in facts
    assert not any("pickle" in name or array.dtype == np.uint8 for name, array in arrays.items())
    resumed = watched(make, tmp_path / "kept")
    assert resumed.resumed == 150
    assert resumed.tracker["CH"] == whole.tracker["CH"]
    assert resumed.history.last.tobytes() == whole.history.last.tobytes()


@pytest.mark.parametrize("plant", [as_written_before, planted])
@pytest.mark.parametrize("make", WITHOUT_PICKLES.values(), ids=WITHOUT_PICKLES)
def test_a_planted_pickle_does_not_run_where_a_checkpoint_needs_none(make, plant, tmp_path):
    watched(make, tmp_path / "kept", 150)
    trap = pickle.dumps(Trap(tmp_path / "ran"))
    for pickled in (trap, struct.pack("<qq", 150, 0) + trap):
        plant(tmp_path / "kept", pickled)
        with pytest.raises(ValueError, match="checkpoint"):
            watched(make, tmp_path / "kept")
        assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", ["FuzzyART", "FuzzySMART"])
def test_a_checkpoint_that_held_our_clusterer_as_a_pickle_is_refused_with_what_to_do(
    name, tmp_path
):
    make = WITHOUT_PICKLES[name]
    model = watched(make, tmp_path / "kept", 150).clusterer
    as_written_before(tmp_path / "kept", struct.pack("<qq", 150, 0) + pickle.dumps(model))
    with pytest.raises(ValueError, match=rf"kept {name} as a pickle, .*overwrite=True"):
        watched(make, tmp_path / "kept")
    assert watched(make, tmp_path / "kept", overwrite=True).resumed == 0


@pytest.mark.parametrize("name", ["column", "function"])
def test_a_checkpoint_of_before_that_held_no_pickle_is_resumed(name, tmp_path):
    watched(WITHOUT_PICKLES[name], tmp_path / "kept", 150)
    as_written_before(tmp_path / "kept", b"")
    assert watched(WITHOUT_PICKLES[name], tmp_path / "kept").resumed == 150


def test_the_bounds_that_a_checkpoint_resumes_with_are_reported_as_before(tmp_path):
    def make():
        return icvi.FuzzyART(0.7)

    whole = watched(make, tmp_path / "whole")
    watched(make, tmp_path / "kept", 150)
    assert whole.warnings
    assert watched(make, tmp_path / "kept").warnings == whole.warnings


# -- clusterers of others ------------------------------------------------------------------------


@pytest.mark.parametrize("make", WITH_PICKLES.values(), ids=WITH_PICKLES)
def test_a_clusterer_of_others_is_resumed_from_a_file_of_ones_own(make, tmp_path):
    whole = watched(make, tmp_path / "whole")
    watched(make, tmp_path / "kept", 150)
    resumed = watched(make, tmp_path / "kept")
    assert resumed.resumed == 150
    assert resumed.tracker["CH"] == whole.tracker["CH"]


def test_a_clusterer_of_others_is_resumed_from_a_checkpoint_of_before(tmp_path):
    whole = watched(k_means, tmp_path / "whole")
    model = watched(k_means, tmp_path / "kept", 150).clusterer
    as_written_before(tmp_path / "kept", pickle.dumps(model))
    resumed = watched(k_means, tmp_path / "kept")
    assert resumed.resumed == 150
    assert resumed.tracker["CH"] == whole.tracker["CH"]


def loosen(path):
    os.chmod(path, mode(path) | stat.S_IWGRP)


@WITH_OWNERS
@pytest.mark.parametrize("name", ["watch.icvi", "."], ids=["file", "folder"])
@pytest.mark.parametrize("make", WITH_PICKLES.values(), ids=WITH_PICKLES)
def test_a_checkpoint_that_others_can_write_is_refused_before_it_is_read(make, name, tmp_path):
    kept = tmp_path / "kept"
    watched(make, kept, 150)
    planted(kept, pickle.dumps(Trap(tmp_path / "ran")))
    loosen(kept / name)
    path = kept / name
    with pytest.raises(PermissionError, match=rf"can run any code.*chmod go-w {path}.*otherwise "):
        watched(make, kept)
    assert not (tmp_path / "ran").exists()
    os.chmod(path, mode(path) & ~0o022)  # as the message says; now it is the user's own risk
    with pytest.raises(ValueError, match="checkpoint"):
        watched(make, kept)
    assert (tmp_path / "ran").exists()


@WITH_OWNERS
@pytest.mark.parametrize("name", ["watch.icvi", "."], ids=["file", "folder"])
def test_a_checkpoint_of_another_user_is_refused_before_it_is_read(name, tmp_path, give_away):
    kept = tmp_path / "kept"
    watched(k_means, kept, 150)
    planted(kept, pickle.dumps(Trap(tmp_path / "ran")))
    give_away(kept / name)
    with pytest.raises(PermissionError, match=r"belongs to user .*make your own copy; other"):
        watched(k_means, kept)
    assert not (tmp_path / "ran").exists()


@WITH_OWNERS
def test_the_file_that_a_link_points_to_is_what_is_checked(tmp_path):
    kept = tmp_path / "kept"
    watched(k_means, kept, 150)
    (kept / "watch.icvi").rename(tmp_path / "elsewhere")
    (kept / "watch.icvi").symlink_to(tmp_path / "elsewhere")
    assert watched(k_means, kept, 200).resumed == 150
    loosen(tmp_path / "elsewhere")
    with pytest.raises(PermissionError, match="other users can write to this file"):
        watched(k_means, kept)


@WITH_OWNERS
def test_a_pipe_in_the_place_of_a_checkpoint_is_not_waited_for(tmp_path):
    kept = tmp_path / "kept"
    watched(k_means, kept, 150)
    (kept / "watch.icvi").unlink()
    os.mkfifo(kept / "watch.icvi")
    with pytest.raises(ValueError, match="expected a file, got a device or a pipe"):
        watched(k_means, kept)


@WITH_OWNERS
def test_a_folder_that_others_can_write_is_refused_at_the_start_and_only_for_pickles(tmp_path):
    kept = tmp_path / "shared"
    kept.mkdir()
    kept.chmod(0o777)
    with pytest.raises(
        PermissionError, match=r"chmod go-w .*shared; otherwise give a new directory"
    ):
        watched(k_means, kept)
    assert list(kept.iterdir()) == []
    for make in WITHOUT_PICKLES.values():
        watched(make, kept, 150, overwrite=True)
        assert watched(make, kept).resumed == 150
    assert mode(kept) == 0o777
    kept.chmod(0o1777)  # like /tmp, where nobody can replace a file of another
    watched(k_means, kept, 150, overwrite=True)
    assert watched(k_means, kept).resumed == 150


@WITH_OWNERS
@pytest.mark.parametrize("mask", [0o000, 0o002, 0o022], ids=oct)
def test_a_checkpoint_is_private_and_a_trace_is_as_the_umask_says(mask, tmp_path, umask):
    umask(mask)
    kept = tmp_path / "new" / "kept"
    for n in (150, 300):  # written anew, and written over
        given = {"trace": tmp_path / "t.csv", "report": tmp_path / "page.html"}
        assert watched(k_means, kept, n, **given).seen == n
        assert mode(kept) == 0o700
        assert mode(kept / "watch.icvi") == 0o600
        assert mode(tmp_path / "t.csv") == mode(tmp_path / "page.html") == 0o666 & ~mask
        assert mode(tmp_path / "new") == 0o777 & ~mask
        watched(k_means, tmp_path / f"{n}", n, trace=tmp_path / f"{n}.parquet")
        assert mode(tmp_path / f"{n}.parquet") == 0o666 & ~mask


def test_another_class_is_refused_before_anything_is_unpickled(tmp_path):
    watched(k_means, tmp_path / "kept", 150)
    planted(tmp_path / "kept", pickle.dumps(Trap(tmp_path / "ran")))
    facts, arrays = container.read(tmp_path / "kept" / "watch.icvi")
    facts["labeller"]["class"] = "posix.mkdir"
    container.write(tmp_path / "kept" / "watch.icvi", facts, arrays, without=0o022)
    with pytest.raises(ValueError, match="the checkpoint holds a mkdir, and this is a MiniBatchKM"):
        watched(k_means, tmp_path / "kept")
    assert not (tmp_path / "ran").exists()


def test_a_clusterer_that_cannot_be_unpickled_is_an_error_that_helps(tmp_path):
    watched(k_means, tmp_path / "kept", 150)
    planted(tmp_path / "kept", b"cnowhere\nNothing\n.")
    with pytest.raises(ValueError, match=r"MiniBatchKMeans in the checkpoint cannot be read: Mod"):
        watched(k_means, tmp_path / "kept")


# -- what a kill leaves --------------------------------------------------------------------------

LEAVING = """
import os, sys
from icvi.files import replacing
with replacing(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    if sys.argv[2:]:
        print(flush=True)
        sys.stdin.readline()
    os._exit(9)
"""


def kill_while_writing(path):
    command = [sys.executable, "-c", LEAVING, str(path)]
    assert processes.run(command, timeout=PATIENCE).returncode == 9


def unfinished(folder):
    return sorted(path.name for path in folder.rglob("*.tmp"))


def test_unfinished_files_of_a_kill_are_removed_by_the_run_that_resumes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_samples("s.csv", X[:150], LABELS[:150].tolist())
    typed = ["s.csv", "--columns", "x", "--columns", "y", "--clusterer", "art", "--indices", "CH"]
    typed += ["--trace", "t.parquet", "--report", "page.html", "--save-model", "m.icvi"]
    typed += ["--checkpoint", "kept", "--quiet"]
    assert watch(*typed).exit_code == 0
    write_samples("s.csv", X, LABELS.tolist())
    for name in ("kept/watch.icvi", "t.parquet", "page.html", "m.icvi", "other.html"):
        kill_while_writing(tmp_path / name)
    (tmp_path / ".t.parquet.tmp").touch()  # not ours
    assert len(unfinished(tmp_path)) == 6
    result = watch(*typed)
    assert result.exit_code == 0, result.output
    mine, other = unfinished(tmp_path)
    assert mine.startswith(".other.html.")
    assert other == ".t.parquet.tmp"


@pytest.mark.skipif(sys.platform == "win32", reason="there, an open file cannot be removed")
def test_a_file_that_another_process_is_writing_is_not_removed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_samples("s.csv", X, LABELS.tolist())
    command = [sys.executable, "-c", LEAVING, "page.html", "wait"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with processes.begin(command, **pipes) as process:
        process.stdout.readline()
        (before,) = unfinished(tmp_path)
        result = watch("s.csv", "--labels", "c", "--report", "page.html", "--quiet")
        assert result.exit_code == 0, result.output
        assert unfinished(tmp_path) == [before]
        process.communicate(b"\n", timeout=PATIENCE)
    result = watch("s.csv", "--labels", "c", "--report", "page.html", "--overwrite", "--quiet")
    assert result.exit_code == 0, result.output
    assert unfinished(tmp_path) == []


def test_a_file_is_locked_until_it_is_in_its_place(tmp_path, monkeypatch):
    from icvi.files import remove_unfinished

    replace = os.replace

    def cleaned_meanwhile(source, place):
        remove_unfinished(place)
        replace(source, place)

    monkeypatch.setattr(os, "replace", cleaned_meanwhile)
    with replacing(tmp_path / "file") as file:
        file.write(b"content")
        remove_unfinished(tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == b"content"
    assert os.listdir(tmp_path) == ["file"]


# -- the command ---------------------------------------------------------------------------------


@WITH_OWNERS
def test_the_command_says_what_is_wrong_with_a_checkpoint_and_what_to_do(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_samples("s.csv", X, LABELS.tolist())
    typed = ["s.csv", "--columns", "x", "--columns", "y", "--clusterer", "minibatch-kmeans"]
    typed += ["--param", "n_clusters=3", "--checkpoint", "my kept", "--quiet"]
    assert watch(*typed).exit_code == 0
    os.chmod("my kept/watch.icvi", 0o666)
    result = watch(*typed)
    assert result.exit_code == 1
    assert result.stderr == (
        "Error: my kept/watch.icvi: a clusterer is read from a pickle, which can run any code, and "
        "other users can write to this file; if you trust what is in it: "
        "chmod go-w 'my kept/watch.icvi'; otherwise start from scratch with --overwrite\n"
    )
    assert watch(*typed, "--overwrite").exit_code == 0
    assert mode("my kept/watch.icvi") == 0o600


def test_help_says_that_checkpoints_and_models_of_others_run_code():
    text = " ".join(watch("--help").output.split())
    assert "pickle" in text
    assert "use only your own" in text
    assert "importing a module runs its code" in text


def test_an_output_of_another_run_is_not_replaced_by_one_that_resumes(tmp_path):
    given = {"trace": tmp_path / "t.parquet", "report": tmp_path / "page.html"}
    watched(k_means, tmp_path / "kept", 150, **given)
    for name, option in (("other.parquet", "trace"), ("other.html", "report")):
        (tmp_path / name).write_text("precious")
        with pytest.raises(FileExistsError, match=name):
            watched(k_means, tmp_path / "kept", **{**given, option: tmp_path / name})
        assert (tmp_path / name).read_text() == "precious"
    assert watched(k_means, tmp_path / "kept", **given).resumed == 150


def test_what_a_checkpoint_says_is_plain_json(tmp_path):
    watched(WITHOUT_PICKLES["FuzzySMART"], tmp_path / "kept", 150)
    content = (tmp_path / "kept" / "watch.icvi").read_bytes()
    length = int.from_bytes(content[12:16], "little")
    described = json.loads(content[32 : 32 + length])
    assert described["facts"]["labeller"]["class"] == "icvi.art.fuzzy_smart.FuzzySMART"
    assert {entry["dtype"] for entry in described["arrays"]} <= {"<f8", "<i8"}


@pytest.mark.parametrize("ending", ["csv", "ndjson", "parquet"])
def test_a_trace_that_was_altered_before_its_end_is_refused_by_name_and_left_as_it_is(
    ending, tmp_path
):
    make, trace = WITHOUT_PICKLES["FuzzySMART"], tmp_path / f"t.{ending}"
    watched(make, tmp_path / "whole", trace=tmp_path / f"whole.{ending}")
    watched(make, tmp_path / "kept", 150, trace=trace)
    file = tmp_path / "kept" / "trace.arrows" if ending == "parquet" else trace
    content, kept = file.read_bytes(), (tmp_path / "kept" / "watch.icvi").read_bytes()
    assert len(content) > 3000
    for altered, message in (
        (content.replace(content[40:44], b"\0\0\0\0", 1), "is not the file it was"),  # in place
        (content[:40] + content[41:] + b"\n", "is not the file it was"),  # a byte less, then more
        (content[:40] + b"\n" + content[40:], "is not the file it was"),  # a byte more
        (content[:-1], "is shorter than it was"),
        (b"", "is shorter than it was"),
    ):
        file.write_bytes(altered)
        with pytest.raises(ValueError, match=f"{file} {message}"):
            watched(make, tmp_path / "kept", trace=trace)
        assert file.read_bytes() == altered
        assert (tmp_path / "kept" / "watch.icvi").read_bytes() == kept
    file.write_bytes(content + b"being written when it was killed")
    assert watched(make, tmp_path / "kept", trace=trace).resumed == 150
    assert trace.read_bytes() == (tmp_path / f"whole.{ending}").read_bytes()
