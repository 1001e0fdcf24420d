# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The calls of the package torch_memory_saver (0.0.10), served by sleep and wake."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Generator
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._asleep import api, refusals
from memtrace._asleep.core_calls import sleep_core
from memtrace._asleep.scopes import movable_scope
from memtrace._text.messages import translated

if TYPE_CHECKING:
    import torch

_NAME = "torch_memory_saver"
_DEFAULT = "default"
_BACKUP = " (cpu backup)"  # after the tag's name: memory of one tag with and without a copy has two owners


class TorchMemorySaver:
    """The class of the package. Its argument for the copy's kind has no effect: copies are pinned, if they can be."""

    enabled = True
    hook_mode = "preload"  # all modes are accepted; ours needs none
    retain_cpu_backup = False  # likewise: host memory always stays for the next pause

    def __init__(self) -> None:
        self._owners: dict[str, set[str]] = {}  # the names of the owners of each tag

    @contextlib.contextmanager
    def region(
        self,
        tag: str = _DEFAULT,
        enable_cpu_backup: bool = False,
        enable_disk_backup: bool = False,
        cpu_backup_backend: str | None = None,
    ) -> Generator[None, None, None]:
        """Makes the memory that is allocated inside pauseable."""
        if enable_disk_backup:
            raise NotImplementedError(_no_disk())
        if cpu_backup_backend is not None and not enable_cpu_backup:
            raise ValueError("cpu_backup_backend requires enable_cpu_backup=True")
        refusals.check_allocator("as_torch_memory_saver")
        owner = tag + _BACKUP if enable_cpu_backup else tag
        self._owners.setdefault(tag, set()).add(owner)
        with movable_scope(owner):
            yield

    @contextlib.contextmanager
    def cuda_graph(
        self,
        cuda_graph: torch.cuda.CUDAGraph,
        pool: object = None,
        stream: torch.cuda.Stream | None = None,
        capture_error_mode: str = "global",
        tag: str = _DEFAULT,
        enable_cpu_backup: bool = False,
        cpu_backup_backend: str | None = None,
    ) -> Generator[None, None, None]:
        """Does the same as `torch.cuda.graph`; the memory of the graph is pauseable."""
        import torch

        graph = torch.cuda.graph(cuda_graph, pool=pool, stream=stream, capture_error_mode=capture_error_mode)
        with graph, self.region(tag, enable_cpu_backup, cpu_backup_backend=cpu_backup_backend):
            yield

    @contextlib.contextmanager
    def disable(self, dispose_mem_pool_after_use: bool = True) -> Generator[None, None, None]:
        """Inside, memory is not pauseable, although a region is open."""
        with movable_scope(""):
            yield

    def pause(self, tag: str | None = None) -> None:
        """Takes the memory of a tag off the card, or that of all tags. RuntimeError if it is paused already."""
        known, asleep = sleep_core().owners(), api.asleep()
        for owner in self._of(tag):
            if owner in known and (tag is not None or owner not in asleep):
                api.sleep(owner, "host" if owner.endswith(_BACKUP) else "nothing")

    def resume(self, tag: str | None = None) -> None:
        """Brings the memory of a tag back, or that of all tags. RuntimeError if it is not paused."""
        known, asleep = sleep_core().owners(), api.asleep()
        for owner in self._of(tag):
            if owner in known and (tag is not None or owner in asleep):
                api.wake(owner)

    def _of(self, tag: str | None) -> list[str]:
        tags = self._owners if tag is None else (tag,)
        return sorted(owner for one in tags for owner in self._owners.get(one, ()))

    @property
    def memory_margin_bytes(self) -> int:
        """The bytes of a card that the process leaves free; as there, it can only be set."""
        raise NotImplementedError("Only setter is supported")

    @memory_margin_bytes.setter
    def memory_margin_bytes(self, value: int) -> None:
        import torch

        total = torch.cuda.mem_get_info()[1]
        torch.cuda.set_per_process_memory_fraction(max(0.0, 1 - value / total))

    def get_cpu_backup(self, x: torch.Tensor, zero_copy: bool = False) -> torch.Tensor | None:
        """Returns the contents of a paused tensor as a new tensor on the host; None if it is not paused."""
        return sleep_core().copy_of(x)

    def set_disk_backup_dir(self, path: str) -> None:
        """Is refused."""
        raise NotImplementedError(_no_disk())


def as_torch_memory_saver() -> None:
    """Serves the package `torch_memory_saver` with sleep and wake: `import torch_memory_saver` gives ours from now on.

    Programs that use the package (verl, SGLang, slime) run unchanged: regions are movable tags, `pause` is
    `memtrace.sleep`, `resume` is `memtrace.wake`. Call it before the package is imported, or set
    `MEMTRACE_AS_TORCH_MEMORY_SAVER=1`, which also holds for processes that the program starts. Copies on disk are
    refused.

    Thread rule: any thread, but not two at the same time.

    Raises:
        RuntimeError: If the package itself is imported already.

    Example:
        >>> import memtrace, torch
        >>> memtrace.as_torch_memory_saver()
        >>> from torch_memory_saver import torch_memory_saver
        >>> with torch_memory_saver.region(tag="weights", enable_cpu_backup=True):
        ...     weights = torch.ones(1 << 20, device="cuda")
        >>> torch_memory_saver.pause("weights")
        >>> torch_memory_saver.resume("weights")
    """
    there = sys.modules.get(_NAME)
    if there is not None:
        if getattr(there, "TorchMemorySaver", None) is TorchMemorySaver:
            return
        raise RuntimeError(
            translated("memtrace.as_torch_memory_saver: torch_memory_saver is imported already. Call this before.")
        )
    module = ModuleType(_NAME, "torch_memory_saver, served by memtrace.")
    module.__dict__.update(
        TorchMemorySaver=TorchMemorySaver,
        torch_memory_saver=TorchMemorySaver(),
        configure_subprocess=_configure_subprocess,
    )
    sys.modules[_NAME] = module


@contextlib.contextmanager
def _configure_subprocess() -> Generator[None, None, None]:
    """Started processes need no preloaded library; they get this module with MEMTRACE_AS_TORCH_MEMORY_SAVER=1."""
    yield


def _no_disk() -> str:
    return translated("memtrace does not keep sleeping memory on disk. Use enable_cpu_backup=True.")
