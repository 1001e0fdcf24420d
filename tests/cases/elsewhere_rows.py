# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of the corpus that are not run here, because another test judges them or nothing can, with the reason."""

from case_row import Elsewhere

NO_TITAN = "torchtitan is no part of the locked environments; notes/many-cards.md has the figures"
NO_ROW = "the corpus' README says nothing of what would be right"

FILES = "Nothing of the user's files is changed, or the answer names it."
STOPPED = "A stopped fit says what is known; without a terminal it prints a line for each trial."

# Not run here: torch itself leaves gradients off if an alarm strikes at the end of optimizer.step() (63 of 4,000 times
# on the CPU without memtrace), and the script then ends with torch's own error.
ALARMS = "Each exception that a signal handler of the user's raises arrives."

ROWS = [
    Elsewhere("signal_exception_swallowed.py", ALARMS, test="tests/interpose/torch/unharmed/test_signal_exceptions.py"),
    Elsewhere("fit_escapes.py", FILES, test="tests/tools/test_fit_file_operations.py"),
    Elsewhere("fit_file_operations.py", FILES, test="tests/tools/test_fit_file_operations.py"),
    Elsewhere("fit_tree_before_after.py", FILES, test="tests/tools/test_fit_file_operations.py"),
    Elsewhere("unlearn_tiny.py", STOPPED, test="tests/tools/test_fit_stopped.py"),
    Elsewhere("c30_small.py", STOPPED, test="tests/tools/test_fit_stopped.py"),
    Elsewhere("titan8b.toml", "A step of torchtitan's 8B runs on the card.", reason=NO_TITAN),
    Elsewhere("titan_data_make.py", "A step of torchtitan's 8B runs on the card.", reason=NO_TITAN),
    Elsewhere("titan_rank.py", "A step of torchtitan's 8B runs on the card.", reason=NO_TITAN),
    Elsewhere(
        "tms.py",
        "torch_memory_saver pauses and resumes.",
        reason="torch_memory_saver is no part of the locked environments",
    ),
    Elsewhere("nccl_rule.py", "A rule about NCCL's memory.", reason="a formula, no program that runs on a card"),
    Elsewhere("mkmodel.py", "The checkpoints that other scripts load.", reason="part of the runner of these tests"),
    Elsewhere("c11_moe_remainders.py", "-", reason=NO_ROW),
    Elsewhere("c13_static_cache_kept.py", "-", reason=NO_ROW),
    Elsewhere("c23_generate.py", "-", reason=NO_ROW),
]
