# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Sees transformers' TrainingArguments as the program makes them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._patching import patches
from memtrace._patching.import_watch import when_imported
from memtrace._patching.library_parts import part_of

if TYPE_CHECKING:
    from transformers import TrainingArguments


Action = Callable[["TrainingArguments"], object]


def watch(before: Action = lambda _arguments: None, after: Action = lambda _arguments: None) -> None:
    """Calls `before` and `after` with arguments that are made from now on, around transformers' check of them."""
    when_imported("transformers.training_args", lambda module: _watch(module, before, after))


def _watch(training_args: ModuleType, before: Action, after: Action) -> None:
    found = part_of(training_args, "TrainingArguments.__post_init__")
    if found is None:
        return
    original: Action = found.original

    @functools.wraps(original)
    def post_init(arguments: TrainingArguments) -> None:
        before(arguments)
        original(arguments)
        after(arguments)

    patches.put(
        found.owner,
        "__post_init__",
        post_init,
        "transformers.TrainingArguments.__post_init__: changes them or notes their line, for the changes of fit",
    )
