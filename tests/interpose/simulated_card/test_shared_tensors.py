# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Real torch sends CUDA tensors to another process: both see the same bytes, and the card pays for them once."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.programs import MEMTRACE

SENDS_TENSORS = """
import json
import os
import torch
import torch.multiprocessing as mp

MIB = 1 << 20

def own_use():
    # Returns the MiB that torch holds in this process, and those that all processes use of the card.
    free, total = torch.cuda.mem_get_info()
    return {"reserved": torch.cuda.memory_reserved() // MIB, "used": (total - free) // MIB}

def child(queue, answers):
    small, large, blank = queue.get()
    facts = {"small": small.cpu().tolist(), "large": large.cpu()[::MIB].tolist(), **own_use()}
    large[:4].copy_(torch.tensor([5, 6, 7, 8], dtype=torch.uint8))
    blank.copy_(torch.tensor([9, 10, 11]))
    torch.cuda.synchronize()
    answers.put(facts)
    answers.get()  # the parent has looked
    del small, large, blank

def main():
    context = mp.get_context("spawn")
    queue, answers = context.Queue(), context.SimpleQueue()
    small = torch.arange(8, dtype=torch.float32).to("cuda")
    large = torch.arange(256, dtype=torch.uint8).repeat_interleave(MIB // 8).to("cuda")
    blank = torch.empty(3, dtype=torch.int64, device="cuda")  # for the other process to write
    before = own_use()
    process = context.Process(target=child, args=(queue, answers))
    process.start()
    queue.put((small, large, blank))
    theirs = answers.get()
    mine = own_use()
    written = {"written": large[:4].cpu().tolist(), "blank": blank.cpu().tolist()}
    print(json.dumps({"theirs": theirs, "before": before, "mine": mine, **written}))
    answers.put(None)
    process.join(100)
    print(json.dumps({"exit": process.exitcode, "after": own_use()}))

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(("allocator", "expandable"), [("native", False), ("native", True), ("memtrace", False)])
def test_tensor_sent_through_a_queue_shares_memory(tmp_path: Path, allocator: str, expandable: bool):
    script = tmp_path / "send.py"
    script.write_text(SENDS_TENSORS)
    conf = {"PYTORCH_ALLOC_CONF": "expandable_segments:True"} if expandable else {}
    card = "1GiB,context=100MiB"
    command = [MEMTRACE, "run", "-q", "--card", card, "--allocator", allocator, "-o", tmp_path / "run.trace"]
    done = subprocess.run(
        [*command, "--", sys.executable, str(script)],
        cwd=tmp_path,
        env={**os.environ, **conf},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    first, second = (json.loads(line) for line in done.stdout.splitlines())
    theirs, before, mine = first["theirs"], first["before"], first["mine"]
    assert theirs["small"] == list(range(8))
    assert theirs["large"] == list(range(0, 256, 8))
    assert first["written"] == [5, 6, 7, 8]
    assert first["blank"] == [9, 10, 11]
    # The child has its own context, and none of its own memory is used for the tensors.
    assert theirs["reserved"] == 0
    assert theirs["used"] == before["used"] + 100
    assert mine["used"] == theirs["used"]
    assert second == {"exit": 0, "after": before}
