# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Counts how often torch's allocator gave back its cache for a request, and how often it waited for all streams."""

from types import ModuleType

from memtrace._core.vocabulary import ALLOCATOR_RETRIES, ALLOCATOR_WAITS
from memtrace._process.session import Session

# The keys of torch.cuda.memory_stats(), with their names in a trace.
COUNTS = {"num_alloc_retries": ALLOCATOR_RETRIES, "num_sync_all_streams": ALLOCATOR_WAITS}


def watch(torch: ModuleType, session: Session) -> None:
    """States the counts of each card whenever everything is labelled: at an out-of-memory and at the end."""

    def state() -> None:
        if not torch.cuda.is_initialized():
            return
        for card in range(torch.cuda.device_count()):
            counts = torch.cuda.memory_stats_as_nested_dict(card)
            for key, name in COUNTS.items():
                if key in counts:
                    session.core.annotate(f"{name}.{card}", str(counts[key]))

    session.with_labels.append(state)
