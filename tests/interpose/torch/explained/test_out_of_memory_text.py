# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""An out-of-memory error has all of torch's own text, word for word, followed by the reason."""

import re

import pytest
from support.programs import on_card

HOLDER = """
import sys, torch
kept = torch.empty(300 << 20, dtype=torch.uint8, device="cuda")
print("ready", flush=True)
sys.stdin.read()
"""

FILLS = {
    "plain": "",
    "fraction": "torch.cuda.set_per_process_memory_fraction(0.5)\n",
    "free inside": """
parts = [torch.empty(5 << 20, dtype=torch.uint8, device="cuda") for _ in range(4)]
del parts[1]
""",
    "graph": """
static = torch.zeros(64 << 18, device="cuda")
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    result = (static + 1) * 2
del result
""",
    "pool": """
pool = torch.cuda.MemPool()
with torch.cuda.use_mem_pool(pool):
    inside = torch.empty(50 << 20, dtype=torch.uint8, device="cuda")
del inside
""",
    "behind the allocator": """
torch.cuda.caching_allocator_enable(False)
behind = torch.empty(70 << 20, dtype=torch.uint8, device="cuda")
torch.cuda.caching_allocator_enable(True)
""",
    "second card": "torch.cuda.set_device(1)\n",
    "another process": f"""
import subprocess, sys
other = subprocess.Popen([sys.executable, "-c", {HOLDER!r}], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
other.stdout.readline()
others = [other]
""",
    "two other processes": f"""
import subprocess, sys
for _ in range(2):
    other = subprocess.Popen([sys.executable, "-c", {HOLDER!r}], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    other.stdout.readline()
    others.append(other)
""",
}
ENDS = """
others = []
{fill}
kept = torch.empty(100 << 20, dtype=torch.uint8, device="cuda")
try:
    torch.empty(5 << 30, dtype=torch.uint8, device="cuda")
except torch.OutOfMemoryError as error:
    text = str(error)
    for number, other in enumerate(others):
        assert f"Process {{other.pid}} has " in text, text
        text = text.replace(f"Process {{other.pid}} has ", f"Process #{{number}} has ")
    print(json.dumps(text))
for other in others:
    other.communicate()
"""
# torch's advice is about settings of its own allocator.
ADVICE = re.compile(r" (If reserved but unallocated|expandable_segments is enabled)")
SIZE = re.compile(r"[\d.]+ (bytes|[KMG]iB)")


def text_of(allocator, fill, folder):
    script = "import json, torch\ntorch.cuda.init()\n" + ENDS.format(fill=fill)
    # On cards of up to 4 GiB chunks are granules of 2 MiB, to which torch also rounds its own requests.
    run = on_card(script, folder, card="2x4GiB", options=("--allocator", allocator))
    return run.printed()


@pytest.mark.parametrize("fill", FILLS)
def test_torchs_message_comes_first(fill, tmp_path):
    torchs, ours = (text_of(allocator, FILLS[fill], tmp_path) for allocator in ("native", "memtrace"))
    first, *verdict = ours.splitlines()
    torchs = torchs[: ADVICE.search(torchs).start()]
    if fill == "free inside":  # torch keeps the rest of 20 MiB, ours the rest of 2 MiB
        first, torchs = SIZE.sub("SIZE", first), SIZE.sub("SIZE", torchs)
    assert first == torchs
    assert "Including non-PyTorch memory, this process has" in first
    assert first.count("Process #") == {"another process": 1, "two other processes": 2}.get(fill, 0)
    assert verdict and all(line.startswith("memtrace: ") for line in verdict)
