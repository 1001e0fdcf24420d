# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Counts what virtual ranks would have sent, by call and by line of the program, and says it when the program ends."""

import atexit
import os
from collections import Counter

from memtrace._process.session import current_session
from memtrace._text.messages import counted, translated
from memtrace._text.say import say
from memtrace._virtual_ranks.nccl import NcclLibrary
from memtrace._virtual_ranks.program_line import program_line
from memtrace._virtual_ranks.ranks import Job

_MOST_LINES = 5

_calls: Counter[str] = Counter()
_lines: Counter[str] = Counter()  # lines that got such values on the host, as "train.py:31"


def count(call: str) -> None:
    """Counts a call on the host in which a virtual rank's contents were needed."""
    _calls[call] += 1
    _lines[program_line()] += 1


def say_at_exit(job: Job, nccl: NcclLibrary) -> None:
    """Says at the end of this process which calls used contents that were made up, and which lines read them."""
    process = os.getpid()

    def at_exit() -> None:
        if os.getpid() != process:  # a child that was forked has the parent's counts
            return
        _say_calls(job, nccl)
        _say_lines(job)

    atexit.register(at_exit)


def _say_calls(job: Job, nccl: NcclLibrary) -> None:
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


def _say_lines(job: Job) -> None:
    lines = _lines + Counter(_lines_that_read_the_card())
    if not lines:
        return
    listed = [
        counted(number, "$0 (1 time)", "$0 ($1 times)", line, number) for line, number in lines.most_common(_MOST_LINES)
    ]
    more = len(lines) - len(listed)
    if more > 0:
        listed.append(counted(more, "1 other line", "$0 other lines", more))
    say(
        translated(
            "rank $0 of $1: values that virtual ranks gave, or that memtrace assumed, were read at $2. If they decide "
            "what the program does, the whole job may do something else.",
            job.rank,
            job.ranks.size,
            ", ".join(listed),
        )
    )


def _lines_that_read_the_card() -> dict[str, int]:
    session = current_session()
    return session.host_values.assumed_reads() if session is not None else {}
