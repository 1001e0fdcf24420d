# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Applies the cures of the other chapters, by the script's own argument or by the allocator."""

from case_row import NATIVE, OURS, Row
from expectations import completes, prints

# Script and arguments, card, allocator, true if it needs the frameworks, the cure, and the program's output.
_APPLIED = [
    ("c05_kbit.py plain", "24GiB", NATIVE, True, "without the casts to fp32", "loaded"),
    ("c06_load_to_card.py cpu", "1800MiB", OURS, False, "map_location=cpu", "torch.Size"),
    ("c06_load_to_card.py cuda del", "1800MiB", OURS, False, "del state before the model is moved", "torch.Size"),
    ("c17_resume_states.py cpu", "2.4GiB", OURS, False, "map_location=cpu", "DONE"),
    ("c04_resume.py resume free", "8GiB", OURS, False, "checkpoint = None", "2 "),
    ("c14_autocast_casts.py off", "5GiB", OURS, False, "cache_enabled=False", "peak 38\\d\\d"),
    ("c15_need_weights.py off", "12GiB", OURS, False, "need_weights=False", "1 peak MiB 14\\d\\d"),
    ("c30_mask_repeat.py 14 expand", "12GiB", OURS, False, "the mask is not repeated", "DONE peak GiB 1\\.6"),
    ("c18_kept_outputs.py del", "80GiB", OURS, False, "del output", "3 [\\d.]+"),
    ("c19_merge.py bf16", "79.15GiB,other=34.72GiB", OURS, True, "load in bf16", "merged"),
    ("c21_loss_sum.py detach", "3GiB", OURS, False, "the loss is detached", "DONE"),
    ("c26_history_graph.py detach", "3GiB", OURS, False, "the difference is detached", "DONE"),
    ("c22_lightning.py clear", "12GiB", NATIVE, True, "the outputs are cleared after each validation", "peak"),
    ("c14_offload.py 8 slicing", "8GiB", NATIVE, True, "VAE slicing", "torch.Size"),
    ("c12_cache_by_cat.py 150", "24GiB", OURS, False, "our allocator", "DONE"),
]
FIRST = {"c04_resume.py": "", "c17_resume_states.py": "save", "c06_load_to_card.py": "save"}

ROWS = [
    Row(
        command,
        card,
        f"The program completes with the cure applied: {cure}.",
        (completes(), prints(printed)),
        allocator=allocator,
        frameworks=frameworks,
        first=FIRST.get(command.split()[0]),
        seconds=600,
    )
    for command, card, allocator, frameworks, cure, printed in _APPLIED
] + [
    Row(
        "c15_fsdp_state.py cpu",
        "2x36GiB",
        "The program completes with the cure applied: the state dict is offloaded to the CPU.",
        (completes(), prints("state 291")),
        ranks=2,
        seconds=600,
    )
]
