# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Rank 0 of `--ranks auto`: runs up to its first backward pass, writes which kinds of ranks there are, and ends.

By then the program has made its groups and its model, and a pipeline has begun to exchange data.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import io
import json
import os
import posix
import resource
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._hooks.job_groups import OwnGroup, observe
from memtrace._patching import patches
from memtrace._patching.import_watch import when_imported
from memtrace._process.identity_map import IdentityMap
from memtrace._virtual_ranks.kinds import kinds_of, stages_of
from memtrace._virtual_ranks.ranks import Job
from memtrace._virtual_ranks.uneven_shards import held_unevenly

if TYPE_CHECKING:
    from torch._C._distributed_c10d import ProcessGroup, Work
    from torch.nn import Module


class _Thread(threading.local):
    depth = 0  # of modules that run


class Scout:
    """Collects what rank 0 sees of the job."""

    def __init__(self, job: Job, file: Path) -> None:
        """Writes into `file` at the end."""
        self._job = job
        self._file = file
        self._process = os.getpid()
        self._groups: list[OwnGroup] = []
        self._peers: list[int] = []  # stages of the same pipeline
        self._peers_in_forward: set[int] = set()
        self._roots: IdentityMap[Module, bool] = IdentityMap()  # outermost modules that were called, and can be trained
        self._held: dict[tuple[int, ...], list[int]] = {}
        self._thread = _Thread()

    def group_made(self, _rank: int, group: OwnGroup) -> None:
        """Notes a group of this rank."""
        self._groups.append(group)

    def exchanges(self, peer: int) -> None:
        """Ends the process if it exchanges data with a rank outside of a forward pass, as pipelines do."""
        if peer == self._job.rank:
            return
        if self._thread.depth > 0:
            self._peers_in_forward.add(peer)
            return
        self._peers.append(peer)
        self.end()

    def module_entered(self, module: Module) -> None:
        """Notes an outermost module; ends the process if it is called again: all passes are alike.

        Modules that have nothing to train are called before training, too: for data, and to make inputs.
        """
        if self._thread.depth == 0 and any(parameter.requires_grad for parameter in module.parameters()):
            self._note_root(module)
        self._thread.depth += 1

    def module_left(self) -> None:
        """Counts modules that run."""
        self._thread.depth -= 1

    def _note_root(self, module: Module) -> None:
        if self._roots.get(module):
            if self._groups:
                self.end()
            return
        self._roots.set(module, True)
        # FSDP has not gathered the parameters yet.
        for ranks, held in held_unevenly(module).items():
            before = self._held.get(ranks, [0] * len(held))
            self._held[ranks] = [sum(pair) for pair in zip(before, held, strict=True)]

    def write(self) -> None:
        """Writes the kinds of ranks, as a JSON object.

        A process without groups leaves the file of another one: programs that rank 0 starts come here, too.
        """
        if not self._groups and self._file.exists():
            return
        kinds = kinds_of(self._job.ranks.size, self._groups, self._stages(), self._held)
        found = {
            "kinds": [{"rank": kind.rank, "alike": kind.alike} for kind in kinds],
            "stages": stages_of(self._job.ranks.size, self._groups, self._stages()),
            "has_groups": bool(self._groups),
            "host_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10,
        }
        # A trial may keep away what the program writes by other functions of Python (_scratch).
        written = f"{self._file}.{os.getpid()}"
        with io.FileIO(written, "w") as file:
            file.write(json.dumps(found).encode())
        posix.replace(written, self._file)

    def _stages(self) -> list[int]:
        """Returns the ranks that are other stages.

        A pipeline may run within a module's forward, as accelerate's. Rings of attention exchange data there, too, but
        with two ranks, or within a group of their own.
        """
        if self._peers or len(self._peers_in_forward) != 1:
            return self._peers
        (peer,) = self._peers_in_forward
        world = self._job.ranks.size
        has_own_group = any(peer in group.ranks and len(group.ranks) < world for group in self._groups)
        return [] if has_own_group else [peer]

    def at_exit(self) -> None:
        """Writes the kinds if the program ends before a backward pass; not in a child that was forked."""
        if os.getpid() == self._process:
            self.write()

    def end(self) -> None:
        """Writes the kinds and ends the process at once. Exit handlers do not run: they would wait for others."""
        from memtrace._fit.end import end_without_handlers

        self.write()
        end_without_handlers()


def scout_from_environment(job: Job) -> Scout | None:
    """Makes this process a scout if the launcher says so. Call it before torch is imported."""
    file = os.environ.get("MEMTRACE_RANK_KINDS")
    if not file:
        return None
    scout = Scout(job, Path(file))
    when_imported("torch.compiler", lambda compiler: _watch_modules(compiler, scout))
    when_imported("torch.autograd", lambda autograd: _watch_backward(autograd, scout))
    atexit.register(scout.at_exit)
    return scout


def watch_groups(c10d: ModuleType, scout: Scout) -> None:
    """Tells the scout about groups, and about data that this rank exchanges with one other."""
    observe(c10d, scout.group_made)
    for name in ("send", "recv"):
        patches.put(
            c10d.ProcessGroup,
            name,
            _told(c10d, getattr(c10d.ProcessGroup, name), scout),
            "torch.distributed.ProcessGroup.*: notes with which ranks a pipeline exchanges data",
        )


def _told(c10d: ModuleType, method: Callable[..., Work], scout: Scout) -> Callable[..., Work]:
    @functools.wraps(method)
    def call(process_group: ProcessGroup, tensors: object, peer: int, *args: object, **kwargs: object) -> Work:
        with contextlib.suppress(ValueError):  # a group that torch does not list
            scout.exchanges(c10d.get_global_rank(process_group, peer))
        return method(process_group, tensors, peer, *args, **kwargs)

    return call


def _watch_modules(compiler: ModuleType, scout: Scout) -> None:
    module_class = sys.modules["torch.nn.modules.module"].Module
    original: Callable[..., object] = module_class.__call__
    is_compiling = compiler.is_dynamo_compiling

    @functools.wraps(original)
    def call(module: Module, *args: object, **kwargs: object) -> object:
        if is_compiling():
            return original(module, *args, **kwargs)
        scout.module_entered(module)
        try:
            return original(module, *args, **kwargs)
        finally:
            scout.module_left()

    patches.put(
        module_class,
        "__call__",
        call,
        "torch.nn.Module.__call__: ends the process that finds which ranks differ if a model is called again",
    )


def _watch_backward(autograd: ModuleType, scout: Scout) -> None:
    original = getattr(autograd, "_engine_run_backward", None)
    if original is None:
        return

    @functools.wraps(original)
    def end_before_backward(*_args: object, **_kwargs: object) -> None:
        scout.end()

    patches.put(
        autograd,
        "_engine_run_backward",
        end_before_backward,
        "torch.autograd._engine_run_backward: ends the process that finds which ranks differ",
    )
