# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Stops using CUPTI while torch.profiler needs it (docs/design/cupti.md)."""

import functools
import importlib
import os
from collections.abc import Callable, Container
from types import ModuleType

from memtrace._patching import patches
from memtrace._process.session import Session
from memtrace._text.say import say


def watch(torch: ModuleType, session: Session) -> None:
    """Watches where torch.autograd.profiler, and so torch.profiler, starts and ends a profile of the cards."""
    if os.environ.get("MEMTRACE_CUPTI", "") in ("", "0"):
        return
    profiler = importlib.import_module("torch.autograd.profiler")
    names = ("_prepare_profiler", "_enable_profiler", "_disable_profiler")
    if not all(callable(getattr(profiler, name, None)) for name in names):
        say(f"torch {torch.__version__} starts its profiler in an unknown way. Do not use the profiler with --cupti.")
        return
    core = session.core
    cuda = torch.profiler.ProfilerActivity.CUDA
    is_paused = False

    def resume() -> None:
        nonlocal is_paused
        if is_paused:
            is_paused = False
            core.resume_activities()

    def starting(original: Callable[..., object]) -> Callable[..., object]:
        @functools.wraps(original)
        def start(config: object, activities: Container[object], *args: object, **kwargs: object) -> object:
            nonlocal is_paused
            if cuda in activities and not is_paused:
                is_paused = True
                core.pause_activities()
            try:
                return original(config, activities, *args, **kwargs)
            except BaseException:
                resume()
                raise

        return start

    def ending(original: Callable[..., object]) -> Callable[..., object]:
        @functools.wraps(original)
        def end(*args: object, **kwargs: object) -> object:
            try:
                return original(*args, **kwargs)
            finally:
                resume()

        return end

    for name, wrap in zip(names, (starting, starting, ending), strict=True):
        patches.put(
            profiler,
            name,
            wrap(getattr(profiler, name)),
            "torch.autograd.profiler.*: leaves CUPTI to a profiler of torch while it runs",
        )
