"""Files are written whole or not at all, with the permissions that users expect."""

import os
import stat
import sys

import pytest

import icvi
import processes
from icvi.files import is_unfinished, replacing, unfinished_files
from icvi.study.report import write_report
from icvi.study.store import Store
from icvi.watching.labellers import save_model

WITH_MODES = pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.fixture(params=[0o022, 0o077, 0o002], ids=oct)
def umask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def write(path, content=b"content"):
    with replacing(path) as file:
        file.write(content)


def write_study_page(path):
    study = {"settings": {"seed": 0, "data": "generated"}, "versions": {}}
    write_report(path, study, {}, [], {})


WRITERS = {
    "replacing": write,
    "state": lambda path: icvi.Partition().save(path),
    "clusterer": lambda path: icvi.FuzzyART().save(path),
    "part of a study": lambda path: Store(path.parent).write(path.name, b"content"),
    "page of a study": write_study_page,
}


@WITH_MODES
@pytest.mark.parametrize("writer", WRITERS)
def test_a_new_file_has_the_mode_that_the_umask_leaves(tmp_path, umask, writer):
    WRITERS[writer](tmp_path / "file")
    (written,) = tmp_path.iterdir()
    assert mode(written) == 0o666 & ~umask


@WITH_MODES
@pytest.mark.parametrize("ending", [".pkl", ".joblib"])
def test_a_pickled_clusterer_is_for_its_owner_alone_to_write(tmp_path, umask, ending):
    path = tmp_path / f"model{ending}"
    for _ in ("new", "replaced"):
        save_model(icvi.FuzzyART(), path)
        assert mode(path) == 0o644 & ~umask
        path.chmod(0o666 & ~umask)


@WITH_MODES
@pytest.mark.parametrize("before", [0o600, 0o640, 0o666], ids=oct)
def test_a_file_that_is_replaced_keeps_its_mode(tmp_path, umask, before):
    path = tmp_path / "file"
    path.write_bytes(b"before")
    path.chmod(before)
    write(path)
    assert mode(path) == before
    assert path.read_bytes() == b"content"


@WITH_MODES
def test_what_replaces_a_private_file_is_private_while_it_is_written(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"before")
    path.chmod(0o600)
    with replacing(path):
        (unfinished,) = unfinished_files(path)
        assert mode(unfinished) == 0o600


def test_what_was_there_stays_until_the_new_file_is_complete(tmp_path):
    path = tmp_path / "file"
    write(path, b"before")
    with replacing(path) as file:
        file.write(b"after")
        file.flush()
        assert path.read_bytes() == b"before"
    assert path.read_bytes() == b"after"


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt, SystemExit])
def test_an_interrupted_write_changes_nothing_and_leaves_nothing(tmp_path, error):
    path = tmp_path / "file"
    write(path, b"before")

    def interrupted():
        with replacing(path) as file:
            file.write(b"half")
            raise error

    with pytest.raises(error):
        interrupted()
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
    assert path.read_bytes() == b"before"


def test_a_link_stays_a_link(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"before")
    link.symlink_to(target)
    write(link)
    assert link.is_symlink()
    assert target.read_bytes() == b"content"


def test_the_longest_name_that_the_system_takes_is_taken(tmp_path):
    path = tmp_path / ("é" * 127)  # 254 bytes
    write(path)
    assert path.read_bytes() == b"content"
    with replacing(path):
        assert len(unfinished_files(path)) == 1


def test_neither_a_directory_nor_a_device_is_replaced(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError, match="folder"):
        write(tmp_path / "folder")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="expected a path for a file, got a device or pipe"):
        write(pipe)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_what_a_killed_process_left_is_found_by_the_name_of_its_file(tmp_path):
    code = (
        "import os, sys\n"
        "from icvi.files import replacing\n"
        "with replacing(sys.argv[1]) as file:\n"
        "    os._exit(9)\n"
    )
    for name in ("file", "file.other"):
        done = processes.run([sys.executable, "-c", code, tmp_path / name], timeout=120)
        assert done.returncode == 9
    write(tmp_path / "file")
    (left,) = unfinished_files(tmp_path / "file")
    assert left.name.startswith(".file.")
    assert "other" not in left.name
    assert is_unfinished(left)
    assert not is_unfinished(tmp_path / "file")


def test_a_study_that_was_killed_in_its_first_moment_can_be_run_again(tmp_path):
    (tmp_path / ".study.json.0123abcd.tmp").write_bytes(b"{")
    Store(tmp_path).open({"settings": {}})
    assert (tmp_path / "study.json").exists()
