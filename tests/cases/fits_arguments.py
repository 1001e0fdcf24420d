# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Arguments by which a script of the corpus applies a remedy itself, by its command line and the remedy's name."""

COMMANDS = {
    ("c04_resume.py resume", "checkpoint in host memory"): "c04_resume.py resume free",
    ("c06_load_to_card.py cuda", "checkpoint in host memory"): "c06_load_to_card.py cpu",
    ("c14_autocast_casts.py", "cache_enabled=False"): "c14_autocast_casts.py off",
    ("c14_offload.py 8", "VAE slicing"): "c14_offload.py 8 slicing",
    ("c15_fsdp_state.py", "sharded state dict"): "c15_fsdp_state.py cpu",
    ("c15_need_weights.py", "need_weights=False"): "c15_need_weights.py off",
    ("c17_resume_states.py cuda", "checkpoint in host memory"): "c17_resume_states.py cpu",
    ("c18_kept_outputs.py", "del output"): "c18_kept_outputs.py del",
    ("c19_merge.py", "load in the file's type"): "c19_merge.py bf16",
    ("c21_loss_sum.py", "do not keep"): "c21_loss_sum.py detach",
    ("c22_lightning.py", "do not keep"): "c22_lightning.py clear",
    ("c26_steps.py", "do not keep"): "c26_steps.py fix",
    ("c26_history_graph.py", "do not keep"): "c26_history_graph.py detach",
    ("c28_left_gradients.py", "no gradients left"): "c28_left_gradients.py fix",
    ("c30_mask_repeat.py 14", "one mask for all heads"): "c30_mask_repeat.py 14 expand",
}
