"""A watch is killed while its source is restarted, rotated or spoiled: the trace is the same."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

import processes
from redis_server import program

HERE = Path(__file__).parents[1]


def killed(kind, folder, seed, kills=10, code=143):
    command = [sys.executable, str(HERE / "killing_sources.py"), kind, str(folder), str(seed)]
    done = processes.run([*command, str(kills)], capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["whole"] == 0, done.stderr
    assert found["code"] == code, done.stderr
    assert found["traces"][0] == found["traces"][1], found["done"]
    return found["done"]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked")
@pytest.mark.parametrize("seed", [1, 2])
def test_killed_while_redis_restarts_and_loses_its_group_the_trace_is_the_same(tmp_path, seed):
    program()
    done = killed("redis", tmp_path, seed)
    assert "kill" in done
    assert "restart" in done


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked")
@pytest.mark.parametrize("seed", [1, 2])
def test_killed_while_a_followed_file_is_rotated_the_trace_is_the_same(tmp_path, seed):
    done = killed("rotated", tmp_path, seed)
    assert "kill" in done
    assert {"create", "copytruncate"} <= {*done}


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked")
def test_killed_while_a_broker_goes_away_and_comes_back_the_trace_is_the_same(tmp_path):
    pytest.importorskip("confluent_kafka")
    done = killed("kafka", tmp_path, 1)
    assert done.count("kill") == 10
    assert "away" in done


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked")
def test_killed_while_it_reads_three_partitions_the_trace_is_in_the_order_of_their_messages(
    tmp_path,
):
    pytest.importorskip("confluent_kafka")
    done = killed("partitions", tmp_path, 2, code=0)
    assert done.count("kill") == 10
    assert "away" in done
