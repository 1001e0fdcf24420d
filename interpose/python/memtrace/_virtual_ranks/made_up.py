# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Counts what virtual ranks would have sent, by call, and says it when the program ends."""

import atexit
import os
from collections import Counter

from memtrace._messages import translated
from memtrace._say import say
from memtrace._virtual_ranks.nccl import NcclLibrary
from memtrace._virtual_ranks.ranks import Job

_calls: Counter[str] = Counter()


def count(call: str) -> None:
    """Counts a call on the host in which a virtual rank's contents were needed."""
    _calls[call] += 1


def say_at_exit(job: Job, nccl: NcclLibrary) -> None:
    """Says at the end of this process which calls used contents that were made up."""
    process = os.getpid()

    def at_exit() -> None:
        if os.getpid() != process:  # a child that was forked has the parent's counts
            return
        on_host = [f"{call} {number}" for call, number in sorted(_calls.items())]
        calls = ", ".join(filter(None, [nccl.made_up(), *on_host]))
        if calls:
            say(
                translated(
                    "rank $0 of $1: small values of virtual ranks were taken from the nearest real rank ($2).",
                    job.rank,
                    job.ranks.size,
                    calls,
                )
            )

    atexit.register(at_exit)
