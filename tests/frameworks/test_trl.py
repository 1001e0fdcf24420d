# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""TRL's SFTTrainer with LoRA, checkpointing and gradient accumulation."""

from frameworks_under_test import assert_complete, needs_frameworks, role, run
from support.events import blocks

pytestmark = needs_frameworks


def test_roles_phases_and_micro_batches_of_a_trl_run(tmp_path):
    finished = run("trl_sft.py", tmp_path)
    told = finished.printed()
    report = assert_complete(finished, told)
    assert role(report, "parameter") == told["parameters"]
    # Its fused AdamW also counts steps on the card.
    assert role(report, "optimizer_state") == told["states"] >= 2 * told["trainable"]
    assert role(report, "unknown") < 0.01 * report["peak"]["bytes"]
    born = blocks(finished.trace)
    assert {"forward", "recompute", "backward", "optimizer"} <= {block.phase for block in born}
    assert {(b.step, b.micro_batch) for b in born if b.phase == "forward"} >= {
        (s, m) for s in (1, 2, 3) for m in (1, 2)
    }
