# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Time limits of NCCL's groups. torch's are for cards: a rank that waits longer than ten minutes ends the job there.

Here the real ranks share one host. While one compiles its model, the next stage of a pipeline waits for it, and a
device mesh gives its groups the default limit, whatever the program says. A rank that waits for a call that never comes
is named by our NCCL after 60 s.
"""

from __future__ import annotations

import functools
from datetime import timedelta
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._patching import patches

if TYPE_CHECKING:
    from torch.distributed import ProcessGroup

LEAST = timedelta(hours=2)


def lengthened(limit: timedelta | None) -> timedelta | None:
    """Returns the limit of a group, at least two hours; None, which is torch's default, stays."""
    return None if limit is None else max(limit, LEAST)


def prepare(c10d: ModuleType) -> None:
    """Lengthens the limits that a program sets for a group that exists, as torchtitan does after its first step."""
    set_limit = c10d._set_pg_timeout

    @functools.wraps(set_limit)
    def set_longer_limit(timeout: timedelta, group: ProcessGroup | None = None) -> object:
        return set_limit(lengthened(timeout), group)

    patches.put(
        c10d,
        "_set_pg_timeout",
        set_longer_limit,
        "torch.distributed.distributed_c10d._set_pg_timeout: ranks on one host wait longer than on cards",
    )
