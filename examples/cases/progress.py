# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Prints a line for each phase and card: the allocated memory, and the most since the last line."""

import contextlib

import torch

try:
    from memtrace import tag
except ImportError:  # the examples also run without it

    def tag(name: str) -> contextlib.AbstractContextManager[None]:
        """Does nothing."""
        return contextlib.nullcontext()


__all__ = ["said", "tag"]


def said(phase: str) -> None:
    """Prints GiB allocated, peak allocated, reserved and peak reserved of every card that is in use."""
    for card in range(torch.cuda.device_count()):
        figures = (
            torch.cuda.memory_allocated(card),
            torch.cuda.max_memory_allocated(card),
            torch.cuda.memory_reserved(card),
            torch.cuda.max_memory_reserved(card),
        )
        if not figures[-1]:
            continue
        now, peak, reserved, peak_reserved = (figure / 2**30 for figure in figures)
        print(
            f"{phase:24} cuda:{card}  allocated {now:7.3f}  peak {peak:7.3f}"
            f"  reserved {reserved:7.3f}  peak {peak_reserved:7.3f}",
            flush=True,
        )
        torch.cuda.reset_peak_memory_stats(card)
