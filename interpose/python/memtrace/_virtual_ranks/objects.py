# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Objects that a virtual rank would send: they cannot be made up, so the program ends with a sentence."""

import functools
import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

from memtrace._patching import patches
from memtrace._text.messages import translated
from memtrace._virtual_ranks.program_line import program_line
from memtrace._virtual_ranks.ranks import Job


def prepare(c10d: ModuleType, job: Job, before_refusal: Callable[[int], object] | None = None) -> None:
    """Replaces torch's functions that receive an object from one rank.

    Calls `before_refusal` with a virtual rank that would send one to this rank alone, as stages of a pipeline do.
    """
    for name in ("recv_object_list", "broadcast_object_list", "scatter_object_list"):
        receive = getattr(c10d, name)
        patches.put(
            c10d,
            name,
            _refusing_virtual_ranks(c10d, job, receive, before_refusal if name == "recv_object_list" else None),
            "torch.distributed.*: says if an object would come from a virtual rank",
        )


def _refusing_virtual_ranks(
    c10d: ModuleType, job: Job, receive: Callable[..., object], before_refusal: Callable[[int], object] | None
) -> Callable[..., object]:
    signature = inspect.signature(receive)

    @functools.wraps(receive)
    def receive_or_refuse(*args: object, **kwargs: object) -> object:
        given = signature.bind(*args, **kwargs).arguments
        source = _source(c10d, given, receive.__name__)
        if source is not None and job.ranks.index(source) is None:
            if before_refusal is not None:
                before_refusal(source)
            raise RuntimeError(_sentence(job, source))
        return receive(*args, **kwargs)

    return receive_or_refuse


def _source(c10d: ModuleType, given: dict[str, Any], name: str) -> int | None:
    """Returns the rank in the job that sends the object; None if any may, or this process takes no part."""
    if c10d._rank_not_in_group(given.get("group")):
        return None
    if given.get("group_src") is not None:
        group = given.get("group") or c10d._get_default_group()
        return int(c10d.get_global_rank(group, given["group_src"]))
    source = given.get("src")
    return 0 if source is None and name != "recv_object_list" else source


def _sentence(job: Job, source: int) -> str:
    return translated(
        "$0 receives an object from rank $1, which is virtual, so its contents are not known. Run that rank as well: "
        "memtrace run --ranks $2",
        program_line(),
        source,
        job.with_rank(source),
    )
