# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Reports' advice for servers that capture graphs, and for tensors that fit on no card."""

from pathlib import Path

from support.json_object import JsonObject
from support.programs import MIB, on_card

# A graph for each of eight batch sizes, each with a pool of its own.
CAPTURED = """
import torch
from torch import nn
torch.set_grad_enabled(False)
model = nn.Sequential(*[nn.Linear(1024, 1024) for _ in range(8)]).cuda().eval()
graphs, inputs, outputs = {{}}, {{}}, {{}}
pool = None
def capture(size):
    global pool
    static = torch.zeros(size, 1024, device="cuda")
    model(static)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, pool=pool):
        output = model(static)
    {}
    graphs[size], inputs[size], outputs[size] = graph, static, output
for size in {}:
    capture(size)
"""
SIZES = [512 * number for number in range(1, 13)]
# 256 frames of 1 MiB.
VIDEO = """
import torch
from torch import nn
network = nn.Conv2d(1, 1, 1).cuda().eval()
frames = torch.zeros(256, 1, 512, 512)
with torch.no_grad():
    {}
"""
WHOLE = "frames = frames.to('cuda')\n    print([network(frame[None]).shape for frame in frames])"
IN_PARTS = "print([network(frame[None].to('cuda')).shape for frame in frames])"


def failed(script: str, folder: Path, card: str) -> JsonObject:
    return on_card(script, folder, card=f"{card},context=100MiB", expect=1, options=("--allocator", "native")).report()


def names(report: JsonObject) -> list[str]:
    return [row["name"] for row in report["remedies"]]


def test_captured_graphs_are_to_share_a_pool(tmp_path: Path) -> None:
    report = failed(CAPTURED.format("", SIZES), tmp_path, "500MiB")
    assert "do not keep" not in names(report)
    assert names(report)[0] == "one pool for all graphs", names(report)


def test_graphs_fit_with_one_pool(tmp_path: Path) -> None:
    script = CAPTURED.format("pool = graph.pool()", SIZES[::-1])
    on_card(script, tmp_path, card="500MiB,context=100MiB", options=("--allocator", "native"))


def test_oversized_tensor_is_to_be_moved_in_parts(tmp_path: Path) -> None:
    report = failed(VIDEO.format(WHOLE), tmp_path, "240MiB")
    row = report["remedies"][0]
    assert row["name"] == "parts from the host" and row["change"].startswith("train.py:7: keep it on the host")
    assert row["at_least"] and row["predicted_peak"] < 110 * MIB
    on_card(VIDEO.format(IN_PARTS), tmp_path, card="240MiB,context=100MiB", options=("--allocator", "native"))
