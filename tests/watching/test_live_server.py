"""The server of a live page: what it answers, whom it answers, and what it costs the loop."""

from __future__ import annotations

import gzip
import json
import re
import socket
import sys
import threading
import zlib

import pytest

import icvi
import processes
from icvi.watching.live import parse_address, server
from icvi.watching.live.address import Address
from live_inputs import TOKEN, Stream, Viewer, blobs, streaming


@pytest.fixture(scope="module")
def served():
    """A stream with some samples that no test changes."""
    with streaming(metrics_clusters=2) as stream:
        stream.put(*blobs(500))
        stream.wait(lambda: stream.watch._live.snapshot.seen == 500)
        yield stream


# -- addresses --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "host", "port"),
    [
        ("8080", "127.0.0.1", 8080),
        (0, "127.0.0.1", 0),
        ("localhost:80", "localhost", 80),
        ("[::1]:81", "::1", 81),
        (":82", "127.0.0.1", 82),
    ],
)
def test_an_address_is_on_this_machine_by_default(given, host, port):
    assert parse_address(given) == Address(host, port)


@pytest.mark.parametrize("given", ["", "http", "8080x", "70000", "-1", "a:b", True, 1.5, "1:2:x"])
def test_what_is_no_address_is_refused(given):
    with pytest.raises(ValueError, match="expected serve as PORT or HOST:PORT"):
        parse_address(given)


@pytest.mark.parametrize("host", ["0.0.0.0", "[::]", "192.168.1.2", "myhost"])
def test_other_machines_need_a_token(host):
    with pytest.raises(ValueError, match="other machines: give a token"):
        parse_address(f"{host}:80")
    assert parse_address(f"{host}:80", TOKEN).token == TOKEN


@pytest.mark.parametrize("token", ["", "short", "with spaces in it, and long", "ümlaut" * 5])
def test_a_token_that_can_be_guessed_is_refused(token):
    with pytest.raises(ValueError, match="16 or more letters") as refused:
        parse_address("80", token)
    assert not token or token not in str(refused.value)


@pytest.mark.parametrize("options", [{"token": TOKEN}, {"metrics_clusters": 2}])
def test_options_of_the_page_need_one(options):
    with pytest.raises(ValueError, match="need serve"):
        icvi.watch([[0.0, 0.0]], lambda X: [0], **options)
    with pytest.raises(ValueError, match="metrics_clusters from 0 to 1000"):
        icvi.watch([[0.0, 0.0]], lambda X: [0], serve=0, metrics_clusters=1001)


def test_a_token_is_not_shown():
    assert TOKEN not in repr(parse_address("80", TOKEN))


def test_a_port_that_is_taken_is_refused_before_anything_begins(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match=f"cannot serve on 127.0.0.1:{port}"):
            icvi.watch([[0.0, 0.0]], lambda X: [0], serve=port, trace=tmp_path / "t.csv")
    assert list(tmp_path.iterdir()) == []


# -- whom it answers --------------------------------------------------------------------------

LOCAL = parse_address("80", names=["Proxy.example"])
OPEN = parse_address("0.0.0.0:80", TOKEN, ["stream.example:443"])


@pytest.mark.parametrize(
    ("address", "host", "known"),
    [
        (LOCAL, "localhost", True),
        (LOCAL, "LOCALHOST:80", True),
        (LOCAL, "localhost.", True),
        (LOCAL, "127.0.0.1:8080", True),
        (LOCAL, "[::1]:80", True),
        (LOCAL, "proxy.example", True),
        (LOCAL, "evil.example", False),
        (LOCAL, "evil.example:80", False),
        (LOCAL, "localhost.evil.example", False),
        (LOCAL, "192.168.1.2", False),
        (LOCAL, "127.0.0.1.evil.example", False),
        (LOCAL, "localhost:80@evil.example", False),
        (LOCAL, "", False),
        (LOCAL, None, False),
        (OPEN, "192.168.1.2:80", True),
        (OPEN, "[fe80::1]", True),
        (OPEN, "stream.example", True),
        (OPEN, "localhost", True),
        (OPEN, "evil.example", False),
        (OPEN, "1.2.3.4.evil.example", False),
    ],
)
def test_a_name_that_is_not_ours_is_refused(address, host, known):
    assert address.answers_to(host) is known


@pytest.mark.parametrize("path", ["/", "/events", "/metrics", "/healthz"])
def test_a_page_whose_name_points_here_gets_nothing(served, path):
    status, _, body = served.get(path, Host="evil.example")
    assert status == 421
    assert b"Clusters" not in body


@pytest.mark.parametrize("path", ["/events", "/metrics", "/healthz"])
def test_another_site_gets_nothing(served, path):
    status, _, _ = served.get(path, Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="no-cors")
    assert status == 403


def test_without_its_token_nothing_is_served():
    with streaming(token=TOKEN) as stream:
        for path in ("/", "/events", "/metrics", "/healthz", "/nothing"):
            assert stream.get(path)[0] == 401
            assert stream.get(path, Authorization="Bearer wrong")[0] == 401
            assert stream.get(path, Cookie=f"icvi-{stream.port}={TOKEN}")[0] == 401
            assert stream.get(f"{path}?token={TOKEN[:-1]}")[0] == 401
        assert stream.get("/healthz", Authorization=f"Bearer {TOKEN}")[0] == 200
        assert stream.get(f"/healthz?token={TOKEN}")[0] == 200
        status, headers, _ = stream.get(f"/?token={TOKEN}")
        assert (status, headers["Location"]) == (303, "/")
        cookie, *rules = headers["Set-Cookie"].split("; ")
        assert "HttpOnly" in rules
        assert TOKEN not in cookie
        status, headers, body = stream.get("/", Cookie=cookie)
        assert status == 200
        assert TOKEN.encode() not in body


# -- what it answers --------------------------------------------------------------------------


def test_only_its_own_scripts_run_on_the_page(served):
    nonces = set()
    for _ in range(2):
        status, headers, body = served.get("/")
        assert status == 200
        policy = headers["Content-Security-Policy"]
        (nonce,) = re.findall("script-src 'nonce-([^']+)'", policy)
        assert "default-src 'none'" in policy
        assert "unsafe-eval" not in policy
        assert body.decode().count(f'nonce="{nonce}"') == body.decode().count("<script") == 3
        nonces.add(nonce)
        assert headers["Cache-Control"] == "no-store"
    assert len(nonces) == 2


def test_scripts_are_compressed_once_and_kept_by_browsers(served):
    page = served.get("/")[2].decode()
    paths = re.findall(r'(?:src|href|data-figures)="(/[^"]+)"', page)
    assert len(paths) == 5
    for path in paths:
        status, headers, body = served.get(path, Accept_Encoding="gzip")
        assert status == 200
        assert headers["Content-Encoding"] == "gzip"
        assert "immutable" in headers["Cache-Control"]
        assert gzip.decompress(body) == served.get(path)[2]
        assert served.get(path, If_None_Match=headers["ETag"])[0] == 304


def test_the_page_and_the_history_do_not_wait_for_the_figures(monkeypatch):
    from icvi.watching.live import figures

    may, draw = threading.Event(), figures.figures

    def drawn_late(live):
        assert may.wait(processes.PATIENCE)
        return draw(live)

    monkeypatch.setattr(figures, "figures", drawn_late)
    with streaming(indices=["CH"]) as stream:
        stream.put(*blobs(300))
        stream.wait(lambda: stream.watch._live.snapshot.seen == 300)
        page = stream.get("/")[2].decode()
        viewer = Viewer(stream.port)
        viewer.follow(lambda state: state["now"][0] == 300)
        viewer.close()
        (path,) = re.findall('data-figures="(/figures-[^"]+)"', page)
        assert viewer.state["page"] == path
        may.set()
        assert "CH" in [each["name"] for each in json.loads(stream.get(path)[2])["indices"]]


def test_a_browser_keeps_the_figures_until_there_are_others():
    paths = []
    for indices in (["CH"], ["CH"], ["CH", "SIL"]):
        with streaming(indices=indices) as stream:
            paths.append(stream.watch._live.server.page.figures)
    assert paths[0] == paths[1] != paths[2]


def test_the_first_load_is_small(served):
    page = served.get("/")[2].decode()
    paths = re.findall(r'(?:src|href|data-figures)="(/[^"]+)"', page)
    total = len(page) + sum(len(served.get(path, Accept_Encoding="gzip")[2]) for path in paths)
    assert total < 400_000  # and a history of all indices takes less than 100,000


@pytest.mark.parametrize("path", ["/../etc/passwd", "/live.js", "/%2e%2e/", "/events/", "/x"])
def test_there_is_nothing_else(served, path):
    assert served.get(path)[0] == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "HEAD", "OPTIONS"])
def test_nothing_can_be_changed(served, method):
    assert served.get("/", method)[0] == 501


def test_answers_do_not_name_versions(served):
    assert served.get("/")[1]["Server"] == "icvi"


# -- viewers ----------------------------------------------------------------------------------


def test_viewers_see_the_stream_move():
    with streaming() as stream:
        stream.put(*blobs(200))
        first, second = Viewer(stream.port), Viewer(stream.port)
        for viewer in (first, second):
            viewer.follow(lambda state: state["now"][0] == 200 and state["points"])
        stream.put(*blobs(3000, k=4, seed=1))
        for viewer in (first, second):
            viewer.follow(lambda state: state["now"][0] == 3200 and len(state["clusters"]) == 4)
            assert viewer.kinds.count("full") == 1
            viewer.close()
        assert first.state == second.state
        tracker = stream.watch.tracker
        assert first.state["values"] == [float(f"{v:.6g}") for v in tracker.values.values()]
        assert first.state["now"][1] == 4
        late = Viewer(stream.port)
        late.follow(lambda state: state["now"][0] == 3200)
        assert late.state["history"] == first.state["history"]
        late.close()


def test_a_viewer_gets_gzip_if_it_takes_it():
    with streaming() as stream:
        stream.put(*blobs(100))
        stream.wait(lambda: stream.watch._live.snapshot.seen == 100)
        viewer = Viewer(stream.port, Accept_Encoding="gzip")
        unzip, text = zlib.decompressobj(zlib.MAX_WBITS | 16), b""
        while b"event: full" not in text or not text.endswith(b"\n\n"):
            text += unzip.decompress(viewer.file.read1())
        viewer.close()
        data = text.partition(b"event: full\ndata: ")[2].partition(b"\n")[0]
        assert json.loads(data)["set"]["now"][0] == 100


def test_a_viewer_that_takes_nothing_holds_nobody_up(monkeypatch):
    monkeypatch.setattr(server._Handler, "timeout", 1.0)
    monkeypatch.setattr(server, "_BUFFER", 4096)
    with streaming(indices="paper") as stream:
        X, labels = blobs(5000)
        stream.put(X[:1000], labels[:1000])
        stalled = Viewer(stream.port)  # reads no event
        stalled.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reading = Viewer(stream.port)
        for a in range(1000, 5000, 1000):
            stream.put(X[a : a + 1000], labels[a : a + 1000])
            reading.follow(lambda state, a=a: state["now"][0] == a + 1000)
        # Its connection is closed, and its place is free again.
        stream.wait(lambda: stream.watch._live.hub.viewers == 1)
        stalled.close()
        reading.close()


def test_too_many_viewers_are_refused(monkeypatch):
    from icvi.watching.live import recording

    monkeypatch.setattr(recording, "VIEWERS", 1)
    with streaming() as stream:
        first, second = Viewer(stream.port), Viewer(stream.port)
        assert (first.status, second.status) == (200, 503)
        first.close()
        second.close()


def test_too_many_connections_are_closed(monkeypatch):
    monkeypatch.setattr(server, "CONNECTIONS", 2)
    with streaming() as stream:
        kept = [socket.create_connection(("127.0.0.1", stream.port)) for _ in range(2)]
        stream.wait(lambda: stream.watch._live.server._http._free._value == 0)
        more = socket.create_connection(("127.0.0.1", stream.port), processes.PATIENCE)
        assert more.recv(1) == b""
        for connection in (*kept, more):
            connection.close()


def test_viewers_are_told_how_it_ended():
    stream = Stream()
    stream.put(*blobs(50))
    viewer = Viewer(stream.port)
    viewer.follow(lambda state: state["now"][0] == 50)
    stream.end()
    viewer.follow(lambda state: state["now"][8] is not None)
    assert viewer.state["now"][8] == "the stream has ended"
    viewer.close()
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(("127.0.0.1", stream.port))  # it is free


def test_a_restarted_server_shows_the_whole_history_at_once(tmp_path):
    X, labels = blobs(700)
    with streaming(checkpoint=tmp_path / "c") as stream:
        stream.put(X, labels)
        before = Viewer(stream.port)
        before.follow(lambda state: state["now"][0] == 700 and len(state["points"]) == 600)
        before.close()
    with streaming(checkpoint=tmp_path / "c") as stream:
        stream.put_soon(X, labels)  # a generator must repeat what was read
        after = Viewer(stream.port)
        after.follow(lambda state: state["now"][0] == 700)
        for part in ("history", "values", "clusters", "points", "sizes", "created"):
            assert after.state[part] == before.state[part]
        after.close()


def test_a_page_can_be_added_and_left_out_between_two_runs(tmp_path):
    X, labels = blobs(300)
    options = {"indices": ["CH"], "checkpoint": tmp_path / "c", "trace": tmp_path / "t.csv"}

    for n, more in ((100, {}), (200, {"serve": 0}), (300, {})):
        source = ((X[a : a + 50], labels[a : a + 50]) for a in range(0, n, 50))
        icvi.watch(source, **options, **more).run()
    plain = tmp_path / "plain.csv"
    icvi.watch((X, labels), indices=["CH"], trace=plain).run()
    assert plain.read_bytes() == (tmp_path / "t.csv").read_bytes()


def test_the_end_of_a_burst_is_shown_while_nothing_comes():
    with streaming() as stream:
        viewer = Viewer(stream.port)
        X, labels = blobs(60)
        for i in range(60):
            stream.put(X[i : i + 1], labels[i : i + 1])
        viewer.follow(lambda state: state["now"][0] == 60 and len(state.get("points", ())) == 60)
        viewer.close()


# -- health -----------------------------------------------------------------------------------


def test_health_is_whether_samples_come(served, monkeypatch):
    status, headers, body = served.get("/healthz")
    assert (status, headers["Content-Type"]) == (200, "application/json")
    facts = json.loads(body)
    assert facts["well"] is True
    assert facts["samples"] == 500
    live = served.watch._live
    monkeypatch.setattr(live, "last_sample", live.last_sample - 100.0)
    status, _, body = served.get("/healthz")
    assert (status, json.loads(body)["wrong"]) == (503, ["no samples come"])
    assert served.get("/healthz?idle=3600")[0] == 200
    assert served.get("/healthz?idle=nonsense")[0] == 503


def test_health_is_whether_the_loop_works(served, monkeypatch):
    live = served.watch._live
    assert live.lag == 0.0  # it waits for samples
    monkeypatch.setattr(live, "_resting", False)
    monkeypatch.setattr(live, "_alive", live._alive - 1000.0)
    status, _, body = served.get("/healthz?idle=600")
    assert status == 503
    assert "the loop does not answer" in json.loads(body)["wrong"]


def test_health_is_whether_checkpoints_succeed(tmp_path, monkeypatch):
    with streaming(checkpoint=tmp_path / "c") as stream:
        stream.put(*blobs(50))
        assert stream.get("/healthz")[0] == 200
        live = stream.watch._live
        written = live.checkpoint()
        assert written is not None
        monkeypatch.setattr(live, "checkpoint", lambda: written - 100.0)
        status, _, body = stream.get("/healthz")
        assert (status, json.loads(body)["wrong"]) == (503, ["no checkpoints are written"])


# -- the command ------------------------------------------------------------------------------


def test_without_a_page_nothing_is_imported_for_one(tmp_path):
    code = (
        "import sys, numpy as np, icvi\n"
        "icvi.watch((np.eye(4), [0, 1, 0, 1]), indices=['CH']).run()\n"
        "print([m for m in ('http.server', 'bokeh', 'prometheus_client', 'icvi.watching.live') "
        "if m in sys.modules])"
    )
    done = processes.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr


def test_the_command_serves_and_hides_its_token(tmp_path):
    data = tmp_path / "s.csv"
    X, labels = blobs(50)
    rows = "".join(f"{x},{y},{c}\n" for (x, y), c in zip(X.tolist(), labels.tolist()))
    data.write_text(f"x,y,c\n{rows}")
    command = [sys.executable, "-m", "icvi", "watch", str(data), "--labels", "c", "--serve", "0"]
    command += ["--follow", "--token", TOKEN, "--indices", "CH"]
    process = processes.begin(command, stderr=-1, stdout=-1, text=True)
    try:
        line = next(line for line in process.stderr if "live page: " in line)
        port = int(line.strip().rstrip("/").rpartition(":")[2])
        stream = Stream.__new__(Stream)
        stream.port = port
        assert stream.get("/healthz")[0] == 401
        known = {"Authorization": f"Bearer {TOKEN}"}
        processes.wait_until(
            lambda: json.loads(stream.get("/healthz", **known)[2])["samples"] == 50, process
        )
        process.terminate()
        text = process.communicate(timeout=processes.PATIENCE)
        assert process.returncode == 143
        assert TOKEN not in "".join(text)
    finally:
        processes.end(process)


def test_the_last_samples_of_a_file_that_is_followed_are_shown(tmp_path):
    """Between looks for more of it the loop works for a moment, again and again."""
    X, labels = blobs(600)
    lines = [f"{x!r},{y!r},{c}\n" for (x, y), c in zip(X.tolist(), labels.tolist())]
    path = tmp_path / "s.csv"
    path.write_text("x,y,c\n" + "".join(lines[:500]))
    with icvi.watch(path, label="c", indices=["CH"], follow=True, serve=0) as watched:
        thread = threading.Thread(target=watched.run)
        thread.start()
        viewer = Viewer(int(watched.url.rstrip("/").rpartition(":")[2]))
        viewer.follow(lambda state: state["now"][0] == 500)
        with open(path, "a") as file:
            file.writelines(lines[500:])
        viewer.follow(lambda state: state["now"][0] == 600)
        viewer.close()
        watched.source.close()
        thread.join(processes.PATIENCE)
    assert not thread.is_alive()
