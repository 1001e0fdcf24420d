# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""DistributedDataParallel with two local ranks, each with a card, a trace and figures of its own."""

import json

import pytest
from frameworks_under_test import assert_complete, needs_frameworks, role, run, torchrun, traces_by_card

pytestmark = needs_frameworks


@pytest.mark.parametrize("backend", ["nccl", "gloo"])
def test_each_rank_is_recorded_completely_on_its_own_card(tmp_path, backend):
    finished = run("ddp.py", tmp_path, backend, card="2x24GiB", launcher=torchrun(2))
    told = {line["rank"]: line for line in map(json.loads, finished.out.splitlines())}
    traces = traces_by_card(finished)
    assert sorted(traces) == sorted(told) == [0, 1]
    for rank, own in traces.items():
        report = assert_complete(own, told[rank], card=rank)
        assert role(report, "parameter") == told[rank]["parameters"]
        assert role(report, "optimizer_state") == told[rank]["states"] == 2 * told[rank]["parameters"]
        # The first buckets of NCCL live on until the process group's watchdog looks (docs/design/collectives.md).
        assert role(report, "comm") >= told[rank]["parameters"]
        assert role(report, "unknown") < 0.01 * report["peak"]["bytes"]


def test_ranks_that_run_out_each_leave_an_explained_trace(tmp_path):
    """Card 0 holds two contexts: gloo's thread in rank 1 sets device 0, and since CUDA 12 that makes one."""
    finished = run("ddp.py", tmp_path, "gloo", card="2x1150MiB", launcher=torchrun(2), expect=1)
    assert "torch.OutOfMemoryError: CUDA out of memory." in finished.err
    causes = [own.report()["verdict"]["cause"] for own in traces_by_card(finished).values()]
    assert "other_process" in causes  # torchrun ends rank 1, maybe before it runs out itself
