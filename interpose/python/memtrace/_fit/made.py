# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Facts about a trial's changes for `fit --save-plan` and `--diff`: by when they were made, and their patch."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import metadata
from types import ModuleType

from memtrace._apply import moments
from memtrace._changes._change import Change
from memtrace._core.vocabulary import FIT_MADE, FIT_NO_PATCH, FIT_PACKAGE, FIT_PATCH
from memtrace._fit.patch import Patch
from memtrace._process.session import Session

# Libraries whose functions or classes are changed. Another version may have other ones.
_LIBRARIES = (
    "accelerate",
    "bitsandbytes",
    "deepspeed",
    "diffusers",
    "liger_kernel",
    "lightning",
    "peft",
    "pytorch_lightning",
    "transformers",
    "trl",
)
_LONGEST = 16 << 10  # of a fact in a trace


def watch(torch: ModuleType, session: Session, changes: list[Change]) -> None:
    """States it as the trial ends."""
    made = _Made(changes)
    patch = Patch(changes)
    moments.watch(torch, session, made.reached)

    def annotate() -> None:
        for name, value in made.facts():
            session.core.annotate(f"{FIT_MADE}.{name}", value)
        for library, version in _versions():
            session.core.annotate(f"{FIT_PACKAGE}.{library}", version)
        text = patch.text()
        if text and len(text.encode()) < _LONGEST:
            session.core.annotate(FIT_PATCH, text)
        for name, why in patch.left_out():
            session.core.annotate(f"{FIT_NO_PATCH}.{name}", why)

    session.before_close.append(annotate)


class _Made:
    """The first moment at which each change had been made, and its places then."""

    def __init__(self, changes: list[Change]) -> None:
        self._changes = changes
        self._made: dict[str, tuple[str, int]] = {}

    def reached(self, moment: str) -> None:
        for change in self._changes:
            if change.places > 0 and change.name not in self._made:
                self._made[change.name] = moment, change.places

    def facts(self) -> Iterator[tuple[str, str]]:
        for name, (moment, places) in self._made.items():
            yield name, f"{moment}:{places}"


def _versions() -> Iterator[tuple[str, str]]:
    for library in _LIBRARIES:
        if library in sys.modules:
            try:
                yield library, metadata.version(library)
            except metadata.PackageNotFoundError:  # a module of the program's own of this name
                continue
