# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Rank 0 of `--ranks auto`: runs up to its first backward pass, writes which kinds of ranks there are, and ends.

By then the program has made its groups and its model, and a pipeline has begun to exchange data.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import resource
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from memtrace import _patches
from memtrace._import_watch import when_imported
from memtrace._job_groups import OwnGroup, observe
from memtrace._virtual_ranks.kinds import kinds_of
from memtrace._virtual_ranks.ranks import Job
from memtrace._virtual_ranks.uneven_shards import uneven_shards

if TYPE_CHECKING:
    from torch.nn import Module


class Scout:
    """Collects what rank 0 sees of the job."""

    def __init__(self, job: Job, file: Path) -> None:
        """Writes into `file` at the end."""
        self._job = job
        self._file = file
        self._groups: list[OwnGroup] = []
        self._peers: list[int] = []
        self._roots: list[Module] = []  # outermost modules that were called
        self._depth = 0  # of modules that run

    def group_made(self, _rank: int, group: OwnGroup) -> None:
        """Notes a group of this rank."""
        self._groups.append(group)

    def exchanges(self, peer: int) -> None:
        """Ends the process if it exchanges data with a rank outside of a forward pass, as pipelines do."""
        if self._depth == 0 and peer != self._job.rank:
            self._peers.append(peer)
            self.end()

    def module_entered(self, module: Module, _inputs: object) -> None:
        """Notes an outermost module; ends the process if it is called again: all passes are alike."""
        if self._depth == 0:
            if any(root is module for root in self._roots):
                self.end()
            self._roots.append(module)
        self._depth += 1

    def module_left(self, _module: Module, _inputs: object, _outputs: object) -> None:
        """Counts modules that run."""
        self._depth -= 1

    def write(self) -> None:
        """Writes the kinds of ranks, as a JSON object, unless they are written already."""
        if self._file.exists():
            return
        kinds = kinds_of(self._job.ranks.size, self._groups, self._peers, uneven_shards(self._roots))
        found = {
            "kinds": [{"rank": kind.rank, "alike": kind.alike} for kind in kinds],
            "has_groups": bool(self._groups),
            "host_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10,
        }
        written = self._file.with_suffix(".part")
        written.write_text(json.dumps(found))
        written.rename(self._file)

    def end(self) -> None:
        """Writes the kinds and ends the process at once. Exit handlers do not run: they would wait for others."""
        self.write()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def scout_from_environment(job: Job) -> Scout | None:
    """Makes this process a scout if the launcher says so. Call it before torch is imported."""
    file = os.environ.get("MEMTRACE_RANK_KINDS")
    if not file:
        return None
    scout = Scout(job, Path(file))
    when_imported("torch.nn.modules.module", lambda modules: _watch_modules(modules, scout))
    when_imported("torch.autograd", lambda autograd: _watch_backward(autograd, scout))
    atexit.register(scout.write)
    return scout


def watch_groups(c10d: ModuleType, scout: Scout) -> None:
    """Tells the scout about groups, and about data that this rank exchanges with one other."""
    observe(c10d, scout.group_made)
    for name in ("send", "recv"):
        _patches.put(
            c10d.ProcessGroup,
            name,
            _told(c10d, getattr(c10d.ProcessGroup, name), scout),
            "torch.distributed.ProcessGroup.*: notes with which ranks a pipeline exchanges data",
        )


def _told(c10d: ModuleType, method: Any, scout: Scout) -> Any:
    @functools.wraps(method)
    def call(process_group: Any, tensors: object, peer: int, *args: object, **kwargs: object) -> object:
        scout.exchanges(c10d.get_global_rank(process_group, peer))
        return method(process_group, tensors, peer, *args, **kwargs)

    return call


def _watch_modules(modules: ModuleType, scout: Scout) -> None:
    modules.register_module_forward_pre_hook(scout.module_entered)
    modules.register_module_forward_hook(scout.module_left, always_call=True)


def _watch_backward(autograd: ModuleType, scout: Scout) -> None:
    original = getattr(autograd, "_engine_run_backward", None)
    if original is None:
        return

    @functools.wraps(original)
    def end_before_backward(*_args: object, **_kwargs: object) -> None:
        scout.end()

    _patches.put(
        autograd,
        "_engine_run_backward",
        end_before_backward,
        "torch.autograd._engine_run_backward: ends the process that finds which ranks differ",
    )
