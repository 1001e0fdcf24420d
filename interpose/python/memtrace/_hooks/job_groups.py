# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The process groups of this rank, as torch.distributed makes them: their names, and this rank's place in each."""

from __future__ import annotations

import functools
import inspect
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

from memtrace._core.vocabulary import JOB_GROUPS, JOB_RANKS_ALIKE
from memtrace._patching import patches
from memtrace._patching.import_watch import when_imported
from memtrace._process.session import Session

_MOST_GROUPS = 32  # stated; programs with more make them for each layer
_MESH = "mesh_"  # before the dimension's name, in the description of a device mesh's group


@dataclass(frozen=True)
class OwnGroup:
    """A group that this process is a member of."""

    name: str  # the dimension of its mesh, else its description; may be empty
    ranks: tuple[int, ...]  # of the job

    def stated(self, rank: int) -> dict[str, object]:
        """Returns its element of the fact job.groups, for that member."""
        distances = {after - before for before, after in zip(self.ranks, self.ranks[1:], strict=False)}
        return {
            "name": self.name,
            "size": len(self.ranks),
            "at": self.ranks.index(rank),
            "first": self.ranks[0],
            "stride": distances.pop() if len(distances) == 1 else 0,
        }


def watch(torch: ModuleType, session: Session) -> None:
    """States this process's groups in its trace, and for how many ranks of the job it stands."""
    if not torch.distributed.is_available():
        return
    stated: dict[OwnGroup, dict[str, object]] = {}

    def note(rank: int, group: OwnGroup) -> None:
        if group not in stated and len(stated) < _MOST_GROUPS:
            stated[group] = group.stated(rank)
            state()

    def state() -> None:
        if alike := os.environ.get("MEMTRACE_RANKS_ALIKE"):
            session.core.annotate(JOB_RANKS_ALIKE, alike)
        session.core.annotate(JOB_GROUPS, json.dumps(list(stated.values()), separators=(",", ":")))

    when_imported("torch.distributed.distributed_c10d", lambda c10d: observe(c10d, note))


def observe(c10d: ModuleType, made: Callable[[int, OwnGroup], object]) -> None:
    """Calls `made` with this process's rank and each group of several ranks that it is a member of, once it is made.

    Does nothing with a torch that makes groups in another way.
    """
    make = getattr(c10d, "_new_process_group_helper", None)
    if make is None:
        return
    signature = inspect.signature(make)
    if not set(signature.parameters) >= {"group_size", "group_rank", "global_ranks_in_group"}:
        return

    @functools.wraps(make)
    def make_and_tell(*args: object, **kwargs: object) -> object:
        result = make(*args, **kwargs)
        given = signature.bind(*args, **kwargs).arguments
        place = given["group_rank"]
        ranks = tuple(given["global_ranks_in_group"] or range(given["group_size"]))
        if len(ranks) > 1 and place is not None and 0 <= place < len(ranks):
            made(ranks[place], OwnGroup(_name(given.get("group_desc")), ranks))
        return result

    patches.put(
        c10d,
        "_new_process_group_helper",
        make_and_tell,
        "torch.distributed.distributed_c10d._new_process_group_helper: states the rank's groups",
    )


def _name(description: object) -> str:
    return description.removeprefix(_MESH) if isinstance(description, str) else ""
