# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Sharded and flat parameters: each rank holds its shards, and buffers that gather and scatter are comm."""

import json

import pytest
from frameworks_under_test import assert_complete, needs_frameworks, role, run, torchrun, traces_by_card

pytestmark = needs_frameworks


@pytest.mark.parametrize("kind", ["sharded", "flat"])
def test_shards_are_parameters_and_gathered_memory_is_comm(tmp_path, kind):
    finished = run("fsdp.py", tmp_path, kind, card="2x24GiB", launcher=torchrun(2))
    told = {line["rank"]: line for line in map(json.loads, finished.out.splitlines())}
    traces = traces_by_card(finished)
    assert sorted(traces) == sorted(told) == [0, 1]
    for rank, own in traces.items():
        report = assert_complete(own, told[rank], card=rank)
        assert role(report, "parameter") == told[rank]["parameters"]
        assert role(report, "optimizer_state") == told[rank]["states"]
        assert role(report, "comm") > 0
        assert role(report, "unknown") < 0.01 * report["peak"]["bytes"]
